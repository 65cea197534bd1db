//! A single switch.

use super::{ANY_TABLE, BuilderKind, Built, Cabling, Size, Sizes, TopologyError, begin, populate};
use flitlab_base::registry::Row;

pub(super) const SWITCH: Row<BuilderKind> = Row::new(
    "switch",
    "A single switch with all terminals: a crossbar, whose packets meet at its outputs alone.",
    BuilderKind { usual_table: ANY_TABLE, read },
)
.known_as(&["single_switch", "crossbar", "star"]);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let terminals = sizes.required_in("terminals", 2..=1 << 16, 16, "Terminals of the switch.");
    let switch = Switch { terminals: terminals? };
    let name = format!("switch of {} terminals", switch.terminals);
    Some(Built { name, cabling: switch.cabling() })
}

/// One router with all terminals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Terminals, two or more.
    pub terminals: u32,
}

impl Switch {
    /// The fabric, which has no cables between routers.
    ///
    /// # Errors
    /// If there are too many terminals.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let terminals = self.terminals.into();
        let mut cabling = begin(&Size { routers: 1, terminals, cables: 0, ports: terminals })?;
        populate(&mut cabling, |_| self.terminals);
        Ok(cabling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_terminals_are_at_the_switch() {
        let fabric = Switch { terminals: 5 }.cabling().unwrap().fabric().unwrap();
        assert_eq!((fabric.routers(), fabric.terminals(), fabric.channels()), (1, 5, 0));
        assert!((0..5).all(|terminal| fabric.terminal_router(terminal) == Some(0)));
        assert!(Switch { terminals: 1 }.cabling().unwrap().fabric().is_err());
        assert!(Switch { terminals: 1 << 17 }.cabling().is_err());
    }
}
