//! Where an application's time went: the records of the critical path and of what each rank waited for.

use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;

/// What time goes into.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Spent {
    /// Computing.
    #[default]
    Compute,
    /// Hosts' overheads: sending, taking, copying messages.
    Host,
    /// Waiting for a partner that has not sent yet, or not begun its receipt.
    Partner,
    /// Waiting in the sender's adapter while earlier packets are sent.
    Injection,
    /// Waiting for the network: in the adapter while the first router has no room, and what a message's last packet took
    /// beyond the time in an empty network.
    Queueing,
    /// Crossing the empty network, or a node's memory.
    Flight,
}

impl Spent {
    /// All kinds, in the order of [`Times`].
    pub const ALL: [Self; 6] =
        [Self::Compute, Self::Host, Self::Partner, Self::Injection, Self::Queueing, Self::Flight];

    /// For people; in files it has one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Host => "host overhead",
            Self::Partner => "waiting for a partner",
            Self::Injection => "injection",
            Self::Queueing => "queueing",
            Self::Flight => "flight",
        }
    }
}

/// Times in picoseconds, by what they went into.
pub type Times = [Picoseconds; Spent::ALL.len()];

/// A stretch of the critical path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Time at which it begins.
    pub start: Picoseconds,
    /// Time at which it ends.
    pub end: Picoseconds,
    /// The kind of activity or waiting that filled it.
    pub spent: Spent,
    /// The rank that is busy, or whose message is under way.
    pub rank: u32,
    /// The operation; of a message that of its sender.
    pub operation: u32,
    /// The place of the message's way in [`Records::legs`], if it is one.
    pub leg: Option<u32>,
}

/// What the time of ranks and of the critical path went into.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// From the start to the end.
    pub path: Vec<Stretch>,
    /// By rank, from the start to the end of its last operation.
    pub ranks: Vec<Times>,
    /// Of groups of ranks in stretches of time.
    pub activity: Vec<Activity>,
}

/// What some ranks did in a stretch of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    /// First rank of the group.
    pub first_rank: u32,
    /// Last rank of the group, which belongs to it.
    pub last_rank: u32,
    /// Time at which the stretch begins.
    pub start: Picoseconds,
    /// Time at which the stretch ends.
    pub end: Picoseconds,
    /// Times of all these ranks; together less than the stretch where some had ended.
    pub times: Times,
}

impl Explanation {
    /// What the critical path went into.
    pub fn path_times(&self) -> Times {
        let mut times = Times::default();
        for stretch in &self.path {
            times[stretch.spent as usize] += stretch.end - stretch.start;
        }
        times
    }

    /// The means of all ranks.
    pub fn rank_times(&self) -> Times {
        let mut means = Times::default();
        for (kind, mean) in means.iter_mut().enumerate() {
            let sum: u128 = self.ranks.iter().map(|times| u128::from(times[kind])).sum();
            *mean = Picoseconds::from_wide(sum / self.ranks.len().max(1) as u128);
        }
        means
    }
}
