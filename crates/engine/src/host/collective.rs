//! The hosts' share of collective operations: operands and broadcasts are created, results arrive.

use super::Hosts;
use super::sink::HostEvent;
use super::source::note;
use crate::common::Common;
use crate::observer::Observer;
use crate::packet::collective::{parts, route};
use crate::packet::message::{Queued, Role};
use crate::packet::{Origin, Packet};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::CompletedMessage;
use flitlab_model::workload::{CollectiveKind, Message, MessageKind, Receipt};

impl Hosts {
    /// Puts a terminal's message of a collective operation into its source queue. It always takes
    /// injection channel 0, so that the order of operations is kept.
    pub(crate) fn create_collective(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        message: &Message,
        now: Picoseconds,
    ) {
        let trees = &common.context.trees;
        let role =
            if message.kind == MessageKind::Operand { Role::Operand } else { Role::Broadcast };
        // The number of messages that it causes.
        self.sources.messages_created[message.class] += match trees.kind {
            CollectiveKind::Broadcast => trees.receipts,
            CollectiveKind::Reduce => u64::from(message.source == message.destination),
            CollectiveKind::AllReduce | CollectiveKind::Barrier => 1,
        };
        let tag = route(narrow(self.workload.own_tag(message.tag)), 0);
        let note = self.sources.notes.insert(note(message.time, role, tag));
        let queued = Queued {
            created: now,
            bytes_left: message.bytes,
            destination: message.destination,
            next: NONE,
            note,
            class: message.class,
        };
        self.enqueue(common, terminal, 0, role, queued);
    }

    /// The route of the message's packet that is injected next. `more`: another packet follows.
    pub(crate) fn route_of_next(&mut self, note: u32, more: bool) -> u64 {
        let route = self.sources.notes.at(note).tag;
        if more {
            self.sources.notes.at(note).tag += 1 << 32;
        } else {
            self.sources.notes.remove(note);
        }
        route
    }

    /// The tag of the message of a class in the operation of this route.
    pub(super) fn tag_of_operation(&self, route: u64, class: u8) -> u64 {
        self.workload.tag_in_class(class, u64::from(parts(route).0))
    }

    /// Handles a packet of a collective operation at a terminal's sink.
    pub(crate) fn arrive_collective(
        &mut self,
        common: &mut Common<'_>,
        observer: &mut impl Observer,
        (packet, origin, terminal): (&Packet, &Origin, u32),
        time: Picoseconds,
    ) {
        let trees = &common.context.trees;
        let (_, number) = parts(packet.route.0);
        self.sink.note_order(terminal, packet.route.0.rotate_left(32));
        if u64::from(number) + 1 < trees.packets {
            return;
        }
        let overheads = common.context.overheads[trees.class];
        let completed = time + overheads.receive;
        self.sink.messages_completed[trees.class] += 1;
        observer.message_completed(&CompletedMessage {
            class: trees.class,
            source: packet.source,
            destination: self.sources.adapters[terminal as usize].name,
            bytes: trees.bytes,
            is_control: false,
            created: origin.created - overheads.send,
            completed,
        });
        let Origin { created, injected, hops, .. } = *origin;
        let event = HostEvent::Receive(Receipt {
            tag: self.tag_of_operation(packet.route.0, trees.class),
            created,
            injected,
            hops: u32::from(hops),
            sequence: packet.sequence,
            channel: origin.injection_channel,
            trailing: Picoseconds::ZERO,
            leading: Picoseconds::ZERO,
            time: completed,
        });
        self.schedule_host_event(common, terminal, completed, event);
    }
}
