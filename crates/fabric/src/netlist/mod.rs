//! Netlists of InfiniBand fabrics: switches, channel adapters and their cables. They have the form
//! that ibsim (infiniband-diags' simulator, version 0.10) reads, or the one that `ibnetdiscover`
//! writes.
//!
//! - A switch is a router.
//! - Each connected port of a channel adapter is a terminal, since each has a local identifier
//!   (LID) of its own. So is that of a router to other subnets, where traffic enters and leaves.
//! - Adapters can be left out by their names ([`LeaveOut`]): they are no terminals. Unless others are
//!   named, these are the aggregation nodes within switches.
//! - Cables and plugs that lead back to their own node are left out, as in OpenSM.
//! - Cables have the relative rates of the netlist: the fastest have `link.rate`.
//! - All other properties of ports are left out.

mod discovered;
mod leave_out;
mod read;
mod record;
mod speed;
mod write;

use std::collections::BTreeSet;

use super::{CableRate, Fabric};
use flitlab_base::InvalidLine;

pub use leave_out::{AGGREGATION_NODE, LeaveOut, LeftOut};

/// The identifiers of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Globally unique identifier of the node and of all its ports.
    pub guid: u64,
    /// Number of its ports, connected or not.
    pub ports: u16,
    /// Its local identifier; `None` if the netlist has none.
    pub lid: Option<u16>,
}

/// A connected port of a channel adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// Globally unique identifier of the node.
    pub guid: u64,
    /// The port's number, from 1.
    pub port: u16,
    /// Globally unique identifier of the port.
    pub port_guid: u64,
    /// Its first local identifier; `None` if the netlist has none.
    pub lid: Option<u16>,
    /// The LID mask control, LMC, from 0 to 7: it has 2^LMC local identifiers, the first and those that
    /// follow, each with paths of its own.
    pub lmc: u8,
}

impl Adapter {
    /// How many local identifiers it has.
    pub fn lids(&self) -> u16 {
        1 << self.lmc
    }
}

/// A fabric with the identifiers that InfiniBand gives to its parts.
#[derive(Clone, Debug)]
pub struct Netlist {
    /// The graph of switches and hosts.
    pub fabric: Fabric,
    /// The identifiers of switches, by router.
    pub switches: Vec<Switch>,
    /// The identifiers of adapters, by terminal.
    pub adapters: Vec<Adapter>,
    /// Ports of adapters that are no terminals. Tables may name them.
    pub left_out: Vec<LeftOut>,
    /// Lines before the first node that are messages of the tool that wrote the file, and were
    /// skipped.
    pub messages: usize,
}

/// The far end of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Switch { router: u32, port: u16 },
    Adapter { terminal: u32 },
}

/// Identifiers of the first switch and the first adapter of a netlist without any, from which ibsim
/// counts.
const FIRST_SWITCH: u64 = 0x10_0000;
const FIRST_ADAPTER: u64 = 0x20_0000;

impl Netlist {
    /// Reads a netlist in either form, without the adapters that are left out if nothing is said
    /// ([`LeaveOut::default`]).
    ///
    /// # Errors
    /// The first line that is not part of a netlist, or contradicts another line.
    pub fn read(text: &str) -> Result<Self, InvalidLine> {
        Self::read_without(text, &LeaveOut::default())
    }

