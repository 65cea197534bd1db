//! Calls of MPI with the times at which they were made, as tracers of programs record them.
//!
//! What passes between two calls is computed; how long a call took is what the simulation is to
//! find out, and is left out. Calls that neither send nor wait are part of what is computed.

use std::collections::BTreeMap;
use std::path::Path;

use super::calls::{Calls, MAX_BYTES, left};
use super::{Content, Options};
use flitlab_application::ANY;
use flitlab_application::generate::program::{Program, Request};
use flitlab_base::document::Diagnostics;

/// Calls that concern their own rank alone, or what no schedule has, such as the making of a
/// communicator; by what their names begin with behind `MPI_`. Tests and probes are among them:
/// whether one finds something depends on the times of the traced run.
const LOCAL: [&str; 45] = [
    "Abort",
    "Address",
    "Alloc_mem",
    "Attr_",
    "Buffer_",
    "Cancel",
    "Cart",
    "Comm_",
    "Dims_",
    "Errhandler_",
    "Error_",
    "Finalized",
    "Free_mem",
    "Get_",
    "Graph",
    "Grequest_",
    "Group_",
    "Improbe",
    "Info_",
    "Init",
    "Intercomm_",
    "Iprobe",
    "Is_thread",
    "Keyval_",
    "Mprobe",
    "Op_",
    "Pack",
    "Pcontrol",
    "Probe",
    "Query_",
    "Request_free",
    "Request_get",
    "Session_",
    "Status_",
    "T_",
    "Test",
    "Topo_",
    "Type_",
    "Unpack",
    "Wtick",
    "Wtime",
    "Aint_",
    "Register_",
    "Publish_",
    "Lookup_",
];

/// Whether a call neither sends nor waits; `name` is without `MPI_`.
pub(super) fn is_local(name: &str) -> bool {
    name != "Get_accumulate" && LOCAL.iter().any(|local| name.starts_with(local))
}

/// Whether a call is the one with which a program's part in MPI begins.
pub(super) fn begins(name: &str) -> bool {
    matches!(name, "Init" | "Init_thread")
}

/// A message or its receipt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub sends: bool,
    pub bytes: u64,
    /// The other rank; [`ANY`] as a sender.
    pub peer: u32,
    pub tag: u32,
}

impl Message {
    fn begin(self, program: &mut Program) -> Request {
        match self.sends {
            true => program.begin_send(self.bytes, self.peer, self.tag),
            false => program.begin_receive(self.bytes, self.peer, self.tag),
        }
    }
}

/// The calls of all ranks, one rank after the other.
pub(super) struct Mpi {
    pub calls: Calls,
    /// Of the present rank, by the number of the request: what was begun and not waited for.
    open: BTreeMap<u64, Request>,
    /// What requests begin each time that they are started.
    persistent: BTreeMap<u64, Option<Message>>,
    /// When the latest call that is simulated ended, in nanoseconds.
    end: Option<i128>,
    /// Calls that began before the one before them had ended, or ended before they began.
    backward: usize,
    /// Of the ranks before: requests that were begun and not waited for.
    left: usize,
    /// Whether the present rank's last call came, and how many ranks had none.
    is_final: bool,
    not_final: usize,
}

impl Mpi {
    pub(super) fn new(ranks: u32, options: &Options) -> Result<Self, Diagnostics> {
        let calls = Calls::new(ranks, options)?;
        Ok(Self {
            calls,
            open: BTreeMap::new(),
            persistent: BTreeMap::new(),
            end: None,
            backward: 0,
            left: 0,
            is_final: false,
            not_final: 0,
        })
    }

    pub(super) fn next_rank(&mut self) -> bool {
        self.left += self.open.len();
        self.not_final += usize::from(!std::mem::take(&mut self.is_final));
        self.open.clear();
        self.persistent.clear();
        self.end = None;
        self.calls.next_rank()
    }

    pub(super) fn finish(mut self, path: &Path) -> Result<Content, Diagnostics> {
        let Self { not_final, backward, .. } = self;
        let notes = [
            (not_final > 0).then(|| {
                format!("files without MPI_Finalize: {not_final}; were they or the program cut off?")
            }),
            (backward > 0).then(|| {
                format!(
                    "calls with a time before that of the call before: {backward}; nothing is computed between the two"
                )
            }),
            (self.left > 0).then(|| left(self.left)),
        ];
        self.calls.notes.extend(notes.into_iter().flatten());
        self.calls.finish(path)
    }

    /// The last call of a rank.
    pub(super) const fn finalize(&mut self) {
        self.is_final = true;
    }

    /// Computes up to a call that began and ended at these nanoseconds.
    pub(super) fn call(&mut self, begin: Option<i128>, end: Option<i128>) {
        let goes_back = |from: Option<i128>, to| from.zip(to).is_some_and(|(from, to)| to < from);
        self.backward += usize::from(goes_back(self.end, begin) || goes_back(begin, end));
        if let (Some(before), Some(begin)) = (self.end, begin) {
            self.calls.program.compute((begin - before) as f64);
        }
        self.end = end.or(begin).or(self.end);
    }

    /// Sends or receives, and waits.
    pub(super) fn blocking(&mut self, messages: &[Option<Message>]) {
        self.calls.point_to_point(|program| {
            let begun = messages.iter().flatten().map(|it| it.begin(program));
            let begun: Vec<Request> = begun.collect();
            program.wait(&begun);
        });
    }

