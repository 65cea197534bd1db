//! For each kind of routing: a small network, a packet, and the answers along its whole way.

use flitlab_base::narrow::narrow;
use std::sync::Arc;

use super::answer::OutVc;
use super::*;
use crate::network::ports::Ports;
use crate::network::small::{self, torus};
use crate::packet::encoded_route::{EncodedRoute, MAX_WORDS};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Fabric, Faults, NONE, Torus, breadth_first};
use flitlab_model::Parameters;
use flitlab_routing::adaptive::NonMinimalRule;
use flitlab_routing::relation::{Hop, PathChoice, PathSet, Relation, RelationBuilder};
use flitlab_routing::{AdaptiveRules, DirectionOrder, DirectionRules, HalfRing, RelationRoutes};

/// A network of one part, and the state of its sources.
struct Walker<'f> {
    context: NetworkContext<'f>,
    ports: Ports,
    choices: SourceChoices,
    routing: Routing<'f>,
}

/// An answer on a packet's way: the router, the virtual channel of arrival, and the next hop.
type Answer = (u32, u8, NextHop);

impl<'f> Walker<'f> {
    fn new(fabric: &'f Fabric, routes: &'f Routes) -> Self {
        let parameters = Parameters { virtual_channels: 4, ..Parameters::default() };
        let context = small::context(1, fabric, routes, &parameters);
        let (ports, choices) = (Ports::new(&context, 0), SourceChoices::new(&context, 0));
        let routing = Routing::new(&context, 0);
        Self { context, ports, choices, routing }
    }

    /// The answers along the way of a packet that takes the first port of those that it may take,
    /// and the hops that it counts. `used` counts the flits behind the ports of its source.
    fn way(&mut self, (source, destination): (u32, u32), used: &[u32]) -> (Vec<Answer>, u16) {
        let Self { context, ports, choices, routing } = self;
        let fabric = context.fabric;
        let mut router = fabric.terminal_router(source).unwrap();
        let time = Picoseconds::ZERO;
        let mut packet = Packet {
            ready: 0,
            tail: 0,
            next: NONE,
            source,
            sequence: 0,
            flits: 1,
            note: 0,
            route: EncodedRoute::default(),
        };
        let mut origin = Origin::new((time, time), NONE, 0, 0, 0, 0);
        let mut packets = Packets::new(routing.words());
        let mut vc = routing.source_vc(context, (0, Role::Data), (source, destination));
        let ends = Ends { terminal: source, from: router, destination, ejection: 0 };
        let mut rest = [0; MAX_WORDS];
        let rest = &mut rest[..routing.words()];
        routing.inject(context, choices, (ends, vc), (&mut packet, &mut origin), rest);
        let slot = packets.insert(packet, origin);
        packets.rest(slot).copy_from_slice(rest);
        let layout = ports.routers[router as usize];
        let mut input = layout.first_input + u32::from(layout.transit);
        let mut answers = Vec::new();
        loop {
            assert_eq!(routing.destination(context, &packets, (router, slot)), destination);
            let head = Head { slot, router, input, vc, came: ports.input(input).came() };
            let next = routing.next_hop(context, &packets, head);
            answers.push((router, vc, next));
            let outputs = fabric.outputs(router);
            let (port, out_vc) = match next {
                NextHop::Undecided => {
                    routing.decide(&mut packets, slot, (router, 100), used);
                    continue;
                }
                NextHop::AnyOf { ports, .. } => {
                    (narrow::<u16>(ports.trailing_zeros()), context.channels.adaptive)
                }
                NextHop::Hops(list) => {
                    let hop = routing.relation().hops_of_list(list)[0];
                    let taken = (list, (hop.port, hop.vc));
                    routing.relation().take_hop(context, &mut packets, (slot, router), taken);
                    (hop.port, hop.vc)
                }
                NextHop::Output { output, vc: out_vc, .. } => {
                    let ejection = context.end(destination);
                    if usize::from(output) >= outputs.len() {
                        assert_eq!((output, router), (ejection.ejection, ejection.router));
                        let place = slot as usize;
                        let (packet, origin) = (&packets.packets[place], &packets.origins[place]);
                        return (answers, routing.hops_crossed(packet, origin));
                    }
                    (output, out_vc.of_packet(vc, true))
                }
            };
            routing.go_on(context, &mut packets, slot, router);
            let channel = context.network.first_output[router as usize] + u32::from(port);
            input = context.network.input_of_channel[channel as usize];
            router = fabric.target(outputs.start + u32::from(port)).unwrap();
            vc = out_vc;
        }
    }

