//! Finite workloads, run to their end: exchanges, applications, operations.

use super::collector::Collector;
use super::livelock::Arrivals;
use super::summary::Summary;
use super::time_axis::TimeAxis;
use super::watch::{MeasurementState, Snapshot, Watch};
use super::{Halt, Phase, Progress, Window, livelock};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_engine::{END, Engine};
use flitlab_traffic::Collectives;

/// The simulated time between two looks at whether anything still moves, at the least.
const LOOK_EVERY: Picoseconds = Picoseconds(20_000_000);

/// A look is no more than this part of the time since the start away from the next.
const LOOKS: u64 = 256;

/// The result of a finite workload.
#[derive(Clone, Debug, PartialEq)]
pub struct FiniteMeasurement {
    /// When the last message had been received, host overheads included; of an application, when
    /// the last operation of its ranks had ended.
    pub completion: Picoseconds,
    /// Payload that each node sends (for reads: receives), averaged over those that do, in bytes,
    /// over the completion time: bytes a second.
    pub bandwidth: f64,
    /// Messages that were received.
    pub messages: u64,
    /// Payload of these messages, in bytes.
    pub payload: u64,
    /// What was delivered.
    pub summary: Summary,
    /// Its course in time, in windows of equal length.
    pub history: Vec<Window>,
}

/// A finite workload that can't go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Halted {
    /// Why.
    pub why: Halt,
    /// Its course in time until then.
    pub history: Vec<Window>,
}

/// A stretch of simulated time: from, until.
pub type Span = (Picoseconds, Picoseconds);

/// Why finite workloads are not waited for any longer: the loads beside them are past saturation, so
/// that source queues grow, and what waits in these takes longer and longer, or they take all of a
/// channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgrown {
    /// The simulated time.
    pub time: Picoseconds,
    /// By which part of what was created the flits under way have grown in its second half; `None` if
    /// that is little, and nothing of the workloads was delivered in its last three quarters.
    pub growth: Option<f64>,
    /// The course in time until then.
    pub history: Vec<Window>,
}

