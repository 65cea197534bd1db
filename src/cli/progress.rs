//! Progress on standard error, if that is a terminal and the work takes more than a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::measure::{Phase, Progress};
use crate::units::time_text;

/// How long work may take before its progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar that shows up late or not at all.
#[derive(Clone)]
pub(super) struct Bar {
    bar: ProgressBar,
    started: Instant,
    template: &'static str,
}

impl Bar {
    /// For one simulation.
    pub(super) fn of_run() -> Self {
        Self::new(100, "{bar:30} {pos:>3}% {msg}")
    }

    /// For the points of a sweep.
    pub(super) fn of_sweep(points: u64) -> Self {
        Self::new(points, "{bar:30} {pos}/{len} points, {elapsed} so far, about {eta} left {msg}")
    }

    fn new(length: u64, template: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        Self { bar, started: Instant::now(), template }
    }

    fn show(&self) {
        if self.bar.is_hidden() && self.started.elapsed() > PATIENCE {
            let style = ProgressStyle::with_template(self.template).expect("a valid template");
            self.bar.set_style(style.progress_chars("=> "));
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// A simulation has come this far. The end of a measurement is not known: the bar shows the
    /// windows done of the most there can be.
    pub(super) fn simulated(&self, progress: Progress) {
        self.show();
        let phase = match progress.phase {
            Phase::WarmUp => "warming up",
            Phase::Measuring => "measuring",
        };
        let percent = u64::from(progress.done) * 100 / u64::from(progress.most.max(1));
        let rate = progress.time as f64 / 1e6 / self.started.elapsed().as_secs_f64().max(1e-3);
        self.bar.set_position(percent.min(100));
        self.bar.set_message(format!(
            "{phase}: {} simulated, {rate:.1} us a second",
            time_text(progress.time / 1000 * 1000)
        ));
    }

    /// A point of a sweep is done.
    pub(super) fn point_done(&self) {
        self.show();
        self.bar.inc(1);
    }

    /// Things done, and to do in all.
    pub(super) fn count(&self) -> (u64, u64) {
        (self.bar.position(), self.bar.length().unwrap_or(0))
    }

    /// Lets something be printed above the bar, whether that is shown or not.
    pub(super) fn above<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
