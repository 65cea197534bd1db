//! Calls that are ended before they are done.

use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::workplace::Workplace;

/// A call that is under way.
pub struct Ongoing(Child);

impl Workplace {
    pub fn begin(&self, arguments: &[&str]) -> Ongoing {
        let mut command = self.command(arguments);
        Ongoing(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Begins a call and kills it once so many points are finished.
    pub fn kill(&self, arguments: &[&str], folder: &str, points: usize) {
        let mut call = self.begin(arguments);
        call.wait_until(|| self.points(folder) >= points);
        call.kill();
    }
}

impl Ongoing {
    pub fn of(child: Child) -> Self {
        Self(child)
    }

    /// Waits for something that the call does before it ends.
    pub fn wait_until(&mut self, done: impl Fn() -> bool) {
        let begun = Instant::now();
        while !done() {
            assert!(!self.has_ended(), "it ended before that");
            assert!(begun.elapsed() < Duration::from_secs(300));
            sleep(Duration::from_millis(1));
        }
    }

    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    /// SIGKILL: nothing of the process has a chance to put anything in order.
    pub fn kill(self) {
        assert!(self.kill_if_running());
    }

    /// The same of a process that may have ended by itself, well; whether it was killed.
    pub fn kill_if_running(mut self) -> bool {
        self.0.kill().unwrap();
        let status = self.0.wait().unwrap();
        assert!(matches!(status.code(), None | Some(0)), "{status}");
        status.code().is_none()
    }

    pub fn signal(&self, name: &str) {
        let process = self.0.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &process]).status().unwrap();
        assert!(sent.success());
    }

    /// Exit code and standard error, once it has ended.
    pub fn end(self) -> (Option<i32>, String) {
        let output = self.0.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}
