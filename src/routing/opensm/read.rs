//! Dumps of forwarding tables, read.

use super::Dump;
use super::directory::{Directory, Far, hexadecimal, number_behind};
use crate::InvalidLine;
use crate::routing::ForwardingTable;
use crate::topology::netlist::Netlist;

pub(super) fn read(netlist: &Netlist, text: &str) -> Result<Dump, InvalidLine> {
    let directory = Directory::new(netlist);
    let mut dump = Dump {
        table: ForwardingTable::empty(&netlist.fabric),
        lids: netlist.adapters.iter().map(|adapter| adapter.lid).collect(),
    };
    let mut router = None;
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |message: String| InvalidLine::new(number, message);
        let line = line.trim();
        if line.contains("Unicast lids") {
            let guid = number_behind(line, " guid ")
                .ok_or_else(|| wrong("a switch's header without its guid".into()))?;
            let known = directory.routers.get(&guid);
            router =
                Some(*known.ok_or_else(|| wrong(format!("the netlist has no switch {guid:#x}")))?);
        } else if line.starts_with("0x") {
            let router =
                router.ok_or_else(|| wrong("an entry without a switch above it".into()))?;
            if let Some(entry) = entry(line, &directory).map_err(wrong)? {
                let port = output(&directory, netlist, router, entry).map_err(wrong)?;
                dump.table.set(router, entry.terminal, port);
                dump.lids[entry.terminal as usize] = Some(entry.lid);
            }
        }
    }
    if router.is_none() {
        let message = "there is no forwarding table here, such as `opensm-lfts.dump` has";
        return Err(InvalidLine::new(1, message));
    }
    Ok(dump)
}

/// A line of a switch's table.
#[derive(Clone, Copy)]
struct Entry {
    lid: u16,
    port: u16,
    terminal: u32,
}

/// `None` for the way to a switch.
fn entry(line: &str, directory: &Directory) -> Result<Option<Entry>, String> {
    let mut words = line.split_whitespace();
    let lid = words.next().and_then(hexadecimal).and_then(|lid| u16::try_from(lid).ok());
    let lid = lid.ok_or("the local identifier is none")?;
    let port = words.next().and_then(|word| word.parse().ok());
    let port = port.ok_or("behind the local identifier there is no port's number")?;
    let Some(guid) = number_behind(line, "portguid ") else {
        return Err("the destination's portguid is missing: dump without -n".into());
    };
    if directory.routers.contains_key(&guid) {
        return Ok(None);
    }
    match directory.terminals.get(&guid) {
        Some(&terminal) => Ok(Some(Entry { lid, port, terminal })),
        None => Err(format!("the netlist has no adapter with port guid {guid:#x}")),
    }
}

/// The fabric's output port of an entry; `None` where the packet is there.
fn output(
    directory: &Directory,
    netlist: &Netlist,
    router: u32,
    entry: Entry,
) -> Result<Option<u16>, String> {
    let fabric = &netlist.fabric;
    let name = fabric.terminal_name(entry.terminal);
    match directory.far(router, entry.port) {
        None => {
            let router = fabric.router_name(router);
            Err(format!("{router} has no cable at port {}", entry.port))
        }
        Some(Far::Router(_)) if fabric.terminal_router(entry.terminal) == Some(router) => {
            Err(format!("packets for {name} are sent away from its switch"))
        }
        Some(Far::Router(output)) => Ok(Some(output)),
        Some(Far::Terminal(terminal)) if terminal == entry.terminal => Ok(None),
        Some(Far::Terminal(other)) => {
            Err(format!("packets for {name} are delivered to {}", fabric.terminal_name(other)))
        }
    }
}
