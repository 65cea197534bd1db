//! Where an application's time went: the critical path through program and network, and what each
//! rank waited for.
//!
//! Each thing that was done followed from one other thing, the last one that it had to wait for: an
//! operation from the one that freed it or from the one that its stream was busy with before, a
//! receipt from its message or from its own beginning if the message was there already, a message
//! from its sending, and the answer to a one-sided operation from its request. Followed back from what ended last, this is the **critical path**: its
//! stretches lie end to end from the start to the completion time. What a rank waited for is told
//! in the same way, back from what ended its waiting.

use std::ops::Range;

use super::bars::Bars;
use flitlab_application::{ANY, Action, Schedule};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_model::{Activity, Explanation, PhaseTimes, RankPhase, Spent, Stretch, Times};
use flitlab_traffic::{Job, JobKind, Leg, LegKind, Records};

/// The most groups of ranks, and stretches of time, of [`Explanation::activity`].
const MAX_GROUPS: u32 = 64;
const SLICES: u64 = 100;
/// The most rows of [`Explanation::rank_phases`], if groups are to have more than one rank.
const MAX_RANK_PHASES: u32 = 20_000;

/// Finds the critical path and what ranks waited for. `places` are the terminals of the ranks,
/// `flight` is what a leg takes in an empty network, and `most_bars` how many bars of
/// [`Explanation::bars`] are kept. A rank learns of the answer to a one-sided operation `noticing`
/// after it has come. Time and memory in proportion to what was recorded, but for a
/// sort.
pub fn explain(
    schedule: &Schedule,
    records: &Records,
    places: &[u32],
    most_bars: usize,
    noticing: Picoseconds,
    flight: impl Fn(&Leg) -> Picoseconds,
) -> Explanation {
    let history = History::new(schedule, records, noticing);
    let end = records.jobs.iter().map(|job| job.end).max().unwrap_or(Picoseconds::ZERO);
    let mut path = Vec::new();
    if let Some(last) = history.last(places) {
        history.walk(last, &flight, |stretch| {
            path.push(stretch);
            true
        });
    }
    path.reverse();
    let mut grid = Grid::new(schedule.ranks(), end);
    let mut ranks = vec![Times::default(); schedule.ranks() as usize];
    let names = std::iter::once(String::new()).chain(schedule.phases().iter().cloned());
    let (path_times, rank_times) = (Times::default(), Times::default());
    let phase = |name| PhaseTimes { name, path: path_times, ranks: rank_times };
    let mut phases: Vec<PhaseTimes> = names.map(phase).collect();
    let phase_of = |operation: u32| usize::from(schedule.operation(operation).phase);
    for stretch in &path {
        let times = &mut phases[phase_of(stretch.operation)].path;
        times[stretch.spent as usize] += stretch.end - stretch.start;
    }
    let mut bars = Bars::new(schedule.ranks(), most_bars, end);
    let all_phases = phases.len();
    let group =
        (schedule.ranks().saturating_mul(narrow(all_phases))).div_ceil(MAX_RANK_PHASES).max(1);
    let groups = schedule.ranks().div_ceil(group) as usize;
    let mut of_groups = vec![Times::default(); groups * all_phases];
    history.each_rank(&flight, |operation, start, end, spent| {
        let (rank, phase) = (schedule.rank_of(operation), phase_of(operation));
        ranks[rank as usize][spent as usize] += end - start;
        phases[phase].ranks[spent as usize] += end - start;
        of_groups[(rank / group) as usize * all_phases + phase][spent as usize] += end - start;
        grid.add(rank, start, end, spent);
        bars.add((rank, operation), start, end, spent);
    });
    let of_groups = of_groups.into_iter().enumerate().map(|(place, times)| {
        let first_rank = narrow::<u32>(place / all_phases) * group;
        let last_rank = (first_rank + group).min(schedule.ranks()) - 1;
        let phase = phases[place % all_phases].name.clone();
        RankPhase { first_rank, last_rank, phase, times }
    });
    let took = |of: &RankPhase| of.times.iter().any(|&time| time > Picoseconds::ZERO);
    let rank_phases = of_groups.filter(took).collect();
    let took_any = |phase: &PhaseTimes| {
        phase.path.iter().chain(&phase.ranks).any(|&time| time > Picoseconds::ZERO)
    };
    phases.retain(took_any);
    let bars = bars.finish();
    Explanation { path, ranks, activity: grid.activity, phases, rank_phases, bars }
}

