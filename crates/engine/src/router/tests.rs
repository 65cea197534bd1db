//! The services below the routers, with each kind that uses them.

use std::sync::Arc;

use super::asks::{Asks, HeadRequests, OutputRequest};
use super::blocked::Blocked;
use super::cioq::CioqRouters;
use super::holder::Followed;
use super::injector::Injector;
use super::packet::PacketRouters;
use super::*;
use crate::frame::tick::NEVER;
use crate::network::small::{context, direction_order, messages, torus};
use flitlab_fabric::Fabric;
use flitlab_model::{ChannelKind, Lack, Parameters, RouterKind};
use flitlab_routing::Routes;

/// Late enough for all that waits for nothing.
const LATE: Tick = 1_000_000;

const OUTPUT_BUFFERS: RouterKind = RouterKind::OutputBuffers(64);

/// Two messages of one packet from terminal 0 to the next one, on a ring of four.
const MESSAGES: [(u32, u32, u64); 2] = [(0, 1, 8), (0, 1, 8)];

/// One virtual channel and one injection channel, whose buffer holds a packet of these messages.
fn parameters(kind: RouterKind) -> Parameters {
    Parameters {
        injection_channels: 1,
        injection_buffer: Parameters::default().packet_flits(8),
        virtual_channels: 1,
        kind,
        ..Parameters::default()
    }
}

/// What is on terminal 0's injection channel.
struct Bench<'f, R> {
    context: Arc<NetworkContext<'f>>,
    part: Part<'f, R>,
    /// When the messages are there.
    start: Tick,
}

impl<'f, R: Injector<Own = ()>> Bench<'f, R> {
    fn new(fabric: &'f Fabric, routes: &'f Routes, kind: RouterKind) -> Self {
        Self::of(fabric, routes, &parameters(kind), &MESSAGES)
    }

    fn of(
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        sent: &[(u32, u32, u64)],
    ) -> Self {
        let context = Arc::new(context(1, fabric, routes, parameters));
        let mut part = Part::new(&context, 0, &(), messages(sent), None);
        let start = part.hosts.sources.due[0];
        part.hosts.run_due(&mut part.common, 0, start);
        Self { context, part, start }
    }

    fn inject(&mut self, now: Tick, ahead: bool) -> Option<Tick> {
        let Part { common, hosts, routers, .. } = &mut self.part;
        let due = routers.inject(common, hosts, (0, 0), now, ahead)?;
        hosts.sources.injections[0].due = due;
        Some(due)
    }

    fn waits(&self) -> bool {
        self.part.hosts.sources.injections[0].waiting != 0
    }

    fn run(&mut self) {
        self.part.routers.run(&mut self.part.common, 0, LATE);
    }

    fn parts(&self, now: Tick) -> AllParts<'_, 'f, R> {
        let clock = self.part.common.time(now);
        AllParts { parts: vec![&self.part], context: &self.context, clock }
    }
}

fn a_terminal_waits_for_room<R: Injector<Own = ()>>(kind: RouterKind) {
    let fabric = torus(&[4]);
    let routes = direction_order(&fabric);
    let mut bench = Bench::<R>::new(&fabric, &routes, kind);
    let flit = bench.context.timings_of(ChannelKind::Injection)[0].flit;
    let free_at = bench.start + parameters(RouterKind::WholePackets).packet_flits(8) * flit;
    assert_eq!(bench.inject(bench.start, false), Some(free_at));
    assert_eq!(bench.inject(bench.start, false), Some(free_at), "its channel is busy");
    assert_eq!(bench.inject(free_at, true), None, "its router may have room first");
    assert_eq!(bench.inject(free_at, false), Some(NEVER), "nobody knows when there will be room");
    bench.run();
    let due = bench.inject(free_at, false).unwrap();
    assert!(free_at < due && due < NEVER, "credits are under way");
    assert_eq!((bench.inject(due - 1, false), bench.waits()), (Some(due), true));
    assert_eq!((bench.inject(due, false), bench.waits()), (Some(NEVER), false));
}

