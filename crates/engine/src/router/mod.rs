//! Models of routers: what the part of a network asks of one.
//!
//! There are three: routers that grant an output to a whole packet
//! ([`PacketRouters`](packet::PacketRouters)), those that do so from buffers behind their crossbars
//! ([`CioqRouters`](cioq::CioqRouters)), and routers whose links are shared flit by flit
//! ([`FlitRouters`](flit::FlitRouters)). Which one it is is decided once, when the simulation is
//! made.

pub(crate) mod asks;
mod between_parts;
mod blocked;
pub(crate) mod cioq;
pub(crate) mod collective;
pub(crate) mod deadlock;
pub(crate) mod flit;
pub(crate) mod holder;
mod injector;
pub(crate) mod link;
pub(crate) mod packet;
#[cfg(test)]
mod tests;

use flitlab_base::narrow::fitted;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::common::Common;
use crate::frame::exchange::HasEarliest;
use crate::frame::tick::Tick;
use crate::host::Hosts;
use crate::interruption::Interruption;
use crate::network::context::NetworkContext;
use crate::network::port::{Input, Output};
use crate::network::ports::Ports;
use crate::packet::message::Queued;
use crate::part::Part;
use flitlab_base::prefetch::Stage;
use flitlab_base::units::Picoseconds;
use flitlab_model::Waiting;

/// A buffer: the part that it is in, and its number there, by input port, then virtual channel.
pub(crate) type Buffer = (usize, u32);

/// A packet: its source and its number there.
pub(crate) type PacketId = (u32, u32);

/// The routers of a part: their ports, buffers and credits. All else is lent to them for a call.
pub(crate) trait Routers: Fail + Waits + Send {
    /// What the routers of one part send those of another. All numbers are the receiver's.
    type Messages: HasEarliest;

    /// Parameters that routers of this kind have, and others have not.
    type Own;

    /// The fields that change during a simulation, as a checkpoint saves them.
    type Saved: DeserializeOwned;

    /// Whether injected flits are in their queues at once, rather than among the arrivals of the
    /// router. A visit then asks for the next event again after terminals have injected.
    const QUEUES_AT_ONCE: bool;

    /// Whether terminals may go ahead of their routers.
    const HOSTS_GO_AHEAD: bool = false;

