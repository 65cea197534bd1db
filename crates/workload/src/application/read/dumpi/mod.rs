//! Traces of DUMPI, one file a rank: its binaries, or what `dumpi2ascii` prints of them.
//!
//! In a text, a call is the lines from `MPI_Name entering at walltime ...` to `MPI_Name returning at walltime
//! ...`, and in between an argument a line, `int count=10` or `MPI_Request requests[2]=[1, 2]`
//! (`dumpi/bin/dumpi2ascii-callbacks.c` \[dumpi\]).

mod binary;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::Input;
use super::lines::read_lines;
use super::mpi::{Message, Mpi, begins, bytes, is_local, nanoseconds};
use super::{Beginning, Content, Format, Options};
use crate::application::complaints::{Flaw, of_file};
use flitlab_base::document::{Diagnostic, Diagnostics};
use flitlab_base::narrow::narrow;

pub(crate) const DUMPI: Format = Format {
    name: "dumpi",
    what: "a DUMPI trace as text",
    doc: "what dumpi2ascii prints of a trace of DUMPI, a file a rank.",
    is: |file| file.is_text && file.has(ENTERING),
    takes: &["algorithm"],
    read,
};

/// The binaries, and the file that names them.
pub(crate) const BINARY: Format = Format {
    name: "dumpi-binary",
    what: "a DUMPI trace",
    doc: "the binaries of DUMPI, a file a rank, or the file .meta that names them.",
    is: |file| file.bytes.starts_with(&binary::MAGIC) || is_meta(file),
    takes: &["algorithm"],
    read: read_binary,
};

/// Whether it is the text beside the binaries.
fn is_meta(file: &Beginning) -> bool {
    file.is_text && file.name.ends_with(".meta") && file.has("numprocs=")
}

const ENTERING: &str = " entering at walltime ";
const RETURNING: &str = " returning at walltime ";

/// Bytes of DUMPI's types by their numbers, as `MPI_Type_size` has them.
const TYPES: [i64; 28] =
    [0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20];

/// The communicator of all ranks, and that of a rank alone.
const WORLD: i64 = 2;
const SELF: i64 = 3;

fn read(input: &Input<'_>, options: &Options) -> Result<Content, Diagnostics> {
    let files = input.ranks()?;
    let mut trace = Trace::new(files.len(), options)?;
    for file in &files {
        trace.begin_rank();
        let name = file.display().to_string();
        read_lines(&name, &mut *input.open(file)?, |_, line| trace.line(line))?;
        if !trace.mpi.next_rank() {
            break;
        }
    }
    trace.mpi.finish(input.path())
}

fn read_binary(input: &Input<'_>, options: &Options) -> Result<Content, Diagnostics> {
    let path = input.path();
    let first = match input.beginning(path) {
        Some(file) if is_meta(&file) => named_by(path, &String::from_utf8_lossy(&file.bytes))?,
        _ => path.to_owned(),
    };
    let files = input.ranks_of(&first)?;
    let mut trace = Trace::new(files.len(), options)?;
    for file in &files {
        trace.begin_rank();
        let content = input.content(file)?;
        let read = binary::read(&content, |call, end| trace.called(call, end));
        read.map_err(|(byte, why)| {
            let problem = format!("{}: at byte {byte}: {why}", file.display());
            let help = "`dumpi2ascii` shows what is in it, and flitlab reads what it prints";
            of_file(Diagnostic::unplaced(problem).help(help))
        })?;
        if !trace.mpi.next_rank() {
            break;
        }
    }
    trace.mpi.finish(path)
}

/// The binary of rank 0 that a file .meta names.
fn named_by(meta: &Path, text: &str) -> Result<PathBuf, Diagnostics> {
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
    let stem = meta.file_stem().unwrap_or_default().to_string_lossy();
    let prefix = value("fileprefix=").unwrap_or(&stem).trim();
    let prefix = Path::new(prefix).file_name().unwrap_or_default().to_string_lossy();
    let named =
        [4, 5, 6, 1].map(|width| meta.with_file_name(format!("{prefix}-{:0width$}.bin", 0)));
    let found = named.iter().find(|path| path.is_file());
    found.cloned().ok_or_else(|| {
        let problem = format!("the file of rank 0 is missing: {}", named[0].display());
        let help = format!("{} names it", meta.display());
        of_file(Diagnostic::unplaced(problem).help(help))
    })
}

