//! What a router consists of: outputs, input ports with their buffers, and what it keeps besides. One
//! cache line each, or little more; the numbers are those of `network`.

use std::ops::Range;

use super::ChannelKind;
use super::network::Network;
use super::parameters::Parameters;
use super::statistics::Stalled;
use crate::topology::NONE;
use crate::units::Picoseconds;

/// No wake-up is due.
pub(super) const NEVER: Picoseconds = Picoseconds::MAX;

/// The sending end of a channel: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Output<const LANES: usize> {
    /// When the last flit of the latest packet has left.
    pub free_at: Picoseconds,
    /// When it is looked at next, if nothing else happens.
    pub wake_at: Picoseconds,
    /// Flits sent since the statistics were reset.
    pub flits: u64,
    /// Why packets wait for it at present, and since when.
    pub stall: Stalled,
    /// The router it leaves, or the terminal of an injection channel.
    pub owner: u32,
    pub ring: u32,
    /// The input port at the far end; [`NONE`] for ejection channels.
    pub input: u32,
    /// The first output of the router at the far end.
    pub next_outputs: u32,
    /// Flits free in the buffers at the far end, less the credits that have not been looked for since.
    pub credits: [u16; LANES],
    /// Buffers (of an injection channel: source queues) whose heads ask for it.
    pub asking: u16,
    /// Where the search for the next packet starts: a pair of input port and virtual channel of its
    /// router, or the virtual channel of an injection channel.
    pub pointer: u16,
    /// Index into the network's timings.
    pub kind: u8,
}

/// A buffer of an input port and virtual channel: packets that wait, the first of which asks once the
/// one before it has left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    /// When the last flit of the latest packet sent from it has left.
    pub free_at: Picoseconds,
    pub head: u32,
    pub tail: u32,
    /// The output that the head asks for; [`NONE`] if it does not yet.
    pub output: u32,
    /// Flits of the head that asks; [`ENTERS`] is set if it would enter a ring, and so needs the bubble.
    pub asks: u16,
    /// The ports among which the head chooses, a bit each; 0 if it has no choice. The output that it asks
    /// for is then that of its escape.
    pub options: u16,
    /// The virtual channel that it takes there.
    pub onto: u8,
}

/// See [`Queue::flits`].
pub(super) const ENTERS: u16 = 1 << 15;

/// The most flits that a packet can have.
pub const MOST_FLITS: u32 = ENTERS as u32 - 1;

impl Queue {
    const EMPTY: Self =
        Self { free_at: 0, head: NONE, tail: NONE, output: NONE, asks: 0, options: 0, onto: 0 };

    /// Flits of the head that asks.
    #[inline]
    pub(super) fn flits(&self) -> u32 {
        u32::from(self.asks & !ENTERS)
    }

    /// Credits that the head needs; `bubble` more than its flits if it enters a ring.
    #[inline]
    pub(super) fn need(&self, bubble: u32) -> u32 {
        self.flits() + u32::from(self.asks / ENTERS) * bubble
    }
}

/// The port of a channel that leaves no router.
pub(super) const NO_PORT: u8 = u8::MAX;

/// The receiving end of a channel: what it takes to let the head of the first buffer ask is one cache
/// line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Input<const LANES: usize> {
    /// When the packet whose grant was the latest has left.
    pub free_at: Picoseconds,
    pub router: u32,
    /// The ring of the channel that feeds it, or [`NONE`].
    pub ring: u32,
    /// The channel that feeds it.
    pub feeder: u32,
    /// Its first (input port, virtual channel) pair among those of its router.
    pub first_bit: u16,
    /// The kind of the channel that feeds it, and its port at the router it leaves; of an injection channel
    /// [`NO_PORT`].
    pub feeder_kind: u8,
    pub port: u8,
    pub queues: [Queue; LANES],
}

