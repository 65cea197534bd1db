//! Small networks for unit tests.

use crate::network::context::NetworkContext;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Fabric, Faults, Torus};
use flitlab_model::Parameters;
use flitlab_model::workload::{Message, MessageKind, Script, Workload};
use flitlab_routing::{DirectionOrder, HalfRing, Routes};

/// A torus in which nothing has failed.
pub(crate) fn torus(sizes: &[u32]) -> Fabric {
    Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap()
}

/// Routes in direction order.
pub(crate) fn direction_order(fabric: &Fabric) -> Routes {
    Routes::DirectionOrder(DirectionOrder::new(fabric, HalfRing::Plus).unwrap())
}

/// A workload of messages of data at time 0, given as source, destination and bytes.
pub(crate) fn messages(messages: &[(u32, u32, u64)]) -> Box<dyn Workload> {
    let message = |&(source, destination, bytes): &(u32, u32, u64)| {
        let (time, kind) = (Picoseconds::ZERO, MessageKind::Data);
        Message { time, source, destination, bytes, kind, tag: 0, class: 0 }
    };
    Box::new(Script::new(messages.iter().map(message).collect()))
}

/// The network of some parts, for messages of data.
pub(crate) fn context<'f>(
    parts: usize,
    fabric: &'f Fabric,
    routes: &'f Routes,
    parameters: &Parameters,
) -> NetworkContext<'f> {
    NetworkContext::new(parts, fabric, routes, parameters, &*messages(&[(0, 1, 8)]), None)
}