    /// Reads a netlist in either form, without some adapters.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_without(text: &str, leave_out: &LeaveOut) -> Result<Self, InvalidLine> {
        read::read(text, leave_out)
    }

    /// Gives identifiers to the parts of a fabric: switches and adapters of one port, numbered in
    /// order.
    ///
    /// # Panics
    /// If terminals have failed, since a netlist has no place for them.
    pub fn of(fabric: Fabric) -> Self {
        assert!(fabric.live_terminals().count() == fabric.terminals() as usize, "some have failed");
        let mut ports = vec![0; fabric.routers() as usize];
        let mut count = |router: u32, port: u16| {
            let most = &mut ports[router as usize];
            *most = port.max(*most);
        };
        for router in 0..fabric.routers() {
            fabric.outputs(router).for_each(|channel| count(router, fabric.port(channel)));
        }
        for terminal in 0..fabric.terminals() {
            count(fabric.terminal_router(terminal).expect("live"), fabric.terminal_port(terminal));
        }
        let switches = (FIRST_SWITCH..).zip(ports);
        let adapters = (FIRST_ADAPTER..).step_by(4).take(fabric.terminals() as usize);
        Self {
            switches: switches.map(|(guid, ports)| Switch { guid, ports, lid: None }).collect(),
            adapters: adapters
                .map(|guid| Adapter { guid, port: 1, port_guid: guid + 1, lid: None, lmc: 0 })
                .collect(),
            left_out: Vec::new(),
            messages: 0,
            fabric,
        }
    }

    /// The netlist as ibsim reads it, without terminals that have failed.
    pub fn text(&self) -> String {
        write::text(self)
    }

    /// The netlist as `ibnetdiscover` writes it, without failed terminals. Cables whose rate is not
    /// a number of lanes get ibsim's default, 4xSDR.
    pub fn discovered_text(&self) -> String {
        discovered::text(self)
    }

    /// Local identifiers of the terminals, of several the first, then of the switches. Parts without
    /// one get the lowest free ones.
    pub fn lids(&self) -> Vec<u16> {
        let given = self.adapters.iter().map(|adapter| adapter.lid);
        let given: Vec<_> = given.chain(self.switches.iter().map(|switch| switch.lid)).collect();
        let of_others = self.left_out.iter().filter_map(|it| it.lid);
        let of_ports = self.adapters.iter().filter_map(|it| Some(it.lid?..it.lid? + it.lids()));
        let taken: BTreeSet<u16> =
            given.iter().flatten().copied().chain(of_others).chain(of_ports.flatten()).collect();
        let mut free = (1..).filter(|lid| !taken.contains(lid));
        let or_free =
            |lid: &Option<u16>| lid.unwrap_or_else(|| free.next().expect("more than nodes"));
        given.iter().map(or_free).collect()
    }

    /// The far ends of each switch's cables, by switch, with their ports.
    fn ends(&self) -> Vec<Vec<(u16, End)>> {
        let fabric = &self.fabric;
        let mut ends: Vec<Vec<(u16, End)>> = vec![Vec::new(); fabric.routers() as usize];
        for router in 0..fabric.routers() {
            for channel in fabric.outputs(router) {
                if let (Some(far), Some(back)) = (fabric.target(channel), fabric.opposite(channel))
                {
                    let end = End::Switch { router: far, port: fabric.port(back) };
                    ends[router as usize].push((fabric.port(channel), end));
                }
            }
        }
        for (terminal, router) in self.nodes().into_iter().flatten() {
            let end = End::Adapter { terminal };
            ends[router as usize].push((fabric.terminal_port(terminal), end));
        }
        ends.iter_mut().for_each(|ends| ends.sort_unstable());
        ends
    }

    /// The rate of the cable at a switch's port.
    fn rate(&self, router: u32, port: u16, end: End) -> CableRate {
        let fabric = &self.fabric;
        let class = match end {
            End::Adapter { terminal } => fabric.terminal_cable(terminal),
            End::Switch { .. } => {
                let mut outputs = fabric.outputs(router);
                let channel = outputs.find(|&channel| fabric.port(channel) == port);
                fabric.cable(channel.expect("a cable's end"))
            }
        };
        class.rate
    }

    /// By channel adapter, its live terminals with their routers.
    fn nodes(&self) -> Vec<Vec<(u32, u32)>> {
        let fabric = &self.fabric;
        let router = |terminal| Some((terminal, fabric.terminal_router(terminal)?));
        let live: Vec<(u32, u32)> = fabric.live_terminals().filter_map(router).collect();
        let guid = |terminal: u32| self.adapters[terminal as usize].guid;
        live.chunk_by(|one, other| guid(one.0) == guid(other.0)).map(<[_]>::to_vec).collect()
    }

    /// The name of a terminal's channel adapter.
    fn node_name(&self, terminal: u32) -> String {
        let name = self.fabric.terminal_name(terminal);
        let of_port = format!(" port {}", self.adapters[terminal as usize].port);
        name.strip_suffix(&of_port).unwrap_or(&name).to_owned()
    }

    /// Least number of ports of a channel adapter.
    fn ports(&self, node: &[(u32, u32)]) -> u16 {
        let port = |&(terminal, _): &(u32, u32)| self.adapters[terminal as usize].port;
        node.iter().map(port).max().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = include_str!("../../../../tests/fabrics/torus4x4.net");

    /// Two switches joined twice, an adapter on each and one on both, as `ibnetdiscover` writes
    /// them.
    const DISCOVERED: &str = "\
vendid=0x0
switchguid=0xa0(a0)
Switch\t4 \"S-00000000000000a0\"\t\t# \"left\" base port 0 lid 7 lmc 0
[1]\t\"S-00000000000000a1\"[4]\t\t# \"right\" lid 8 4xSDR
[4]\t\"S-00000000000000a1\"[2]\t\t# \"right\" lid 8 4xSDR
[2]\t\"H-00000000000000b0\"[1](b1) \t\t# \"one\" lid 1 4xSDR

switchguid=0xa1(a1)
Switch\t4 \"S-00000000000000a1\"\t\t# \"right\" base port 0 lid 8 lmc 0
[4]\t\"S-00000000000000a0\"[1]\t\t# \"left\" lid 7 4xSDR
[2]\t\"S-00000000000000a0\"[4]\t\t# \"left\" lid 7 4xSDR
[1]\t\"H-00000000000000b0\"[2](b2) \t\t# \"one\" lid 2 4xSDR

caguid=0xb0
Ca\t2 \"H-00000000000000b0\"\t\t# \"one\"
[1](b1) \t\"S-00000000000000a0\"[2]\t\t# lid 1 lmc 0 \"left\" lid 7 4xSDR
[2](b2) \t\"S-00000000000000a1\"[1]\t\t# lid 2 lmc 0 \"right\" lid 8 4xSDR
";

    #[test]
    fn a_netlist_of_ibsim_becomes_a_fabric_and_the_same_text_again() {
        let netlist = Netlist::read(SMALL).unwrap();
        let fabric = &netlist.fabric;
        assert_eq!((fabric.routers(), fabric.terminals(), fabric.channels()), (16, 16, 64));
        assert_eq!(fabric.router_name(11), "S11");
        assert_eq!(
            (netlist.switches[11].guid, netlist.adapters[1].port_guid),
            (0x10_000b, 0x20_0005)
        );
        let bare = |text: &str| -> Vec<String> {
            let lines = text.trim_end().lines().filter(|line| !line.starts_with('#'));
            lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        };
        let again = netlist.text();
        assert_eq!(bare(&again), bare(SMALL));
        assert_eq!(Netlist::read(&again).unwrap().text(), again);
    }

    #[test]
    fn a_discovered_netlist_keeps_ports_identifiers_and_descriptions() {
        let netlist = Netlist::read(DISCOVERED).unwrap();
        let fabric = &netlist.fabric;
        assert_eq!((fabric.routers(), fabric.terminals(), fabric.channels()), (2, 2, 4));
        assert_eq!(fabric.channel_name(1), "left port 4 to right");
        let there = fabric.opposite(1).unwrap();
        assert_eq!((fabric.source(there), fabric.port(there)), (1, 2));
        assert_eq!((fabric.terminal_name(1), fabric.terminal_port(1)), ("one port 2".into(), 1));
        let adapter = Adapter { guid: 0xb0, port: 2, port_guid: 0xb2, lid: Some(2), lmc: 0 };
        assert_eq!((netlist.adapters[1], netlist.switches[0].lid), (adapter, Some(7)));
        let lines =
            DISCOVERED.lines().filter(|line| !line.is_empty() && !line.starts_with("vendid"));
        let text = netlist.discovered_text();
        lines.for_each(|line| assert!(text.lines().any(|other| other == line), "{line} in {text}"));
        assert_eq!(Netlist::read(&text).unwrap().discovered_text(), text);
        let again = Netlist::read(&netlist.text()).unwrap();
        assert_eq!((&again.switches[1].guid, again.adapters[1].port_guid), (&0xa1, 0xb2));
    }

    #[test]
    fn what_two_nodes_or_cables_share_is_refused_with_both_lines() {
        let wrong = |text: &str| Netlist::read(text).unwrap_err();
        let expect = |error: InvalidLine, line: usize, words: &str| {
            assert!(error.line == line && error.message.contains(words), "{error}");
        };
        let discovered = |from: &str, to: &str| {
            assert!(DISCOVERED.contains(from));
            wrong(&DISCOVERED.replace(from, to))
        };
        expect(discovered("switchguid=0xa1", "switchguid=0xa0"), 9, "line 3");
        expect(discovered("caguid=0xb0", "caguid=0xa0"), 15, "line 3");
        expect(discovered("(b2)", "(b1)"), 17, "line 16");
        expect(discovered("[1](b1) \t", "[1](a1) \t"), 16, "line 9");
        expect(discovered("port 0 lid 8 ", "port 0 lid 7 "), 9, "line 3");
        expect(discovered("# lid 2 lmc", "# lid 7 lmc"), 17, "line 3");
        expect(discovered("lid 2 lmc 0", "lid 2 lmc 8"), 17, "lmc 8 is none that a port can have");
        // A port may have its node's identifier, and LID 0 stands for none.
        for (from, to) in [("[1](b1) \t", "[1](b0) \t"), ("lid 1 lmc", "lid 0 lmc")] {
            Netlist::read(&DISCOVERED.replace(from, to)).unwrap();
        }
        // A cable that is written at one end only; two at one port; one that its adapter does not
        // have.
        let pair =
            "Switch 4 \"A\"\n[1] \"B\"[1]\n\nSwitch 4 \"B\"\n\nSwitch 4 \"C\"\n[1] \"A\"[2]\n";
        let hosts = "\nHca 1 \"a\"\n[1] \"A\"[3]\n\nHca 1 \"b\"\n[1] \"B\"[3]\n";
        assert_eq!(Netlist::read(&format!("{pair}{hosts}")).unwrap().fabric.channels(), 4);
        let shared = pair.replace("\"A\"[2]", "\"B\"[1]");
        expect(wrong(&format!("{shared}{hosts}")), 7, "line 2 leads to \"B\" port 1, too");
        let shared = hosts.replace("\"B\"[3]", "\"A\"[3]");
        expect(wrong(&format!("{pair}{shared}")), 13, "line 10 leads to \"A\" port 3, too");
        let unknown = pair.replace("\"A\"[2]", "\"b\"[1]");
        let lost = hosts.replace("[1] \"B\"[3]\n", "");
        expect(wrong(&format!("{unknown}{lost}")), 7, "\"b\" port 1, has no line");
    }

    #[test]
    fn an_adapter_of_which_one_port_is_connected_keeps_its_name_however_often_it_is_written() {
        let pair = include_str!("../../../../tests/wrong/fabrics/pair.net");
        let second = pair.replace("\"a\"[1]", "\"a\"[2]");
        let second = second.replace("Hca 1 \"a\"\n[1]", "Hca 2 \"a\"\n[2]");
        let netlist = Netlist::read(&second).unwrap();
        assert_eq!(netlist.fabric.terminal_name(0), "a port 2");
        for text in [netlist.text(), netlist.discovered_text()] {
            let again = Netlist::read(&text).unwrap();
            assert_eq!(again.fabric.terminal_name(0), "a port 2", "{text}");
        }
    }

    #[test]
    fn the_guids_of_ports_are_written_where_they_are_not_counted_on_from_the_nodes() {
        // As newer adapters have them: the port's identifier is the node's; and one beyond another
        // node's.
        for (one, other) in [("[1](b0) ", "[2](b2) "), ("[1](c8) ", "[2](c7) ")] {
            let text = DISCOVERED.replace("[1](b1) ", one).replace("[2](b2) ", other);
            let netlist = Netlist::read(&text).unwrap();
            let again = Netlist::read(&netlist.text()).unwrap();
            let guids = |netlist: &Netlist| {
                netlist.adapters.iter().map(|it| it.port_guid).collect::<Vec<_>>()
            };
            assert_eq!(guids(&again), guids(&netlist));
        }
        assert!(!Netlist::read(DISCOVERED).unwrap().text().contains("(b1)"));
    }

    /// A chassis as `ibnetdiscover -g` writes it: its switches by place, then all again; ports with
    /// outer numbers.
    const GROUPED: &str = "\
src/query_smp.c:195; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110; Connection timed out
DR path slid 0; dlid 0; 0,1 -> new remote switch {00000000000000a0} portnum 0 lid 7-7\"left\"
#
# Initiated from node 00000000000000b0 port 00000000000000b1

Chassis 1 (guid 0x66a)
Hostname: gateway

# Spine Nodes
vendid=0x8f1
sysimgguid=0x66a\t\t# Chassis 1
switchguid=0xa0(a0)\t# ISR9024 spine 1
Switch\t4 \"S-00000000000000a0\"\t\t# \"left lid 3\" base port 0 lid 7 lmc 0
[1][ext 5]\t\"S-00000000000000a1\"[4][ext 6]\t\t# \"right\" lid 8 4xSDR
[2]\t\"H-00000000000000b0\"[1](b1) \t\t# \"one\" lid 1 4xSDR
[3]\t\"S-00000000000000a0\"[3]\t\t# \"left\" lid 7 4xSDR

# Chassis Switches
vendid=0x8f1
sysimgguid=0x66a\t\t# Chassis 1
switchguid=0xa0(a0)\t# ISR9024 spine 1
Switch\t4 \"S-00000000000000a0\"\t\t# \"left lid 3\" base port 0 lid 7 lmc 0
[1][ext 5]\t\"S-00000000000000a1\"[4][ext 6]\t\t# \"right\" lid 8 4xSDR
[2]\t\"H-00000000000000b0\"[1](b1) \t\t# \"one\" lid 1 4xSDR
[3]\t\"S-00000000000000a0\"[3]\t\t# \"left\" lid 7 4xSDR

# Chassis CAs
Non-Chassis Nodes

switchguid=0xa1(a1)\t#\x20
Switch\t4 \"S-00000000000000a1\"\t\t# \"right\" enhanced port 0 lid 8 lmc 0
[4][ext 6]\t\"S-00000000000000a0\"[1][ext 5]\t\t# \"left\" lid 7 4xSDR s=1 w=2 v=4
[1]\t\"R-00000000000000f0\"[1](f0) \t\t# \"gate\" lid 2 4xEDR
[2]\t\"S-00000000000000a1\"[3]\t\t# \"right\" lid 8 4xSDR
[3]\t\"S-00000000000000a1\"[2]\t\t# \"right\" lid 8 4xSDR

caguid=0xb0
Ca\t2 \"H-00000000000000b0\"\t\t# \"one\" (scp)
[1](b1) \t\"S-00000000000000a0\"[2]\t\t# lid 1 lmc 0 \"left\" lid 7 4xSDR

rtguid=0xf0
Rt\t1 \"R-00000000000000f0\"\t\t# \"gate\"
[1](f0) \t\"S-00000000000000a1\"[1]\t\t# lid 2 lmc 0 \"right\" lid 8 4xEDR
";

    #[test]
    fn groups_routers_loops_and_what_is_said_before_the_first_node_are_read() {
        let netlist = Netlist::read(GROUPED).unwrap();
        let fabric = &netlist.fabric;
        assert_eq!((fabric.routers(), fabric.terminals(), fabric.channels()), (2, 2, 2));
        assert_eq!(fabric.router_name(0), "left lid 3");
        assert_eq!(
            (fabric.terminal_name(0), fabric.terminal_name(1)),
            ("one port 1".into(), "gate".into())
        );
        assert_eq!((netlist.switches[0].lid, netlist.switches[1].guid), (Some(7), 0xa1));
        assert_eq!((netlist.adapters[1].guid, netlist.adapters[1].lid), (0xf0, Some(2)));
        let again = Netlist::read(&netlist.discovered_text()).unwrap();
        assert_eq!(again.discovered_text(), netlist.discovered_text());
        // A node that is described twice, differently.
        let wrong = |from: &str, to: &str| {
            assert!(GROUPED.contains(from));
            Netlist::read(&GROUPED.replacen(from, to, 1)).unwrap_err()
        };
        let error = wrong("[3]\t\"S-00000000000000a0\"[3]", "[4]\t\"S-00000000000000a0\"[4]");
        assert!(error.line == 22 && error.message.contains("in line 13 already"), "{error}");
        assert_eq!(netlist.messages, 2);
        // Messages are skipped only before the first node, and never a node whose kind is misspelt.
        let error = wrong("Non-Chassis Nodes", "Non-Chassis things");
        assert!(error.line == 28 && error.message.contains("neither a node"), "{error}");
        let error = wrong("Switch\t4", "Swich\t4");
        assert!(error.line == 13 && error.message.contains("neither a node"), "{error}");
    }

    #[test]
    fn before_the_first_node_nothing_is_skipped_but_messages_of_tools() {
        let refused = |begin: &str, words: &str| {
            let error = Netlist::read(&format!("{begin}\n{SMALL}")).unwrap_err();
            assert!(error.line == 1 && error.message.contains(words), "{begin}: {error}");
        };
        refused("do Link \"S0\"[1] \"S1\"[2]", "command to ibsim");
        refused("Switch 5 S16", "stands in quotes");
        refused("Switch\t5 S16\t\t# \"S16\" base port 0 lid 7 lmc 0", "stands in quotes");
        refused("SwitchName=s0 Nodes=n[0-3]", "neither a node");
        refused("include \"other.net\"", "included file");
        refused("speed=4", "s= or e=");
        refused("Warning: something", "neither a node");
        for message in [
            "ibwarn: [565044] sim_connect: attached as client 1 at node \"Switch1\"",
            "src/query_smp.c:195; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110",
            "vendid=0x2c9",
            "# Topology file: generated on Wed Jun 17 17:06:56 2026",
        ] {
            let netlist = Netlist::read(&format!("{message}\n{SMALL}")).unwrap();
            assert_eq!(netlist.fabric.terminals(), 16);
            let is_message = !message.starts_with(['#', 'v']);
            assert_eq!(netlist.messages, usize::from(is_message), "{message}");
        }
    }

    #[test]
    fn adapters_are_left_out_by_name_and_their_identifiers_stay_taken() {
        // The node called "one" is that of a switch's aggregation.
        let text = DISCOVERED.replace("\"one\"", "\"Mellanox Technologies Aggregation Node\"");
        let more = "
caguid=0xc0
Ca\t1 \"H-00000000000000c0\"\t\t# \"two\"
[1](c1) \t\"S-00000000000000a0\"[3]\t\t# lid 3 lmc 0 \"left\" lid 7 4xSDR

caguid=0xd0
Ca\t1 \"H-00000000000000d0\"\t\t# \"three\"
[1](d1) \t\"S-00000000000000a1\"[3]\t\t# lid 0 lmc 0 \"right\" lid 8 4xSDR
";
        let text = text + more;
        let netlist = Netlist::read(&text).unwrap();
        let fabric = &netlist.fabric;
        let names: Vec<String> =
            (0..fabric.terminals()).map(|it| fabric.terminal_name(it)).collect();
        assert_eq!(
            (names, fabric.router_name(0)),
            (vec!["two".into(), "three".into()], "left".into())
        );
        let left_out: Vec<_> = netlist.left_out.iter().map(|it| (it.port_guid, it.lid)).collect();
        assert_eq!(left_out, [(0xb1, Some(1)), (0xb2, Some(2))]);
        // 1 and 2 are those of what was left out.
        assert_eq!(netlist.lids(), [3, 4, 7, 8]);
        // All of them, and others.
        let all = Netlist::read_without(&text, &LeaveOut::new([])).unwrap();
        assert_eq!((all.fabric.terminals(), all.left_out.len()), (4, 0));
        let by_id = LeaveOut::new(["H-*b0".to_owned(), "four*".to_owned()]);
        let netlist = Netlist::read_without(&text, &by_id).unwrap();
        assert_eq!((netlist.fabric.terminals(), netlist.left_out.len()), (2, 2));
        assert_eq!(by_id.unmatched(&netlist.left_out), ["four*"]);
    }

    #[test]
    fn other_lists_of_the_same_tools_are_refused_by_name() {
        let ports = "SW     1  1 0x0000000000100000 4x SDR - CA     2  1 0x0000000000200001 ( 'S0' - 'H0' )\n";
        let nodes = "Switch\t : 0x0000000000100000 ports 4 devid 0x0 vendid 0x0 \"S0\"\n";
        let subnet =
            "{ SW Ports:04 SystemGUID:0 NodeGUID:0000000000100000 } PHY=4x LOG=ACT SPD=2.5\n";
        for (text, words) in [
            (ports, "ibnetdiscover -p"),
            (nodes, "ibnetdiscover -l"),
            (subnet, "opensm-subnet.lst"),
            ("dimensions = [4]\nany words\n", "neither a node"),
        ] {
            let error = Netlist::read(text).unwrap_err();
            assert!(error.message.contains(words), "{error}");
        }
    }

    #[test]
    fn the_first_wrong_line_is_named() {
        let wrong = |from: &str, to: &str| {
            assert!(DISCOVERED.contains(from));
            let error = Netlist::read(&DISCOVERED.replacen(from, to, 1)).unwrap_err();
            (error.line, error.message)
        };
        let expect = |found: (usize, String), line: usize, words: &str| {
            assert!(found.0 == line && found.1.contains(words), "{found:?}");
        };
        expect(wrong("[1]\t\"S-00000000000000a1\"[4]", "[1]\t\"S-a1\"[4]"), 4, "no node \"S-a1\"");
        expect(
            wrong("[4]\t\"S-00000000000000a1\"[2]", "[9]\t\"S-00000000000000a1\"[2]"),
            5,
            "4 ports",
        );
        expect(wrong("[2]\t\"H-", "[1]\t\"H-"), 6, "port 1 again");
        expect(wrong("a0\"[1]\t", "a0\"[3]\t"), 4, "line 10");
        expect(
            wrong("Switch\t4 \"S-00000000000000a1\"", "Switch\t4 \"S-00000000000000a0\""),
            9,
            "line 3",
        );
        expect(wrong("caguid=0xb0", "caguid=b0 or so"), 14, "guid");
        expect(wrong("Ca\t2", "Cable\t2"), 15, "neither");
        assert_eq!(Netlist::read("").unwrap_err().line, 1);
    }
}