/// Times of ranks' groups by stretches of time.
struct Grid {
    group: u32,
    slice: Picoseconds,
    slices: usize,
    activity: Vec<Activity>,
}

impl Grid {
    fn new(ranks: u32, end: Picoseconds) -> Self {
        let group = ranks.div_ceil(MAX_GROUPS).max(1);
        let slice = end.div_ceil(SLICES).max(Picoseconds(1));
        let slices = end.0.div_ceil(slice.0);
        let mut activity = Vec::new();
        for first_rank in (0..ranks).step_by(group as usize) {
            let last_rank = (first_rank + group).min(ranks) - 1;
            activity.extend((0..slices).map(|number| {
                let start = number * slice;
                let end = (start + slice).min(end);
                Activity { first_rank, last_rank, start, end, times: Times::default() }
            }));
        }
        Self { group, slice, slices: narrow(slices), activity }
    }

    fn add(&mut self, rank: u32, mut start: Picoseconds, end: Picoseconds, spent: Spent) {
        while start < end {
            let number = start / self.slice;
            let until = end.min((number + 1) * self.slice);
            let place = (rank / self.group) as usize * self.slices + narrow::<usize>(number);
            self.activity[place].times[spent as usize] += until - start;
            start = until;
        }
    }
}

/// A cause in the history of an application: a job, or a message on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Job(u32),
    /// A leg that has come.
    Leg(u32),
    /// A leg whose last flit left at a time.
    Departure(u32, Picoseconds),
    /// A request whose answer was given to the target's adapter at a time.
    Answered(u32, Picoseconds),
    /// The beginning of a job, not its end.
    Beginning(u32),
}

/// How many kinds of legs there are.
const LEGS: usize = 7;

/// The records of a run, found by operation.
struct History<'a> {
    schedule: &'a Schedule,
    jobs: &'a [Job],
    legs: &'a [Leg],
    /// By operation: its job of each kind ([`JobKind::Begin`] first). Of a receipt its beginning
    /// and taking; of a message its beginning, its answering and its going.
    job_of: Vec<[Option<u32>; 4]>,
    /// By the sender's operation: its legs.
    leg_of: Vec<[Option<u32>; LEGS]>,
    /// By leg: for how long it waited in its adapter for room.
    room_wait: Vec<Picoseconds>,
    /// By message: the receipt that took it.
    receipt_of: Vec<Option<u32>>,
    /// By job: the one before it on its stream.
    before: Vec<Option<u32>>,
    /// Jobs by rank, in the order of time.
    in_order: Vec<u32>,
    /// From the answer to a one-sided operation until its rank learns of it.
    noticing: Picoseconds,
}

impl<'a> History<'a> {
    fn new(schedule: &'a Schedule, records: &'a Records, noticing: Picoseconds) -> Self {
        let (jobs, legs) = (&records.jobs[..], &records.legs[..]);
        let all = schedule.operations().len();
        let (mut job_of, mut leg_of) = (vec![[None; 4]; all], vec![[None; LEGS]; all]);
        let mut receipt_of = vec![None; all];
        for (number, job) in (0..).zip(jobs) {
            // An answer is known by the message that it is to, all else by its own operation.
            let operation = if job.kind == JobKind::Answer { job.cause } else { job.operation };
            job_of[operation as usize][job.kind as usize] = Some(number);
            if job.kind == JobKind::Take {
                receipt_of[job.cause as usize] = Some(job.operation);
            }
        }
        for (number, leg) in (0..).zip(legs) {
            leg_of[leg.operation as usize][leg.kind as usize] = Some(number);
        }
        let mut room_wait = vec![Picoseconds::ZERO; legs.len()];
        for wait in &records.waits {
            if let Some(leg) = leg_of[wait.operation as usize][wait.kind as usize] {
                room_wait[leg as usize] = wait.time;
            }
        }
        let rank = |job: &Job| schedule.rank_of(job.operation);
        let stream = |job: &Job| schedule.operation(job.operation).stream;
        let mut in_order: Vec<u32> = (0..narrow(jobs.len())).collect();
        in_order.sort_by_cached_key(|&number| {
            let job = &jobs[number as usize];
            (rank(job), stream(job), job.start, job.end)
        });
        let mut before = vec![None; jobs.len()];
        for pair in in_order.windows(2) {
            let [one, next] = [pair[0], pair[1]].map(|number| &jobs[number as usize]);
            if (rank(one), stream(one)) == (rank(next), stream(next)) {
                before[pair[1] as usize] = Some(pair[0]);
            }
        }
        in_order.sort_by_cached_key(|&number| {
            let job = &jobs[number as usize];
            (rank(job), job.start, job.end)
        });
        Self {
            schedule,
            jobs,
            legs,
            job_of,
            leg_of,
            room_wait,
            receipt_of,
            before,
            in_order,
            noticing,
        }
    }

