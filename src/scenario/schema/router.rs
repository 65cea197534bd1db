//! `[router]`, `[link]` and `[adapter]`: see docs/model.md for what each value does.

use super::errors;
use crate::{
    document::{
        Choice, Flag, List, Listed, Reader, Whole, flits, plain, rate, size, time, with_keys,
    },
    engine::{Arbitration, FlitSharing, MOST_VIRTUAL_CHANNELS, Parameters, Switching},
    narrow::narrow,
    scenario::TopologySpec,
};

/// Small counts: a u8 numbers injection channels.
const CHANNELS: Whole = Whole { range: 1..=255 };

const ANGARA: &str = "angara";
const INFINIBAND: &str = "infiniband-4xqdr";

/// The preset's name, and the values. `any_fabric`: the routing is one of any fabric, so there is no bubble rule, and the defaults are
/// those of a network of switches. `bubble`: by default there is a bubble rule. The topology is `None` if it is wrong; the seed
/// is the scenario's.
pub(super) fn read(
    reader: &mut Reader<'_>,
    any_fabric: bool,
    bubble: bool,
    (topology, seed): (Option<&TopologySpec>, u64),
) -> (&'static str, Parameters) {
    let mut parameters = Parameters::default();
    let doc = "The routers, and the packets that they forward.";
    let preset =
        reader.table("router", doc, |reader| router(reader, any_fabric, bubble, &mut parameters));
    reader.table("link", "The cables between routers.", |reader| {
        link(reader, &mut parameters);
        let fabric = || topology.and_then(|topology| topology.fabric().ok());
        parameters.errors = errors::read(reader, &parameters, fabric, seed);
    });
    let doc = "The network adapters: each node's way into and out of the network, and its host.";
    reader.table("adapter", doc, |reader| adapter(reader, &mut parameters));
    (preset, parameters)
}

/// The preset's name.
fn router(
    reader: &mut Reader<'_>,
    any_fabric: bool,
    bubble: bool,
    to: &mut Parameters,
) -> &'static str {
    let usual = if any_fabric { INFINIBAND } else { ANGARA };
    let doc = "What the defaults of [router], [link] and [adapter] are taken from; with [routing.agnostic], \
              [routing.opensm] and [routing.relation] it is \"infiniband-4xqdr\".";
    let preset = Choice::usual("preset", "preset", usual, doc);
    let angara = "the Angara router: virtual cut-through, input buffers, bubble flow control.";
    let infiniband = "InfiniBand: 32 Gb/s of data, flits of 64 B, packets of up to 2 KiB with a header of one \
                      flit, 8 virtual channels (lanes) with buffers of 132 flits, 100 ns a switch, one \
                      injection and one ejection channel, no bubble.";
    let presets = vec![
        plain(ANGARA, (ANGARA, Parameters::default()), angara),
        plain(INFINIBAND, (INFINIBAND, Parameters::infiniband_4xqdr()), infiniband),
    ];
    let (preset, parameters) =
        reader.choice(&preset, presets).unwrap_or((usual, Parameters::default()));
    *to = parameters;
    to.flit = reader.value("flit", &size(1, 4096), to.flit, "Size of a flit.");
    let few = Whole { range: 0..=1024 };
    let mut count = |key, kind: &Whole, default: u32, doc| {
        narrow(reader.value(key, kind, u64::from(default), doc))
    };
    to.header_flits =
        count("header_flits", &few, to.header_flits, "Flits of a packet before its payload.");
    to.checksum_flits =
        count("checksum_flits", &few, to.checksum_flits, "Flits of a packet after its payload.");
    to.maximum_payload = reader.value(
        "maximum_payload",
        &size(1, 1 << 28),
        to.maximum_payload,
        "Payload of the largest packet; longer messages are cut into several.",
    );
    to.virtual_channels = narrow(reader.value(
        "virtual_channels",
        &Whole { range: 1..=MOST_VIRTUAL_CHANNELS.into() },
        to.virtual_channels.into(),
        "Virtual channels of each channel: Angara's five (request, response, adaptive, two collective), or \
         the lanes of a forwarding table or a relation.",
    ));
    let doc = "Buffer of a network channel, for each of its virtual channels: at least two of the largest packets \
               under the bubble rule, else one; any with wormhole switching.";
    to.buffer = reader.value("buffer", &flits(), to.buffer, doc);
    if let Some(switching) = switching(reader) {
        to.switching = switching;
    }
    if let Some(arbitration) = arbitration(reader) {
        to.arbitration = arbitration;
    }
    let doc = "Whether a packet enters a ring only if there is room for it and one of the largest \
         packets. Without it, rings can deadlock; forwarding tables ([routing.agnostic], [routing.opensm]) \
         go without, and so do [routing.direction_order] with a `dateline` and wormhole switching.";
    let bubble = to.bubble && bubble && to.switching != Switching::Wormhole;
    to.bubble = reader.value("bubble", &Flag, bubble, doc);
    to.crossbar_speedup = narrow(reader.value(
        "crossbar_speedup",
        &CHANNELS,
        u64::from(to.crossbar_speedup),
        "Packets that an input port can send at once; where links are shared flit by flit, how many times as fast \
         as a channel the crossbar is.",
    ));
    let doc = "Time from a header's arrival until it asks for an output.";
    to.routing_latency = reader.value("routing_latency", &time(0), to.routing_latency, doc);
    let doc = "Time of a flit from an input buffer to an output.";
    to.crossbar_latency = reader.value("crossbar_latency", &time(0), to.crossbar_latency, doc);
    preset
}

