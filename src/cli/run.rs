//! `flitlab run`: one simulation, from a scenario to a folder of results.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::checkpoint::Keeping;
use super::finished::{Finished, SCENARIO};
use super::folder::{Claim, Output};
use super::input::Input;
use super::interrupt::Interrupt;
use super::progress::Bar;
use super::run_cost::ExpectedCost;
use super::same_file::refuse_same;
use super::summary::{Cost, Expectation, Made, Printed, Summary, mention, print_json, print_text};
use super::threads::Threads;
use super::{Failure, components, folder, program, slow_build, terminal, text, workloads};
use crate::cli::say::say;
use flitlab::measure::{LogFilter, Logged};
use flitlab::report::figure::FigureRequest;
use flitlab::report::folder::SUMMARY;
use flitlab::report::{
    DeadlockNote, DigestLog, Label, Point, ReportError, ResultFolder, ResultRows, Status,
    write_messages, write_packets,
};
use flitlab::scenario::{Deadlock, Scenario};
use flitlab::simulation::{BARS_OF_A_RUN, Checkpoint, Outcome, OverBound, Simulation, TimelineLog};
use flitlab::stop;
use flitlab::sweep::Store;
use flitlab::text_file::read_text;
use flitlab::topology::Fabric;
use flitlab::units::{Picoseconds, time_text};

/// Simulate a scenario once
///
/// Prints latency, throughput, the busiest channels and why packets waited, and leaves
/// summary.json, points.csv, channels.csv, figures and the fully resolved scenario.toml in
/// results/NAME.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab run scenarios/desmos/desmos-alltoall.toml\n  \
                        flitlab run scenarios/desmos/desmos-uniform.toml --set traffic.load=0.5 --json")]
pub(super) struct Run {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    keeping: Keeping,
    /// Say how long the run would compute and how much memory it would take, from its first moments,
    /// and write nothing
    #[arg(long, conflicts_with_all = ["checkpoint", "log", "log_packets", "log_messages", "timeline"])]
    dry_run: bool,
    /// Write the digest of all that has happened so far to a CSV file, a row for each 100 ns or so:
    /// where two machines' files part, their simulations do
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Write a row for each packet to a CSV file: the first million to arrive, unless --log-most
    /// says another number
    #[arg(long, value_name = "FILE", conflicts_with = "checkpoint")]
    log_packets: Option<PathBuf>,
    /// The same for each message
    #[arg(long, value_name = "FILE", conflicts_with = "checkpoint")]
    log_messages: Option<PathBuf>,
    /// Log only what goes from or to these nodes, given by their numbers: 0,5,17
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    log_nodes: Vec<u32>,
    /// The most packets, and the most messages, that are logged
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    log_most: usize,
    /// Simulate an application twice, and say which channels its critical path waited for
    /// (path_channels.csv)
    #[arg(long)]
    trace_path: bool,
    /// Write what the ranks of an application do, and its critical path, to a file that Perfetto
    /// opens (Chrome's trace events, in JSON)
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
}

