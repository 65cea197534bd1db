//! `[router]`, `[link]` and `[adapter]`: see docs/model.md for what each value does.

use super::errors;
use crate::TopologySpec;
use crate::output_queued::equivalent;
use flitlab_base::document::{
    Choice, Flag, List, Listed, Number, Quantity, Reader, Whole, WordOr, flits, plain, rate, size,
    time, time_to, with_keys,
};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_engine::{
    Arbitration, FlitSharing, InjectionChoice, MAX_FLITS, MAX_HOP_TIME, MAX_VIRTUAL_CHANNELS,
    OutputQueues, Parameters, RouterKind, Switching,
};
use flitlab_fabric::CableClass;
use flitlab_output_queued::MAX_SLOTS;

/// Small counts: a u8 numbers injection channels.
const CHANNELS: Whole = Whole { range: 1..=255 };

/// The most bytes of a flit.
const MAX_FLIT_SIZE: u64 = 4096;

/// The most bytes of a packet of nothing else.
const MAX_PAYLOAD: u64 = MAX_FLITS as u64 * MAX_FLIT_SIZE;

/// A part of the time from router to router, which is limited as a whole.
fn hop_time(least: Picoseconds) -> Quantity<Picoseconds> {
    time_to(least, MAX_HOP_TIME - Picoseconds(1_000_000))
}

/// The name of the allocation that waits for an empty buffer.
pub(super) const ATOMIC: &str = "atomic";

/// The preset of Angara's routers, [`Scenario::preset`](crate::Scenario::preset).
pub const ANGARA: &str = "angara";
const INFINIBAND: &str = "infiniband-4xqdr";
const OMNI_PATH: &str = "omni-path-100";
const NOC_MESH: &str = "noc-mesh";
const OUTFLANK_PAPER: &str = "outflank-paper";

/// The values of `[router]`, `[link]` and `[adapter]`.
pub(super) struct Routers {
    /// The preset's name.
    pub preset: &'static str,
    pub parameters: Parameters,
    /// Whether there is an `output_buffer` in `[router]` though links are shared flit by flit.
    pub two_output_buffers: bool,
}

/// Why output-queued routers have none of the other keys, and the way out.
const OWN_KEYS: [&str; 2] = [
    "this key is for routers with input buffers and credits; those of preset \"outflank-paper\" have output queues, and \
     answers to packets",
    "leave it out; the rates, latencies and sizes of these routers are keys of the preset, such as `preset = { outflank-paper \
     = { queue = 8 } }` in [router]: `flitlab check --reference preset` lists them",
];

/// Reads the three tables. `any_fabric`: the routing is one of any fabric, so there is
/// no bubble rule, and the defaults are those of a network of switches. `bubble`: by default there
/// is a bubble rule. The topology is `None` if it is wrong; the seed is the scenario's.
pub(super) fn read(
    reader: &mut Reader<'_>,
    any_fabric: bool,
    bubble: bool,
    (topology, seed): (Option<&TopologySpec>, u64),
) -> Routers {
    let mut parameters = Parameters::default();
    let doc = "The routers, and the packets that they forward.";
    let (preset, behind) =
        reader.table("router", doc, |reader| router(reader, any_fabric, bubble, &mut parameters));
    let [message, help] = OWN_KEYS;
    let is_output_queued = parameters.kind.output_queues().is_some();
    let refuse = |reader: &mut Reader<'_>| {
        if is_output_queued {
            reader.forbid_all_but(&[], message, help);
        }
    };
    reader.table("link", "The cables between routers.", |reader| {
        if let Some(rate) = topology.and_then(TopologySpec::fastest_rate) {
            parameters.link_rate = rate;
        }
        link(reader, behind, &mut parameters);
        let fabric = || topology.and_then(|topology| topology.fabric().ok());
        let cables = topology.map_or_else(|| vec![CableClass::default()], |it| it.cable_classes());
        parameters.errors = errors::read(reader, &parameters, &cables, fabric, seed);
        refuse(reader);
    });
    let doc = "The network adapters: each node's way into and out of the network, and its host.";
    reader.table("adapter", doc, |reader| {
        adapter(reader, &mut parameters);
        refuse(reader);
    });
    let two_output_buffers = behind.is_some() && parameters.kind.grants_flits();
    Routers { preset, parameters, two_output_buffers }
}

