//! Traces of liballprof, as Schedgen of LogGOPSim reads them: a file a rank, a call a line,
//! `MPI_Name:begin:arguments...:end` in microseconds.
//!
//! The arguments are those of the C interface; a type is `number,bytes,extent`, a communicator
//! `number,rank,size`, and an array of counts its address and then the counts (`src/liballprof/
//! gencode.py`, `src/Schedgen/process_trace.cpp` \[loggopsim\]). docs/schedules.md says what they
//! become, and where Schedgen differs.

use super::files::Input;
use super::lines::{any, read_lines};
use super::mpi::{Message, Mpi, begins, bytes, is_local, nanoseconds};
use super::{Content, Format, Options};
use crate::complaints::{Flaw, shown};
use flitlab_base::document::Diagnostics;
use flitlab_base::narrow::narrow;

pub(crate) const LIBALLPROF: Format = Format {
    name: "liballprof",
    what: "a trace of liballprof",
    doc: "a call of MPI a line, with its times, a file a rank.",
    is: |file| any(&file.bytes, is_call),
    takes: &["algorithm"],
    read,
};

/// Bytes between two requests of an array, as Schedgen has it; some libraries have half of them.
const REQUEST: u64 = 8;

/// Calls that are read, without `MPI_`.
const CALLS: [&str; 35] = [
    "Send",
    "Isend",
    "Recv",
    "Irecv",
    "Wait",
    "Waitall",
    "Sendrecv",
    "Allreduce",
    "Bcast",
    "Barrier",
    "Reduce",
    "Alltoall",
    "Alltoallv",
    "Allgather",
    "Allgatherv",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Reduce_scatter",
    "Scan",
    "Exscan",
    "Iallreduce",
    "Ssend",
    "Bsend",
    "Rsend",
    "Issend",
    "Ibsend",
    "Irsend",
    "Sendrecv_replace",
    "Send_init",
    "Recv_init",
    "Start",
    "Startall",
    "Finalize",
];

/// Whether a line begins as a call does: its name, and a time or what stands in place of one.
fn is_call(line: &str) -> bool {
    let Some((name, rest)) = line.split_once(':') else { return false };
    let time = rest.split(':').next().unwrap_or_default();
    name.starts_with("MPI_") && (time == "-" || time.starts_with(|it: char| it.is_ascii_digit()))
}

fn read(input: &Input<'_>, options: &Options) -> Result<Content, Diagnostics> {
    let files = input.ranks()?;
    let mut mpi = Mpi::new(narrow(files.len()), options)?;
    for file in &files {
        let name = file.display().to_string();
        read_lines(&name, &mut *input.open(file)?, |_, line| match line.starts_with("MPI_") {
            true => call(&mut mpi, line),
            false if line.is_empty() || line.starts_with('#') => Ok(()),
            false => {
                let flaw = Flaw::new(0..line.len(), "this is no call");
                Err(flaw.help("a line is a comment behind #, or a call such as MPI_Wait:...:..."))
            }
        })?;
        if !mpi.next_rank() {
            break;
        }
    }
    mpi.finish(input.path())
}

/// The arguments of a call, one after the other.
struct Arguments<'l> {
    line: &'l str,
    fields: std::str::Split<'l, char>,
    /// Where the latest one stands.
    at: std::ops::Range<usize>,
}

impl<'l> Arguments<'l> {
    fn flaw(&self, message: impl Into<String>) -> Flaw {
        Flaw::new(self.at.clone(), message)
    }

