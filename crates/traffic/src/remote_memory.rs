//! Remote memory operations: processes put into the memory of their partners, get from it, and have
//! atomic operations performed upon it (docs/model.md, "Remote memory operations").
//!
//! A process begins another operation when less than `outstanding` of those that it has begun are
//! not done, and, behind each `flush_every` of them, when all are. Its adapter begins those of its
//! processes in turn, one each `adapter_gap`, as long as less than `adapter_outstanding` of its own
//! are not done.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    Access, Created, Message, MessageKind, Needs, Pattern, PatternSpec, Wake, Workload, restored,
    saved,
};
use flitlab_application::RemoteOperation;
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Bytes, Picoseconds};
use flitlab_fabric::Fabric;
use flitlab_model::workload::boxed;

/// The kind of the message that is an operation upon so many bytes. `request` is as for
/// [`payloads`](RemoteOperation::payloads).
pub fn message_kind(operation: RemoteOperation, bytes: u64, request: u64) -> MessageKind {
    let request = operation.payloads(bytes, request).0;
    match operation {
        RemoteOperation::Put => MessageKind::Put,
        RemoteOperation::Get => MessageKind::Read { request: narrow(request) },
        _ => MessageKind::Atomic { request: narrow(request) },
    }
}

impl Access {
    /// An operation upon so many bytes as a message that is read: the bytes of the response, and
    /// the request. `request` is as for [`payloads`](RemoteOperation::payloads).
    pub fn of(operation: RemoteOperation, bytes: u64, request: u64) -> (u64, Self) {
        let (request, response) = operation.payloads(bytes, request);
        (response, Self::Read { request: Bytes(request) })
    }
}

/// Remote memory operations, as a user says it, not yet bound to a fabric.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteMemorySpec {
    /// The kind of all operations.
    pub operation: RemoteOperation,
    /// The pattern of initiators and targets; it must have steps.
    pub pattern: PatternSpec,
    /// Bytes that an operation puts, gets or changes.
    pub message: Bytes,
    /// Payload of the request of a get; of an atomic operation besides its operands.
    pub request: Bytes,
    /// Operations of each process, at least 1.
    pub operations: u32,
    /// Processes of each node that has a partner, at least 1.
    pub processes: u32,
    /// The most operations that a process may have begun and not finished, at least 1.
    pub outstanding: u32,
    /// The number of operations behind which a process waits until all its operations are done;
    /// `None`: only at the end.
    pub flush_every: Option<u32>,
    /// The least time between the beginnings of two operations of a process.
    pub process_gap: Picoseconds,
    /// The least time between the beginnings of two operations of an adapter.
    pub adapter_gap: Picoseconds,
    /// The most operations that an adapter may have begun and not finished, at least 1.
    pub adapter_outstanding: u32,
}

impl RemoteMemorySpec {
    /// Payload of the request and of the response.
    pub fn payloads(&self) -> (u64, u64) {
        self.operation.payloads(self.message.0, self.request.0)
    }

    /// Returns the sizes of request and response as messages that are read: bytes of the response,
    /// and the request.
    pub fn access(&self) -> (u64, Access) {
        Access::of(self.operation, self.message.0, self.request.0)
    }

    /// How many operations a node has done upon each of its partners, of which it has so many, in
    /// their order.
    pub fn shares(&self, partners: u32) -> impl Iterator<Item = u64> {
        let each = self.operations.checked_div(partners).unwrap_or(0);
        let more = self.operations.checked_rem(partners).unwrap_or(0);
        let processes = u64::from(self.processes);
        (0..partners).map(move |number| processes * u64::from(each + u32::from(number < more)))
    }
}

/// How far a process has come.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Process {
    begun: u32,
    done: u32,
    /// The step of the pattern that says its next partner.
    step: u32,
    /// When it may begin another operation.
    free_at: Picoseconds,
}

/// An operation that begins, of which the engine has not been told yet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Beginning {
    time: Picoseconds,
    process: u32,
    destination: u32,
}

/// How far an adapter has come.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Adapter {
    under_way: u32,
    /// The process that is looked at first.
    pointer: u32,
    free_at: Picoseconds,
    /// When the last thing happened: operations begin then or later.
    clock: Picoseconds,
    /// The engine asks for an operation when the send overhead is over. What ended in the meantime
    /// let nothing begin before: so what begins is settled before an end is.
    beginnings: VecDeque<Beginning>,
}