/// The preset's name, and the flits of buffers at outputs, if they are given.
fn router(
    reader: &mut Reader<'_>,
    any_fabric: bool,
    bubble: bool,
    to: &mut Parameters,
) -> (&'static str, Option<u32>) {
    let usual = if any_fabric { INFINIBAND } else { ANGARA };
    let doc = "What the defaults of [router], [link] and [adapter] are taken from; with [routing.agnostic], \
              [routing.opensm] and [routing.relation] it is \"infiniband-4xqdr\".";
    let preset = Choice::usual("preset", "preset", usual, doc);
    let angara = "the Angara router: virtual cut-through, input buffers, bubble flow control.";
    let infiniband = "InfiniBand: 32 Gb/s of data, flits of 64 B, packets of up to 2 KiB with a header of one \
                      flit, 8 virtual channels with buffers of 132 flits, 100 ns a switch, one \
                      injection and one ejection channel, no bubble.";
    let omni_path = "Omni-Path: 96.97 Gb/s of flits of 8 B, packets of up to 8 KiB with a header of 3 flits, 8 virtual \
                     channels with buffers of 4108 flits, 105 ns a switch, one injection and one ejection \
                     channel, no bubble.";
    let noc = "a network on a chip: 1 GHz, a cycle a router and a link, flits of 16 B, packets of 1 flit and \
               up to 64 B, wormhole switching, 4 virtual channels with buffers of 4 flits, shared flit by flit.";
    let paper = "the output-queued, store-and-forward router behind the results of the OutFlank paper, which has a \
                 simulator of its own; its keys have the values of the paper's Table 1. For tori of rings with \
                 [routing.adaptive], [routing.pick_orthant] or [routing.outflank], and [traffic]; the other keys of [router], \
                 [link] and [adapter] are not for it.";
    let presets = vec![
        plain(ANGARA, (ANGARA, Parameters::default()), angara),
        plain(INFINIBAND, (INFINIBAND, Parameters::infiniband_4xqdr()), infiniband),
        plain(OMNI_PATH, (OMNI_PATH, Parameters::omni_path_100()), omni_path),
        plain(NOC_MESH, (NOC_MESH, Parameters::noc_mesh()), noc),
        with_keys(OUTFLANK_PAPER, paper, |reader| {
            Some((OUTFLANK_PAPER, equivalent(output_queues(reader))))
        }),
    ];
    let (preset, parameters) =
        reader.choice(&preset, presets).unwrap_or((usual, Parameters::default()));
    *to = parameters;
    let is_output_queued = to.kind.output_queues().is_some();
    reader.set("flit", &size(1, MAX_FLIT_SIZE), &mut to.flit, "Size of a flit.");
    let few = Whole { range: 0..=1024 };
    let doc = "Flits of a packet before its payload.";
    reader.set("header_flits", &few, &mut to.header_flits, doc);
    let doc = "Flits of a packet after its payload.";
    reader.set("checksum_flits", &few, &mut to.checksum_flits, doc);
    let doc = "Payload of the largest packet; longer messages are cut into several.";
    reader.set("maximum_payload", &size(1, MAX_PAYLOAD), &mut to.maximum_payload, doc);
    let doc = "Virtual channels of each channel: Angara's five (request, response, adaptive, two collective), or \
               those of a forwarding table or a relation.";
    let vcs = Whole { range: 1..=MAX_VIRTUAL_CHANNELS.into() };
    reader.set("virtual_channels", &vcs, &mut to.virtual_channels, doc);
    let doc = "Angara's channels for requests and for responses: 2, or 1 if responses take the request channel too. With \
               `responder_resources` of [adapter] one of them can deadlock, two can't.";
    reader.set("message_classes", &Whole { range: 1..=2 }, &mut to.message_classes, doc);
    let doc = "Buffer of a network channel, for each of its virtual channels: at least two of the largest packets; \
               one where links are shared flit by flit without the bubble rule, any with wormhole switching.";
    reader.set("buffer", &flits(), &mut to.buffer, doc);
    let doc = "Buffer of each virtual channel of an output, behind the crossbar, from which packets are sent whole (a combined \
               input-output-queued router); without it there is none.";
    let behind = reader.optional("output_buffer", &flits(), doc);
    // With output queues a packet is one flit, so the kind of switching makes no difference.
    let usual = if is_output_queued { Switching::VirtualCutThrough } else { to.switching };
    to.switching = switching(reader, usual).unwrap_or(to.switching);
    to.arbitration = arbitration(reader).unwrap_or(to.arbitration);
    let doc = "Whether a packet enters a ring only if there is room for it and one of the largest \
         packets. Without it, rings can deadlock; forwarding tables ([routing.agnostic], [routing.opensm]) \
         go without, and so do datelines ([routing.direction_order], `escape` of adaptive routings), atomic allocation, \
         wormhole switching, and `output_buffer`.";
    let keeps_room = to.switching != Switching::Wormhole && behind.is_none();
    let bubble = to.bubble && bubble && keeps_room;
    to.bubble = reader.value("bubble", &Flag, bubble, doc);
    let doc = "Packets that an input port can send at once; with `output_buffer` those that an output can take at once, too; \
               where links are shared flit by flit, how many times as fast as a channel the crossbar is.";
    reader.set("crossbar_speedup", &CHANNELS, &mut to.crossbar_speedup, doc);
    let doc = "Time from a header's arrival until it asks for an output.";
    reader.set("routing_latency", &hop_time(Picoseconds::ZERO), &mut to.routing_latency, doc);
    let doc = "How long a packet waits at the head of a buffer (InfiniBand's HOQLife): then it is dropped, and nothing \
               sends it again. So packets that wait for each other go on.";
    let kind = WordOr { word: "unlimited", also: "none", kind: hop_time(Picoseconds(1)) };
    let lifetime = reader.value("head_of_queue_lifetime", &kind, None, doc);
    to.head_of_queue_lifetime = lifetime;
    let doc = "Time of a flit from an input buffer to an output.";
    reader.set("crossbar_latency", &hop_time(Picoseconds::ZERO), &mut to.crossbar_latency, doc);
    if is_output_queued {
        let [message, help] = OWN_KEYS;
        reader.forbid_all_but(&["preset"], message, help);
    }
    (preset, behind)
}

