//! Traces of other programs.

use flitlab::application::check;
use flitlab::traces::goal::{Form, read_from, write};
use flitlab::traces::read::{Options, read_bytes};

/// A trace of any format; of one that has a file a rank, that of rank 0 alone. What is read can be
/// written as GOAL, and is then read as the same.
pub fn traces(bytes: &[u8]) {
    let options = Options { flops_per_second: Some(1e9), ..Options::default() };
    for options in [options, Options::default()] {
        let schedule = match read_bytes("input", bytes, &options) {
            Ok(reading) => reading.schedule,
            Err(found) => {
                assert!(!found.plain().is_empty() && !found.colored().is_empty());
                continue;
            }
        };
        let mut binary = Vec::new();
        write(&schedule, Form::Binary, &mut binary).expect("memory takes it");
        let again = read_from("written", &mut &*binary);
        let again = again.unwrap_or_else(|found| panic!("{}", found.plain()));
        assert_eq!(check(&again), check(&schedule));
        assert_eq!(again.operations().len(), schedule.operations().len());
    }
}
