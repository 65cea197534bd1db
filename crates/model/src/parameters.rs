//! Parameters of routers, links and adapters: sizes, rates, latencies, rules.
//!
//! The defaults are the `angara` preset. Its values that no public source gives are assumed: the
//! hop of 105 ns from header to header is Cray Gemini's, the host overheads are chosen so that a
//! ping between neighbours takes the published 850 ns (\[angara-routing\], section 1).

use super::{FlitSharing, LinkErrors, RouterKind, TrafficClass};
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Bytes, Picoseconds, Rate, flit_time};
use flitlab_fabric::CableClass;

/// The maximum number of packets of a message: its sink counts them in 32 bits.
pub const MAX_PACKETS: u64 = u32::MAX as u64;

/// The part of a packet that has to be there before the packet may ask for its next output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switching {
    /// The header.
    VirtualCutThrough,
    /// All flits.
    StoreAndForward,
    /// The header, whether there is room for the rest or not. Only with links shared flit by flit.
    Wormhole,
}

/// The order in which an output serves requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// All input buffers in turn.
    RoundRobin,
    /// Packets from network channels before packets from injection channels, each in turn.
    TransitFirst,
    /// One of the packets that can go, drawn at random.
    Random,
    /// The packet that was created first. Only with links shared flit by flit.
    OldestFirst,
    /// Virtual channels in turn, each for its weight in flits. Only with links shared flit by flit.
    Weighted,
}

/// The injection channel that a message of data or a request takes. A response takes that of its
/// request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectionChoice {
    /// A terminal's messages take its channels in turn.
    InTurn,
    /// All messages to a destination take one channel: the destination's number modulo the number of
    /// channels.
    ByDestination,
}

/// The reduction unit of a router, which combines the operands of collective operations and
/// replicates packets (docs/model.md, "Collective subnetwork"). No value is public: all are
/// assumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectiveUnit {
    /// Whether a packet goes to all children at the same instant, or to each as soon as that
    /// child's channel is free.
    pub together: bool,
    /// Number of results at the head of the order that the unit can work on at a time.
    pub open_operations: u32,
    /// Time from the start of the last operand's flit until the result's flit is there.
    pub combining_latency: Picoseconds,
    /// Rate at which operands are taken, each, and at which results are made, all flits counted.
    pub combining_rate: Rate,
}

impl Default for CollectiveUnit {
    fn default() -> Self {
        Self {
            together: false,
            open_operations: 16,
            combining_latency: Picoseconds(10_000),
            combining_rate: Rate(64_000_000_000),
        }
    }
}

/// Virtual channels of each of Angara's channels: request, response, adaptive, collective up and
/// down (\[angara-routing\], section 2).
pub const VIRTUAL_CHANNELS: usize = 5;

/// The maximum number of virtual channels of a router.
pub const MAX_VIRTUAL_CHANNELS: u8 = 16;

/// The virtual channel of data and read requests.
pub const REQUEST_CHANNEL: u8 = 0;

/// The virtual channel of read responses.
pub const RESPONSE_CHANNEL: u8 = 1;

/// The virtual channel of operands on their way up a tree.
pub const UP_CHANNEL: u8 = 3;

/// The virtual channel of packets on their way down a tree.
pub const DOWN_CHANNEL: u8 = 4;

/// The names of Angara's virtual channels.
pub const VIRTUAL_CHANNEL_NAMES: [&str; VIRTUAL_CHANNELS] =
    ["request", "response", "adaptive", "collective up", "collective down"];