    /// When a leg ended a rank's operation, if it did: it told a sender that its message was
    /// fetched, or answered a one-sided operation.
    fn end_by(&self, leg: &Leg) -> Option<Picoseconds> {
        match leg.kind {
            LegKind::Finish => Some(leg.delivered),
            LegKind::Response => Some(leg.delivered + self.noticing),
            _ => None,
        }
    }

    /// The job that ended last, or the leg that ended an operation later. Of
    /// several the last one on the last of their terminals, so that it does not matter whose was
    /// noted first.
    fn last(&self, places: &[u32]) -> Option<Step> {
        let place = |operation: u32| places[self.schedule.rank_of(operation) as usize];
        let jobs = (0..).zip(self.jobs).map(|(number, job)| {
            let key = (job.end, place(job.operation));
            (key, Step::Job(number))
        });
        let finished = (0..).zip(self.legs).filter_map(|(number, leg)| {
            let key = (self.end_by(leg)?, place(leg.operation));
            Some((key, Step::Leg(number)))
        });
        finished.chain(jobs).max_by_key(|it| it.0).map(|it| it.1)
    }

    fn job(&self, operation: u32, kind: JobKind) -> Option<u32> {
        self.job_of[operation as usize][kind as usize]
    }

    fn leg(&self, operation: u32, kind: LegKind) -> Option<u32> {
        self.leg_of[operation as usize][kind as usize]
    }

    /// Returns how a job spent its time.
    fn spent(&self, job: &Job) -> Spent {
        let action = self.schedule.operation(job.operation).action;
        if job.kind == JobKind::Begin && action == Action::Compute {
            Spent::Compute
        } else {
            Spent::Host
        }
    }

    /// Goes back from something to the start, and tells each stretch until it is told to stop.
    fn walk(
        &self,
        from: Step,
        flight: &impl Fn(&Leg) -> Picoseconds,
        mut tell: impl FnMut(Stretch) -> bool,
    ) {
        let mut step = Some(from);
        let mut time = Picoseconds::NEVER;
        while let Some(at) = step {
            let (before, stretches) = self.back(at, flight);
            for stretch in stretches.into_iter().flatten() {
                // The cause may have ended before its effect began: then the effect waited.
                debug_assert!(stretch.end <= time || time == Picoseconds::NEVER);
                time = stretch.start;
                if stretch.start < stretch.end && !tell(stretch) {
                    return;
                }
            }
            step = before;
        }
    }

    /// Returns the cause of a step, and the stretches of time that the step took, the last one
    /// first.
    fn back(
        &self,
        step: Step,
        flight: &impl Fn(&Leg) -> Picoseconds,
    ) -> (Option<Step>, [Option<Stretch>; 4]) {
        match step {
            Step::Job(number) => {
                let job = &self.jobs[number as usize];
                let own = self.stretch(job.operation, None, job.start..job.end, self.spent(job));
                let (before, waited) = self.before_job(number);
                (before, [Some(own), waited, None, None])
            }
            Step::Beginning(number) => {
                let (before, waited) = self.before_job(number);
                (before, [waited, None, None, None])
            }
            Step::Leg(number) | Step::Departure(number, _) | Step::Answered(number, _) => {
                let leg = &self.legs[number as usize];
                let to_rank = match step {
                    Step::Departure(..) => self.schedule.rank_of(leg.operation),
                    _ => self.end_of(leg),
                };
                let of = |time, spent| {
                    let own = self.stretch(leg.operation, Some(number), time, spent);
                    Some(Stretch { to_rank, ..own })
                };
                let there = match step {
                    Step::Answered(_, time) => time,
                    _ => leg.delivered,
                };
                let (left, moving, crossing) = match step {
                    Step::Departure(_, time) => (time, time, None),
                    _ => {
                        let crossing = flight(leg).min(there - leg.injected);
                        let moving = there - crossing;
                        (leg.injected, moving, of(moving..there, Spent::Flight))
                    }
                };
                let noticed = self.end_by(leg).and_then(|end| of(leg.delivered..end, Spent::Host));
                // The wait for room is told behind the wait for other packets.
                let sent = left - self.room_wait(number, left);
                let waiting = of(sent..moving, Spent::Queueing);
                let injected = of(leg.entered..sent, Spent::Injection);
                (self.before_leg(leg), [noticed, crossing, waiting, injected])
            }
        }
    }

