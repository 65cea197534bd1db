//! Fat trees of edge switches under director switches, like that of Tsubame2.5. A director is
//! itself a fat tree of line chips and fabric chips, which route independently.

use super::{
    ANY_TABLE, BuilderKind, Built, Cabling, Size, Sizes, TopologyError, begin, populate, product,
    refuse,
};
use flitlab_base::registry::Row;

pub(super) const DIRECTOR_TREE: Row<BuilderKind> = Row::new(
    "director_tree",
    "A fat tree of edge switches under director switches, each of which is a fat tree itself; by \
             default that of Tsubame2.5.",
    BuilderKind { usual_table: ANY_TABLE, read },
);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let usual = DirectorTree::default();
    let tree = DirectorTree {
        edges: sizes.value("edge_switches", usual.edges, "Edge switches."),
        directors: sizes.value("directors", usual.directors, "Director switches."),
        line_chips: sizes.value("line_chips", usual.line_chips, "Line chips of a director."),
        fabric_chips: sizes.value(
            "fabric_chips",
            usual.fabric_chips,
            "Fabric chips of a director.",
        ),
        inner_cables: sizes.value(
            "inner_cables",
            usual.inner_cables,
            "Cables between a line chip and a fabric chip.",
        ),
        uplinks: sizes.value(
            "uplinks",
            usual.uplinks,
            "Cables from edge switches to line chips, all together.",
        ),
        terminals: sizes.value(
            "all_terminals",
            usual.terminals,
            "Terminals, all together; edge switches have as many each, or one more.",
        ),
    };
    let name =
        format!("fat tree of {} edge switches under {} directors", tree.edges, tree.directors);
    Some(Built { name, cabling: tree.cabling() })
}

/// Edge switches with terminals, joined with the line chips of directors. The default has the
/// counts that \[nue\] gives for Tsubame2.5, read as six directors of 324 ports (18 line chips and
/// 9 fabric chips of 36 ports) and 81 edge switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectorTree {
    /// Number of edge switches.
    pub edges: u32,
    /// Number of directors: large switches that are trees of chips themselves.
    pub directors: u32,
    /// Line chips of a director.
    pub line_chips: u32,
    /// Fabric chips of a director.
    pub fabric_chips: u32,
    /// Cables between a line chip and a fabric chip.
    pub inner_cables: u32,
    /// Cables between edge switches and line chips, in total.
    pub uplinks: u32,
    /// Terminals, in total.
    pub terminals: u32,
}

impl Default for DirectorTree {
    fn default() -> Self {
        Self {
            edges: 81,
            directors: 6,
            line_chips: 18,
            fabric_chips: 9,
            inner_cables: 2,
            uplinks: 1_440,
            terminals: 1_407,
        }
    }
}

impl DirectorTree {
    /// The cables of the fabric. Routers are the edge switches, then the chips of each director,
    /// line chips first. Terminals and uplinks are spread evenly over the edge switches. The
    /// uplinks of an edge switch go to the directors in turn, and there to the line chips in turn.
    ///
    /// # Errors
    /// If a size is 0, or a number of parts is too large.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let sizes =
            [self.edges, self.directors, self.line_chips, self.fabric_chips, self.inner_cables];
        if sizes.contains(&0) || self.uplinks < self.edges {
            return refuse("every size is at least 1, and there is an uplink for each edge switch");
        }
        let [edges, directors, lines, inner, uplinks, terminals] = [
            self.edges,
            self.directors,
            self.line_chips,
            self.inner_cables,
            self.uplinks,
            self.terminals,
        ]
        .map(u64::from);
        let fabrics = u64::from(self.fabric_chips);
        let of_edge = uplinks.div_ceil(edges) + terminals.div_ceil(edges);
        let of_line = uplinks.div_ceil(directors).div_ceil(lines) + product([fabrics, inner]);
        let mut cabling = begin(&Size {
            routers: edges.saturating_add(product([directors, lines + fabrics])),
            terminals,
            cables: product([directors, lines, fabrics, inner]).saturating_add(uplinks),
            ports: of_edge.max(of_line).max(product([lines, inner])),
        })?;
        let chips = self.line_chips + self.fabric_chips;
        let first = |director: u32| self.edges + director * chips;
        let mut next = vec![0; self.directors as usize];
        let mut director = 0;
        for edge in 0..self.edges {
            for _ in 0..share(self.uplinks, self.edges, edge) {
                let chip = &mut next[director as usize];
                cabling.cable(edge, first(director) + *chip);
                *chip = (*chip + 1) % self.line_chips;
                director = (director + 1) % self.directors;
            }
        }
        for director in 0..self.directors {
            for line in 0..self.line_chips {
                for fabric in 0..self.fabric_chips {
                    for _ in 0..self.inner_cables {
                        let above = first(director) + self.line_chips + fabric;
                        cabling.cable(first(director) + line, above);
                    }
                }
            }
        }
        populate(&mut cabling, |router| {
            if router < self.edges { share(self.terminals, self.edges, router) } else { 0 }
        });
        Ok(cabling)
    }
}

/// The share of one of `parts`; the first ones have one more if the division leaves a remainder.
fn share(all: u32, parts: u32, part: u32) -> u32 {
    all / parts + u32::from(part < all % parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_chip_has_more_than_36_ports() {
        let fabric = DirectorTree::default().cabling().unwrap().fabric().unwrap();
        let mut ports: Vec<usize> =
            (0..fabric.routers()).map(|router| fabric.outputs(router).len()).collect();
        for terminal in fabric.live_terminals() {
            ports[fabric.terminal_router(terminal).unwrap() as usize] += 1;
        }
        assert!(ports.iter().all(|&ports| ports <= 36), "{ports:?}");
    }
}
