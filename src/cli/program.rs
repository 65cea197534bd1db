//! Commands that a program calls, as Python does: the same commands, which end no process and print
//! nothing. What they say, and what they have found, they give to the program.

use std::cell::RefCell;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::components::{self, Components};
use super::finished::Finished;
use super::progress::Bar;
use super::{Arguments, Command, Failure};
use flitlab::registry::Registry;
use flitlab::report::Table;
use flitlab::report::figure::Figure;
use flitlab::stop::{self, Stop};

thread_local! {
    static PROGRAM: RefCell<Option<Arc<Program>>> = const { RefCell::new(None) };
}

/// A program's call of a command: how far it is, and how it is ended.
#[derive(Default)]
pub struct Program {
    /// The components that its commands know besides those that are built in.
    registry: Registry,
    stop: Stop,
    state: Mutex<State>,
}

/// What a command has told so far.
#[derive(Default)]
struct State {
    /// Of a run that keeps its state when it is interrupted: tells it to.
    keeper: Option<Arc<AtomicBool>>,
    notes: Vec<String>,
    bar: Option<Bar>,
    answer: Answer,
}

/// What a command has found.
#[derive(Default)]
pub struct Answer {
    /// What is printed for people.
    pub text: String,
    /// What `--json` prints.
    pub json: Option<String>,
    /// Of a run or a sweep.
    pub result: Option<Finished>,
    /// Of a routing table: the loads of channels, and next hops or routes.
    pub tables: Vec<Table>,
    /// Of a routing table, with their names.
    pub figures: Vec<(String, Figure)>,
}

/// How a command ended.
pub struct Ended {
    /// The exit code of the command.
    pub code: u8,
    /// What it says on standard error beside notes and warnings; empty if there is nothing to say.
    pub text: String,
}

/// How far a command is.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub done: u64,
    /// How many there are in all; of a run 100. 0 if that is not known.
    pub of: u64,
    /// In words.
    pub text: String,
}

/// The program that this thread works for; `None` if it works for a shell.
pub(super) fn current() -> Option<Arc<Program>> {
    PROGRAM.with_borrow(Clone::clone)
}

/// Makes the threads of a pool work for the program, under the stop, and with the components of
/// this one.
pub(super) fn for_threads() -> impl Fn(usize) + Send + Sync + 'static {
    let (program, stop, known) = (current(), Stop::current(), components::current());
    move |_| {
        PROGRAM.set(program.clone());
        known.clone().enter();
        stop.enter();
    }
}

/// Gives the program, if there is one, what was found.
pub(super) fn give(into: impl FnOnce(&mut Answer)) {
    if let Some(program) = current() {
        into(&mut program.state().answer);
    }
}

impl Program {
    /// A call whose command knows the components of this registry, besides those that are built in.
    pub fn with_registry(registry: &Registry) -> Self {
        Self { registry: registry.clone(), ..Self::default() }
    }

    /// Calls a command by its words, as `["run", "scenario.toml", "--threads", "2"]`. With `text`
    /// that is the scenario's text, and its path only what messages call it. A `run` without a
    /// folder for its results writes none.
    ///
    /// All that the command says and finds is also there if it fails: `code` 3 is that of a result
    /// with a deadlock. `None` if it was [interrupted](Self::interrupt).
    pub fn call(self: &Arc<Self>, words: &[OsString], text: Option<&str>) -> Option<Ended> {
        let name = OsString::from("flitlab");
        let words: Vec<OsString> = [&name].into_iter().chain(words).cloned().collect();
        let known = Arc::new(Components::of_registry(self.registry.clone())).enter();
        let ended = self.call_known(&words, text);
        known.enter();
        ended
    }

    fn call_known(self: &Arc<Self>, words: &[OsString], text: Option<&str>) -> Option<Ended> {
        let arguments = match Arguments::read(words) {
            Ok(arguments) => arguments,
            Err(error) => {
                let text = error.to_string().trim_end().to_owned();
                return Some(Ended { code: 2, text });
            }
        };
        let before = PROGRAM.replace(Some(Arc::clone(self)));
        let ended = self.stop.over(|| arguments.for_a_program(text).execute());
        PROGRAM.set(before);
        ended.map(|ended| match ended {
            Ok(()) => Ended { code: 0, text: String::new() },
            Err(failure) => Ended { code: failure.code(), text: failure.text() },
        })
    }

    /// Ends the command soon. One that keeps its state keeps it first, unless it is asked again;
    /// returns whether it does.
    pub fn interrupt(&self) -> bool {
        match self.state().keeper.take() {
            Some(asked) => asked.store(true, Ordering::Relaxed),
            None => {
                self.stop.ask();
                return false;
            }
        }
        true
    }

    /// Notes and warnings since the last call, a text each.
    pub fn notes(&self) -> Vec<String> {
        std::mem::take(&mut self.state().notes)
    }

    /// How far the command is; `None` before there is something to tell.
    pub fn standing(&self) -> Option<Standing> {
        let bar = self.state().bar.clone();
        bar.and_then(|bar| bar.standing())
    }

    /// What the command has found.
    pub fn answer(&self) -> Answer {
        std::mem::take(&mut self.state().answer)
    }

    pub(super) fn note(&self, text: &str) {
        self.state().notes.push(text.trim_end().to_owned());
    }

    pub(super) fn shows(&self, bar: Bar) {
        self.state().bar = Some(bar);
    }

    /// An interruption sets a flag, and ends nothing.
    pub(super) fn only_sets(&self, asked: &Arc<AtomicBool>) {
        self.state().keeper = Some(Arc::clone(asked));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the command that this thread does: for a shell the process, with this exit code.
pub(super) fn end(code: i32) -> ! {
    match current() {
        Some(_) => stop::end(),
        None => std::process::exit(code),
    }
}

impl Arguments {
    /// The command as a program calls it.
    fn for_a_program(mut self, text: Option<&str>) -> Self {
        match &mut self.command {
            Command::Run(run) => run.for_a_program(text),
            Command::Sweep(sweep) => sweep.for_a_program(text),
            Command::Check(check) => check.for_a_program(text),
            Command::Route(route) => route.for_a_program(text),
            // Other commands are called as shells call them.
            _ => {}
        }
        self
    }
}

impl Failure {
    /// What is said of it, without colours.
    pub(super) fn text(&self) -> String {
        let said = Arc::new(Program::default());
        let before = PROGRAM.replace(Some(Arc::clone(&said)));
        self.explain();
        PROGRAM.set(before);
        said.notes().join("\n")
    }
}
