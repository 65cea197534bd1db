//! `[remote_memory]`: puts, gets and atomic operations, and what limits the adapters that do them.

use super::{
    pattern::{self, Sender, Senders},
    traffic::LARGEST_REQUEST,
};
use flitlab_base::document::{Choice, Reader, Whole, plain, size, time};
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Bytes, Picoseconds};
use flitlab_engine::Parameters;
use flitlab_workload::traffic::{RemoteMemorySpec, RemoteOperation};

/// The operand of an atomic operation where none is given.
const USUAL_OPERAND: Bytes = Bytes(8);

/// Assumed: the time between two operations of a process, and of an adapter, and the most of an
/// adapter.
const USUAL_PROCESS_GAP: Picoseconds = Picoseconds(100_000);
const USUAL_ADAPTER_GAP: Picoseconds = Picoseconds(25_000);
const USUAL_ADAPTER_OUTSTANDING: u32 = 256;

pub(super) fn read(
    reader: &mut Reader<'_>,
    senders: Senders<'_>,
    parameters: &mut Parameters,
) -> Option<RemoteMemorySpec> {
    let operation = operation(reader);
    let pattern = pattern::read(reader, Sender::RemoteMemory, senders);
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
    reader.set("atomic_time", &time(Picoseconds::ZERO), &mut parameters.atomic_time, doc);
    Some(RemoteMemorySpec {
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
    })
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
            plain("put", RemoteOperation::Put, put),
            plain("get", RemoteOperation::Get, get),
            plain("add", RemoteOperation::Add, add),
            plain("xor", RemoteOperation::Xor, xor),
            plain("compare-and-swap", RemoteOperation::CompareAndSwap, swap),
        ],
    )
}
