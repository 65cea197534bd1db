//! What is refused; no Slurm is needed for that.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

use super::{TWELVE, text};
use crate::common::workplace::Workplace;

fn place(name: &str) -> Workplace {
    let place = Workplace::new(&format!("slurm_{name}"));
    place.write("a.toml", TWELVE);
    place
}

#[cfg(unix)]
impl Workplace {
    /// The same where Slurm has forgotten all jobs.
    fn pretend(&self, sbatch: &str, largest: usize) -> String {
        self.pretend_with(sbatch, largest, "Invalid job id specified")
    }

    /// The same where squeue fails with a message.
    fn pretend_with(&self, sbatch: &str, largest: usize, squeue: &str) -> String {
        let fails = format!("echo 'slurm_load_jobs error: {squeue}' >&2; exit 1");
        self.commands(sbatch, largest, &fails)
    }

    /// Puts scripts in the place of Slurm's commands: what sbatch does, how large an array may be,
    /// what squeue does.
    fn commands(&self, sbatch: &str, largest: usize, squeue: &str) -> String {
        let folder = self.0.join("commands");
        fs::create_dir_all(&folder).unwrap();
        for (name, does) in [
            ("sbatch", format!("case $1 in --version) ;; *) {sbatch} ;; esac")),
            ("scontrol", format!("echo 'MaxArraySize            = {largest}'")),
            ("squeue", squeue.into()),
            ("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1".into()),
        ] {
            let path = folder.join(name);
            fs::write(&path, format!("#!/bin/sh\n{does}\n")).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        format!("{}:/usr/bin:/bin", folder.display())
    }

    /// Exit code and standard error of a call with these commands.
    fn call_with(&self, path: &str, arguments: &[&str]) -> (i32, String) {
        let output = self.command(arguments).env("PATH", path).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }
}

#[test]
#[cfg(unix)]
fn without_sbatch_nothing_is_written() {
    let place = place("missing");
    let (code, errors) =
        place.call_with("/nonexistent", &["sweep", "a.toml", "--executor", "slurm"]);
    assert_eq!(code, 1);
    assert!(errors.contains("there is no sbatch here"), "{errors}");
    assert!(!place.0.join("results").exists());
}

#[test]
#[cfg(unix)]
fn what_sbatch_says_is_shown_and_the_script_is_kept() {
    let place = place("says_no");
    let refuses = "echo 'sbatch: error: invalid partition specified: batch' >&2; exit 1";
    let path = place.pretend(refuses, 1001);
    let call = ["sweep", "a.toml", "--executor", "slurm", "--out", "b"];
    let (code, errors) = place.call_with(&path, &call);
    assert_eq!(code, 1);
    assert!(
        errors.contains("sbatch failed:\n    invalid partition specified: batch\n"),
        "{errors}"
    );
    assert!(errors.contains("flitlab sweep resubmit b"), "{errors}");
    let script = place.read("b/slurm/1/job.sh");
    assert!(script.contains("#SBATCH --partition=batch\n#SBATCH --time=00:10:00\n"), "{script}");
    // It came to nothing, and so gives way to the next.
    let path = place.pretend("echo 77", 1001);
    let (code, errors) = place
        .call_with(&path, &["sweep", "resubmit", "b", "--partition", "x", "--option=--nice=5"]);
    assert_eq!(code, 0, "{errors}");
    let script = place.read("b/slurm/1/job.sh");
    assert!(
        script.contains("#SBATCH --partition=x\n") && script.contains("--nice=5\n"),
        "{script}"
    );
    assert_eq!(place.read("b/slurm/1/job"), "77\n");
    assert!(!place.0.join("b/slurm/2").exists());
}

#[test]
#[cfg(unix)]
fn while_slurm_does_not_answer_nothing_is_submitted_again() {
    let place = place("silent");
    let silence = "Unable to contact slurm controller (connect failure)";
    let path = place.pretend_with("echo 77", 1001, silence);
    assert_eq!(place.call_with(&path, &["sweep", "a.toml", "--executor", "slurm"]).0, 0);
    let status =
        place.command(&["sweep", "status", "results/a"]).env("PATH", &path).output().unwrap();
    let said = String::from_utf8(status.stdout).unwrap();
    assert!(said.starts_with("results/a: 12 points: 0 finished, 12 unknown\n"), "{said}");
    assert!(
        said.contains(&format!(
            "Slurm does not answer: squeue failed:\n    slurm_load_jobs error: {silence}"
        )),
        "{said}"
    );
    let (code, errors) = place.call_with(&path, &["sweep", "resubmit", "results/a"]);
    assert_eq!((code, errors.contains(silence)), (1, true), "{errors}");
    assert!(!place.0.join("results/a/slurm/2").exists());

    // It answers again, and has forgotten a job none of whose tasks began.
    let path = place.pretend("echo 78", 1001);
    assert_eq!(place.call_with(&path, &["sweep", "resubmit", "results/a"]).0, 0);
    assert_eq!(place.read("results/a/slurm/2/job"), "78\n");
}

#[test]
#[cfg(unix)]
fn a_task_that_ends_while_slurm_is_asked_has_its_points() {
    let place = place("ends_meanwhile");
    // Two tasks of six points; the first computes them after they were looked for, and has ended by
    // then.
    let squeue = "cd 'RESULTS/slurm/1'\nSLURM_ARRAY_JOB_ID=77 SLURM_ARRAY_TASK_ID=0 bash job.sh >/dev/null\n\
                  echo '77_0|COMPLETED|None'\necho '77_1|RUNNING|None'";
    let path = place.commands(
        "echo 77",
        1001,
        &squeue.replace("RESULTS", &place.0.join("b").display().to_string()),
    );
    let call = ["sweep", "a.toml", "--executor", "slurm", "--points-per-task", "6", "--out", "b"];
    assert_eq!(place.call_with(&path, &call).0, 0);
    let status = place.command(&["sweep", "status", "b"]).env("PATH", &path).output().unwrap();
    let said = String::from_utf8(status.stdout).unwrap();
    assert!(said.starts_with("b: 12 points: 6 finished, 6 running\n"), "{said}");
    assert!(!said.contains("completed"), "{said}");
}

#[test]
#[cfg(unix)]
fn an_array_that_is_too_large_is_refused_with_a_size_that_fits() {
    let place = place("too_large");
    let path = place.pretend("echo 77", 5);
    let (code, errors) = place.call_with(&path, &["sweep", "a.toml", "--executor", "slurm"]);
    assert_eq!(code, 2);
    assert!(errors.contains("12 tasks") && errors.contains("--points-per-task 3"), "{errors}");
}

#[test]
#[cfg(unix)]
fn a_task_computes_its_points_only_and_for_the_same_version_only() {
    let place = place("task");
    let path = place.pretend("echo 77", 1001);
    let call = ["sweep", "a.toml", "--executor", "slurm", "--points-per-task", "5", "--out", "b"];
    assert_eq!(place.call_with(&path, &call).0, 0);
    let said = place.run(&["sweep", "task", "b/slurm/1", "2"]);
    assert_eq!((said.lines().count(), place.points("b")), (2, 2), "{said}");
    let said = place.run(&["sweep", "task", "b/slurm/1", "2"]);
    assert_eq!(said.matches(" (was there)").count(), 2, "{said}");

    let (code, errors) = place.fail(&["sweep", "task", "b/slurm/1", "3"]);
    assert_eq!((code, errors.contains("tasks 0 to 2, not 3")), (2, true), "{errors}");
    let scenario = place.read("b/slurm/1/scenario.toml");
    place.write("b/slurm/1/scenario.toml", &scenario.replace("seed = 1", "seed = 2"));
    let (code, errors) = place.fail(&["sweep", "task", "b/slurm/1", "1"]);
    assert_eq!((code, errors.contains("points of this task are not")), (2, true), "{errors}");
    let notes = place.read("b/slurm/1/submission.json");
    let notes = notes.replace(env!("CARGO_PKG_VERSION"), "0.0.9");
    place.write("b/slurm/1/submission.json", &notes);
    let (code, errors) = place.fail(&["sweep", "task", "b/slurm/1", "1"]);
    assert_eq!((code, errors.contains("flitlab 0.0.9 submitted the job")), (2, true), "{errors}");
    assert_eq!(place.points("b"), 2);
    fs::remove_dir_all(place.0.join("b")).unwrap();
    let (code, errors) = place.fail(&["sweep", "task", "b/slurm/1", "1"]);
    assert_eq!((code, errors.contains("can't read b/slurm/1/")), (1, true), "{errors}");
}

#[test]
fn folders_in_which_no_sweep_was_begun_are_refused() {
    let place = place("folders");
    fs::create_dir(place.0.join("empty")).unwrap();
    for (folder, why) in [
        ("nowhere", "does not exist"),
        ("a.toml", "is a file"),
        ("empty", "is not a folder in which"),
    ] {
        for command in ["status", "collect", "resubmit"] {
            let (code, errors) = place.fail(&["sweep", command, folder]);
            assert_eq!((code, errors.contains(why)), (2, true), "{command} {folder}: {errors}");
        }
    }
}

#[test]
fn options_of_slurm_are_checked_and_are_for_slurm() {
    let place = place("options");
    let (code, errors) = place.fail(&["sweep", "a.toml", "--time", "2h"]);
    assert_eq!((code, errors.contains("add --executor slurm")), (2, true), "{errors}");
    for (option, value, why) in [
        ("--time", "2:30", "could be hours or minutes"),
        ("--memory", "4", "has no unit"),
        ("--partition", "a b", "Slurm's names"),
        ("--option", "--array=0-3", "--array for itself"),
        ("--points-per-task", "0", "0 is not in"),
    ] {
        let call = ["sweep", "a.toml", "--executor", "slurm", option, value];
        let (code, errors) = place.fail(&call);
        assert_eq!((code, errors.contains(why)), (2, true), "{errors}");
    }
}

#[test]
fn a_sweep_that_was_begun_here_has_a_status_and_its_settings_are_no_part_of_it() {
    let place = place("begun_here");
    place.run(&["sweep", "a.toml", "--out", "b"]);
    assert!(!place.read("b/scenario.toml").contains("slurm"));
    let status = place.json(&["sweep", "status", "b", "--json"]);
    assert_eq!((&status["finished"], &status["complete"]), (&12.into(), &true.into()));
    assert_eq!(text(&status["next"]), "flitlab sweep collect b");
    let before = place.content("b");
    place.run(&["sweep", "collect", "b"]);
    assert!(place.content("b") == before);
}
