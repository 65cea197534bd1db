//! Why an application does not come to its end.
//!
//! Each operation that can't go on waits for one other operation: a receipt for a message that was
//! not sent yet, a large message for a receipt that was not begun, an operation that was not begun
//! for one of its rank. Followed on from one to the next, that leads to a **cause**: an operation
//! that waits for what can't come, or a cycle.

use super::schedule::{ANY, Action, Operation, Schedule, Until};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;

/// Operations that can't go on: nothing is left that could free them.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} receipts without a message, {} messages without a receipt, {} operations never begun",
    receipts.len(),
    messages.len(),
    self.not_begun()
)]
pub struct Stuck {
    /// When the last thing happened.
    pub time: Picoseconds,
    /// Receipts that were begun and got no message.
    pub receipts: Vec<u32>,
    /// Messages that were sent and never received.
    pub messages: Vec<u32>,
    /// Of [`messages`](Self::messages) the large ones, whose sending ends when they are received.
    pub unsent: Vec<u32>,
    /// By operation: on how many others it still waits before it may begin.
    pub waits: Box<[u32]>,
    /// By operation: of a message the receipt that took it. [`ANY`] of all else, and where it is
    /// not known.
    pub taken_by: Box<[u32]>,
}

/// The most causes, and the most operations of each other list, that are told.
const MOST: usize = 8;

/// The most operations whose cause is looked for: each takes a search among its rank's messages.
const MAX_FOLLOWED: usize = 4096;

impl Stuck {
    /// Nothing has happened.
    pub fn new(schedule: &Schedule) -> Self {
        let all = narrow::<u32>(schedule.operations().len());
        Self {
            waits: (0..all).map(|number| schedule.waits(number)).collect(),
            taken_by: vec![ANY; all as usize].into(),
            ..Self::default()
        }
    }

    /// How many operations were never begun.
    pub fn not_begun(&self) -> u64 {
        self.waits.iter().filter(|&&waits| waits > 0).count() as u64
    }

    /// The causes, a line each, then what waits for them; the first few of each.
    pub fn describe(&self, schedule: &Schedule) -> String {
        let search = Search::new(self, schedule);
        let waiting: Vec<u32> = self.receipts.iter().chain(&self.messages).copied().collect();
        let mut causes: Vec<Cause> = Vec::new();
        let mut found = vec![false; self.waits.len()];
        let mut others = Vec::new();
        for &number in waiting.iter().take(MAX_FOLLOWED) {
            if let Some(cause) = search.cause(number, &mut found) {
                causes.push(cause);
            }
        }
        for &number in &waiting {
            if !causes.iter().any(|cause| cause.has(number)) {
                others.push(number);
            }
        }
        let mut lines = Vec::new();
        for cause in causes.iter().take(MOST) {
            search.tell(cause, &mut lines);
        }
        if causes.len() > MOST {
            lines.push(format!("... and {} more like these", causes.len() - MOST));
        }
        for &number in others.iter().take(MOST) {
            lines.push(format!(
                "{} {}",
                schedule.describe(number),
                search.why(number).text(schedule)
            ));
        }
        if others.len() > MOST {
            lines.push(format!("... and {} more that wait for these", others.len() - MOST));
        }
        match self.not_begun() {
            0 => {}
            1 => lines.push("1 operation that waits for these was never begun".into()),
            all => lines.push(format!("{all} operations that wait for these were never begun")),
        }
        lines.join("\n")
    }
}

/// Where waiting comes to an end.
enum Cause {
    /// An operation waits for what can't come.
    Operation(u32),
    /// Each of these waits for the next one, and the last for the first.
    Cycle(Vec<u32>),
}

impl Cause {
    fn has(&self, number: u32) -> bool {
        match self {
            Self::Operation(own) => *own == number,
            Self::Cycle(cycle) => cycle.contains(&number),
        }
    }
}

/// Why an operation can't go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// Another operation comes first, and has not.
    Waits(u32),
    /// A receipt's message was sent, and this other receipt took it; [`ANY`] if it is not known
    /// which.
    Taken { message: u32, by: u32 },
    /// The receipt that fits a message took this other one; [`ANY`] if it is not known which.
    Took { receipt: u32, other: u32 },
    /// There is no match; this operation of the same two ranks, or with the same tag, is the
    /// nearest.
    Unlike(u32),
    /// There is nothing of the kind.
    Nothing { is_receipt: bool },
}

