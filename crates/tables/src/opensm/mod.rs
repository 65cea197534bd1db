//! Forwarding tables as OpenSM and infiniband-diags write them, for a fabric that a netlist
//! describes.
//!
//! Read are `opensm-lfts.dump` and `opensm.fdbs` (OpenSM 3.3, written with log flag 0x40) and the
//! output of `ibroute` and `dump_fts` (infiniband-diags 44); `opensm-sl2vl.dump`, from which each
//! switch's map of service levels to virtual lanes comes; and a list of paths' service levels, a
//! line each with the local identifiers (LIDs) of source and destination and the service level,
//! which OpenSM keeps to itself and `saquery` tells. Written are the same forms; OpenSM reads its
//! `opensm-lfts.dump` back (`-R file -U`).
//!
//! Of a port with several LIDs (LMC above 0) the tables of one are followed. Ways to switches
//! themselves, which management packets take, are written, shortest ones, and not read. Those to
//! adapters that the netlist leaves out are skipped.

mod directory;
mod identity;
mod map;
mod path_levels;
mod read;
mod write;

use std::collections::BTreeSet;

use flitlab_base::InvalidLine;
use flitlab_fabric::netlist::Netlist;
use flitlab_routing::ForwardingTable;

pub use path_levels::PathLevels;

/// A table with the local identifiers that its dump gives to the terminals.
#[derive(Clone, Debug)]
pub struct Dump {
    /// The table that the dump holds.
    pub table: ForwardingTable,
    /// By terminal, of several the first; `None` where the dump does not name it.
    pub lids: Vec<Option<u16>>,
    /// Which of a port's LIDs packets are sent to.
    path_bits: u16,
    /// The local identifiers of adapters that the netlist leaves out.
    left_out: BTreeSet<u16>,
}

impl Dump {
    /// Reads the forwarding tables of a netlist's switches. Packets take virtual channel 0, and of a
    /// port with several LIDs they go to the first.
    ///
    /// # Errors
    /// The first line that does not fit the netlist (a switch or an adapter that it has not, a port
    /// without a cable, a port that leads to another adapter) or contradicts another: a switch or
    /// an entry that comes twice, a LID of two nodes, more LIDs of a port than the netlist says.
    pub fn read(netlist: &Netlist, text: &str) -> Result<Self, InvalidLine> {
        Self::of_path_bits(netlist, text, 0)
    }

    /// Reads forwarding tables, as [`Dump::read`]; of a port with several LIDs packets go to that with
    /// these path bits, or with the lowest of these that it has.
    ///
    /// # Errors
    /// As [`Dump::read`].
    pub fn of_path_bits(
        netlist: &Netlist,
        text: &str,
        path_bits: u16,
    ) -> Result<Self, InvalidLine> {
        read::read(netlist, text, path_bits)
    }
}

/// The form of `opensm-lfts.dump`. Terminals and switches without local identifiers in the netlist
/// are given the lowest free ones, terminals first.
///
/// # Panics
/// If there are more nodes than [`MAX_NODES`].
pub fn text(netlist: &Netlist, table: &ForwardingTable) -> String {
    write::text(netlist, table)
}

/// The form of `opensm-sl2vl.dump`, and the service levels of paths as [`PathLevels`] has them:
/// source and destination by the local identifiers in [`text`], paths of service level 0 left out.
/// A virtual channel becomes the service level of the same number. `None` where all packets take
/// virtual channel 0, and where they change virtual channels by their destination
/// ([`VcAssignment::ByHop`](flitlab_routing::VcAssignment::ByHop)), which service levels can't say.
///
/// # Panics
/// If there are more nodes than [`MAX_NODES`].
pub fn levels_text(netlist: &Netlist, table: &ForwardingTable) -> Option<(String, String)> {
    write::levels(netlist, table)
}