fn switching(reader: &mut Reader<'_>) -> Option<Switching> {
    let doc = "When a packet may ask for its next output.";
    let choice = Choice::usual("switching", "kind of switching", "virtual-cut-through", doc);
    let wormhole = "when its header is there; its flits wait where they are for room, one by one. Only where links \
                    are shared flit by flit.";
    reader.choice(
        &choice,
        vec![
            plain("virtual-cut-through", Switching::VirtualCutThrough, "when its header is there."),
            plain("store-and-forward", Switching::StoreAndForward, "when its last flit is there."),
            plain("wormhole", Switching::Wormhole, wormhole),
        ],
    )
}

fn arbitration(reader: &mut Reader<'_>) -> Option<Arbitration> {
    let doc = "Who is served first at an output.";
    let choice = Choice::usual("arbitration", "kind of arbitration", "round-robin", doc);
    let transit = "packets from other routers before packets from the node, each in turn.";
    let oldest = "the packet that was created first. Only where links are shared flit by flit.";
    let weighted = "virtual channels in turn, each for as many flits as its weight (`weights` of [link]) says. Only \
                    where links are shared flit by flit.";
    reader.choice(
        &choice,
        vec![
            plain("round-robin", Arbitration::RoundRobin, "all input buffers in turn."),
            plain("transit-first", Arbitration::TransitFirst, transit),
            plain("oldest-first", Arbitration::OldestFirst, oldest),
            plain("weighted", Arbitration::Weighted, weighted),
        ],
    )
}

fn link(reader: &mut Reader<'_>, to: &mut Parameters) {
    to.link_rate = reader.value("rate", &rate(), to.link_rate, "Rate in each direction.");
    let doc =
        "Time from a flit's start on the cable until all of it is in the next router's buffer.";
    to.link_latency = reader.value("latency", &time(1), to.link_latency, doc);
    let doc = "How virtual channels share the channels of links and adapters.";
    let choice = Choice::usual("sharing", "kind of sharing", "packet", doc);
    let packet = "a channel is granted to a packet until its end.";
    let flit = "packets take turns flit by flit, each in a virtual channel of its own.";
    let variants =
        vec![plain("packet", None, packet), with_keys("flit", flit, |it| Some(Some(sharing(it))))];
    to.sharing = reader.choice(&choice, variants).flatten();
}

