//! Formats of files, told apart by what a file begins with.
//!
//! Users give files of many programs to keys and commands, and not always the ones that are meant.
//! A format is a row of [`FORMATS`]: how it is recognised, and what takes its files or, where
//! flitlab does not read them, the way out. All that reads a file of another program asks here, so
//! that a file at a wrong place gets one message with its name, and no list of mistakes in a
//! format that it is not. A further format is a row.
//!
//! Traces and schedules have their rows beside their readers
//! ([`read::FORMATS`](crate::read::FORMATS)).

mod beginning;
mod graphs;
#[cfg(test)]
mod tests;

use crate::{goal, read::Format};

pub use beginning::Beginning;

/// What a file has in it, as a key or an option takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A fabric: switches, adapters and their cables.
    Netlist,
    /// Forwarding tables of a netlist's switches.
    Tables,
    /// Service levels of paths.
    Levels,
    /// Maps from service levels to virtual lanes.
    Lanes,
    /// Angara's routes.
    Routes,
    /// A schedule or a trace of an application.
    Application,
    /// The members of process groups.
    Groups,
    /// A traffic matrix.
    Matrix,
    /// A list of flows.
    Flows,
    /// A distribution of messages' sizes.
    Sizes,
    /// The nodes of ranks.
    Placement,
    /// A scenario.
    Scenario,
    /// Results of runs.
    Results,
}

impl FileKind {
    /// A file for it, with an article.
    pub const fn what(self) -> &'static str {
        match self {
            Self::Netlist => "a netlist",
            Self::Tables => "a dump of forwarding tables",
            Self::Levels => "a list of paths' service levels",
            Self::Lanes => "a map from service levels to virtual lanes",
            Self::Routes => "a table of routes",
            Self::Application => "a schedule or trace",
            Self::Groups => "a list of process groups",
            Self::Matrix => "a traffic matrix",
            Self::Flows => "a list of flows",
            Self::Sizes => "a distribution of sizes",
            Self::Placement => "a list of nodes",
            Self::Scenario => "a scenario",
            Self::Results => "a file of results",
        }
    }

    /// What takes a file of this name.
    fn taken_by(self, name: &str) -> String {
        let by = match self {
            Self::Netlist => "`path` of [topology.netlist] takes it",
            Self::Tables => {
                return format!(
                    "`tables` of [routing.opensm] takes it, and `flitlab route --check {name} --netlist FILE`"
                );
            }
            Self::Levels => {
                "`paths` of [routing.opensm] takes it, and `flitlab route --check ... --paths FILE`"
            }
            Self::Lanes => {
                "`map` of [routing.opensm] takes it, and `flitlab route --check ... --map FILE`"
            }
            Self::Routes => {
                return format!(
                    "`path` of [routing.file] takes it, and `flitlab route --check {name}`"
                );
            }
            Self::Application => {
                return format!(
                    "`file` of [application] takes it, and `flitlab schedule check {name}`"
                );
            }
            Self::Groups => "`groups` beside `file` of [application] takes it",
            Self::Matrix => "`pattern = { matrix = { file = \"...\" } }` in [traffic] takes it",
            Self::Flows => "`file` of [flows] takes it",
            Self::Sizes => "`sizes = { file = \"...\" }` in [traffic] takes it",
            Self::Placement => {
                "`placement = { file = { path = \"...\" } }` in [application] takes it"
            }
            Self::Scenario => {
                return format!("`flitlab check {name}` and `flitlab run {name}` take it");
            }
            Self::Results => "`flitlab plot` and `flitlab report` take the folder that it is in",
        };
        by.into()
    }

    /// Text files that are read for it.
    const fn forms(self) -> &'static str {
        match self {
            Self::Netlist => {
                "netlists are read as ibsim and `ibnetdiscover` have them: `Switch 4 \"S0\"`, and below it a line such \
                 as `[1] \"S1\"[2]` a cable (docs/fabrics.md)"
            }
            Self::Tables => {
                "forwarding tables are read as `opensm-lfts.dump`, opensm.fdbs, `ibroute` and `dump_fts` have them"
            }
            Self::Levels => {
                "service levels are a text file with source LID, destination LID and level a line"
            }
            Self::Lanes => "maps are read as `opensm-sl2vl.dump` has them",
            Self::Routes => "tables of routes are read as `flitlab route --save` writes them",
            Self::Application => {
                "read are GOAL schedules, and traces of SimGrid, Chakra (.et), htsim, DUMPI and liballprof: \
                 `flitlab schedule --list`, docs/schedules.md"
            }
            Self::Groups => "groups are a JSON object such as {\"1\": [0, 1], \"2\": [2, 3]}",
            Self::Matrix => "a matrix is a CSV file that begins with source,destination,weight",
            Self::Flows => "flows are a CSV file that begins with time_us,source,destination,bytes",
            Self::Sizes => "a distribution is a CSV file that begins with bytes,cumulative",
            Self::Placement => "a placement is a text file with a node a line",
            Self::Scenario => "a scenario is a TOML file: `flitlab init` makes one to begin with",
            Self::Results => "results are folders that `flitlab sweep --out` and `run --out` write",
        }
    }
}

