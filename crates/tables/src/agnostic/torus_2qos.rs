//! Torus-2QoS (OpenSM's routing engine of that name, for tori of two and three dimensions; here up
//! to four that close into rings): dimension order, the shorter way round, free of deadlock by
//! datelines.
//!
//! Each ring has a dateline, between its last router and its first. A path's service level has a
//! bit for each dimension, whether it crosses the dateline there; the virtual channel of a channel
//! is the bit of its dimension. A path half-way round a ring goes where no dateline is. So the
//! dependencies of neither virtual channel close a ring.
//!
//! What has failed does not change service levels, only ways:
//! - A ring without some cable is gone round the long way. It is a ring no more, so the dateline
//!   does not matter. A ring that is cut twice is refused.
//! - Where a path would change dimensions at a router that has failed, it turns one router earlier,
//!   and back into the first dimension at the next one. The channel behind that turn, which breaks
//!   the dimension order, is taken in a virtual channel of a pair of its own: they are four then.
//!   No other channel of the kind is behind it, so no cycle leads round the failed router.
//!
//! Several failed routers can make a cycle all the same (OpenSM's manual has an example). That is
//! looked for, and refused. Multicast and the second level of service are left out.

use super::graph::Graph;
use super::grid::Grid;
use super::{Algorithm, Applies, NoTable};
use crate::prove_forwarding;
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::Fabric;
use flitlab_routing::{ForwardingTable, SERVICE_LEVELS, ServiceLevels, VcAssignment};

impl Algorithm {
    /// `torus-2qos`.
    pub const TORUS_2QOS: Row<Self> = Row::new(
        "torus-2qos",
        "dimension order on a torus, other virtual channels past its dateline.",
        Self {
            avoids_deadlock: true,
            parts_paths: true,
            applies: Applies::SomeShapes,
            memory: |at| at.pairs(4).saturating_add(at.dependencies),
            ..Self::plain(|task| {
                torus_2qos(&task.graph, task.fabric, &mut task.table, task.parameters.vcs)
            })
        },
    );
}

const NAME: &str = "torus-2qos";

const NO_GRID: NoTable = NoTable::NoGrid { algorithm: NAME, shapes: "tori and meshes" };

/// The bit of virtual channels for channels behind a turn that breaks the dimension order.
const TURNED: u8 = 2;

/// Fills in the table.
///
/// # Errors
/// If the routers are not arranged as a torus or mesh, more than four dimensions close into rings,
/// or there is no such way round what has failed.
fn torus_2qos(
    graph: &Graph,
    fabric: &Fabric,
    table: &mut ForwardingTable,
    vcs: u8,
) -> Result<(), NoTable> {
    let mut ways = Ways::new(graph, fabric)?;
    let mut levels = ServiceLevels::by_router(fabric);
    for of_router in graph.destinations.chunk_by(|one, other| one.router == other.router) {
        let end = of_router[0].router;
        for router in graph.all_routers().filter(|&at| at != end && graph.connected(at)) {
            let (direction, level) = (ways.direction(router, end)?, ways.level(router, end));
            for destination in of_router {
                let channel = ways.grid.take(router, direction).expect("the way is clear");
                table.row(destination.terminal)[router as usize] = graph.port(channel);
                levels.set_level(router, destination.terminal, level);
            }
        }
    }
    let turned = if ways.turned { TURNED } else { 0 };
    if turned == 0 && ways.bits == 0 {
        return Ok(());
    }
    if vcs <= 1 + turned {
        return Err(NoTable::VirtualChannels { algorithm: NAME, vcs });
    }
    ways.write_vcs(turned, &mut levels);
    table.set_vc_assignment(VcAssignment::ByServiceLevel(levels));
    if ways.lost.iter().filter(|&&lost| lost).count() > 1
        && !prove_forwarding(fabric, table).holds()
    {
        return Err(NoTable::Cycle { algorithm: NAME });
    }
    Ok(())
}

/// The ways through a torus in which something may have failed.
struct Ways<'a> {
    graph: &'a Graph,
    fabric: &'a Fabric,
    grid: Grid<'a>,
    /// By router, whether it has failed.
    lost: Vec<bool>,
    /// By router times directions plus direction, the hops up to the next failure, or once round.
    clear: Vec<u32>,
    /// By dimension, its bit in the service level, if it closes into rings.
    bit: Vec<Option<u8>>,
    bits: u8,
    /// Whether some path breaks the dimension order.
    turned: bool,
}

