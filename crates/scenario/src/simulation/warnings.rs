//! Warnings beside a result's numbers: why a load is not steady or undecided, and what to type
//! next.

use crate::Scenario;
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Picoseconds, counted, time_text};
use flitlab_engine::Passage;
use flitlab_measure::{
    Cause, Doubt, ENOUGH_EFFECTIVE_WINDOWS, ENOUGH_MESSAGES, Ending, Livelock, LoadMeasurement,
    MAX_WINDOWS, Settings, WarmUp,
};
use flitlab_report::PointRow;

/// Why what comes to an end beside loads was not waited for.
pub(super) fn outgrown_warning(time: Picoseconds, growth: Option<f64>) -> String {
    let Some(growth) = growth else {
        return format!(
            "not steady: of what comes to an end nothing was delivered in the last three quarters of {}, while packets of the \
             loads beside it were, which may always go first. Lower a `load`, or choose another `router.arbitration`",
            time_text(time)
        );
    };
    format!(
        "not steady: beside the loads, which look past saturation, what comes to an end takes longer and longer: what is \
         under way grew by {:.1}% of what was created in the second half of {}. Lower a `load`, or begin earlier (`start`)",
        growth * 100.0,
        time_text(time)
    )
}

/// Says that only so many channels are listed, of how many.
pub(super) fn channels_warning(listed: usize, all: usize) -> Option<String> {
    (listed < all).then(|| format!("channels.csv lists the busiest {listed} channels of {all}"))
}

/// Says what routers have dropped.
pub(super) fn dropped_warning(row: &PointRow) -> Option<String> {
    let (packets, messages) = (row.packets_lost?, row.messages_lost?);
    (packets > 0).then(|| {
        format!(
            "{} waited at the head of a buffer for too long and were dropped, so {} will never be received",
            counted(narrow(packets), "packet"),
            counted(narrow(messages), "message")
        )
    })
}

/// Says what the numbers don't, and what to type next.
pub(super) fn load_warnings(
    measured: &LoadMeasurement,
    offered: f64,
    row: &PointRow,
    Scenario { measure, parameters, network, .. }: &Scenario,
) -> Vec<String> {
    let windows = measured.windows;
    let four_times = |windows: u32| windows.saturating_mul(4).min(MAX_WINDOWS);
    let longer = format!("--set measure.maximum_windows={}", four_times(windows.max(10)));
    let warning = match &measured.ending {
        Ending::NotSteady(cause) => not_steady(cause, offered, row, &longer),
        Ending::Undecided(Doubt::TooLittle { messages }) => {
            let auto = measure.window.map_or(String::new(), |window| {
                format!(" of {} (measure.window)", time_text(window))
            });
            format!(
                "undecided: only {messages} messages were received in {windows} windows{auto}, too few to tell \
                 whether the load is steady, which takes {ENOUGH_MESSAGES}; try {}",
                if measure.window.is_some() { "--set measure.window=auto" } else { &longer }
            )
        }
        Ending::Undecided(Doubt::WarmUp) => warm_up_too_short(measure, measured.warm_up),
        Ending::Undecided(Doubt::Scatter) => format!(
            "undecided: latencies differ so much that their mean has no confidence interval after {windows} windows, so \
             load {offered:.3} may be near saturation; try longer with {longer}"
        ),
        Ending::Undecided(Doubt::Filling) => format!(
            "undecided: in {windows} windows what waits at the sources grew, but less and less, so load {offered:.3} is \
             near saturation, or the network still fills; try longer with {longer}"
        ),
        Ending::Undecided(Doubt::Source { terminal, others }) => format!(
            "undecided: in {windows} windows the source queue of terminal {terminal}{} neither clearly grew nor ran \
             empty often enough, so load {offered:.3} is near saturation; try longer with {longer}",
            match others {
                0 => String::new(),
                1 => " and of another".into(),
                _ => format!(" and of {others} others"),
            }
        ),
        Ending::SteadyImprecise => format!(
            "{} {windows} windows{}, try {longer}",
            row.packet_latency_mean_ci95.zip(row.packet_latency_mean).map_or(
                "the mean latency has no confidence interval after".into(),
                |(half, mean)| format!(
                    "the mean latency is known to +-{:.1}% only, after",
                    half.0 as f64 / mean.max(Picoseconds(1)).0 as f64 * 100.0
                )
            ),
            few_effective(row.effective_windows)
                .unwrap_or_else(|| ": for more precision".into()),
        ),
        Ending::Interrupted(recovery) if recovery.recovery().is_none() => {
            "the network had not recovered at the end: more was under way than before the failure; a \
             lower load, or less that fails, leaves it time to"
                .into()
        }
        Ending::Deadlock(_) | Ending::Livelock(_) | Ending::Steady | Ending::Interrupted(_) => {
            return Vec::new();
        }
    };
    let bound = parameters.packets_on_a_link(network.fabric.cable_classes());
    let bound = bound.filter(|(most, sent)| f64::from(*most) < *sent);
    let units = if parameters.kind.grants_flits() { "flits" } else { "of the largest packets" };
    let bound = bound.map(|(most, sent)| {
        format!(
            "a channel sends {:.1}% of its rate at the most: replay buffer and numbers are for {most} {units}, \
             and {sent:.1} could be sent until one is acknowledged; raise link.errors.replay_buffer or \
             link.errors.sequence_bits",
            100.0 * f64::from(most) / sent
        )
    });
    [Some(warning), bound].into_iter().flatten().collect()
}

