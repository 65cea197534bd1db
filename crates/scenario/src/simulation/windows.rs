//! The rows of a simulation's windows: of the whole network, then of each workload if there are
//! several.

use super::Simulation;
use super::rows::whole;
use crate::workload::Share;
use flitlab_base::units::Picoseconds;
use flitlab_engine::Engine;
use flitlab_measure::{Collector, Delivered, Phase, Window};
use flitlab_report::{WindowPhase, WindowRow};

impl Simulation {
    /// The rows of windows that an engine has simulated.
    pub(super) fn window_rows(
        &self,
        engine: &Engine<'_, Collector>,
        windows: &[Window],
    ) -> Vec<WindowRow> {
        let mut places: Vec<u32> =
            windows.iter().filter_map(|window| Some(window.fullest?.place)).collect();
        places.sort_unstable();
        places.dedup();
        let names = engine.channel_names(&places);
        let name_of = |place| places.binary_search(&place).ok().map(|at| names[at].clone());
        let senders = self.senders().len();
        let shares: Vec<Share<'_>> = self.shares().collect();
        let mut rows = Vec::new();
        for window in windows {
            let delivered = &window.delivered;
            rows.push(WindowRow {
                accepted_load: Some(self.accepted(delivered, window.length(), senders)),
                packet_latency_p99: window.latency_p99,
                flits_under_way: Some(window.under_way),
                packets_under_way: Some(window.packets_under_way),
                utilisation_mean: Some(window.mean_utilisation),
                utilisation_busiest: Some(window.busiest_channel),
                utilisation_fullest: window.fullest.map(|it| it.utilisation),
                fullest_channel: window.fullest.and_then(|it| name_of(it.place)),
                ..row(window, delivered)
            });
            for share in &shares {
                let Some(own) = window.classes.get(usize::from(share.class())) else { break };
                let (delivered, senders) = (&own.delivered, share.senders().len());
                rows.push(WindowRow {
                    workload: Some(share.member().name.clone()),
                    accepted_load: Some(self.accepted(delivered, window.length(), senders)),
                    packet_latency_p99: own.latency_p99,
                    flits_under_way: own.under_way,
                    ..row(window, delivered)
                });
            }
        }
        rows
    }

    /// Flits that were delivered in some time, as a fraction of capacity, mean over so many senders.
    fn accepted(&self, delivered: &Delivered, time: Picoseconds, senders: usize) -> f64 {
        let flit_time = self.scenario().parameters.link_flit_time();
        let flits = delivered.flits as f64 * flit_time.0 as f64 / time.0 as f64;
        flits / senders.max(1) as f64 * (1.0 / self.fabric().capacity())
    }
}

/// What the rows of a window have in common.
fn row(window: &Window, &Delivered { packets, latency, .. }: &Delivered) -> WindowRow {
    WindowRow {
        phase: match window.phase {
            Phase::WarmUp => WindowPhase::WarmUp,
            Phase::Measuring => WindowPhase::Measured,
        },
        start: window.start,
        end: window.end,
        packets: Some(packets),
        packet_latency_mean: (packets > 0).then(|| whole(latency as f64 / packets as f64)),
        ..WindowRow::default()
    }
}