    /// Idle routers with these ports.
    fn new(common: &Common<'_>, ports: Ports, own: &Self::Own) -> Self;

    fn ports(&self) -> &Ports;

    /// An output, and an input port, by its number in the part.
    fn output(&self, number: u32) -> Output {
        *self.ports().output(number)
    }

    fn input(&self, number: u32) -> Input {
        *self.ports().input(number)
    }

    /// The flits that have left by a router's output before a time and for which no credit has come
    /// back before. All that happens before has been simulated.
    fn flits_out(&mut self, common: &mut Common<'_>, output: (u32, usize), before: Tick) -> u32;

    /// Prefetches memory for a visit that comes soon.
    fn prefetch(&self, _: &Common<'_>, _router: u32, _: Stage) {}

    /// A lower bound of the time of the next event at a router, but for what
    /// [`has_arrivals`](Self::has_arrivals) tells of.
    fn next_event(&self, router: u32) -> Tick;

    /// Whether packets have come to empty buffers of a router since its last visit.
    fn has_arrivals(&self, _router: u32) -> bool {
        false
    }

    /// Simulates a router of a part and its terminals until the end of the window, by
    /// [`Part::visit`]. Each kind says so itself: then the code of a visit is made once, in this crate, and
    /// not in each that has an observer of its own.
    fn visit(part: &mut Part<'_, Self>, router: u32) -> Tick;

    /// Simulates a router's outputs before `until`, or until its terminals have something to do
    /// that cannot wait. Returns a lower bound of the time of the next event there.
    fn run(&mut self, common: &mut Common<'_>, router: u32, until: Tick) -> Tick;

    /// Serves an injection channel of a terminal. Returns the time at which it is served next;
    /// `None` if its terminal is `ahead` of the router, and it is not certain which packet goes
    /// first.
    fn inject(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        channel: (u32, u32),
        now: Tick,
        ahead: bool,
    ) -> Option<Tick>;

    /// Sends a message of one packet past its source queue, if the injection channel is free, its
    /// queues are empty and there is room by the credits that are known. Returns whether it did.
    fn send_at_once(
        &mut self,
        _: &mut Common<'_>,
        _: &mut Hosts,
        _channel: (u32, u8),
        _message: &Queued,
        _now: Tick,
    ) -> bool {
        false
    }

    /// Whether an injection channel has begun a packet whose flits wait.
    fn has_begun(&self, _injection: u32) -> bool {
        false
    }

    /// Delivers what visits have sent to routers of this part and have not written there, if they
    /// leave anything; keeps what is for other parts.
    fn deliver(&mut self, _: &mut Common<'_>) {}

    /// Swaps the messages for another part with `empty`, which is empty.
    fn swap_outgoing(&mut self, to: usize, empty: &mut Self::Messages);

    /// Takes in the messages of another part. Leaves `incoming` empty, but with its memory.
    fn take_incoming(&mut self, common: &mut Common<'_>, incoming: &mut Self::Messages);

    /// Moves all ticks back, after the epoch has advanced by `by`.
    fn rebase(&mut self, by: Tick);

    /// For how long past times are needed.
    fn past_needed(_: &NetworkContext<'_>) -> Picoseconds {
        Picoseconds::ZERO
    }

    /// The time at which the last packet or flit in a buffer has arrived.
    fn latest_arrival(&self, common: &Common<'_>) -> Picoseconds;

    /// Whether flits may be left here, of packets of this part or of others.
    fn may_hold_flits(&self, common: &Common<'_>) -> bool {
        common.packets.count > 0
    }

    /// Bytes of the arrays before traffic.
    fn memory(&self) -> usize;

    /// Counts all stalls until `now`; waits go on.
    fn settle_stalls(&mut self, _: &mut Common<'_>, _now: Tick) {}

    /// Whether stalls are counted.
    fn counts_stalls(&self) -> bool {
        true
    }

    /// The free flits at a place of credits, with all credits under way.
    fn room_due(&self, place: u32) -> u32;

    /// Flits of an output's virtual channel that hold room at its far end without being in the
    /// buffer there: they are to be sent again, or wait beside the buffer.
    fn flits_kept(&self, _output: u32, _vc: u8) -> u32 {
        0
    }

    /// Time at which the last flit that an output was given has left.
    fn output_free_at(&self, output: u32) -> Tick;

    /// By output number: when the last flit has left that the output was given.
    fn outputs_free_at(&self) -> Vec<Tick> {
        let outputs = fitted!(self.ports().outputs, u32);
        (0..outputs).map(|output| self.output_free_at(output)).collect()
    }

    /// Flits that an output has sent again since the last reset of statistics, if links err.
    fn flits_resent(&self, _output: u32) -> Option<u64> {
        None
    }

    /// Resets what the routers count by themselves.
    fn reset_statistics(&mut self) {}

    /// What a checkpoint saves.
    fn saved(&self) -> impl Serialize + '_;

    /// Takes over a saved state. Returns false if it belongs to another network.
    fn restore(&mut self, saved: Self::Saved) -> bool;
}

/// Routers some of which fail, and some of whose channels.
pub(crate) trait Fail: Sized {
    /// The packets that the failure at a time cuts before their last flits are sent, besides those
    /// that are known as such when they are sent.
    fn cut_by(_: &AllParts<'_, '_, Self>, _: (&Interruption, Picoseconds)) -> Vec<PacketId> {
        Vec::new()
    }

    /// Prepares a failure at a time: loses some packets, given in order, wherever their headers
    /// are.
    fn begin_failure(&mut self, _: &mut Common<'_>, _lost: &[PacketId], _at: Picoseconds) {}

    /// Makes a channel between routers swallow what is sent to it from a time on.
    fn fail_output(&mut self, common: &mut Common<'_>, router: u32, output: u32, at: Picoseconds);

    /// Lets the packets at a router that have a choice choose again after time `at`, by the present
    /// routes.
    fn choose_again(&mut self, common: &mut Common<'_>, router: u32, at: Picoseconds);

    /// Notes that an output's channel belongs to no ring any more, while no packet is there.
    fn leave_ring(&mut self, router: u32, output: u32);

    /// Notes the same of the channel that ends at an input port.
    fn end_ring(&mut self, router: u32, input: u32);

    /// Loses the packets in a router, and those under way to it.
    fn fail_router(&mut self, common: &mut Common<'_>, router: u32);
}

/// Routers in whose buffers packets wait: for the search for deadlocks, and for the channel that
/// holds a packet up.
pub(crate) trait Waits: Sized {
    /// Number of buffers.
    fn buffers(&self) -> usize;

    /// The buffers of which one has to move before the head of this one can; empty if the head may
    /// move without.
    fn waits_for(parts: &AllParts<'_, '_, Self>, buffer: Buffer) -> Vec<Buffer>;

    /// The description of the packet at the head of a buffer that waits for good.
    fn waiting(parts: &AllParts<'_, '_, Self>, buffer: Buffer) -> Waiting;

    /// The flits that take room of an input virtual channel.
    fn flits_held(parts: &AllParts<'_, '_, Self>, input_vc: Buffer) -> u32;

    /// Whether a packet is in an input virtual channel and could go on.
    fn waits_in(parts: &AllParts<'_, '_, Self>, input_vc: Buffer, packet: PacketId) -> bool;

    /// The output for which the head of an input virtual channel waits, and the input virtual
    /// channel that keeps the head from it, if one does. `None` if nothing is in the way there:
    /// flits or credits are under way.
    fn held_by(parts: &AllParts<'_, '_, Self>, input_vc: Buffer) -> Option<(u32, Option<Buffer>)>;
}

/// The parts of a network between two runs, looked at together.
pub(crate) struct AllParts<'a, 'f, R> {
    pub parts: Vec<&'a Part<'f, R>>,
    pub context: &'a NetworkContext<'f>,
    pub clock: Picoseconds,
}

impl<'a, 'f, R> AllParts<'a, 'f, R> {
    /// A part, by its number.
    pub(crate) fn part(&self, number: usize) -> &'a Part<'f, R> {
        self.parts[number]
    }

    /// The routers of a part.
    pub(crate) fn routers(&self, part: usize) -> &'a R {
        &self.parts[part].routers
    }
}