/// Parameters of a router, its links and its adapters. The defaults are Angara's. See docs/model.md
/// for the effect of each one.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Size of a flit: the unit in which buffers, credits and grants are counted.
    pub flit: Bytes,
    /// Flits before a packet's payload.
    pub header_flits: u32,
    /// Flits after a packet's payload.
    pub checksum_flits: u32,
    /// Payload of the largest packet; larger messages are cut into several.
    pub maximum_payload: Bytes,
    /// Virtual channels of each channel. Angara's five have names and duties. With a forwarding
    /// table they are the virtual channels of the table.
    pub virtual_channels: u8,
    /// Number of Angara's channels for requests and their responses: 2 if each have their own, 1 if
    /// responses share the request channel. Tables and relations have no such channels.
    pub message_classes: u8,
    /// Flits of the buffer of a network channel, per virtual channel.
    pub buffer: u32,
    /// The part of a packet that has to be there before the packet may be granted.
    pub switching: Switching,
    /// The choice among packets that ask for one output.
    pub arbitration: Arbitration,
    /// Where packets wait, and what a channel is granted to.
    pub kind: RouterKind,
    /// Whether entering a ring needs room for one more maximum packet. Without it rings deadlock.
    /// With it they do not, if packets have one size (docs/model.md, "What the bubble promises").
    pub bubble: bool,
    /// Packets that an input port can send at once; with buffers at outputs also those that can
    /// cross to an output at once. With links shared flit by flit: the speed of the crossbar as a
    /// multiple of an output channel's.
    pub crossbar_speedup: u32,
    /// Time from the arrival of a packet's header in a router to its first request for an output.
    pub routing_latency: Picoseconds,
    /// The time for which a packet at the head of a buffer waits for an output at the most, once it
    /// may ask for one; then it is dropped. `None` if packets wait for any time.
    pub head_of_queue_lifetime: Option<Picoseconds>,
    /// Time to cross the router, added to the output channel's latency for each flit.
    pub crossbar_latency: Picoseconds,
    /// Data rate of each direction of the fastest cables; a fabric may give slower ones a rate of
    /// their own.
    pub link_rate: Rate,
    /// Time from a flit's start on a cable until the whole flit is at the far end; at least a
    /// flit's time at `link_rate`.
    pub link_latency: Picoseconds,
    /// Number of channels from an adapter into its router, from 1 to 255.
    pub injection_channels: u32,
    /// Which of them a message takes.
    pub injection_choice: InjectionChoice,
    /// Data rate of each injection channel.
    pub injection_rate: Rate,
    /// Time from a flit's start on an injection channel until the whole flit is in the router.
    pub injection_latency: Picoseconds,
    /// Flits of the buffer of an injection channel, per virtual channel.
    pub injection_buffer: u32,
    /// Number of channels from a router to each of its terminals, from 1 to 255.
    pub ejection_channels: u32,
    /// Data rate of each ejection channel.
    pub ejection_rate: Rate,
    /// Time from a flit's start on an ejection channel until the whole flit is at the sink.
    pub ejection_latency: Picoseconds,
    /// Host time from a message's creation to the creation of its first packet.
    pub send_overhead: Picoseconds,
    /// Host time from the delivery of a message's last packet to the message's receipt.
    pub receive_overhead: Picoseconds,
    /// Time from the delivery of a request to the creation of its response. For an atomic operation
    /// it starts when the operation has been performed.
    pub service_time: Picoseconds,
    /// Time for which an atomic operation occupies its target's adapter, which performs one after
    /// the other.
    pub atomic_time: Picoseconds,
    /// The most responses that an adapter holds, from the grant of its ejection channel to a
    /// request until the response has left; `None` if there is no limit.
    pub responder_resources: Option<u16>,
    /// The unit that reduces operands inside the routers.
    pub collective: CollectiveUnit,
    /// Errors of network channels; `None` if they have none.
    pub errors: Option<LinkErrors>,
    /// The classes of traffic, by number. Those that are not given are the default.
    pub classes: Vec<TrafficClass>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            flit: Bytes(16),
            header_flits: 1,
            checksum_flits: 1,
            maximum_payload: Bytes(256),
            virtual_channels: narrow(VIRTUAL_CHANNELS),
            message_classes: 2,
            buffer: 144,
            switching: Switching::VirtualCutThrough,
            arbitration: Arbitration::RoundRobin,
            kind: RouterKind::WholePackets,
            bubble: true,
            crossbar_speedup: 1,
            routing_latency: Picoseconds(25_000),
            head_of_queue_lifetime: None,
            crossbar_latency: Picoseconds(10_000),
            link_rate: Rate(60_000_000_000),
            link_latency: Picoseconds(70_000),
            injection_channels: 2,
            injection_choice: InjectionChoice::InTurn,
            injection_rate: Rate(64_000_000_000),
            injection_latency: Picoseconds(13_000),
            injection_buffer: 144,
            ejection_channels: 2,
            ejection_rate: Rate(64_000_000_000),
            ejection_latency: Picoseconds(13_000),
            send_overhead: Picoseconds(340_000),
            receive_overhead: Picoseconds(340_000),
            service_time: Picoseconds(100_000),
            atomic_time: Picoseconds(50_000),
            responder_resources: None,
            collective: CollectiveUnit::default(),
            errors: None,
            classes: Vec::new(),
        }
    }
}