/// Terminals and switches for which there are local identifiers.
pub const MAX_NODES: usize = 0xbfff;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ForwardingFlaw, prove_forwarding};

    const TORUS: &str = include_str!("../../../../tests/fabrics/torus4222.net");
    const MINHOP: &str = include_str!("../../../../tests/fabrics/torus4222-minhop.lfts");

    fn torus() -> Netlist {
        Netlist::read(TORUS).unwrap()
    }

    #[test]
    fn a_real_dump_routes_every_pair_and_is_written_as_it_was() {
        let netlist = torus();
        let dump = Dump::read(&netlist, MINHOP).unwrap();
        let flaws = prove_forwarding(&netlist.fabric, &dump.table).flaws;
        assert!(
            matches!(&flaws[..], [ForwardingFlaw::Cycle(_)]),
            "OpenSM's minhop has a cycle on this torus: {flaws:?}"
        );
        let again = Dump::read(&netlist, &text(&netlist, &dump.table)).unwrap();
        assert_eq!(again.table, dump.table);
    }

    #[test]
    fn the_output_of_ibroute_is_read_too() {
        let netlist = torus();
        let lines = MINHOP.lines().map(|line| match line.split_once('#') {
            Some((entry, rest)) => format!("{entry}: ({rest})\n"),
            None => line.replace("(", "").replace(")", "") + "\n",
        });
        let routes: String = lines.collect();
        assert_eq!(
            Dump::read(&netlist, &routes).unwrap().table,
            Dump::read(&netlist, MINHOP).unwrap().table
        );
    }

    #[test]
    fn the_fdbs_of_opensm_are_read_where_the_netlist_has_the_identifiers() {
        let dump = Dump::read(&torus(), MINHOP).unwrap();
        // The same fabric with the identifiers that OpenSM gave it.
        let mut known = torus();
        for (adapter, lid) in known.adapters.iter_mut().zip(&dump.lids) {
            adapter.lid = *lid;
        }
        let mut fdbs = String::new();
        for line in MINHOP.lines() {
            if let Some((_, rest)) = line.split_once(" guid ") {
                let guid = rest.split(' ').next().unwrap();
                fdbs +=
                    &format!("dump_ucast_routes: Switch {guid}\nLID    : Port : Hops : Optimal\n");
            } else if let Some((entry, who)) = line.split_once(" # ")
                && who.starts_with("Channel Adapter")
            {
                let (lid, port) = entry.trim().split_once(' ').unwrap();
                fdbs += &format!("{} : {port}  : 02   : yes\n", lid.replace('a', "A"));
            }
        }
        fdbs += "0x0FFF : UNREACHABLE\n";
        assert_eq!(Dump::read(&known, &fdbs).unwrap().table, dump.table);
        let error = Dump::read(&torus(), &fdbs).unwrap_err();
        assert!(error.line == 3 && error.message.contains("the netlist has no 0x"), "{error}");
    }

    #[test]
    fn what_opensm_knows_no_owner_of_is_skipped_and_its_other_dumps_are_refused_by_name() {
        let netlist = torus();
        let (header, rest) = MINHOP.split_once('\n').unwrap();
        let stale = format!("{header}\n0x0fff 003 # unknown node and type\n{rest}");
        let table = Dump::read(&netlist, &stale).unwrap().table;
        assert_eq!(table, Dump::read(&netlist, MINHOP).unwrap().table);
        for (text, words) in [
            ("Switch: guid 0x0000000000100000\n0x0001: 00 01 # portguid 0x0\n", "lid-matrix"),
            ("\nSwitch 0x0000000000100000\nLID    : Out Port(s)\n0xC000 : 0x001\n", "mcfdbs"),
            ("Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x10 (S0):\n", "multicast"),
        ] {
            let error = Dump::read(&netlist, text).unwrap_err();
            assert!(error.message.contains(words), "{error}");
        }
    }

    #[test]
    fn the_first_line_that_does_not_fit_is_named() {
        let netlist = torus();
        let wrong = |line: usize, from: &str, to: &str| {
            let mut lines: Vec<String> = MINHOP.lines().map(str::to_owned).collect();
            assert!(lines[line - 1].contains(from), "{}", lines[line - 1]);
            lines[line - 1] = lines[line - 1].replacen(from, to, 1);
            let error = Dump::read(&netlist, &lines.join("\n")).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            error.message
        };
        assert!(wrong(1, "0x0000000000100000", "0x0000000000990000").contains("no switch"));
        assert!(wrong(2, " 006 ", " 009 ").contains("no cable at port 9"));
        assert!(wrong(2, "0x0000000000200001", "0x0000000000990001").contains("no adapter"));
        assert!(wrong(2, " 006 ", " six ").contains("port"));
        assert!(Dump::read(&netlist, "").is_err());
    }
}