/// What becomes of files of a format.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    /// They are read.
    Read(FileKind),
    /// They are not read; this is what to do.
    Named {
        /// A sentence without its begin and its full stop.
        way_out: &'static str,
    },
}

/// A format of files.
#[derive(Clone, Copy)]
pub struct FileFormat {
    /// A name in small letters.
    pub name: &'static str,
    /// What a file of it is, with an article.
    pub what: &'static str,
    /// Whether a file that begins like this is one.
    pub(crate) is: fn(&Beginning) -> bool,
    /// Who reads it.
    pub fate: Fate,
}

impl std::fmt::Debug for FileFormat {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

/// What a file at a wrong place is, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A sentence without a full stop.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl FileFormat {
    /// The format of a file that begins like this, if it is a known one.
    pub fn of(file: &Beginning) -> Option<&'static Self> {
        FORMATS.iter().find(|format| (format.is)(file))
    }

    /// What is wrong with a file of this format where one of another kind is wanted.
    pub fn refusal(&self, name: &str, wanted: FileKind) -> Refusal {
        match self.fate {
            Fate::Read(kind) => Refusal {
                message: format!("{name} is {}, not {}", self.what, wanted.what()),
                help: kind.taken_by(name),
            },
            Fate::Named { way_out } => Refusal {
                message: format!("{name} is {}, which flitlab does not read", self.what),
                help: way_out.into(),
            },
        }
    }
}

/// What is wrong with a file of a known format where one of this kind is wanted; `None` if it is one,
/// or its format is not known.
pub fn refusal(file: &Beginning, name: &str, wanted: FileKind) -> Option<Refusal> {
    let format = FileFormat::of(file)?;
    // Lines of numbers are no more a graph there than what they are meant as.
    let is_of_numbers = matches!(wanted, FileKind::Levels | FileKind::Placement);
    match format.fate {
        Fate::Read(kind) if kind == wanted => None,
        Fate::Named { .. } if is_of_numbers && ["metis", "pairs"].contains(&format.name) => None,
        _ => Some(format.refusal(name, wanted)),
    }
}

/// What is wrong with a file whose format is not known.
pub fn unknown(file: &Beginning, name: &str, wanted: FileKind) -> Refusal {
    let begins = match (file.is_text, file.lines().next()) {
        (false, _) => ": it is no text".to_owned(),
        (true, None) => ": it is empty".to_owned(),
        (true, Some(line)) => {
            let short: String = line.chars().take(40).collect();
            let more = if short.len() < line.len() { "..." } else { "" };
            format!(": it begins with `{short}{more}`")
        }
    };
    Refusal {
        message: format!("{name} is not {} of a format that is known{begins}", wanted.what()),
        help: wanted.forms().into(),
    }
}

/// The row of a schedule or trace, which has its reader.
const fn trace(format: &Format) -> FileFormat {
    FileFormat {
        name: format.name,
        what: format.what,
        is: format.is,
        fate: Fate::Read(FileKind::Application),
    }
}

