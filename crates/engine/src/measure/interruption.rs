//! A load during which something fails: what was delivered window by window, what was lost, and how
//! long it takes until the network is as it was.
//!
//! The time before the failure is warm-up in its first half and measured in its second. From the
//! failure on all is measured, until as much time as before it has passed since the sources went
//! on. The network has recovered with the first window, after that, at whose end no more is under
//! way, but for a twentieth, than at the ends of the windows measured before the failure.

use super::load_point::{Ending, LoadPoint, to_the_end};
use super::watch::Watch;
use super::{Collector, Halt, LoadMeasurement, Offered, Phase, Settings};
use crate::{Engine, Interruption, InterruptionReport};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;

/// Windows in each half of the time before the failure.
const WINDOWS_A_HALF: u64 = 20;

/// How much more than before the failure may be under way in a network that has recovered.
const TOLERANCE: f64 = 1.05;

/// How an interruption passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The losses, and the time at which the sources went on.
    pub report: InterruptionReport,
    /// From the failure until the sources went on.
    pub interruption: Picoseconds,
    /// From the failure until the network had recovered, if it had before the end.
    pub recovery: Option<Picoseconds>,
}

/// Runs a load through an interruption, of which the engine has been told.
pub fn measure_interruption<'f>(
    engine: &mut Engine<'f, Collector>,
    interruption: &'f Interruption,
    offered: &Offered,
    senders: &[u32],
    settings: &Settings,
    watch: &mut Watch<'_>,
) -> LoadMeasurement {
    let half = interruption.at / 2;
    let most = half.div_ceil(WINDOWS_A_HALF).max(Picoseconds(1));
    let window = settings.window.map_or(most, |window| window.min(most));
    let mut point = LoadPoint::new(engine, offered, window, watch);
    let mut run = || -> Result<Recovery, Halt> {
        point.run_to(half, Phase::WarmUp, watch, &mut to_the_end)?;
        point.start_measuring();
        point.run_to(interruption.at, Phase::Measuring, watch, &mut to_the_end)?;
        let measured = point.state.history.iter().skip(point.state.warm_up().len());
        let before = measured.take_while(|window| window.end <= interruption.at);
        let before = before.map(|window| window.under_way).max();
        let level = before.unwrap_or(0) as f64 * TOLERANCE;
        let resumed = loop {
            let report = point.engine.interruption().expect("there is one");
            if let Some(resumed) = report.resumed.filter(|&it| it <= point.state.end()) {
                break resumed;
            }
            point.run_to(point.state.end() + window, Phase::Measuring, watch, &mut to_the_end)?;
        };
        point.run_to(resumed + interruption.at, Phase::Measuring, watch, &mut to_the_end)?;
        let recovered = point
            .state
            .history
            .iter()
            .find(|window| window.end > resumed && window.under_way as f64 <= level);
        Ok(Recovery {
            report: point.engine.interruption().expect("there is one"),
            interruption: resumed - interruption.at,
            recovery: recovered.map(|window| window.end - interruption.at),
        })
    };
    let ending = match run() {
        Ok(recovery) => Ending::Interrupted(recovery),
        Err(halt) => halt.into(),
    };
    let windows = point.state.history.iter().filter(|it| it.phase == Phase::Measuring).count();
    point.result(ending, half, narrow(windows), None, senders)
}
