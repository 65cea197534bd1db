//! The switches' maps from service levels to virtual lanes, as `opensm-sl2vl.dump` has them.
//!
//! A map has a row for each pair of an input port and an output port. Here a router knows no
//! difference between its terminals' ports, so their rows have to agree. A row is needed for each
//! way a packet can go through a switch: from a terminal or another switch to another switch. One
//! that is missing is refused, since the lane would be a guess; one that comes twice, too.

use std::collections::HashMap;

use super::directory::{Directory, Far, number_behind};
use flitlab_base::InvalidLine;
use flitlab_fabric::netlist::Netlist;
use flitlab_routing::{SERVICE_LEVELS, ServiceLevels};

/// Reads a dump into service levels.
///
/// # Errors
/// The first line that is wrong or contradicts another, or the switch whose map lacks a row.
pub(super) fn read(
    netlist: &Netlist,
    directory: &Directory,
    text: &str,
    found: &mut ServiceLevels,
) -> Result<(), InvalidLine> {
    let mut reader = Reader {
        netlist,
        directory,
        switches: HashMap::new(),
        rows: HashMap::new(),
        of_terminals: HashMap::new(),
    };
    let mut block = Block::None;
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |message: String| InvalidLine::new(number, message);
        let line = line.trim();
        if line.starts_with("Switch") {
            block = Block::Switch(reader.switch(line, number).map_err(wrong)?);
        } else if line.starts_with("Channel Adapter") {
            block = Block::Adapter;
        } else if let Some((ports, lanes)) = line.split_once(':')
            && !line.starts_with('#')
        {
            match block {
                Block::None => return Err(wrong("a row without a switch above it".into())),
                Block::Adapter => {}
                Block::Switch(router) => {
                    reader.row(router, ports, lanes, number, found).map_err(wrong)?;
                }
            }
        }
    }
    if reader.switches.is_empty() {
        return Err(InvalidLine::new(1, "there is no map here, such as `opensm-sl2vl.dump` has"));
    }
    reader.complete(text.lines().count())
}

/// The owner of the rows that follow.
#[derive(Clone, Copy)]
enum Block {
    None,
    Switch(u32),
    /// Rows of an adapter, which are skipped.
    Adapter,
}

struct Reader<'n> {
    netlist: &'n Netlist,
    directory: &'n Directory,
    /// The lines of the switches' headers.
    switches: HashMap<u32, usize>,
    /// The lines of rows, by router, input port and output port.
    rows: HashMap<(u32, u16, u16), usize>,
    /// By router and output port, the first row for packets of a terminal, with its line.
    of_terminals: HashMap<(u32, u16), (usize, Vec<u8>)>,
}

impl Reader<'_> {
    fn switch(&mut self, line: &str, number: usize) -> Result<u32, String> {
        let guid = number_behind(line, "Switch ");
        let router = guid.and_then(|guid| self.directory.routers.get(&guid));
        let &router = router.ok_or("the netlist has no such switch")?;
        if let Some(earlier) = self.switches.insert(router, number) {
            let name = self.netlist.fabric.router_name(router);
            return Err(format!("a second map of {name}, after that in line {earlier}"));
        }
        Ok(router)
    }

    fn row(
        &mut self,
        router: u32,
        ports: &str,
        lanes: &str,
        number: usize,
        found: &mut ServiceLevels,
    ) -> Result<(), String> {
        let numbers = |text: &str| -> Option<Vec<u8>> {
            text.split_whitespace().map(|word| word.parse().ok()).collect()
        };
        let (Some(ports), Some(lanes)) = (numbers(ports), numbers(lanes)) else {
            return Err("a row has numbers only: in out : lanes".into());
        };
        let (&[input, output], SERVICE_LEVELS) = (&ports[..], lanes.len()) else {
            return Err("a row has two ports and the lanes of 16 service levels".into());
        };
        if lanes.iter().any(|&lane| lane > 15) {
            return Err("lanes are numbered from 0 to 15".into());
        }
        let (input, output) = (u16::from(input), u16::from(output));
        if let Some(earlier) = self.rows.insert((router, input, output), number) {
            return Err(format!(
                "a second row from port {input} to port {output}, after that in line {earlier}"
            ));
        }
        let (Some(from), Some(Far::Router(to))) =
            (self.directory.far(router, input), self.directory.far(router, output))
        else {
            // Port 0 is the switch itself, and behind an output to an adapter no packet waits.
            return Ok(());
        };
        let from = match from {
            Far::Router(port) => Some(port),
            Far::Terminal(_) => {
                let first = self.of_terminals.entry((router, to));
                let (line, first) = first.or_insert_with(|| (number, lanes.clone()));
                if *first != lanes {
                    return Err(format!(
                        "packets of this terminal take other lanes to port {output} than those of the one in \
                         line {line}: give all terminals of a switch the same row"
                    ));
                }
                None
            }
        };
        for (level, &lane) in (0..).zip(&lanes) {
            found.set_vc(router, from, to, level, lane);
        }
        Ok(())
    }

    /// Whether no row is missing.
    fn complete(&self, last: usize) -> Result<(), InvalidLine> {
        let fabric = &self.netlist.fabric;
        for (router, terminals) in (0..).zip(fabric.terminals_by_router()) {
            let terminals = terminals.into_iter().map(|terminal| fabric.terminal_port(terminal));
            let outputs: Vec<u16> = (fabric.outputs(router))
                .filter(|&channel| fabric.target(channel).is_some())
                .map(|channel| fabric.port(channel))
                .collect();
            let inputs: Vec<u16> = outputs.iter().copied().chain(terminals).collect();
            for &output in &outputs {
                let missing = (inputs.iter())
                    .find(|&&input| input != output && !self.has_row(router, input, output));
                let Some(input) = missing else { continue };
                let name = fabric.router_name(router);
                return Err(match self.switches.get(&router) {
                    Some(&line) => InvalidLine::new(
                        line,
                        format!("the map of {name} has no row from port {input} to port {output}"),
                    ),
                    None => InvalidLine::new(last, format!("there is no map of {name}")),
                });
            }
        }
        Ok(())
    }

    fn has_row(&self, router: u32, input: u16, output: u16) -> bool {
        self.rows.contains_key(&(router, input, output))
    }
}
