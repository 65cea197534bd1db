//! A Slurm of one node for a test: `scripts/slurm-local.sh`.

use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::workplace::Workplace;

/// One at a time: the machine has few cores.
static ONE: Mutex<()> = Mutex::new(());

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(300);

pub struct Cluster {
    folder: PathBuf,
    _one: MutexGuard<'static, ()>,
}

impl Cluster {
    /// `None`, and says so, if there is no Slurm on this machine. It is not installed for a test.
    pub fn start(test: &str) -> Option<Self> {
        let there = |daemon: &&str| {
            ["/usr/sbin", "/usr/bin"].iter().any(|folder| Path::new(folder).join(daemon).exists())
        };
        let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
        if !(root && ["slurmctld", "slurmd", "munged", "sbatch"].iter().all(there)) {
            // Not by println, which is shown for tests that fail only.
            let why =
                if root { "slurm-wlm and munge are not installed" } else { "this is not root" };
            let _ = writeln!(stderr(), "test {test} was skipped: {why}");
            return None;
        }
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("flitlab-slurm-test-{}", std::process::id());
        let cluster = Self { folder: std::env::temp_dir().join(name), _one: one };
        cluster.again();
        Some(cluster)
    }

    /// Starts it anew; it knows nothing of earlier jobs.
    pub fn again(&self) {
        let output = self.script("start");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
    }

    pub fn stop(&self) {
        let output = self.script("stop");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn script(&self, action: &str) -> Output {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/slurm-local.sh");
        Command::new(script).arg(action).arg(&self.folder).output().unwrap()
    }

    fn command(&self, mut command: Command) -> Output {
        command.env("SLURM_CONF", self.folder.join("slurm.conf")).output().unwrap()
    }

    pub fn cancel(&self, task: &str) {
        let mut scancel = Command::new("scancel");
        scancel.arg(task);
        assert!(self.command(scancel).status.success());
    }

    /// Lets a held job run.
    pub fn release(&self, job: &str) {
        let mut scontrol = Command::new("scontrol");
        scontrol.args(["release", job]);
        assert!(self.command(scontrol).status.success());
    }

    /// Exit code, standard output and standard error of flitlab.
    pub fn call(&self, place: &Workplace, arguments: &[&str]) -> (i32, String, String) {
        let output = self.command(place.command(arguments));
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// Standard output of a call that must succeed.
    pub fn run(&self, place: &Workplace, arguments: &[&str]) -> String {
        let (code, said, errors) = self.call(place, arguments);
        assert_eq!(code, 0, "{arguments:?}: {errors}");
        said
    }

    pub fn json(&self, place: &Workplace, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(place, &[arguments, &["--json"]].concat())).unwrap()
    }

    /// The status of a sweep as soon as it is as wanted.
    pub fn wait_until(
        &self,
        place: &Workplace,
        folder: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let begun = Instant::now();
        loop {
            let status = self.json(place, &["sweep", "status", folder]);
            if wanted(&status) {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "{status}");
            sleep(Duration::from_millis(50));
        }
    }

    /// The status of a sweep when nothing of it is waiting or running.
    pub fn wait(&self, place: &Workplace, folder: &str) -> Value {
        self.wait_until(place, folder, |status| {
            ["waiting", "running"].iter().all(|state| status["others"][state].is_null())
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.script("stop");
    }
}
