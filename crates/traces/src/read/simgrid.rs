//! Time-independent traces of `SimGrid`, as `smpirun -replay` takes them.
//!
//! The actions and their arguments are those of `src/smpi/internals/smpi_replay.cpp` \[simgrid\];
//! docs/schedules.md says what they become. A trace is a file for each rank, a file with the lines
//! of all ranks, or a list that names files of ranks.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use super::calls::{Calls, MAX_BYTES, NoSpeed, left};
use super::files::{Input, MAX_RANKS};
use super::lines::{Lines, Word, Words, any, is_number, read_lines};
use super::{Beginning, Content, Format, Options};
use crate::complaints::{Flaw, near, of_file, shown};
use flitlab_application::ANY;
use flitlab_application::generate::program::Request;
use flitlab_base::document::{Diagnostic, Diagnostics};
use flitlab_base::narrow::narrow;

pub(crate) const SIMGRID: Format = Format {
    name: "simgrid",
    what: "a time-independent trace of SimGrid",
    doc: "an action a line; a file a rank, one of all ranks, or a list of files.",
    is: |file| is_trace(file) || is_list(file),
    takes: &["flops_per_second", "algorithm"],
    read,
};

/// The actions of a replay, the frequent ones first.
const ACTIONS: [&str; 32] = [
    "compute",
    "send",
    "isend",
    "recv",
    "irecv",
    "wait",
    "waitall",
    "test",
    "allreduce",
    "bcast",
    "barrier",
    "alltoall",
    "alltoallv",
    "reduce",
    "gather",
    "gatherv",
    "allgather",
    "allgatherv",
    "scatter",
    "scatterv",
    "reducescatter",
    "scan",
    "exscan",
    "sendrecv",
    "comm_size",
    "comm_split",
    "comm_dup",
    "location",
    "sleep",
    "init",
    "finalize",
    "comm_free",
];

/// Bytes of the types by their codes, on a machine of 64 bits.
const TYPES: [u64; 60] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8, 8,
    16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, 0, 0, 1, 8,
    8,
];

const DOUBLE: u64 = 8;
const BYTE: u64 = 1;

/// `SimGrid`'s numbers for any source, no rank and any tag; -1 stands for the first and the last in
/// traces of others.
const ANY_SOURCE: i64 = -555;
const NO_RANK: i64 = -666;
const ANY_TAG: i64 = -444;

fn action(word: &str) -> Option<&'static str> {
    let exact = ACTIONS.iter().find(|action| **action == word);
    exact.or_else(|| ACTIONS.iter().find(|it| it.eq_ignore_ascii_case(word))).copied()
}

fn rank_of(word: &str) -> Option<u32> {
    let digits = word.strip_prefix('p').unwrap_or(word);
    is_number(digits).then(|| digits.parse().ok()).flatten()
}

fn is_trace(file: &Beginning) -> bool {
    any(&file.bytes, |line| {
        let mut words = line.split_ascii_whitespace();
        words.next().and_then(rank_of).is_some() && words.next().and_then(action).is_some()
    })
}

/// Whether the first line names a trace beside the file.
fn is_list(file: &Beginning) -> bool {
    let first = || beside(&file.path, &file.line).and_then(|path| Beginning::of_file(&path));
    !file.line.is_empty() && file.line.len() < 1024 && first().is_some_and(|it| is_trace(&it))
}

/// The file that a list names: from the list's folder, or its name alone in it, since `smpirun`
/// takes paths from where it is started.
fn beside(list: &Path, named: &str) -> Option<PathBuf> {
    let whole = list.with_file_name(named);
    let short = list.with_file_name(Path::new(named).file_name()?);
    [whole, short].into_iter().find(|path| path.is_file() && *path != list)
}

