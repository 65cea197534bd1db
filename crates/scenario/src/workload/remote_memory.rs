//! `[remote_memory]`: puts, gets and atomic operations, and what limits the adapters that do them.

use std::sync::Arc;

use super::{
    Bound, BoundWorkload, Checked, Ended, Facts, Given, Hangs, LARGEST_REQUEST, Room, Share,
    WorkloadKind, WorkloadSpec,
};
use crate::Scenario;
use crate::checks::{Checks, PACKET};
use crate::schema::pattern;
use crate::simulation::SetupError;
use flitlab_base::document::{Choice, Reader, Whole, plain, size, time};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_base::units::{Bytes, Picoseconds, bytes_text, counted};
use flitlab_engine::Parameters;
use flitlab_measure::{CompletionBound, remote_memory_bound};
use flitlab_report::PointResult;
use flitlab_traffic::{
    Access, Partners, Pattern, RemoteMemory, RemoteMemorySpec, RemoteOperation, Workload,
};

pub(super) const REMOTE_MEMORY: Row<WorkloadKind> = Row::new(
    "remote_memory",
    "Remote memory operations: puts, gets and atomic operations, one after the other or many at a time, as \
     docs/model.md says under \"Remote memory operations\".",
    WorkloadKind { purpose: "for puts, gets and atomic operations", beside_load: false, read },
);

/// The operand of an atomic operation where none is given.
const USUAL_OPERAND: Bytes = Bytes(8);

/// Assumed: the time between two operations of a process, and of an adapter, and the most of an
/// adapter.
const USUAL_PROCESS_GAP: Picoseconds = Picoseconds(100_000);
const USUAL_ADAPTER_GAP: Picoseconds = Picoseconds(25_000);
const USUAL_ADAPTER_OUTSTANDING: u32 = 256;

fn read(reader: &mut Reader<'_>, given: &mut Given<'_>) -> Option<Arc<dyn WorkloadSpec>> {
    let operation = operation(reader);
    let pattern = pattern::read(reader, Some("neighbor"), given);
    let doc = "Bytes that an operation puts, gets or changes; an atomic one of 8 B if absent.";
    let kind = size(0, LARGEST_REQUEST);
    let message = match operation {
        Some(operation) if operation.is_atomic() => {
            Some(reader.value("message", &size(1, 64), USUAL_OPERAND, doc))
        }
        _ => reader.required("message", &kind, doc),
    };
    let doc = "Payload of the request of a get; of an atomic operation besides its operands. A put has none. Assumed.";
    let request = reader.value("request", &size(0, 1 << 20), Bytes(16), doc);
    let count = Whole { range: 1..=1_000_000_000 };
    let doc = "How many operations each process does, upon its node's partners in turn.";
    let (mut operations, mut outstanding, mut processes) = (1, 1, 1);
    reader.set("operations", &count, &mut operations, doc);
    let many = Whole { range: 1..=1_000_000 };
    let doc =
        "How many operations a process may have begun that are not done: 1 if it waits for each.";
    reader.set("outstanding", &many, &mut outstanding, doc);
    let doc = "Behind so many operations a process waits until all that it has begun are done (OSU's window and flush). \
               Only at the end if absent.";
    let flush_every = reader.optional("flush_every", &count, doc);
    let doc = "How many processes each node has that has a partner.";
    reader.set("processes", &Whole { range: 1..=1024 }, &mut processes, doc);
    let doc =
        "From the beginning of an operation until its process may begin another one. Assumed.";
    let process_gap = reader.value("process_gap", &time(Picoseconds::ZERO), USUAL_PROCESS_GAP, doc);
    let doc = "From the beginning of an operation until its adapter may begin another one, of any process. Assumed.";
    let adapter_gap = reader.value("adapter_gap", &time(Picoseconds::ZERO), USUAL_ADAPTER_GAP, doc);
    let doc = "How many operations an adapter may have begun that are not done. Assumed.";
    let mut adapter_outstanding = USUAL_ADAPTER_OUTSTANDING;
    reader.set("adapter_outstanding", &many, &mut adapter_outstanding, doc);
    let doc = "How long an atomic operation takes at its target's adapter, which performs one after the other. Assumed.";
    reader.set("atomic_time", &time(Picoseconds::ZERO), &mut given.parameters.atomic_time, doc);
    Some(Arc::new(RemoteMemorySpec {
        operation: operation?,
        pattern: pattern?,
        message: message?,
        request,
        operations,
        processes,
        outstanding,
        flush_every: flush_every.map(narrow),
        process_gap,
        adapter_gap,
        adapter_outstanding,
    }))
}

fn operation(reader: &mut Reader<'_>) -> Option<RemoteOperation> {
    let doc = "What is done to the memory of partners.";
    let choice = Choice::required("operation", "operation", doc);
    let put = "it is written; the target acknowledges each operation.";
    let get = "it is read.";
    let add = "atomic: a value is added to it, and what it was before comes back.";
    let xor = "atomic: the same with an exclusive or.";
    let swap = "atomic, and not Angara's: it is replaced if it equals a second operand, and what it was before comes back.";
    reader.choice(
        &choice,
        vec![
            plain(RemoteOperation::Put.name(), RemoteOperation::Put, put),
            plain(RemoteOperation::Get.name(), RemoteOperation::Get, get),
            plain(RemoteOperation::Add.name(), RemoteOperation::Add, add),
            plain(RemoteOperation::Xor.name(), RemoteOperation::Xor, xor),
            plain(RemoteOperation::CompareAndSwap.name(), RemoteOperation::CompareAndSwap, swap),
        ],
    )
}