impl Parameters {
    /// Returns the class of traffic of this number.
    #[inline]
    pub fn class(&self, number: u8) -> TrafficClass {
        self.classes.get(usize::from(number)).copied().unwrap_or_default()
    }

    /// The `infiniband-4xqdr` preset: switches and adapters of InfiniBand with four lanes of
    /// quadruple data rate.
    ///
    /// From \[infiniband\]:
    ///
    /// - 40 Gb/s of signals carry 32 Gb/s of data (8b/10b coding);
    /// - credits count blocks of 64 B, here a flit;
    /// - a packet's local route header (8 B), base transport header (12 B) and two checksums (4 and
    ///   2 B) are 26 B, here one flit;
    /// - packets carry up to 2 KiB in up to 8 virtual lanes for data.
    ///
    /// A switch takes 100 ns from port to port, as InfiniScale IV was announced to. Assumed are the
    /// division of these 100 ns, cables of 2 m (10 ns), buffers of four packets a virtual channel,
    /// and the hosts' 520 ns a side. With these a ping through one switch takes 1.2 us.
    pub fn infiniband_4xqdr() -> Self {
        let rate = Rate(32_000_000_000);
        Self {
            flit: Bytes(64),
            header_flits: 1,
            checksum_flits: 0,
            maximum_payload: Bytes(2048),
            virtual_channels: 8,
            message_classes: 2,
            buffer: 132,
            switching: Switching::VirtualCutThrough,
            arbitration: Arbitration::RoundRobin,
            kind: RouterKind::WholePackets,
            bubble: false,
            crossbar_speedup: 1,
            routing_latency: Picoseconds(80_000),
            head_of_queue_lifetime: None,
            crossbar_latency: Picoseconds(20_000),
            link_rate: rate,
            link_latency: Picoseconds(26_000),
            injection_channels: 1,
            injection_choice: InjectionChoice::InTurn,
            injection_rate: rate,
            injection_latency: Picoseconds(26_000),
            injection_buffer: 132,
            ejection_channels: 1,
            ejection_rate: rate,
            ejection_latency: Picoseconds(26_000),
            send_overhead: Picoseconds(520_000),
            receive_overhead: Picoseconds(520_000),
            service_time: Picoseconds(100_000),
            atomic_time: Picoseconds(50_000),
            responder_resources: None,
            collective: CollectiveUnit::default(),
            errors: None,
            classes: Vec::new(),
        }
    }

    /// The `omni-path-100` preset: switches and adapters of Omni-Path at 100 Gb/s.
    ///
    /// From \[omni-path\]: four lanes carry 100 Gb/s. 16 flits of 65 bits, which have 8 B each, and a
    /// checksum are a transfer of 1,056 bits that is sent again as a whole, so 96.97 Gb/s are left for
    /// flits, one in 660 ps. Packets carry up to 8 KiB in 8 virtual lanes for data.
    ///
    /// A switch takes 105 ns, as its makers' figures of 100 to 110 ns are remembered. Assumed are the
    /// division of these 105 ns, the headers of InfiniBand (24 B in 3 flits), 10.56 ns on each channel
    /// until a transfer has come whole, cables of 2 m (10 ns), buffers of four packets a virtual
    /// channel, and the hosts' times, those of `infiniband-4xqdr`.
    pub fn omni_path_100() -> Self {
        let rate = Rate(96_970_000_000);
        let latency = Picoseconds(20_560);
        let buffer = 4 * (3 + 8192 / 8);
        Self {
            flit: Bytes(8),
            header_flits: 3,
            maximum_payload: Bytes(8192),
            buffer,
            routing_latency: Picoseconds(85_000),
            link_rate: rate,
            link_latency: latency,
            injection_rate: rate,
            injection_latency: latency,
            injection_buffer: buffer,
            ejection_rate: rate,
            ejection_latency: latency,
            ..Self::infiniband_4xqdr()
        }
    }