/// The keys of links that are shared flit by flit.
fn sharing(reader: &mut Reader<'_>) -> FlitSharing {
    let usual = FlitSharing::default();
    let doc = "Time from a packet's getting a virtual channel until its flits ask for the switch.";
    let key = "virtual_channel_allocation_latency";
    let virtual_channel_allocation =
        reader.value(key, &time(0), usual.virtual_channel_allocation, doc);
    let doc = "Time from a flit's winning the switch until it enters the crossbar.";
    let switch_allocation =
        reader.value("switch_allocation_latency", &time(0), usual.switch_allocation, doc);
    let doc = "Rounds of each allocation (iSLIP's iterations).";
    let iterations = narrow(reader.value("iterations", &CHANNELS, usual.iterations.into(), doc));
    let doc = "When routers look for a packet's way.";
    let choice = Choice::usual("routing", "time of routing", "on-arrival", doc);
    let routing = vec![
        plain("on-arrival", false, "when its header comes, whatever is before it."),
        plain("at-head", true, "when its header is at the head of its queue."),
    ];
    let routing_at_head = reader.choice(&choice, routing).unwrap_or_default();
    let doc = "The queues of an input port.";
    let choice = Choice::usual("queues", "kind of queues", "virtual-channel", doc);
    let queues = vec![
        plain("virtual-channel", false, "one for each virtual channel."),
        plain("virtual-output", true, "one for each virtual channel and output."),
    ];
    let virtual_output_queues = reader.choice(&choice, queues).unwrap_or_default();
    let doc = "Flits that can wait behind the crossbar at each output.";
    let few = Whole { range: 0..=1 << 16 };
    let output_buffer =
        narrow(reader.value("output_buffer", &few, usual.output_buffer.into(), doc));
    let doc = "Flits of each virtual channel's turn, from virtual channel 0 on, where `arbitration` is \"weighted\"; 1 \
               of those not named.";
    let weight = List {
        kind: CHANNELS,
        noun: "weights",
        length: 0..=MOST_VIRTUAL_CHANNELS.into(),
        example: Some("[4, 1]"),
    };
    let weights = Listed::values(reader.value("weights", &weight, Vec::new(), doc));
    let weights = weights.into_iter().map(narrow).collect();
    FlitSharing {
        virtual_channel_allocation,
        switch_allocation,
        iterations,
        routing_at_head,
        virtual_output_queues,
        output_buffer,
        weights,
    }
}

fn adapter(reader: &mut Reader<'_>, to: &mut Parameters) {
    to.injection_channels = narrow(reader.value(
        "injection_channels",
        &CHANNELS,
        u64::from(to.injection_channels),
        "Channels from a node into its router; its messages take them in turn.",
    ));
    let doc = "Rate of each injection channel.";
    to.injection_rate = reader.value("injection_rate", &rate(), to.injection_rate, doc);
    let doc = "Time of a flit on an injection channel, its own length included.";
    to.injection_latency = reader.value("injection_latency", &time(1), to.injection_latency, doc);
    let doc = "The router's buffer of an injection channel, for each virtual channel; at least one of \
         the largest packets.";
    to.injection_buffer = reader.value("injection_buffer", &flits(), to.injection_buffer, doc);
    to.ejection_channels = narrow(reader.value(
        "ejection_channels",
        &CHANNELS,
        u64::from(to.ejection_channels),
        "Channels from a router to its node.",
    ));
    to.ejection_rate =
        reader.value("ejection_rate", &rate(), to.ejection_rate, "Rate of each ejection channel.");
    let doc = "Time of a flit on an ejection channel, its own length included.";
    to.ejection_latency = reader.value("ejection_latency", &time(1), to.ejection_latency, doc);
    let doc = "The host's time from a message's creation to that of its packets.";
    to.send_overhead = reader.value("send_overhead", &time(0), to.send_overhead, doc);
    let doc = "The host's time from the arrival of a message's last packet to its receipt.";
    to.receive_overhead = reader.value("receive_overhead", &time(0), to.receive_overhead, doc);
    let doc = "Time from the arrival of a request to the creation of its response.";
    to.service_time = reader.value("service_time", &time(0), to.service_time, doc);
}
