//! Traces of DUMPI, one file a rank: its binaries, or what `dumpi2ascii` prints of them.
//!
//! In a text, a call is the lines from `MPI_Name entering at walltime ...` to `MPI_Name returning at walltime
//! ...`, and in between an argument a line, `int count=10` or `MPI_Request requests[2]=[1, 2]`
//! (`dumpi/bin/dumpi2ascii-callbacks.c` \[dumpi\]).

mod binary;
mod communicators;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::Input;
use super::lines::read_lines;
use super::mpi::{Message, Mpi, begins, bytes, is_local, nanoseconds};
use super::{Beginning, Content, Format, Options};
use crate::complaints::{Flaw, of_file, shown};
use flitlab_application::generate::communicator::Communicator;
use flitlab_base::document::{Diagnostic, Diagnostics};
use flitlab_base::narrow::narrow;
use flitlab_base::units::counted;

use communicators::{Making, Parts, Who};

pub(crate) const DUMPI: Format = Format {
    name: "dumpi",
    what: "a DUMPI trace as text",
    doc: "what dumpi2ascii prints of a trace of DUMPI, a file a rank.",
    is: |file| file.has(ENTERING),
    takes: &["algorithm"],
    read,
};

/// The binaries, and the file that names them.
pub(crate) const BINARY: Format = Format {
    name: "dumpi-binary",
    what: "a DUMPI trace",
    doc: "the binaries of DUMPI, a file a rank, or the file .meta that names them.",
    is: |file| file.bytes.starts_with(&binary::MAGIC) || is_meta(file) || is_named_binary(file),
    takes: &["algorithm"],
    read: read_binary,
};

/// Whether it is the text beside the binaries.
fn is_meta(file: &Beginning) -> bool {
    file.is_text && file.name.ends_with(".meta") && file.has("numprocs=")
}

/// Whether it is called as DUMPI calls its binaries, whose first bytes may be damaged.
fn is_named_binary(file: &Beginning) -> bool {
    file.name.starts_with("dumpi") && file.name.ends_with(".bin") && !file.is_text
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
    read_files(&files, input, options, text)
}

/// Takes a call with the time at which it ends.
type Take<'t> = &'t mut dyn FnMut(&Call, Option<i128>) -> Result<(), String>;

/// Has each call of a file taken.
type EachCall = fn(&Input<'_>, &Path, Take<'_>) -> Read;
type Read = Result<(), Diagnostics>;

/// The calls of a text.
fn text(input: &Input<'_>, file: &Path, take: Take<'_>) -> Read {
    let name = file.display().to_string();
    let mut lines = Lines::default();
    read_lines(&name, &mut *input.open(file)?, |_, line| lines.line(line, take))?;
    match lines.call.name.as_str() {
        "" => Ok(()),
        call => {
            let problem = format!("{name} ends within a call of MPI_{}", shown(call));
            let help = "was it cut off? `dumpi2ascii` prints it again";
            Err(of_file(Diagnostic::unplaced(problem).help(help)))
        }
    }
}

/// The calls of a binary.
fn calls_of_binary(input: &Input<'_>, file: &Path, take: Take<'_>) -> Read {
    let content = input.content(file)?;
    binary::read(&content, take).map_err(|(byte, why)| {
        let problem = format!("{}: at byte {byte}: {why}", file.display());
        let help = "`dumpi2ascii` shows what is in it, and flitlab reads what it prints";
        of_file(Diagnostic::unplaced(problem).help(help))
    })
}

/// Reads the files of all ranks. Where communicators are parted, what each rank says of it is read
/// first: who is in a part follows from what all say.
fn read_files(
    files: &[PathBuf],
    input: &Input<'_>,
    options: &Options,
    each_call: EachCall,
) -> Result<Content, Diagnostics> {
    let made = |file: &PathBuf| {
        let mut made = Vec::new();
        each_call(input, file, &mut |call, _| {
            made.extend(communicators::made_by(call)?);
            Ok(())
        })?;
        Ok::<_, Diagnostics>(made)
    };
    let mut parts = Parts::default();
    // All communicators are made of that of all ranks, in which rank 0 is.
    if let Some(first) = files.first().map(made).transpose()?
        && first.iter().any(Making::is_split)
    {
        let others: Result<Vec<_>, _> = files[1..].iter().map(made).collect();
        let all = std::iter::once(first).chain(others?).collect();
        parts = Parts::of(all);
    }
    let mut trace = Trace::new(files.len(), parts, options)?;
    for file in files {
        trace.begin_rank();
        each_call(input, file, &mut |call, end| trace.called(call, end))?;
        if !trace.mpi.next_rank() {
            break;
        }
    }
    trace.mpi.finish(input.path())
}

