//! Files of other kinds, told by how they begin: whoever hands one over is told what it is, not that its first line is wrong.

use std::path::Path;

/// How much of a file tells what it is.
pub(crate) const START: usize = 4096;

/// The first eight bytes of a GOAL binary, as a number.
pub(crate) const GOAL_COOKIE: u64 = 4223;

/// What a file is that is neither a scenario nor, unless it is one, a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    Goal,
    SimGridPlatform,
    SimGridTrace,
    Dumpi,
    Chakra,
    Htsim,
}

impl Foreign {
    /// What a file looks like by its name and its first bytes; `None` if it looks like none of these.
    pub fn of(path: &Path, start: &[u8]) -> Option<Self> {
        if start.starts_with(&GOAL_COOKIE.to_le_bytes()) {
            return Some(Self::Goal);
        }
        let text = String::from_utf8_lossy(start);
        let first = text.lines().map(str::trim).find(|line| {
            !line.is_empty() && !["#", "//", "/*"].iter().any(|comment| line.starts_with(comment))
        });
        let words: Vec<&str> = first.unwrap_or_default().split_whitespace().take(3).collect();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let ends = |ending: &str| name.ends_with(ending);
        match words[..] {
            ["num_ranks", number, ..] if number.starts_with(|c: char| c.is_ascii_digit()) => {
                Some(Self::Goal)
            }
            _ if text.contains("<platform") || text.contains("simgrid.dtd") => {
                Some(Self::SimGridPlatform)
            }
            [rank, action, ..] if is_rank(rank) && SIMGRID_ACTIONS.contains(&action) => {
                Some(Self::SimGridTrace)
            }
            _ if text.contains(" entering at walltime ") || name.starts_with("dumpi-") => {
                Some(Self::Dumpi)
            }
            [begin, ..] if begin.starts_with('{') && text.contains("\"schema\"") => {
                Some(Self::Chakra)
            }
            _ if ends(".et") || ends(".chakra") => Some(Self::Chakra),
            ["Nodes", number] if number.parse::<u64>().is_ok() => Some(Self::Htsim),
            _ => None,
        }
    }

    /// What it is, with an article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Goal => "a GOAL schedule",
            Self::SimGridPlatform => "a platform of SimGrid",
            Self::SimGridTrace => "a trace of SimGrid",
            Self::Dumpi => "a DUMPI trace",
            Self::Chakra => "an execution trace of Chakra",
            Self::Htsim => "a traffic matrix or topology of htsim",
        }
    }

    /// What to do with it, here where a scenario is read.
    pub fn help(self, path: &Path) -> String {
        let (path, name) = (path.display(), path.file_name().unwrap_or_default().to_string_lossy());
        match self {
            Self::Goal => format!(
                "a scenario names it: [application] and below it `file = \"{name}\"`; `flitlab schedule check {path}` says \
                 what is in it"
            ),
            _ => self.help_for_schedules().into(),
        }
    }

    /// What to do with it where a schedule is read.
    pub fn help_for_schedules(self) -> &'static str {
        match self {
            Self::SimGridPlatform => {
                "fabrics are described by [topology], or by a netlist of InfiniBand (docs/fabrics.md)"
            }
            Self::Htsim => {
                "give a matrix as CSV (`pattern = { matrix = ... }`), or what is sent and when as a GOAL schedule \
                 (docs/schedules.md)"
            }
            _ => {
                "schedules are read as GOAL, text or LogGOPSim's binary: convert it, or make one by `flitlab schedule` \
                 (docs/schedules.md)"
            }
        }
    }
}

/// What begins the lines of SimGrid's traces of MPI, behind the rank.
const SIMGRID_ACTIONS: [&str; 9] =
    ["init", "compute", "send", "recv", "isend", "irecv", "Isend", "Irecv", "comm_size"];

/// Whether a word is a rank as SimGrid has them: a number, maybe behind a letter.
fn is_rank(word: &str) -> bool {
    let digits = word.strip_prefix('p').unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_tools_are_known_by_their_first_lines() {
        for (name, text, kind) in [
            ("a.goal", "// made by hand\nnum_ranks 2\nrank 0 {\n", Some(Foreign::Goal)),
            (
                "a.xml",
                "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"x\">\n<platform version=\"4.1\">",
                Some(Foreign::SimGridPlatform),
            ),
            ("t.txt", "0 init\n0 compute 1e9\n0 send 1 0 1e6\n", Some(Foreign::SimGridTrace)),
            (
                "d.txt",
                "MPI_Init entering at walltime 1.5, cputime 0.2 seconds in thread 0.\n",
                Some(Foreign::Dumpi),
            ),
            ("c.json", "{\n \"schema\": \"1.0.2-chakra.0.0.4\",\n", Some(Foreign::Chakra)),
            ("m.cm", "Nodes 16\nConnections 16\n0->1 start 0 size 1000\n", Some(Foreign::Htsim)),
            ("a.toml", "# comment\nseed = 1\n[topology.torus]\n", None),
            ("a.goal", "rank 0 {\n", None),
            ("a.toml", "", None),
        ] {
            assert_eq!(Foreign::of(Path::new(name), text.as_bytes()), kind, "{text}");
        }
    }
}
