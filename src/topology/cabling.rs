//! Fabrics of any shape, put together router by router and cable by cable.

use super::fabric::{Arrangement, Fabric, NONE};
use super::{TopologyError, connectivity};

/// Routers, terminals and cables, numbered in the order in which they are added.
///
/// A router's output ports are numbered in the order of its cables. Two routers may have several cables
/// between them, each a pair of channels of its own; a router may have any number of terminals, none too.
#[derive(Clone, Debug, Default)]
pub struct Cabling {
    routers: Vec<String>,
    terminals: Vec<(String, u32)>,
    cables: Vec<(u32, u32)>,
}

impl Cabling {
    /// Adds a router and gives its number.
    pub fn router(&mut self, name: impl Into<String>) -> u32 {
        self.routers.push(name.into());
        self.routers.len() as u32 - 1
    }

    /// Adds a terminal to a router and gives the terminal's number.
    pub fn terminal(&mut self, name: impl Into<String>, router: u32) -> u32 {
        self.terminals.push((name.into(), router));
        self.terminals.len() as u32 - 1
    }

    /// Adds a cable between two routers and gives its number.
    pub fn cable(&mut self, one: u32, other: u32) -> u32 {
        self.cables.push((one, other));
        self.cables.len() as u32 - 1
    }

    /// The fabric.
    ///
    /// # Errors
    /// If a cable joins a router with itself, there are fewer than two terminals, or two of them have no
    /// path between them.
    ///
    /// # Panics
    /// If a terminal or a cable names a router that was not added.
    pub fn fabric(self) -> Result<Fabric, TopologyError> {
        let routers = self.routers.len();
        let mut first_channel = vec![0u32; routers + 1];
        for &(one, other) in &self.cables {
            if one == other {
                let name = &self.routers[one as usize];
                return Err(TopologyError::Sizes(format!(
                    "a cable joins router {name} with itself"
                )));
            }
            first_channel[one as usize + 1] += 1;
            first_channel[other as usize + 1] += 1;
        }
        for router in 0..routers {
            first_channel[router + 1] += first_channel[router];
        }
        let mut free = first_channel.clone();
        let mut port = |router: u32| {
            free[router as usize] += 1;
            free[router as usize] - 1
        };
        let channels = first_channel[routers] as usize;
        let (mut target, mut opposite) = (vec![NONE; channels], vec![NONE; channels]);
        for &(one, other) in &self.cables {
            let (there, back) = (port(one), port(other));
            (target[there as usize], target[back as usize]) = (other, one);
            (opposite[there as usize], opposite[back as usize]) = (back, there);
        }
        let (terminals, terminal_router): (Vec<_>, Vec<_>) = self.terminals.into_iter().unzip();
        assert!(
            terminal_router.iter().all(|&router| (router as usize) < routers),
            "no such router"
        );
        let fabric = Fabric {
            first_channel,
            target,
            opposite,
            ring: vec![NONE; channels],
            terminal_router,
            capacity: (1, 1),
            arrangement: Arrangement::Listed { routers: self.routers, terminals },
        };
        connectivity::check(&fabric)?;
        Ok(fabric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two routers with two cables and three terminals.
    fn pair() -> Cabling {
        let mut cabling = Cabling::default();
        let (one, other) = (cabling.router("A"), cabling.router("B"));
        for (name, router) in [("a", one), ("b", other), ("c", other)] {
            cabling.terminal(name, router);
        }
        cabling.cable(one, other);
        cabling.cable(other, one);
        cabling
    }

    #[test]
    fn parallel_cables_are_channels_of_their_own() {
        let fabric = pair().fabric().unwrap();
        assert_eq!((fabric.routers(), fabric.terminals(), fabric.channels()), (2, 3, 4));
        for channel in 0..4 {
            let opposite = fabric.opposite(channel).unwrap();
            assert_eq!(fabric.opposite(opposite), Some(channel));
            assert_eq!(fabric.target(channel), Some(fabric.source(opposite)));
        }
        assert_eq!(fabric.opposite(0), Some(2), "the first cable has the first port at both ends");
        assert_eq!(fabric.channel_name(1), "A port 1 to B");
        assert_eq!((fabric.router_name(1), fabric.terminal_name(2)), ("B".into(), "c".into()));
        assert!(fabric.torus().is_none() && fabric.ring(0).is_none());
    }

    #[test]
    fn what_is_no_fabric_is_refused() {
        let mut looped = pair();
        looped.cable(0, 0);
        assert!(looped.fabric().unwrap_err().to_string().contains("router A with itself"));
        let mut apart = pair();
        let lonely = apart.router("C");
        apart.terminal("d", lonely);
        assert!(matches!(apart.fabric(), Err(TopologyError::Disconnected { pairs: 6, .. })));
    }
}