fn read_binary(input: &Input<'_>, options: &Options) -> Result<Content, Diagnostics> {
    let path = input.path();
    let meta = input.beginning(path).filter(is_meta);
    let meta = meta.map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
    let first = match &meta {
        Some(meta) => named_by(path, meta)?,
        None => path.to_owned(),
    };
    let files = input.ranks_of(&first)?;
    let said = meta.as_ref().and_then(|meta| value(meta, "numprocs="));
    if let Some(said) = said.filter(|said| said.trim().parse() != Ok(files.len())) {
        let (meta, ranks) = (path.display(), counted(files.len(), "rank"));
        let problem = format!("`numprocs={said}` stands in {meta}, and there are files of {ranks}");
        let help = "put the files of all ranks beside it";
        return Err(of_file(Diagnostic::unplaced(problem).help(help)));
    }
    read_files(&files, input, options, calls_of_binary)
}

/// What stands behind a key in a file .meta.
fn value<'m>(meta: &'m str, key: &str) -> Option<&'m str> {
    meta.lines().find_map(|line| line.strip_prefix(key))
}

/// The binary of rank 0 that a file .meta names.
fn named_by(meta: &Path, text: &str) -> Result<PathBuf, Diagnostics> {
    let stem = meta.file_stem().unwrap_or_default().to_string_lossy();
    let prefix = value(text, "fileprefix=").unwrap_or(&stem).trim();
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
        number.ok_or_else(|| format!("`{name}={}` is no number", shown(text)))
    }

    /// The numbers of an array.
    fn numbers(&self, name: &str) -> Result<Vec<i64>, String> {
        let text = self.text(name)?;
        // A binary has a request as it is.
        if let Ok(number) = text.parse() {
            return Ok(vec![number]);
        }
        let Some(list) = text.strip_prefix('[').and_then(|text| text.split(']').next()) else {
            return Err(format!("`{name}={}` are no numbers", shown(text)));
        };
        // Types of an array have their names beside them.
        let number = |it: &str| it.split_ascii_whitespace().next().and_then(|it| it.parse().ok());
        let items = list.split(',').filter(|it| !it.trim().is_empty());
        let number = |it| {
            let wrong = || format!("`{name}={}` are no numbers", shown(text));
            number(it).ok_or_else(wrong)
        };
        items.map(number).collect()
    }
}

/// The calls of all ranks, one rank after the other.
struct Trace {
    mpi: Mpi,
    parts: Parts,
    /// Of the present rank: bytes of a type.
    types: BTreeMap<i64, i64>,
    /// Who is in a communicator.
    communicators: BTreeMap<i64, Who>,
    /// Those of some ranks, by the number of their parts.
    groups: BTreeMap<usize, Communicator<'static>>,
    /// How many parts the present rank got.
    splits: usize,
}

/// A text as it is read.
#[derive(Default)]
struct Lines {
    call: Call,
}

/// A time of seconds, in nanoseconds.
fn time(text: &str) -> Result<i128, &'static str> {
    let seconds = text.split(',').next().unwrap_or_default().trim();
    nanoseconds(seconds, 9).ok_or("a call begins and returns at a number of seconds")
}

