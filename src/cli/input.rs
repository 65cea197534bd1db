//! The scenario argument that most subcommands take.

use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Failure, components, program};
use flitlab::scenario::{Diagnostics, Document, Scenario};
use flitlab::traces::formats::{Beginning, FileKind, refusal};
use flitlab::traces::read::Format;

/// A scenario file and the values set on top of it.
#[derive(Debug, Args)]
pub(super) struct Input {
    /// The scenario, a TOML file (`flitlab check --reference` lists its keys)
    #[arg(value_name = "SCENARIO")]
    pub path: PathBuf,
    /// Sets a key over the file's value, such as traffic.load=0.3; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The scenario's text, if a program gives it; the path is what messages call it then.
    #[arg(skip)]
    pub text: Option<String>,
}

impl Input {
    /// The file, with what was set.
    pub(super) fn document(&self) -> Result<Document, Failure> {
        if self.text.is_none()
            && let Some(problem) = not_a_scenario(&self.path)
        {
            return Err(Failure::Input(problem));
        }
        let mut document = match &self.text {
            Some(text) => components::parse(&self.path.display().to_string(), text),
            None => components::open(&self.path)?,
        };
        for assignment in &self.set {
            match program::current() {
                // Who calls it from a program has typed no command.
                Some(_) => document.set_by("settings", "", assignment),
                None => document.set(assignment),
            }
        }
        Ok(document)
    }

    /// The checked scenario.
    pub(super) fn scenario(&self) -> Result<(Document, Scenario), Failure> {
        let document = self.document()?;
        let scenario = Scenario::read(&document)?;
        Ok((document, scenario))
    }
}

/// The message about a file of a format that is known and is no scenario.
fn not_a_scenario(path: &Path) -> Option<String> {
    let name = path.display().to_string();
    let error = |message: String, help: String| format!("error: {message}\n  = help: {help}");
    if let Some(format) = Format::of_file(path) {
        let what = format.what;
        return Some(error(format!("{name} is {what}, no scenario"), format.way_out(&name)));
    }
    let file = Beginning::of_file(path)?;
    let refusal = refusal(&file, &name, FileKind::Scenario)?;
    Some(error(refusal.message, refusal.help))
}

/// The mistakes of a scenario, in colour if that can be seen and is wanted.
impl From<Diagnostics> for Failure {
    fn from(found: Diagnostics) -> Self {
        let colored = program::current().is_none()
            && stderr().is_terminal()
            && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
        Self::Mistakes(if colored { found.colored() } else { found.plain() })
    }
}
