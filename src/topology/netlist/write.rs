//! A netlist as ibsim reads it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Netlist;

/// What is at the end of a port's cable: a node's name and port.
type End = (String, u16);

pub(super) fn text(netlist: &Netlist) -> String {
    let fabric = &netlist.fabric;
    let mut text = format!(
        "# {} switches, {} terminals, {} cables between switches\n",
        fabric.routers(),
        fabric.live_terminals().count(),
        fabric.channels() / 2
    );
    let named = names_will_do(netlist);
    let id = |letter: char, name: String, guid: u64| {
        if named { name } else { format!("{letter}{guid:x}") }
    };
    let adapter = |terminal: u32| {
        id('H', fabric.terminal_name(terminal), netlist.adapters[terminal as usize].guid)
    };
    let switch =
        |router: u32| id('S', fabric.router_name(router), netlist.switches[router as usize].guid);
    let described = |name: &str| if named { String::new() } else { format!("\t# \"{name}\"") };
    let mut ends: Vec<Vec<(u16, End)>> = vec![Vec::new(); fabric.routers() as usize];
    for router in 0..fabric.routers() {
        for channel in fabric.outputs(router) {
            if let (Some(far), Some(back)) = (fabric.target(channel), fabric.opposite(channel)) {
                let end = (switch(far), fabric.port(back));
                ends[router as usize].push((fabric.port(channel), end));
            }
        }
    }
    let live = || {
        (0..).zip(&netlist.adapters).filter_map(|(terminal, identifiers)| {
            Some((terminal, identifiers, fabric.terminal_router(terminal)?))
        })
    };
    for (terminal, identifiers, router) in live() {
        let end = (adapter(terminal), identifiers.port);
        ends[router as usize].push((fabric.terminal_port(terminal), end));
    }
    let line = |text: &mut String, port: u16, (node, far): &End| {
        writeln!(text, "[{port}]\t\"{node}\"[{far}]").expect("a string");
    };
    for (router, mut ends) in (0..).zip(ends) {
        let identifiers = &netlist.switches[router as usize];
        ends.sort_unstable();
        let description = described(&fabric.router_name(router));
        let header = format!("Switch\t{} \"{}\"{description}", identifiers.ports, switch(router));
        writeln!(text, "\nswitchguid={:#x}\n{header}", identifiers.guid).expect("a string");
        ends.iter().for_each(|(port, end)| line(&mut text, *port, end));
    }
    let mut node = None;
    for (terminal, identifiers, router) in live() {
        if node != Some(identifiers.guid) {
            node = Some(identifiers.guid);
            let ports = most_port(netlist, identifiers.guid);
            let name = fabric.terminal_name(terminal);
            let of_port = format!(" port {}", identifiers.port);
            let description = described(name.strip_suffix(&of_port).unwrap_or(&name));
            let header = format!("Hca\t{ports} \"{}\"{description}", adapter(terminal));
            writeln!(text, "\nhcaguids={:#x}\n{header}", identifiers.guid).expect("a string");
        }
        let end = (switch(router), fabric.terminal_port(terminal));
        line(&mut text, identifiers.port, &end);
    }
    text
}

/// The highest connected port of an adapter.
fn most_port(netlist: &Netlist, guid: u64) -> u16 {
    let of_node = netlist.adapters.iter().filter(|adapter| adapter.guid == guid);
    of_node.map(|adapter| adapter.port).max().unwrap_or(1)
}

/// Whether names can stand for the nodes: none twice, no adapter with several ports, and nothing in them that
/// means something else to ibsim.
fn names_will_do(netlist: &Netlist) -> bool {
    let fabric = &netlist.fabric;
    let routers = (0..fabric.routers()).map(|router| fabric.router_name(router));
    let terminals = (0..fabric.terminals()).map(|terminal| fabric.terminal_name(terminal));
    let names: Vec<String> = routers.chain(terminals).collect();
    let distinct: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let guids: BTreeSet<u64> = netlist.adapters.iter().map(|adapter| adapter.guid).collect();
    distinct.len() == names.len()
        && guids.len() == netlist.adapters.len()
        && names.iter().all(|name| !name.contains(['"', '#', '@']) && name.len() < 64)
}