/// When the workloads of these classes are over, beside which loads go on; `None` if they don't
/// come to their end. The engine is simulated until then. Of their messages there are about
/// `messages`.
///
/// # Errors
/// If it can't be waited for.
pub fn end_of(
    engine: &mut Engine<'_, Collector>,
    classes: &[u8],
    messages: u64,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Picoseconds>, Outgrown> {
    let all = engine.classes();
    engine.observer().start(all);
    let (mut delivered, mut arrivals) = (0, Arrivals::default());
    let (mut pace, mut axis) = (Pace::default(), TimeAxis::default());
    while axis.run_until(engine, engine.now() + LOOK_EVERY) {
        if classes.iter().all(|&class| has_ended(engine, class)) {
            break;
        }
        let packets = engine.counters().packets_delivered;
        let is_stuck = packets == delivered && engine.find_deadlock().is_some();
        let is_too_long = engine.now() == END;
        if is_stuck || is_too_long || livelock(engine, &mut arrivals).is_err() {
            return Ok(None);
        }
        delivered = packets;
        let done = classes.iter().map(|&class| engine.observer().messages_of(class)).sum();
        let done_in_percent = percent(done, messages);
        progress(Progress {
            phase: Phase::WarmUp,
            time: engine.now(),
            done: done_in_percent,
            most: 100,
        });
        if let Some(Slows { growth }) = pace.note(engine, classes) {
            return Err(Outgrown { time: engine.now(), growth, history: axis.windows(engine) });
        }
    }
    let ends = classes.iter().map(|&class| {
        if engine.workload_of::<Collectives>(class).next().is_some() {
            return end_of_operations(engine, class);
        }
        let latest_event = engine.latest_deferred_of(class);
        Some(engine.observer().latest_completion_of(class).max(latest_event))
    });
    Ok(ends.collect::<Option<Vec<_>>>().and_then(|ends| ends.into_iter().max()))
}

/// The first time at which it is asked how fast finite workloads beside loads come on; then at the
/// double of it, and so on.
const FIRST_DOUBLING: Picoseconds = Picoseconds(160_000_000);

/// So many doublings one after the other have to say that it takes longer and longer.
const DOUBLINGS: u32 = 3;

/// What is under way grows if it does by more than this part of what is created.
const GROWTH: f64 = 0.05;

/// How fast finite workloads come on beside loads. At an even pace they have done four times as
/// much at four times the time. Where source queues grow with the time, what is in these waits for
/// as long again, and they have done little more. Where others always go first, they do nothing.
#[derive(Debug, Default)]
struct Pace {
    /// When the present doubling began.
    since: Picoseconds,
    /// Their packets that were delivered by then, and by the beginning of the one before.
    done: [u64; 2],
    /// Packets that were delivered by then, of all workloads.
    delivered: u64,
    /// Flits that were created by then, and those under way.
    created: u64,
    under_way: u64,
    /// How many doublings in a row have said that it takes longer and longer.
    slower: u32,
}

/// That finite workloads come on slower and slower.
struct Slows {
    /// As of [`Outgrown`].
    growth: Option<f64>,
}

impl Pace {
    /// Notes what workloads of these classes have done by now. If they are not to be waited for any
    /// longer, says so.
    fn note(&mut self, engine: &mut Engine<'_, Collector>, classes: &[u8]) -> Option<Slows> {
        let now = engine.now();
        if now < FIRST_DOUBLING.max(2 * self.since) {
            return None;
        }
        let by_class = engine.observer().by_class();
        let done = classes.iter().map(|&class| by_class[usize::from(class)].packets).sum();
        let counters = engine.counters();
        let (created, under_way) = (counters.flits_created, counters.flits_under_way());
        let growth = under_way.saturating_sub(self.under_way) as f64
            / (created - self.created).max(1) as f64;
        // While ranks compute, nothing has to be done.
        let waits = classes.iter().any(|&class| engine.under_way_of(class) > 0);
        let [half, quarter] = self.done;
        // Where nobody's packets arrive, there is another reason.
        let delivered = counters.packets_delivered;
        let stands = done == quarter && delivered > self.delivered;
        let grows = growth > GROWTH;
        let is_slower = grows && quarter > 0 && done < 2 * quarter;
        let slower = if waits && (stands || is_slower) { self.slower + 1 } else { 0 };
        *self = Self { since: now, done: [done, half], delivered, created, under_way, slower };
        (slower >= DOUBLINGS).then(|| Slows { growth: grows.then_some(growth) })
    }
}

/// Whether the workload of a class has come to its end, or hangs and so has nothing left that could
/// happen.
pub fn has_ended(engine: &Engine<'_, Collector>, class: u8) -> bool {
    engine.is_over(class) || end_of_operations(engine, class).is_some()
}

/// When the operations of the collective subnetwork ended, if they are the workload of this class
/// and have.
fn end_of_operations(engine: &Engine<'_, Collector>, class: u8) -> Option<Picoseconds> {
    let ends = Collectives::outcome(engine.workload_of(class)).ok()?;
    ends.into_iter().max().map(|end| engine.start_of(class) + end)
}

/// What was delivered until now, where nobody waits any longer for workloads whose end
/// [`end_of`] did not see.
pub fn summary_until_now(engine: &mut Engine<'_, Collector>) -> Summary {
    engine.observer().end_window();
    Summary::of(engine)
}

/// How many percent of these messages are done, at most 100.
fn percent(done: u64, messages: u64) -> u32 {
    narrow((done.saturating_mul(100) / messages.max(1)).min(100))
}

/// Runs until nothing is left, about `messages` of them in all. Where loads go on beside them for
/// ever, runs for the `span` that counts, whose end is known from [`end_of`]. Of an application
/// whose ranks hang, nothing tells so here: its
/// [outcome](flitlab_traffic::Application::outcome) does.
///
/// # Errors
/// If packets wait for each other in a cycle, or move for ever.
pub fn measure_finite(
    engine: &mut Engine<'_, Collector>,
    messages: u64,
    senders: usize,
    span: Option<Span>,
    watch: &mut Watch<'_>,
) -> Result<FiniteMeasurement, Halted> {
    let mut state = match watch.from.take() {
        Some(state) => state,
        None => {
            let classes = engine.classes();
            engine.observer().start(classes);
            let start = span.map_or(Picoseconds::ZERO, |span| span.0);
            let mut axis = TimeAxis::measured_from(start);
            if start > Picoseconds::ZERO {
                axis.run_until(engine, start);
                axis.begin_anew(engine);
                engine.reset_channels();
                engine.observer().start(classes);
            }
            MeasurementState { axis, ..MeasurementState::default() }
        }
    };
    let end = span.map_or(Picoseconds::NEVER, |span| span.1);
    let halt = run_to_the_end(engine, &mut state, messages, end, watch).err();
    let history = state.axis.windows(engine);
    if let Some(why) = halt {
        return Err(Halted { why, history });
    }
    let summary = Summary::of(engine);
    let (total, completion) = (engine.observer().total, engine.observer().latest_completion);
    Ok(FiniteMeasurement {
        completion,
        bandwidth: total.payload as f64 / senders.max(1) as f64 * 1e12
            / completion.max(Picoseconds(1)).0 as f64,
        messages: summary.message_latency.map_or(0, |latency| latency.count),
        payload: total.payload,
        summary,
        history,
    })
}

/// Simulates until nothing is left, or until `end`, beside loads.
fn run_to_the_end(
    engine: &mut Engine<'_, Collector>,
    state: &mut MeasurementState,
    messages: u64,
    end: Picoseconds,
    watch: &mut Watch<'_>,
) -> Result<(), Halt> {
    let mut delivered = engine.counters().packets_delivered;
    // Ranks may compute for seconds between two messages. A run that goes on from a checkpoint
    // looks at the same times.
    let next = |now: Picoseconds| now + LOOK_EVERY.max(now / LOOKS);
    while state.axis.run_until(engine, next(engine.now()).min(end)) {
        let packets = engine.counters().packets_delivered;
        if packets == delivered && engine.packets_under_way() > 0 {
            engine.find_deadlock().map_or(Ok(()), Err)?;
        }
        livelock(engine, &mut state.arrivals)?;
        delivered = packets;
        engine.observer().settle();
        let done = engine.observer().message_latency().map_or(0, |latency| latency.count);
        (watch.progress)(Progress {
            phase: Phase::Measuring,
            time: engine.now(),
            done: percent(done, messages),
            most: 100,
        });
        // Loads beside them would never end, or all remaining events happen later than can be told.
        if engine.now() >= end.min(END) {
            break;
        }
        (watch.keep)(Snapshot::new(engine, state));
    }
    engine.find_deadlock().map_or(Ok(()), |deadlock| Err(deadlock.into()))
}