fn read(input: &Input<'_>, options: &Options) -> Result<Content, Diagnostics> {
    let path = input.path();
    let files = if input.beginning(path).is_some_and(|file| !is_trace(&file)) {
        let files = listed(input)?;
        if files.len() == 1 { return of_all_ranks(input, &files[0], options) } else { files }
    } else if let Some(rank) = only_rank(input, path)? {
        let files = input.ranks()?;
        if files.get(rank as usize).is_none_or(|file| file != path) {
            return of_all_ranks(input, path, options);
        }
        files
    } else {
        return of_all_ranks(input, path, options);
    };
    let mut trace = Trace::new(narrow(files.len()), options)?;
    for file in &files {
        let name = file.display().to_string();
        let rank = trace.calls.rank();
        read_lines(&name, &mut *input.open(file)?, |_, line| {
            let mut words = Words::of(line);
            let Some(first) = words.next().filter(|it| !it.text.starts_with('#')) else {
                return Ok(());
            };
            if rank_of(first.text) != Some(rank) {
                let message = format!("this is the file of rank {rank}, and the line is not");
                let help = "a list of several files, and files whose names differ in a number, have one rank each";
                return Err(first.flaw(message).help(help));
            }
            trace.line(line, words)
        })?;
        if !trace.next_rank() {
            break;
        }
    }
    trace.finish(path)
}

/// The files that a list names, the one of rank 0 first.
fn listed(input: &Input<'_>) -> Result<Vec<PathBuf>, Diagnostics> {
    let path = input.path();
    let mut files = Vec::new();
    read_lines(&path.display().to_string(), &mut *input.open(path)?, |_, line| {
        let named = line.trim();
        if named.is_empty() || named.starts_with('#') {
            return Ok(());
        }
        let whole =
            || Flaw::new(0..line.len(), format!("the file of rank {} is missing", files.len()));
        let help = "paths are taken from the folder of this list";
        files.push(beside(path, named).ok_or_else(|| whole().help(help))?);
        match files.len() > MAX_RANKS as usize {
            true => Err(Flaw::new(0..line.len(), format!("{MAX_RANKS} ranks at the most"))),
            false => Ok(()),
        }
    })?;
    Ok(files)
}

/// The rank whose actions a file has, unless those of several ranks are in it.
fn only_rank(input: &Input<'_>, path: &Path) -> Result<Option<u32>, Diagnostics> {
    let mut only = None;
    let mut content = input.open(path)?;
    let mut line = Vec::new();
    loop {
        line.clear();
        match content.read_until(b'\n', &mut line) {
            Ok(1..) => {}
            Ok(0) => return Ok(only),
            Err(error) => return Err(super::files::unreadable(path, &error)),
        }
        let text = String::from_utf8_lossy(&line[..line.len().min(64)]);
        let Some(rank) = text.split_ascii_whitespace().next().and_then(rank_of) else { continue };
        if *only.get_or_insert(rank) != rank {
            return Ok(None);
        }
    }
}

/// Reads a file that has the lines of all ranks.
fn of_all_ranks(input: &Input<'_>, path: &Path, options: &Options) -> Result<Content, Diagnostics> {
    let name = path.display().to_string();
    let content = input.content(path)?;
    // By line: its rank, its number, and where it begins.
    let mut index: Vec<(u32, u32, usize)> = Vec::new();
    let mut start = 0;
    let mut lines = Lines::new(&name);
    for (number, bytes) in (1..).zip(content.split_inclusive(|it| *it == b'\n')) {
        lines.take(number as usize, bytes, |line| {
            let Some(first) = Words::of(line).next().filter(|it| !it.text.starts_with('#')) else {
                return Ok(());
            };
            match rank_of(first.text) {
                Some(rank) if rank < MAX_RANKS => index.push((rank, number, start)),
                _ => return Err(first.flaw(format!("a line begins with a rank below {MAX_RANKS}"))),
            }
            Ok(())
        });
        start += bytes.len();
    }
    lines.finish()?;
    index.sort_by_key(|it| it.0);
    let ranks = index.last().map_or(0, |it| it.0 + 1);
    let mut trace = Trace::new(ranks, options)?;
    let mut lines = Lines::new(&name);
    for (next, of_rank) in (0..).zip(index.chunk_by(|one, other| one.0 == other.0)) {
        let rank = of_rank[0].0;
        if rank != next {
            let problem = format!("{name}: rank {next} is missing: no line is of it");
            let help = format!(
                "there are lines of rank {}: a rank that does nothing has `init`",
                ranks - 1
            );
            return Err(of_file(Diagnostic::unplaced(problem).help(help)));
        }
        for &(_, number, start) in of_rank {
            let end = content[start..].iter().position(|it| *it == b'\n');
            let bytes = &content[start..end.map_or(content.len(), |end| start + end)];
            lines.take(number as usize, bytes, |line| {
                let mut words = Words::of(line);
                words.next();
                trace.line(line, words)
            });
        }
        if !trace.next_rank() {
            break;
        }
    }
    lines.finish()?;
    trace.finish(path)
}