    /// The `noc-mesh` preset: routers of a network on a chip with a clock of 1 GHz. A router takes one
    /// cycle and so does a link, as is usual for such networks (\[garnet\]): flits of 16 B, a cache
    /// line of 64 B and its header in a packet of 5 flits, wormhole switching, 4 virtual channels
    /// of 4 flits each. All of them are assumed.
    pub fn noc_mesh() -> Self {
        let (rate, cycle) = (Rate(128_000_000_000), Picoseconds(1_000));
        Self {
            flit: Bytes(16),
            maximum_payload: Bytes(64),
            virtual_channels: 4,
            buffer: 4,
            switching: Switching::Wormhole,
            kind: RouterKind::SharedLinks(FlitSharing::default()),
            routing_latency: Picoseconds::ZERO,
            crossbar_latency: cycle,
            link_rate: rate,
            link_latency: cycle,
            injection_rate: rate,
            injection_latency: cycle,
            injection_buffer: 4,
            ejection_rate: rate,
            ejection_latency: cycle,
            send_overhead: Picoseconds::ZERO,
            receive_overhead: Picoseconds::ZERO,
            service_time: Picoseconds::ZERO,
            ..Self::infiniband_4xqdr()
        }
    }

    /// Flits of a packet with this payload.
    #[inline]
    pub fn packet_flits(&self, payload: u64) -> u32 {
        let flits = u64::from(self.header_flits)
            + payload.div_ceil(self.flit.0)
            + u64::from(self.checksum_flits);
        u32::try_from(flits).expect("payload is at most the maximum").max(1)
    }

    /// Flits that can wait behind the crossbar for an output, in a virtual channel if each has a buffer of
    /// its own there.
    pub fn behind_crossbar(&self) -> u32 {
        match &self.kind {
            RouterKind::WholePackets | RouterKind::OutputQueues(_) => 0,
            RouterKind::OutputBuffers(flits) => *flits,
            RouterKind::SharedLinks(sharing) => sharing.output_buffer,
        }
    }

    /// Flits of the largest packet.
    #[inline]
    pub fn maximum_packet(&self) -> u32 {
        self.packet_flits(self.maximum_payload.0)
    }

    /// Number of maximum packets that fit into a network channel's buffer beyond the first; 0 if
    /// packets need not fit in.
    pub fn most_bubble(&self) -> u8 {
        match self.switching {
            Switching::Wormhole => 0,
            Switching::VirtualCutThrough | Switching::StoreAndForward => {
                let packets = self.buffer / self.maximum_packet().max(1);
                u8::try_from(packets.saturating_sub(1)).unwrap_or(u8::MAX)
            }
        }
    }

    /// The packets of a message: the number of those with the maximum payload, and the payload of
    /// the one that follows them, if any. A message without payload is one packet.
    #[inline]
    pub fn packets(&self, bytes: u64) -> (u64, Option<u64>) {
        let most = self.maximum_payload.0.max(1);
        let (full, rest) = (bytes / most, bytes % most);
        (full, (rest > 0 || full == 0).then_some(rest))
    }

    /// Flits of all packets of a message, at most `u64::MAX`.
    #[inline]
    pub fn message_flits(&self, bytes: u64) -> u64 {
        let (full, rest) = self.packets(bytes);
        let last = rest.map_or(0, |rest| u64::from(self.packet_flits(rest)));
        full.saturating_mul(self.maximum_packet().into()).saturating_add(last)
    }

