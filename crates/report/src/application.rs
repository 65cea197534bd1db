//! Where an application's time went, as rows: `ranks.csv`, `activity.csv`, `timeline.csv`,
//! `path.csv`, `phases.csv` and `rank_phases.csv`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::FlowRow;
use super::table::{Count, Given, Microseconds, Name, Text, table};
use flitlab_base::units::Picoseconds;
use flitlab_model::{Bar, Explanation, Grant, PhaseTimes, RankPhase, Spent, Stretch, Times};

table! {
    /// The activity of a group of ranks in a stretch of time: times of all these ranks together.
    pub struct ActivityRow {
        /// The workload that they are of, if there are several.
        workload: Option<String> as Name, "workload", "workload", Label, usual;
        /// The first rank of the group.
        first_rank: u32 as Given<Count<u32>>, "first_rank", "first rank", Label, usual;
        /// The last rank of the group.
        last_rank: u32 as Given<Count<u32>>, "last_rank", "last rank", Label, usual;
        /// When the stretch begins.
        start: Picoseconds as Given<Microseconds>, "start_us", "start", Label, usual;
        /// When it ends.
        end: Picoseconds as Given<Microseconds>, "end_us", "end", Label, usual;
        /// Computing.
        compute: Picoseconds as Given<Microseconds>, "compute_us", "compute", Completion, usual;
        /// Sending, taking and copying messages: hosts' overheads.
        host: Picoseconds as Given<Microseconds>, "host_us", "host overhead", Completion, usual;
        /// Waiting for partners that have not sent yet, or not begun their receipts.
        partner: Picoseconds as Given<Microseconds>, "partner_us", "waiting for a partner", Completion, usual;
        /// Waiting for a message that waits in its adapter for others to be sent.
        injection: Picoseconds as Given<Microseconds>, "injection_us", "injection", Completion, usual;
        /// Waiting for a message that waits in the network, or in its adapter for room in it.
        queueing: Picoseconds as Given<Microseconds>, "queueing_us", "queueing", Completion, usual;
        /// Waiting for a message that crosses the network unhindered.
        flight: Picoseconds as Given<Microseconds>, "flight_us", "flight", Completion, usual;
    }
}

table! {
    /// A stretch of the critical path: each begins where the one before it ended.
    pub struct PathRow {
        /// The workload that it is of, if there are several.
        workload: Option<String> as Name, "workload", "workload", Label, usual;
        /// When it begins.
        start: Picoseconds as Given<Microseconds>, "start_us", "start", Label, usual;
        /// When it ends.
        end: Picoseconds as Given<Microseconds>, "end_us", "end", Label, usual;
        /// What it went into: `compute`, `host`, `partner`, `injection`, `queueing` or `flight`.
        spent_on: Spent as Text<Spent>, "spent_on", "spent on", Label, usual;
        /// The rank that is busy, or whose message is under way.
        rank: u32 as Given<Count<u32>>, "rank", "rank", Label, usual;
        /// The operation, in words; of a message that of its sender.
        operation: String as Text<String>, "operation", "operation", Label, usual;
        /// The phase of the operation, if it belongs to one.
        phase: Option<String> as Name, "phase", "phase", Label, usual;
        /// What is done: `compute`, `send`, `receive`, or the kind of a one-sided operation, such
        /// as `put`.
        action: Option<String> as Name, "action", "action", Label, usual;
        /// The bytes of the message.
        bytes: Option<u64> as Count<u64>, "bytes", "bytes", Count, usual;
        /// The rank that it is sent to or received from, or whose memory it is; empty of any rank.
        peer: Option<u32> as Count<u32>, "peer", "peer", Label, usual;
        /// Of a message's way, the rank on which the path goes on.
        to_rank: Option<u32> as Count<u32>, "to_rank", "to rank", Label, usual;
        /// Of a message that queued, with `--trace-path`: the channel that held it up longest.
        held_up_by: Option<String> as Name, "held_up_by", "held up by", Label, usual;
        /// For how long that channel held it up.
        held_up: Option<Picoseconds> as Microseconds, "held_up_us", "held up for", Completion, usual;
    }
}

