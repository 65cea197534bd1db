//! `[flows]`: the messages of a trace.

use std::sync::Arc;

use super::application::classes_of_way;
use super::{
    Bound, BoundWorkload, Checked, Ended, Facts, Given, Hangs, LARGEST_MESSAGE, Room, Share,
    WorkloadKind, WorkloadSpec,
};
use crate::Scenario;
use crate::checks::Checks;
use crate::simulation::SetupError;
use flitlab_base::document::{Reader, Text, read_other};
use flitlab_base::narrow::rounded;
use flitlab_base::registry::Row;
use flitlab_base::units::{Bytes, Picoseconds, counted, time_text};
use flitlab_engine::EmptyNetwork;
use flitlab_report::{FlowRow, PointResult};
use flitlab_traffic::{Access, Flow, Flows, FlowsSpec, Pattern, Workload};

pub(super) const FLOWS: Row<WorkloadKind> = Row::new(
    "flows",
    "The messages of a trace: of each a time, a source, a destination and a size.",
    WorkloadKind { purpose: "for the messages of a trace", beside_load: false, read },
);

fn read(reader: &mut Reader<'_>, given: &mut Given<'_>) -> Option<Arc<dyn WorkloadSpec>> {
    let kind = Text { what: "a file's path", example: "flows.csv" };
    let doc = "A CSV file beside the scenario, with the columns `time_us`, `source`, `destination` and `bytes` in any order, \
               and a row for each flow in any order. Other units of the time are `time_ps`, `time_ns`, `time_ms` and \
               `time_s`. Nodes are numbers, coordinates such as `0;1;3` (in a torus) or names (elsewhere).";
    let places = given.places;
    let spec = read_other(reader, "file", &kind, doc, |path, _| {
        FlowsSpec::read(path, places, LARGEST_MESSAGE)
    })?;
    Some(Arc::new(spec))
}

impl WorkloadSpec for FlowsSpec {
    fn check(&self, checks: &mut Checks<'_>, checked: &Checked<'_>) {
        let keys = ["flows.file"];
        if self.flows.is_empty() {
            return checks.refuse(&keys, "the file has no flows", "add a row for each");
        }
        let largest = self.flows.iter().map(|flow| flow.bytes).max();
        let largest = Bytes(largest.unwrap_or(0));
        checks.packets_of_file(checked.parameters, largest, keys[0]);
        let Some(fabric) = checked.fabric else { return };
        let failed =
            |node: &u32| *node >= fabric.terminals() || fabric.terminal_router(*node).is_none();
        let ends = self.flows.iter().flat_map(|flow| [flow.source, flow.destination]);
        if let Some(node) = ends.filter(failed).min() {
            let name = fabric.terminal_name(node);
            let message = format!("node {name} has flows, and it has failed");
            checks.refuse(&keys, message, "leave its flows out, or let other nodes fail");
        }
    }

    fn bind(&self, scenario: &Scenario, room: &Room<'_>) -> Result<Bound, SetupError> {
        let fabric = &scenario.network.fabric;
        room(self.memory_needed(fabric.terminals()))?;
        let mut ends: Vec<(u32, u32, u64)> =
            self.flows.iter().map(|flow| (flow.source, flow.destination, flow.bytes)).collect();
        ends.sort_unstable();
        let weights = ends.chunk_by(|one, next| (one.0, one.1) == (next.0, next.1)).map(|same| {
            let bytes: f64 = same.iter().map(|it| it.2 as f64).sum();
            (same[0].0, same[0].1, bytes)
        });
        let weights: Vec<_> = weights.collect();
        let pattern = Pattern::of_weights(&weights, fabric)?;
        let mean = payload(self) / self.flows.len().max(1) as f64;
        let message = (rounded::<u64>(mean).into(), Access::Write);
        Ok(Bound { pattern, message, workload: Box::new(self.clone()) })
    }

    fn for_each_size(&self, each: &mut dyn FnMut(u64, Access)) {
        self.flows.iter().for_each(|flow| each(flow.bytes, Access::Write));
    }

    fn bears_losses(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        false
    }
}

/// Payload of all flows, in bytes.
fn payload(spec: &FlowsSpec) -> f64 {
    spec.flows.iter().map(|flow| flow.bytes as f64).sum()
}

impl BoundWorkload for FlowsSpec {
    fn workload(&self, share: Share<'_>) -> Box<dyn Workload> {
        Box::new(Flows::new(self, share.fabric().terminals()))
    }

    fn facts(&self, _: Share<'_>) -> Facts {
        let last = self.flows.iter().map(|flow| flow.time).max().unwrap_or(Picoseconds::ZERO);
        let text = format!(
            "{}, {:.3} MB in all; the last one begins at {}",
            counted(self.flows.len(), "flow"),
            payload(self) / 1e6,
            time_text(last)
        );
        Facts {
            lines: vec![("flows", text)],
            without_bound: Some("flows begin at times of their own"),
            silent: Some("they have no flows"),
        }
    }

    /// Completion times and slowdowns by size.
    fn finish(&self, ended: &Ended<'_, '_>, result: &mut PointResult) -> Result<(), Hangs> {
        let alone = Alone::new(ended.share);
        let parts = ended.engine.workload_of::<Flows>(ended.share.class());
        let of_part = |(flow, time): (&Flow, Picoseconds)| (flow.bytes, time, alone.time(flow));
        let flows: Vec<_> = parts.flat_map(|part| part.completed().map(of_part)).collect();
        result.explained.flows = FlowRow::of(flows);
        Ok(())
    }
}

/// Completion times of flows in the empty network.
struct Alone<'a> {
    share: Share<'a>,
    empty: EmptyNetwork,
}

impl<'a> Alone<'a> {
    fn new(share: Share<'a>) -> Self {
        let empty = EmptyNetwork::new(share.parameters(), share.fabric().cable_classes());
        Self { share, empty }
    }

    /// The flow's packets follow each other as closely as the slowest channel of the way lets them.
    fn time(&self, flow: &Flow) -> Picoseconds {
        let (parameters, fabric) = (self.share.parameters(), self.share.fabric());
        let ends = [flow.source, flow.destination];
        let mut hops = 0.0;
        let [source, destination] = ends;
        self.share.routes().for_each_share(fabric, source, destination, |_, share| hops += share);
        let links = classes_of_way(self.share, ends, rounded(hops));
        let (full, rest) = parameters.packets(flow.bytes);
        let last = rest.unwrap_or(parameters.maximum_payload.0);
        let before =
            parameters.message_flits(flow.bytes) - u64::from(parameters.packet_flits(last));
        debug_assert!(full > 0 || before == 0);
        let [injection, ejection] = ends.map(|terminal| fabric.terminal_class(terminal));
        let class = |number: u8| fabric.cable_classes()[usize::from(number)];
        let slowest = links.iter().map(|&link| parameters.flit_time_of(class(link)));
        let ends_time = parameters
            .injection_flit_time_of(class(injection))
            .max(parameters.ejection_flit_time_of(class(ejection)));
        let slowest = slowest.fold(ends_time, Ord::max);
        let latency =
            |flits| self.empty.latency([injection, ejection], links.iter().copied(), flits);
        let flits = parameters.packet_flits(last);
        let mut time = slowest * before + latency(flits);
        if before > 0 {
            // Where packets are stored, the last one can't overtake the larger one before it.
            let full = parameters.maximum_packet();
            let at_end = parameters.ejection_flit_time_of(class(ejection)) * u64::from(flits);
            time = time.max(slowest * (before - u64::from(full)) + latency(full) + at_end);
        }
        parameters.send_overhead + time + parameters.receive_overhead
    }
}
