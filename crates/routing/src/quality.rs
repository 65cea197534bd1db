//! Quality of a routing table (\[angara-routing\], section 1.1): channel loads and hops.

use rayon::prelude::*;

use super::load_figures::{LoadFigures, RouteCount};
use super::{Region, RouteTable};
use flitlab_fabric::{Channel, NONE, breadth_first};

/// Figures of a table. A load is the number of routes that cross a channel; channels inside the
/// region count.
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
    /// Routes with a first or a last step.
    pub stepping: u64,
    /// Load of each channel.
    pub loads: Vec<(Channel, u64)>,
}

impl Quality {
    /// The figures of a table whose routes end where they should.
    ///
    /// # Panics
    /// If a route does not.
    pub fn new(region: &Region<'_>, table: &RouteTable) -> Self {
        let sources = region.nodes().par_iter();
        let (count, stepping) = sources
            .fold(Default::default, |counts, &source| with_source(counts, region, table, source))
            .reduce(Default::default, |(one, stepping), (other, more)| {
                (one.merge(other), stepping + more)
            });
        let RouteCount { routed, unrouted, hops, hops_maximum, least_hops, loads, .. } = count;
        let load_of = |channel: Channel| loads.get(channel as usize).copied().unwrap_or(0);
        let loads: Vec<(Channel, u64)> =
            region.channels().map(|channel| (channel, load_of(channel))).collect();
        Self {
            routed,
            unrouted,
            channels: loads.len() as u64,
            load: LoadFigures::new(&loads, least_hops),
            hops_mean: hops as f64 / (routed.max(1)) as f64,
            hops_maximum,
            stepping,
            loads,
        }
    }
}

/// Adds the routes of a source to those that are counted, and those with steps to those with steps.
fn with_source(
    (mut count, mut stepping): (RouteCount, u64),
    region: &Region<'_>,
    table: &RouteTable,
    source: u32,
) -> (RouteCount, u64) {
    let fabric = region.fabric();
    count.loads.resize(fabric.channel_slots() as usize, 0);
    let distances = distances(region, source);
    for &destination in region.nodes().iter().filter(|&&node| node != source) {
        let Some(header) = table.header(source, destination) else {
            count.unrouted += 1;
            continue;
        };
        let steps = header.first_step().is_some() || header.last_step().is_some();
        stepping += u64::from(steps);
        let route = table.route(fabric, source, destination);
        count.add(1, route.hops(), distances[destination as usize]);
        let mut at = source;
        for port in route.ports() {
            let channel = region.channel(at, u32::from(port));
            count.loads[channel as usize] += 1;
            at = fabric.target(channel).expect("routes use channels that exist");
        }
    }
    (count, stepping)
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
        assert_eq!((quality.load.maximum, quality.load.minimum), (5, 3));
        assert_eq!((quality.hops_maximum, quality.load.perfect), (3, 4.0));
        assert!((quality.load.sigma_4 - 0.707).abs() < 0.1, "{}", quality.load.sigma_4);
    }
}
