//! The `flitlab` command: parses arguments, calls the subcommand, turns errors into exit codes.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    flitlab::cli::Arguments::parse().run()
}
