//! Who sees the packets of a run one by one.

use super::event::Femtoseconds;
use flitlab_routing::adaptive::Misroute;

/// A packet that a router has taken from its node's generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InjectedPacket {
    /// Its number ([`Numbers`](super::traffic::Numbers)).
    pub(super) number: u32,
    /// The node that it goes to.
    pub(super) destination: u32,
    /// When it left the generator.
    pub(super) time: Femtoseconds,
    /// Links between routers on its way.
    pub(super) hops: u32,
    /// The detour that was chosen for it; `None` if it goes the minimal way.
    pub(super) detour: Option<Misroute>,
}

/// Sees the packets of a run. It changes nothing about them.
pub(super) trait Observer {
    /// All nodes create a message. So many packets are on their way just before.
    fn created(&mut self, _now: Femtoseconds, _under_way: u64) {}

    /// A router has taken a packet from its node.
    fn injected(&mut self, _packet: InjectedPacket) {}

    /// A node's link in a direction begins to send a packet, or an answer.
    fn sent(&mut self, _node: u32, _direction: u32, _is_packet: bool) {}

    /// The last bit of the packet of this number, which was created at a time, is at its sink.
    fn delivered(&mut self, _number: u32, _created: Femtoseconds, _now: Femtoseconds) {}

    /// Whether the run goes on. Asked every few hundred instants.
    fn goes_on(&mut self) -> bool {
        true
    }
}

/// Sees nothing.
impl Observer for () {}
