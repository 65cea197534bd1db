//! The totals of a schedule: operations, messages by size, and how evenly ranks share them.

use serde::Serialize;

use super::{Action, Schedule};

/// The largest messages of each class but the last, in bytes.
const CLASSES: [u64; 5] = [64, 1 << 10, 16 << 10, 256 << 10, 4 << 20];

/// Of a schedule, counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tally {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of operations.
    pub operations: u64,
    /// Number of pairs of operations of which one waits for the other.
    pub dependencies: u64,
    /// Operations that send a message.
    pub sends: u64,
    /// Operations that receive a message.
    pub receives: u64,
    /// Operations that compute.
    pub computations: u64,
    /// Operations upon the memory of other ranks.
    pub one_sided: u64,
    /// Bytes that these put, get or change.
    pub one_sided_bytes: u64,
    /// Bytes of all messages.
    pub bytes: u64,
    /// The classes of sizes that have messages, from small to large.
    pub sizes: Vec<SizeClass>,
    /// Messages that a rank sends.
    pub messages_sent: Share,
    /// Bytes that a rank sends.
    pub bytes_sent: Share,
    /// Nanoseconds that a rank computes.
    pub compute_ns: Share,
}

/// Messages of a class of sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// The class before ends below this many bytes.
    pub from_bytes: u64,
    /// None has more bytes; without a limit in the last class.
    pub to_bytes: Option<u64>,
    /// Messages of the class.
    pub messages: u64,
    /// Bytes of these messages.
    pub bytes: u64,
}

/// How a sum is shared by ranks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The smallest share of a rank.
    pub least: u64,
    /// The mean over all ranks.
    pub mean: f64,
    /// The largest share of a rank.
    pub most: u64,
}

impl Tally {
    /// Counts a schedule. Sums beyond 2^64 stay there.
    pub fn new(schedule: &Schedule) -> Self {
        let ranks = schedule.ranks();
        let mut classes = [(0u64, 0u64); CLASSES.len() + 1];
        let (mut receives, mut computations, mut dependencies) = (0, 0, 0);
        let (mut one_sided, mut one_sided_bytes) = (0, 0u64);
        let mut shares = [Vec::new(), Vec::new(), Vec::new()];
        for rank in 0..ranks {
            let mut own = [0u64; 3];
            for number in schedule.of_rank(rank) {
                let operation = schedule.operation(number);
                dependencies += u64::from(schedule.waits(number));
                match operation.action {
                    Action::Send => {
                        let class = CLASSES.partition_point(|&limit| limit < operation.amount);
                        classes[class].0 += 1;
                        classes[class].1 = classes[class].1.saturating_add(operation.amount);
                        own[0] += 1;
                        own[1] = own[1].saturating_add(operation.amount);
                    }
                    Action::Receive => receives += 1,
                    Action::Compute => {
                        computations += 1;
                        own[2] = own[2].saturating_add(operation.amount);
                    }
                    Action::Remote(_) => {
                        one_sided += 1;
                        one_sided_bytes = one_sided_bytes.saturating_add(operation.amount);
                    }
                }
            }
            for (shares, own) in shares.iter_mut().zip(own) {
                shares.push(own);
            }
        }
        let limits = |class: usize| {
            let from_bytes = class.checked_sub(1).map_or(0, |before| CLASSES[before] + 1);
            (from_bytes, CLASSES.get(class).copied())
        };
        let sizes = classes.iter().enumerate().filter(|(_, found)| found.0 > 0);
        let sizes = sizes.map(|(class, &(messages, bytes))| {
            let (from_bytes, to_bytes) = limits(class);
            SizeClass { from_bytes, to_bytes, messages, bytes }
        });
        let [messages_sent, bytes_sent, compute_ns] = shares.map(|own| Share::of(&own));
        Self {
            ranks,
            operations: schedule.operations().len() as u64,
            dependencies,
            sends: classes.iter().map(|class| class.0).sum(),
            receives,
            computations,
            one_sided,
            one_sided_bytes,
            bytes: classes.iter().fold(0, |sum, class| sum.saturating_add(class.1)),
            sizes: sizes.collect(),
            messages_sent,
            bytes_sent,
            compute_ns,
        }
    }
}

impl Share {
    fn of(values: &[u64]) -> Self {
        let sum: f64 = values.iter().map(|&value| value as f64).sum();
        Self {
            least: values.iter().min().copied().unwrap_or(0),
            mean: sum / values.len().max(1) as f64,
            most: values.iter().max().copied().unwrap_or(0),
        }
    }
}
