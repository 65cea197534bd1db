//! Schedules in both forms of GOAL.

use flitlab::application::{Schedule, check};
use flitlab::traces::goal::{Form, read_from, refusal, write};

/// A GOAL file. What is read can be written in both forms, unless it is refused, and is then read as
/// the same.
pub fn goal(bytes: &[u8]) {
    let schedule = match read_from("input", &mut &*bytes) {
        Ok(schedule) => schedule,
        Err(found) => {
            assert!(!found.plain().is_empty() && !found.colored().is_empty());
            return;
        }
    };
    let text = written(&schedule, Form::Text);
    assert_eq!(written(&again(&text), Form::Text), text);
    assert_eq!(check(&again(&text)), check(&schedule));
    if refusal(&schedule, Form::Binary).is_some() {
        return;
    }
    let binary = written(&schedule, Form::Binary);
    assert_eq!(written(&again(&binary), Form::Binary), binary);
    assert_eq!(written(&again(&text), Form::Binary), binary);
}

fn written(schedule: &Schedule, form: Form) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(schedule, form, &mut bytes).expect("memory takes it");
    bytes
}

fn again(mut bytes: &[u8]) -> Schedule {
    read_from("written", &mut bytes).unwrap_or_else(|found| panic!("{}", found.plain()))
}
