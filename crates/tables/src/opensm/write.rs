//! Forwarding tables and maps of service levels, written as OpenSM does, and lists of paths'
//! service levels.

use std::fmt::Write as _;

use super::ForwardingTable;
use flitlab_base::narrow::narrow;
use flitlab_fabric::netlist::{Adapter, Netlist};
use flitlab_fabric::{Fabric, NONE, breadth_first};
use flitlab_routing::{SERVICE_LEVELS, VcAssignment};

pub(super) fn text(netlist: &Netlist, table: &ForwardingTable) -> String {
    let fabric = &netlist.fabric;
    let lids = netlist.lids();
    let (terminals, switches) = lids.split_at(netlist.adapters.len());
    let last = |(&first, adapter): (&u16, &Adapter)| first + adapter.lids() - 1;
    let highest = terminals.iter().zip(&netlist.adapters).map(last);
    let highest = highest.chain(switches.iter().copied()).max().unwrap_or(0);
    let to_switches = ports_to_switches(fabric);
    let mut text = String::new();
    for (router, switch) in (0..).zip(&netlist.switches) {
        let name = fabric.router_name(router);
        let (lid, guid) = (switches[router as usize], switch.guid);
        writeln!(
            text,
            "Unicast lids [0-{highest}] of switch Lid {lid} guid {guid:#018x} ('{name}'):"
        )
        .expect("a string");
        let mut entries: Vec<(u16, String)> = Vec::new();
        for (terminal, adapter) in (0..).zip(&netlist.adapters) {
            let here = fabric.terminal_router(terminal) == Some(router);
            let port = match table.channel(fabric, router, terminal) {
                Some(channel) => fabric.port(channel),
                None if here && table.delivers(terminal) => fabric.terminal_port(terminal),
                None => continue,
            };
            let (guid, name) = (adapter.port_guid, fabric.terminal_name(terminal));
            let entry = format!("{port:03} # Channel Adapter portguid {guid:#018x}: '{name}'");
            let first = terminals[terminal as usize];
            // A way for each of its LIDs: without one, packets to that LID would be dropped.
            entries.extend((first..first + adapter.lids()).map(|lid| (lid, entry.clone())));
        }
        for ((to, other), &port) in (0..).zip(&netlist.switches).zip(&to_switches[router as usize])
        {
            let Some(port) = port else { continue };
            let (guid, name) = (other.guid, fabric.router_name(to));
            let entry = format!("{port:03} # Switch portguid {guid:#018x}: '{name}'");
            entries.push((switches[to as usize], entry));
        }
        entries.sort_unstable();
        for (lid, entry) in &entries {
            writeln!(text, "{lid:#06x} {entry}").expect("a string");
        }
        writeln!(text, "{} lids dumped", entries.len()).expect("a string");
    }
    text
}

/// By which port each switch sends packets to each other one on a shortest way, the lowest of
/// several, and 0 to itself; `None` where there is no way. Who asks a switch takes these ways; that
/// they might close a cycle with those of the table is not looked at.
fn ports_to_switches(fabric: &Fabric) -> Vec<Vec<Option<u16>>> {
    let count = fabric.routers() as usize;
    let mut ports = vec![vec![None; count]; count];
    let (mut hops, mut order) = (vec![NONE; count], Vec::new());
    let neighbours = |router: u32| fabric.outputs(router).filter_map(|at| fabric.target(at));
    for to in 0..fabric.routers() {
        // Cables go both ways.
        breadth_first(to, &mut hops, &mut order, neighbours);
        for &from in &order[1..] {
            let nearer = |&channel: &u32| {
                fabric.target(channel).is_some_and(|far| hops[far as usize] < hops[from as usize])
            };
            let first =
                fabric.outputs(from).filter(nearer).map(|channel| fabric.port(channel)).min();
            ports[from as usize][to as usize] = first;
        }
        ports[to as usize][to as usize] = Some(0);
    }
    ports
}

/// The map of service levels at each switch, and the service level of each path that has not 0;
/// `None` where packets take one virtual channel or none follows from a service level.
pub(super) fn levels(netlist: &Netlist, table: &ForwardingTable) -> Option<(String, String)> {
    match table.vc_assignment() {
        VcAssignment::One | VcAssignment::ByHop(_) => None,
        VcAssignment::ByDestination(_)
        | VcAssignment::ByPair(_)
        | VcAssignment::ByServiceLevel(_) => {
            let lids = netlist.lids();
            Some((map(netlist, table, &lids), paths(netlist, table, &lids)))
        }
    }
}

fn map(netlist: &Netlist, table: &ForwardingTable, lids: &[u16]) -> String {
    let fabric = &netlist.fabric;
    let (count, rule) = (table.vc_count(), format!("#{}", "-".repeat(56)));
    let numbers: Vec<String> = (0..SERVICE_LEVELS).map(|level| format!("{level:<2}")).collect();
    let mut text = String::new();
    for (router, switch) in (0..).zip(&netlist.switches) {
        let (guid, lid) = (switch.guid, lids[netlist.adapters.len() + router as usize]);
        let name = fabric.router_name(router);
        writeln!(text, "Switch {guid:#018x}, base LID {lid}, \"{name}\"").expect("a string");
        writeln!(text, "#in out : {}\n{rule}", numbers.join(" ")).expect("a string");
        // The hardware's port numbers, with those of the fabric; behind port 0 is the switch
        // itself.
        let channels = fabric.outputs(router).filter(|&at| fabric.target(at).is_some());
        let first = fabric.outputs(router).start;
        let channels = channels.map(|at| (fabric.port(at), Some(narrow(at - first))));
        let terminals = fabric
            .live_terminals()
            .filter(|&at| fabric.terminal_router(at) == Some(router))
            .map(|at| (fabric.terminal_port(at), None));
        let mut ports: Vec<(u16, Option<u16>)> = channels.chain(terminals).collect();
        ports.sort_unstable();
        for &(output, to) in &ports {
            for &(input, from) in [(0, None)].iter().chain(&ports) {
                write!(text, "{input:<3} {output:<3} :").expect("a string");
                for level in 0..narrow(SERVICE_LEVELS) {
                    let vc = match (table.vc_assignment(), to) {
                        (VcAssignment::ByServiceLevel(levels), Some(to)) => {
                            levels.vc(router, from, to, level)
                        }
                        _ => level % count,
                    };
                    write!(text, " {vc:<2}").expect("a string");
                }
                text.push('\n');
            }
        }
        writeln!(text, "{rule}\n").expect("a string");
    }
    text
}

fn paths(netlist: &Netlist, table: &ForwardingTable, lids: &[u16]) -> String {
    let fabric = &netlist.fabric;
    let mut text =
        String::from("# source LID, destination LID, service level; 0 where not listed\n");
    for source in fabric.live_terminals() {
        let router = fabric.terminal_router(source).expect("live");
        for destination in fabric.live_terminals() {
            let level = table.class(fabric, source, destination);
            if level > 0 && table.port(router, destination).is_some() {
                let (from, to) = (lids[source as usize], lids[destination as usize]);
                writeln!(text, "{from} {to} {level}").expect("a string");
            }
        }
    }
    text
}