impl WorkloadSpec for RemoteMemorySpec {
    fn check(&self, checks: &mut Checks<'_>, checked: &Checked<'_>) {
        let parameters = checked.parameters;
        checks.pattern(
            &self.pattern,
            checked,
            "remote_memory.pattern",
            Some("remote memory operations need"),
        );
        if !checks.sound(&PACKET) || !checks.sound(&["remote_memory"]) {
            return;
        }
        let (request, response) = self.payloads();
        packets_without_flits(self, checks, parameters);
        let Some(fabric) = checked.fabric else { return };
        let Ok(pattern) = Pattern::new(&self.pattern, fabric, checked.seed) else { return };
        if pattern.steps().is_none() || !checks.is_clean() {
            return;
        }
        // Flits of all operations are counted in 64 bits.
        let nodes = fabric.live_terminals().count() as u64;
        let operations = u64::from(self.operations).saturating_mul(self.processes.into());
        let flits = parameters.message_flits(request) + parameters.message_flits(response);
        let all = nodes.saturating_mul(operations).saturating_mul(flits);
        if all == u64::MAX {
            let message = format!(
                "up to {nodes} times {operations} operations of {flits} flits are more flits than can be counted"
            );
            let keys = ["remote_memory.operations", "remote_memory.message"];
            checks.refuse(
                &keys,
                message,
                "at most 2^64 flits are; make messages smaller, or do fewer operations",
            );
        }
    }

    fn bind(&self, scenario: &Scenario, room: &Room<'_>) -> Result<Bound, SetupError> {
        let fabric = &scenario.network.fabric;
        room(RemoteMemory::memory_needed(self, fabric.terminals()))?;
        let pattern = Pattern::new(&self.pattern, fabric, scenario.seed)?;
        let (bytes, access) = self.access();
        Ok(Bound { pattern, message: (bytes.into(), access), workload: Box::new(self.clone()) })
    }

    fn for_each_size(&self, each: &mut dyn FnMut(u64, Access)) {
        let (bytes, access) = self.access();
        each(bytes, access);
    }

    fn draws(&self) -> bool {
        self.pattern.partners() != Partners::Fixed
    }
}

/// Without header and checksum a packet without payload has no flits.
fn packets_without_flits(
    spec: &RemoteMemorySpec,
    checks: &mut Checks<'_>,
    parameters: &Parameters,
) {
    if parameters.header_flits + parameters.checksum_flits > 0 {
        return;
    }
    let (what, key) = match spec.operation {
        RemoteOperation::Put => ("the acknowledgement of a put", "remote_memory.operation"),
        RemoteOperation::Get if spec.request.0 == 0 => {
            ("a request of 0 B", "remote_memory.request")
        }
        RemoteOperation::Get if spec.message.0 == 0 => {
            ("a message of 0 B", "remote_memory.message")
        }
        _ => return,
    };
    let message = format!("{what} without header and checksum is a packet of no flits");
    checks.refuse(&[key, PACKET[2], PACKET[3]], message, "set `header_flits` to 1");
}

impl BoundWorkload for RemoteMemorySpec {
    fn workload(&self, share: Share<'_>) -> Box<dyn Workload> {
        Box::new(RemoteMemory::new(self, share.pattern().clone(), share.fabric()))
    }

    fn completion_bound(&self, share: Share<'_>) -> Option<CompletionBound> {
        let (fabric, routes) = (share.fabric(), share.routes());
        let parameters = share.parameters();
        remote_memory_bound(fabric, routes, parameters, share.pattern(), self)
    }

    fn why_over_bound(&self, _: Share<'_>, _: &CompletionBound, _: Picoseconds) -> Option<String> {
        Some(format!(
            "a process has at most {} operations under way, and begins the next one when one is done",
            self.outstanding
        ))
    }

    fn facts(&self, share: Share<'_>) -> Facts {
        let flush = self
            .flush_every
            .map_or(String::new(), |every| format!(", all done behind each {every}"));
        let text = format!(
            "{}, processes on each: {}; {} of {} a process, at most {} under way{flush}",
            counted(share.senders().len(), "node"),
            self.processes,
            counted(self.operations as usize, "operation"),
            bytes_text(self.message),
            self.outstanding
        );
        Facts { lines: vec![("remote memory", text)], ..Facts::default() }
    }

    fn finish(&self, ended: &Ended<'_, '_>, result: &mut PointResult) -> Result<(), Hangs> {
        // Millions a second.
        let time = ended.completion.max(Picoseconds(1)).0 as f64;
        let all = ended.messages as f64 / time * 1e6;
        let each = all / ended.share.senders().len().max(1) as f64;
        let (row, bytes) = (&mut result.measured, self.message.0 as f64);
        row.bandwidth = Some(each * bytes / 1e3);
        row.bandwidth_total = Some(all * bytes / 1e3);
        (row.operation_rate, row.operation_rate_total) = (Some(each), Some(all));
        Ok(())
    }
}
