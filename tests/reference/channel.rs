//! What channels and outputs of routers are in both models of links.

use std::collections::VecDeque;

use flitlab::{engine::Parameters, topology::Fabric, units::Picoseconds};

use super::choosing;

/// What kind of place a channel leads to, and from where.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ChannelKind {
    Network,
    Injection,
    Ejection,
}

impl ChannelKind {
    /// The time of a flit, the latency, and the flits for which each virtual channel has room at the far end.
    pub fn figures(self, parameters: &Parameters) -> (Picoseconds, Picoseconds, u32) {
        let (flit_time, latency, capacity) = match self {
            Self::Network => {
                (parameters.link_flit_time(), parameters.link_latency, parameters.buffer)
            }
            Self::Injection => (
                parameters.injection_flit_time(),
                parameters.injection_latency,
                parameters.injection_buffer,
            ),
            Self::Ejection => (parameters.ejection_flit_time(), parameters.ejection_latency, 0),
        };
        assert!(
            Picoseconds::ZERO < flit_time && flit_time <= latency,
            "a latency includes the flit's own time"
        );
        (flit_time, latency, capacity)
    }
}

/// What an output of a router leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OutputName {
    Port(u16),
    Ejection { terminal: u32, number: u32 },
}

impl OutputName {
    /// The port, if it leads to another router.
    pub fn port(self) -> Option<u16> {
        match self {
            Self::Port(port) => Some(port),
            Self::Ejection { .. } => None,
        }
    }

    /// Its number at its router: ejection channels come behind all ports, dead ones included.
    pub fn number(self, fabric: &Fabric, parameters: &Parameters) -> u64 {
        match self {
            Self::Port(port) => port.into(),
            Self::Ejection { terminal, number } => {
                let router = fabric.terminal_router(terminal).expect("it is live");
                let before = choosing::place(fabric, terminal) as u64;
                let ports = fabric.outputs(router).len() as u64;
                ports + before * u64::from(parameters.ejection_channels) + u64::from(number)
            }
        }
    }
}

/// Something on a wire.
pub struct Moving<T> {
    pub arrives: Picoseconds,
    pub content: T,
}

/// The next thing on a wire, if it is there now.
pub fn arrived<T>(wire: &mut VecDeque<Moving<T>>, now: Picoseconds) -> Option<T> {
    let arrives = wire.front()?.arrives;
    assert!(arrives >= now, "no instant at which something arrives is left out");
    if arrives > now {
        return None;
    }
    wire.pop_front().map(|moving| moving.content)
}
