//! No panic, no abort, no silence: what hostile or merely large input, a full disk and a pipe that
//! nobody reads may do to the program.

mod advice;
mod cautions;
mod checked;
mod counters;
mod deadlocks;
mod large_input;
mod long_times;
mod memory;
mod outputs;
mod progress;
mod strange_text;

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::workplace::Workplace;

/// A small torus with a load, and what makes it short.
pub const SMALL: &str = "[topology.torus]\ndimensions = [4, 4]\n[traffic]\npattern = \"uniform\"\nload = 0.3\n\
                         [measure]\nwindow = \"2 us\"\nwarm_up_windows = 4\nmaximum_windows = 10\n";

/// The same with a sweep of four points.
pub fn sweep() -> String {
    format!("{SMALL}[sweep.grid]\ntraffic.load = [0.1, 0.2, 0.3, 0.4]\n")
}

impl Workplace {
    /// Runs a command line in a shell, in which `flitlab` is the program.
    pub fn shell(&self, line: &str) -> Output {
        let program = env!("CARGO_BIN_EXE_flitlab");
        Command::new("sh")
            .args(["-c", &format!("flitlab() {{ '{program}' \"$@\"; }}; {line}")])
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Exit code and standard error of a call that must end soon.
    pub fn soon(&self, arguments: &[&str], variables: &[(&str, &str)]) -> (i32, String) {
        let begun = Instant::now();
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{arguments:?} took {:?}",
            begun.elapsed()
        );
        (output.status.code().unwrap_or_else(|| panic!("{arguments:?} was killed: {said}")), said)
    }
}
