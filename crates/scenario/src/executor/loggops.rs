//! An application under LogGOPS: no network, and so no engine.

use std::time::Instant;

use cpu_time::ThreadTime;

use super::simulation::{Outcome, Work};
use super::warnings::{TOO_LONG, stuck_warning};
use flitlab_engine::measure::Logged;
use flitlab_report::{PointResult, PointRow, Status};
use flitlab_workload::application::loggops::{LogGops, simulate};
use flitlab_workload::traffic::ApplicationSpec;

pub(super) fn run(spec: &ApplicationSpec, parameters: &LogGops, row: PointRow) -> Outcome {
    let (started, clock) = (ThreadTime::now(), Instant::now());
    let finished = simulate(&spec.schedule, parameters);
    let work = Work { simulating: started.elapsed(), elapsed: clock.elapsed(), ..Work::default() };
    let found = match finished {
        Ok(finished) if !finished.time().is_told() => {
            let measured = PointRow { status: Status::TooLong, ..row };
            PointResult { measured, warnings: vec![TOO_LONG.into()], ..PointResult::default() }
        }
        Ok(finished) => {
            let time = Some(finished.time());
            let status = Status::Completed;
            let measured = PointRow { status, completion_time: time, simulated_time: time, ..row };
            PointResult { measured, ..PointResult::default() }
        }
        Err(stuck) => {
            let time = Some(stuck.time);
            let measured = PointRow { status: Status::Stuck, simulated_time: time, ..row };
            let warnings = vec![stuck_warning(&stuck, &spec.schedule)];
            PointResult { measured, warnings, ..PointResult::default() }
        }
    };
    Outcome { found, deadlock: None, logged: Logged::default(), work }
}
