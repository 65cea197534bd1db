//! A netlist as ibsim reads it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::speed::{options, remark};
use super::{Adapter, End, Netlist};

pub(super) fn text(netlist: &Netlist) -> String {
    let fabric = &netlist.fabric;
    let mut text = format!(
        "# {} switches, {} terminals, {} cables between switches\n",
        fabric.routers(),
        fabric.live_terminals().count(),
        fabric.channels() / 2
    ) + remark(fabric);
    let named = names_will_do(netlist);
    let id = |letter: char, name: String, guid: u64| {
        if named { name } else { format!("{letter}{guid:x}") }
    };
    let adapter = |terminal: u32| {
        id('H', netlist.node_name(terminal), netlist.adapters[terminal as usize].guid)
    };
    let switch =
        |router: u32| id('S', fabric.router_name(router), netlist.switches[router as usize].guid);
    let described = |name: &str| if named { String::new() } else { format!("\t# \"{name}\"") };
    for (router, ends) in (0..).zip(netlist.ends()) {
        let identifiers = &netlist.switches[router as usize];
        let description = described(&fabric.router_name(router));
        let header = format!("Switch\t{} \"{}\"{description}", identifiers.ports, switch(router));
        writeln!(text, "\nswitchguid={:#x}\n{header}", identifiers.guid).expect("a string");
        for (port, end) in ends {
            let (node, far) = match end {
                End::Switch { router, port } => (switch(router), port),
                End::Adapter { terminal } => {
                    (adapter(terminal), netlist.adapters[terminal as usize].port)
                }
            };
            let rate = options(netlist.rate(router, port, end));
            writeln!(text, "[{port}]\t\"{node}\"[{far}]{rate}").expect("a string");
        }
    }
    for node in netlist.nodes() {
        let guid = netlist.adapters[node[0].0 as usize].guid;
        let description = described(&netlist.node_name(node[0].0));
        let header =
            format!("Hca\t{} \"{}\"{description}", netlist.ports(&node), adapter(node[0].0));
        writeln!(text, "\nhcaguids={guid:#x}\n{header}").expect("a string");
        for (terminal, router) in node {
            let Adapter { port, port_guid, .. } = netlist.adapters[terminal as usize];
            let far = fabric.terminal_port(terminal);
            // ibsim numbers the ports from the node's identifier, and skips those that are written.
            let counted = guid.checked_add(port.into()) == Some(port_guid);
            let own = if counted { String::new() } else { format!("({port_guid:x})") };
            let rate = options(fabric.terminal_cable(terminal).rate);
            writeln!(text, "[{port}]{own}\t\"{}\"[{far}]{rate}", switch(router)).expect("a string");
        }
    }
    text
}

/// Whether names can stand for the nodes: all differ, no adapter has several ports, and no name has
/// a character with a meaning in ibsim.
fn names_will_do(netlist: &Netlist) -> bool {
    let fabric = &netlist.fabric;
    let routers = (0..fabric.routers()).map(|router| fabric.router_name(router));
    let adapters = (0..fabric.terminals()).map(|terminal| netlist.node_name(terminal));
    let names: Vec<String> = routers.chain(adapters).collect();
    let distinct: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let guids: BTreeSet<u64> = netlist.adapters.iter().map(|adapter| adapter.guid).collect();
    distinct.len() == names.len()
        && guids.len() == netlist.adapters.len()
        && names.iter().all(|name| !name.contains(['"', '#', '@']) && name.len() < 64)
}
