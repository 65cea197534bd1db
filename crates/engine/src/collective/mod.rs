//! The collective subnetwork: packets that routers combine on the way up a tree and replicate on
//! the way down (docs/model.md, "Collective subnetwork").
//!
//! A router's **reduction unit** takes operands out of the buffers of the upper virtual channel and
//! makes results of them. It sends the results on from two queues of its own. Packets on the lower
//! virtual channel stay in their buffers until all their copies have been sent. Results and copies
//! ask for outputs as any other packet does, and take part in the arbitration.
//!
//! All packets of all operations have one order, and every router sends them in that order. So each
//! router knows by a count which packet leaves next. An open operation's place is its number modulo
//! the number of operations that can be open.
//!
//! | module | what it is for |
//! |---|---|
//! | `trees` | the trees of operations as tables of outputs, shared by all parts |
//! | `reduction_unit` | taking operands, making results |
//! | `copies` | sending results and copies |
//!
//! This file has the terminals' share.

mod copies;
#[cfg(test)]
mod plain;
mod reduction_unit;
#[cfg(test)]
mod tests;
mod trees;

pub(super) use reduction_unit::ReductionUnits;
pub(super) use trees::Trees;

use super::CompletedMessage;
use super::common::Common;
use super::hosts::Hosts;
use super::message::{Note, Queued, Role};
use super::packet::{Origin, Packet};
use super::sink::HostEvent;
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_workload::traffic::{CollectiveKind, Message, MessageKind};

/// In place of the number of an announced message: the packet belongs to a collective operation.
pub(super) const COLLECTIVE: u32 = NONE - 1;

/// The route of a packet: the operation, and the packet's number in its message.
pub(super) fn route(operation: u32, packet: u32) -> u64 {
    u64::from(operation) | u64::from(packet) << 32
}

/// The operation and the packet's number in a route.
#[inline]
pub(super) fn parts(route: u64) -> (u32, u32) {
    (narrow(route & u64::from(u32::MAX)), narrow(route >> 32))
}

impl Hosts {
    /// Puts a terminal's message of a collective operation into its source queue. It always takes
    /// injection channel 0, so that the order of operations is kept.
    pub(super) fn create_collective(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        message: &Message,
        now: Picoseconds,
    ) {
        let trees = common.context.trees.as_ref().expect("there are collective operations");
        let role =
            if message.kind == MessageKind::Operand { Role::Operand } else { Role::Broadcast };
        // The number of messages that it causes.
        self.sources.messages_created += match trees.kind {
            CollectiveKind::Broadcast => trees.receipts,
            CollectiveKind::Reduce => u64::from(message.source == message.destination),
            CollectiveKind::AllReduce | CollectiveKind::Barrier => 1,
        };
        let tag = route(narrow(message.tag - 1), 0);
        let note = Note {
            started: message.time,
            role,
            tag,
            arrival: NONE,
            waited_before: Picoseconds::ZERO,
        };
        let note = self.sources.notes.insert(note);
        let queued = Queued {
            created: now,
            bytes_left: message.bytes,
            destination: message.destination,
            next: NONE,
            note,
        };
        self.enqueue(common, terminal, 0, role, queued);
    }

    /// The route of the message's packet that is injected next. `more`: another packet follows.
    pub(super) fn route_of_next(&mut self, note: u32, more: bool) -> u64 {
        let route = self.sources.notes.at(note).tag;
        if more {
            self.sources.notes.at(note).tag += 1 << 32;
        } else {
            self.sources.notes.remove(note);
        }
        route
    }

    /// Handles a packet of a collective operation at a terminal's sink.
    pub(super) fn arrive_collective(
        &mut self,
        common: &mut Common<'_>,
        packet: &Packet,
        origin: &Origin,
        terminal: u32,
        time: Picoseconds,
    ) {
        let trees = common.context.trees.as_ref().expect("it came by a tree");
        let (operation, number) = parts(packet.route.0);
        self.sink.note_order(terminal, packet.route.0.rotate_left(32));
        if u64::from(number) + 1 < trees.packets {
            return;
        }
        let completed = time + common.context.parameters.receive_overhead;
        self.sink.messages_completed += 1;
        self.sink.completed.push(CompletedMessage {
            source: packet.source,
            destination: self.sources.adapters[terminal as usize].name,
            bytes: trees.bytes,
            is_control: false,
            created: origin.created - common.context.parameters.send_overhead,
            completed,
        });
        let Origin { created, injected, hops, .. } = *origin;
        let event = HostEvent::Receive {
            tag: u64::from(operation) + 1,
            created,
            injected,
            hops: u32::from(hops),
            sequence: packet.sequence,
            channel: origin.injection_channel,
        };
        self.schedule_host_event(common, terminal, completed, event);
    }
}