impl Lines {
    fn line(&mut self, line: &str, take: Take<'_>) -> Result<(), Flaw> {
        let whole = |message: String| Flaw::new(0..line.len(), message);
        if let Some((name, begin)) = line.split_once(ENTERING) {
            let name = name.strip_prefix("MPI_").unwrap_or(name).to_owned();
            let begin = Some(time(begin).map_err(|message| whole(message.into()))?);
            let before =
                std::mem::replace(&mut self.call, Call { name, begin, arguments: Vec::new() });
            if !before.name.is_empty() {
                let message =
                    format!("MPI_{}, which began above, did not return", shown(&before.name));
                return Err(whole(message));
            }
        } else if let Some((name, end)) = line.split_once(RETURNING) {
            let call = std::mem::take(&mut self.call);
            if call.name.is_empty() || name.strip_prefix("MPI_").unwrap_or(name) != call.name {
                return Err(whole("this call did not begin above".into()));
            }
            let end = time(end).map_err(|message| whole(message.into()))?;
            take(&call, Some(end)).map_err(|message| {
                let help =
                    "the call that ends in this line; dumpi2ascii prints all of its arguments";
                whole(message).help(help)
            })?;
        } else if self.call.name.is_empty() {
            // Before the first call are facts of the run.
            if line.starts_with("MPI_") {
                let flaw = whole("this is neither the begin of a call nor its end".into());
                return Err(flaw.help(format!("dumpi2ascii prints `MPI_Send{ENTERING}1.5, ...`")));
            }
        } else {
            // A type, a name, perhaps a length, and a value; counters of the processor have none.
            if let Some((what, value)) = line.split_once('=') {
                let name = what.split('[').next().unwrap_or(what);
                let name = name.rsplit(' ').next().unwrap_or(name).to_owned();
                self.call.arguments.push((name, value.trim().to_owned()));
            }
        }
        Ok(())
    }
}

impl Trace {
    fn new(ranks: usize, parts: Parts, options: &Options) -> Result<Self, Diagnostics> {
        Ok(Self {
            mpi: Mpi::new(narrow(ranks), options)?,
            parts,
            types: BTreeMap::new(),
            communicators: BTreeMap::new(),
            groups: BTreeMap::new(),
            splits: 0,
        })
    }

