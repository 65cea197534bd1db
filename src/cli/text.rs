//! Results as text for people.

use super::terminal;
use flitlab::engine::{ChannelKind, PacketKind, Parameters};
use flitlab::measure::Spent;
use flitlab::narrow::{narrow, rounded};
use flitlab::report::{
    ChannelRow, FailureRow, FlowRow, PathChannelRow, PhaseRow, PointRow, Status,
};
use flitlab::routing::Routes;
use flitlab::scenario::workload::Share;
use flitlab::scenario::{Network, Scenario, TopologySpec};
use flitlab::simulation::{OverBound, Simulation, Work};
use flitlab::topology::{CableClass, Fabric, Torus};
pub(super) use flitlab::units::counted;
use flitlab::units::{
    Picoseconds, Rate, flit_time, rate_text, short_time_text, short_time_text_like, time_text,
};

/// The column in which the value of a fact begins.
pub(super) const COLUMN: usize = 20;

/// How many of the busiest channels are listed.
const BUSIEST: usize = 8;

/// `4x2x2x2 torus` or `8x8 mesh`, open dimensions named if only some are.
pub(super) fn torus_text(torus: &Torus) -> String {
    let sizes: Vec<String> = torus.sizes().iter().map(u32::to_string).collect();
    let open: Vec<&str> = (0..torus.dimensions())
        .filter(|&dimension| torus.open(dimension))
        .map(|dimension| flitlab::topology::DIMENSION_NAMES[dimension])
        .collect();
    let sizes = sizes.join("x");
    match open.len() {
        0 => format!("{sizes} torus"),
        all if all == torus.dimensions() => format!("{sizes} mesh"),
        _ => format!("{sizes} torus, open in {}", open.join(" and ")),
    }
}

/// Describes a fabric, and which of its switches and cables have failed.
pub(super) fn fabric_text(network: &Network) -> String {
    let spec = match &network.topology {
        TopologySpec::Torus(torus, _) => return torus_text(torus),
        TopologySpec::Switched(spec) => spec,
    };
    let counts = |fabric: &Fabric| (fabric.cables().count(), fabric.live_terminals().count());
    let (whole, left) = (counts(&spec.whole), counts(&network.fabric));
    let lost = [(whole.0 - left.0, "cables"), (whole.1 - left.1, "terminals")];
    let lost: Vec<String> = lost
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match lost.len() {
        0 => spec.plan.to_string(),
        _ => format!("{}, without {}", spec.plan, lost.join(" and ")),
    }
}

/// By what share a rate may be rounded without a word from a run.
const ROUNDED: f64 = 0.01;

/// Rates that give no whole number of picoseconds a flit, and by how much they are off: those that
/// are off by more than a share.
pub(super) fn rounded_rates(
    parameters: &Parameters,
    cables: &[CableClass],
    more_than: f64,
) -> Vec<String> {
    let mut rates: Vec<(&str, Rate)> = vec![
        ("link.rate", parameters.link_rate),
        ("adapter.injection_rate", parameters.injection_rate),
        ("adapter.ejection_rate", parameters.ejection_rate),
    ];
    for rate in cables.iter().map(|&class| parameters.rate_of(class)) {
        if rates.iter().all(|it| it.1 != rate) {
            rates.push(("the rate of other cables", rate));
        }
    }
    let rounded = rates.into_iter().filter_map(|(key, rate)| {
        let (time, error) = flit_time(parameters.flit, rate);
        (error.abs() > more_than).then(|| {
            format!(
                "{key} = {}: a flit takes {} (rounded, {:+.4}%)",
                rate_text(rate),
                time_text(time),
                error * 100.0
            )
        })
    });
    rounded.collect()
}

/// Returns the remarks of a run or a sweep about rates that are far off.
pub(super) fn far_rates<'s>(all: impl IntoIterator<Item = &'s Scenario>) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let of = |it: &Scenario| {
        rounded_rates(&it.parameters, &it.network.topology.cable_classes(), ROUNDED)
    };
    for note in all.into_iter().flat_map(of) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Returns what is to be said of the workloads of scenarios, once of each.
pub(super) fn notes<'s>(all: impl IntoIterator<Item = &'s Scenario>) -> Vec<String> {
    let members = all.into_iter().flat_map(|scenario| scenario.workload.members());
    let mut notes: Vec<String> = Vec::new();
    for note in members.flat_map(|member| member.spec.notes()) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    notes
}

