//! Service levels of paths.

use std::collections::HashMap;

use super::directory::{Directory, hexadecimal};
use super::{Dump, map};
use flitlab_base::InvalidLine;
use flitlab_base::narrow::narrow;
use flitlab_fabric::netlist::Netlist;
use flitlab_routing::{SERVICE_LEVELS, ServiceLevels, VcAssignment};

/// The text of a list of paths' service levels, and of `opensm-sl2vl.dump`.
#[derive(Clone, Copy, Debug)]
pub struct PathLevels<'t> {
    /// Lines of source, destination and service level: LIDs in decimals, or the source as the guid
    /// of its node (`0x...`), as `ibdmchk` takes them. Paths that are not listed have service level
    /// 0; none may be listed twice.
    pub paths: &'t str,
    /// Without it a service level is the virtual channel of the same number.
    pub map: Option<&'t str>,
}

impl Dump {
    /// Gives the table the virtual channels that follow from service levels.
    ///
    /// # Errors
    /// The first line of either text that does not fit, with the name of the text.
    pub fn set_levels(
        &mut self,
        netlist: &Netlist,
        levels: PathLevels<'_>,
    ) -> Result<(), (&'static str, InvalidLine)> {
        let directory = Directory::new(netlist);
        let mut found = ServiceLevels::by_terminal(&netlist.fabric);
        match levels.map {
            Some(text) => {
                map::read(netlist, &directory, text, &mut found).map_err(|error| ("map", error))?;
            }
            None => identity(netlist, &mut found),
        }
        self.paths(netlist, levels.paths, &mut found).map_err(|error| ("paths", error))?;
        self.table.set_vc_assignment(VcAssignment::ByServiceLevel(found));
        Ok(())
    }

    fn paths(
        &self,
        netlist: &Netlist,
        text: &str,
        found: &mut ServiceLevels,
    ) -> Result<(), InvalidLine> {
        let with_lids = (0..).zip(&self.lids).filter_map(|(at, lid)| Some(((*lid)?, at)));
        let of_port = |(first, at): (u16, u32)| {
            (first..first + netlist.adapters[at as usize].lids())
                .map(move |lid| (lid, (at, lid - first)))
        };
        // The terminal of each, and its path bits.
        let lids: HashMap<u16, (u32, u16)> = with_lids.flat_map(of_port).collect();
        let mut guids: HashMap<u64, Vec<u32>> = HashMap::new();
        for (at, adapter) in (0..).zip(&netlist.adapters) {
            guids.entry(adapter.guid).or_default().push(at);
        }
        let by_lid = |word: &str| lids.get(&word.parse().ok()?).copied();
        let source_of = |word: &str| match word.strip_prefix("0x") {
            None => by_lid(word).map(|(source, _)| source).ok_or("there is no such source"),
            Some(digits) => {
                match hexadecimal(digits).and_then(|guid| guids.get(&guid)).map(Vec::as_slice) {
                    Some(&[terminal]) => Ok(terminal),
                    Some(_) => Err("this adapter has several ports: name the source by its LID"),
                    None => Err("there is no such source"),
                }
            }
        };
        let mut lines: HashMap<(u32, u32), usize> = HashMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.is_empty() || words[0].starts_with('#') {
                continue;
            }
            let wrong = |message: &str| InvalidLine::new(number, message);
            let &[source, destination, level] = &words[..] else {
                return Err(wrong("a path's line has source, destination and service level"));
            };
            if self.is_left_out(netlist, source) || self.is_left_out(netlist, destination) {
                continue;
            }
            let source = source_of(source).map_err(wrong)?;
            let (destination, path_bits) =
                by_lid(destination).ok_or_else(|| wrong("there is no such destination"))?;
            let level =
                level.parse().ok().filter(|&level: &u8| usize::from(level) < SERVICE_LEVELS);
            let level = level.ok_or_else(|| wrong("service levels are numbered from 0 to 15"))?;
            if netlist.fabric.terminal_router(source).is_none() {
                return Err(wrong("the source has failed"));
            }
            // Paths to a port's other LIDs are not followed.
            if path_bits != self.path_bits % netlist.adapters[destination as usize].lids() {
                continue;
            }
            if let Some(earlier) = lines.insert((source, destination), number) {
                return Err(wrong(&format!("this path's level is in line {earlier} already")));
            }
            found.set_level(source, destination, level);
        }
        Ok(())
    }
}

impl Dump {
    /// Whether a LID, or a guid that begins with 0x, is that of an adapter that the netlist leaves
    /// out.
    fn is_left_out(&self, netlist: &Netlist, word: &str) -> bool {
        match word.strip_prefix("0x") {
            Some(digits) => hexadecimal(digits)
                .is_some_and(|guid| netlist.left_out.iter().any(|it| it.guid == guid)),
            None => word.parse().is_ok_and(|lid| self.left_out.contains(&lid)),
        }
    }
}

/// Service level n takes virtual channel n everywhere.
fn identity(netlist: &Netlist, found: &mut ServiceLevels) {
    let fabric = &netlist.fabric;
    for router in 0..fabric.routers() {
        let ports: u16 = narrow(fabric.outputs(router).len());
        for input in (0..ports).map(Some).chain([None]) {
            for output in 0..ports {
                for level in 0..narrow(SERVICE_LEVELS) {
                    found.set_vc(router, input, output, level, level);
                }
            }
        }
    }
}