impl Run {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let files = [
            ("SCENARIO", Some(self.input.path.as_path())),
            ("--checkpoint", self.keeping.path()),
            ("--log", self.log.as_deref()),
            ("--log-packets", self.log_packets.as_deref()),
            ("--log-messages", self.log_messages.as_deref()),
            ("--timeline", self.timeline.as_deref()),
        ];
        refuse_same(&files, ("--out", None))?;
        refuse_same(&files[1..], ("--out", self.output.out.as_deref()))?;
        let bar = Bar::of_run();
        let (document, scenario) = self.input.scenario()?;
        for note in scenario.network.notes() {
            bar.above(|| say(&format!("note: {note}")));
        }
        self.refuse_of_engine(&scenario)?;
        self.refuse_without_application(&scenario)?;
        bar.above(slow_build::mention);
        if self.dry_run {
            return self.tell_cost(&scenario, &bar);
        }
        let identity = || Ok(Scenario::identity(&document)?);
        let (mut keeper, from) = self.keeping.begin(identity)?.unzip();
        let from = from.flatten();
        let threads = self.threads.of_simulation(scenario.network.fabric.routers());
        // The network stays cut as it was.
        let threads = from.as_ref().map_or(threads, Checkpoint::threads);
        let mut simulation =
            Simulation::new(&scenario)?.on_threads(threads).with_bars(BARS_OF_A_RUN);
        let resolved = folder::resolved(&document)?;
        // What nobody waits for any more begins no folder.
        stop::look();
        let out = self.output.out.as_deref();
        let results = match self.output.on_demand && out.is_none() {
            true => None,
            false => Some(folder::prepare_over(&scenario.name, out, |folder| {
                is_unfinished(folder, &resolved)
            })?),
        };
        let begun = results.as_deref().filter(|folder| folder.join(SCENARIO).exists());
        if let Some(place) = begun.filter(|_| from.is_none()) {
            let place = place.display();
            bar.above(|| {
                say(&format!("note: the run that began in {place} was killed; it begins anew"));
            });
        }
        let log_of_it = begun.is_some() && keeper.is_some();
        let open = |path| open_log(path, from.as_ref(), log_of_it);
        let digests = self.log.as_deref().map(open).transpose()?;
        if let Some(digests) = &digests {
            simulation = simulation.logging(digests.clone());
        }
        if self.log_packets.is_some() || self.log_messages.is_some() {
            let filter = self.filter(simulation.fabric())?;
            simulation = simulation.logging_deliveries(filter);
        }
        if self.trace_path {
            simulation = simulation.tracing_path();
        }
        let timeline = self.timeline.as_deref().map(TimelineLog::create).transpose();
        let timeline = timeline.map_err(ReportError::from)?;
        if let Some(timeline) = &timeline {
            simulation = simulation.writing_timeline(timeline.clone());
        }
        if let Some(results) = &results {
            results.fill(|| folder::write(&results.join(SCENARIO), &resolved))?;
        }
        if document.has_sweep() {
            bar.above(|| say("note: [sweep] is left out by run; flitlab sweep runs its points"));
        }
        let headline = text::headline(&simulation);
        if !self.output.json {
            let routing =
                terminal::fact("routing", &scenario.network.routing.written(), text::COLUMN);
            bar.above(|| mention(&format!("{headline}\n{routing}")));
        }
        for note in text::notes([&scenario]) {
            bar.above(|| say(&format!("note: {note}")));
        }
        if let Some(note) = text::adaptive_note(&simulation) {
            bar.above(|| say(&format!("note: {note}")));
        }
        for note in text::far_rates([&scenario]) {
            bar.above(|| say(&format!("warning: {note}")));
        }
        if let Deadlock::Possible { how, .. } = scenario.deadlock() {
            bar.above(|| say(&format!("warning: {how}")));
        }
        if let Deadlock::Dropped { how, lifetime } = scenario.deadlock() {
            bar.above(|| say(&format!("warning: {}", text::dropped_text(&how, lifetime))));
        }
        for caution in simulation.cautions() {
            bar.above(|| say(&format!("warning: {caution}")));
        }

        if let Some(checkpoint) = &from {
            let time = time_text(checkpoint.now());
            bar.above(|| say(&format!("note: goes on from the checkpoint, at {time}")));
        }

        bar.doing("the first window");
        let interrupt = match keeper {
            Some(_) => None,
            None => Some(Interrupt::watch({
                let (bar, log) = (bar.clone(), self.log.clone());
                let results = results.as_deref().map(Path::to_path_buf);
                move || give_up(&bar, results.as_deref(), log.as_deref())
            })?),
        };
        let outcome =
            simulation.run_from(from, &mut |progress| bar.simulated(progress), &mut |snapshot| {
                if let Some(keeper) = &mut keeper {
                    keeper.look(snapshot, &bar, results.as_deref());
                }
            });
        let _results_are_written = interrupt.as_ref().map(Interrupt::hold);
        bar.finish();
        digests.map_or(Ok(()), |digests| digests.finish())?;
        timeline.map_or(Ok(()), |timeline| timeline.finish()).map_err(ReportError::from)?;