/// Returns a note on workloads whose packets choose no hops though the routing is adaptive.
pub(super) fn adaptive_note(simulation: &Simulation) -> Option<String> {
    let Routes::Adaptive(_) = simulation.routes() else { return None };
    let scenario = simulation.scenario();
    let workload = simulation.workload();
    let keeps = |share: &Share<'_>| {
        let usual = scenario.parameters.class(share.class()).packets == PacketKind::Usual;
        usual && workload.kinds_of(share.class()).1
    };
    let names: Vec<&str> = simulation.shares().filter(keeps).map(|it| &*it.member().name).collect();
    let kind = simulation.shares().find(keeps)?.member().kind;
    let way_out = match scenario.workload.are_several() {
        true => {
            format!("`packets = \"adaptive\"` in [workloads.{}] has them choose, too", names[0])
        }
        false => format!(
            "`packets = \"adaptive\"` in a table [workloads.all], with [workloads.all.{kind}] in place of [{kind}], has \
             them choose, too"
        ),
    };
    Some(format!(
        "requests and responses of {} go in direction order, not by the adaptive routing; {way_out}",
        names.join(", ")
    ))
}

/// Describes the outcome of a simulation, one fact a line.
pub(super) fn outcome(row: &PointRow, channels: &[ChannelRow], work: &Work) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &terminal::fact(name, &value, COLUMN);
    let (start, stop) = (row.warm_up.unwrap_or_default(), row.simulated_time.unwrap_or_default());
    let [warm_up, end] = [start, stop].map(short_time_text);
    let state = match row.status {
        Status::Steady if row.warm_up.is_none() => {
            format!("steady; all packets measured, from the first to the last in {end}")
        }
        Status::Steady => format!(
            "steady; {warm_up} warm-up, then {} windows in {}",
            row.windows.unwrap_or(0),
            short_time_text(stop.saturating_sub(start))
        ),
        Status::NotSteady => "not steady (see the warning)".into(),
        Status::Undecided => "undecided (see the warning)".into(),
        Status::Deadlock => format!("deadlock, found at {end}"),
        Status::Completed => "completed".into(),
        Status::Livelock => format!("livelock, ended at {end}"),
        Status::Stuck => format!("stuck: ranks wait for what never comes, since {end}"),
        Status::TooLong => "too long: what is left happens later than can be told".into(),
    };
    line("state", state);
    if let (Some(load), Some(payload)) = (row.offered_load, row.offered_payload) {
        line("offered", format!("load {load:.4}, {payload:.3} GB/s of payload a sending node"));
    }
    if let (Some(load), Some(payload)) = (row.accepted_load, row.accepted_payload) {
        let least = row.accepted_minimum_source.map(|least| format!("least served {least:.3}"));
        let fairness = row.jain_fairness.map(|fairness| format!("Jain fairness {fairness:.4}"));
        let beside: Vec<String> = least.into_iter().chain(fairness).collect();
        let beside = match &beside[..] {
            [] => String::new(),
            _ => format!(" ({})", beside.join(", ")),
        };
        let half =
            row.accepted_load_ci95.map_or(String::new(), |half| format!(" +-{half:.4} (95%)"));
        let accepted =
            format!("load {load:.4}{half}, {payload:.3} GB/s of payload a sending node{beside}");
        line("accepted", accepted);
    }
    if let Some(time) = row.completion_time {
        line("completion time", short_time_text(time));
    }
    if let (Some(_), Some(_)) = (row.completion_time, row.warm_up) {
        let times =
            format!("all from {warm_up} to {end}, while operations go on; the load's packets, too");
        line("measured", times);
    }
    if let Some(bandwidth) = row.bandwidth {
        line("bandwidth", format!("{bandwidth:.3} GB/s of payload a node"));
    }
    if let Some((each, all)) = row.operation_rate.zip(row.operation_rate_total) {
        let rate = format!("{each:.3} million a second and node, {all:.3} in all");
        line("operations", rate);
    }
    let of_path = [
        row.path_compute,
        row.path_host,
        row.path_partner,
        row.path_injection,
        row.path_queueing,
        row.path_flight,
    ];
    let of_ranks = [
        row.ranks_compute,
        row.ranks_host,
        row.ranks_partner,
        row.ranks_injection,
        row.ranks_queueing,
        row.ranks_flight,
    ];
    for (name, times) in [("critical path", of_path), ("ranks, mean", of_ranks)] {
        let sum: f64 = times.iter().flatten().map(|&time| time.0 as f64).sum();
        let share = |(spent, time): (Spent, Option<Picoseconds>)| {
            let time = time.filter(|&time| time > Picoseconds(0))?.0 as f64;
            Some(format!("{} {:.1}%", spent.name(), time / sum * 100.0))
        };
        let shares: Vec<String> = Spent::ALL.into_iter().zip(times).filter_map(share).collect();
        if !shares.is_empty() {
            line(name, shares.join(", "));
        }
    }
    type Named = (&'static str, Option<Picoseconds>);
    let latency = |mean: Option<Picoseconds>, half: Option<Picoseconds>, rest: [Named; 5]| {
        let mean = mean?;
        let half = half.map(|half| format!(" +-{} (95%)", short_time_text_like(half, mean)));
        let rest = rest
            .iter()
            .filter_map(|(name, it)| Some(format!(", {name} {}", short_time_text((*it)?))));
        let (mean, half) = (short_time_text(mean), half.unwrap_or_default());
        Some(format!("mean {mean}{half}{}", rest.collect::<String>()))
    };
    let packet = [
        ("p50", row.packet_latency_p50),
        ("p95", row.packet_latency_p95),
        ("p99", row.packet_latency_p99),
        ("p99.9", row.packet_latency_p999),
        ("max", row.packet_latency_max),
    ];
    if let Some(value) = latency(row.packet_latency_mean, row.packet_latency_mean_ci95, packet) {
        line("packet latency", value);
    }
    let message = [
        ("p50", row.message_latency_p50),
        ("p95", row.message_latency_p95),
        ("p99", row.message_latency_p99),
        ("p99.9", row.message_latency_p999),
        ("max", row.message_latency_max),
    ];
    if let Some(value) = latency(row.message_latency_mean, None, message) {
        line("message latency", value);
    }
    if let (Some(mean), Some(hops)) = (row.network_latency_mean, row.hops_mean) {
        line("from injection", format!("mean {} over {hops:.3} hops", short_time_text(mean)));
    }
    let derouted = [
        ("by outflank nodes", row.derouted_outflank),
        ("by wraparound nodes", row.derouted_wraparound),
        ("into other orthants", row.derouted_orthant),
        ("at the source", row.derouted_at_source),
        ("on the way", row.derouted_on_the_way),
    ];
    let derouted: Vec<String> = derouted
        .iter()
        .filter_map(|(kind, share)| Some(format!("{:.2}% {kind}", 100.0 * (*share)?)))
        .collect();
    if let (Some(packets), Some(messages)) = (row.packets_lost, row.messages_lost) {
        let packets = counted(narrow(packets), "packet");
        let messages = counted_are(narrow(messages), "message");
        line("lost", format!("{packets}; {messages} not received"));
        let after = |time: Option<Picoseconds>| match time {
            Some(time) => format!("after {}", time_text(time)),
            None => "not before the end".into(),
        };
        // Of a load, only one that is interrupted is completed.
        if row.status == Status::Completed && row.completion_time.is_none() {
            line("sources went on", after(row.interruption));
            line("recovered", after(row.recovery));
        }
    }
    if let (Some(damaged), Some(resent)) = (row.damaged_packets, row.resent_flits) {
        let (damaged, resent) = (100.0 * damaged, 100.0 * resent);
        let text = format!(
            "{damaged:.3}% of sendings damaged on a channel, {resent:.3}% of flits sent again"
        );
        line("links that err", text);
    }
    if let (Some(share), Some(buffer)) = (row.overtaken, row.reorder_buffer)
        && share > 0.0
    {
        let kept = if buffer == 1 { "1 packet" } else { &format!("{buffer} packets") };
        let share = 100.0 * share;
        let text = format!("{share:.2}% of packets; for order a sink keeps {kept} of a pair");
        line("overtaken", text);
    }
    if !derouted.is_empty() {
        line("derouted packets", derouted.join(", "));
    }
    let busiest = busiest(channels);
    let width = busiest.iter().map(|channel| channel.channel.chars().count()).max().unwrap_or(0);
    for (place, channel) in busiest.iter().enumerate() {
        let (name, used) = (&channel.channel, channel.utilisation * 100.0);
        let text = format!("{name:<width$} {used:5.1}% used{}", waited(channel));
        line(if place == 0 { "busiest channels" } else { "" }, text);
    }
    // Under LogGOPS; a program that only computes crosses no network that is simulated.
    let Some(digest) = row.digest else {
        let time = work.elapsed.as_secs_f64();
        line("simulated", format!("no network, in {time:.2} s"));
        return text;
    };
    let (hops, cpu) = (work.counters.packet_hops, work.simulating.as_secs_f64());
    // In a single switch packets have no hops.
    let each = if hops == 0 {
        String::new()
    } else {
        let million = hops as f64 / cpu.max(1e-9) / 1e6;
        format!(": {:.0} ns each, {million:.2} million a second", work.nanoseconds_each(hops))
    };
    let simulated = format!(
        "{hops} packet-hops in {:.2} s, {cpu:.2} s of CPU{each}; digest {digest:016x}",
        work.elapsed.as_secs_f64()
    );
    line("simulated", simulated);
    text
}