    /// The maximum time of a packet from router to router over cables of these classes. Longer
    /// times than the `MAX_HOP_TIME` of the engine are not simulated.
    pub fn longest_stay(&self, cables: &[CableClass]) -> Picoseconds {
        let flit = cables.iter().map(|&class| {
            let link = self.flit_time_of(class);
            link.max(self.injection_flit_time_of(class)).max(self.ejection_flit_time_of(class))
        });
        let flit = flit.max().unwrap_or(Picoseconds::ZERO);
        let latency = cables.iter().map(|&class| {
            let link = self.latency_of(class);
            link.max(self.injection_latency_of(class)).max(self.ejection_latency_of(class))
        });
        let latency = latency.max().unwrap_or(Picoseconds::ZERO);
        flit * self.maximum_packet().into()
            + latency
            + self.routing_latency
            + self.crossbar_latency
            + self.allocation_latency()
            + self.output_wait(cables)
    }

    /// The latencies of the allocations of virtual channels and of the switch, which are 0 unless
    /// links are shared flit by flit.
    pub fn allocation_latencies(&self) -> [Picoseconds; 2] {
        match self.kind.sharing() {
            Some(sharing) => [sharing.virtual_channel_allocation, sharing.switch_allocation],
            None => [Picoseconds::ZERO; 2],
        }
    }

    /// The latencies of both allocations together.
    pub fn allocation_latency(&self) -> Picoseconds {
        let [virtual_channel, switch] = self.allocation_latencies();
        virtual_channel + switch
    }

    /// The maximum time of a flit behind the crossbar, for cables of these classes.
    pub fn output_wait(&self, cables: &[CableClass]) -> Picoseconds {
        let flits = self.kind.sharing().map_or(0, |sharing| sharing.output_buffer);
        let slowest = cables
            .iter()
            .map(|&class| self.flit_time_of(class).max(self.ejection_flit_time_of(class)));
        slowest.max().unwrap_or(Picoseconds::ZERO) * u64::from(flits)
    }

    /// The time a flit occupies a network channel of `link_rate`.
    pub fn link_flit_time(&self) -> Picoseconds {
        flit_time(self.flit, self.link_rate).0
    }

    /// The rate of network channels of a class of cables.
    pub fn rate_of(&self, cables: CableClass) -> Rate {
        cables.rate.of(self.link_rate)
    }

    /// The time a flit occupies a network channel of a class of cables.
    pub fn flit_time_of(&self, cables: CableClass) -> Picoseconds {
        flit_time(self.flit, self.rate_of(cables)).0
    }

    /// The latency of network channels of a class of cables: its own, or `link_latency`. A latency
    /// ends with the whole flit. So the excess of a flit's time over that at `link_rate` is added.
    pub fn latency_of(&self, cables: CableClass) -> Picoseconds {
        let longer = || later(self.link_latency, self.link_flit_time(), self.flit_time_of(cables));
        cables.latency.unwrap_or_else(longer)
    }

    /// The rate of the injection channels of terminals with cables of a class: the adapters' own
    /// rate. If the fabric has faster cables, it is at most the cable's rate.
    pub fn injection_rate_of(&self, cables: CableClass) -> Rate {
        self.at_most(self.injection_rate, cables)
    }

    /// The time a flit occupies an injection channel on a class of cables.
    pub fn injection_flit_time_of(&self, cables: CableClass) -> Picoseconds {
        flit_time(self.flit, self.injection_rate_of(cables)).0
    }

    /// The latency of injection channels on a class of cables.
    pub fn injection_latency_of(&self, cables: CableClass) -> Picoseconds {
        let (usual, own) = (self.injection_flit_time(), self.injection_flit_time_of(cables));
        later(self.injection_latency, usual, own)
    }

    /// The rate of the ejection channels of terminals with cables of a class, by the rule of
    /// [`injection_rate_of`](Self::injection_rate_of).
    pub fn ejection_rate_of(&self, cables: CableClass) -> Rate {
        self.at_most(self.ejection_rate, cables)
    }