    /// The routers and virtual channels along a way, and the hops that the packet counts.
    fn places(&mut self, ends: (u32, u32)) -> (Vec<(u32, u8)>, u16) {
        let (answers, hops) = self.way(ends, &[]);
        (answers.iter().map(|&(router, vc, _)| (router, vc)).collect(), hops)
    }
}

#[test]
fn a_source_route_changes_its_class_at_the_dateline() {
    let fabric = torus(&[5]);
    let rules = DirectionRules { dateline: true, ..HalfRing::Plus.into() };
    let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, rules).unwrap());
    let mut walker = Walker::new(&fabric, &routes);
    let port =
        |output, class| NextHop::Output { output, vc: OutVc::Class(class), keeps_bubble: true };
    let (answers, hops) = walker.way((4, 1), &[]);
    assert_eq!(answers[..2], [(4, 0, port(0, 1)), (0, 1, port(0, 1))]);
    assert_eq!((answers.len(), answers[2].0, hops), (3, 1, 2));
    let (answers, _) = walker.way((3, 2), &[]);
    assert_eq!(answers[0], (3, 0, port(1, 0)));
}

/// A table by which all packets leave their routers by one port of a ring.
fn one_way(fabric: &Fabric, port: u16) -> ForwardingTable {
    let mut table = ForwardingTable::empty(fabric);
    for router in 0..fabric.routers() {
        for terminal in fabric.live_terminals() {
            let is_there = fabric.terminal_router(terminal) == Some(router);
            table.set(router, terminal, (!is_there).then_some(port));
        }
    }
    table
}

#[test]
fn a_table_is_replaced_by_an_interruptions() {
    let fabric = torus(&[5]);
    let [first, later] = [0, 1].map(|port| Routes::Forwarding(Arc::new(one_way(&fabric, port))));
    let mut walker = Walker::new(&fabric, &first);
    assert_eq!(walker.places((0, 2)), (vec![(0, 0), (1, 0), (2, 0)], 2));
    walker.context = walker.context.with_routes((&fabric, &later));
    walker.routing = Routing::new(&walker.context, 0);
    assert_eq!(walker.places((0, 2)), (vec![(0, 0), (4, 0), (3, 0), (2, 0)], 3));
}

#[test]
fn a_source_takes_its_paths_in_turn() {
    let fabric = torus(&[5]);
    let paths = PathSet::new(&fabric, 2, PathChoice::RoundRobin, |from, to| {
        let ahead = (to + 5 - from) % 5;
        let path = |port, hops, vc| vec![Hop::new(port, vc); hops as usize];
        if ahead == 0 { vec![] } else { vec![path(0, ahead, 0), path(1, 5 - ahead, 1)] }
    });
    let routes = Routes::Paths(PathRoutes { paths: Arc::new(paths.unwrap()), seed: 1 });
    let mut walker = Walker::new(&fabric, &routes);
    assert_eq!(walker.places((0, 1)), (vec![(0, 1), (1, 0)], 1));
    assert_eq!(walker.places((0, 1)).0, [(0, 1), (4, 1), (3, 1), (2, 1), (1, 1)]);
    assert_eq!(walker.places((0, 1)).1, 1);
}