/// How far something that ends stayed from its bound, and why, a line each.
pub(super) fn over_bound(over: Option<&OverBound>) -> String {
    let Some(OverBound { ratio, bound_us, bottleneck, why }) = over else { return String::new() };
    let bound = short_time_text(Picoseconds(rounded(bound_us * 1e6)));
    let first = format!("{ratio:.2} times at least {bound}, by {bottleneck}");
    let lines = [("completion/bound", &first)].into_iter().chain(why.iter().map(|it| ("", it)));
    lines.map(|(name, text)| terminal::fact(name, text, COLUMN)).collect()
}

/// The channels that held a critical path up longest.
pub(super) fn held_up(rows: &[PathChannelRow]) -> &[PathChannelRow] {
    let some = rows.iter().take(BUSIEST).take_while(|row| row.held_up > Picoseconds::ZERO);
    &rows[..some.count()]
}

/// The channels that held a critical path up longest, a line each.
pub(super) fn path_channels(rows: &[PathChannelRow]) -> String {
    // Each of several applications has a path of its own.
    let paths = rows.chunk_by(|one, next| one.workload == next.workload);
    let told = paths.flat_map(|rows| {
        let all: Picoseconds = rows.iter().map(|row| row.held_up).sum();
        held_up(rows).iter().map(move |row| (row, all))
    });
    let lines = told.enumerate().map(|(place, (row, all))| {
        let name = if place == 0 { "path held up by" } else { "" };
        let workload = row.workload.as_ref().map_or(String::new(), |name| format!("{name}: "));
        let (time, share) = (short_time_text(row.held_up), row.held_up.0 as f64 / all.0 as f64);
        let channel = &row.channel;
        let text = format!("{workload}{channel} {time}, {:.1}% of its queueing", 100.0 * share);
        terminal::fact(name, &text, COLUMN)
    });
    lines.collect()
}