table! {
    /// A stretch of a rank's time: one thing that it did or waited for, or several short ones in a
    /// row. Those of a rank lie end to end.
    pub struct BarRow {
        /// The workload that it is of, if there are several.
        workload: Option<String> as Name, "workload", "workload", Label, usual;
        /// The rank.
        rank: u32 as Given<Count<u32>>, "rank", "rank", Label, usual;
        /// When it begins.
        start: Picoseconds as Given<Microseconds>, "start_us", "start", Label, usual;
        /// When it ends.
        end: Picoseconds as Given<Microseconds>, "end_us", "end", Label, usual;
        /// What most of it went into: `compute`, `host`, `partner`, `injection`, `queueing` or
        /// `flight`.
        spent_on: Spent as Text<Spent>, "spent_on", "spent on", Label, usual;
        /// The phase of the operation, if it belongs to one.
        phase: Option<String> as Name, "phase", "phase", Label, usual;
        /// What is done, or waited for: `compute`, `send`, `receive`, or the kind of a one-sided
        /// operation, such as `put`; of several things the one that took longest.
        action: String as Text<String>, "action", "action", Label, usual;
        /// The bytes of the message.
        bytes: Option<u64> as Count<u64>, "bytes", "bytes", Count, usual;
        /// The rank that it is sent to or received from, or whose memory it is; empty of any rank.
        peer: Option<u32> as Count<u32>, "peer", "peer", Label, usual;
        /// How many things in a row it stands for, each too short to have a row of its own.
        pieces: u32 as Given<Count<u32>>, "pieces", "pieces", Count, usual;
        /// Of several things: computing.
        compute: Option<Picoseconds> as Microseconds, "compute_us", "compute", Completion, more;
        /// Of several things: hosts' overheads.
        host: Option<Picoseconds> as Microseconds, "host_us", "host overhead", Completion, more;
        /// Of several things: waiting for partners that have not sent yet, or not begun their
        /// receipts.
        partner: Option<Picoseconds> as Microseconds, "partner_us", "waiting for a partner", Completion, more;
        /// Of several things: waiting for messages that wait in their adapters for others to be
        /// sent.
        injection: Option<Picoseconds> as Microseconds, "injection_us", "injection", Completion, more;
        /// Of several things: waiting for messages that wait in the network, or for room in it.
        queueing: Option<Picoseconds> as Microseconds, "queueing_us", "queueing", Completion, more;
        /// Of several things: waiting for messages that cross the network unhindered.
        flight: Option<Picoseconds> as Microseconds, "flight_us", "flight", Completion, more;
    }
}

table! {
    /// What ranks did and waited for in a phase, a row a rank; of many ranks a row for some of
    /// them, with the times of all these together.
    pub struct RankPhaseRow {
        /// The workload that they are of, if there are several.
        workload: Option<String> as Name, "workload", "workload", Label, usual;
        /// The first rank.
        first_rank: u32 as Given<Count<u32>>, "first_rank", "first rank", Label, usual;
        /// The last rank.
        last_rank: u32 as Given<Count<u32>>, "last_rank", "last rank", Label, usual;
        /// The phase; `-` for operations that belong to none.
        phase: String as Text<String>, "phase", "phase", Label, usual;
        /// Computing.
        compute: Picoseconds as Given<Microseconds>, "compute_us", "compute", Completion, usual;
        /// Hosts' overheads.
        host: Picoseconds as Given<Microseconds>, "host_us", "host overhead", Completion, usual;
        /// Waiting for partners that have not sent yet, or not begun their receipts.
        partner: Picoseconds as Given<Microseconds>, "partner_us", "waiting for a partner", Completion, usual;
        /// Waiting for messages that wait in their adapters for others to be sent.
        injection: Picoseconds as Given<Microseconds>, "injection_us", "injection", Completion, usual;
        /// Waiting for messages that wait in the network, or in their adapters for room in it.
        queueing: Picoseconds as Given<Microseconds>, "queueing_us", "queueing", Completion, usual;
        /// Waiting for messages that cross the network unhindered.
        flight: Picoseconds as Given<Microseconds>, "flight_us", "flight", Completion, usual;
    }
}

/// What rows tell of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationFacts {
    /// The phase that it belongs to, if it belongs to one.
    pub phase: Option<String>,
    /// `compute`, `send`, `receive`, or the kind of a one-sided operation, such as `put`.
    pub action: &'static str,
    /// The bytes of the message; `None` of a computation.
    pub bytes: Option<u64>,
    /// The rank that it is sent to or received from; `None` of any, and of a computation.
    pub peer: Option<u32>,
}

