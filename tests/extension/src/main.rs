//! A program with the whole command line of flitlab, which knows the components of this crate.

use std::error::Error;
use std::process::ExitCode;

use flitlab_extension::registry;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    Ok(ExitCode::from(flitlab::cli::main_with(&registry()?, std::env::args_os())))
}