        let Outcome { mut found, deadlock, logged, work } = outcome;
        self.write_log(&logged, &simulation)?;
        let warnings = found.warnings.clone();
        let note = found.deadlock.as_ref().map(|found| DeadlockNote::new(0, found));
        let label = Label { seed: scenario.seed, ..Label::default() };
        // What is printed looks at all channels, whichever are kept.
        let kept = scenario.kept.channels.keep(simulation.fabric(), found.channels.clone());
        let channels = std::mem::replace(&mut found.channels, kept);
        let rows = ResultRows { points: vec![Point::new(label, found)], ..ResultRows::default() };
        let title = scenario.title.clone().unwrap_or_else(|| scenario.name.clone());
        let (medium, own) = (self.output.medium(), components::own_figures());
        let wish = FigureRequest { medium, own, ..FigureRequest::titled(&title) };
        let (measured, channels) = (&rows.points[0].measured, &channels[..]);
        let summary = Summary {
            made: Made::here(),
            title: scenario.title.clone(),
            scenario: Expectation::new(&simulation),
            points: &rows.points,
            saturation: Vec::new(),
            load_bounds: &[],
            busiest_channels: text::busiest(channels),
            warnings,
            deadlocks: note.into_iter().collect(),
            over_bound: OverBound::new(&simulation, measured, channels),
            path_channels: text::held_up(&rows.points[0].explained.channels),
        };
        let finished = Finished {
            rows: rows.clone(),
            figures: wish,
            summary: Some(summary.text()),
            scenario: resolved,
            packing: scenario.kept.packing,
            folder: results.as_deref().map(Path::to_path_buf),
        };
        if let Some(results) = &results {
            results.fill(|| {
                finished.write(ResultFolder::begin(results, Vec::new(), finished.packing)?, results)
            })?;
        }
        program::give(|answer| answer.result = Some(finished));
        if let Some(keeper) = &keeper {
            keeper.forget();
        }

        let place = results.as_deref().map(|folder| folder.display().to_string());
        let cost = Some(Cost::new(&work));
        let printed = Printed { summary: &summary, results: place.clone(), cost };
        printed.give();
        if self.output.json {
            printed.print()?;
        } else {
            let facts = text::outcome(measured, channels, &work);
            let over = text::over_bound(summary.over_bound.as_ref());
            let waits = text::path_channels(&rows.points[0].explained.channels);
            let phases = text::phases(&rows.points[0].explained.phases);
            let failures = text::failures(&rows.points[0].failures);
            let flows = text::flows(&rows.points[0].explained.flows);
            let workloads = match workloads::lines(&rows.points[0].workloads, text::COLUMN) {
                lines if lines.is_empty() => lines,
                lines => format!("  workloads\n{lines}"),
            };
            print_text(&format!(
                "{facts}{failures}{over}{waits}{phases}{flows}{workloads}{}",
                place.map_or_else(String::new, |place| format!("results in {place}\n"))
            ))?;
        }
        match measured.status {
            Status::Stuck => return Err(Failure::Stuck(summary.warnings.join("\n"))),
            Status::Livelock | Status::TooLong => {
                return Err(Failure::Run(summary.warnings.join("\n")));
            }
            _ => {}
        }
        for warning in &summary.warnings {
            say(&format!("warning: {warning}"));
        }
        deadlock.map_or(Ok(()), |deadlock| Err(Failure::Deadlock(Box::new(deadlock))))
    }
}

impl Run {
    /// As a program calls it: files on demand.
    pub(super) fn for_a_program(&mut self, text: Option<&str>) {
        self.input.text = text.map(str::to_owned);
        self.output.on_demand = true;
    }

    /// Says what the run would take.
    fn tell_cost(&self, scenario: &Scenario, bar: &Bar) -> Result<(), Failure> {
        let _interrupt = Interrupt::clear(bar)?;
        let simulation = Simulation::new(scenario)?;
        bar.doing("simulating its first moments");
        let cost = ExpectedCost::new(&simulation);
        bar.finish();
        if self.output.json {
            return print_json(&cost);
        }
        print_text(&format!("{}: {}\n", text::headline(&simulation), cost.text()))
    }

    /// Refuses the timeline of what has none.
    fn refuse_without_application(&self, scenario: &Scenario) -> Result<(), Failure> {
        let mut members = scenario.workload.members().iter();
        if self.timeline.is_none()
            || members.any(|it| it.kind == "application" && it.spec.crosses_network())
        {
            return Ok(());
        }
        Err(Failure::input(
            "--timeline is of applications on a network, and the scenario has none\n\
             help: leave it out; --log-messages has the messages of any workload",
        ))
    }