table! {
    /// What a phase of an application took, such as all of its all-reduces: on the critical path, and
    /// of a rank's time in the mean. What a rank did besides while operations of the phase were under
    /// way is not counted: what is left is how far the phase is exposed.
    pub struct PhaseRow {
        /// The workload that it is of, if there are several.
        workload: Option<String> as Name, "workload", "workload", Label, usual;
        /// The phase; `-` for operations that belong to none.
        phase: String as Text<String>, "phase", "phase", Label, usual;
        /// Of the critical path: computing.
        path_compute: Picoseconds as Given<Microseconds>, "path_compute_us", "path: compute", Completion, usual;
        /// Of the critical path: hosts' overheads.
        path_host: Picoseconds as Given<Microseconds>, "path_host_us", "path: host overhead", Completion, usual;
        /// Of the critical path: waiting for partners.
        path_partner: Picoseconds as Given<Microseconds>, "path_partner_us", "path: waiting for a partner", Completion, more;
        /// Of the critical path: messages that wait in their adapters for others to be sent.
        path_injection: Picoseconds as Given<Microseconds>, "path_injection_us", "path: injection", Completion, usual;
        /// Of the critical path: messages that wait in the network, or for room in it.
        path_queueing: Picoseconds as Given<Microseconds>, "path_queueing_us", "path: queueing", Completion, usual;
        /// Of the critical path: messages that cross the network unhindered.
        path_flight: Picoseconds as Given<Microseconds>, "path_flight_us", "path: flight", Completion, usual;
        /// Of a rank in the mean: computing.
        ranks_compute: Picoseconds as Given<Microseconds>, "ranks_compute_us", "compute", Completion, usual;
        /// Of a rank in the mean: hosts' overheads.
        ranks_host: Picoseconds as Given<Microseconds>, "ranks_host_us", "host overhead", Completion, usual;
        /// Of a rank in the mean: waiting for partners that have not sent yet, or not begun their
        /// receipts.
        ranks_partner: Picoseconds as Given<Microseconds>, "ranks_partner_us", "waiting for a partner", Completion, usual;
        /// Of a rank in the mean: waiting for messages that wait in their adapters for others to be
        /// sent.
        ranks_injection: Picoseconds as Given<Microseconds>, "ranks_injection_us", "injection", Completion, usual;
        /// Of a rank in the mean: waiting for messages that wait in the network, or for room in it.
        ranks_queueing: Picoseconds as Given<Microseconds>, "ranks_queueing_us", "queueing", Completion, usual;
        /// Of a rank in the mean: waiting for messages that cross the network unhindered.
        ranks_flight: Picoseconds as Given<Microseconds>, "ranks_flight_us", "flight", Completion, usual;
    }
}

/// Where an application's time went, and how long flows of a trace took; empty of other workloads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explained {
    /// A row a rank.
    pub ranks: Vec<ActivityRow>,
    /// A row for each group of ranks and stretch of time.
    pub activity: Vec<ActivityRow>,
    /// The critical path.
    pub path: Vec<PathRow>,
    /// A row a phase.
    pub phases: Vec<PhaseRow>,
    /// A row a rank and phase.
    pub rank_phases: Vec<RankPhaseRow>,
    /// What each rank did over time.
    pub bars: Vec<BarRow>,
    /// The channels that it waited for, if that was asked for.
    pub channels: Vec<PathChannelRow>,
    /// Of the flows of a trace, by size.
    pub flows: Vec<FlowRow>,
}

impl Explained {
    /// `describe` tells an operation by its number, in words, and `facts` what else rows have of
    /// it.
    pub fn new(
        explanation: &Explanation,
        finished: &[Picoseconds],
        describe: impl Fn(u32) -> String,
        facts: impl Fn(u32) -> OperationFacts,
    ) -> Self {
        Self {
            ranks: ActivityRow::of_ranks(explanation, finished),
            activity: ActivityRow::of_groups(explanation),
            path: PathRow::of(explanation, describe, &facts),
            phases: PhaseRow::of(explanation),
            rank_phases: explanation.rank_phases.iter().map(RankPhaseRow::of).collect(),
            bars: explanation.bars.iter().map(|bar| BarRow::of(bar, &facts)).collect(),
            channels: Vec::new(),
            flows: Vec::new(),
        }
    }

