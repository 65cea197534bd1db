//! The `flitlab` command: parses arguments, calls the subcommand, turns errors into exit codes.

use std::process::ExitCode;

use clap::Parser;

mod cli;

fn main() -> ExitCode {
    cli::outlive_file_limits();
    cli::Arguments::parse().run()
}