/// What a wait names: sender, receiver and tag.
type Waited = (u32, u32, u32);

/// The actions of all ranks, one rank after the other.
struct Trace {
    calls: Calls,
    /// Of the present rank: what was begun and not waited for, with a number by order.
    open: BTreeMap<Waited, VecDeque<(u64, Request)>>,
    begun: u64,
    /// Bytes of a type that is not given.
    default_type: u64,
    /// Of the ranks before: messages that were begun and not waited for.
    left: usize,
}

impl Trace {
    fn new(ranks: u32, options: &Options) -> Result<Self, Diagnostics> {
        let calls = Calls::new(ranks, options)?;
        Ok(Self { calls, open: BTreeMap::new(), begun: 0, default_type: BYTE, left: 0 })
    }

    fn finish(mut self, path: &Path) -> Result<Content, Diagnostics> {
        self.calls.notes.extend((self.left > 0).then(|| left(self.left)));
        self.calls.finish(path)
    }

    fn next_rank(&mut self) -> bool {
        self.left += self.open.values().map(VecDeque::len).sum::<usize>();
        self.open.clear();
        self.default_type = BYTE;
        self.calls.next_rank()
    }

    fn line(&mut self, line: &str, mut words: Words<'_>) -> Result<(), Flaw> {
        let word = words.required("the action")?;
        let Some(action) = action(word.text) else {
            let flaw = word.flaw(format!("there is no action `{}`", shown(word.text)));
            return Err(match near(word.text, ACTIONS) {
                Some(near) => flaw.label(format!("did you mean `{near}`?")),
                None => {
                    flaw.help("actions are those of SimGrid's replay, such as `send` and `compute`")
                }
            });
        };
        self.calls.count(action);
        self.action(action, word, &mut words).map_err(|flaw| match flaw.span.is_empty() {
            // What is missing is missing at the end.
            true => Flaw { span: 0..line.len(), ..flaw },
            false => flaw,
        })
    }

