//! Permutations of routers: each terminal sends to the one with the same place at another router.
//!
//! On a HyperX the complement of all dimensions loads each channel of minimal routing with all
//! terminals of a router, and a shift in one dimension all channels of that dimension likewise
//! (\[hyperx-adaptive\]).

use std::sync::Arc;

use super::{Bind, Live, Nodes, Partners, PatternError, PatternKind, PatternRule, no_keys};
use flitlab_base::document::{Count, Reader, Whole};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;

pub(super) const DIMENSION_COMPLEMENT: Row<PatternKind> = Row::new(
    "dimension-complement",
    "k - 1 - x in every dimension of the switches, from terminal to terminal.",
    PatternKind {
        partners: Partners::Fixed,
        read: |_, _| {
            no_keys(|nodes| {
                let sizes = nodes.dimensions()?;
                // All coordinates complemented are the number complemented.
                let last = sizes.iter().product::<u32>() - 1;
                Ok(permuted(nodes, |router| last - router))
            })
        },
    },
);

pub(super) const DIMENSION_SHIFT: Row<PatternKind> = Row::new(
    "dimension-shift",
    "x + `by` mod k in one dimension of the switches, from terminal to terminal.",
    PatternKind { partners: Partners::Fixed, read: |reader, _| dimension_shift(reader) },
);

pub(super) const ROUTER_SHIFT: Row<PatternKind> = Row::new(
    "router-shift",
    "to the switch `by` places further on among those with terminals, from terminal to terminal.",
    PatternKind {
        partners: Partners::Fixed,
        read: |reader, _| {
            let by = reader.value("by", &Count { example: 7 }, 1, "How many switches further on.");
            Some(Arc::new(move |nodes| Ok(shifted(nodes, by))))
        },
    },
);

pub(super) const SHIFT: Row<PatternKind> = Row::new(
    "shift",
    "to the node `by` places further on.",
    PatternKind {
        partners: Partners::Fixed,
        read: |reader, _| {
            let by = reader.value("by", &Count { example: 7 }, 1, "How many nodes further on.");
            Some(Arc::new(move |nodes| {
                let count = u64::from(nodes.count());
                Ok(Box::new(move |node| narrow((u64::from(node) + u64::from(by)) % count)))
            }))
        },
    },
);

fn dimension_shift(reader: &mut Reader<'_>) -> Option<Bind> {
    let (mut dimension, mut by) = (1u32, 1u32);
    let doc = "The dimension, from 1.";
    reader.set("dimension", &Whole { range: 1..=64 }, &mut dimension, doc);
    reader.set("by", &Count { example: 2 }, &mut by, "How many switches further on.");
    Some(Arc::new(move |nodes| {
        let sizes = nodes.dimensions()?;
        let Some((&size, before)) = sizes[..sizes.len().min(dimension as usize)]
            .split_last()
            .filter(|_| dimension as usize <= sizes.len())
        else {
            let text = format!("there is no dimension {dimension}: there are {}", sizes.len());
            return Err(PatternError::Refused(text));
        };
        let stride: u32 = before.iter().product();
        Ok(permuted(nodes, |router| {
            let from = router / stride % size;
            let to: u32 = narrow((u64::from(from) + u64::from(by)) % u64::from(size));
            router - from * stride + to * stride
        }))
    }))
}

fn shifted(nodes: &Nodes<'_>, by: u32) -> Box<dyn PatternRule> {
    let terminals = nodes.terminals_by_router();
    let with: Vec<u32> = (0..narrow(terminals.len()))
        .filter(|&router| !terminals[router as usize].is_empty())
        .collect();
    let place = |router: u32| with.partition_point(|&other| other < router) as u64;
    permuted(nodes, |router| {
        with[narrow::<usize>((place(router) + u64::from(by)) % with.len() as u64)]
    })
}

/// By node: its partner, or itself if it has none.
struct Permuted(Vec<u32>);

impl PatternRule for Permuted {
    fn partner(&self, source: u32, _: u32, _: &Live) -> u32 {
        self.0[source as usize]
    }