#[test]
fn a_terminal_waits_until_there_is_room_for_a_whole_packet() {
    a_terminal_waits_for_room::<PacketRouters>(RouterKind::WholePackets);
    a_terminal_waits_for_room::<CioqRouters>(OUTPUT_BUFFERS);
}

fn room_and_flits_are_the_buffer<R: Injector<Own = ()>>(kind: RouterKind) {
    let fabric = torus(&[4]);
    let routes = direction_order(&fabric);
    let mut bench = Bench::<R>::new(&fabric, &routes, kind);
    let start = bench.start;
    assert!(bench.parts(start).credits_are_conserved());
    bench.inject(start, false);
    assert!(bench.parts(start).credits_are_conserved());
    bench.run();
    assert!(bench.parts(LATE).credits_are_conserved());
    // A flit takes room, and is nowhere.
    let room = bench.part.hosts.sources.injections[0].room;
    assert!(bench.part.routers.has_room(room, 1, LATE));
    bench.part.routers.take(room, 1);
    assert!(!bench.parts(LATE).credits_are_conserved());
}

#[test]
fn room_that_nothing_takes_is_found_out() {
    room_and_flits_are_the_buffer::<PacketRouters>(RouterKind::WholePackets);
    room_and_flits_are_the_buffer::<CioqRouters>(OUTPUT_BUFFERS);
}

fn what_does_not_ask_yet_is_held_up_by_its_own_channel<R: Injector<Own = ()>>(kind: RouterKind) {
    let fabric = torus(&[4]);
    let routes = direction_order(&fabric);
    let mut bench = Bench::<R>::new(&fabric, &routes, kind);
    let first = Followed { source: 0, channel: 0, sequence: 0 };
    bench.inject(bench.start, false);
    // Injection channels come after all outputs.
    let injection = u32::try_from(bench.part.routers.ports().outputs).unwrap();
    let (at_once, later) =
        (bench.parts(bench.start).holder(first), bench.parts(LATE).holder(first));
    assert_eq!((at_once, later), (None, Some(injection)), "it is under way, then there");
    assert_eq!(
        bench.parts(LATE).holder(Followed { sequence: 1, ..first }),
        None,
        "it is to be sent"
    );
    bench.run();
    assert_eq!(bench.parts(LATE).holder(first), None, "it has gone on, and nobody traces it");
}

#[test]
fn a_packet_is_held_up_where_it_is() {
    what_does_not_ask_yet_is_held_up_by_its_own_channel::<PacketRouters>(RouterKind::WholePackets);
    what_does_not_ask_yet_is_held_up_by_its_own_channel::<CioqRouters>(OUTPUT_BUFFERS);
}

/// Buffers have room for one packet. The router of terminal 1, to which all go, does nothing until
/// the last of so many is on terminal 0's injection channel.
fn a_head_waits_for_the_one_before_it<R: Blocked<Own = ()>>(kind: RouterKind, packets: u32) {
    let fabric = torus(&[4]);
    let routes = direction_order(&fabric);
    let flits = parameters(RouterKind::WholePackets).packet_flits(8);
    let parameters = Parameters { buffer: flits, bubble: false, ..parameters(kind) };
    let sent = vec![(0, 1, 8); packets as usize];
    let mut bench = Bench::<R>::of(&fabric, &routes, &parameters, &sent);
    for number in 0..packets {
        let now = bench.start + number * LATE;
        bench.inject(now, false);
        bench.part.routers.run(&mut bench.part.common, 0, now + LATE);
    }
    assert!(!bench.waits(), "there was room for all");
    let end = bench.start + packets * LATE;
    let ports = bench.part.routers.ports();
    let injection = u32::from(ports.routers[0].inputs - 1) << ports.shift;
    let (own, parts) = ((0, injection), bench.parts(end));
    let [OutputRequest { output, vc, .. }] = R::requests_of(&parts, own)[..] else {
        panic!("it has no choice")
    };
    let far = parts.far_end(0, output, vc);
    assert!(R::waits_in(&parts, own, (0, packets - 1)) && R::waits_in(&parts, far, (0, 0)));
    assert_eq!((R::flits_held(&parts, own), R::flits_held(&parts, far)), (flits, flits));
    assert_eq!((R::waits_for(&parts, own), R::waits_for(&parts, far)), (vec![far], vec![]));
    assert_eq!(R::held_by(&parts, own), Some((output, Some(far))));
    assert_eq!(R::waiting(&parts, own).lacks, Lack::Room { needed: flits, free: 0 });
    bench.part.routers.run(&mut bench.part.common, 1, end);
    let parts = bench.parts(end);
    assert_eq!(R::waits_for(&parts, own), [], "credits are under way");
    assert_eq!((R::flits_held(&parts, far), R::waits_in(&parts, far, (0, 0))), (0, false));
}

