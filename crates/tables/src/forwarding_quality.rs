//! Quality of a forwarding table: the load of each channel if every terminal sends one unit to
//! every other.

use rayon::prelude::*;

use super::load_figures::{LoadFigures, RouteCount};
use flitlab_base::narrow::rounded;
use flitlab_fabric::{Channel, Fabric, NONE, breadth_first};
use flitlab_routing::ForwardingTable;

/// Figures of a forwarding table whose routes end where they should. The load of a channel between
/// routers is the number of ordered pairs of terminals whose path takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ForwardingQuality {
    /// Ordered pairs of different live terminals that have a way.
    pub routed: u64,
    /// Ordered pairs of different live terminals that have no way.
    pub unrouted: u64,
    /// Channels between routers that are alive.
    pub channels: u64,
    /// Figures of the channels' loads.
    pub load: LoadFigures,
    /// Mean hops between routers, over routed pairs; a pair of terminals of one router has 0.
    pub hops_mean: f64,
    /// Most hops between routers of a routed pair.
    pub hops_maximum: u32,
    /// Mean hops of a routed pair if every path had the least hops.
    pub least_hops_mean: f64,
    /// Most hops of a routed pair if every path had the least hops.
    pub least_hops_maximum: u32,
    /// Load of each channel.
    pub loads: Vec<(Channel, f64)>,
}

impl ForwardingQuality {
    /// The figures of a table. Routes that end elsewhere or in a loop count as none.
    pub fn new(fabric: &Fabric, table: &ForwardingTable) -> Self {
        let terminals: Vec<u32> = fabric.live_terminals().collect();
        let senders = fabric.terminals_by_router();
        let senders: Vec<u64> = senders.iter().map(|own| own.len() as u64).collect();
        let count = terminals
            .par_iter()
            .fold(RouteCount::default, |count, &terminal| {
                with_destination(count, fabric, table, &senders, terminal)
            })
            .reduce(RouteCount::default, RouteCount::merge);
        let channels = (0..fabric.channel_slots()).filter(|&at| fabric.target(at).is_some());
        let load_of = |channel: Channel| {
            let pairs = count.loads.get(channel as usize).copied().unwrap_or(0.0);
            fabric.cable(channel).rate.slowed(rounded(pairs)) as f64
        };
        let loads: Vec<(Channel, f64)> =
            channels.map(|channel| (channel, load_of(channel))).collect();
        let a_pair = |hops: u64| hops as f64 / count.routed.max(1) as f64;
        Self {
            routed: count.routed,
            unrouted: count.unrouted,
            channels: loads.len() as u64,
            load: LoadFigures::new(&loads, count.least_hops),
            hops_mean: a_pair(count.hops),
            hops_maximum: count.hops_maximum,
            least_hops_mean: a_pair(count.least_hops),
            least_hops_maximum: count.least_maximum,
            loads,
        }
    }
}

/// Adds the ways to a destination to those that are counted.
fn with_destination(
    mut count: RouteCount,
    fabric: &Fabric,
    table: &ForwardingTable,
    senders: &[u64],
    terminal: u32,
) -> RouteCount {
    count.loads.resize(fabric.channel_slots() as usize, 0.0);
    if !table.delivers(terminal) {
        count.unrouted += senders.iter().sum::<u64>() - 1;
        return count;
    }
    let end = fabric.terminal_router(terminal).expect("live terminals only");
    let least = least_hops(fabric, end);
    // Routers from which the ports lead to the terminal, from there outwards.
    let way = |router: u32| {
        let channel = table.channel(fabric, router, terminal)?;
        (channel < fabric.outputs(router).end).then(|| fabric.target(channel)).flatten()?;
        Some(channel)
    };
    let leading_here = |router: u32| {
        let leads_here = |back: &Channel| {
            fabric.target(*back).is_some_and(|from| way(from) == fabric.opposite(*back))
        };
        fabric.outputs(router).filter(leads_here).filter_map(|back| fabric.target(back))
    };
    let (mut hops, mut order) = (vec![NONE; senders.len()], Vec::new());
    breadth_first(end, &mut hops, &mut order, leading_here);
    let mut flow = senders.to_vec();
    flow[end as usize] -= 1;
    for &router in order.iter().rev() {
        let at = router as usize;
        let own = senders[at] - u64::from(router == end);
        count.add(own, hops[at], least[at]);
        if let Some(channel) = way(router).filter(|_| router != end) {
            count.loads[channel as usize] += flow[at] as f64;
            let next = fabric.target(channel).expect("the channel leads somewhere");
            flow[next as usize] += flow[at];
        }
    }
    let lost = (0..senders.len()).filter(|&at| hops[at] == NONE);
    count.unrouted += lost.map(|at| senders[at]).sum::<u64>();
    count
}

/// Least hops from every router to one, over any way.
fn least_hops(fabric: &Fabric, end: u32) -> Vec<u32> {
    let mut hops = vec![NONE; fabric.routers() as usize];
    breadth_first(end, &mut hops, &mut Vec::new(), |at| fabric.neighbors(at));
    hops
}
