//! Credits of the flit-by-flit router: at a virtual channel, and at a terminal that waits for them.

use std::sync::Arc;

use super::*;
use crate::frame::tick::NEVER;
use crate::network::small::{context, direction_order, messages, torus};
use crate::part::Part;
use flitlab_model::{Parameters, RouterKind};

#[test]
fn a_virtual_channel_has_credits_for_its_buffer_and_no_more() {
    let mut times = Times::default();
    let mut vc = OutputVc::new(3, &mut times);
    for now in [10, 11, 12] {
        assert!(vc.has_room(1, now, &times));
        vc.take(now, &times);
    }
    assert!(!vc.has_room(1, NEVER, &times), "it is full until a credit is sent");
    assert_eq!((vc.next_credit(&times), vc.due()), (NEVER, 0));
    assert!(vc.give_back(50, &mut times), "a packet waits");
    assert!(!vc.give_back(60, &mut times), "none waits any more");
    assert_eq!((vc.room_from(2, &times), vc.room_from(3, &times)), (60, NEVER));
    assert!(!vc.has_room(1, 49, &times) && vc.has_room(1, 50, &times));
    assert_eq!((vc.room, vc.room_at(60, &times)), (1, 2));
    vc.give_back(70, &mut times);
    assert!(vc.has_room(3, 70, &times) && !vc.has_room(4, NEVER, &times));
    assert_eq!(vc.due(), 3);
}

#[test]
fn an_injection_waits_for_room_until_credits_have_crossed_its_cable() {
    let fabric = torus(&[4]);
    let routes = direction_order(&fabric);
    let sharing = FlitSharing::default();
    let flits = Parameters::default().packet_flits(8);
    let parameters = Parameters {
        injection_channels: 1,
        injection_buffer: flits,
        virtual_channels: 1,
        kind: RouterKind::SharedLinks(sharing.clone()),
        ..Parameters::default()
    };
    let context = Arc::new(context(1, &fabric, &routes, &parameters));
    let workload = messages(&[(0, 1, 8), (0, 1, 8)]);
    let mut part = Part::<FlitRouters>::new(&context, 0, &sharing, workload, None);
    let Part { common, hosts, routers, .. } = &mut part;
    let start = hosts.sources.due[0];
    hosts.run_due(common, 0, start);
    let mut inject = |common: &mut Common<'_>, routers: &mut FlitRouters, now| {
        let due = routers.inject(common, hosts, (0, 0), now, false).unwrap();
        hosts.sources.injections[0].due = due;
        (due, hosts.sources.injections[0].waiting != 0)
    };
    let injection = context.timings_of(ChannelKind::Injection)[0];
    let free_at = start + flits * injection.flit;
    assert_eq!(inject(common, routers, start), (free_at, true));
    assert_eq!(inject(common, routers, free_at), (NEVER, true), "the buffer is full");
    // The header crosses the cable, is routed, is granted a virtual channel and then the switch.
    routers.run(common, 0, start + 1_000_000);
    let allocation = narrow::<Tick>(sharing.virtual_channel_allocation);
    let granted = start + injection.forward + context.routing + allocation;
    assert_eq!(common.to_hosts.fed, [(0, granted + injection.back)]);
    common.to_hosts.fed.clear();
    routers.run(common, 0, start + 1_000_000);
    // The packet needs the credits of all flits, the last of which is that of the first one's tail.
    let crossbar = routers.rules.paces[0].crossbar.max(injection.flit);
    let last = granted + (flits - 1) * crossbar + injection.back;
    assert_eq!(inject(common, routers, granted + injection.back), (last, true));
    let (_, waits) = inject(common, routers, last);
    assert!(!waits, "there is room");
}
