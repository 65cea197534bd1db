//! The command, run as a user runs it, in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A new folder, with the repository's scenarios in reach, that goes away with the test.
pub struct Workplace(pub PathBuf);

impl Workplace {
    pub fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flitlab"));
        command.args(arguments).current_dir(&self.0);
        command
    }

    pub fn flitlab(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Standard output of a call that must succeed.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.flitlab(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(arguments)).unwrap()
    }

    /// Exit code and standard error of a call.
    pub fn fail(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.flitlab(arguments);
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    pub fn write(&self, file: &str, content: &str) {
        fs::write(self.0.join(file), content).unwrap();
    }

    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    pub fn read_bytes(&self, file: &str) -> Vec<u8> {
        fs::read(self.0.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn scenario(name: &str) -> String {
    format!("{}/scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

/// Settings that make a load point short.
pub const SHORT: [&str; 8] = [
    "--set",
    "measure.window=2 us",
    "--set",
    "measure.warm_up_windows=4",
    "--set",
    "measure.minimum_windows=10",
    "--set",
    "measure.maximum_windows=10",
];

pub fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}