/// Says that what is under way was not level when the measurement began.
fn warm_up_too_short(measure: &Settings, warm_up: Picoseconds) -> String {
    let time = time_text(warm_up);
    match measure.warm_up {
        WarmUp::For(_) => format!(
            "undecided: what is under way still rose or fell after the warm-up of {time}; try a longer one with --set \
             'measure.warm_up=\"{}\"'",
            time_text(warm_up * 4)
        ),
        WarmUp::UntilLevel { most } => format!(
            "undecided: what is under way did not become level within the warm-up of {time}, and did not clearly grow \
             after it; try a longer warm-up with --set measure.warm_up_windows={}",
            most.max(5).saturating_mul(2).min(MAX_WINDOWS)
        ),
    }
}

/// Why a simulation was ended that would go on for ever, and what to change.
pub(super) fn livelock_warning(livelock: Livelock, passage: Option<Passage>) -> String {
    let way_out = match livelock {
        Livelock::Links { .. } => {
            let chance = passage.map_or(0.0, |passage| passage.probability);
            format!(
                ": one of the largest packets gets across with probability {chance:.2e}; make packets \
                 smaller (router.maximum_payload), or errors rarer ([link.errors])"
            )
        }
        Livelock::Ways { .. } => {
            "; a routing that bounds detours would have led them to their destinations".into()
        }
    };
    format!("livelock: {livelock}{way_out}")
}

/// Says that windows are too much alike, or too uneven, for their interval to be relied on.
fn few_effective(windows: Option<f64>) -> Option<String> {
    let few = windows.filter(|windows| *windows < ENOUGH_EFFECTIVE_WINDOWS)?;
    Some(format!(
        ", which tell no more than {few:.1} independent ones, too few to rely on the \
         mean or its interval: to measure longer"
    ))
}

/// Says by how much what is under way on output-queued routers grew.
pub(super) fn growing_warning(growth: f64, row: &PointRow) -> String {
    let accepted = row.accepted_load.unwrap_or(0.0);
    format!(
        "not steady: from the second to the last quarter of the messages what is under way grew by {:.1}% of what was created, so \
         load {:.3} looks past saturation (accepted {accepted:.3}); latencies depend on how many messages there are. Try --set \
         traffic.load={}",
        growth * 100.0,
        row.offered_load.unwrap_or(0.0),
        advised(accepted)
    )
}

/// Why it can't be told whether a load on output-queued routers is steady.
pub(super) const FEW_MESSAGES: &str = "undecided: fewer than four messages of each node don't tell whether what is under way grows; try --set \
                                       measure.messages=8";

/// Says how many nodes of output-queued routers send to themselves.
pub(super) fn silent_warning(silent: usize) -> Option<String> {
    (silent > 0).then(|| {
        format!(
            "{} no partner in this pattern and send to themselves, as in the paper's program: their packets are measured, too",
            if silent == 1 { "1 node has".into() } else { format!("{silent} nodes have") }
        )
    })
}

/// Says that packets on output-queued routers move no more.
pub(super) fn stalled_warning(time: Picoseconds, delivered: u64) -> String {
    format!(
        "livelock: at {} none of the packets that are left had arrived for as long as a million hops take, after {}",
        time_text(time),
        counted(narrow(delivered), "packet")
    )
}

/// A load to try, of three digits and never 0.
fn advised(load: f64) -> String {
    if load >= 0.01 { format!("{load:.3}") } else { format!("{:.2e}", load.max(1e-9)) }
}

/// Why a load is not steady, and what load may be.
fn not_steady(cause: &Cause, offered: f64, row: &PointRow, longer: &str) -> String {
    let latencies = "latencies depend on how long was simulated";
    let accepted = row.accepted_load.unwrap_or(0.0);
    match cause {
        Cause::Bound { name, excess } => format!(
            "not steady: {name} can carry load {:.4} at most, and {offered:.4} is offered; {latencies}. Try \
             --set traffic.load={}",
            offered / excess,
            advised(offered / excess * 0.9)
        ),
        Cause::Source { terminal, growth } => format!(
            "not steady: the source queue of terminal {terminal} grew by {:.1}% of what a source offers in the \
             mean, so load {offered:.3} is past saturation for it; {latencies}. Try a lower load, or {longer}",
            growth * 100.0
        ),
        Cause::Whole { growth } => format!(
            "not steady: what waits at the sources grew by {:.1}% of what was offered, so load {offered:.3} looks \
             past saturation (accepted {accepted:.3}); {latencies}. Try --set traffic.load={}",
            growth * 100.0,
            advised(accepted)
        ),
    }
}

/// Why a finite workload does not come to its end though it goes on.
pub(crate) const TOO_LONG: &str = "what is left happens later than can be told (213 days): shorten what is computed, \
                                   or the gaps between messages, or do it less often";