impl Why {
    /// How a line goes on that begins with the operation.
    fn text(self, schedule: &Schedule) -> String {
        let describe = |number| schedule.describe(number);
        let is_receipt = |number| schedule.operation(number).action == Action::Receive;
        match self {
            Self::Waits(other) => match schedule.operation(other).action {
                Action::Send => format!("waits for {}, which was never begun", describe(other)),
                _ => format!("was never received: {} was never begun", describe(other)),
            },
            Self::Taken { message, by: ANY } => {
                format!("waits for {}, which another receive took", describe(message))
            }
            Self::Taken { message, by } => {
                format!("waits for {}, which {} took", describe(message), describe(by))
            }
            Self::Took { receipt, other: ANY } => {
                format!("was never received: {} took another message", describe(receipt))
            }
            Self::Took { receipt, other } => {
                format!("was never received: {} took {}", describe(receipt), describe(other))
            }
            Self::Unlike(other) if is_receipt(other) => {
                format!("was never received: {} is for another", describe(other))
            }
            Self::Unlike(other) => {
                format!("waits for a message that nobody sends; {} is another", describe(other))
            }
            Self::Nothing { is_receipt: true } => "waits for a message that nobody sends".into(),
            Self::Nothing { is_receipt: false } => {
                "was never received: there is no receive for it".into()
            }
        }
    }
}

/// How far operations have come, and who could meet whom.
struct Search<'s> {
    stuck: &'s Stuck,
    schedule: &'s Schedule,
    /// Receipts that wait, and messages that were not received, ascending.
    receipts: Vec<u32>,
    messages: Vec<u32>,
    /// By message that was taken, and by receipt that took one: the other.
    took: Vec<u32>,
    /// By operation that was not begun: one of those that it waits for.
    before: Vec<u32>,
    /// All messages by receiver, sender and tag, and all receipts by rank.
    sent: Vec<(u32, u32, u32, u32)>,
}

/// Whether a receipt of this peer and tag takes a message of that sender and tag.
fn fits(receipt: &Operation, sender: u32, tag: u32) -> bool {
    (receipt.peer == ANY || receipt.peer == sender)
        && (receipt.tag == ANY || tag == ANY || receipt.tag == tag)
}

impl<'s> Search<'s> {
    fn new(stuck: &'s Stuck, schedule: &'s Schedule) -> Self {
        let sorted = |numbers: &[u32]| {
            let mut numbers = numbers.to_vec();
            numbers.sort_unstable();
            numbers
        };
        let all = schedule.operations().len();
        let unsent = sorted(&stuck.unsent);
        let mut search = Self {
            stuck,
            schedule,
            receipts: sorted(&stuck.receipts),
            messages: sorted(&stuck.messages),
            took: vec![ANY; all],
            before: vec![ANY; all],
            sent: Vec::new(),
        };
        for (number, operation) in (0..narrow(all)).zip(schedule.operations()) {
            let is_begun = search.is_begun(number);
            let is_done =
                is_begun && !search.waits(number) && unsent.binary_search(&number).is_err();
            for (dependant, until) in schedule.dependants(number) {
                let is_over = if until == Until::Done { is_done } else { is_begun };
                let before = &mut search.before[dependant as usize];
                if !is_over && *before == ANY {
                    *before = number;
                }
            }
            if operation.action == Action::Send {
                let sender = schedule.rank_of(number);
                search.sent.push((operation.peer, sender, operation.tag, number));
                let taker = stuck.taken_by[number as usize];
                if taker != ANY {
                    search.took[taker as usize] = number;
                }
            }
        }
        search.sent.sort_unstable();
        search
    }

    fn is_begun(&self, number: u32) -> bool {
        self.stuck.waits[number as usize] == 0
    }

    /// Whether it is a receipt that was begun and waits.
    fn waits(&self, number: u32) -> bool {
        self.receipts.binary_search(&number).is_ok()
    }

    /// Whether it is a message that was sent and not received.
    fn is_left(&self, number: u32) -> bool {
        self.messages.binary_search(&number).is_ok()
    }

    /// The messages to a rank; of one sender if that is given.
    fn sent_to(&self, rank: u32, sender: u32) -> impl Iterator<Item = u32> {
        let bounds = if sender == ANY { (0, u32::MAX) } else { (sender, sender) };
        let first = self.sent.partition_point(|it| (it.0, it.1) < (rank, bounds.0));
        let end = self.sent.partition_point(|it| (it.0, it.1) <= (rank, bounds.1));
        self.sent[first..end].iter().map(|it| it.3)
    }

