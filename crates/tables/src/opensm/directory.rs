//! Nodes of a netlist by the names that dumps use.

use std::collections::{HashMap, HashSet};

use flitlab_fabric::netlist::Netlist;

/// The far end of a switch's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Far {
    /// A router, through this output port of the fabric.
    Router(u16),
    Terminal(u32),
}

/// Look-up tables of a netlist.
pub(super) struct Directory {
    /// Routers by guid.
    pub routers: HashMap<u64, u32>,
    /// Terminals by port guid.
    pub terminals: HashMap<u64, u32>,
    /// The port guids of adapters that the netlist leaves out.
    pub left_out: HashSet<u64>,
    /// By router and the hardware's port number.
    ports: HashMap<(u32, u16), Far>,
}

impl Directory {
    pub fn new(netlist: &Netlist) -> Self {
        let fabric = &netlist.fabric;
        let mut ports = HashMap::new();
        for router in 0..fabric.routers() {
            for (output, channel) in (0..).zip(fabric.outputs(router)) {
                if fabric.target(channel).is_some() {
                    ports.insert((router, fabric.port(channel)), Far::Router(output));
                }
            }
        }
        for terminal in fabric.live_terminals() {
            let router = fabric.terminal_router(terminal).expect("live");
            ports.insert((router, fabric.terminal_port(terminal)), Far::Terminal(terminal));
        }
        Self {
            routers: (0..).zip(&netlist.switches).map(|(at, switch)| (switch.guid, at)).collect(),
            terminals: (0..)
                .zip(&netlist.adapters)
                .map(|(at, adapter)| (adapter.port_guid, at))
                .collect(),
            left_out: netlist.left_out.iter().map(|it| it.port_guid).collect(),
            ports,
        }
    }

    /// The far end of a port; `None` for one without a cable.
    pub fn far(&self, router: u32, port: u16) -> Option<Far> {
        self.ports.get(&(router, port)).copied()
    }
}

/// A number in hexadecimal, with or without `0x`.
pub(super) fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

/// The hexadecimal number behind a word, such as that behind `guid` in `guid 0x10 ('S0')`.
pub(super) fn number_behind(line: &str, word: &str) -> Option<u64> {
    let (_, rest) = line.split_once(word)?;
    let digits = rest.trim_start().strip_prefix("0x")?;
    let end = digits.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], 16).ok()
}