    /// Refuses what only the engine has.
    fn refuse_of_engine(&self, scenario: &Scenario) -> Result<(), Failure> {
        if scenario.parameters.kind.output_queues().is_none() {
            return Ok(());
        }
        let asked = [
            ("--checkpoint", self.keeping.path().is_some(), "keep no state"),
            ("--log", self.log.is_some(), "write their digest at the end only"),
            ("--trace-path", self.trace_path, "have no applications"),
            ("--timeline", self.timeline.is_some(), "have no applications"),
        ];
        let Some((option, _, why)) = asked.into_iter().find(|it| it.1) else { return Ok(()) };
        Err(Failure::input(format!(
            "{option} is for routers of the engine; those of preset \"outflank-paper\" {why}\n\
             help: leave {option} out, or choose another preset in [router]"
        )))
    }

    /// Which packets and messages are logged. The files must not be there.
    fn filter(&self, fabric: &Fabric) -> Result<LogFilter, Failure> {
        for path in [&self.log_packets, &self.log_messages].into_iter().flatten() {
            if path.exists() {
                return Err(replaces(path));
            }
        }
        let nodes = fabric.terminals();
        if let Some(node) = self.log_nodes.iter().find(|&&node| node >= nodes) {
            let last = nodes - 1;
            let message = format!("there is no node {node} to log: they are 0 to {last}");
            return Err(Failure::input(message));
        }
        Ok(LogFilter {
            packets: self.log_packets.is_some(),
            messages: self.log_messages.is_some(),
            terminals: self.log_nodes.clone(),
            most: self.log_most,
        })
    }

    fn write_log(&self, logged: &Logged, simulation: &Simulation) -> Result<(), Failure> {
        let several = simulation.scenario().workload.are_several();
        let shares = simulation.shares().filter(|_| several);
        let names: Vec<String> = shares.map(|share| share.member().name.clone()).collect();
        if let Some(path) = &self.log_packets {
            write_packets(path, &logged.packets, &simulation.scenario().network.fabric, &names)?;
            say_left_out(path, logged.packets.len(), logged.packets_left_out);
        }
        if let Some(path) = &self.log_messages {
            write_messages(path, &logged.messages, &names)?;
            say_left_out(path, logged.messages.len(), logged.messages_left_out);
        }
        Ok(())
    }
}

/// Says how much a log left out behind its rows, if anything.
fn say_left_out(path: &Path, rows: usize, left_out: u64) {
    if left_out > 0 {
        let path = path.display();
        say(&format!("note: {path} has the first {rows}; {left_out} more came later"));
    }
}

/// Logs never replace files.
fn replaces(path: &Path) -> Failure {
    Failure::input(format!(
        "{} is there, and logs never replace others: name another file, or remove it",
        path.display()
    ))
}

/// Begins the log of the digest, or goes on with it: with that of a run that was killed before its
/// first checkpoint, from the beginning.
fn open_log(
    path: &Path,
    from: Option<&Checkpoint>,
    killed_early: bool,
) -> Result<DigestLog, Failure> {
    match from.map(Checkpoint::now).or(killed_early.then_some(Picoseconds::ZERO)) {
        Some(time) => Ok(DigestLog::resume(path, time)?),
        None if path.exists() => Err(replaces(path)),
        None => Ok(DigestLog::create(path)?),
    }
}

/// Whether a folder has only what a run of the same scenario left that was killed: no results, or
/// not all of them.
fn is_unfinished(folder: &Path, resolved: &str) -> bool {
    read_text(&folder.join(SCENARIO)).is_ok_and(|text| text == resolved)
        && !folder.join(SUMMARY).exists()
        && !Store::is_in(folder)
}

/// Leaves nothing of a run that is interrupted, so that the next one finds folder and log free.
fn give_up(bar: &Bar, results: Option<&Path>, log: Option<&Path>) {
    bar.finish();
    if let Some(results) = results {
        let _ = fs::remove_file(results.join(SCENARIO));
        Claim::release(results);
    }
    if let Some(log) = log {
        let _ = fs::remove_file(log);
    }
    say("interrupted: nothing of the run is kept; one that is given --checkpoint FILE can go on");
}
