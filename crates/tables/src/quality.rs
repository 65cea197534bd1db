//! Quality of a routing table (\[angara-routing\], section 1.1): channel loads and hops.

use rayon::prelude::*;

use super::Region;
use super::load_figures::{LoadFigures, RouteCount};
use super::run_loads::RunLoads;
use flitlab_fabric::{Channel, NONE, breadth_first};
use flitlab_routing::Offsets;
use flitlab_routing::{Header, RouteTable};

/// Figures of a table. A load is the number of pairs whose route crosses a channel; of a pair with
/// several routes each counts as its share of the packets. Channels inside the region count.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Ordered pairs of different nodes that have a route.
    pub routed: u64,
    /// Ordered pairs of different nodes that have no route.
    pub unrouted: u64,
    /// Channels inside the region.
    pub channels: u64,
    /// Figures of the channels' loads.
    pub load: LoadFigures,
    /// Mean hops of a route.
    pub hops_mean: f64,
    /// Most hops of a route.
    pub hops_maximum: u32,
    /// Pairs with several routes.
    pub several: u64,
    /// Routes with a first or a last step.
    pub stepping: u64,
    /// Load of each channel.
    pub loads: Vec<(Channel, f64)>,
}

impl Quality {
    /// The figures of a table that has been [proved](crate::prove), but for missing routes.
    ///
    /// # Panics
    /// If a route does not end where it should.
    pub fn new(region: &Region<'_>, table: &RouteTable) -> Self {
        let offsets = Offsets::new(region.torus());
        let is_whole = region.is_whole_torus();
        let count = Count { region, table, offsets: &offsets, is_whole };
        // Parts are fixed, so that sums of shares do not depend on the threads.
        let part = region.nodes().len().div_ceil(PARTS).max(1);
        let parts: Vec<(RouteCount, u64)> =
            region.nodes().par_chunks(part).map(|sources| count.routes_from(sources)).collect();
        let (count, stepping) =
            parts.into_iter().fold(Default::default(), |(one, stepping), (other, more)| {
                (RouteCount::merge(one, other), stepping + more)
            });
        let RouteCount { routed, unrouted, hops, hops_maximum, least_hops, loads, .. } = count;
        let load_of = |channel: Channel| loads.get(channel as usize).copied().unwrap_or(0.0);
        let loads: Vec<(Channel, f64)> =
            region.channels().map(|channel| (channel, load_of(channel))).collect();
        Self {
            routed,
            unrouted,
            channels: loads.len() as u64,
            load: LoadFigures::new(&loads, least_hops),
            hops_mean: hops as f64 / (routed.max(1)) as f64,
            hops_maximum,
            several: table.pairs_with_several() as u64,
            stepping,
            loads,
        }
    }
}

/// Parts in which sources are looked at in parallel.
const PARTS: usize = 16;

/// What the routes of all sources are counted with.
struct Count<'c, 'f> {
    region: &'c Region<'f>,
    table: &'c RouteTable,
    offsets: &'c Offsets,
    is_whole: bool,
}

impl Count<'_, '_> {
    /// Counts the routes from some sources, and those with steps.
    fn routes_from(&self, sources: &[u32]) -> (RouteCount, u64) {
        let fabric = self.region.fabric();
        let (mut count, mut stepping) = (RouteCount::default(), 0);
        // Loads of single routes are whole numbers, which add up to the same in any order. Shares
        // are added in the order of the pairs.
        let mut runs = RunLoads::new(fabric.coordinates());
        let has_several = self.table.has_several();
        if has_several {
            count.loads = vec![0.0; fabric.channel_slots() as usize];
        }
        let steps = |header: Header| header.first_step().is_some() || header.last_step().is_some();
        for &source in sources {
            let distances = if self.is_whole { Vec::new() } else { distances(self.region, source) };
            let from = self.offsets.place(source);
            for &destination in self.region.nodes().iter().filter(|&&node| node != source) {
                let Some(header) = self.table.header(source, destination) else {
                    count.unrouted += 1;
                    continue;
                };
                let to = self.offsets.place(destination);
                let route = header.route_between(fabric.coordinates(), from, to);
                let route = route.expect("the table has been proved");
                let least = distances.get(destination as usize).copied();
                let least = least.unwrap_or_else(|| self.offsets.hops(source, destination));
                count.add(1, route.hops(), least);
                if !has_several {
                    stepping += u64::from(steps(header));
                    runs.add(source, from, &route);
                    continue;
                }
                let headers = self.table.headers(source, destination);
                stepping += headers.iter().filter(|it| steps(it.0)).count() as u64;
                self.table.for_each_route(fabric, (source, destination), |route, share| {
                    route.for_each_channel(fabric, source, |channel| {
                        count.loads[channel as usize] += share;
                    });
                });
            }
        }
        if !has_several {
            count.loads = runs.by_channel();
        }
        (count, stepping)
    }
}

/// Least hops from a node to every other one inside the region, over any way.
fn distances(region: &Region<'_>, source: u32) -> Vec<u32> {
    let directions = region.torus().directions();
    let mut distances = vec![NONE; region.fabric().routers() as usize];
    let next = |node| (0..directions).filter_map(move |direction| region.step(node, direction));
    breadth_first(source, &mut distances, &mut Vec::new(), next);
    distances
}

#[cfg(test)]
mod tests {
    use super::super::angara::{Choices, Freedoms, sssp};
    use super::*;
    use flitlab_fabric::{Faults, Torus};

    /// On eight nodes \[angara-routing\] has 5, 3 and a sigma(4) of 0.707 for SSSP.
    #[test]
    fn eight_nodes_have_the_published_figures() {
        let fabric = Torus::new(&[4, 2], &[]).unwrap().fabric(&Faults::default()).unwrap();
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let table = choices.table(&sssp(&choices).selection);
        let quality = Quality::new(choices.region(), &table);
        assert_eq!((quality.routed, quality.unrouted, quality.channels), (56, 0, 24));
        assert_eq!((quality.load.maximum, quality.load.minimum), (5.0, 3.0));
        assert_eq!((quality.hops_maximum, quality.load.perfect), (3, 4.0));
        assert!((quality.load.sigma_4 - 0.707).abs() < 0.1, "{}", quality.load.sigma_4);
    }
}