/// The keys of the preset with output queues.
fn output_queues(reader: &mut Reader<'_>) -> OutputQueues {
    let mut to = OutputQueues::PUBLISHED;
    let doc = "Size of a packet, S in the paper; all have this one.";
    reader.set("packet", &size(1, MAX_FLIT_SIZE), &mut to.packet, doc);
    let doc = "Size of an acknowledgement or refusal, at most that of a packet.";
    reader.set("answer", &size(1, MAX_FLIT_SIZE), &mut to.answer, doc);
    let doc = "Packets that a queue holds, C: each link has three, and the sink one.";
    let slots = Whole { range: 2..=MAX_SLOTS.into() };
    reader.set("queue", &slots, &mut to.capacity, doc);
    let doc = "Rate of the links between routers, B_ext.";
    reader.set("external_rate", &rate(), &mut to.external_rate, doc);
    let doc = "Their latency, lambda_ext: from a packet's last bit until the next router has it.";
    let latency = hop_time(Picoseconds::ZERO);
    reader.set("external_latency", &latency, &mut to.external_latency, doc);
    let doc = "Rate of the links between a node's generator, router and sink, B_int.";
    reader.set("internal_rate", &rate(), &mut to.internal_rate, doc);
    reader.set(
        "internal_latency",
        &latency,
        &mut to.internal_latency,
        "Their latency, lambda_int.",
    );
    let doc = "How often a node offers a packet to its router while it has some, as a multiple of the packets of load 1.";
    let attempts = Number { above: 0.0, to: 1e3, inclusive: true };
    reader.set("attempts", &attempts, &mut to.injection_rate, doc);
    to
}

fn switching(reader: &mut Reader<'_>, usual: Switching) -> Option<Switching> {
    let doc = "When a packet may ask for its next output.";
    let wormhole = "when its header is there; its flits wait where they are for room, one by one. Only where links \
                    are shared flit by flit.";
    let mut kinds = [
        ("virtual-cut-through", Switching::VirtualCutThrough, "when its header is there."),
        ("store-and-forward", Switching::StoreAndForward, "when its last flit is there."),
        ("wormhole", Switching::Wormhole, wormhole),
    ];
    // The first one is the default.
    let first = kinds.iter().position(|kind| kind.1 == usual).expect("a kind of switching");
    kinds[..=first].rotate_right(1);
    reader.one_of("switching", "kind of switching", doc, kinds)
}

