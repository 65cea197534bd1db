//! Failures of a torus: cables (both directions at once), nodes, and nodes outside the node set.

use super::{TopologyError, Torus};

/// The parts that a fabric lacks of its torus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Failed cables, each given by one of its ends: node and direction number.
    pub cables: Vec<(u32, u32)>,
    /// Failed nodes, by number.
    pub nodes: Vec<u32>,
    /// Nodes outside the node set, since other jobs have them. Like failed nodes they neither send
    /// nor forward.
    pub outside: Vec<u32>,
}

impl Faults {
    /// The nodes that neither send nor forward.
    pub fn lost_nodes(&self) -> impl Iterator<Item = u32> + '_ {
        self.nodes.iter().chain(&self.outside).copied()
    }

    /// Dead channels of the torus, by channel slot (node times directions plus direction).
    ///
    /// # Errors
    /// If a cable is named where the torus has none.
    pub(super) fn dead_channels(&self, torus: &Torus) -> Result<Vec<bool>, TopologyError> {
        let directions = torus.directions();
        let mut dead = vec![false; (torus.nodes() * directions) as usize];
        let mut kill = |node: u32, direction: u32| -> Option<()> {
            let other = torus.neighbor(node, direction)?;
            dead[(node * directions + direction) as usize] = true;
            dead[(other * directions + torus.opposite(direction)) as usize] = true;
            Some(())
        };
        for (place, &(node, direction)) in self.cables.iter().enumerate() {
            kill(node, direction).ok_or_else(|| {
                TopologyError::UnknownFault(
                    place,
                    format!(
                        "node {} has no cable in direction {}",
                        torus.node_name(node),
                        torus.direction_name(direction)
                    ),
                )
            })?;
        }
        for node in self.lost_nodes() {
            for direction in 0..directions {
                kill(node, direction);
            }
        }
        Ok(dead)
    }
}
