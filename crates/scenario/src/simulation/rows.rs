//! Result rows from what was measured, without knowing the fabric.

use flitlab_base::narrow::rounded;
use flitlab_base::units::Picoseconds;
use flitlab_engine::{ChannelReport, Counters, Parameters};
use flitlab_fabric::Fabric;
use flitlab_measure::{
    Distribution, Ending, FailureRecovery, PairLatency, Quantile, Recovery, Reordering,
};
use flitlab_report::{ChannelRow, FailureRow, LatencyRow, PairRow, PointRow, Status};

/// Returns the row without measurements, for a point that deadlocked: how far it got depends on the
/// simulated time.
pub(super) fn without_results(row: PointRow) -> PointRow {
    PointRow {
        accepted_load: None,
        accepted_load_ci95: None,
        accepted_payload: None,
        accepted_minimum_source: None,
        jain_fairness: None,
        packet_latency_mean_ci95: None,
        effective_windows: None,
        network_latency_mean: None,
        hops_mean: None,
        derouted_outflank: None,
        derouted_wraparound: None,
        derouted_orthant: None,
        derouted_at_source: None,
        derouted_on_the_way: None,
        overtaken: None,
        reorder_buffer: None,
        ..with_latencies(row, None, None)
    }
}

/// Fills in how far packets were out of order, if they can be.
pub(super) fn with_order(row: PointRow, reordering: Option<Reordering>) -> PointRow {
    PointRow {
        overtaken: reordering.and_then(|it| it.share()),
        reorder_buffer: reordering.filter(|it| it.packets > 0).map(|it| it.buffer),
        ..row
    }
}

/// Fills in what links have damaged and sent again, if they can err.
pub(super) fn with_link_errors(
    row: PointRow,
    parameters: &Parameters,
    counters: &Counters,
) -> PointRow {
    let errs = parameters.errors.is_some();
    let share = |part: u64, of: u64| errs.then(|| part as f64 / of.max(1) as f64);
    // Where flits take turns, flits are damaged.
    let across =
        if parameters.kind.grants_flits() { counters.flit_hops } else { counters.packet_hops };
    PointRow {
        damaged_packets: share(counters.damaged_packets, across + counters.damaged_packets),
        resent_flits: share(counters.flits_resent, counters.flit_hops),
        ..row
    }
}

/// The state of a load's point whose measurement ended so.
pub(super) fn status_of(ending: &Ending) -> Status {
    match ending {
        Ending::Steady | Ending::SteadyImprecise => Status::Steady,
        Ending::NotSteady(_) => Status::NotSteady,
        Ending::Undecided(_) => Status::Undecided,
        Ending::Deadlock(_) => Status::Deadlock,
        Ending::Livelock(_) => Status::Livelock,
        Ending::Interrupted(_) => Status::Completed,
    }
}

/// Fills in how an interruption passed, if there was one.
pub(super) fn with_recovery(row: PointRow, ending: &Ending) -> PointRow {
    let Ending::Interrupted(recovery) = ending else { return row };
    PointRow {
        packets_lost: Some(recovery.packets_lost()),
        messages_lost: Some(recovery.messages_lost()),
        interruption: Some(recovery.interruption),
        recovery: recovery.recovery(),
        ..row
    }
}

/// A row for each failure, if there were several.
pub(super) fn failure_rows(ending: &Ending) -> Vec<FailureRow> {
    let Ending::Interrupted(Recovery { failures, .. }) = ending else { return Vec::new() };
    if failures.len() == 1 {
        return Vec::new();
    }
    let row = |&FailureRecovery { at, report, recovered }: &FailureRecovery| FailureRow {
        time: at,
        packets_under_way: report.packets_under_way,
        packets_lost: report.packets_lost,
        messages_lost: report.messages_lost,
        interruption: report.resumed.map(|time| time - at),
        recovery: recovered.map(|time| time - at),
    };
    failures.iter().map(row).collect()
}

/// Fills in what routers have dropped, if they drop packets.
pub(super) fn with_dropped(row: PointRow, drops: bool, counters: &Counters) -> PointRow {
    if !drops {
        return row;
    }
    let (packets_lost, messages_lost) = (Some(counters.packets_lost), Some(counters.messages_lost));
    PointRow { packets_lost, messages_lost, ..row }
}

pub(super) fn with_latencies(
    row: PointRow,
    packets: Option<Distribution>,
    messages: Option<Distribution>,
) -> PointRow {
    PointRow {
        packets: packets.map(|latency| latency.count),
        packet_latency_mean: packets.map(|latency| whole(latency.mean)),
        packet_latency_p50: packets.map(|latency| latency.p50),
        packet_latency_p95: packets.map(|latency| latency.p95),
        packet_latency_p99: packets.map(|latency| latency.p99),
        packet_latency_p999: packets.map(|latency| latency.p999),
        packet_latency_max: packets.map(|latency| latency.maximum),
        message_latency_mean: messages.map(|latency| whole(latency.mean)),
        message_latency_p50: messages.map(|latency| latency.p50),
        message_latency_p95: messages.map(|latency| latency.p95),
        message_latency_p99: messages.map(|latency| latency.p99),
        message_latency_p999: messages.map(|latency| latency.p999),
        message_latency_max: messages.map(|latency| latency.maximum),
        ..row
    }
}

/// A mean in picoseconds, rounded to whole ones.
pub(super) fn whole(mean: f64) -> Picoseconds {
    rounded(mean)
}

pub(super) fn channel_rows(channels: &[ChannelReport]) -> Vec<ChannelRow> {
    channels.iter().map(ChannelRow::new).collect()
}

pub(super) fn pair_rows(fabric: &Fabric, pairs: &[PairLatency]) -> Vec<PairRow> {
    let name =
        |terminal: Option<u32>| terminal.map_or_else(String::new, |it| fabric.terminal_name(it));
    let row = |it: &PairLatency| PairRow {
        source: name(it.source),
        destination: name(it.destination),
        packets: it.packets,
        packet_latency_mean: it.mean,
        packet_latency_max: it.maximum,
    };
    pairs.iter().map(row).collect()
}

pub(super) fn latency_rows(quantiles: &[Quantile]) -> Vec<LatencyRow> {
    quantiles.iter().map(LatencyRow::new).collect()
}