    fn action(
        &mut self,
        action: &'static str,
        word: Word<'_>,
        words: &mut Words<'_>,
    ) -> Result<(), Flaw> {
        match action {
            "init" => self.default_type = if words.next().is_some() { DOUBLE } else { BYTE },
            "compute" => {
                let flops = words.required("what is computed")?;
                self.compute(flops)?;
            }
            "sleep" => {
                let seconds = words.required("how long to sleep")?.amount("seconds")?;
                self.calls.program.compute(seconds * 1e9);
            }
            "send" | "isend" | "recv" | "irecv" => self.message(action, words)?,
            "sendrecv" => self.exchange(words)?,
            "wait" => self.wait(words)?,
            "waitall" => {
                let open = std::mem::take(&mut self.open);
                let mut all: Vec<(u64, Request)> = open.into_values().flatten().collect();
                all.sort_unstable_by_key(|it| it.0);
                let all: Vec<Request> = all.into_iter().map(|it| it.1).collect();
                self.calls.program.wait(&all);
            }
            "barrier" => self.calls.collective("barrier", 1, 0),
            "bcast" => {
                let count = words.required("the count")?;
                let root = self.root(words)?;
                let bytes = self.bytes(count, words)?;
                self.calls.collective("broadcast", bytes, root);
            }
            "reduce" | "allreduce" => {
                let count = words.required("the count")?;
                let flops = words.required("what is computed")?;
                let root = if action == "reduce" { self.root(words)? } else { 0 };
                let bytes = self.bytes(count, words)?;
                let name = if action == "reduce" { "reduce" } else { "all-reduce" };
                self.calls.collective(name, bytes, root);
                self.compute(flops)?;
            }
            "scan" | "exscan" => {
                let count = words.required("the count")?;
                let flops = words.required("what is computed")?;
                let bytes = self.bytes(count, words)?;
                self.calls.scan(bytes);
                self.compute(flops)?;
            }
            "alltoall" | "allgather" | "gather" | "scatter" => {
                let sent = words.required("the count that is sent")?;
                let received = words.required("the count that is received")?;
                let rooted = matches!(action, "gather" | "scatter");
                let root = if rooted { self.root(words)? } else { 0 };
                let sent = bytes_of(sent, self.type_of(words.next())?)?;
                let received = bytes_of(received, self.type_of(words.next())?)?;
                // What is received means something at receivers alone, what is sent at the others.
                let at_root = self.calls.rank() == root;
                let (name, bytes) = match action {
                    "alltoall" => ("all-to-all", sent),
                    "allgather" => ("all-gather", sent),
                    "gather" => ("gather", if at_root { received } else { sent }),
                    _ => ("scatter", if at_root { sent } else { received }),
                };
                self.calls.collective(name, bytes, root);
            }
            "alltoallv" => {
                words.required("the size of what is sent")?.count("a size")?;
                let sent = self.counts(words)?;
                words.required("the size of what is received")?.count("a size")?;
                let received = self.counts(words)?;
                let sent_type = self.type_of(words.next())?;
                let received_type = self.type_of(words.next())?;
                let sent = all_bytes(&sent, sent_type)?;
                let received = all_bytes(&received, received_type)?;
                self.calls.all_to_all_v(&sent, &received);
            }
            "gatherv" | "allgatherv" => {
                let own = words.required("the count that is sent")?;
                let counts = self.counts(words)?;
                let root = if action == "gatherv" { self.root(words)? } else { 0 };
                let (sent, received) = if action == "gatherv" {
                    (self.type_of(words.next())?, self.type_of(words.next())?)
                } else {
                    self.types_of_all_gather_v(words)?
                };
                let parts = all_bytes(&counts, received)?;
                match action {
                    "gatherv" => self.calls.gather_v(root, bytes_of(own, sent)?, &parts),
                    _ => self.calls.all_gather_v(&parts),
                }
            }
            "scatterv" => {
                let counts = self.counts(words)?;
                let own = words.required("the count that is received")?;
                let root = self.root(words)?;
                let (sent, received) = (self.type_of(words.next())?, self.type_of(words.next())?);
                let parts = all_bytes(&counts, sent)?;
                self.calls.scatter_v(root, bytes_of(own, received)?, &parts);
            }
            "reducescatter" => {
                let counts = self.counts(words)?;
                let flops = words.required("what is computed")?;
                let each = self.type_of(words.next())?;
                self.calls.reduce_scatter_v(&all_bytes(&counts, each)?);
                self.compute(flops)?;
            }
            // Communicators don't matter to the replay, which has collective operations of all
            // ranks; a test ends as long after the one that was traced as a wait would.
            "comm_size" | "comm_split" | "comm_dup" | "comm_free" | "location" | "test"
            | "finalize" => {}
            _ => return Err(word.flaw("this action is not read")),
        }
        Ok(())
    }

