//! The command line: one subcommand a file.
//!
//! Exit codes: 0 done; 1 the run failed (a file could not be written, memory ran out, packets go on
//! for ever); 2 the input is wrong; 3 a deadlock was found; 4 a check or comparison did not hold;
//! 130 interrupted by Ctrl-C, SIGTERM or SIGHUP. With `--json` a subcommand prints one JSON object on
//! standard output and nothing else there; text for people and progress go to standard error.

#![deny(clippy::print_stderr, clippy::print_stdout)]

mod again;
mod check;
mod checkpoint;
mod compare;
mod completions;
mod components;
mod failures;
mod finished;
mod folder;
mod init;
mod input;
mod interrupt;
mod man;
mod place;
mod plot;
mod program;
mod progress;
mod report;
mod reproduce;
mod results;
mod route;
mod run;
mod run_cost;
mod same_file;
mod say;
mod schedule;
mod slow_build;
mod summary;
mod sweep;
mod terminal;
mod text;
mod threads;
mod time_left;
mod unasked;
mod unlike;
mod verify;
mod workloads;

use std::ffi::OsString;
use std::fmt;
use std::sync::{Arc, OnceLock};

use clap::error::{ContextKind, ContextValue};
use clap::{FromArgMatches, Parser, Subcommand};

pub use finished::Finished;
pub use program::{Answer, Ended, Program, Standing};

use components::Components;
use say::{say, say_as_it_is};

use flitlab::FileError;
use flitlab::engine::Deadlock;
use flitlab::registry::Registry;
use flitlab::report::ReportError;
use flitlab::reproduce::KeptError;
use flitlab::simulation::SetupError;
use flitlab::sweep::slurm::SlurmError;
use flitlab::sweep::{PlaceError, PointError, StoreError};

/// Flit-level simulator of high-performance interconnects
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Examples:\n  \
    flitlab init first.toml\n  \
    flitlab check scenarios/desmos/desmos-uniform.toml\n  \
    flitlab sweep scenarios/desmos/desmos-uniform.toml\n\n\
    Exit codes: 0 done, 1 the run failed, 2 the input is wrong, 3 deadlock found, 4 a check or comparison \
    did not hold, 130 interrupted.\n\n\
    Environment: FLITLAB_MEMORY=\"64 GiB\" is how much memory may be used, in place of what the system has free.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Init),
    Run(run::Run),
    Sweep(sweep::SweepCommand),
    Check(check::Check),
    Route(route::Route),
    Failures(failures::Failures),
    Schedule(schedule::Schedule),
    Place(place::Place),
    Compare(compare::Compare),
    Plot(plot::Plot),
    Report(report::Report),
    Reproduce(reproduce::Reproduce),
    Verify(verify::Verify),
    Completions(completions::Completions),
    Man(man::ManualPages),
}

/// The commit that this program is built of, with `-changed` if its sources were changed since; empty
/// if it is not known.
const COMMIT: &str = env!("FLITLAB_COMMIT");

/// The arguments of this process's command.
static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Does what these arguments, the command's name first, ask for. Says on standard error what went
/// wrong, and returns the exit code. A signal ends the process, and so do wrong arguments.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    main_with(&Registry::default(), arguments)
}

/// The command line of a program of one's own, as [`main`]: every subcommand knows the components of this registry, by
/// which scenarios and options name them, besides those that are built in.
///
/// So a program whose `main` is this one call has the whole command line. Messages call its commands
/// by its own name. The jobs that it submits and the checkpoints that it writes are its own: each
/// task calls this executable again.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use flitlab::registry::Registry;
///
/// fn main() -> ExitCode {
///     // .with(package!(), &my_pattern::MINE)?
///     let registry = Registry::default();
///     ExitCode::from(flitlab::cli::main_with(&registry, std::env::args_os()))
/// }
/// ```
pub fn main_with(registry: &Registry, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    interrupt::outlive_file_limits();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let known = Components::of_program(registry.clone(), &arguments);
    let before = Arc::new(known).enter();
    let code = run(arguments);
    before.enter();
    code
}

fn run(arguments: Vec<OsString>) -> u8 {
    let parsed = Arguments::read(&arguments).unwrap_or_else(|error| error.exit());
    ARGUMENTS.get_or_init(|| arguments);
    match parsed.execute() {
        Ok(()) => 0,
        Err(failure) => {
            failure.explain();
            failure.code()
        }
    }
}

/// The arguments of this process, the command's name first.
fn arguments() -> &'static [OsString] {
    ARGUMENTS.get_or_init(Vec::new)
}

impl Arguments {
    /// Reads the arguments of a command, its name first.
    ///
    /// # Errors
    /// If they are none, or help is asked for.
    fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        let parsed = components::command().try_get_matches_from(arguments);
        let parsed = parsed.and_then(|matches| Self::from_arg_matches(&matches));
        parsed.map_err(|mut error| {
            if let Some(meant) = set_without_equals(arguments) {
                let tip = format!("a key and its value are one word: --set {meant}");
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
            }
            error
        })
    }

    /// Does what was asked for.
    fn execute(self) -> Result<(), Failure> {
        match self.command {
            Command::Init(init) => init.execute(),
            Command::Run(run) => run.execute(),
            Command::Sweep(sweep) => sweep.execute(),
            Command::Check(check) => check.execute(),
            Command::Route(route) => route.execute(),
            Command::Failures(failures) => failures.execute(),
            Command::Schedule(schedule) => schedule.execute(),
            Command::Place(place) => place.execute(),
            Command::Compare(compare) => compare.execute(),
            Command::Plot(plot) => plot.execute(),
            Command::Report(report) => report.execute(),
            Command::Reproduce(reproduce) => reproduce.execute(),
            Command::Verify(verify) => verify.execute(),
            Command::Completions(completions) => completions.execute(),
            Command::Man(pages) => pages.execute(),
        }
    }
}

