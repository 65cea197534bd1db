//! What channels and outputs of routers are in both models of links.

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;
use flitlab_engine::Parameters;
use flitlab_fabric::{CableClass, CableRate, Fabric};

use super::choosing;

/// What kind of place a channel leads to, and from where.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ChannelKind {
    Network,
    Injection,
    Ejection,
    /// From a reduction unit into its own router, where links are shared flit by flit: nothing is
    /// sent on it.
    Unit,
}

impl ChannelKind {
    /// The time of a flit, the latency, and the flits for which each virtual channel has room at
    /// the far end, on a class of cables.
    pub fn figures(
        self,
        parameters: &Parameters,
        cable: CableClass,
    ) -> (Picoseconds, Picoseconds, u32) {
        let (rate, latency, capacity) = match self {
            Self::Network => (parameters.link_rate, parameters.link_latency, parameters.buffer),
            Self::Injection => (
                parameters.injection_rate,
                parameters.injection_latency,
                parameters.injection_buffer,
            ),
            Self::Ejection => (parameters.ejection_rate, parameters.ejection_latency, 0),
            Self::Unit => (parameters.link_rate, parameters.link_latency, 0),
        };
        let usual = time_of_flit(parameters, rate.0);
        let mut own = usual;
        if let CableRate::Share { cable, fastest } = cable.rate
            && cable.data() != fastest.data()
        {
            let (part, of) = (u128::from(cable.data().0), u128::from(fastest.data().0));
            let of_cable = (2 * u128::from(parameters.link_rate.0) * part + of) / (2 * of);
            let of_cable = of_cable.try_into().expect("it is slower than the fastest");
            let slower = if self == Self::Network { of_cable } else { rate.0.min(of_cable) };
            own = time_of_flit(parameters, slower);
        }
        let (flit_time, latency) = match cable.latency {
            Some(latency) if self == Self::Network => (own, latency),
            _ => (own, latency + own - usual),
        };
        assert!(
            Picoseconds::ZERO < flit_time && flit_time <= latency,
            "a latency includes the flit's own time"
        );
        (flit_time, latency, capacity)
    }
}

/// The time of a flit at so many bits a second, to the nearest picosecond.
fn time_of_flit(parameters: &Parameters, rate: u64) -> Picoseconds {
    let rate = u128::from(rate);
    let doubled = 2 * 8_000_000_000_000 * u128::from(parameters.flit.0);
    Picoseconds(((doubled + rate) / (2 * rate)).max(1).try_into().expect("a flit is short"))
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
