//! An application under LogGOPS: no network, and so no engine.

use std::time::Instant;

use cpu_time::ThreadTime;

use super::simulation::{Outcome, Work};
use super::warnings::stuck_warning;
use crate::application::loggops::{LogGops, simulate};
use crate::measure::Logged;
use crate::report::{Finding, Measured, Status};
use crate::traffic::ApplicationSpec;
use crate::units::Picoseconds;

pub(super) fn run(spec: &ApplicationSpec, parameters: &LogGops, row: Measured) -> Outcome {
    let (started, clock) = (ThreadTime::now(), Instant::now());
    let finished = simulate(&spec.schedule, parameters);
    let work = Work { simulating: started.elapsed(), elapsed: clock.elapsed(), ..Work::default() };
    let found = match finished {
        Ok(finished) => {
            let time = Some(Picoseconds::NANOSECOND * finished.time());
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