/// The word to write where `--set KEY VALUE` was written.
fn set_without_equals(arguments: &[OsString]) -> Option<String> {
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    words.windows(3).find_map(|three| match three {
        ["--set", key, value] if !key.contains('=') && !value.starts_with('-') => {
            let word = format!("{key}={value}");
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-=".contains(letter);
            if word.chars().all(is_plain) { Some(word) } else { shlex::try_join([&*word]).ok() }
        }
        _ => None,
    })
}

/// Why a subcommand did not do what it was asked for.
#[derive(Debug)]
enum Failure {
    /// A file could not be read or written.
    Run(String),
    /// The input is wrong. The text is complete.
    Input(String),
    /// The mistakes of a scenario, fit for a terminal, maybe in colour.
    Mistakes(String),
    /// A check did not hold. The text is complete.
    Check(String),
    Deadlock(Box<Deadlock>),
    /// Ranks of an application wait for what never comes: the whole text.
    Stuck(String),
    /// The number of a sweep's points that deadlocked, and the first of them.
    Deadlocks(usize, String),
}

impl Failure {
    fn input(message: impl fmt::Display) -> Self {
        Self::Input(format!("error: {message}"))
    }

    fn code(&self) -> u8 {
        match self {
            Self::Run(_) => 1,
            Self::Input(_) | Self::Mistakes(_) => 2,
            Self::Deadlock(_) | Self::Deadlocks(..) | Self::Stuck(_) => 3,
            Self::Check(_) => 4,
        }
    }

    fn explain(&self) {
        match self {
            Self::Run(text) => say(&format!("error: {text}")),
            Self::Mistakes(text) => say_as_it_is(text),
            Self::Input(text) | Self::Check(text) => say(text.trim_end()),
            Self::Deadlock(deadlock) => say(deadlock.to_string().trim_end()),
            Self::Stuck(which) => say(which),
            Self::Deadlocks(count, first) => {
                let first = first.trim_end();
                say(&match count {
                    1 => format!("1 point ended in this deadlock:\n{first}"),
                    _ => format!(
                        "{count} points ended in a deadlock, the first of them in this one:\n{first}"
                    ),
                });
            }
        }
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::File(FileError::Write { .. }) | ReportError::Draw { .. } => {
                Self::Run(error.to_string())
            }
            _ => Self::input(error),
        }
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        let help = error.help().map_or_else(String::new, |help| format!("\nhelp: {help}"));
        Self::input(format!("{error}{help}"))
    }
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Self {
        match error {
            PlaceError::Setup(error) => error.into(),
            PlaceError::NoApplication => Self::input(format!(
                "{error}\nhelp: give it [application], or [workloads.NAME.application]; docs/schedules.md"
            )),
            PlaceError::NoEnd(_) => Self::Run(error.to_string()),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Run(error.to_string())
    }
}

impl From<KeptError> for Failure {
    fn from(error: KeptError) -> Self {
        match error {
            KeptError::Other { .. } => {
                Self::input(format!("{error}: name another folder with --out"))
            }
            _ => Self::Run(error.to_string()),
        }
    }
}

impl From<SlurmError> for Failure {
    fn from(error: SlurmError) -> Self {
        match error {
            SlurmError::Folder { .. } => Self::input(error),
            _ => Self::Run(error.to_string()),
        }
    }
}

impl From<PointError> for Failure {
    fn from(error: PointError) -> Self {
        match error {
            PointError::Setup(error) => error.into(),
            PointError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    /// The words of an example, up to what the shell does with it.
    fn words(example: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for letter in example.chars() {
            match letter {
                '"' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                _ => words.last_mut().unwrap().push(letter),
            }
        }
        let end = words.iter().position(|word| ["|", ">", "&&"].contains(&word.as_str()));
        words.truncate(end.unwrap_or(words.len()));
        words
    }

    #[test]
    fn examples_in_the_help_are_commands_and_name_files_that_exist() {
        let whole = Arguments::command();
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        for command in [&whole].into_iter().chain(whole.get_subcommands()) {
            let help = command.get_after_help().expect("every command has examples").to_string();
            let examples: Vec<&str> =
                help.lines().map(str::trim).filter(|line| line.starts_with("flitlab ")).collect();
            assert!(!examples.is_empty(), "{}", command.get_name());
            for example in examples {
                let words = words(example);
                if let Err(error) = Arguments::command().try_get_matches_from(&words) {
                    panic!("{example}: {error}");
                }
                for file in words.iter().filter(|word| word.starts_with("scenarios/")) {
                    assert!(root.join(file).exists(), "{example}");
                }
            }
        }
    }
}