#[test]
fn an_adaptive_packet_has_all_ports_that_lead_nearer_and_an_escape() {
    let fabric = torus(&[5, 5]);
    let adaptive = Adaptive::new(&fabric, AdaptiveRules::default(), 1).unwrap();
    let routes = Routes::Adaptive(adaptive);
    let mut walker = Walker::new(&fabric, &routes);
    let channels = walker.context.channels;
    let (answers, hops) = walker.way((0, 7), &[]);
    // Two hops ahead in the first dimension, and one in the second.
    let any_of = |ports| NextHop::AnyOf { ports, output: 0, escape: channels.escape };
    let next: Vec<NextHop> = answers.iter().map(|answer| answer.2).collect();
    assert_eq!(next[..2], [any_of(0b11), any_of(0b11)]);
    assert_eq!(next[2], NextHop::AnyOf { ports: 0b10, output: 1, escape: channels.escape });
    assert_eq!((next.len(), hops), (4, 3));
}

#[test]
fn a_packet_decides_on_a_detour_and_turns_at_its_intermediate_node() {
    let fabric = torus(&[8, 8]);
    let non_minimal = NonMinimalRule::new("outflank", "steps = 1\ndistance_weight = 1.0");
    let rules = AdaptiveRules { non_minimal, ..AdaptiveRules::default() };
    let routes = Routes::Adaptive(Adaptive::new(&fabric, rules, 1).unwrap());
    let mut walker = Walker::new(&fabric, &routes);
    let channels = walker.context.channels;
    let escapes = |answers: &[Answer]| -> Vec<u8> {
        let escape = |answer: &Answer| match answer.2 {
            NextHop::AnyOf { escape, .. } => Some(escape),
            _ => None,
        };
        answers.iter().filter_map(escape).collect()
    };
    // An idle network: the shortest way.
    let (answers, hops) = walker.way((0, 18), &[0; 4]);
    assert_eq!((answers[0].2, hops), (NextHop::Undecided, 4));
    assert!(escapes(&answers).iter().all(|&escape| escape == channels.escape));
    // The ports that lead nearer are full.
    let (answers, hops) = walker.way((0, 18), &[100, 100, 0, 0]);
    let escapes = escapes(&answers);
    let turn = escapes.iter().position(|&escape| escape == channels.escape).unwrap();
    assert!(turn > 0 && escapes[..turn].iter().all(|it| *it == channels.escape_to_intermediate));
    assert!(escapes[turn..].iter().all(|&escape| escape == channels.escape));
    assert_eq!((usize::from(hops), escapes.len()), (escapes.len(), answers.len() - 2));
}

#[test]
fn a_packet_may_take_the_hops_of_its_relation() {
    let (rings, mesh) = (torus(&[4, 4]), Torus::new(&[4, 4], &[0, 1]).unwrap());
    let mesh = mesh.fabric(&Faults::default()).unwrap();
    for fabric in [&rings, &mesh] {
        let routes = Routes::Relation(RelationRoutes::new(Arc::new(shortest(fabric)), None, 1));
        let mut walker = Walker::new(fabric, &routes);
        for destination in 1..fabric.terminals() {
            let (answers, hops) = walker.way((0, destination), &[]);
            let is_hops = |answer: &Answer| matches!(answer.2, NextHop::Hops(_));
            assert_eq!(usize::from(hops), answers.iter().filter(|it| is_hops(it)).count());
            assert!(!is_hops(answers.last().unwrap()));
        }
    }
}

/// All shortest ways, in four virtual channels.
fn shortest(fabric: &Fabric) -> Relation {
    let mut builder = RelationBuilder::new(fabric, 4).unwrap();
    let (mut hops_left, mut order) = (vec![NONE; fabric.routers() as usize], Vec::new());
    for destination in fabric.ends() {
        breadth_first(destination, &mut hops_left, &mut order, |at| fabric.neighbors(at));
        for state in 0..builder.relation().states() {
            let Some(router) = builder.relation().router(fabric, state) else { continue };
            let left = hops_left[router as usize];
            let nearer = (0u16..).zip(fabric.outputs(router)).filter(|&(_, channel)| {
                fabric.target(channel).is_some_and(|next| hops_left[next as usize] < left)
            });
            let mut hops: Vec<Hop> =
                nearer.flat_map(|(port, _)| (0..4).map(move |vc| Hop::new(port, vc))).collect();
            builder.set(state, destination, &mut hops);
        }
    }
    builder.finish()
}