/// A call whose lines are being read.
#[derive(Default)]
struct Call {
    /// Without `MPI_`; empty between calls.
    name: String,
    begin: Option<i128>,
    arguments: Vec<(String, String)>,
}

impl Call {
    fn text(&self, name: &str) -> Result<&str, String> {
        let argument = self.arguments.iter().find(|it| it.0 == name);
        argument
            .map(|it| it.1.as_str())
            .ok_or_else(|| format!("`{name}` of MPI_{} is missing", self.name))
    }

    fn number(&self, name: &str) -> Result<i64, String> {
        let text = self.text(name)?;
        let number = text.trim_matches(['[', ']']).split_ascii_whitespace().next();
        let number = number.and_then(|number| number.parse().ok());
        number.ok_or_else(|| format!("`{name}={text}` is no number"))
    }

    /// The numbers of an array; none of one that is not recorded.
    fn numbers(&self, name: &str) -> Result<Vec<i64>, String> {
        let text = self.text(name)?;
        // A binary has a request as it is.
        if let Ok(number) = text.parse() {
            return Ok(vec![number]);
        }
        let Some(list) = text.strip_prefix('[').and_then(|text| text.split(']').next()) else {
            return Ok(Vec::new());
        };
        // Types of an array have their names beside them.
        let number = |it: &str| it.split_ascii_whitespace().next().and_then(|it| it.parse().ok());
        let items = list.split(',').filter(|it| !it.trim().is_empty());
        items
            .map(|it| number(it).ok_or_else(|| format!("`{name}={text}` are no numbers")))
            .collect()
    }
}

/// The calls of all ranks, one rank after the other.
struct Trace {
    mpi: Mpi,
    call: Call,
    /// Of the present rank: bytes of a type.
    types: BTreeMap<i64, i64>,
    /// Whether a communicator is that of all ranks.
    communicators: BTreeMap<i64, bool>,
}

/// A time of seconds, in nanoseconds.
fn time(line: &str, behind: &str) -> Option<i128> {
    let text = &line[line.find(behind)? + behind.len()..];
    nanoseconds(text.split(',').next()?.trim(), 9)
}

impl Trace {
    fn new(ranks: usize, options: &Options) -> Result<Self, Diagnostics> {
        Ok(Self {
            mpi: Mpi::new(narrow(ranks), options)?,
            call: Call::default(),
            types: BTreeMap::new(),
            communicators: BTreeMap::new(),
        })
    }

    fn begin_rank(&mut self) {
        self.call = Call::default();
        self.types = (0..).zip(TYPES).collect();
        self.communicators = BTreeMap::from([(WORLD, true), (SELF, false)]);
    }

    fn line(&mut self, line: &str) -> Result<(), Flaw> {
        let whole = |message: String| Flaw::new(0..line.len(), message);
        if let Some((name, _)) = line.split_once(ENTERING) {
            let begin = time(line, ENTERING);
            if begin.is_none() {
                return Err(whole("a call begins at a number of seconds".into()));
            }
            let name = name.strip_prefix("MPI_").unwrap_or(name).to_owned();
            self.call = Call { name, begin, arguments: Vec::new() };
        } else if line.contains(RETURNING) {
            let call = std::mem::take(&mut self.call);
            if !line.strip_prefix("MPI_").is_some_and(|it| it.starts_with(&call.name))
                || call.name.is_empty()
            {
                return Err(whole("this call did not begin above".into()));
            }
            let end = time(line, RETURNING);
            self.called(&call, end).map_err(|message| {
                let help =
                    "the call that ends in this line; dumpi2ascii prints all of its arguments";
                whole(message).help(help)
            })?;
        } else if !self.call.name.is_empty() {
            // A type, a name, perhaps a length, and a value; counters of the processor have none.
            if let Some((what, value)) = line.split_once('=') {
                let name = what.split('[').next().unwrap_or(what);
                let name = name.rsplit(' ').next().unwrap_or(name).to_owned();
                self.call.arguments.push((name, value.trim().to_owned()));
            }
        }
        Ok(())
    }

