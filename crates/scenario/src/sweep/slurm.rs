//! `[sweep.slurm]`: what a job array is asked to have.

use serde::{Deserialize, Serialize};

use flitlab_base::document::{
    Diagnostic, Kind, List, Listed, Node, Reader, Slot, Text, Whole, clock_time, size,
};
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Bytes, ClockTime};

/// The most points of a task.
const MAX_POINTS: u64 = 100_000;

/// The resources that sbatch is asked for, for a sweep's tasks. A value of `None` is left to the
/// cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlurmSettings {
    pub partition: Option<String>,
    /// The limit of a task's time.
    #[serde(rename = "time_s")]
    pub time: Option<ClockTime>,
    /// The limit of a task's memory.
    #[serde(rename = "memory_B")]
    pub memory: Option<Bytes>,
    /// Points, or searches for saturation, that a task computes one after the other; 1 if `None`.
    pub points_per_task: Option<usize>,
    pub account: Option<String>,
    pub qos: Option<String>,
    /// More options of sbatch, each as on its command line.
    pub options: Option<Vec<String>>,
}

impl SlurmSettings {
    /// These settings, and the other ones' where these say nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            partition: self.partition.or(other.partition),
            time: self.time.or(other.time),
            memory: self.memory.or(other.memory),
            points_per_task: self.points_per_task.or(other.points_per_task),
            account: self.account.or(other.account),
            qos: self.qos.or(other.qos),
            options: self.options.or(other.options),
        }
    }
}

/// Reads, or documents, `[sweep.slurm]`.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<SlurmSettings> {
    let doc = "What the tasks of `flitlab sweep --executor slurm` are asked to have; options of the command \
               line go before these. They decide nothing about results.";
    let example =
        "{ partition = \"batch\", time = \"2 h\", memory = \"4 GB\", points_per_task = 4 }";
    let kept = reader.resolved.len();
    let settings = reader.optional_table("slurm", example, doc, |reader| {
        let word = |what, example| Checked {
            text: Text { what, example },
            check: check_slurm_name,
            refused: format!("must be {what}"),
        };
        let partition = word("a partition's name", "batch");
        let partition =
            reader.optional("partition", &partition, "The partition; without it the cluster's default.");
        let doc = "Most time of a task, also as Slurm writes it (\"02:00:00\"); without it the partition's \
                   default.";
        let time = reader.optional("time", &clock_time(), doc);
        let memory = size(1 << 20, 1 << 50);
        let memory =
            reader.optional("memory", &memory, "Most memory of a task; without it the cluster's default.");
        let points = Whole { range: 1..=MAX_POINTS };
        let doc = "Points, or searches for saturation, that a task computes one after the other.";
        let given = reader.has("points_per_task");
        let points_per_task = narrow(reader.value("points_per_task", &points, 1, doc));
        let account = word("an account's name", "physics");
        let account = reader.optional("account", &account, "The account that the time is charged to.");
        let qos = word("the name of a quality of service", "long");
        let qos = reader.optional("qos", &qos, "The quality of service.");
        let options = List {
            kind: Checked {
                text: Text { what: "an option of sbatch", example: "--exclusive" },
                check: check_sbatch_option,
                refused: "is refused".into(),
            },
            noun: "options",
            length: 0..=usize::MAX,
            example: Some("[\"--exclusive\"]"),
        };
        let doc = "More options of sbatch, as on its command line.";
        let options = reader.optional("options", &options, doc).map(Listed::values);
        SlurmSettings {
            partition,
            time,
            memory,
            points_per_task: given.then_some(points_per_task),
            account,
            qos,
            options,
        }
    });
    // Where a sweep ran is no part of what it is.
    reader.resolved.truncate(kept);
    settings
}

/// Checks a partition's, account's or other name of Slurm.
///
/// # Errors
/// What is wrong with it.
pub fn check_slurm_name(name: &str) -> Result<(), String> {
    let strange = |c: char| !(c.is_ascii_graphic() || c.is_alphanumeric()) || "\"'`\\#".contains(c);
    match name.chars().find(|&c| strange(c)) {
        None if name.is_empty() => Err("it is empty".into()),
        None if name.starts_with('-') => Err("it begins with `-`".into()),
        None => Ok(()),
        Some(c) => Err(format!("Slurm's names have no {c:?} in them")),
    }
}

/// Checks an option of sbatch.
///
/// # Errors
/// If it is none, or one that flitlab sets itself.
pub fn check_sbatch_option(option: &str) -> Result<(), String> {
    const OURS: [(&str, &str); 12] = [
        ("--array", "-a"),
        ("--output", "-o"),
        ("--error", "-e"),
        ("--input", "-i"),
        ("--ntasks", "-n"),
        ("--nodes", "-N"),
        ("--clusters", "-M"),
        ("--wait", "-W"),
        ("--test-only", "--test-only"),
        ("--wrap", "--wrap"),
        ("--job-name", "-J"),
        ("--parsable", "--parsable"),
    ];
    if !option.starts_with('-') || option.trim_start_matches('-').is_empty() {
        return Err("an option of sbatch begins with `-`, for example `--exclusive`".into());
    }
    if option.chars().any(char::is_control) {
        return Err("an option of sbatch is one line".into());
    }
    let name = option.split(['=', ' ']).next().unwrap_or(option);
    let long = name.starts_with("--");
    let ours = |&&(full, short): &&(&str, &str)| {
        // sbatch takes the beginning of an option's name for the whole.
        if long {
            name.len() > 2 && full.starts_with(name)
        } else {
            !short.starts_with("--") && name.starts_with(short)
        }
    };
    match OURS.iter().find(ours) {
        Some((full, _)) => Err(format!("flitlab needs sbatch's {full} for itself")),
        None => Ok(()),
    }
}

/// A text that has to pass a check.
struct Checked {
    text: Text,
    check: fn(&str) -> Result<(), String>,
    /// The mistake of a key whose text does not pass.
    refused: String,
}

impl Kind for Checked {
    type Value = String;

    fn describe(&self) -> String {
        self.text.describe()
    }

    fn example(&self) -> String {
        self.text.example()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<String, Vec<Diagnostic>> {
        let text = self.text.parse(slot, node)?;
        let refuse =
            |why| vec![Diagnostic::new(&node.place, format!("{slot} {}", self.refused)).label(why)];
        (self.check)(&text).map(|()| text).map_err(refuse)
    }

    fn show(&self, value: &String) -> String {
        self.text.show(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_would_break_a_job_array_are_refused() {
        for option in ["--array=0-3", "-a0-3", "-o", "--output log", "exclusive", "--", "-x\n-y"] {
            assert!(check_sbatch_option(option).is_err(), "{option}");
        }
        for option in ["--exclusive", "--constraint=icelake", "-x node3", "--nice=100"] {
            assert_eq!(check_sbatch_option(option), Ok(()), "{option}");
        }
    }

    #[test]
    fn names_fit_into_a_line_of_a_script() {
        for name in ["", "a b", "a\nb", "a\"", "a#b", "--wrap"] {
            assert!(check_slurm_name(name).is_err(), "{name}");
        }
        for name in ["batch", "gpu,cpu-long", "höhe_2.1"] {
            assert_eq!(check_slurm_name(name), Ok(()), "{name}");
        }
    }
}
