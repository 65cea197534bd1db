//! The state of terminals as sources: messages wait in source queues, are cut into packets and
//! injected (docs/model.md, "Adapter").

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::arbitration::first_from;
use crate::by_class::ByClass;
use crate::bytes::bytes_of;
use crate::common::Common;
use crate::frame::tick::{NEVER, NO_TIME, Tick, rebased};
use crate::network::context::NetworkContext;
use crate::network::ports::Ports;
use crate::next_hop::SourceChoices;
use crate::packet::message::{Note, Packing, Queued, Role, RoomWaits, Slots};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::Parameters;

/// The first and the last message of a source queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct SourceQueue {
    /// Time at which the first message was created; [`NO_TIME`] if there is none.
    pub created: Picoseconds,
    pub(super) head: u32,
    pub(super) tail: u32,
    /// Payload in bytes, and flits, of the packet that is next.
    pub(super) payload: u32,
    pub flits: u16,
}

impl SourceQueue {
    pub(super) const EMPTY: Self =
        Self { created: NO_TIME, head: NONE, tail: NONE, payload: 0, flits: 0 };
}

/// An injection channel, seen from its terminal.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Injection {
    /// Time at which the last flit of the latest packet has left.
    pub free_at: Tick,
    /// Time at which it is served next; [`NEVER`] if nothing waits, or if the time is not known
    /// that it waits for.
    pub due: Tick,
    /// Its number in the whole network, and the place of its credits.
    pub name: u32,
    pub room: u32,
    /// Its router's input port, by the router's own number.
    pub port: u16,
    /// The virtual channels whose source queues are not empty, a bit each.
    pub waiting: u16,
    /// The virtual channel at which the round robin over source queues starts.
    pub pointer: u8,
}

/// The contents of a terminal's source queues, all injection channels and virtual channels
/// together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    /// Flits whose packets have not been injected.
    pub flits: u64,
    /// Time since which there have always been some; without meaning if there are none.
    pub since: Picoseconds,
}

/// A terminal's adapter.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Adapter {
    /// Time at which it creates its next messages, as they enter their queues; [`NO_TIME`] if that
    /// is not known.
    pub create_at: Picoseconds,
    pub queue: Backlog,
    /// Number of its next packet. Numbers tell packets apart that are under way together. They
    /// repeat after 2^32 packets, which are hours of simulation.
    pub(super) sequence: u32,
    /// The first event in the list of its host.
    pub host_events: u32,
    pub router: u32,
    /// Its number in the whole network.
    pub name: u32,
    /// The injection channel of the next message, if they are taken in turn.
    pub(super) next_channel: u8,
    /// Index of its injection channels' timing in the network's.
    pub timing: u8,
}

impl Adapter {
    /// Whether a packet of this number is still to be sent. Numbers repeat after 2^32 packets.
    pub(crate) fn is_to_send(&self, sequence: u32) -> bool {
        sequence.wrapping_sub(self.sequence) < 1 << 31
    }
}

impl Injection {
    /// Whether it has packets and may send one before `due`, at which it is served next as far as
    /// is known. If it has been free for some time, credits were missing; those of each virtual
    /// channel come in order, but others may come before them that are not known yet.
    #[inline]
    pub(crate) fn is_uncertain(&self, due: Tick) -> bool {
        self.waiting != 0 && (due == NEVER || due > self.free_at && !self.waiting.is_power_of_two())
    }

    /// The first virtual channel with a packet, in cyclic order from `pointer`.
    pub(crate) fn first_waiting(&self) -> u8 {
        fitted!(first_from(self.waiting, self.pointer.into()).unwrap_or(15), u8)
    }
}

/// A note for a message of which nothing has been sent.
pub(super) fn note(started: Picoseconds, role: Role, tag: u64) -> Note {
    Note { started, role, tag, arrival: NONE, waited_before: Picoseconds::ZERO }
}