    fn size(&self, call: &Call, name: &str) -> Result<i64, String> {
        let number = call.number(name)?;
        self.types.get(&number).copied().ok_or_else(|| {
            format!("the size of `{name}={number}` is not known: no call above makes this type")
        })
    }

    fn bytes(&self, call: &Call, count: &str, kind: &str) -> Result<u64, String> {
        bytes(call.number(count)?, self.size(call, kind)?)
    }

    fn parts(&self, call: &Call, counts: &str, kind: &str) -> Result<Vec<u64>, String> {
        let size = self.size(call, kind)?;
        call.numbers(counts)?.into_iter().map(|count| bytes(count, size)).collect()
    }

    /// As many parts as there are ranks.
    fn all_parts(&self, call: &Call, counts: &str, kind: &str) -> Result<Vec<u64>, String> {
        let (parts, ranks) = (self.parts(call, counts, kind)?, self.mpi.calls.ranks());
        match parts.len() == ranks as usize {
            true => Ok(parts),
            false => Err(format!("there are {} `{counts}` for {ranks} ranks", parts.len())),
        }
    }

    /// Whether a call is of all ranks, or of this one alone.
    fn of_all(&self, call: &Call) -> Result<bool, String> {
        let number = call.number("comm")?;
        self.communicators.get(&number).copied().ok_or_else(|| {
            format!(
                "communicator {number} is neither that of all ranks nor that of one: which ranks are in it stands in no \
                 rank's file"
            )
        })
    }

    fn message(&mut self, call: &Call, sends: bool) -> Result<Option<Message>, String> {
        let of_all = self.of_all(call)?;
        let bytes = self.bytes(call, "count", "datatype")?;
        let message = self.between(call, sends, bytes, "tag")?;
        Ok(message.filter(|_| of_all))
    }

    fn between(
        &mut self,
        call: &Call,
        sends: bool,
        bytes: u64,
        tag: &str,
    ) -> Result<Option<Message>, String> {
        let number = call.number(if sends { "dest" } else { "source" })?;
        let Some(peer) = self.mpi.peer(number, sends)? else { return Ok(None) };
        let tag = self.mpi.tag(call.number(tag)?, sends)?;
        Ok(Some(Message { sends, bytes, peer, tag }))
    }

    fn root(&self, call: &Call) -> Result<u32, String> {
        let (root, ranks) = (call.number("root")?, self.mpi.calls.ranks());
        let known = u32::try_from(root).ok().filter(|root| *root < ranks);
        known.ok_or_else(|| format!("there is no rank {root} that could be the root"))
    }

    /// The requests at some places of the array `requests`.
    fn requests_at(call: &Call, places: &[i64]) -> Result<Vec<u64>, String> {
        let all = requests(call, "requests")?;
        let at =
            |place: &i64| usize::try_from(*place).ok().and_then(|place| all.get(place)).copied();
        Ok(places.iter().filter_map(at).collect())
    }

    /// Notes the size of a type that a call makes.
    fn make_type(&mut self, call: &Call) -> Result<(), String> {
        let short = call.name.trim_start_matches("Type_").trim_start_matches("create_");
        let count = || call.number("count");
        let sum = |name| {
            Ok::<i64, String>(call.numbers(name)?.iter().fold(0, |a, b| a.saturating_add(*b)))
        };
        let elements = match short {
            "contiguous" => count()?,
            "vector" | "hvector" | "indexed_block" | "hindexed_block" => {
                count()?.saturating_mul(call.number("blocklength")?)
            }
            "indexed" | "hindexed" => sum("lengths").or_else(|_| sum("blocklengths"))?,
            "subarray" => {
                let sizes = call.numbers("subsizes")?;
                sizes.iter().fold(1, |all: i64, size| all.saturating_mul(*size))
            }
            "resized" | "dup" => 1,
            "struct" => {
                let lengths = call.numbers("lengths").or_else(|_| call.numbers("blocklengths"))?;
                let mut all: i64 = 0;
                for (length, kind) in lengths.iter().zip(call.numbers("oldtypes")?) {
                    let size = self.types.get(&kind).copied().unwrap_or(0);
                    all = all.saturating_add(length.saturating_mul(size));
                }
                self.types.insert(call.number("newtype")?, all);
                return Ok(());
            }
            "size" => {
                self.types.insert(call.number("datatype")?, call.number("size")?);
                return Ok(());
            }
            _ => return Ok(()),
        };
        let size = self.size(call, "oldtype")?.saturating_mul(elements);
        self.types.insert(call.number("newtype")?, size);
        Ok(())
    }

