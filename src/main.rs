//! The `flitlab` command: parses arguments, calls the subcommand, turns errors into exit codes.

use std::process::ExitCode;

use clap::Parser;

mod cli;

fn main() -> ExitCode {
    cli::Arguments::parse().run()
}