    /// The types behind the counts of an all-gather-v, where offsets may stand as well: without
    /// types if more than two words are left and fewer than with them.
    fn types_of_all_gather_v(&self, words: &mut Words<'_>) -> Result<(u64, u64), Flaw> {
        let left = words.clone().count();
        if left > 2 && left <= self.calls.ranks() as usize {
            return Ok((self.default_type, self.default_type));
        }
        Ok((self.type_of(words.next())?, self.type_of(words.next())?))
    }

    fn compute(&mut self, flops: Word<'_>) -> Result<(), Flaw> {
        let amount = flops.amount("what is computed")?;
        self.calls.compute(amount).map_err(|NoSpeed| {
            let flaw = flops.flaw("it is not known how fast ranks compute");
            flaw.help(
                "`flops_per_second` says how many of these operations a rank computes a second, such as 1e9: SimGrid \
                 takes the speed of a host from its platform",
            )
        })
    }

    fn message(&mut self, action: &'static str, words: &mut Words<'_>) -> Result<(), Flaw> {
        let partner = words.required("the other rank")?;
        let second = words.required("the tag")?;
        // Old traces have no tags.
        let (tag, count) = match words.next() {
            Some(count) => (Some(second), count),
            None => (None, second),
        };
        let sends = matches!(action, "send" | "isend");
        let peer = self.peer(partner, sends)?;
        let tag = match tag.map(|tag| Ok((tag, tag.whole("a tag")?))).transpose()? {
            None => 0,
            Some((_, ANY_TAG | -1)) if !sends => ANY,
            Some((word, tag)) => match u32::try_from(tag) {
                Ok(tag) if tag < ANY => tag,
                _ => return Err(word.flaw("a tag is 0 or more")),
            },
        };
        let kept = self.calls.tag(tag);
        let each = self.type_of(words.next())?;
        // A receipt may not know how much comes.
        let bytes = match sends || count.whole("a count")? >= 0 {
            true => bytes_of(count, each)?,
            false => 0,
        };
        let Some(peer) = peer else { return Ok(()) };
        let own = self.calls.rank();
        let waits = matches!(action, "send" | "recv");
        let mut begun = None;
        self.calls.point_to_point(|program| {
            let request = match sends {
                true => program.begin_send(bytes, peer, kept),
                false => program.begin_receive(bytes, peer, kept),
            };
            if waits {
                program.wait(&[request]);
            } else {
                begun = Some(request);
            }
        });
        if let Some(request) = begun {
            let waited = if sends { (own, peer, tag) } else { (peer, own, tag) };
            self.begun += 1;
            self.open.entry(waited).or_default().push_back((self.begun, request));
        }
        Ok(())
    }

    fn exchange(&mut self, words: &mut Words<'_>) -> Result<(), Flaw> {
        let sent = words.required("the count that is sent")?;
        let to = words.required("the receiver")?;
        let received = words.required("the count that is received")?;
        let from = words.required("the sender")?;
        let sent = bytes_of(sent, self.type_of(words.next())?)?;
        let received = bytes_of(received, self.type_of(words.next())?)?;
        let (to, from) = (self.peer(to, true)?, self.peer(from, false)?);
        self.calls.point_to_point(|program| {
            let receive = from.map(|from| program.begin_receive(received, from, 0));
            let send = to.map(|to| program.begin_send(sent, to, 0));
            let both: Vec<Request> = receive.into_iter().chain(send).collect();
            program.wait(&both);
        });
        Ok(())
    }