    fn memory(&self) -> usize {
        self.0.capacity() * size_of::<u32>()
    }
}

/// Each live terminal sends to the one with its place at the router that `to` gives for its own.
fn permuted(nodes: &Nodes<'_>, to: impl Fn(u32) -> u32) -> Box<dyn PatternRule> {
    let terminals = nodes.terminals_by_router();
    let mut partner: Vec<u32> = (0..nodes.count()).collect();
    for (router, own) in (0..).zip(&terminals) {
        if own.is_empty() {
            continue;
        }
        for (&source, &target) in own.iter().zip(&terminals[to(router) as usize]) {
            partner[source as usize] = target;
        }
    }
    Box::new(Permuted(partner))
}

#[cfg(test)]
mod tests {
    use super::super::{Pattern, PatternSpec};
    use flitlab_fabric::Fabric;
    use flitlab_fabric::builders::{HyperX, SlimFly, Tree};

    fn partners(fabric: &Fabric, name: &str, keys: &str) -> Vec<Option<u32>> {
        let pattern = Pattern::new(&PatternSpec::new(name, keys), fabric, 1).unwrap();
        (0..fabric.terminals()).map(|node| pattern.partner(node, 0)).collect()
    }

    fn hyperx() -> Fabric {
        let hyperx = HyperX { sizes: vec![4, 3], redundancy: 1, terminals: 2 };
        hyperx.cabling().unwrap().fabric().unwrap()
    }

    /// Terminal `place` of switch (x, y) has the number 2 (4 y + x) + place.
    #[test]
    fn terminals_send_to_the_same_place_at_another_switch() {
        let fabric = hyperx();
        let complement = partners(&fabric, "dimension-complement", "");
        let along_x = partners(&fabric, "dimension-shift", "");
        let along_y = partners(&fabric, "dimension-shift", "dimension = 2\nby = 2");
        for (x, y, place) in (0..4).flat_map(|x| (0..6).map(move |it| (x, it / 2, it % 2))) {
            let number = |x: u32, y: u32| 2 * (4 * y + x) + place;
            let from = number(x, y) as usize;
            assert_eq!(complement[from], Some(number(3 - x, 2 - y)));
            assert_eq!(along_x[from], Some(number((x + 1) % 4, y)));
            assert_eq!(along_y[from], Some(number(x, (y + 2) % 3)));
        }
    }

    #[test]
    fn shifts_pass_over_switches_without_terminals() {
        let slim_fly = SlimFly { prime: 5, terminals: 4 }.cabling().unwrap().fabric().unwrap();
        let by_seven = partners(&slim_fly, "router-shift", "by = 7");
        assert!((0..200).all(|node| by_seven[node as usize] == Some((node + 28) % 200)));
        let tree = Tree { arity: 3, levels: 2, terminals: 3 }.cabling().unwrap().fabric().unwrap();
        let next = partners(&tree, "router-shift", "");
        assert!((0..9).all(|node| next[node as usize] == Some((node + 3) % 9)));
        let one = partners(&tree, "shift", "by = 10");
        assert!((0..9).all(|node| one[node as usize] == Some((node + 1) % 9)));
    }

    #[test]
    fn what_has_no_dimensions_or_not_as_many_is_refused() {
        let said = |name: &str, keys: &str, fabric: &Fabric| {
            let spec = PatternSpec::new(name, keys);
            Pattern::new(&spec, fabric, 1).map(|_| ()).unwrap_err().to_string()
        };
        let slim_fly = SlimFly { prime: 5, terminals: 4 }.cabling().unwrap().fabric().unwrap();
        let refused = said("dimension-complement", "", &slim_fly);
        assert!(refused.starts_with("dimension-complement is defined on dimensions"), "{refused}");
        let refused = said("dimension-shift", "dimension = 3", &hyperx());
        assert_eq!(refused, "there is no dimension 3: there are 2");
        let refused = said("shift", "by = 24", &hyperx());
        assert!(refused.starts_with("shift sends nothing"), "{refused}");
    }
}
