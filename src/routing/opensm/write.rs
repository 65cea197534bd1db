//! Forwarding tables, written as OpenSM does.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::ForwardingTable;
use crate::topology::netlist::Netlist;

pub(super) fn text(netlist: &Netlist, table: &ForwardingTable) -> String {
    let fabric = &netlist.fabric;
    let given = netlist.adapters.iter().map(|adapter| adapter.lid);
    let given = given.chain(netlist.switches.iter().map(|switch| switch.lid));
    let lids = numbered(&given.collect::<Vec<_>>());
    let (terminals, switches) = lids.split_at(netlist.adapters.len());
    let highest = lids.iter().max().copied().unwrap_or(0);
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
                None if here => fabric.terminal_port(terminal),
                None => continue,
            };
            let (guid, name) = (adapter.port_guid, fabric.terminal_name(terminal));
            let entry = format!("{port:03} # Channel Adapter portguid {guid:#018x}: '{name}'");
            entries.push((terminals[terminal as usize], entry));
        }
        entries.push((lid, format!("000 # Switch portguid {guid:#018x}: '{name}'")));
        entries.sort_unstable();
        for (lid, entry) in &entries {
            writeln!(text, "{lid:#06x} {entry}").expect("a string");
        }
        writeln!(text, "{} lids dumped", entries.len()).expect("a string");
    }
    text
}

/// The identifiers that are given, and the lowest free ones for the others.
fn numbered(given: &[Option<u16>]) -> Vec<u16> {
    let taken: BTreeSet<u16> = given.iter().flatten().copied().collect();
    let mut free = (1..).filter(|lid| !taken.contains(lid));
    given.iter().map(|lid| lid.unwrap_or_else(|| free.next().expect("more than nodes"))).collect()
}