/// The most phases that are told.
const PHASES: usize = 8;

/// What the phases of applications took, a line each, the one of which most is exposed first.
pub(super) fn phases(rows: &[PhaseRow]) -> String {
    let mut sorted: Vec<&PhaseRow> = rows.iter().filter(|row| row.phase != "-").collect();
    sorted.sort_by_key(|row| std::cmp::Reverse(PhaseRow::exposed(row.ranks())));
    let lines = sorted.iter().take(PHASES).enumerate().map(|(place, row)| {
        let workload = row.workload.as_ref().map_or(String::new(), |name| format!("{name}: "));
        let text = format!(
            "{workload}{} exposes {} of communication a rank, {} of the critical path",
            row.phase,
            short_time_text(PhaseRow::exposed(row.ranks())),
            short_time_text(PhaseRow::exposed(row.path()))
        );
        terminal::fact(if place == 0 { "phases" } else { "" }, &text, COLUMN)
    });
    lines.collect()
}

/// How long the flows of a trace took, a line for all and one for each decade of sizes.
pub(super) fn flows(rows: &[FlowRow]) -> String {
    let lines = rows.iter().enumerate().map(|(place, row)| {
        let sizes = match place {
            0 => String::new(),
            _ => format!(" of {} to {} B", row.from_bytes, row.to_bytes),
        };
        let [mean, p99] = [row.completion_mean, row.completion_p99].map(short_time_text);
        let text = format!(
            "{}{sizes}: mean {mean}, 99% {p99}; slowdown mean {:.2}, 99% {:.2}",
            row.flows, row.slowdown_mean, row.slowdown_p99
        );
        terminal::fact(if place == 0 { "flows" } else { "" }, &text, COLUMN)
    });
    lines.collect()
}