    /// For how long a leg waited in its adapter for room until a time.
    fn room_wait(&self, number: u32, until: Picoseconds) -> Picoseconds {
        let leg = &self.legs[number as usize];
        self.room_wait[number as usize].min(until - leg.entered)
    }

    fn stretch(
        &self,
        operation: u32,
        leg: Option<u32>,
        time: Range<Picoseconds>,
        spent: Spent,
    ) -> Stretch {
        let Range { start, end } = time;
        let rank = self.schedule.rank_of(operation);
        Stretch { start, end, spent, rank, operation, leg, to_rank: rank }
    }

    /// The rank that a leg leads to.
    fn end_of(&self, leg: &Leg) -> u32 {
        match leg.kind {
            LegKind::Answer | LegKind::Finish | LegKind::Response => {
                self.schedule.rank_of(leg.operation)
            }
            LegKind::Eager | LegKind::Data | LegKind::Ask | LegKind::Request => {
                self.schedule.operation(leg.operation).peer
            }
        }
    }

    /// Returns the cause of a job, and the time for which the job waited after it, if any.
    fn before_job(&self, number: u32) -> (Option<Step>, Option<Stretch>) {
        let job = &self.jobs[number as usize];
        if job.start > job.ready {
            // Its stream was busy, or its adapter kept the gap between two messages.
            let before = self.before[number as usize];
            let before = before.filter(|&it| self.jobs[it as usize].end >= job.ready);
            let since = before.map_or(job.ready, |it| self.jobs[it as usize].end);
            let held = self.stretch(job.operation, None, since..job.start, Spent::Injection);
            let cause = before.map(Step::Job).or_else(|| self.cause(job).0);
            return (cause, Some(held));
        }
        self.cause(job)
    }

    /// Returns the step that made a job ready, and the time between, if any.
    fn cause(&self, job: &Job) -> (Option<Step>, Option<Stretch>) {
        let message = |kind| self.leg(job.cause, kind);
        let (leg, begun) = match job.kind {
            JobKind::Begin if job.cause == ANY => return (None, None),
            JobKind::Begin => return (self.freed_by(job.cause, job.ready), None),
            JobKind::Take => {
                let leg = message(LegKind::Data).or_else(|| message(LegKind::Eager));
                (leg, self.job(job.operation, JobKind::Begin))
            }
            JobKind::Answer => (message(LegKind::Ask), self.job(job.operation, JobKind::Begin)),
            JobKind::Go => (message(LegKind::Answer), None),
        };
        self.last_of(job, leg, begun, job.ready)
    }

    /// Of a message that has come and a receipt that has begun, the later one, and the time from
    /// then to `ready`: a message waits for those of its pair that were sent before it.
    fn last_of(
        &self,
        job: &Job,
        leg: Option<u32>,
        begun: Option<u32>,
        ready: Picoseconds,
    ) -> (Option<Step>, Option<Stretch>) {
        let come = leg.map(|it| (self.legs[it as usize].delivered, Step::Leg(it)));
        let posted = begun.map(|it| (self.jobs[it as usize].end, Step::Job(it)));
        let last = [come, posted].into_iter().flatten().max_by_key(|it| it.0);
        let Some((time, step)) = last else { return (None, None) };
        let waited =
            (time < ready).then(|| self.stretch(job.operation, None, time..ready, Spent::Queueing));
        (Some(step), waited)
    }

