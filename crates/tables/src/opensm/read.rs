//! Dumps of forwarding tables, read.
//!
//! A switch has one table, and in it one entry for a LID: what stands twice is refused with both
//! lines, even if both say the same. A LID without an entry, or with port 255, has no way from
//! there; that holds at a terminal's own switch, too.

use std::collections::{BTreeSet, HashMap};

use super::Dump;
use super::directory::{Directory, Far, hexadecimal, number_behind};
use super::identity::{Identities, Node};
use flitlab_base::InvalidLine;
use flitlab_base::memory::claim;
use flitlab_fabric::netlist::Netlist;
use flitlab_routing::ForwardingTable;

/// A port of a forwarding table behind which packets are dropped.
const NOWHERE: u16 = 255;

pub(super) fn read(netlist: &Netlist, text: &str, path_bits: u16) -> Result<Dump, InvalidLine> {
    let fabric = &netlist.fabric;
    let pairs = u64::from(fabric.routers()).saturating_mul(fabric.terminals().into());
    claim("the tables of this fabric", pairs.saturating_mul(2))
        .map_err(|shortage| InvalidLine::new(1, format!("{shortage}: {}", shortage.help())))?;
    let directory = Directory::new(netlist);
    let mut reader = Reader {
        netlist,
        directory: &directory,
        path_bits,
        identities: Identities::new(netlist),
        tables: HashMap::new(),
        entries: HashMap::new(),
        left_out: netlist.left_out.iter().filter_map(|it| it.lid).collect(),
        table: ForwardingTable::empty(&netlist.fabric),
    };
    for terminal in netlist.fabric.live_terminals() {
        reader.table.withhold(terminal, true);
    }
    let mut router = None;
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |message: String| InvalidLine::new(number, message);
        let line = line.trim();
        if line.contains("Unicast lids") {
            router = Some(reader.switch(line, " guid ", number).map_err(wrong)?);
        } else if OF_FDBS.iter().any(|begin| line.starts_with(begin)) {
            router = Some(reader.switch(line, "Switch ", number).map_err(wrong)?);
        } else if let Some(other) = OTHERS.iter().find(|other| line.starts_with(other.0)) {
            let message = format!(
                "these are {}; forwarding tables are in opensm-lfts.dump or opensm.fdbs",
                other.1
            );
            return Err(wrong(message));
        } else if line.starts_with("0x") {
            let router =
                router.ok_or_else(|| wrong("an entry without a switch above it".into()))?;
            reader.entry(router, line, number).map_err(wrong)?;
        }
    }
    if router.is_none() {
        let message = "there is no forwarding table here, such as `opensm-lfts.dump` has";
        return Err(InvalidLine::new(1, message));
    }
    let Reader { identities, left_out, table, .. } = reader;
    Ok(Dump { lids: identities.terminals(), path_bits, left_out, table })
}

/// How the header of a switch begins in opensm.fdbs, and in ibdiagnet.fdbs.
const OF_FDBS: [&str; 2] = ["dump_ucast_routes: ", "osm_ucast_mgr_dump_ucast_routes: "];

/// How other dumps of OpenSM and its tools begin, and what they have.
const OTHERS: [(&str, &str); 4] = [
    ("Switch: guid ", "counts of hops (opensm-lid-matrix.dump)"),
    ("LID    : Out Port(s)", "tables for multicast (opensm.mcfdbs)"),
    ("Multicast mlids", "tables for multicast"),
    ("dump_ucast_path_distribution: ", "counts of paths"),
];

/// The part of a dump that has been read so far.
struct Reader<'n> {
    netlist: &'n Netlist,
    directory: &'n Directory,
    /// Which of a port's LIDs packets are sent to.
    path_bits: u16,
    identities: Identities<'n>,
    /// The lines of the switches' headers, and of their entries by router and LID.
    tables: HashMap<u32, usize>,
    entries: HashMap<(u32, u16), usize>,
    /// The LIDs of adapters that the netlist leaves out. Entries for them are skipped.
    left_out: BTreeSet<u16>,
    table: ForwardingTable,
}