    /// Why an operation can't go on: a receipt that waits, a message that was not received, or what
    /// was not begun.
    fn why(&self, number: u32) -> Why {
        let schedule = self.schedule;
        let operation = schedule.operation(number);
        if !self.is_begun(number) {
            return match self.before[number as usize] {
                ANY => Why::Nothing { is_receipt: true },
                before => Why::Waits(before),
            };
        }
        let rank = schedule.rank_of(number);
        if operation.action == Action::Receive {
            let fitting: Vec<u32> = self
                .sent_to(rank, operation.peer)
                .filter(|&it| fits(operation, schedule.rank_of(it), schedule.operation(it).tag))
                .collect();
            if let Some(later) = fitting.iter().copied().filter(|&it| !self.is_begun(it)).min() {
                return Why::Waits(later);
            }
            // Rather one that a receipt of another kind took: a wildcard is what surprises.
            let taker = |message: u32| self.stuck.taken_by[message as usize];
            let is_other = |&message: &u32| {
                let by = taker(message);
                by != ANY && {
                    let by = schedule.operation(by);
                    (by.peer, by.tag) != (operation.peer, operation.tag)
                }
            };
            let other = fitting.iter().copied().filter(is_other).max();
            if let Some(message) = other.or_else(|| fitting.into_iter().max()) {
                return Why::Taken { message, by: taker(message) };
            }
            let near = self.sent_to(rank, ANY).filter(|&it| self.is_left(it)).min_by_key(|&it| {
                (schedule.rank_of(it) != operation.peer, schedule.operation(it).tag, it)
            });
            return near.map_or(Why::Nothing { is_receipt: true }, Why::Unlike);
        }
        let of_receiver = schedule.of_rank(operation.peer);
        let receipts = of_receiver.filter(|&it| schedule.operation(it).action == Action::Receive);
        let (mut took, mut near) = (None, None);
        for receipt in receipts {
            if !fits(schedule.operation(receipt), rank, operation.tag) {
                if self.waits(receipt) {
                    let is_far = schedule.operation(receipt).peer != rank;
                    near = [near, Some((is_far, receipt))].into_iter().flatten().min();
                }
            } else if !self.is_begun(receipt) {
                return Why::Waits(receipt);
            } else {
                took = Some(receipt);
            }
        }
        match (took, near) {
            (Some(receipt), _) => Why::Took { receipt, other: self.took[receipt as usize] },
            (None, Some((_, receipt))) => Why::Unlike(receipt),
            (None, None) => Why::Nothing { is_receipt: false },
        }
    }

    /// The cause that an operation's waiting leads to; `None` if one that was `found` before waits
    /// for the same.
    fn cause(&self, number: u32, found: &mut [bool]) -> Option<Cause> {
        let mut way = vec![];
        let mut on_way = std::collections::HashSet::new();
        let mut at = number;
        loop {
            if on_way.contains(&at) {
                let first = way.iter().position(|&it| it == at)?;
                return Some(Cause::Cycle(way.split_off(first)));
            }
            if std::mem::replace(&mut found[at as usize], true) {
                return None;
            }
            on_way.insert(at);
            way.push(at);
            match self.why(at) {
                Why::Waits(next) => at = next,
                _ => return Some(Cause::Operation(at)),
            }
        }
    }

    /// Lines that tell a cause.
    fn tell(&self, cause: &Cause, lines: &mut Vec<String>) {
        let schedule = self.schedule;
        match cause {
            &Cause::Operation(number) => {
                let why = self.why(number).text(schedule);
                lines.push(format!("{} {why}", schedule.describe(number)));
            }
            Cause::Cycle(cycle) => {
                let ring = "each of these waits for the next one, and the last for the first:";
                lines.push(ring.into());
                // From the least one on, so that it does not matter where it was come upon.
                let first = (0..cycle.len()).min_by_key(|&place| cycle[place]).unwrap_or(0);
                let in_order = cycle.iter().cycle().skip(first).take(cycle.len());
                for &number in in_order.take(2 * MOST) {
                    let state = match schedule.operation(number).action {
                        _ if !self.is_begun(number) => "was never begun",
                        Action::Receive => "got no message",
                        _ => "was never received",
                    };
                    lines.push(format!("  {} {state}", schedule.describe(number)));
                }
                if cycle.len() > 2 * MOST {
                    lines.push(format!("  ... and {} more of this cycle", cycle.len() - 2 * MOST));
                }
            }
        }
    }
}