    fn next(&mut self) -> Result<&'l str, Flaw> {
        let end = self.line.len();
        let field = self.fields.next().ok_or_else(|| {
            let flaw = Flaw::new(0..end, "an argument is missing");
            flaw.help("liballprof writes all arguments of the call, and then its end")
        })?;
        let start = field.as_ptr() as usize - self.line.as_ptr() as usize;
        self.at = start..start + field.len();
        Ok(field.trim())
    }

    fn skip(&mut self, count: usize) -> Result<(), Flaw> {
        (0..count).try_for_each(|_| self.next().map(|_| ()))
    }

    fn number(&mut self) -> Result<i64, Flaw> {
        self.next()?.parse().map_err(|_| self.flaw("this has to be a whole number"))
    }

    /// An address, which stands for a request.
    fn address(&mut self) -> Result<u64, Flaw> {
        self.next()?.parse().map_err(|_| self.flaw("this has to be an address"))
    }

    /// Bytes of an element.
    fn size(&mut self) -> Result<i64, Flaw> {
        let size = self.next()?.split(',').nth(1).and_then(|size| size.trim().parse().ok());
        size.ok_or_else(|| self.flaw("a type is written `number,bytes,extent`"))
    }

    /// Bytes of as many elements as the next argument says, of the type behind it.
    fn bytes(&mut self) -> Result<u64, Flaw> {
        let count = self.number()?;
        let at = self.at.clone();
        let size = self.size()?;
        bytes(count, size).map_err(|message| Flaw::new(at, message))
    }

    /// The counts of an array, whose address stands before them.
    fn counts(&mut self, ranks: u32) -> Result<Vec<i64>, Flaw> {
        self.skip(1)?;
        let counts: Result<Vec<i64>, _> = self.next()?.split(',').map(str::parse).collect();
        let counts = counts.map_err(|_| self.flaw("these have to be counts"))?;
        match counts.len() == ranks as usize {
            true => Ok(counts),
            false => Err(self.flaw(format!("there are {} counts for {ranks} ranks", counts.len()))),
        }
    }

    /// Bytes of parts: counts, as many offsets, and the type behind them.
    fn parts(&mut self, ranks: u32) -> Result<Vec<u64>, Flaw> {
        let counts = self.counts(ranks)?;
        let at = self.at.clone();
        self.skip(2)?;
        let size = self.size()?;
        let parts = counts.into_iter().map(|count| bytes(count, size));
        parts.collect::<Result<_, _>>().map_err(|message| Flaw::new(at, message))
    }

    /// Parts of which only the root has to have the right ones.
    fn parts_of_root(&mut self, ranks: u32) -> Result<Vec<u64>, Flaw> {
        let mut ahead = Arguments { fields: self.fields.clone(), at: self.at.clone(), ..*self };
        let parts = ahead.parts(ranks);
        self.skip(4)?;
        self.skip(1)?;
        Ok(parts.unwrap_or_default())
    }

    /// A communicator has to be that of all ranks, or of one alone, for which this is false.
    fn of_all(&mut self, mpi: &Mpi) -> Result<bool, Flaw> {
        let mut numbers = self.next()?.split(',').skip(1).map(|it| it.trim().parse::<u32>().ok());
        let (Some(Some(rank)), Some(Some(size))) = (numbers.next(), numbers.next()) else {
            return Err(self.flaw("a communicator is written `number,rank,size`"));
        };
        let (own, ranks) = (mpi.calls.rank(), mpi.calls.ranks());
        if size == ranks && rank == own {
            return Ok(true);
        }
        if size == 1 {
            return Ok(false);
        }
        let message = match size == ranks {
            true => format!("rank {own} is rank {rank} of this communicator"),
            false => format!("a communicator of {size} ranks, and there are files of {ranks}"),
        };
        let help = "liballprof does not say who is in a communicator, so that only those of all ranks in their order \
                    can be simulated";
        Err(self.flaw(message).help(help))
    }

    /// Bytes, type, other rank, tag and communicator of a message.
    fn message(&mut self, mpi: &mut Mpi, sends: bool) -> Result<Option<Message>, Flaw> {
        let bytes = self.bytes()?;
        let (peer, tag) = self.peer(mpi, sends)?;
        let of_all = self.of_all(mpi)?;
        Ok(peer.filter(|_| of_all).map(|peer| Message { sends, bytes, peer, tag }))
    }

    fn peer(&mut self, mpi: &mut Mpi, sends: bool) -> Result<(Option<u32>, u32), Flaw> {
        let number = self.number()?;
        let peer = mpi.peer(number, sends).map_err(|message| self.flaw(message))?;
        let number = self.number()?;
        // No rank is asked for no tag.
        let tag = if peer.is_none() { Ok(0) } else { mpi.tag(number, sends) };
        Ok((peer, tag.map_err(|message| self.flaw(message))?))
    }

    fn root(&mut self, mpi: &Mpi) -> Result<u32, Flaw> {
        let root = self.number()?;
        mpi.root(root).map_err(|message| self.flaw(message))
    }
}