    /// The time a flit occupies an ejection channel on a class of cables.
    pub fn ejection_flit_time_of(&self, cables: CableClass) -> Picoseconds {
        flit_time(self.flit, self.ejection_rate_of(cables)).0
    }

    /// The latency of ejection channels on a class of cables.
    pub fn ejection_latency_of(&self, cables: CableClass) -> Picoseconds {
        let (usual, own) = (self.ejection_flit_time(), self.ejection_flit_time_of(cables));
        later(self.ejection_latency, usual, own)
    }

    /// A rate of adapters, limited by a class of cables.
    fn at_most(&self, rate: Rate, cables: CableClass) -> Rate {
        let is_slow = cables.rate.slowness() > 1.0;
        if is_slow { rate.min(self.rate_of(cables)) } else { rate }
    }

    /// Time from the end of a packet on a network channel that may send again until its
    /// acknowledgement has arrived; of a flit where links are shared flit by flit. The
    /// acknowledgement is assumed to wait for one of the largest packets, or for the flits behind
    /// the crossbar, and not to be lost. The longest time over these classes of cables counts.
    pub fn acknowledged_after(&self, cables: &[CableClass]) -> Picoseconds {
        let each = cables.iter().map(|&class| self.acknowledged_after_on(class));
        each.max().unwrap_or(Picoseconds::ZERO)
    }

    fn acknowledged_after_on(&self, cables: CableClass) -> Picoseconds {
        let flit = self.flit_time_of(cables);
        let waits = match self.kind.sharing() {
            // Flits that wait behind the crossbar, and its allocation.
            Some(sharing) => sharing.switch_allocation + flit * sharing.output_buffer.into(),
            None => flit * self.maximum_packet().into(),
        };
        self.latency_of(cables) * 2 + self.crossbar_latency + waits
    }

    /// Flits of what a network channel that may send again numbers and acknowledges, at most: the
    /// largest packet, or one flit where flits of several packets take turns.
    pub fn unit_of_retry(&self) -> u32 {
        if self.kind.grants_flits() { 1 } else { self.maximum_packet() }
    }

    /// Capacity and need of a network channel that may send again, in largest packets, or in flits
    /// where links are shared flit by flit; `None` where links do not err.
    ///
    /// - The capacity is the number of packets that can be under way.
    /// - The need is the number of packets that the channel sends from the start of one packet
    ///   until that one's acknowledgement. No packet is damaged, and no acknowledgement waits.
    /// - The largest values over these classes of cables count.
    ///
    /// If the capacity is below the need, the channel can't be used to the full.
    pub fn packets_on_a_link(&self, cables: &[CableClass]) -> Option<(u32, f64)> {
        let errors = self.errors.as_ref()?;
        let packet = self.unit_of_retry();
        let [_, allocation] = self.allocation_latencies();
        let crossing = self.crossbar_latency + allocation;
        let sent = cables.iter().map(|&class| {
            let flit = self.flit_time_of(class).0 as f64;
            let known = (crossing + 2 * self.latency_of(class)).0 as f64;
            (known + f64::from(packet - 1) * flit) / (f64::from(packet) * flit)
        });
        let most = (errors.replay_buffer / packet).min(errors.most_packets());
        Some((most, sent.fold(0.0, f64::max)))
    }

    /// The time a flit occupies an injection channel.
    pub fn injection_flit_time(&self) -> Picoseconds {
        flit_time(self.flit, self.injection_rate).0
    }

    /// The time that a router's reduction unit takes for a flit.
    pub fn combining_flit_time(&self) -> Picoseconds {
        flit_time(self.flit, self.collective.combining_rate).0
    }

    /// The time a flit occupies an ejection channel.
    pub fn ejection_flit_time(&self) -> Picoseconds {
        flit_time(self.flit, self.ejection_rate).0
    }
}

/// A latency that ends with a flit of time `own`, given one that ends with a flit of time `usual`.
fn later(latency: Picoseconds, usual: Picoseconds, own: Picoseconds) -> Picoseconds {
    (latency + own).saturating_sub(usual).max(latency.min(Picoseconds(1)))
}
