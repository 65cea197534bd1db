//! OpenSM's dumps, read and followed a second time: from their forms, docs/fabrics.md and
//! docs/route-tables.md.

use std::collections::{BTreeMap, BTreeSet};

use super::cycles::Waits;
use super::netlist::{self, Net};
use super::verdict::{Findings, Verdict};

/// The texts of a dump.
#[derive(Clone, Debug)]
pub struct Dump {
    pub netlist: String,
    pub tables: String,
    pub map: Option<String>,
    pub paths: Option<String>,
}

/// Forwarding tables by switch and destination LID.
struct Tables {
    ports: BTreeMap<(u64, u16), u64>,
    /// Of terminals, by port guid.
    lids: BTreeMap<u64, u16>,
}

/// By switch, input port and output port.
type Map = BTreeMap<(u64, u64, u64), Vec<u8>>;
/// By the port guids of source and destination.
type Levels = BTreeMap<(u64, u64), u8>;

/// What there is to say of a dump.
pub fn judge(dump: &Dump) -> Verdict {
    understand(dump).map_or(Verdict::Refused, Verdict::Judged)
}

fn understand(dump: &Dump) -> Option<Findings> {
    let net = netlist::read(&dump.netlist)?;
    let tables = tables(&net, &dump.tables)?;
    let map = match &dump.map {
        Some(text) => Some(map(&net, text)?),
        None => None,
    };
    let levels = match &dump.paths {
        Some(text) => levels(&net, &tables, text)?,
        None => Levels::new(),
    };
    Some(follow(&net, &tables, map.as_ref(), &levels))
}

/// The hexadecimal number behind the last of these words.
fn behind(line: &str, word: &str) -> Option<u64> {
    let start = line.find(word)? + word.len();
    let digits: String = line[start..].trim_start().strip_prefix("0x")?.to_owned();
    let end = digits.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], 16).ok()
}

