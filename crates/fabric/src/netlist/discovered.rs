//! A netlist as `ibnetdiscover` writes it.

use std::fmt::Write as _;

use super::speed::{remark, written};
use super::{End, Netlist};

pub(super) fn text(netlist: &Netlist) -> String {
    let fabric = &netlist.fabric;
    let lids = netlist.lids();
    let (of_terminals, of_switches) = lids.split_at(netlist.adapters.len());
    let switch_id = |router: u32| format!("\"S-{:016x}\"", netlist.switches[router as usize].guid);
    let adapter_id = |guid: u64| format!("\"H-{guid:016x}\"");
    let mut text = String::from("#\n# Topology file: written by flitlab\n#\n") + remark(fabric);
    for (router, ends) in (0..).zip(netlist.ends()) {
        let switch = &netlist.switches[router as usize];
        let (guid, lid) = (switch.guid, of_switches[router as usize]);
        let (name, id) = (fabric.router_name(router), switch_id(router));
        writeln!(
            text,
            "\nvendid=0x0\ndevid=0x0\nsysimgguid={guid:#x}\nswitchguid={guid:#x}({guid:x})\n\
             Switch\t{} {id}\t\t# \"{name}\" base port 0 lid {lid} lmc 0",
            switch.ports
        )
        .expect("a string");
        for (port, end) in ends {
            let rate = written(netlist.rate(router, port, end));
            match end {
                End::Switch { router: far, port: far_port } => {
                    let (id, name) = (switch_id(far), fabric.router_name(far));
                    let lid = of_switches[far as usize];
                    writeln!(text, "[{port}]\t{id}[{far_port}]\t\t# \"{name}\" lid {lid} {rate}")
                }
                End::Adapter { terminal } => {
                    let adapter = &netlist.adapters[terminal as usize];
                    let (id, name) = (adapter_id(adapter.guid), netlist.node_name(terminal));
                    let (far_port, port_guid) = (adapter.port, adapter.port_guid);
                    let lid = of_terminals[terminal as usize];
                    writeln!(
                        text,
                        "[{port}]\t{id}[{far_port}]({port_guid:x}) \t\t# \"{name}\" lid {lid} {rate}"
                    )
                }
            }
            .expect("a string");
        }
    }
    for node in netlist.nodes() {
        let guid = netlist.adapters[node[0].0 as usize].guid;
        let (ports, id) = (netlist.ports(&node), adapter_id(guid));
        let name = netlist.node_name(node[0].0);
        writeln!(
            text,
            "\nvendid=0x0\ndevid=0x0\nsysimgguid={guid:#x}\ncaguid={guid:#x}\n\
             Ca\t{ports} {id}\t\t# \"{name}\""
        )
        .expect("a string");
        for (terminal, router) in node {
            let adapter = &netlist.adapters[terminal as usize];
            let (port, port_guid) = (adapter.port, adapter.port_guid);
            let (far, far_port) = (switch_id(router), fabric.terminal_port(terminal));
            let (lid, far_lid) = (of_terminals[terminal as usize], of_switches[router as usize]);
            let (name, lmc) = (fabric.router_name(router), adapter.lmc);
            let rate = written(fabric.terminal_cable(terminal).rate);
            writeln!(
                text,
                "[{port}]({port_guid:x}) \t{far}[{far_port}]\t\t# lid {lid} lmc {lmc} \"{name}\" lid {far_lid} {rate}"
            )
            .expect("a string");
        }
    }
    text
}
