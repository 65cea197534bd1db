//! Service levels of paths, and the switches' maps to virtual lanes.

use std::collections::HashMap;

use super::Dump;
use super::directory::{Directory, Far, hexadecimal, number_behind};
use crate::InvalidLine;
use crate::routing::{Lanes, SERVICE_LEVELS, ServiceLevels};
use crate::topology::netlist::Netlist;

/// The text of a list of paths' service levels, and of `opensm-sl2vl.dump`.
#[derive(Clone, Copy, Debug)]
pub struct PathLevels<'t> {
    /// Lines of source, destination and service level: LIDs in decimals, or the source as the guid of its
    /// node (`0x...`), as `ibdmchk` takes them. Paths that are not listed have service level 0.
    pub paths: &'t str,
    /// Without it a service level is the lane of the same number.
    pub map: Option<&'t str>,
}

impl Dump {
    /// Gives the table the lanes that follow from service levels.
    ///
    /// # Errors
    /// The first line of either text that does not fit, with the name of the text.
    pub fn set_levels(
        &mut self,
        netlist: &Netlist,
        levels: PathLevels<'_>,
    ) -> Result<(), (&'static str, InvalidLine)> {
        let directory = Directory::new(netlist);
        let mut found = ServiceLevels::new(&netlist.fabric);
        match levels.map {
            Some(text) => {
                map(&directory, text, &mut found).map_err(|error| ("map", error))?;
            }
            None => identity(netlist, &mut found),
        }
        self.paths(netlist, levels.paths, &mut found).map_err(|error| ("paths", error))?;
        self.table.set_lanes(Lanes::ByServiceLevel(found));
        Ok(())
    }

    fn paths(
        &self,
        netlist: &Netlist,
        text: &str,
        found: &mut ServiceLevels,
    ) -> Result<(), InvalidLine> {
        // Of several terminals of an adapter the first.
        let terminals = || (0..self.lids.len() as u32).rev();
        let lids: HashMap<u16, u32> =
            terminals().filter_map(|at| Some((self.lids[at as usize]?, at))).collect();
        let guids: HashMap<u64, u32> =
            terminals().map(|at| (netlist.adapters[at as usize].guid, at)).collect();
        let by_lid = |word: &str| lids.get(&word.parse().ok()?).copied();
        let by_guid = |word: &str| guids.get(&hexadecimal(word.strip_prefix("0x")?)?).copied();
        for (number, line) in (1..).zip(text.lines()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.is_empty() || words[0].starts_with('#') {
                continue;
            }
            let wrong = |message: &str| InvalidLine::new(number, message);
            let &[source, destination, level] = &words[..] else {
                return Err(wrong("a path's line has source, destination and service level"));
            };
            let source = by_guid(source).or_else(|| by_lid(source));
            let source = source.ok_or_else(|| wrong("there is no such source"))?;
            let destination =
                by_lid(destination).ok_or_else(|| wrong("there is no such destination"))?;
            let level =
                level.parse().ok().filter(|&level: &u8| usize::from(level) < SERVICE_LEVELS);
            let level = level.ok_or_else(|| wrong("service levels are numbered from 0 to 15"))?;
            let router = netlist.fabric.terminal_router(source);
            let router = router.ok_or_else(|| wrong("the source has failed"))?;
            found.set_level(router, destination, level);
        }
        Ok(())
    }
}

/// Service level n takes lane n everywhere.
fn identity(netlist: &Netlist, found: &mut ServiceLevels) {
    let fabric = &netlist.fabric;
    for router in 0..fabric.routers() {
        let ports = fabric.outputs(router).len() as u16;
        for input in (0..ports).map(Some).chain([None]) {
            for output in 0..ports {
                for level in 0..SERVICE_LEVELS as u8 {
                    found.set_lane(router, input, output, level, level);
                }
            }
        }
    }
}

/// The switches' blocks of `opensm-sl2vl.dump`: rows of input port, output port and 16 lanes.
fn map(directory: &Directory, text: &str, found: &mut ServiceLevels) -> Result<(), InvalidLine> {
    let (mut router, mut seen) = (None, false);
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |message: String| InvalidLine::new(number, message);
        let line = line.trim();
        if line.starts_with("Switch") {
            seen = true;
            let guid = number_behind(line, "Switch ");
            let known = guid.and_then(|guid| directory.routers.get(&guid));
            router = Some(*known.ok_or_else(|| wrong("the netlist has no such switch".into()))?);
        } else if line.starts_with("Channel Adapter") {
            router = None;
        } else if let (Some(router), Some((ports, lanes))) = (router, line.split_once(':')) {
            if line.starts_with('#') {
                continue;
            }
            let numbers = |text: &str| -> Option<Vec<u16>> {
                text.split_whitespace().map(|word| word.parse().ok()).collect()
            };
            let (Some(ports), Some(lanes)) = (numbers(ports), numbers(lanes)) else {
                return Err(wrong("a row has numbers only: in out : lanes".into()));
            };
            let (&[input, output], SERVICE_LEVELS) = (&ports[..], lanes.len()) else {
                return Err(wrong("a row has two ports and the lanes of 16 service levels".into()));
            };
            let (Some(from), Some(Far::Router(to))) =
                (directory.far(router, input), directory.far(router, output))
            else {
                // Port 0 is the switch itself, and behind an output to an adapter no packet waits.
                continue;
            };
            let from = match from {
                Far::Router(port) => Some(port),
                Far::Terminal(_) => None,
            };
            for (level, &lane) in (0..).zip(&lanes) {
                let lane = u8::try_from(lane).ok().filter(|lane| *lane < 16);
                let lane = lane.ok_or_else(|| wrong("lanes are numbered from 0 to 15".into()))?;
                found.set_lane(router, from, to, level, lane);
            }
        }
    }
    if seen {
        return Ok(());
    }
    Err(InvalidLine::new(1, "there is no map here, such as `opensm-sl2vl.dump` has"))
}