    /// Waits for the oldest message of this sender, receiver and tag; in old traces, which name
    /// none, for the latest of all.
    fn wait(&mut self, words: &mut Words<'_>) -> Result<(), Flaw> {
        let key = match words.next() {
            None => {
                let latest = self.open.iter().filter_map(|(key, all)| Some((all.back()?.0, *key)));
                let Some((_, key)) = latest.max() else { return Ok(()) };
                let all = self.open.get_mut(&key);
                if let Some((_, request)) = all.and_then(VecDeque::pop_back) {
                    self.calls.program.wait(&[request]);
                }
                key
            }
            Some(from) => {
                let to = words.required("the receiver")?;
                let tag = words.required("the tag")?;
                let (from, to) = (from.whole("the sender")?, to.whole("the receiver")?);
                let tag = tag.whole("a tag")?;
                let key = (wild(from, ANY_SOURCE), wild(to, ANY_SOURCE), wild(tag, ANY_TAG));
                // A receipt from any rank is waited for by the name of the rank that it was.
                let candidates = [key, (ANY, key.1, key.2), (key.0, key.1, ANY), (ANY, key.1, ANY)];
                let found = candidates.into_iter().find(|key| self.open.contains_key(key));
                // The replay, too, takes what is not open for what a test has ended.
                let Some(key) = found else { return Ok(()) };
                let all = self.open.get_mut(&key);
                if let Some((_, request)) = all.and_then(VecDeque::pop_front) {
                    self.calls.program.wait(&[request]);
                }
                key
            }
        };
        if self.open.get(&key).is_some_and(VecDeque::is_empty) {
            self.open.remove(&key);
        }
        Ok(())
    }

    /// The other rank of a message; `None` if it is no rank.
    fn peer(&self, word: Word<'_>, sends: bool) -> Result<Option<u32>, Flaw> {
        match word.whole("a rank")? {
            NO_RANK => Ok(None),
            ANY_SOURCE | -1 if !sends => Ok(Some(ANY)),
            rank => self.known(word, rank).map(Some),
        }
    }

    fn known(&self, word: Word<'_>, rank: i64) -> Result<u32, Flaw> {
        let ranks = self.calls.ranks();
        let known = u32::try_from(rank).ok().filter(|rank| *rank < ranks);
        known.ok_or_else(|| {
            let flaw = word.flaw(format!("no line of the trace is of rank {rank}"));
            flaw.help(format!("the trace has {ranks}: 0 to {}", ranks - 1))
        })
    }

    fn root(&self, words: &mut Words<'_>) -> Result<u32, Flaw> {
        match words.next() {
            None => Ok(0),
            Some(word) => self.known(word, word.whole("a root")?),
        }
    }

    /// A count for each rank.
    fn counts<'w>(&self, words: &mut Words<'w>) -> Result<Vec<Word<'w>>, Flaw> {
        let what = |rank| format!("the count of rank {rank}");
        (0..self.calls.ranks()).map(|rank| words.required(&what(rank))).collect()
    }

    /// Bytes of a count whose type stands next.
    fn bytes(&self, count: Word<'_>, words: &mut Words<'_>) -> Result<u64, Flaw> {
        bytes_of(count, self.type_of(words.next())?)
    }

    fn type_of(&self, word: Option<Word<'_>>) -> Result<u64, Flaw> {
        let Some(word) = word else { return Ok(self.default_type) };
        let code = word.whole("the code of a type")?;
        if code == -1 {
            return Ok(0);
        }
        let size = usize::try_from(code).ok().and_then(|code| TYPES.get(code));
        size.copied().ok_or_else(|| {
            let flaw = word.flaw(format!("there is no type of code {code}"));
            flaw.help(format!("SimGrid's codes are 0 to {}", TYPES.len() - 1))
        })
    }
}

fn wild(number: i64, any: i64) -> u32 {
    match number == any || number == -1 {
        true => ANY,
        false => u32::try_from(number).unwrap_or(ANY),
    }
}

fn bytes_of(count: Word<'_>, each: u64) -> Result<u64, Flaw> {
    let bytes = count.count("a count")?.checked_mul(each).filter(|bytes| *bytes <= MAX_BYTES);
    bytes.ok_or_else(|| count.flaw("a message has a tebibyte at the most"))
}

fn all_bytes(counts: &[Word<'_>], each: u64) -> Result<Vec<u64>, Flaw> {
    counts.iter().map(|count| bytes_of(*count, each)).collect()
}
