#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flitlab_fuzz::entries::traces(bytes));

/// Without the fuzzer there is nothing to run: tests/fuzz_corpus.rs replays the corpus.
#[cfg(not(fuzzing))]
fn main() {}
