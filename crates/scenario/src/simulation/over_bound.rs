//! How far a finite workload stayed from its bound, and why, in sentences.

use serde::Serialize;

use super::Simulation;
use flitlab_base::narrow::rounded;
use flitlab_base::units::{Picoseconds, short_time_text};
use flitlab_engine::ChannelKind;
use flitlab_report::{ChannelRow, PointRow};

/// From how many times its bound on it is told why a workload took so long.
const WORTH_TELLING: f64 = 1.1;

/// How many times as long as its bound a workload took, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverBound {
    /// Completion time over bound: 1 at best.
    pub ratio: f64,
    pub bound_us: f64,
    /// The reason for the bound: a channel, or a kind of channel.
    pub bottleneck: String,
    /// Sentences, the most likely cause first; none if the bound was nearly reached.
    pub why: Vec<String>,
}

impl OverBound {
    /// Of what a simulation gave; `None` if it has no bound, or did not end.
    pub fn new(
        simulation: &Simulation,
        measured: &PointRow,
        channels: &[ChannelRow],
    ) -> Option<Self> {
        let bound = simulation.completion_bound().filter(|bound| bound.time > Picoseconds::ZERO)?;
        let completion = measured.completion_time?;
        let ratio = completion.0 as f64 / bound.time.0 as f64;
        let mut why = Vec::new();
        if ratio >= WORTH_TELLING {
            let only = simulation.only().map(|share| (share, &share.member().workload));
            why.extend(
                only.and_then(|(share, workload)| {
                    workload.why_over_bound(share, &bound, completion)
                }),
            );
            why.extend(busiest(channels, completion));
            if !simulation.scenario().parameters.kind.sends_packets_from_outputs() {
                why.extend(stalls(channels));
            }
        }
        let bound_us = bound.time.0 as f64 / 1e6;
        Some(Self { ratio, bound_us, bottleneck: bound.bottleneck, why })
    }
}

/// How long the busiest channel was busy, and what waited for it.
fn busiest(channels: &[ChannelRow], completion: Picoseconds) -> Option<String> {
    let most =
        |one: &&ChannelRow, other: &&ChannelRow| one.utilisation.total_cmp(&other.utilisation);
    // Of equal ones the first.
    let busiest = channels.iter().rev().max_by(most)?;
    let waited = busiest
        .queue_mean
        .map_or(String::new(), |queue| format!("; {queue:.2} packets waited for it in the mean"));
    Some(format!(
        "the busiest channel, {}, carried flits for {}, {:.1}% of the time{waited}",
        busiest.channel,
        short_time_text(Picoseconds(rounded(busiest.utilisation * completion.0 as f64))),
        100.0 * busiest.utilisation
    ))
}

/// For how long heads of buffers waited for channels between routers, by reason.
fn stalls(channels: &[ChannelRow]) -> Option<String> {
    let network: Vec<&ChannelRow> =
        channels.iter().filter(|it| it.kind == ChannelKind::Network && it.flits > 0).collect();
    let mean = |share: fn(&ChannelRow) -> Option<f64>| {
        let sum: Option<f64> = network.iter().map(|&channel| share(channel)).sum();
        Some(100.0 * sum? / network.len() as f64)
    };
    if network.is_empty() {
        return None;
    }
    let reasons = [
        (mean(|it| it.stalled_no_credit), "for credits"),
        (mean(|it| it.stalled_bubble), "for the bubble of a ring"),
        (mean(|it| it.stalled_output_busy), "for a channel that was sending others"),
        (mean(|it| it.stalled_input_busy), "for an input that was sending others"),
    ];
    let Some(mut reasons) =
        reasons.into_iter().map(|(share, name)| Some((share?, name))).collect::<Option<Vec<_>>>()
    else {
        return Some(
            "link.sharing = { flit = { stall_times = true } } has it measured why heads of buffers \
             waited"
                .into(),
        );
    };
    reasons.sort_by(|one, other| other.0.total_cmp(&one.0));
    let all: f64 = reasons.iter().map(|it| it.0).sum();
    let list: Vec<String> = reasons
        .iter()
        .filter(|it| it.0 >= 0.05)
        .map(|(share, name)| format!("{share:.1}% {name}"))
        .collect();
    if list.is_empty() {
        return Some("heads of buffers hardly waited for channels between routers".into());
    }
    Some(format!(
        "heads of buffers waited for each channel between routers {all:.1}% of the time in the mean: {}",
        list.join(", ")
    ))
}