impl<'a> Ways<'a> {
    fn new(graph: &'a Graph, fabric: &'a Fabric) -> Result<Self, NoTable> {
        let grid = Grid::new(graph, fabric).ok_or(NO_GRID)?;
        let torus = grid.torus;
        let mut bits = 0;
        let number = |dimension| {
            torus.closed(dimension).then(|| {
                bits += 1;
                bits - 1
            })
        };
        let bit: Vec<Option<u8>> = (0..torus.dimensions()).map(number).collect();
        if 1 << bits > SERVICE_LEVELS {
            return Err(NoTable::Rings { algorithm: NAME, dimensions: bits });
        }
        let routers = graph.all_routers();
        let lost = routers.clone().map(|router| graph.outputs(router).next().is_none()).collect();
        let directions = torus.directions();
        let hops = |slot: u32| {
            let direction = slot % directions;
            let next = |&router: &u32| grid.neighbor(router, direction);
            let size = torus.sizes()[torus.dimension(direction)] as usize;
            let way = std::iter::successors(Some(slot / directions), next);
            narrow(way.take(size).count() - 1)
        };
        let clear = (0..graph.all_routers().end * directions).map(hops).collect();
        Ok(Self { graph, fabric, lost, clear, bit, bits, turned: false, grid })
    }

    /// The direction that a router sends packets in.
    fn direction(&mut self, router: u32, end: u32) -> Result<u32, NoTable> {
        let dimensions = 0..self.grid.torus.dimensions();
        let mut ways = dimensions.map(|at| (at, self.grid.shortest(router, end, at)));
        let (dimension, way) = ways.find(|(_, (_, hops))| *hops > 0).expect("another router");
        let corner = self.along(router, end, dimension);
        let lost = self.lost[corner as usize];
        let ends = [Some(way), self.grid.round(way, dimension)];
        for &(direction, hops) in ends.iter().flatten() {
            if lost && hops == 1 {
                let turn = self.early_turn(router, direction, corner, end);
                self.turned |= turn.is_some();
                return turn.ok_or_else(|| {
                    self.no_way(router, end, "nothing leads round a failed router at the corner")
                });
            }
            if self.clear(router, direction) >= hops - u32::from(lost) {
                return Ok(direction);
            }
        }
        let ring = ends[1].is_some();
        let reason = if ring { "the ring is cut twice" } else { "the line is cut" };
        Err(self.no_way(router, end, reason))
    }

    /// The router at another's coordinate in one dimension.
    fn along(&self, router: u32, other: u32, dimension: usize) -> u32 {
        let torus = self.grid.torus;
        let step: u32 = torus.sizes()[..dimension].iter().product();
        let at = |router| torus.coordinate(router, dimension) * step;
        router - at(router) + at(other)
    }

    /// The direction in which to pass a failed router, the corner of a path, which lies in
    /// `direction` of this one: along the next dimension on the way, until a channel in that
    /// direction leads past what has failed.
    fn early_turn(&self, router: u32, direction: u32, corner: u32, end: u32) -> Option<u32> {
        let grid = &self.grid;
        let mut ways = (0..grid.torus.dimensions()).map(|at| (at, grid.shortest(corner, end, at)));
        let (dimension, way) = ways.find(|(_, (_, hops))| *hops > 0)?;
        let leads = |&(turn, hops): &(u32, u32)| {
            let mut at = router;
            for passed in 1..=hops {
                let Some(next) = grid.neighbor(at, turn) else { return false };
                at = next;
                if let Some(behind) = grid.neighbor(at, direction) {
                    return self.clear(behind, turn) >= hops - passed;
                }
                let behind = grid.torus.neighbor(at, direction);
                if behind.is_none_or(|behind| !self.lost[behind as usize]) {
                    return false;
                }
            }
            false
        };
        let ways = [Some(way), grid.round(way, dimension)];
        ways.into_iter().flatten().find(leads).map(|(turn, _)| turn)
    }

    fn clear(&self, router: u32, direction: u32) -> u32 {
        self.clear[(router * self.grid.torus.directions() + direction) as usize]
    }

    fn no_way(&self, router: u32, end: u32, reason: &'static str) -> NoTable {
        let [from, to] = [router, end].map(|router| self.fabric.router_name(router));
        NoTable::NoWay { algorithm: NAME, from, to, reason }
    }

    /// The service level of the path that there is if nothing has failed.
    fn level(&self, router: u32, end: u32) -> u8 {
        let torus = self.grid.torus;
        let crosses = |&(dimension, _): &(usize, u8)| {
            let (direction, _) = self.grid.shortest(router, end, dimension);
            let [from, to] = [router, end].map(|at| torus.coordinate(at, dimension));
            from != to && torus.positive(direction) == (from > to)
        };
        let bits = self.bit.iter().enumerate();
        let bits = bits.filter_map(|(dimension, bit)| bit.map(|bit| (dimension, bit)));
        bits.filter(crosses).map(|(_, bit)| 1 << bit).sum()
    }