    /// Notes a communicator of a grid, if the grid has all ranks. They are taken to keep their order.
    fn make_grid(&mut self, call: &Call) -> Result<(), String> {
        let of_all = self.communicators.get(&call.number("oldcomm")?).copied() == Some(true);
        let dims = call.numbers("dims")?;
        let places = dims.iter().fold(1, |all: i64, dim| all.saturating_mul(*dim));
        if of_all && places == i64::from(self.mpi.calls.ranks()) {
            self.communicators.insert(call.number("newcomm")?, true);
        }
        Ok(())
    }

    /// Takes a call that ended at these nanoseconds.
    fn called(&mut self, call: &Call, end: Option<i128>) -> Result<(), String> {
        let name = call.name.as_str();
        if name.starts_with("Type_") {
            return self.make_type(call);
        }
        if name == "Comm_dup" {
            let known = self.communicators.get(&call.number("oldcomm")?).copied();
            if let Some(of_all) = known {
                self.communicators.insert(call.number("newcomm")?, of_all);
            }
            return Ok(());
        }
        let found = match name {
            "Test" | "Testall" | "Testany" => call.number("flag")? != 0,
            "Testsome" => call.number("outcount")? > 0,
            _ => false,
        };
        if name == "Cart_create" {
            return self.make_grid(call);
        }
        if begins(name) {
            self.mpi.call(None, end);
            return Ok(());
        }
        if is_local(name) && !found {
            return Ok(());
        }
        self.mpi.call(call.begin, end);
        let counted = COUNTED.iter().find(|it| **it == name);
        let Some(counted) = counted else {
            return Err(format!("MPI_{name} is not read"));
        };
        self.mpi.calls.count(counted);
        match name {
            "Wait" | "Test" => {
                let requests = requests(call, "request")?;
                self.mpi.wait(&requests);
            }
            "Waitall" | "Testall" => {
                let requests = requests(call, "requests")?;
                self.mpi.wait(&requests);
            }
            "Waitany" | "Testany" => {
                let requests = Self::requests_at(call, &[call.number("index")?])?;
                self.mpi.wait(&requests);
            }
            "Waitsome" | "Testsome" => {
                let requests = Self::requests_at(call, &call.numbers("indices")?)?;
                self.mpi.wait(&requests);
            }
            "Start" => {
                for request in requests(call, "request")? {
                    self.mpi.start(request);
                }
            }
            "Startall" => {
                for request in requests(call, "requests")? {
                    self.mpi.start(request);
                }
            }
            "Sendrecv" | "Sendrecv_replace" => {
                let of_all = self.of_all(call)?;
                let [sent, received] = match name {
                    "Sendrecv" => [
                        self.bytes(call, "sendcount", "sendtype")?,
                        self.bytes(call, "recvcount", "recvtype")?,
                    ],
                    _ => [self.bytes(call, "count", "datatype")?; 2],
                };
                let receive = self.between(call, false, received, "recvtag")?;
                let send = self.between(call, true, sent, "sendtag")?;
                self.mpi.blocking(&[receive.filter(|_| of_all), send.filter(|_| of_all)]);
            }
            "Finalize" => {}
            _ if name.contains("end") || name.contains("ecv") => {
                let message = self.message(call, !name.contains("ecv"))?;
                if name.ends_with("_init") {
                    for request in requests(call, "request")? {
                        self.mpi.prepare(message, request);
                    }
                } else if name.starts_with('I') {
                    for request in requests(call, "request")? {
                        self.mpi.begin(message, request);
                    }
                } else {
                    self.mpi.blocking(&[message]);
                }
            }
            _ => self.collective(call)?,
        }
        Ok(())
    }