fn tables(net: &Net, text: &str) -> Option<Tables> {
    let mut tables = Tables { ports: BTreeMap::new(), lids: BTreeMap::new() };
    // Whose LIDs are whose, by guid.
    let mut owners: BTreeMap<u16, u64> = BTreeMap::new();
    owners.extend(net.switches.iter().filter_map(|(guid, lid)| Some(((*lid)?, *guid))));
    for (guid, terminal) in &net.terminals {
        if let Some(lid) = terminal.lid {
            owners.insert(lid, *guid);
            tables.lids.insert(*guid, lid);
        }
    }
    let mut seen = BTreeSet::new();
    let mut entries = BTreeSet::new();
    let mut switch = None;
    for line in text.lines().map(str::trim) {
        if line.contains("Unicast lids") {
            let guid = behind(line, " guid ")?;
            if !net.switches.contains_key(&guid) || !seen.insert(guid) {
                return None;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            let place = words.windows(2).position(|two| two == ["switch", "Lid"]);
            if let Some(place) = place {
                let lid: u16 = words.get(place + 2)?.parse().ok()?;
                if !(1..=0xbfff).contains(&lid) || *owners.entry(lid).or_insert(guid) != guid {
                    return None;
                }
            }
            switch = Some(guid);
        } else if line.starts_with("0x") {
            let switch = switch?;
            let mut words = line.split_whitespace();
            let lid = u16::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
            let port: u64 = words.next()?.parse().ok()?;
            let guid = behind(line, "portguid ")?;
            let terminal = net.terminals.get(&guid);
            if terminal.is_none() && !net.switches.contains_key(&guid) {
                return None;
            }
            if !(1..=0xbfff).contains(&lid) || *owners.entry(lid).or_insert(guid) != guid {
                return None;
            }
            if !entries.insert((switch, lid)) {
                return None;
            }
            let Some(terminal) = terminal else { continue };
            if *tables.lids.entry(guid).or_insert(lid) != lid {
                return None;
            }
            if port == 255 {
                continue;
            }
            let home = terminal.switch == switch;
            let arrives = net.terminal_at(switch, port) == Some(guid);
            let goes_on = net.cables.contains_key(&(switch, port)) && !home;
            if !arrives && !goes_on {
                return None;
            }
            tables.ports.insert((switch, lid), port);
        }
    }
    switch.map(|_| tables)
}

fn map(net: &Net, text: &str) -> Option<Map> {
    let mut map = Map::new();
    let mut seen = BTreeSet::new();
    let mut block: Option<Option<u64>> = None;
    for line in text.lines().map(str::trim) {
        if line.starts_with('#') {
            continue;
        }
        if line.starts_with("Switch") {
            let guid = behind(line, "Switch ")?;
            if !net.switches.contains_key(&guid) || !seen.insert(guid) {
                return None;
            }
            block = Some(Some(guid));
        } else if line.starts_with("Channel Adapter") {
            block = Some(None);
        } else if let Some((ports, lanes)) = line.split_once(':') {
            let Some(switch) = block? else { continue };
            let ports: Vec<u64> =
                ports.split_whitespace().map(|it| it.parse().ok()).collect::<Option<_>>()?;
            let lanes: Vec<u8> =
                lanes.split_whitespace().map(|it| it.parse().ok()).collect::<Option<_>>()?;
            if ports.len() != 2 || lanes.len() != 16 || lanes.iter().any(|lane| *lane > 15) {
                return None;
            }
            if map.insert((switch, ports[0], ports[1]), lanes).is_some() {
                return None;
            }
        }
    }
    // A row for each way through a switch to another, the same one for all its terminals.
    for &(switch, output) in net.cables.keys() {
        let cables = net.cables.keys().filter(|at| at.0 == switch && at.1 != output);
        for &(_, input) in cables {
            map.get(&(switch, input, output))?;
        }
        let mut of_terminals = BTreeSet::new();
        for terminal in net.terminals.values().filter(|terminal| terminal.switch == switch) {
            of_terminals.insert(map.get(&(switch, terminal.port, output))?);
        }
        if of_terminals.len() > 1 {
            return None;
        }
    }
    (!seen.is_empty()).then_some(map)
}

fn levels(net: &Net, tables: &Tables, text: &str) -> Option<Levels> {
    let by_lid = |word: &str| -> Option<u64> {
        let lid: u16 = word.parse().ok()?;
        tables.lids.iter().find(|(_, other)| **other == lid).map(|(guid, _)| *guid)
    };
    let mut levels = Levels::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() || words[0].starts_with('#') {
            continue;
        }
        let [source, destination, level] = words[..] else { return None };
        let source = if let Some(digits) = source.strip_prefix("0x") {
            let node = u64::from_str_radix(digits, 16).ok()?;
            let ports: Vec<u64> =
                net.terminals.iter().filter(|it| it.1.node == node).map(|it| *it.0).collect();
            let [port] = ports[..] else { return None };
            port
        } else {
            by_lid(source)?
        };
        let level = level.parse().ok().filter(|level| *level < 16)?;
        if levels.insert((source, by_lid(destination)?), level).is_some() {
            return None;
        }
    }
    Some(levels)
}

fn follow(net: &Net, tables: &Tables, map: Option<&Map>, levels: &Levels) -> Findings {
    let mut findings = Findings::default();
    let mut waits = Waits::none();
    for (from, source) in &net.terminals {
        for (to, destination) in net.terminals.iter().filter(|(to, _)| *to != from) {
            let level = levels.get(&(*from, *to)).copied().unwrap_or(0);
            // Switch, output port and lane, hop by hop.
            let mut hops: Vec<(u64, u64, u8)> = Vec::new();
            let (mut at, mut input) = (source.switch, source.port);
            let end = loop {
                let lid = tables.lids.get(to);
                let port = lid.and_then(|lid| tables.ports.get(&(at, *lid)));
                let Some(&port) = port else { break "missing" };
                if at == destination.switch {
                    break "";
                }
                if hops.len() > net.switches.len() {
                    break "loop";
                }
                // Where a packet turns back it goes round for ever, whatever the lane.
                let row = map.map(|map| map.get(&(at, input, port)));
                let lane = row.map_or(level, |row| row.map_or(0, |row| row[usize::from(level)]));
                hops.push((at, port, lane));
                (at, input) = net.cables[&(at, port)];
            };
            let dropped = hops.iter().any(|hop| hop.2 == 15);
            match end {
                "missing" => findings.flaws.insert(format!("missing {:x} {to:x}", source.switch)),
                "loop" => findings.flaws.insert(format!("loop {to:x}")),
                _ if dropped => findings.flaws.insert(format!("dropped {from:x} {to:x}")),
                _ => {
                    findings.routed += 1;
                    hops.windows(2).for_each(|two| waits.add(two[0], two[1]));
                    true
                }
            };
        }
    }
    findings.cycle = waits.close(|_, _| true);
    findings
}
