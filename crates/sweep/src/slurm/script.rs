//! The job script.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use super::command::SlurmError;
use flitlab_base::units::{Bytes, ClockTime};
use flitlab_scenario::SlurmSettings;

/// The unit of sbatch's `M`.
const MEBIBYTE: u64 = 1 << 20;

/// The contents of a job script.
pub(super) struct Script<'a> {
    /// The name of the job in Slurm.
    pub name: &'a str,
    /// Where the submission lies, an absolute path.
    pub folder: &'a Path,
    /// The flitlab that the tasks call, an absolute path.
    pub program: &'a Path,
    pub tasks: usize,
    pub settings: &'a SlurmSettings,
}

impl Script<'_> {
    /// # Errors
    /// If a path can't be written into it.
    pub fn text(&self) -> Result<String, SlurmError> {
        let folder = plain(self.folder)?;
        let program = plain(self.program)?;
        let mut text = format!(
            "#!/bin/bash\n\
             # Computes points of the sweep {}, a share of them in each task; tasks.csv beside this file says which.\n\
             # Written by flitlab {}, which submits it. By hand, in this folder: sbatch --parsable job.sh >job\n",
            self.name,
            env!("CARGO_PKG_VERSION")
        );
        for option in self.options(folder) {
            let _ = writeln!(text, "#SBATCH {option}");
        }
        let _ = write!(
            text,
            "\n\
             folder={folder}\n\
             record=$folder/records/$SLURM_ARRAY_TASK_ID\n\
             \n\
             # For `flitlab sweep status`: that the task has begun, and how it has ended if nothing ends it from outside.\n\
             echo \"began $SLURM_ARRAY_JOB_ID $(hostname) $(date +%Y-%m-%dT%H:%M:%S)\" >\"$record\"\n\
             {program} sweep task \"$folder\" \"$SLURM_ARRAY_TASK_ID\" --threads \"${{SLURM_CPUS_PER_TASK:-1}}\"\n\
             code=$?\n\
             echo \"ended $code\" >>\"$record\"\n\
             exit $code\n",
            folder = quoted(folder),
            program = quoted(program),
        );
        Ok(text)
    }

    fn options(&self, folder: &str) -> Vec<String> {
        let Self { name, tasks, settings, .. } = self;
        let given = |option: &str, value: &Option<String>| {
            value.as_ref().map(|value| format!("--{option}={value}"))
        };
        let options = [
            Some(format!("--job-name={name}")),
            Some(format!("--array=0-{}", tasks - 1)),
            Some("--ntasks=1".into()),
            given("partition", &settings.partition),
            settings.time.map(|time| format!("--time={}", time_text(time))),
            settings.memory.map(|Bytes(bytes)| format!("--mem={}M", bytes.div_ceil(MEBIBYTE))),
            given("account", &settings.account),
            given("qos", &settings.qos),
            // sbatch reads %-signs in it.
            Some(format!("--output=\"{}/logs/%a.log\"", folder.replace('%', "%%"))),
            Some("--open-mode=append".into()),
            Some("--requeue".into()),
        ];
        let more = settings.options.iter().flatten().cloned();
        options.into_iter().flatten().chain(more).collect()
    }
}

/// Days, hours, minutes and seconds.
fn time_text(ClockTime(seconds): ClockTime) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let days = if days > 0 { format!("{days}-") } else { String::new() };
    format!("{days}{hours:02}:{:02}:{:02}", seconds / 60 % 60, seconds % 60)
}

/// A path that may stand between quotes in a line of sbatch.
fn plain(path: &Path) -> Result<&str, SlurmError> {
    let strange = |c: char| matches!(c, '"' | '\\') || c.is_control();
    path.to_str()
        .filter(|text| !text.contains(strange))
        .ok_or_else(|| SlurmError::Folder { path: path.into() })
}

/// A text as one word of the shell.
fn quoted(text: &str) -> Cow<'_, str> {
    shlex::try_quote(text).expect("no zero byte in it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(settings: &SlurmSettings, folder: &str) -> Result<String, SlurmError> {
        let program = Path::new("/opt/flitlab's/flitlab");
        Script { name: "study", folder: Path::new(folder), program, tasks: 12, settings }.text()
    }

    #[test]
    fn options_of_sbatch_follow_from_the_settings() {
        let settings = SlurmSettings {
            partition: Some("batch".into()),
            time: Some(ClockTime(129_605)),
            memory: Some(Bytes(4_000_000_000)),
            options: Some(vec!["--exclusive".into(), "--nice=10".into()]),
            ..SlurmSettings::default()
        };
        let text = script(&settings, "/data/100% mine/slurm/1").unwrap();
        let options: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("#SBATCH ")).collect();
        assert_eq!(
            options,
            [
                "--job-name=study",
                "--array=0-11",
                "--ntasks=1",
                "--partition=batch",
                "--time=1-12:00:05",
                "--mem=3815M",
                "--output=\"/data/100%% mine/slurm/1/logs/%a.log\"",
                "--open-mode=append",
                "--requeue",
                "--exclusive",
                "--nice=10",
            ]
        );
        assert!(text.contains("\nfolder='/data/100% mine/slurm/1'\n"), "{text}");
        assert!(text.contains("\n\"/opt/flitlab's/flitlab\" sweep task "), "{text}");
    }

    #[test]
    fn folders_that_sbatch_can_t_write_to_are_refused() {
        for folder in ["/a\"b", "/a\nb", "/a\\b"] {
            let refused = script(&SlurmSettings::default(), folder);
            assert!(matches!(refused, Err(SlurmError::Folder { .. })), "{folder}");
        }
    }
}