impl Reader<'_> {
    /// The header of a switch's table, with its guid behind a word.
    fn switch(&mut self, line: &str, word: &str, number: usize) -> Result<u32, String> {
        let guid = number_behind(line, word).ok_or("a switch's header without its guid")?;
        let router = self.directory.routers.get(&guid);
        let &router = router.ok_or_else(|| format!("the netlist has no switch {guid:#x}"))?;
        if let Some(earlier) = self.tables.insert(router, number) {
            let name = self.netlist.fabric.router_name(router);
            return Err(format!(
                "a second table of {name}, after that in line {earlier}: a switch has one"
            ));
        }
        if let Some((_, lid)) = line.split_once("switch Lid ") {
            let lid = lid.split_whitespace().next().and_then(|lid| lid.parse().ok());
            let lid = lid.ok_or("behind `switch Lid` there is no local identifier")?;
            self.identities.note(Node::Router(router), lid, number)?;
        }
        Ok(router)
    }

    /// A line of a switch's table: LID, port, and whose LID that is. In opensm.fdbs a colon stands
    /// between the first two, and only the netlist says whose it is.
    fn entry(&mut self, router: u32, line: &str, number: usize) -> Result<(), String> {
        let mut words = line.split_whitespace();
        let lid = words.next().and_then(hexadecimal).and_then(|lid| u16::try_from(lid).ok());
        let lid = lid.ok_or("the local identifier is none")?;
        let mut second = words.next();
        let of_fdbs = second == Some(":");
        if of_fdbs {
            second = words.next();
        }
        // Of a port that is gone, or a local identifier that no port has, OpenSM knows no more.
        if second == Some("UNREACHABLE") || line.ends_with("unknown node and type") {
            return Ok(());
        }
        let port: Option<u16> = second.and_then(|word| word.parse().ok());
        let port = port.ok_or("behind the local identifier there is no port's number")?;
        if of_fdbs && self.left_out.contains(&lid) {
            return Ok(());
        }
        if of_fdbs {
            return match self.identities.node(lid) {
                Some(node) => self.enter(router, (lid, port), node, number),
                None => Err(format!(
                    "opensm.fdbs names destinations by their LIDs, and the netlist has no {lid:#06x}: take the \
                     netlist from ibnetdiscover, of the same time and with each port's `lmc`, or the tables from \
                     opensm-lfts.dump"
                )),
            };
        }
        let Some(guid) = number_behind(line, "portguid ") else {
            return Err("the destination's portguid is missing: dump without -n".into());
        };
        if self.directory.left_out.contains(&guid) {
            self.left_out.insert(lid);
            return Ok(());
        }
        let node = match (self.directory.routers.get(&guid), self.directory.terminals.get(&guid)) {
            (Some(&router), _) => Node::Router(router),
            (None, Some(&terminal)) => Node::Terminal(terminal),
            (None, None) => {
                return Err(format!("the netlist has no adapter with port guid {guid:#x}"));
            }
        };
        self.enter(router, (lid, port), node, number)
    }

    /// Packets for a node leave a router by this port.
    fn enter(
        &mut self,
        router: u32,
        (lid, port): (u16, u16),
        node: Node,
        number: usize,
    ) -> Result<(), String> {
        self.identities.note(node, lid, number)?;
        if let Some(earlier) = self.entries.insert((router, lid), number) {
            let name = self.netlist.fabric.router_name(router);
            return Err(format!(
                "a second entry of {name} for LID {lid:#06x}, after that in line {earlier}"
            ));
        }
        // Of a port with fewer LIDs the path bits that it knows.
        let is_followed = |terminal: u32| {
            let lids = self.netlist.adapters[terminal as usize].lids();
            self.identities.path_bits(terminal, lid) == self.path_bits % lids
        };
        if let Node::Terminal(terminal) = node
            && port != NOWHERE
            && is_followed(terminal)
        {
            let output = self.output(router, terminal, port)?;
            self.table.set(router, terminal, output);
            if output.is_none() {
                self.table.withhold(terminal, false);
            }
        }
        Ok(())
    }

    /// The fabric's output port of an entry; `None` where the packet is there.
    fn output(&self, router: u32, terminal: u32, port: u16) -> Result<Option<u16>, String> {
        let fabric = &self.netlist.fabric;
        let name = fabric.terminal_name(terminal);
        match self.directory.far(router, port) {
            None => Err(format!("{} has no cable at port {port}", fabric.router_name(router))),
            Some(Far::Router(_)) if fabric.terminal_router(terminal) == Some(router) => {
                Err(format!("packets for {name} are sent away from its switch"))
            }
            Some(Far::Router(output)) => Ok(Some(output)),
            Some(Far::Terminal(there)) if there == terminal => Ok(None),
            Some(Far::Terminal(other)) => {
                Err(format!("packets for {name} are delivered to {}", fabric.terminal_name(other)))
            }
        }
    }
}