    /// Returns the step of an operation that freed another operation at `time`.
    fn freed_by(&self, operation: u32, time: Picoseconds) -> Option<Step> {
        let job = |kind| self.job(operation, kind);
        let at = |number: u32| &self.jobs[number as usize];
        if let Some(taken) = job(JobKind::Take).filter(|&it| at(it).end == time) {
            return Some(Step::Job(taken));
        }
        // The receiver has fetched the message, or the target has answered.
        let ends = |leg: &u32| self.end_by(&self.legs[*leg as usize]) == Some(time);
        let last = |kind| self.leg(operation, kind).filter(ends);
        if let Some(end) = last(LegKind::Finish).or_else(|| last(LegKind::Response)) {
            return Some(Step::Leg(end));
        }
        let begun = job(JobKind::Begin)?;
        if let Some(data) = self.leg(operation, LegKind::Data)
            && time > at(begun).end
        {
            return Some(Step::Departure(data, time));
        }
        if at(begun).end == time { Some(Step::Job(begun)) } else { Some(Step::Beginning(begun)) }
    }

    /// Returns the cause of a leg.
    fn before_leg(&self, leg: &Leg) -> Option<Step> {
        let own = |kind| self.job(leg.operation, kind).map(Step::Job);
        match leg.kind {
            LegKind::Eager | LegKind::Ask | LegKind::Request => own(JobKind::Begin),
            LegKind::Response => match self.leg(leg.operation, LegKind::Request) {
                Some(request) => Some(Step::Answered(request, leg.entered)),
                // It went through the node's memory.
                None => own(JobKind::Begin),
            },
            LegKind::Answer => own(JobKind::Answer).or_else(|| {
                // The adapter answered: when it was asked, or when the receipt began.
                let ask = self.leg(leg.operation, LegKind::Ask)?;
                if self.legs[ask as usize].delivered == leg.entered {
                    return Some(Step::Leg(ask));
                }
                let receipt = self.receipt_of[leg.operation as usize];
                let begun = receipt.and_then(|receipt| self.job(receipt, JobKind::Begin));
                Some(begun.map_or(Step::Leg(ask), Step::Job))
            }),
            LegKind::Finish => {
                let receipt = self.receipt_of[leg.operation as usize]?;
                self.job(receipt, JobKind::Take).map(Step::Beginning)
            }
            LegKind::Data => {
                own(JobKind::Go).or_else(|| self.leg(leg.operation, LegKind::Answer).map(Step::Leg))
            }
        }
    }

    /// Tells of each rank what it did and waited for, in the order of time and in stretches that
    /// lie end to end, with the operation that it did or waited to go on with: of several streams
    /// at work at once the one that began first counts.
    fn each_rank(
        &self,
        flight: &impl Fn(&Leg) -> Picoseconds,
        mut tell: impl FnMut(u32, Picoseconds, Picoseconds, Spent),
    ) {
        let rank_of = |&number: &u32| self.schedule.rank_of(self.jobs[number as usize].operation);
        let ranks = self.in_order.chunk_by(|one, other| rank_of(one) == rank_of(other));
        // The last one first.
        let mut waits = Vec::new();
        for jobs in ranks {
            let mut now = Picoseconds::ZERO;
            for &number in jobs {
                let job = &self.jobs[number as usize];
                let operation = job.operation;
                if job.start > now {
                    let mut open = job.start;
                    // Back from what ended the waiting, as long as it is a message's way.
                    self.walk(Step::Beginning(number), flight, |stretch| {
                        let is_own = stretch.leg.is_some() || stretch.spent == Spent::Injection;
                        if !is_own || stretch.start >= open {
                            return is_own;
                        }
                        let start = stretch.start.max(now);
                        let end = stretch.end.min(open);
                        if end < open {
                            waits.push((end.max(now), open, Spent::Partner));
                        }
                        if start < end {
                            waits.push((start, end, stretch.spent));
                        }
                        open = start.min(end.max(now));
                        open > now
                    });
                    if open > now {
                        waits.push((now, open, Spent::Partner));
                    }
                    for (start, end, spent) in waits.drain(..).rev() {
                        tell(operation, start, end, spent);
                    }
                    now = job.start;
                }
                if job.end > now {
                    tell(operation, now, job.end, self.spent(job));
                    now = job.end;
                }
            }
        }
    }
}
