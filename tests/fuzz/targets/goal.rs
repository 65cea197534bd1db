#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flitlab_fuzz::entries::goal(bytes));