    fn begin_rank(&mut self) {
        self.types = (0..).zip(TYPES).collect();
        self.communicators = BTreeMap::from([(WORLD, Who::All), (SELF, Who::One)]);
        self.groups.clear();
        self.splits = 0;
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

    /// Who is in the communicator of a call.
    fn who(&self, call: &Call) -> Result<Who, String> {
        let number = call.number("comm")?;
        self.communicators.get(&number).copied().ok_or_else(|| {
            format!(
                "which ranks are in communicator {number} is not known: known are those that Comm_dup, Comm_split and \
                 Cart_create make of MPI_COMM_WORLD and of each other"
            )
        })
    }

    /// Does something by the numbers of a communicator's members.
    fn among<T>(
        &mut self,
        who: Who,
        what: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        let Who::Some(part) = who else { return what(self) };
        let rank = self.mpi.calls.rank();
        let mut group = match self.groups.remove(&part) {
            Some(group) => group,
            None => self.parts.communicator(part, rank)?,
        };
        self.mpi.calls.swap(&mut group);
        let done = what(self);
        self.mpi.calls.swap(&mut group);
        self.groups.insert(part, group);
        done
    }

    fn message(&mut self, call: &Call, sends: bool) -> Result<Option<Message>, String> {
        let bytes = self.bytes(call, "count", "datatype")?;
        self.between(call, sends, bytes, "tag")
    }

    fn between(
        &mut self,
        call: &Call,
        sends: bool,
        bytes: u64,
        tag: &str,
    ) -> Result<Option<Message>, String> {
        let who = self.who(call)?;
        let number = call.number(if sends { "dest" } else { "source" })?;
        let Some(peer) = self.among(who, |trace| trace.mpi.peer(number, sends))? else {
            return Ok(None);
        };
        let tag = self.mpi.tag(call.number(tag)?, sends)?;
        let tag = match who {
            Who::All => tag,
            Who::One => return Ok(None),
            Who::Some(part) => self.parts.tag(part, tag)?,
        };
        Ok(Some(Message { sends, bytes, peer, tag }))
    }

    fn root(&self, call: &Call) -> Result<u32, String> {
        self.mpi.root(call.number("root")?)
    }

    /// The requests at some places of the array `requests`. That none had been open is said by a
    /// place below zero.
    fn requests_at(&self, call: &Call, places: &[i64]) -> Result<Vec<u64>, String> {
        let all = call.numbers("requests")?;
        let request = |number: i64| u64::try_from(number).ok();
        let are_open = all.iter().any(|it| request(*it).is_some_and(|it| self.mpi.is_open(it)));
        let at = |place: &i64| {
            let number = usize::try_from(*place).ok().and_then(|place| all.get(place).copied());
            match number.and_then(request) {
                None if *place < 0 && !are_open => None,
                None => Some(Err(format!(
                    "place {place} is none of the {} requests; DUMPI counts places one too low in some programs in \
                     Fortran: add 1 to each of their MPI_Testsome and MPI_Waitsome",
                    all.len()
                ))),
                Some(request) => Some(Ok(request)),
            }
        };
        places.iter().filter_map(at).collect()
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
                    // Who uses the new type is told that its size is not known.
                    let Some(size) = self.types.get(&kind) else { return Ok(()) };
                    all = all.saturating_add(length.saturating_mul(*size));
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

    /// Notes a communicator that a call makes of another one.
    fn make_communicator(&mut self, making: Making) {
        let of = |trace: &Self, old| trace.communicators.get(&old).copied();
        let (new, who) = match making {
            Making::Same { old, new } => (new, of(self, old)),
            // All have a place in the grid, and are taken to keep their order.
            Making::Grid { old, places, new } => {
                let ranks = |who: &Who| match who {
                    Who::All => self.mpi.calls.ranks() as usize,
                    Who::One => 1,
                    Who::Some(part) => self.parts.members(*part).len(),
                };
                (new, of(self, old).filter(|who| i64::try_from(ranks(who)) == Ok(places)))
            }
            Making::Split { new, .. } => {
                self.splits += 1;
                (new, self.parts.of_rank(self.mpi.calls.rank(), self.splits - 1))
            }
        };
        match who {
            Some(who) => self.communicators.insert(new, who),
            // The number may have been that of another one before.
            None => self.communicators.remove(&new),
        };
    }

    /// Takes a call that ended at these nanoseconds.
    fn called(&mut self, call: &Call, end: Option<i128>) -> Result<(), String> {
        let name = call.name.as_str();
        if name.starts_with("Type_") {
            return self.make_type(call);
        }
        if let Some(making) = communicators::made_by(call)? {
            self.make_communicator(making);
            return Ok(());
        }
        if name == "Comm_size" && call.number("comm")? == WORLD {
            let (size, ranks) = (call.number("size")?, self.mpi.calls.ranks());
            return match size == i64::from(ranks) {
                true => Ok(()),
                false => {
                    Err(format!("the program had {size} ranks, and there are files of {ranks}"))
                }
            };
        }
        let found = match name {
            "Test" | "Testall" | "Testany" => call.number("flag")? != 0,
            "Testsome" => call.number("outcount")? > 0,
            _ => false,
        };
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
            return Err(format!("MPI_{} is not read", shown(name)));
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
                let requests = self.requests_at(call, &[call.number("index")?])?;
                self.mpi.wait(&requests);
            }
            "Waitsome" | "Testsome" => {
                // Below zero if none was open.
                let places = match call.number("outcount")? {
                    ..=0 => Vec::new(),
                    _ => call.numbers("indices")?,
                };
                let requests = self.requests_at(call, &places)?;
                self.mpi.wait(&requests);
            }
            "Start" | "Startall" => {
                let name = if name == "Start" { "request" } else { "requests" };
                for request in requests(call, name)? {
                    if !self.mpi.start(request) {
                        return Err(format!("no call above makes request {request} to be started"));
                    }
                }
            }
            "Sendrecv" | "Sendrecv_replace" => {
                let [sent, received] = match name {
                    "Sendrecv" => [
                        self.bytes(call, "sendcount", "sendtype")?,
                        self.bytes(call, "recvcount", "recvtype")?,
                    ],
                    _ => [self.bytes(call, "count", "datatype")?; 2],
                };
                let receive = self.between(call, false, received, "recvtag")?;
                let send = self.between(call, true, sent, "sendtag")?;
                self.mpi.blocking(&[receive, send]);
            }
            "Finalize" => self.mpi.finalize(),
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
            _ => match self.who(call)? {
                Who::One => {}
                who => self.among(who, |trace| trace.collective(call))?,
            },
        }
        Ok(())
    }

    fn collective(&mut self, call: &Call) -> Result<(), String> {
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
