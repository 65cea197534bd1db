//! Files of other programs, known by their first bytes: each is named, with what can be done about
//! it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How many bytes of a file are looked at.
const LOOKED_AT: u64 = 4096;

/// The kind of file that was taken for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A GOAL schedule, text or binary.
    Goal,
    /// A platform of `SimGrid`, in XML.
    SimGridPlatform,
    /// Time-independent traces of `SimGrid`.
    SimGrid,
    /// A trace of DUMPI, its metafile, or the output of dumpi2ascii.
    Dumpi,
    /// A trace of liballprof.
    Liballprof,
    /// An execution trace of Chakra.
    Chakra,
    /// A connection matrix of htsim.
    Htsim,
    /// A load file of SST's Ember.
    Ember,
}

impl Format {
    /// The format of a file of this name that begins like this; `None` if it is none of these.
    pub fn of(name: &str, start: &[u8]) -> Option<Self> {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        if start.starts_with(&super::goal::COOKIE.to_le_bytes()) {
            return Some(Self::Goal);
        }
        if is_chakra(start) {
            return Some(Self::Chakra);
        }
        let Ok(text) = std::str::from_utf8(start).or_else(|error| match error.error_len() {
            // The last letter may be cut off.
            None => std::str::from_utf8(&start[..error.valid_up_to()]),
            Some(_) => Err(error),
        }) else {
            let is_dumpi = file.starts_with("dumpi-") && file.ends_with(".bin");
            return is_dumpi.then_some(Self::Dumpi);
        };
        if text.contains("<platform") || text.contains("simgrid.dtd") {
            return Some(Self::SimGridPlatform);
        }
        let is_comment = |line: &&str| {
            !line.is_empty() && !["//", "/*", "*", "#"].iter().any(|it| line.starts_with(it))
        };
        let mut lines = text.lines().map(str::trim).filter(is_comment);
        let first = lines.next()?;
        let mut words = first.split_whitespace();
        let (one, two) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let is_number = |word: &str| !word.is_empty() && word.bytes().all(|it| it.is_ascii_digit());
        match (one, two) {
            ("num_ranks", _) => Some(Self::Goal),
            ("Nodes" | "nodes", count) if is_number(count) => Some(Self::Htsim),
            ("[JOB_ID]", _) => Some(Self::Ember),
            (rank, action) if is_number(rank.trim_start_matches('p')) && is_action(action) => {
                Some(Self::SimGrid)
            }
            _ if first.starts_with("MPI_") && first.contains(" entering at walltime") => {
                Some(Self::Dumpi)
            }
            _ if file.starts_with("dumpi-") => Some(Self::Dumpi),
            _ if first.starts_with("MPI_") && first.contains(':') => Some(Self::Liballprof),
            _ => None,
        }
    }

    /// The format of a file, if it can be read and is one of these.
    pub fn of_file(path: &Path) -> Option<Self> {
        let mut start = Vec::new();
        // A pipe can be read once only.
        let file = if path.is_file() { File::open(path).ok()? } else { return None };
        file.take(LOOKED_AT).read_to_end(&mut start).ok()?;
        Self::of(&path.to_string_lossy(), &start)
    }

    /// Returns its name with an article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Goal => "a GOAL schedule",
            Self::SimGridPlatform => "a platform of SimGrid",
            Self::SimGrid => "a time-independent trace of SimGrid",
            Self::Dumpi => "a DUMPI trace",
            Self::Liballprof => "a trace of liballprof",
            Self::Chakra => "an execution trace of Chakra",
            Self::Htsim => "a connection matrix of htsim",
            Self::Ember => "a load file of SST's Ember",
        }
    }

    /// The way to simulate what is in it; `name` is the file's.
    pub fn way_out(self, name: &str) -> String {
        match self {
            Self::Goal => format!(
                "a scenario says what network it runs on: write a TOML file with a topology, and \
                 `[application]` with `file = \"{name}\"` (`flitlab init` makes a scenario to begin with; \
                 `flitlab schedule check {name}` says what is in the schedule)"
            ),
            Self::SimGridPlatform => "fabrics are described by [topology], or by a netlist of InfiniBand (docs/fabrics.md)"
                .into(),
            Self::SimGrid => "flitlab reads schedules in GOAL: a rank's `send`, `recv` and `compute` become lines \
                              `send 8b to 1`, `recv 8b from 0` and `calc 1500` (nanoseconds), and \
                              `flitlab schedule --help` lists the collective operations that it makes"
                .into(),
            Self::Dumpi => "flitlab reads schedules in GOAL, and no program is known that makes them of DUMPI: record \
                            the application with liballprof, of whose traces Schedgen of LogGOPSim makes GOAL"
                .into(),
            Self::Liballprof => "Schedgen of LogGOPSim makes a GOAL schedule of the traces of all ranks, and txt2bin a \
                                 binary of that; flitlab reads both"
                .into(),
            Self::Chakra => "flitlab reads schedules in GOAL: `flitlab schedule all-reduce --ranks 16 --bytes 1MiB` makes \
                             one of a collective operation, and `flitlab schedule --help` lists the others"
                .into(),
            Self::Htsim => "for messages of a size, write a GOAL schedule with a `send` and a `recv` for each connection; \
                            for a load that goes on, `pattern = { matrix = { file = ... } }` in [traffic] reads a CSV \
                            file with the header `source,destination,weight`"
                .into(),
            Self::Ember => "`flitlab schedule --help` lists the motifs that are made in: write for example \
                            `schedule = { halo-3d = { ... } }` in [application]"
                .into(),
        }
    }
}

