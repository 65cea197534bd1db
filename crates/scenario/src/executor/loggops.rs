//! An application under LogGOPS: no network, and so no engine.

use std::time::Instant;

use cpu_time::ThreadTime;

use super::simulation::{Outcome, Work};
use super::warnings::{TOO_LONG, stuck_warning};
use flitlab_engine::measure::Logged;
use flitlab_report::{Finding, Measured, Status};
use flitlab_workload::application::loggops::{LogGops, simulate};
use flitlab_workload::traffic::ApplicationSpec;

pub(super) fn run(spec: &ApplicationSpec, parameters: &LogGops, row: Measured) -> Outcome {
    let (started, clock) = (ThreadTime::now(), Instant::now());
    let finished = simulate(&spec.schedule, parameters);
    let work = Work { simulating: started.elapsed(), elapsed: clock.elapsed(), ..Work::default() };
    let found = match finished {
        Ok(finished) if !finished.time().is_told() => {
            let measured = Measured { status: Status::TooLong, ..row };
            Finding { measured, warnings: vec![TOO_LONG.into()], ..Finding::default() }
        }
        Ok(finished) => {
            let time = Some(finished.time());
            let status = Status::Completed;
            let measured = Measured { status, completion_time: time, simulated_time: time, ..row };
            Finding { measured, ..Finding::default() }
        }
        Err(stuck) => {
            let time = Some(stuck.time);
            let measured = Measured { status: Status::Stuck, simulated_time: time, ..row };
            let warnings = vec![stuck_warning(&stuck, &spec.schedule)];
            Finding { measured, warnings, ..Finding::default() }
        }
    };
    Outcome { found, deadlock: None, logged: Logged::default(), work }
}
