//! The `flitlab` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(flitlab::cli::main(std::env::args_os()))
}
