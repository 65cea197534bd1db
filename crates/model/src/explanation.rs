//! Use of an application's time: the records of the critical path, and of each rank's waiting.

use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;

/// A use of time.
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
    /// Waiting for the network: in the adapter while the first router has no room, and the time of
    /// a message's last packet beyond that in an empty network.
    Injection,
    /// Waiting for the network: in the adapter while the first router has no room, and what a
    /// message's last packet took beyond the time in an empty network.
    Queueing,
    /// Crossing the empty network, or a node's memory.
    Flight,
}

impl Spent {
    /// All kinds, in the order of [`Times`].
    pub const ALL: [Self; 6] =
        [Self::Compute, Self::Host, Self::Partner, Self::Injection, Self::Queueing, Self::Flight];

    /// The name for people; files have one word.
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

/// Times by their use, in the order of [`Spent::ALL`].
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
    /// Number of the operation; for a message, that of its sender.
    pub operation: u32,
    /// Number of the message's leg in the records of the run; `None` if the stretch is no
    /// message's.
    pub leg: Option<u32>,
    /// The rank on which the path goes on: where the leg ends, or `rank` itself if the path stays
    /// with the sender.
    pub to_rank: u32,
}

/// Use of the time of the ranks and of the critical path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The critical path, from the start to the end of the run.
    pub path: Vec<Stretch>,
    /// Times of each rank, from the start to the end of its last operation.
    pub ranks: Vec<Times>,
    /// Times of groups of ranks in stretches of time.
    pub activity: Vec<Activity>,
    /// Times of each phase that took any; what belongs to no phase comes first.
    pub phases: Vec<PhaseTimes>,
    /// Times of groups of ranks by phase, as far as they are kept: those that took any, by rank.
    pub rank_phases: Vec<RankPhase>,
    /// What each rank did and waited for, one after the other: rank by rank, in the order of time.
    /// The bars of a rank lie end to end. Empty if there are too many ranks to keep it.
    pub bars: Vec<Bar>,
}

/// Times that some ranks took in a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankPhase {
    /// First rank of the group.
    pub first_rank: u32,
    /// Last rank of the group, which belongs to it.
    pub last_rank: u32,
    /// The phase's name; empty if the operations belong to none.
    pub phase: String,
    /// Times of all these ranks together.
    pub times: Times,
}

/// A stretch of a rank's time: one thing that it did or waited for, or several short ones in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// The rank.
    pub rank: u32,
    /// Time at which it begins.
    pub start: Picoseconds,
    /// Time at which it ends.
    pub end: Picoseconds,
    /// Number of the operation that was done, or waited for: of several the one that took longest.
    pub operation: u32,
    /// The number of things in it.
    pub pieces: u32,
    /// How the time was spent.
    pub times: Times,
}

impl Bar {
    /// What most of the time was spent on; the first of equal ones.
    pub fn mostly(&self) -> Spent {
        let most = |&spent: &Spent| self.times[spent as usize];
        Spent::ALL.into_iter().rev().max_by_key(most).unwrap_or_default()
    }
}

/// Times of the operations of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseTimes {
    /// The phase's name; empty if the operations belong to none.
    pub name: String,
    /// Times on the critical path.
    pub path: Times,
    /// Times of all ranks together: what they did in it, and waited for its operations.
    pub ranks: Times,
}

/// Times of some ranks in a stretch of time.
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
    /// Times of all these ranks together. Their sum is less than the stretch times the ranks if
    /// some had ended.
    pub times: Times,
}

impl Explanation {
    /// Times of the critical path.
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