    /// Adds what is told of a workload of this name, one of several, which began at a time, in its
    /// own time. Of flows those of the first trace stay.
    pub fn add(&mut self, name: &str, begin: Picoseconds, other: Self) {
        let Self { ranks, activity, path, phases, rank_phases, bars, channels, flows } = other;
        let named = || Some(name.to_owned());
        let of_ranks = |row: ActivityRow| {
            let (start, end) = (begin + row.start, begin + row.end);
            ActivityRow { workload: named(), start, end, ..row }
        };
        self.ranks.extend(ranks.into_iter().map(of_ranks));
        self.activity.extend(activity.into_iter().map(of_ranks));
        self.path.extend(path.into_iter().map(|row| {
            let (start, end) = (begin + row.start, begin + row.end);
            PathRow { workload: named(), start, end, ..row }
        }));
        self.phases.extend(phases.into_iter().map(|row| PhaseRow { workload: named(), ..row }));
        let rank_phases = rank_phases.into_iter();
        self.rank_phases.extend(rank_phases.map(|row| RankPhaseRow { workload: named(), ..row }));
        self.bars.extend(bars.into_iter().map(|row| {
            let (start, end) = (begin + row.start, begin + row.end);
            BarRow { workload: named(), start, end, ..row }
        }));
        let channels = channels.into_iter().map(|row| PathChannelRow { workload: named(), ..row });
        self.channels.extend(channels);
        if self.flows.is_empty() {
            self.flows = flows;
        }
    }
}

table! {
    /// A channel for which the critical path waited.
    pub struct PathChannelRow {
        /// The workload whose path it is, if there are several.
        workload: Option<String> as Name, "workload", "workload", Label, usual;
        /// Its source router and where it leads, as in `channels.csv`.
        channel: String as Text<String>, "channel", "channel", Label, usual;
        /// For how long it held the path's messages up: in their adapters while the first router
        /// had no room, or in the network. A head that waits for room waits for the head of the
        /// buffer ahead; the last channel of that chain counts. Looked at 2000 times, which share
        /// what the path spent on queueing.
        held_up: Picoseconds as Given<Microseconds>, "held_up_us", "held the path up", Completion, usual;
        /// How long the last packets of the path's messages were ready for it and not sent, all
        /// together.
        waited: Picoseconds as Given<Microseconds>, "waited_us", "waited", Completion, usual;
        /// How many of them crossed it.
        packets: u64 as Given<Count<u64>>, "packets", "packets", Count, usual;
    }
}

impl PathChannelRow {
    /// Returns the rows of the channels that were granted to the path's packets, and of those that
    /// held them up at times which stand for `waited` in all. The channel that held them up longest
    /// comes first.
    pub fn of(grants: &[Grant], held_up: &[String], waited: Picoseconds) -> Vec<Self> {
        let mut rows: BTreeMap<&str, Self> = BTreeMap::new();
        for channel in held_up {
            let row = rows.entry(channel).or_default();
            row.channel.clone_from(channel);
            row.held_up += Picoseconds(1);
        }
        for row in rows.values_mut() {
            let share = u128::from(row.held_up) * u128::from(waited);
            row.held_up = Picoseconds::from_wide(share / held_up.len() as u128);
        }
        for grant in grants {
            let row = rows.entry(&grant.channel).or_default();
            row.channel.clone_from(&grant.channel);
            row.waited += grant.waited;
            row.packets += 1;
        }
        let mut rows: Vec<Self> = rows.into_values().collect();
        rows.sort_by_key(|row| Reverse((row.held_up, row.waited)));
        rows
    }
}

/// The row of what ranks did between two times.
pub(crate) fn activity_row(
    (first_rank, last_rank): (u32, u32),
    (start, end): (Picoseconds, Picoseconds),
    times: &Times,
) -> ActivityRow {
    let [compute, host, partner, injection, queueing, flight] = *times;
    ActivityRow {
        workload: None,
        first_rank,
        last_rank,
        start,
        end,
        compute,
        host,
        partner,
        injection,
        queueing,
        flight,
    }
}