/// A time of microseconds, in nanoseconds, in a field of a line. None stands where a call that
/// begins or ends MPI has `-`.
fn time(line: &str, field: &str) -> Result<Option<i128>, Flaw> {
    let text = field.trim();
    if text == "-" {
        return Ok(None);
    }
    nanoseconds(text, 3).map(Some).ok_or_else(|| {
        let start = field.as_ptr() as usize - line.as_ptr() as usize;
        let flaw = Flaw::new(start..start + field.len(), "this is no time");
        flaw.help("a call begins and ends with a number of microseconds, or - for none")
    })
}

/// The requests of an array of so many, which is at an address.
fn requests(mpi: &Mpi, count: u64, address: u64, open: bool) -> Vec<u64> {
    let among = |each: u64| {
        let range = address..address.saturating_add(count.saturating_mul(each));
        if open { mpi.open_in(range) } else { mpi.prepared_in(range) }
    };
    let found = among(REQUEST);
    match found.len() as u64 > count {
        true => among(REQUEST / 2),
        // Fortran's requests have numbers, which are not their places in the array.
        false if found.is_empty() && mpi.open() as u64 == count && open => mpi.open_in(0..u64::MAX),
        false => found,
    }
}

fn call(mpi: &mut Mpi, line: &str) -> Result<(), Flaw> {
    let mut fields = line.split(':');
    let name = fields.next().unwrap_or_default();
    let short = name.strip_prefix("MPI_").unwrap_or(name);
    let known = CALLS.iter().find(|known| **known == short);
    let Some(known) = known else {
        if is_local(short) {
            // The first call of all says when the rank begins to compute.
            if begins(short) {
                mpi.call(None, time(line, line.rsplit(':').next().unwrap_or_default())?);
            }
            return Ok(());
        }
        let flaw = Flaw::new(0..name.len(), format!("{} is not read", shown(name)));
        return Err(
            flaw.help("flitlab knows the calls of Schedgen, and those that neither send nor wait")
        );
    };
    let begin = time(line, fields.next().unwrap_or("-"))?;
    mpi.call(begin, time(line, line.rsplit(':').next().unwrap_or("-"))?);
    mpi.calls.count(known);
    let arguments = &mut Arguments { line, fields, at: 0..line.len() };
    let ranks = mpi.calls.ranks();
    match *known {
        "Send" | "Ssend" | "Bsend" | "Rsend" | "Recv" => {
            arguments.skip(1)?;
            let message = arguments.message(mpi, short != "Recv")?;
            mpi.blocking(&[message]);
        }
        "Isend" | "Issend" | "Ibsend" | "Irsend" | "Irecv" | "Send_init" | "Recv_init" => {
            arguments.skip(1)?;
            let message = arguments.message(mpi, !short.contains("ecv"))?;
            let request = arguments.address()?;
            match short.ends_with("_init") {
                true => mpi.prepare(message, request),
                false => mpi.begin(message, request),
            }
        }
        "Start" => {
            let request = arguments.address()?;
            if !mpi.start(request) {
                return Err(arguments.flaw("no Send_init or Recv_init made this request"));
            }
        }
        "Startall" => {
            let count = arguments.number()?.max(0).unsigned_abs();
            let address = arguments.address()?;
            let requests = requests(mpi, count, address, false);
            if (requests.len() as u64) < count {
                let made = requests.len();
                let message =
                    format!("a Send_init or Recv_init made {made} of these {count} requests");
                return Err(arguments.flaw(message));
            }
            for request in requests {
                mpi.start(request);
            }
        }
        "Wait" => {
            let request = arguments.address()?;
            mpi.wait(&[request]);
        }
        "Waitall" => {
            let count = arguments.number()?.max(0).unsigned_abs();
            let address = arguments.address()?;
            let requests = requests(mpi, count, address, true);
            mpi.wait(&requests);
        }
        "Sendrecv" => {
            arguments.skip(1)?;
            let sent = arguments.bytes()?;
            let (to, sent_tag) = arguments.peer(mpi, true)?;
            arguments.skip(1)?;
            let received = arguments.bytes()?;
            let (from, tag) = arguments.peer(mpi, false)?;
            let of_all = arguments.of_all(mpi)?;
            let receive = from.map(|peer| Message { sends: false, bytes: received, peer, tag });
            let send = to.map(|peer| Message { sends: true, bytes: sent, peer, tag: sent_tag });
            mpi.blocking(&[receive.filter(|_| of_all), send.filter(|_| of_all)]);
        }
        "Sendrecv_replace" => {
            arguments.skip(1)?;
            let bytes = arguments.bytes()?;
            let (to, sent_tag) = arguments.peer(mpi, true)?;
            let (from, tag) = arguments.peer(mpi, false)?;
            let of_all = arguments.of_all(mpi)?;
            let receive = from.map(|peer| Message { sends: false, bytes, peer, tag });
            let send = to.map(|peer| Message { sends: true, bytes, peer, tag: sent_tag });
            mpi.blocking(&[receive.filter(|_| of_all), send.filter(|_| of_all)]);
        }
        "Barrier" => {
            let of_all = arguments.of_all(mpi)?;
            if of_all {
                mpi.calls.collective("barrier", 1, 0);
            }
        }
        "Bcast" => {
            arguments.skip(1)?;
            let (bytes, root) = (arguments.bytes()?, arguments.root(mpi)?);
            if arguments.of_all(mpi)? {
                mpi.calls.collective("broadcast", bytes, root);
            }
        }
        "Allreduce" | "Iallreduce" | "Reduce" | "Scan" | "Exscan" => {
            arguments.skip(2)?;
            let bytes = arguments.bytes()?;
            arguments.skip(1)?;
            let root = if short == "Reduce" { arguments.root(mpi)? } else { 0 };
            if arguments.of_all(mpi)? {
                match short {
                    "Iallreduce" => {
                        let request = arguments.address()?;
                        mpi.begin_collective("all-reduce", bytes, 0, request);
                    }
                    "Allreduce" => mpi.calls.collective("all-reduce", bytes, 0),
                    "Reduce" => mpi.calls.collective("reduce", bytes, root),
                    _ => mpi.calls.scan(bytes),
                }
            }
        }
        "Allgather" | "Alltoall" | "Gather" | "Scatter" => {
            arguments.skip(1)?;
            let sent = arguments.bytes()?;
            arguments.skip(1)?;
            let received = arguments.bytes()?;
            let rooted = matches!(short, "Gather" | "Scatter");
            let root = if rooted { arguments.root(mpi)? } else { 0 };
            if arguments.of_all(mpi)? {
                // What is received means something at receivers alone, what is sent at the others.
                let at_root = mpi.calls.rank() == root;
                let (name, bytes) = match short {
                    "Allgather" => ("all-gather", received),
                    "Alltoall" => ("all-to-all", received),
                    "Gather" => ("gather", if at_root { received } else { sent }),
                    _ => ("scatter", if at_root { sent } else { received }),
                };
                mpi.calls.collective(name, bytes, root);
            }
        }
        "Alltoallv" => {
            arguments.skip(1)?;
            let sent = arguments.parts(ranks)?;
            arguments.skip(1)?;
            let received = arguments.parts(ranks)?;
            if arguments.of_all(mpi)? {
                mpi.calls.all_to_all_v(&sent, &received);
            }
        }
        "Allgatherv" => {
            arguments.skip(1)?;
            arguments.bytes()?;
            arguments.skip(1)?;
            let parts = arguments.parts(ranks)?;
            if arguments.of_all(mpi)? {
                mpi.calls.all_gather_v(&parts);
            }
        }
        "Gatherv" => {
            arguments.skip(1)?;
            let own = arguments.bytes()?;
            arguments.skip(1)?;
            let mut parts = arguments.parts_of_root(ranks)?;
            let root = arguments.root(mpi)?;
            parts.resize(ranks as usize, 0);
            if arguments.of_all(mpi)? {
                mpi.calls.gather_v(root, own, &parts);
            }
        }
        "Scatterv" => {
            arguments.skip(1)?;
            let mut parts = arguments.parts_of_root(ranks)?;
            arguments.skip(1)?;
            let (own, root) = (arguments.bytes()?, arguments.root(mpi)?);
            parts.resize(ranks as usize, 0);
            if arguments.of_all(mpi)? {
                mpi.calls.scatter_v(root, own, &parts);
            }
        }
        "Reduce_scatter" => {
            arguments.skip(2)?;
            let counts = arguments.counts(ranks)?;
            let at = arguments.at.clone();
            let size = arguments.size()?;
            let parts = counts.into_iter().map(|count| bytes(count, size));
            let parts: Result<Vec<u64>, String> = parts.collect();
            let parts = parts.map_err(|message| Flaw::new(at, message))?;
            arguments.skip(1)?;
            if arguments.of_all(mpi)? {
                mpi.calls.reduce_scatter_v(&parts);
            }
        }
        _ => mpi.finalize(),
    }
    Ok(())
}
