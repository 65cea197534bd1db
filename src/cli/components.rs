//! What the command knows beside what is built in: the components of the program that it is part
//! of, and that program's name.
//!
//! They belong to the thread that does the command and to those that it starts, as the program that
//! calls it does (`program.rs`). They are no arguments of functions, since clap makes the parsers of
//! options, which list names, without any. They are not the process's, since two calls in it may
//! know different ones.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use clap::builder::StyledStr;
use clap::{Command, CommandFactory};

use super::Arguments;
use flitlab::registry::{Component, Registry, Row};
use flitlab::report::figure::FigureKind;
use flitlab::scenario::{Diagnostics, Document, Offers};

/// The name of the command that knows what is built in alone.
const FLITLAB: &str = "flitlab";

/// What a command knows.
#[derive(Debug)]
pub(super) struct Components {
    registry: Registry,
    /// The name of the program, by which messages call its commands.
    name: String,
    /// Made when it is first asked for.
    offers: OnceLock<Offers>,
}

thread_local! {
    static KNOWN: RefCell<Arc<Components>> = RefCell::new(Arc::new(Components::built_in()));
}

impl Components {
    fn built_in() -> Self {
        Self::new(Registry::default(), FLITLAB.into())
    }

    fn new(registry: Registry, name: String) -> Self {
        Self { registry, name, offers: OnceLock::new() }
    }

    /// Those of a program that is called by these words, its name first.
    pub(super) fn of_program(registry: Registry, words: &[OsString]) -> Self {
        let file = words.first().map(Path::new).and_then(Path::file_name);
        let name = file.and_then(|file| file.to_str()).filter(|_| !registry.is_empty());
        let name = name.map_or(FLITLAB, |name| name.trim_end_matches(".exe")).to_owned();
        Self::new(registry, name)
    }

    /// Those of `flitlab` with these rows more.
    pub(super) fn of_registry(registry: Registry) -> Self {
        Self::new(registry, FLITLAB.into())
    }

    /// Lets this thread know them; returns what it knew before.
    pub(super) fn enter(self: Arc<Self>) -> Arc<Self> {
        KNOWN.replace(self)
    }
}

/// What this thread knows.
pub(super) fn current() -> Arc<Components> {
    KNOWN.with_borrow(Clone::clone)
}

/// The name of the program, by which messages call its commands.
pub(super) fn name() -> String {
    current().name.clone()
}

/// The names of all subcommands, which are every program's.
static COMMANDS: OnceLock<Vec<String>> = OnceLock::new();

/// A text with the commands of this program where it names those of `flitlab`, as `flitlab sweep`.
pub(super) fn renamed(text: &str) -> Cow<'_, str> {
    let name = name();
    if name == FLITLAB || !text.contains(FLITLAB) {
        return text.into();
    }
    let commands = COMMANDS.get_or_init(|| {
        let whole = Arguments::command();
        whole.get_subcommands().map(|command| command.get_name().to_owned()).collect()
    });
    let is_command = |rest: &str| {
        let word = rest.strip_prefix(' ').and_then(|rest| rest.split([' ', '\n', '`', '/']).next());
        word.is_some_and(|word| word.starts_with("--") || commands.iter().any(|it| it == word))
    };
    let mut parts = text.split(FLITLAB);
    let mut renamed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        renamed += if is_command(part) { &name } else { FLITLAB };
        renamed += part;
    }
    renamed.into()
}

/// The command line with the name of this program, the crates that it brings, and its own commands
/// in the help.
pub(super) fn command() -> Command {
    let (known, whole) = (current(), Arguments::command());
    if known.name == FLITLAB {
        return whole;
    }
    let packages: Vec<String> = known.registry.packages().iter().map(ToString::to_string).collect();
    let version = format!("({FLITLAB} {} with {})", env!("CARGO_PKG_VERSION"), packages.join(", "));
    with_renamed_help(whole).name(known.name.clone()).version(version)
}

fn with_renamed_help(mut command: Command) -> Command {
    let text = |help: Option<&StyledStr>| help.map(|help| renamed(&help.to_string()).into_owned());
    if let Some(help) = text(command.get_after_help()) {
        command = command.after_help(help);
    }
    if let Some(help) = text(command.get_about()) {
        command = command.about(help);
    }
    if let Some(help) = text(command.get_long_about()) {
        command = command.long_about(help);
    }
    let command = command.mut_args(|arg| match text(arg.get_help()) {
        Some(help) => arg.help(help),
        None => arg,
    });
    command.mut_subcommands(with_renamed_help)
}

/// The rows of a kind, built-in ones first.
pub(super) fn rows<C: Component>() -> Vec<Row<C>> {
    current().registry.rows::<C>().map(|row| *row.row).collect()
}

/// The row of this name.
pub(super) fn named<C: Component>(name: &str) -> Option<Row<C>> {
    current().registry.rows::<C>().find(|row| row.name == name).map(|row| *row.row)
}

/// The kinds of figures that are not built in.
pub(super) fn own_figures() -> Vec<Row<FigureKind>> {
    let known = current();
    let own = known.registry.rows::<FigureKind>().filter(|row| row.package.is_some());
    own.map(|row| *row.row).collect()
}

/// Reads a scenario's file.
///
/// # Errors
/// As [`Document::open`].
pub(super) fn open(path: &Path) -> Result<Document, Diagnostics> {
    Ok(Document::open(path)?.with_registry(&current().registry))
}

/// Takes a scenario's text, which messages call `path`.
pub(super) fn parse(path: &str, text: &str) -> Document {
    Document::parse(path, text).with_registry(&current().registry)
}

/// What scenarios can name.
pub(super) fn with_offers<R>(work: impl FnOnce(&Offers) -> R) -> R {
    let known = current();
    work(known.offers.get_or_init(|| Offers::new(&known.registry)))
}