    fn collective(&mut self, call: &Call) -> Result<(), String> {
        if !self.of_all(call)? {
            return Ok(());
        }
        let name = call.name.as_str();
        let ranks = self.mpi.calls.ranks() as usize;
        let at_root = |root| self.mpi.calls.rank() == root;
        match name {
            "Barrier" => self.mpi.calls.collective("barrier", 1, 0),
            "Bcast" | "Reduce" | "Allreduce" => {
                let bytes = self.bytes(call, "count", "datatype")?;
                let root = if name == "Allreduce" { 0 } else { self.root(call)? };
                let name = match name {
                    "Bcast" => "broadcast",
                    "Reduce" => "reduce",
                    _ => "all-reduce",
                };
                self.mpi.calls.collective(name, bytes, root);
            }
            "Scan" | "Exscan" => {
                let bytes = self.bytes(call, "count", "datatype")?;
                self.mpi.calls.scan(bytes);
            }
            "Allgather" | "Alltoall" => {
                let bytes = self.bytes(call, "recvcount", "recvtype")?;
                let name = if name == "Alltoall" { "all-to-all" } else { "all-gather" };
                self.mpi.calls.collective(name, bytes, 0);
            }
            "Gather" | "Scatter" => {
                let root = self.root(call)?;
                // What is received means something at receivers alone, what is sent at the others.
                let bytes = match at_root(root) == (name == "Gather") {
                    true => self.bytes(call, "recvcount", "recvtype")?,
                    false => self.bytes(call, "sendcount", "sendtype")?,
                };
                let name = if name == "Gather" { "gather" } else { "scatter" };
                self.mpi.calls.collective(name, bytes, root);
            }
            "Alltoallv" => {
                let sent = self.all_parts(call, "sendcounts", "sendtype")?;
                let received = self.all_parts(call, "recvcounts", "recvtype")?;
                self.mpi.calls.all_to_all_v(&sent, &received);
            }
            "Allgatherv" => {
                let parts = self.all_parts(call, "recvcounts", "recvtype")?;
                self.mpi.calls.all_gather_v(&parts);
            }
            "Reduce_scatter" => {
                let parts = self.all_parts(call, "recvcounts", "datatype")?;
                self.mpi.calls.reduce_scatter_v(&parts);
            }
            "Gatherv" | "Scatterv" => {
                let root = self.root(call)?;
                let gathers = name == "Gatherv";
                let (counts, kind) = match gathers {
                    true => ("recvcounts", "recvtype"),
                    false => ("sendcounts", "sendtype"),
                };
                let parts = match at_root(root) {
                    true => self.all_parts(call, counts, kind)?,
                    false => vec![0; ranks],
                };
                match gathers {
                    true => {
                        let own = self.bytes(call, "sendcount", "sendtype")?;
                        self.mpi.calls.gather_v(root, own, &parts);
                    }
                    false => {
                        let own = self.bytes(call, "recvcount", "recvtype")?;
                        self.mpi.calls.scatter_v(root, own, &parts);
                    }
                }
            }
            _ => return Err(format!("MPI_{name} is not read")),
        }
        Ok(())
    }
}

/// Calls that are read, without `MPI_`.
const COUNTED: [&str; 43] = [
    "Send",
    "Recv",
    "Bsend",
    "Ssend",
    "Rsend",
    "Isend",
    "Ibsend",
    "Issend",
    "Irsend",
    "Irecv",
    "Wait",
    "Test",
    "Waitany",
    "Testany",
    "Waitall",
    "Testall",
    "Waitsome",
    "Testsome",
    "Send_init",
    "Bsend_init",
    "Ssend_init",
    "Rsend_init",
    "Recv_init",
    "Start",
    "Startall",
    "Sendrecv",
    "Sendrecv_replace",
    "Barrier",
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Reduce",
    "Allreduce",
    "Reduce_scatter",
    "Scan",
    "Exscan",
    "Finalize",
];

/// Requests by their numbers; none of those that are not recorded.
fn requests(call: &Call, name: &str) -> Result<Vec<u64>, String> {
    let numbers = call.numbers(name)?;
    Ok(numbers.into_iter().filter_map(|request| u64::try_from(request).ok()).collect())
}