impl<const LANES: usize> Input<LANES> {
    /// When it can send another packet; at most `now` if it can already.
    #[inline]
    pub(super) fn free_at(&self, crossbar_speedup: u32, now: Picoseconds) -> Picoseconds {
        if crossbar_speedup == 1 {
            return self.free_at;
        }
        let sending = self.queues.iter().map(|queue| queue.free_at).filter(|&time| time > now);
        if (sending.clone().count() as u32) < crossbar_speedup {
            now
        } else {
            sending.min().unwrap_or(now)
        }
    }
}

/// What a router keeps besides its outputs and inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Router {
    pub first_output: u32,
    pub first_input: u32,
    /// (Input port, virtual channel) pairs of network channels; those of injection channels follow.
    pub transit: u32,
    /// The output that the next walk starts at, relative to the router's first.
    pub next_output: u32,
    /// How many times its outputs were touched at this instant, and the output that was first.
    pub touched: u32,
    pub touched_first: u32,
    /// The buffer whose head asks for that output, if it has done so at this instant, nobody else asks for
    /// it and nothing else was touched: it is not among the requests, and most often need never be.
    pub alone: Option<(u32, u8)>,
}

/// The sending ends of the channels that leave these routers, and of the injection channels of these
/// terminals, with full credits.
pub(super) fn outputs<const LANES: usize>(
    network: &Network,
    parameters: &Parameters,
    routers: Range<u32>,
    terminals: Range<u32>,
) -> Vec<Output<LANES>> {
    let output = |channel: u32, owner: u32, kind: ChannelKind| {
        let input = network.input_of_channel[channel as usize];
        let kind = if input == NONE { ChannelKind::Ejection } else { kind };
        let capacity = if kind == ChannelKind::Injection {
            parameters.injection_buffer
        } else {
            parameters.buffer
        };
        Output {
            credits: [capacity as u16; LANES],
            owner,
            ring: network.ring_of_channel[channel as usize],
            input,
            next_outputs: if input == NONE {
                NONE
            } else {
                network.first_output[network.router_of_input[input as usize] as usize]
            },
            free_at: 0,
            wake_at: NEVER,
            flits: 0,
            stall: Stalled::NOT,
            asking: 0,
            pointer: 0,
            kind: kind as u8,
        }
    };
    let first = |router: u32| network.first_output[router as usize];
    let injections = network.injections(terminals);
    let count = first(routers.end) - first(routers.start) + injections.len() as u32;
    let mut outputs = Vec::with_capacity(count as usize);
    for router in routers {
        let channels = first(router)..first(router + 1);
        outputs.extend(channels.map(|channel| output(channel, router, ChannelKind::Network)));
    }
    let injection = |channel| output(channel, network.injector(channel).0, ChannelKind::Injection);
    outputs.extend(injections.map(injection));
    outputs
}

/// The receiving ends of all channels that enter these routers, empty.
pub(super) fn inputs<const LANES: usize>(
    network: &Network,
    routers: Range<u32>,
) -> Vec<Input<LANES>> {
    let first = |router: u32| network.first_input[router as usize];
    (first(routers.start)..first(routers.end))
        .map(|index| {
            let feeder = network.channel_of_input[index as usize];
            let router = network.router_of_input[index as usize];
            let injects = feeder >= network.first_injection();
            Input {
                router,
                first_bit: ((index - network.first_input[router as usize]) * LANES as u32) as u16,
                ring: network.ring_of_channel[feeder as usize],
                feeder_kind: (if injects { ChannelKind::Injection } else { ChannelKind::Network })
                    as u8,
                port: if injects {
                    NO_PORT
                } else {
                    let router = network.router_of_output(feeder);
                    (feeder - network.first_output[router as usize]) as u8
                },
                feeder,
                free_at: 0,
                queues: [Queue::EMPTY; LANES],
            }
        })
        .collect()
}

/// These routers, idle.
pub(super) fn routers(
    network: &Network,
    routers: Range<u32>,
    virtual_channels: usize,
) -> Vec<Router> {
    (routers.start as usize..routers.end as usize)
        .map(|router| Router {
            first_output: network.first_output[router],
            first_input: network.first_input[router],
            transit: network.transit_inputs[router] * virtual_channels as u32,
            next_output: 0,
            touched: 0,
            touched_first: NONE,
            alone: None,
        })
        .collect()
}
