//! The kinds of routers, and what belongs to one of them alone.

use flitlab_base::units::{Bytes, Picoseconds, Rate};

/// The kind of a network's routers. docs/architecture.md has them side by side, and
/// [`FEATURES`](super::FEATURES) says what each can do.
#[derive(Clone, Debug, PartialEq)]
pub enum RouterKind {
    /// A channel is granted to a packet until its end. Packets wait in buffers at inputs.
    WholePackets,
    /// A channel is granted to a packet until its end. Packets wait in buffers at inputs, and behind
    /// the crossbar in buffers of so many flits, one for each virtual channel of an output
    /// (docs/model.md, "Buffers at outputs").
    OutputBuffers(u32),
    /// Channels are shared flit by flit (docs/model.md, "Links shared flit by flit").
    SharedLinks(FlitSharing),
    /// Output queues, and answers in place of credits (docs/model.md, "The paper's own simulator").
    /// They have a simulator of their own. The other parameters are those of routers of the engine
    /// that are like them without load.
    OutputQueues(OutputQueues),
}

impl RouterKind {
    /// Whether a channel is granted to a flit, and not to a packet until its end.
    #[inline]
    pub fn grants_flits(&self) -> bool {
        self.sharing().is_some()
    }

    /// How links are shared flit by flit; `None` if they are not.
    #[inline]
    pub fn sharing(&self) -> Option<&FlitSharing> {
        match self {
            Self::SharedLinks(sharing) => Some(sharing),
            Self::WholePackets | Self::OutputBuffers(_) | Self::OutputQueues(_) => None,
        }
    }

    /// Whether a virtual channel is given to a packet only while its buffer is empty.
    pub fn is_atomic(&self) -> bool {
        self.sharing().is_some_and(|sharing| sharing.atomic)
    }

    /// Whether a packet that leaves an input goes to the far end of its channel at once, so that all
    /// waiting is at inputs. Of output queues: whether those do that stand for them without load.
    #[inline]
    pub fn sends_from_inputs(&self) -> bool {
        match self {
            Self::WholePackets | Self::OutputQueues(_) => true,
            Self::OutputBuffers(_) | Self::SharedLinks(_) => false,
        }
    }

    /// Whether packets are sent whole out of buffers behind the crossbar.
    #[inline]
    pub fn sends_packets_from_outputs(&self) -> bool {
        match self {
            Self::OutputBuffers(_) => true,
            Self::WholePackets | Self::SharedLinks(_) | Self::OutputQueues(_) => false,
        }
    }

    /// The queues of routers that answer packets and have no credits; `None` if they have credits.
    pub fn output_queues(&self) -> Option<&OutputQueues> {
        match self {
            Self::OutputQueues(queues) => Some(queues),
            Self::WholePackets | Self::OutputBuffers(_) | Self::SharedLinks(_) => None,
        }
    }
}

/// Parameters of routers whose links are shared flit by flit (docs/model.md, "Links shared flit by
/// flit").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlitSharing {
    /// Time from the grant of a virtual channel to a packet until its flits ask for the switch.
    pub virtual_channel_allocation: Picoseconds,
    /// Time from a flit's grant of the switch until it enters the crossbar.
    pub switch_allocation: Picoseconds,
    /// Whether a virtual channel is given to a packet only while its buffer is empty (atomic
    /// allocation), so that no two packets are ever in one.
    pub atomic: bool,
    /// Rounds of each allocation.
    pub iterations: u32,
    /// Whether a packet is routed only once it is at the head of its queue.
    pub routing_at_head: bool,
    /// Whether an input port has a queue for each output.
    pub virtual_output_queues: bool,
    /// Flits that can wait behind the crossbar at each output.
    pub output_buffer: u32,
    /// Flits of a turn under [`Arbitration::Weighted`](super::Arbitration::Weighted), by virtual channel; see [`Self::weight`].
    pub weights: Vec<u8>,
    /// Flits of a turn among virtual channels of high priority, by virtual channel; see
    /// [`Self::high_weight`].
    pub high_priority: Vec<u8>,
    /// Flits of high priority that may be sent until virtual channels of low priority go first;
    /// `None` if there is no limit.
    pub high_priority_limit: Option<u32>,
    /// Whether stall times are measured: for how long packets wait for each channel, and why.
    pub stall_times: bool,
}

impl FlitSharing {
    /// Flits of a virtual channel's turn among those of low priority; 0 if it is not one of these.
    ///
    /// - If no virtual channel has a high priority, all have a low one.
    /// - A virtual channel without a given weight has 1 if it has no high priority.
    pub fn weight(&self, virtual_channel: usize) -> u8 {
        let usual = u8::from(self.high_weight(virtual_channel) == 0);
        self.weights.get(virtual_channel).copied().unwrap_or(usual)
    }

    /// Flits of a virtual channel's turn among those of high priority; 0 if it is not one of these.
    pub fn high_weight(&self, virtual_channel: usize) -> u8 {
        self.high_priority.get(virtual_channel).copied().unwrap_or(0)
    }
}

impl Default for FlitSharing {
    fn default() -> Self {
        Self {
            virtual_channel_allocation: Picoseconds::ZERO,
            switch_allocation: Picoseconds::ZERO,
            atomic: false,
            iterations: 1,
            routing_at_head: false,
            virtual_output_queues: false,
            output_buffer: 0,
            weights: Vec::new(),
            high_priority: Vec::new(),
            high_priority_limit: None,
            stall_times: false,
        }
    }
}

/// Routers with output queues, the packets that they forward, and the messages of their nodes
/// (\[outflank\], Table 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutputQueues {
    /// Size of a packet.
    pub packet: Bytes,
    /// Size of an acknowledgement or refusal, at most that of a packet.
    pub answer: Bytes,
    /// Rate of the links between routers.
    pub external_rate: Rate,
    /// Latency of the links between routers.
    pub external_latency: Picoseconds,
    /// Rate of the links between a router and its generator and sink.
    pub internal_rate: Rate,
    /// Latency of the links between a router and its generator and sink.
    pub internal_latency: Picoseconds,
    /// Slots of a queue, 2 to 16 packets.
    pub capacity: u32,
    /// Packets of a message, 1 or more.
    pub message_packets: u32,
    /// Messages of a node, 1 or more.
    pub messages: u32,
    /// Attempts to inject a packet in the time in which load 1 creates one, above 0.
    pub injection_rate: f64,
}

impl OutputQueues {
    /// The parameters of \[outflank\], Table 1.
    pub const PUBLISHED: Self = Self {
        packet: Bytes(512),
        answer: Bytes(10),
        external_rate: Rate(20_000_000_000),
        external_latency: Picoseconds(200_000),
        internal_rate: Rate(64_000_000_000),
        internal_latency: Picoseconds(80_000),
        capacity: 8,
        message_packets: 96,
        messages: 32,
        injection_rate: 2.4,
    };

    /// Everything four times faster, as in the result files of the author of \[outflank\].
    /// Lifetimes are a quarter, all else is equal.
    pub const FOUR_TIMES_FASTER: Self = Self {
        external_rate: Rate(80_000_000_000),
        external_latency: Picoseconds(50_000),
        internal_rate: Rate(256_000_000_000),
        internal_latency: Picoseconds(20_000),
        ..Self::PUBLISHED
    };
}