/// Remote memory operations under way, of all terminals or of a range of them.
#[derive(Clone, Debug)]
pub struct RemoteMemory {
    spec: RemoteMemorySpec,
    kind: MessageKind,
    pattern: Pattern,
    steps: u32,
    /// The terminals whose progress is kept here.
    terminals: Range<u32>,
    /// By terminal and process; of a terminal without a partner all are done.
    processes: Vec<Process>,
    adapters: Vec<Adapter>,
    /// Terminals of the whole network that have a partner.
    initiators: u32,
}

impl RemoteMemory {
    /// Binds a specification to a fabric. `pattern` must be one with steps (see
    /// [`Pattern::steps`]).
    ///
    /// # Panics
    /// If the pattern draws its destinations at random.
    pub fn new(spec: &RemoteMemorySpec, pattern: Pattern, fabric: &Fabric) -> Self {
        let steps = pattern.steps().expect("the scenario has refused patterns without steps");
        let terminals = fabric.terminals();
        let idle = Process { begun: spec.operations, done: spec.operations, ..Process::default() };
        let each = spec.processes as usize;
        let mut processes = vec![idle; terminals as usize * each];
        let mut initiators = 0;
        for terminal in fabric.live_terminals() {
            if (0..steps).any(|step| pattern.partner(terminal, step).is_some()) {
                initiators += 1;
                processes[terminal as usize * each..][..each].fill(Process::default());
            }
        }
        Self {
            kind: message_kind(spec.operation, spec.message.0, spec.request.0),
            spec: spec.clone(),
            pattern,
            steps,
            terminals: 0..terminals,
            processes,
            adapters: vec![Adapter::default(); terminals as usize],
            initiators,
        }
    }

    /// Bytes that the operations of so many terminals take at most, about: their state twice, since
    /// it is parted among threads, and a cache line for each operation under way.
    pub fn memory_needed(spec: &RemoteMemorySpec, terminals: u32) -> u64 {
        let processes = u64::from(spec.processes);
        let state = processes * size_of::<Process>() as u64 + size_of::<Adapter>() as u64;
        let of_process = spec.outstanding.min(spec.operations);
        let under_way = (processes * u64::from(of_process)).min(spec.adapter_outstanding.into());
        u64::from(terminals).saturating_mul(2 * state + 64 * under_way)
    }

    fn adapter(&mut self, terminal: u32) -> &mut Adapter {
        &mut self.adapters[(terminal - self.terminals.start) as usize]
    }

    /// Where a process of a terminal is.
    fn place(&self, terminal: u32, process: u32) -> usize {
        (terminal - self.terminals.start) as usize * self.spec.processes as usize + process as usize
    }

    /// Whether a process may begin another operation as far as those that it has begun are
    /// concerned.
    fn may_begin(&self, process: &Process) -> bool {
        let Process { begun, done, .. } = *process;
        let flushed = self.spec.flush_every.is_none_or(|every| done >= begun - begun % every);
        begun < self.spec.operations && begun - done < self.spec.outstanding && flushed
    }

    /// When a terminal begins an operation next; `None` if only the end of one can let it.
    fn next(&self, terminal: u32) -> Option<Picoseconds> {
        let adapter = &self.adapters[(terminal - self.terminals.start) as usize];
        if adapter.under_way >= self.spec.adapter_outstanding {
            return None;
        }
        let first = self.place(terminal, 0);
        let processes = &self.processes[first..][..self.spec.processes as usize];
        let waiting = processes.iter().filter(|process| self.may_begin(process));
        let soonest = waiting.map(|process| process.free_at).min()?;
        Some(soonest.max(adapter.free_at).max(adapter.clock))
    }

    /// Lets a terminal begin the operation that it may begin now.
    fn begin(&mut self, terminal: u32, now: Picoseconds) {
        let count = self.spec.processes;
        let pointer = self.adapter(terminal).pointer;
        let ready = |&process: &u32| {
            let process = &self.processes[self.place(terminal, process)];
            self.may_begin(process) && process.free_at <= now
        };
        let process = (0..count).map(|more| (pointer + more) % count).find(ready);
        let process = process.expect("one of them is why it may");
        let place = self.place(terminal, process);
        let (steps, from) = (self.steps, self.processes[place].step);
        let partner = |step| Some((step, self.pattern.partner(terminal, step)?));
        let mut steps_from = (0..steps).map(|more| (from + more) % steps);
        let (step, destination) = steps_from.find_map(partner).expect("or nothing begins");
        let RemoteMemorySpec { process_gap, adapter_gap, .. } = self.spec;
        let its = &mut self.processes[place];
        its.begun += 1;
        its.step = (step + 1) % steps;
        its.free_at = now + process_gap;
        let adapter = self.adapter(terminal);
        adapter.under_way += 1;
        adapter.pointer = (process + 1) % count;
        adapter.free_at = now + adapter_gap;
        adapter.clock = now;
        adapter.beginnings.push_back(Beginning { time: now, process, destination });
    }
}