fn arbitration(reader: &mut Reader<'_>) -> Option<Arbitration> {
    let doc = "Who is served first at an output.";
    let transit = "packets from other routers before packets from the node, each in turn.";
    let oldest = "the packet that was created first. Only where links are shared flit by flit.";
    let weighted = "virtual channels in turn, each for as many flits as its weight (`weights` of [link]) says. Only \
                    where links are shared flit by flit.";
    let kinds = [
        ("round-robin", Arbitration::RoundRobin, "all input buffers in turn."),
        ("transit-first", Arbitration::TransitFirst, transit),
        ("random", Arbitration::Random, "one of those that can go, drawn anew each time."),
        ("oldest-first", Arbitration::OldestFirst, oldest),
        ("weighted", Arbitration::Weighted, weighted),
    ];
    reader.one_of("arbitration", "kind of arbitration", doc, kinds)
}

/// `behind`: the flits of buffers at outputs, if they are given.
fn link(reader: &mut Reader<'_>, behind: Option<u32>, to: &mut Parameters) {
    reader.set("rate", &rate(), &mut to.link_rate, "Rate in each direction.");
    let doc =
        "Time from a flit's start on the cable until all of it is in the next router's buffer.";
    reader.set("latency", &hop_time(Picoseconds(1)), &mut to.link_latency, doc);
    let doc = "How virtual channels share the channels of links and adapters.";
    let usual = if to.kind.grants_flits() { "flit" } else { "packet" };
    let choice = Choice::usual("sharing", "kind of sharing", usual, doc);
    let packet = "a channel is granted to a packet until its end.";
    let flit = "packets take turns flit by flit, each in a virtual channel of its own.";
    let variants =
        vec![plain("packet", None, packet), with_keys("flit", flit, |it| Some(Some(sharing(it))))];
    let shared = reader.choice(&choice, variants).flatten();
    to.kind = match (&to.kind, shared, behind) {
        (RouterKind::OutputQueues(queues), ..) => RouterKind::OutputQueues(*queues),
        (_, Some(sharing), _) => RouterKind::SharedLinks(sharing),
        (_, None, Some(flits)) => RouterKind::OutputBuffers(flits),
        (_, None, None) => RouterKind::WholePackets,
    };
}

/// The keys of links that are shared flit by flit.
fn sharing(reader: &mut Reader<'_>) -> FlitSharing {
    let mut sharing = FlitSharing::default();
    let doc = "Time from a packet's getting a virtual channel until its flits ask for the switch.";
    let key = "virtual_channel_allocation_latency";
    reader.set(key, &hop_time(Picoseconds::ZERO), &mut sharing.virtual_channel_allocation, doc);
    let doc = "Time from a flit's winning the switch until it enters the crossbar.";
    let key = "switch_allocation_latency";
    reader.set(key, &hop_time(Picoseconds::ZERO), &mut sharing.switch_allocation, doc);
    let doc = "When a virtual channel is given to another packet.";
    let empty = "when the buffer behind it is empty (atomic allocation): then no packet ever stands behind another one, and \
                 the escapes of packets with a choice keep worms from deadlock.";
    let allocations = [
        ("non-atomic", false, "when the last flit of the packet before has been sent."),
        (ATOMIC, true, empty),
    ];
    let key = "virtual_channel_allocation";
    sharing.atomic = reader.one_of(key, "kind of allocation", doc, allocations).unwrap_or_default();
    let doc = "Rounds of each allocation (iSLIP's iterations).";
    reader.set("iterations", &CHANNELS, &mut sharing.iterations, doc);
    let doc = "When routers look for a packet's way.";
    let times = [
        ("on-arrival", false, "when its header comes, whatever is before it."),
        ("at-head", true, "when its header is at the head of its queue."),
    ];
    let at_head = reader.one_of("routing", "time of routing", doc, times);
    sharing.routing_at_head = at_head.unwrap_or_default();
    let doc = "The queues of an input port.";
    let queues = [
        ("virtual-channel", false, "one for each virtual channel."),
        ("virtual-output", true, "one for each virtual channel and output."),
    ];
    let virtual_output = reader.one_of("queues", "kind of queues", doc, queues);
    sharing.virtual_output_queues = virtual_output.unwrap_or_default();
    let doc = "Flits that can wait behind the crossbar at each output.";
    let few = Whole { range: 0..=1 << 16 };
    reader.set("output_buffer", &few, &mut sharing.output_buffer, doc);
    let doc = "Flits of each virtual channel's turn, from virtual channel 0 on, where `arbitration` is \"weighted\"; 1 \
               of those not named.";
    let weight = |example| List {
        kind: Whole { range: 0..=255 },
        noun: "weights",
        length: 0..=MAX_VIRTUAL_CHANNELS.into(),
        example: Some(example),
    };
    let mut weights = |key, example, doc| -> Vec<u8> {
        let weights = Listed::values(reader.value(key, &weight(example), Vec::new(), doc));
        weights.into_iter().map(narrow).collect()
    };
    sharing.weights = weights("weights", "[4, 1]", doc);
    let doc = "Weights of virtual channels whose flits go first; by default these have none in `weights`.";
    sharing.high_priority = weights("high_priority", "[0, 4]", doc);
    let doc = "Flits that these send until a packet of the others has its turn; by default it waits for as long as they \
               send.";
    let limit = Whole { range: 0..=1 << 20 };
    sharing.high_priority_limit = reader.optional("high_priority_limit", &limit, doc).map(narrow);
    let doc = "Whether it is measured how long packets wait for each channel (`stalled_...` of channels.csv).";
    reader.set("stall_times", &Flag, &mut sharing.stall_times, doc);
    sharing
}