/// Whether a word is an action of `SimGrid`'s replay.
fn is_action(word: &str) -> bool {
    const ACTIONS: [&str; 26] = [
        "init",
        "finalize",
        "compute",
        "sleep",
        "location",
        "send",
        "isend",
        "recv",
        "irecv",
        "wait",
        "waitall",
        "test",
        "barrier",
        "bcast",
        "reduce",
        "allreduce",
        "alltoall",
        "alltoallv",
        "gather",
        "gatherv",
        "scatter",
        "allgather",
        "allgatherv",
        "reducescatter",
        "comm_size",
        "comm_split",
    ];
    ACTIONS.iter().any(|action| action.eq_ignore_ascii_case(word))
}

/// Whether bytes are a length and a message of protocol buffers whose first member is a version, as
/// the metadata are that begin Chakra's files.
fn is_chakra(start: &[u8]) -> bool {
    let [_, 0x0a, length, version @ ..] = start else { return false };
    let Some(version) = version.get(..usize::from(*length)) else { return false };
    !version.is_empty()
        && version.contains(&b'.')
        && version.iter().all(|it| it.is_ascii_digit() || *it == b'.')
}

#[cfg(test)]
mod tests {
    use super::Format::{
        self, Chakra, Dumpi, Ember, Goal, Htsim, Liballprof, SimGrid, SimGridPlatform,
    };

    #[test]
    fn files_of_others_are_known_by_their_first_bytes() {
        let cases: [(&str, &[u8], Option<Format>); 17] = [
            ("x.goal", b"// made by hand\n\nnum_ranks 2\nrank 0 {", Some(Goal)),
            ("x.bin", b"\x7f\x10\0\0\0\0\0\0\x02\0\0\0", Some(Goal)),
            (
                "a.xml",
                b"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"x\">\n<platform version=\"4.1\">",
                Some(SimGridPlatform),
            ),
            ("actions.txt", b"0 init\n1 init\n", Some(SimGrid)),
            ("actions0.txt", b"p3 compute 1e9\n", Some(SimGrid)),
            ("t.trace", b"0 allReduce 4 0\n", Some(SimGrid)),
            ("dumpi-2013.03.14-0000.bin", b"\xef\xbe\xad\xde\xff\0", Some(Dumpi)),
            ("dumpi-2013.03.14.meta", b"hostname=n1\nnumprocs=64\n", Some(Dumpi)),
            (
                "a.txt",
                b"MPI_Init entering at walltime 8153.0493, cputime 0.1 seconds\n",
                Some(Dumpi),
            ),
            ("pmpi-trace-rank-0.txt", b"# host: n1\nMPI_Init:1234:-:-:1300\n", Some(Liballprof)),
            ("all_reduce.0.et", b"\x07\x0a\x050.0.4\x41\x12", Some(Chakra)),
            ("perm.cm", b"Nodes 16\nConnections 15\n1->2 id 1\n", Some(Htsim)),
            ("halo.load", b"[JOB_ID] 10\n[NID_LIST] 0-63\n", Some(Ember)),
            ("a.toml", b"[topology.torus]\ndimensions = [4]\n", None),
            ("a.toml", b"", None),
            ("a.csv", b"0,1,2\n", None),
            ("a.txt", b"7 dwarfs\n", None),
        ];
        for (name, start, format) in cases {
            assert_eq!(Format::of(name, start), format, "{name}");
        }
    }
}