impl Workload for RemoteMemory {
    fn first(&mut self, terminal: u32) -> Option<Picoseconds> {
        self.next(terminal)
    }

    fn create(&mut self, terminal: u32, now: Picoseconds) -> Created {
        if self.adapter(terminal).beginnings.is_empty() && self.next(terminal) == Some(now) {
            self.begin(terminal, now);
        }
        let beginnings = &mut self.adapter(terminal).beginnings;
        let begins = beginnings.front().is_some_and(|it| it.time == now);
        let begins = if begins { beginnings.pop_front() } else { None };
        let next = beginnings.front().map(|it| it.time);
        let message = begins.map(|Beginning { process, destination, .. }| Message {
            time: now,
            source: terminal,
            destination,
            bytes: self.spec.message.0,
            kind: self.kind,
            tag: process.into(),
            class: 0,
        });
        (message, next.or_else(|| self.next(terminal)))
    }

    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64)) {
        each(self.kind, self.spec.message.0);
    }

    fn state(&self) -> Vec<u8> {
        saved(&(&self.processes, &self.adapters))
    }

    fn resume(&mut self, state: &[u8]) -> bool {
        let Some((processes, adapters)) = restored::<(Vec<_>, Vec<_>)>(state) else { return false };
        let fits = processes.len() == self.processes.len() && adapters.len() == self.adapters.len();
        if fits {
            (self.processes, self.adapters) = (processes, adapters);
        }
        fits
    }

    fn split(mut self: Box<Self>, terminals: &[Range<u32>]) -> Vec<Box<dyn Workload>> {
        let (processes, adapters) =
            (std::mem::take(&mut self.processes), std::mem::take(&mut self.adapters));
        let each = self.spec.processes as usize;
        boxed(terminals.iter().map(|range| {
            let places = range.start as usize..range.end as usize;
            Self {
                processes: processes[places.start * each..places.end * each].to_vec(),
                adapters: adapters[places].to_vec(),
                terminals: range.clone(),
                ..(*self).clone()
            }
        }))
    }

    fn needs(&self) -> Needs {
        Needs { receipts: true, ..Needs::default() }
    }

    /// An operation of a terminal's process ends at `now`.
    fn sent(&mut self, terminal: u32, process: u64, now: Picoseconds) -> Wake {
        while let Some(next) = self.next(terminal).filter(|&next| next < now) {
            self.begin(terminal, next);
        }
        let place = self.place(terminal, narrow(process));
        self.processes[place].done += 1;
        let adapter = self.adapter(terminal);
        adapter.under_way -= 1;
        adapter.clock = now;
        // Earlier beginnings are asked for anyway.
        match self.next(terminal) {
            Some(_) => Wake::Terminal(terminal, now),
            None => Wake::Nobody,
        }
    }

    /// Operations of the whole network.
    fn messages(&self) -> u64 {
        let RemoteMemorySpec { operations, processes, .. } = self.spec;
        u64::from(self.initiators) * u64::from(processes) * u64::from(operations)
    }

    fn memory(&self) -> usize {
        self.processes.len() * size_of::<Process>() + self.adapters.len() * size_of::<Adapter>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_get_their_shares_and_requests_their_operands() {
        let spec = |operation, operations| RemoteMemorySpec {
            operation,
            pattern: PatternSpec::new("neighbor", ""),
            message: Bytes(8),
            request: Bytes(16),
            operations,
            processes: 2,
            outstanding: 1,
            flush_every: None,
            process_gap: Picoseconds(0),
            adapter_gap: Picoseconds(0),
            adapter_outstanding: 1,
        };
        let shares = |operations, partners| -> Vec<u64> {
            spec(RemoteOperation::Put, operations).shares(partners).collect()
        };
        assert_eq!(shares(7, 3), [6, 4, 4]);
        assert_eq!(shares(2, 3), [2, 2, 0]);
        assert!(shares(2, 0).is_empty());
        let payloads = |operation| spec(operation, 1).payloads();
        assert_eq!(payloads(RemoteOperation::Put), (8, 0));
        assert_eq!(payloads(RemoteOperation::Get), (16, 8));
        assert_eq!(payloads(RemoteOperation::Xor), (24, 8));
        assert_eq!(payloads(RemoteOperation::CompareAndSwap), (32, 8));
    }
}