#[test]
fn a_head_without_room_waits_for_the_head_of_the_buffer_beyond() {
    let flits = parameters(RouterKind::WholePackets).packet_flits(8);
    a_head_waits_for_the_one_before_it::<PacketRouters>(RouterKind::WholePackets, 2);
    // One more waits in the buffer of the output.
    a_head_waits_for_the_one_before_it::<CioqRouters>(RouterKind::OutputBuffers(flits), 3);
}

fn goes_to_another_part<R: Injector<Own = ()>>(kind: RouterKind) {
    let fabric = torus(&[4]);
    let routes = direction_order(&fabric);
    let context = Arc::new(context(2, &fabric, &routes, &parameters(kind)));
    let mut one = Part::<R>::new(&context, 0, &(), messages(&[(1, 2, 8)]), None);
    let mut other = Part::<R>::new(&context, 1, &(), messages(&[]), None);
    let start = one.hosts.sources.due[1];
    one.hosts.run_due(&mut one.common, 1, start);
    one.routers.inject(&mut one.common, &mut one.hosts, (1, 1), start, false);
    one.routers.run(&mut one.common, 1, LATE);
    assert_eq!((one.common.packets.count, other.common.packets.count), (0, 0), "it is between");
    let mut crossing = R::Messages::default();
    one.routers.swap_outgoing(1, &mut crossing);
    other.routers.take_incoming(&mut other.common, &mut crossing);
    assert_eq!(other.common.packets.count, 1);
    let clock = other.common.time(LATE);
    let parts = AllParts { parts: vec![&one, &other], context: &context, clock };
    let buffers = 0..u32::try_from(other.routers.buffers()).unwrap();
    let holds = |buffer: &u32| R::waits_in(&parts, (1, *buffer), (1, 0));
    assert_eq!(buffers.filter(holds).count(), 1, "one buffer has it, with its name");
    assert!(parts.credits_are_conserved());
}

#[test]
fn a_packet_that_goes_to_another_part_is_one_there() {
    goes_to_another_part::<PacketRouters>(RouterKind::WholePackets);
    goes_to_another_part::<CioqRouters>(OUTPUT_BUFFERS);
}

#[test]
fn a_head_asks_for_what_its_kind_of_routing_says() {
    let fabric = torus(&[4]);
    let routes = direction_order(&fabric);
    let bench = Bench::<PacketRouters>::new(&fabric, &routes, RouterKind::WholePackets);
    let head = |asks| HeadRequests {
        first_output: 100,
        asks,
        output: 3,
        vcs: 0b101,
        need: 7,
        flits: 5,
        of_escape: 9,
    };
    let list = |asks| -> Vec<(u32, u8, u32)> {
        let requests = head(asks).list(&bench.part.common);
        requests.into_iter().map(|it| (it.output, it.vc, it.need)).collect()
    };
    assert_eq!(list(Asks::One), [(103, 0, 7), (103, 2, 7)]);
    // The escape first, on its virtual channels; then each port on the adaptive one.
    let adaptive = bench.context.channels.adaptive;
    let asks = Asks::Torus { ports: 0b11, escape: 1 };
    let of_torus = [(101, 0, 9), (101, 2, 9), (100, adaptive, 7), (101, adaptive, 7)];
    assert_eq!(list(asks), of_torus);
    assert_eq!((asks.on_torus().0, Asks::One.on_torus().0), (0b11, 0));
}
