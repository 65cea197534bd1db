//! `flitlab completions`: lets a shell complete the command's words.

use clap::Args;
use clap_complete::{Shell, generate};

use super::summary::print_text;
use super::{Failure, components};

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    flitlab completions bash > ~/.local/share/bash-completion/completions/flitlab\n  \
    flitlab completions zsh > ~/.zfunc/_flitlab\n  \
    flitlab completions fish > ~/.config/fish/completions/flitlab.fish\n\n\
    They hold from the next shell on. zsh needs `fpath+=~/.zfunc` in ~/.zshrc, before compinit.")]
pub(super) struct Completions {
    shell: Shell,
}

impl Completions {
    pub(super) fn execute(&self) -> Result<(), Failure> {
        let mut script = Vec::new();
        let name = components::name();
        generate(self.shell, &mut components::command(), name, &mut script);
        print_text(&String::from_utf8_lossy(&script))
    }
}