/// What failed during operation and what came of it, a line a failure, if there were several.
pub(super) fn failures(rows: &[FailureRow]) -> String {
    let lines = rows.iter().enumerate().map(|(place, row)| {
        let after = |time: Option<Picoseconds>| match time {
            Some(time) => format!("after {}", time_text(time)),
            None => "not before the end".into(),
        };
        let text = format!(
            "at {}: {} lost, {} not received; sources went on {}, recovered {}",
            time_text(row.time),
            counted(narrow(row.packets_lost), "packet"),
            counted_are(narrow(row.messages_lost), "message"),
            after(row.interruption),
            after(row.recovery)
        );
        terminal::fact(if place == 0 { "failures" } else { "" }, &text, COLUMN)
    });
    lines.collect()
}

/// How many packets waited for a channel, and for how long heads of buffers did and why, as far as that
/// was measured.
fn waited(channel: &ChannelRow) -> String {
    let queue = channel
        .queue_mean
        .map_or(String::new(), |queue| format!("; {queue:.2} packets waited for it in the mean"));
    let reasons = [
        channel.stalled_no_credit,
        channel.stalled_bubble,
        channel.stalled_output_busy,
        channel.stalled_input_busy,
    ];
    let [Some(credits), Some(bubble), Some(output), Some(input)] =
        reasons.map(|share| share.map(|share| share * 100.0))
    else {
        return queue;
    };
    let all = credits + bubble + output + input;
    format!(
        "{queue}; heads of buffers waited {all:.1}% of the time (credits {credits:.1}, bubble {bubble:.1}, output {output:.1}, input {input:.1})"
    )
}

/// The network channels with the highest utilisation, ties in the engine's order.
pub(super) fn busiest(channels: &[ChannelRow]) -> Vec<&ChannelRow> {
    let mut rows: Vec<&ChannelRow> =
        channels.iter().filter(|row| row.kind == ChannelKind::Network && row.flits > 0).collect();
    rows.sort_by(|a, b| b.utilisation.total_cmp(&a.utilisation));
    rows.truncate(BUSIEST);
    rows
}

/// One line: what is simulated.
pub(super) fn headline(simulation: &Simulation) -> String {
    let scenario = simulation.scenario();
    format!(
        "{}: {}, {} nodes, seed {}",
        scenario.name,
        fabric_text(&scenario.network),
        simulation.fabric().live_terminals().count(),
        scenario.seed
    )
}

/// That so many of the points of a sweep keep channels by group, and how to keep each.
pub(super) fn channels_by_group(points: usize, of: usize) -> String {
    let which = if points < of { format!(" of {points} of {of} points") } else { String::new() };
    format!(
        "channels.csv has the mean and the most of each group of channels{which}; `channels = \"all\"` in [results] \
         keeps each channel"
    )
}

/// `1 point is`, `3 points are`.
pub(super) fn counted_are(count: usize, noun: &str) -> String {
    format!("{} {}", counted(count, noun), if count == 1 { "is" } else { "are" })
}

/// About so long, for people.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".into(),
        ..0.095 => format!("{:.0} ms", (seconds * 1e3).max(1.0)),
        ..9.95 => format!("{seconds:.1} s"),
        ..99.5 => format!("{seconds:.0} s"),
        ..570.0 => format!("{:.1} min", seconds / 60.0),
        ..5_970.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3_600.0),
        _ => format!("{:.1} days", seconds / 86_400.0),
    }
}

/// How packets can deadlock, and what becomes of them.
pub(super) fn dropped_text(how: &str, lifetime: Picoseconds) -> String {
    format!(
        "{how}; they go on, since a packet that waits at the head of a buffer for {} is dropped",
        time_text(lifetime)
    )
}