const fn read(
    name: &'static str,
    what: &'static str,
    kind: FileKind,
    is: fn(&Beginning) -> bool,
) -> FileFormat {
    FileFormat { name, what, is, fate: Fate::Read(kind) }
}

const fn named(
    name: &'static str,
    what: &'static str,
    way_out: &'static str,
    is: fn(&Beginning) -> bool,
) -> FileFormat {
    FileFormat { name, what, is, fate: Fate::Named { way_out } }
}

/// The way out for networks of other programs.
const AS_NETLIST: &str = "make a netlist of its cables, by the script in docs/fabrics.md, \"Networks of other programs\"; or \
                          name a builder, such as [topology.tree] or [topology.dragonfly]";
/// The way out for what tools of InfiniBand print of a fabric.
const DISCOVER: &str =
    "`ibnetdiscover` prints the same fabric as a netlist: `ibnetdiscover > fabric.net`";
/// The way out for traces of programs.
const RECORD: &str = "record the program by liballprof, DUMPI or SimGrid (smpirun -trace-ti), whose traces flitlab \
                      reads, or write a GOAL schedule (docs/schedules.md)";

/// Every format that is known. The first that recognises a file has it.
pub static FORMATS: [FileFormat; 49] = [
    named(
        "compressed",
        "a compressed file",
        "unpack it first: gunzip, unzstd, unxz, bunzip2 or unzip",
        |file| {
            let starts: [&[u8]; 5] =
                [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh", b"PK\x03\x04"];
            starts.iter().any(|start| file.bytes.starts_with(start))
        },
    ),
    named("tar", "an archive of tar", "unpack it first: tar xf", |file| {
        file.bytes.get(257..262) == Some(b"ustar")
    }),
    named("sqlite", "a database of SQLite, such as Nsight Systems exports", RECORD, |file| {
        file.bytes.starts_with(b"SQLite format 3\0")
    }),
    // Applications.
    trace(&goal::GOAL),
    trace(&crate::read::SIMGRID),
    trace(&crate::read::CHAKRA),
    trace(&crate::read::HTSIM),
    trace(&crate::read::DUMPI),
    trace(&crate::read::DUMPI_BINARY),
    trace(&crate::read::LIBALLPROF),
    named(
        "chakra-json",
        "a trace of Chakra or PyTorch in JSON",
        "flitlab reads Chakra's own files, a .et a rank: `chakra_trace_link` and `chakra_converter` make them of \
         PyTorch's traces, and a JSON file of `chakra_jsonizer` was made of a .et",
        |file| {
            let words = [
                "\"workload_graph\"",
                "ctrlDeps\"",
                "\"ctrl_deps\"",
                "\"dataDeps\"",
                "\"data_deps\"",
            ];
            file.is_json() && words.iter().any(|word| file.has(word))
        },
    ),
    named(
        "kineto",
        "a timeline of PyTorch's profiler",
        "it has no dependencies: record an execution trace beside it (PyTorch's ExecutionTraceObserver), of which \
         `chakra_trace_link` and `chakra_converter` make the .et that flitlab reads",
        |file| file.is_json() && (file.has("\"traceEvents\"") || file.has("\"schemaVersion\"")),
    ),
    named(
        "ember",
        "a load file of SST's Ember",
        "`flitlab schedule --help` lists the motifs that are made in: write for example \
         `schedule = { halo3d = { ... } }` in [application]",
        |file| file.words().0 == "[JOB_ID]",
    ),
    named(
        "otf2",
        "a trace in OTF2",
        "record the program by liballprof, DUMPI or SimGrid (smpirun -trace-ti), whose traces flitlab \
         reads; or write a GOAL schedule of what `otf2-print` shows of this one",
        // Each of its files begins with the header of a chunk, whose second byte is the order of bytes.
        |file| {
            file.bytes.starts_with(b"OTF2")
                || matches!(file.bytes[..], [3, b'B' | b'#', ..])
                || file.name.ends_with(".otf2")
        },
    ),
    named("paraver", "a trace of Paraver", RECORD, |file| file.bytes.starts_with(b"#Paraver (")),
    named(
        "jobs",
        "a list of jobs",
        "it says when jobs ran, not what they send: give each job a table [workloads.NAME] with an application \
         or traffic (docs/workloads.md)",
        |file| {
            let of_swf = file.lines().take_while(|line| line.starts_with(';'));
            of_swf.filter(|line| line.contains("Version:") || line.contains("MaxJobs:")).count() > 0
                || file.line.starts_with("JobID")
                || (file.is_json() && file.has("\"jobs\"") && file.has("\"profiles\""))
        },
    ),
    named(
        "msccl",
        "a collective algorithm of MSCCL",
        "`flitlab schedule --list` names the algorithms that are made in",
        |file| file.line.starts_with("<algo "),
    ),
    // Parts of scenarios of ASTRA-sim.
    named(
        "astra-sim-network",
        "a network of ASTRA-sim",
        "name a builder for it, such as [topology.tree] for Switch and [topology.torus] for Ring (docs/fabrics.md)",
        |file| {
            file.is_text
                && (file.has_line("npus_count:")
                    || (file.is_json() && file.has("\"logical-dims\"")))
        },
    ),
    named(
        "astra-sim-system",
        "a system of ASTRA-sim",
        "`algorithm` beside `file` of [application] chooses the algorithms of collective operations",
        |file| file.is_json() && file.has("\"scheduling-policy\""),
    ),
    // InfiniBand's tools.
    named(
        "ibsim-dump",
        "what ibsim's console prints by `dump`",
        "give the netlist that ibsim was started with, or what `ibnetdiscover` prints under ibsim",
        |file| {
            let is_node =
                |line: &str| line.contains("\tnodeguid ") && line.contains("\tsysimgguid ");
            file.has_line("# Net status") || file.lines().any(is_node)
        },
    ),
    named("iblinkinfo", "a list of links, as `iblinkinfo` prints it", DISCOVER, |file| {
        file.lines()
            .any(|line| line.contains("]==>") || line.contains("==(") && line.contains(")==>"))
    }),
    named(
        "ibnetdiscover-ports",
        "the list of ports that `ibnetdiscover -p` prints",
        DISCOVER,
        |file| {
            file.lines().any(|line| {
                let mut words = line.split_whitespace();
                matches!(words.next(), Some("SW" | "CA" | "RT"))
                    && words.any(|it| it.starts_with("0x"))
            })
        },
    ),
    named(
        "ibnetdiscover-nodes",
        "the list of nodes that `ibnetdiscover -l` prints",
        DISCOVER,
        |file| {
            let is = |line: &str| ["Switch", "Ca", "Router"].iter().any(|it| line.starts_with(it));
            file.lines().any(|line| is(line) && line.contains(" ports "))
        },
    ),
    named(
        "subnet-list",
        "a list of cables (opensm-subnet.lst, ibdiagnet2.lst)",
        DISCOVER,
        |file| file.lines().any(|line| line.starts_with("{ ") && line.contains("Ports:")),
    ),
    named("db-csv", "the database of ibdiagnet (ibdiagnet2.db_csv) or OpenSM", DISCOVER, |file| {
        file.lines().any(|line| {
            let name = line.strip_prefix("START_").unwrap_or_default();
            !name.is_empty()
                && name.bytes().all(|it| it.is_ascii_uppercase() || b"_0123456789".contains(&it))
        })
    }),
    read("opensm-tables", "a dump of forwarding tables", FileKind::Tables, |file| {
        file.lines()
            .any(|line| line.contains("Unicast lids") || line.contains("dump_ucast_routes: Switch"))
    }),
    named(
        "lid-matrix",
        "a dump of counts of hops (opensm-lid-matrix.dump)",
        "forwarding tables are in opensm-lfts.dump or opensm.fdbs",
        |file| file.has_line("Switch: guid "),
    ),
    named(
        "multicast-tables",
        "a dump of tables for multicast (opensm.mcfdbs)",
        "tables for messages to one destination are in opensm-lfts.dump or opensm.fdbs",
        |file| file.has_line("LID    : Out Port(s)") || file.has("Multicast mlids"),
    ),
    named(
        "path-distribution",
        "a dump of counts of paths",
        "forwarding tables are in opensm-lfts.dump or opensm.fdbs",
        |file| file.has("dump_ucast_path_distribution: "),
    ),
    read("opensm-sl2vl", "a map from service levels to virtual lanes", FileKind::Lanes, |file| {
        file.has_line("#in out :")
            || file.lines().any(|line| line.starts_with("Switch 0x") && line.contains("base LID"))
    }),
    read("netlist", "a netlist", FileKind::Netlist, |file| file.lines().any(graphs::is_of_netlist)),
    named(
        "slurm-topology",
        "a topology of Slurm (topology.conf)",
        "it has no ports and no numbers of cables: `ibnetdiscover > fabric.net` prints a netlist of the machine, and \
         [topology.tree] or [topology.xgft] builds a regular tree",
        |file| ["SwitchName=", "BlockName="].iter().any(|start| file.has_line(start)),
    ),
    // Networks of other simulators, and graphs.
    named("simgrid-platform", "a platform of SimGrid", AS_NETLIST, |file| {
        file.is_text && (file.has("<platform") || file.has("simgrid.dtd"))
    }),
    named("graphml", "a graph in GraphML", AS_NETLIST, |file| file.is_text && file.has("<graphml")),
    named("gexf", "a graph in GEXF", AS_NETLIST, |file| file.is_text && file.has("<gexf")),
    named("gml", "a graph in GML", AS_NETLIST, graphs::is_gml),
    named("dot", "a graph in DOT (Graphviz)", AS_NETLIST, graphs::is_dot),
    named("graph-json", "a graph in JSON (NetworkX, TopoHub)", AS_NETLIST, |file| {
        let is_node_link =
            file.has("\"nodes\"") && (file.has("\"links\"") || file.has("\"edges\""));
        file.is_json() && (file.has("\"multigraph\"") || is_node_link)
    }),
    named("booksim-anynet", "a network file of BookSim's anynet", AS_NETLIST, graphs::is_anynet),
    named(
        "booksim",
        "a configuration of BookSim",
        "docs/peers.md says which keys here mean what BookSim's mean",
        |file| {
            file.is_text
                && file.has("routing_function")
                && file.lines().any(|line| line.ends_with(';'))
        },
    ),
    named("metis", "a graph in the form of METIS", AS_NETLIST, graphs::is_metis),
    named(
        "pairs",
        "a list of pairs of numbers, such as the edges of a graph",
        AS_NETLIST,
        graphs::is_pairs,
    ),
    // Files of flitlab.
    read("routes", "a table of routes of flitlab", FileKind::Routes, |file| {
        file.line.starts_with("flitlab-routes")
    }),
    read("matrix", "a traffic matrix", FileKind::Matrix, |file| {
        file.columns() == ["source", "destination", "weight"]
    }),
    read("flows", "a list of flows", FileKind::Flows, |file| {
        let columns = file.columns();
        columns.len() == 4
            && ["source", "destination", "bytes"].iter().all(|it| columns.contains(it))
            && columns.iter().any(|it| it.starts_with("time_"))
    }),
    read("sizes", "a distribution of sizes", FileKind::Sizes, |file| {
        file.columns() == ["bytes", "cumulative"]
    }),
    read("results", "a file of results of flitlab", FileKind::Results, |file| {
        let columns = file.columns();
        columns.len() > 2 && (columns[0] == "series" || columns.contains(&"offered_load"))
    }),
    read("scenario", "a scenario of flitlab", FileKind::Scenario, |file| {
        ["[topology.", "[traffic]", "[application]", "[routing."].iter().any(|it| file.has_line(it))
    }),
    read("groups", "a list of process groups", FileKind::Groups, graphs::is_groups),
];
