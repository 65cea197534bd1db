//! A load during which something fails: what was delivered window by window, what was lost, and how
//! long it takes until the network is as it was.
//!
//! The time before the first failure is warm-up in its first half and measured in its second. From
//! then on all is measured, until as much time as before it has passed since the sources went on
//! with the routes that know of all failures. The network has recovered from a failure with the
//! first window, after the sources went on with routes that know of it, at whose end no more is
//! under way, but for a twentieth, than at the ends of the windows measured before all failures.

use super::load_point::{Ending, LoadPoint, to_the_end};
use super::watch::Watch;
use super::{Collector, Halt, LoadMeasurement, Offered, Phase, Settings, Window};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_engine::{Engine, FailureReport, Interruption};

/// Windows in each half of the time before the failure.
const WINDOWS_A_HALF: u64 = 20;

/// How much more than before the failure may be under way in a network that has recovered.
const TOLERANCE: f64 = 1.05;

/// How an interruption passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The failures, in the order of time.
    pub failures: Vec<FailureRecovery>,
    /// From the first failure until the sources went on with routes that know of all failures.
    pub interruption: Picoseconds,
}

/// How a network recovered from a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureRecovery {
    /// Time of the failure.
    pub at: Picoseconds,
    /// The losses, and the time at which the sources went on.
    pub report: FailureReport,
    /// Time at which the network had recovered, if it had before the end.
    pub recovered: Option<Picoseconds>,
}

impl Recovery {
    /// Packets that were lost.
    pub fn packets_lost(&self) -> u64 {
        self.failures.iter().map(|failure| failure.report.packets_lost).sum()
    }

    /// Messages that were not received because of a failure.
    pub fn messages_lost(&self) -> u64 {
        self.failures.iter().map(|failure| failure.report.messages_lost).sum()
    }

    /// From the first failure until the network had recovered from all, if it had before the end.
    pub fn recovery(&self) -> Option<Picoseconds> {
        let (first, last) = (self.failures.first()?, self.failures.last()?);
        last.recovered.map(|end| end - first.at)
    }
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
    let times: Vec<Picoseconds> = interruption.failures().iter().map(|it| it.at).collect();
    let at = times[0];
    let half = at / 2;
    let most = half.div_ceil(WINDOWS_A_HALF).max(Picoseconds(1));
    let window = settings.window.map_or(most, |window| window.min(most));
    let mut point = LoadPoint::new(engine, offered, window, watch);
    let mut run = || -> Result<Recovery, Halt> {
        point.run_to(half, Phase::WarmUp, watch, &mut to_the_end)?;
        point.start_measuring();
        point.run_to(at, Phase::Measuring, watch, &mut to_the_end)?;
        let measured = point.state.history.iter().skip(point.state.warm_up().len());
        let before = measured.take_while(|window| window.end <= at);
        let before = before.map(|window| window.under_way).max();
        let level = before.unwrap_or(0) as f64 * TOLERANCE;
        let resumed = loop {
            let reports = point.engine.failures().expect("there are some");
            let last = reports.get(times.len() - 1).and_then(|last| last.resumed);
            if let Some(resumed) = last.filter(|&it| it <= point.state.end()) {
                break resumed;
            }
            point.run_to(point.state.end() + window, Phase::Measuring, watch, &mut to_the_end)?;
        };
        point.run_to(resumed + at, Phase::Measuring, watch, &mut to_the_end)?;
        let reports = point.engine.failures().expect("there are some");
        let failures = times.iter().zip(reports).map(|(&at, report)| {
            let since = report.resumed.unwrap_or(Picoseconds::NEVER);
            let recovers = |it: &&Window| it.end > since && it.under_way as f64 <= level;
            let recovered = point.state.history.iter().find(recovers).map(|window| window.end);
            FailureRecovery { at, report, recovered }
        });
        Ok(Recovery { failures: failures.collect(), interruption: resumed - at })
    };
    let ending = match run() {
        Ok(recovery) => Ending::Interrupted(recovery),
        Err(halt) => halt.into(),
    };
    let windows = point.state.history.iter().filter(|it| it.phase == Phase::Measuring).count();
    point.result(ending, half, narrow(windows), None, senders)
}