fn adapter(reader: &mut Reader<'_>, to: &mut Parameters) {
    let doc = "Channels from a node into its router.";
    reader.set("injection_channels", &CHANNELS, &mut to.injection_channels, doc);
    let doc = "The injection channel of a message; a response takes that of its request.";
    let in_turn = "a node's messages take its channels in turn: then one may overtake another to the same destination.";
    let by_destination = "all messages to a destination take the same one (its number modulo that of the channels), so \
                          that deterministic routing by one route a pair keeps them in order; where links are shared flit by flit, only \
                          by forwarding tables. A node that sends to one other uses one channel.";
    let kinds = [
        ("in-turn", InjectionChoice::InTurn, in_turn),
        ("by-destination", InjectionChoice::ByDestination, by_destination),
    ];
    to.injection_choice = reader
        .one_of("injection_choice", "choice of an injection channel", doc, kinds)
        .unwrap_or(to.injection_choice);
    let doc = "Rate of each injection channel.";
    reader.set("injection_rate", &rate(), &mut to.injection_rate, doc);
    let doc = "Time of a flit on an injection channel, its own length included.";
    reader.set("injection_latency", &hop_time(Picoseconds(1)), &mut to.injection_latency, doc);
    let doc = "The router's buffer of an injection channel, for each virtual channel; at least one of \
         the largest packets.";
    reader.set("injection_buffer", &flits(), &mut to.injection_buffer, doc);
    let doc = "Channels from a router to its node.";
    reader.set("ejection_channels", &CHANNELS, &mut to.ejection_channels, doc);
    reader.set("ejection_rate", &rate(), &mut to.ejection_rate, "Rate of each ejection channel.");
    let doc = "Time of a flit on an ejection channel, its own length included.";
    reader.set("ejection_latency", &hop_time(Picoseconds(1)), &mut to.ejection_latency, doc);
    let doc = "The host's time from a message's creation to that of its packets.";
    reader.set("send_overhead", &time(Picoseconds::ZERO), &mut to.send_overhead, doc);
    let doc = "The host's time from the arrival of a message's last packet to its receipt.";
    reader.set("receive_overhead", &time(Picoseconds::ZERO), &mut to.receive_overhead, doc);
    let doc = "Time from the arrival of a request to the creation of its response.";
    reader.set("service_time", &time(Picoseconds::ZERO), &mut to.service_time, doc);
    let doc = "How many responses an adapter holds (InfiniBand's responder resources): while it holds so many, requests to \
               it wait in the network.";
    let count = Whole { range: 1..=u16::MAX.into() };
    let kind = WordOr { word: "unlimited", also: "none", kind: count };
    let limit = reader.value("responder_resources", &kind, None, doc);
    to.responder_resources = limit.map(narrow);
}