    /// Begins to send or receive; `request` is waited for later.
    pub(super) fn begin(&mut self, message: Option<Message>, request: u64) {
        // The number of a request that a test has ended is used again.
        self.open.remove(&request);
        if let Some(message) = message {
            let open = &mut self.open;
            self.calls.point_to_point(|program| {
                open.insert(request, message.begin(program));
            });
        }
    }

    /// Begins a collective operation.
    pub(super) fn begin_collective(&mut self, name: &str, bytes: u64, root: u32, request: u64) {
        let begun = self.calls.begin_collective(name, bytes, root);
        self.open.insert(request, begun);
    }

    /// Notes what a request begins when it is started.
    pub(super) fn prepare(&mut self, message: Option<Message>, request: u64) {
        self.persistent.insert(request, message);
    }

    /// Starts a request that was prepared. False if it was not.
    pub(super) fn start(&mut self, request: u64) -> bool {
        let Some(message) = self.persistent.get(&request).copied() else { return false };
        self.begin(message, request);
        true
    }

    /// The open or prepared requests of these numbers.
    pub(super) fn open_in(&self, numbers: std::ops::Range<u64>) -> Vec<u64> {
        self.open.range(numbers).map(|it| *it.0).collect()
    }

    /// Whether a request was begun and not waited for.
    pub(super) fn is_open(&self, request: u64) -> bool {
        self.open.contains_key(&request)
    }

    /// How many requests are open.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    pub(super) fn prepared_in(&self, numbers: std::ops::Range<u64>) -> Vec<u64> {
        self.persistent.range(numbers).map(|it| *it.0).collect()
    }

    /// Waits for requests; those that are not open have ended.
    pub(super) fn wait(&mut self, requests: &[u64]) {
        let open = requests.iter().filter_map(|request| self.open.remove(request));
        let open: Vec<Request> = open.collect();
        self.calls.program.wait(&open);
    }

    /// The other rank that a number stands for: -1 is any sender, another negative number none.
    ///
    /// # Errors
    /// If there is no such rank, in words.
    pub(super) fn peer(&self, number: i64, sends: bool) -> Result<Option<u32>, String> {
        match u32::try_from(number) {
            Ok(rank) if rank < self.calls.ranks() => Ok(Some(self.calls.world.rank(rank))),
            Err(_) if number == -1 && !sends => Ok(Some(ANY)),
            Err(_) => Ok(None),
            Ok(rank) => Err(no_file(rank, self.calls.ranks())),
        }
    }

    /// The rank that is the root of a collective operation.
    ///
    /// # Errors
    /// If there is no such rank, in words.
    pub(super) fn root(&self, number: i64) -> Result<u32, String> {
        match u32::try_from(number) {
            Ok(rank) if rank < self.calls.ranks() => Ok(rank),
            Ok(rank) => Err(no_file(rank, self.calls.ranks())),
            Err(_) => Err(format!("there is no rank {number} that could be the root")),
        }
    }

    /// The tag that a number stands for: a negative one is any, of a receipt.
    ///
    /// # Errors
    /// If it is none, in words.
    pub(super) fn tag(&mut self, number: i64, sends: bool) -> Result<u32, String> {
        match u32::try_from(number) {
            Ok(tag) if tag < ANY => Ok(self.calls.tag(tag)),
            Err(_) if !sends => Ok(ANY),
            _ => Err("a tag is 0 or more".into()),
        }
    }
}

/// Says that a rank is named of which there is no file, beside so many.
pub(super) fn no_file(rank: u32, ranks: u32) -> String {
    match ranks {
        1 => format!("no file is of rank {rank}: there is a file of rank 0 alone"),
        _ => format!("no file is of rank {rank}: there are those of ranks 0 to {}", ranks - 1),
    }
}

/// The most digits of a time in nanoseconds.
const MOST_DIGITS: usize = 23;

/// The time that is written as a decimal number of units, of which a nanosecond is the last of so
/// many digits behind the point; `None` if it is none, or beyond any use. A number of seconds since
/// 1970 has more digits than a floating point number keeps.
pub(super) fn nanoseconds(text: &str, digits: usize) -> Option<i128> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        None => (text, 0),
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_number = |part: &str| part.bytes().all(|it| it.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    // How many of all digits are before the point of nanoseconds.
    let places = i64::try_from(whole.len() + digits).ok()? + i64::from(exponent);
    let all = whole.bytes().chain(fraction.bytes());
    let leading = all.clone().take_while(|digit| *digit == b'0').count();
    let kept = usize::try_from(places).unwrap_or(0);
    if kept > leading + MOST_DIGITS && leading < whole.len() + fraction.len() {
        return None;
    }
    // With zeros in place of missing ones.
    let kept = all.chain(std::iter::repeat(b'0')).skip(leading).take(kept.saturating_sub(leading));
    Some(kept.take(MOST_DIGITS).fold(0, |time, digit| time * 10 + i128::from(digit - b'0')))
}

/// Bytes of so many elements of a size.
///
/// # Errors
/// If they are none or too many, in words.
pub(super) fn bytes(count: i64, size: i64) -> Result<u64, String> {
    let bytes = u64::try_from(count).ok().zip(u64::try_from(size).ok());
    let bytes = bytes.and_then(|(count, size)| count.checked_mul(size));
    let bytes = bytes.filter(|bytes| *bytes <= MAX_BYTES);
    bytes.ok_or_else(|| format!("{count} elements of {size} B are none, or more than a tebibyte"))
}