impl ActivityRow {
    /// Returns the activity of groups of ranks, stretch by stretch.
    fn of_groups(explanation: &Explanation) -> Vec<Self> {
        let activity = explanation.activity.iter();
        activity
            .map(|it| activity_row((it.first_rank, it.last_rank), (it.start, it.end), &it.times))
            .collect()
    }

    /// Returns the activity of each rank, from the start until it was done.
    fn of_ranks(explanation: &Explanation, finished: &[Picoseconds]) -> Vec<Self> {
        let ranks = (0..).zip(finished).zip(&explanation.ranks);
        ranks
            .map(|((rank, &end), times)| {
                activity_row((rank, rank), (Picoseconds::ZERO, end), times)
            })
            .collect()
    }
}

impl PathRow {
    /// The critical path, from the start.
    fn of(
        explanation: &Explanation,
        describe: impl Fn(u32) -> String,
        facts: impl Fn(u32) -> OperationFacts,
    ) -> Vec<Self> {
        let stretches = explanation.path.iter();
        let row = |it: &Stretch| {
            let OperationFacts { phase, action, bytes, peer } = facts(it.operation);
            Self {
                workload: None,
                start: it.start,
                end: it.end,
                spent_on: it.spent,
                rank: it.rank,
                operation: describe(it.operation),
                phase,
                action: Some(action.into()),
                bytes,
                peer,
                to_rank: it.leg.map(|_| it.to_rank),
                held_up_by: None,
                held_up: None,
            }
        };
        stretches.map(row).collect()
    }
}

impl BarRow {
    fn of(bar: &Bar, facts: impl Fn(u32) -> OperationFacts) -> Self {
        let OperationFacts { phase, action, bytes, peer } = facts(bar.operation);
        let of_several = bar.times.map(|time| (bar.pieces > 1).then_some(time));
        let [compute, host, partner, injection, queueing, flight] = of_several;
        Self {
            workload: None,
            rank: bar.rank,
            start: bar.start,
            end: bar.end,
            spent_on: bar.mostly(),
            phase,
            action: action.into(),
            bytes,
            peer,
            pieces: bar.pieces,
            compute,
            host,
            partner,
            injection,
            queueing,
            flight,
        }
    }
}

impl RankPhaseRow {
    fn of(RankPhase { first_rank, last_rank, phase, times }: &RankPhase) -> Self {
        let [compute, host, partner, injection, queueing, flight] = *times;
        Self {
            workload: None,
            first_rank: *first_rank,
            last_rank: *last_rank,
            phase: phase_name(phase),
            compute,
            host,
            partner,
            injection,
            queueing,
            flight,
        }
    }
}

/// The phase's name in rows.
fn phase_name(name: &str) -> String {
    if name.is_empty() { "-".into() } else { name.into() }
}

impl PhaseRow {
    /// Times on the critical path.
    pub const fn path(&self) -> Times {
        [
            self.path_compute,
            self.path_host,
            self.path_partner,
            self.path_injection,
            self.path_queueing,
            self.path_flight,
        ]
    }

    /// Times of a rank in the mean.
    pub const fn ranks(&self) -> Times {
        [
            self.ranks_compute,
            self.ranks_host,
            self.ranks_partner,
            self.ranks_injection,
            self.ranks_queueing,
            self.ranks_flight,
        ]
    }

    /// What the critical path, or a rank, spends on the phase besides computing: on messages, and
    /// waiting.
    pub fn exposed([_, rest @ ..]: Times) -> Picoseconds {
        rest.into_iter().sum()
    }

    /// The phases, in the order in which the schedule names them.
    fn of(explanation: &Explanation) -> Vec<Self> {
        let ranks = explanation.ranks.len().max(1) as u64;
        let row = |PhaseTimes { name, path, ranks: times }: &PhaseTimes| {
            let [path_compute, path_host, path_partner, path_injection, path_queueing, path_flight] =
                *path;
            let [compute, host, partner, injection, queueing, flight] =
                times.map(|time| Picoseconds(time.0 / ranks));
            Self {
                workload: None,
                phase: phase_name(name),
                path_compute,
                path_host,
                path_partner,
                path_injection,
                path_queueing,
                path_flight,
                ranks_compute: compute,
                ranks_host: host,
                ranks_partner: partner,
                ranks_injection: injection,
                ranks_queueing: queueing,
                ranks_flight: flight,
            }
        };
        explanation.phases.iter().map(row).collect()
    }
}