/// The state of all sources.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sources {
    pub adapters: Vec<Adapter>,
    /// By terminal: the time at which it is served next.
    pub due: Vec<Tick>,
    /// By terminal, then injection channel.
    pub injections: Vec<Injection>,
    /// By injection channel: waits for room, if the workload asks for them; else empty.
    pub waits: Vec<RoomWaits>,
    /// By injection channel, then virtual channel.
    pub queues: Vec<SourceQueue>,
    pub(super) queued: Slots<Queued>,
    pub notes: Slots<Note>,
    /// The packing that was computed last: most messages of a load have one size.
    pub(super) packing: Packing,
    pub(super) choices: SourceChoices,
    /// Whether the sources hold back their packets.
    pub paused: bool,
    /// By class: messages that have been created, and those of them that are lost.
    pub messages_created: ByClass<u64>,
    /// By class: flits of messages that have entered a source queue, without those of collective
    /// operations.
    pub flits_created: ByClass<u64>,
    pub messages_lost: ByClass<u64>,
}

impl Sources {
    /// Idle adapters, with empty source queues.
    pub(crate) fn new(
        context: &NetworkContext<'_>,
        part: usize,
        ports: &Ports,
        wants_waits: bool,
    ) -> Self {
        let names = context.terminals_of_part(part);
        let channels = context.parameters.injection_channels;
        let mut adapters = Vec::with_capacity(names.len());
        let mut injections = Vec::with_capacity(names.len() * channels as usize);
        for (number, router) in (0..).zip(&ports.routers) {
            for own in 0..u32::from(router.terminals) {
                let name = names[adapters.len()];
                let mut timing = 0;
                for of_terminal in 0..channels {
                    let port = u32::from(router.transit) + own * channels + of_terminal;
                    let input = ports.input(router.first_input + port);
                    timing = input.timing;
                    injections.push(Injection {
                        free_at: 0,
                        due: NEVER,
                        name: context.network.first_injection() + name * channels + of_terminal,
                        room: input.upstream,
                        port: fitted!(port, u16),
                        waiting: 0,
                        pointer: 0,
                    });
                }
                adapters.push(Adapter {
                    create_at: NO_TIME,
                    queue: Backlog::default(),
                    sequence: 0,
                    host_events: NONE,
                    router: number,
                    name,
                    next_channel: 0,
                    timing,
                });
            }
        }
        Self {
            due: vec![NEVER; adapters.len()],
            adapters,
            waits: vec![RoomWaits::NONE; if wants_waits { injections.len() } else { 0 }],
            queues: vec![SourceQueue::EMPTY; injections.len() * context.vc_map.count()],
            injections,
            queued: Slots::new(),
            notes: Slots::new(),
            packing: Packing::new(0, &context.parameters),
            choices: SourceChoices::new(context, part),
            paused: false,
            messages_created: ByClass::default(),
            flits_created: ByClass::default(),
            messages_lost: ByClass::default(),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        bytes_of!(self; adapters, due, waits, injections, queues)
            + self.queued.memory()
            + self.notes.memory()
            + self.choices.memory()
    }

    /// Number of responses in a source queue.
    pub(crate) fn responses_in(&self, queue: usize) -> usize {
        let next = |message: &&Queued| self.queued.get(message.next);
        let messages = std::iter::successors(self.queued.get(self.queues[queue].head), next);
        let notes = messages.filter_map(|message| self.notes.get(message.note));
        notes.filter(|note| note.role.is_response()).count()
    }

    /// Begins anew to take paths in turn, after these have changed.
    pub(crate) fn choose_anew(&mut self, common: &Common<'_>) {
        self.choices.begin_turns(&common.context, common.schedule.part);
    }

    /// The time at which the first of some terminals is served next.
    #[inline(always)]
    pub(crate) fn first_due(&self, terminals: &Range<u32>) -> Tick {
        let due = &self.due[terminals.start as usize..terminals.end as usize];
        due.iter().fold(NEVER, |first, &due| first.min(due))
    }

    /// The cut of a message of this many bytes into packets.
    #[inline]
    pub(crate) fn packing(&mut self, bytes: u64, parameters: &Parameters) -> Packing {
        if self.packing.bytes != bytes {
            self.packing = Packing::new(bytes, parameters);
        }
        self.packing
    }

    pub(crate) fn rebase(&mut self, by: Tick) {
        for injection in &mut self.injections {
            injection.free_at = rebased(injection.free_at, by);
            injection.due = rebased(injection.due, by);
        }
    }
}