    /// Writes the maps from service levels to virtual channels.
    fn write_vcs(&self, turned: u8, levels: &mut ServiceLevels) {
        let torus = self.grid.torus;
        for router in self.graph.all_routers() {
            let of = |direction| self.grid.channels(router, direction).iter();
            let outputs: Vec<(u16, usize)> = (0..torus.directions())
                .flat_map(|direction| of(direction).map(move |&at| (at, direction)))
                .map(|(channel, direction)| (self.graph.port(channel), torus.dimension(direction)))
                .collect();
            for &(output, onto) in &outputs {
                let inputs = outputs.iter().map(|&(input, from)| (Some(input), from));
                for (input, from) in inputs.chain([(None, 0)]) {
                    let breaks = if from > onto { turned } else { 0 };
                    for level in 0..narrow(SERVICE_LEVELS) {
                        let crosses = self.bit[onto].map_or(0, |bit| level >> bit & 1);
                        levels.set_vc(router, input, output, level, breaks | crosses);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::tests::{generate, proved, torus};
    use super::super::{Algorithm, Parameters};
    use super::*;
    use crate::ForwardingQuality;
    use flitlab_fabric::builders::SwitchedTorus;
    use flitlab_fabric::{Faults, Torus};

    fn with_vcs(fabric: &Fabric, vcs: u8) -> Result<ForwardingTable, NoTable> {
        let parameters = Parameters { vcs, ..Parameters::default() };
        Algorithm::TORUS_2QOS.generate(fabric, &parameters).map(|generated| generated.table)
    }

    #[test]
    fn two_virtual_channels_suffice_for_shortest_paths() {
        for (sizes, redundancy) in [
            (&[5][..], 1),
            (&[3, 3], 1),
            (&[6, 5], 3),
            (&[8, 3, 4], 1),
            (&[4, 2, 5], 2),
            (&[4, 3, 5, 3], 1),
            (&[4, 4, 4, 4], 1),
        ] {
            let fabric = torus(sizes, 2, redundancy);
            let table = with_vcs(&fabric, 2).unwrap();
            assert_eq!(proved(&fabric, &table).vcs_used(), 2, "{sizes:?}");
            let quality = ForwardingQuality::new(&fabric, &table);
            assert_eq!(quality.hops_mean, quality.least_hops_mean, "{sizes:?}");
            let refused = with_vcs(&fabric, 1).unwrap_err();
            assert_eq!(refused, NoTable::VirtualChannels { algorithm: NAME, vcs: 1 });
        }
        let desmos = torus(&[2, 2, 2], 1, 1);
        assert_eq!(proved(&desmos, &with_vcs(&desmos, 1).unwrap()).vcs_used(), 1);
        let mesh = Torus::new(&[5, 4], &[0, 1]).unwrap().fabric(&Faults::default()).unwrap();
        assert_eq!(proved(&mesh, &with_vcs(&mesh, 1).unwrap()).vcs_used(), 1);
    }

    /// A ring that has lost cables at two places or more, by the torus' own numbers.
    fn cut_twice(torus: &Torus, cables: &[(u32, u32)]) -> bool {
        let ring = |&(node, direction): &(u32, u32)| {
            let mut coordinates = torus.coordinates(node);
            coordinates[direction as usize] = 0;
            (direction, coordinates)
        };
        let mut rings: Vec<_> = cables.iter().map(ring).collect();
        rings.sort_unstable();
        let cuts = |ring: &[_]| {
            let (direction, _): &(u32, Vec<u32>) = &ring[0];
            ring.len() > usize::from(torus.closed(*direction as usize))
        };
        rings.chunk_by(|one, other| one == other).any(cuts)
    }

    #[test]
    fn failed_cables_are_gone_round_unless_a_ring_is_cut_twice() {
        let mut outcomes = [0, 0];
        for seed in 0..60 {
            let random = &mut ChaCha8Rng::seed_from_u64(seed);
            let sizes: &[u32] = [&[6, 5][..], &[5, 4, 3], &[4, 3, 3, 2]][narrow::<usize>(seed) % 3];
            let torus = Torus::new(sizes, &[]).unwrap();
            let mut cables = Vec::new();
            for _ in 0..random.random_range(1..=4) {
                let node = random.random_range(0..torus.nodes());
                let direction = random.random_range(0..narrow::<u32>(sizes.len()));
                let known = cables.contains(&(node, direction));
                if torus.neighbor(node, direction).is_some() && !known {
                    cables.push((node, direction));
                }
            }
            let faults = Faults { cables: cables.clone(), ..Faults::default() };
            let whole = torus.fabric(&Faults::default()).unwrap();
            let Ok(fabric) = torus.fabric(&faults) else { continue };
            match with_vcs(&fabric, 2) {
                Ok(table) => {
                    assert!(!cut_twice(&torus, &cables), "{seed}");
                    proved(&fabric, &table);
                    let before = with_vcs(&whole, 2).unwrap();
                    let pairs = (0..torus.nodes())
                        .flat_map(|from| (0..torus.nodes()).map(move |to| (from, to)));
                    for (from, to) in pairs {
                        let class = |fabric, table: &ForwardingTable| table.class(fabric, from, to);
                        assert_eq!(class(&fabric, &table), class(&whole, &before), "{seed}");
                    }
                    outcomes[0] += 1;
                }
                Err(error) => {
                    assert!(cut_twice(&torus, &cables), "{seed}");
                    assert!(error.to_string().contains(" is cut"), "{error}");
                    outcomes[1] += 1;
                }
            }
        }
        assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
    }

    #[test]
    fn any_one_failed_router_is_gone_round() {
        for sizes in [&[6, 5][..], &[3, 3], &[4, 4, 3], &[4, 3, 3, 3]] {
            let torus = Torus::new(sizes, &[]).unwrap();
            for node in 0..torus.nodes() {
                let faults = Faults { nodes: vec![node], ..Faults::default() };
                let fabric = torus.fabric(&faults).unwrap();
                let table = with_vcs(&fabric, 4).unwrap();
                assert!((3..=4).contains(&proved(&fabric, &table).vcs_used()), "{sizes:?}");
                assert!(with_vcs(&fabric, 3).is_err());
            }
        }
    }

    /// The manual's examples: OpenSM refuses the second, since it turns early there, on both sides.
    /// The long way round leads to the far side.
    #[test]
    fn two_failed_neighbors_are_gone_round() {
        let torus = Torus::new(&[6, 6], &[]).unwrap();
        for nodes in [vec![14, 20], vec![14, 15]] {
            let fabric = torus.fabric(&Faults { nodes, ..Faults::default() }).unwrap();
            proved(&fabric, &with_vcs(&fabric, 4).unwrap());
        }
    }

    #[test]
    fn several_failed_routers_are_gone_round_or_refused() {
        let mut outcomes = [0, 0];
        for seed in 0..40 {
            let random = &mut ChaCha8Rng::seed_from_u64(seed);
            let torus =
                Torus::new([&[5, 5][..], &[4, 4, 3]][narrow::<usize>(seed) % 2], &[]).unwrap();
            let lost = 2 + narrow::<usize>(seed) % 3;
            let nodes = (0..lost).map(|_| random.random_range(0..torus.nodes())).collect();
            let Ok(fabric) = torus.fabric(&Faults { nodes, ..Faults::default() }) else { continue };
            match with_vcs(&fabric, 4) {
                Ok(table) => {
                    proved(&fabric, &table);
                    outcomes[0] += 1;
                }
                Err(_) => outcomes[1] += 1,
            }
        }
        assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
    }

    #[test]
    fn of_parallel_cables_the_rest_is_used_evenly() {
        let torus = SwitchedTorus { sizes: vec![4, 4], terminals: 3, redundancy: 3 };
        let mut cabling = torus.cabling().unwrap();
        cabling.remove(&[0, 4]);
        let fabric = cabling.fabric().unwrap();
        let quality = ForwardingQuality::new(&fabric, &generate(Algorithm::TORUS_2QOS, &fabric, 2));
        assert_eq!(quality.hops_mean, quality.least_hops_mean);
        assert!(quality.load.minimum > 0.0);
    }

    #[test]
    fn what_is_no_torus_of_four_dimensions_is_refused() {
        let five = Torus::new(&[3; 5], &[]).unwrap().fabric(&Faults::default()).unwrap();
        let refused = NoTable::Rings { algorithm: NAME, dimensions: 5 };
        assert_eq!(with_vcs(&five, 16).unwrap_err(), refused);
        let text = include_str!("../../../../tests/fabrics/updn24.net");
        let fabric = flitlab_fabric::netlist::Netlist::read(text).unwrap().fabric;
        assert_eq!(with_vcs(&fabric, 16).unwrap_err(), NO_GRID);
    }
}
