//! Netlists, read a second time: from ibsim's and `ibnetdiscover`'s forms and docs/fabrics.md.

use std::collections::{BTreeMap, BTreeSet};

/// A switch or an adapter.
#[derive(Clone, Debug, Default)]
struct Record {
    is_switch: bool,
    ports: u64,
    id: String,
    guid: u64,
    lid: Option<u16>,
    lines: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    port: u64,
    guid: Option<u64>,
    remote: (String, u64),
    lid: Option<u16>,
}

/// A terminal, by the switch and the port where it is.
#[derive(Clone, Debug)]
pub struct Terminal {
    /// The guid of its adapter.
    pub node: u64,
    pub switch: u64,
    pub port: u64,
    pub lid: Option<u16>,
}

/// Switches by guid, terminals by port guid.
#[derive(Default)]
pub struct Net {
    /// With their LIDs.
    pub switches: BTreeMap<u64, Option<u16>>,
    pub terminals: BTreeMap<u64, Terminal>,
    /// From switch and port to the far switch and its port.
    pub cables: BTreeMap<(u64, u64), (u64, u64)>,
}

impl Net {
    /// The terminal at a switch's port.
    pub fn terminal_at(&self, switch: u64, port: u64) -> Option<u64> {
        let here = |terminal: &Terminal| (terminal.switch, terminal.port) == (switch, port);
        self.terminals.iter().find(|(_, terminal)| here(terminal)).map(|(guid, _)| *guid)
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

fn lid(comment: &str) -> Option<u16> {
    let words: Vec<&str> = comment.split_whitespace().collect();
    let place = words.iter().position(|word| *word == "lid")?;
    words.get(place + 1)?.parse().ok().filter(|lid| *lid != 0)
}

fn records(text: &str) -> Option<Vec<Record>> {
    let mut records: Vec<Record> = Vec::new();
    let (mut guid, mut inside) = (None, false);
    let (mut next_switch, mut next_adapter) = (0x10_0000, 0x20_0000);
    for line in text.lines().map(str::trim) {
        if line.starts_with('#') {
            continue;
        }
        let comment = line.split_once('#').map_or("", |(_, comment)| comment.trim());
        if line.is_empty() {
            inside = false;
        } else if let Some(rest) = line.strip_prefix('[') {
            let (port, rest) = rest.split_once(']')?;
            let own = match rest.strip_prefix('(') {
                Some(rest) => Some(hexadecimal(rest.split_once(')')?.0)?),
                None => None,
            };
            let mut quoted = rest.split('"');
            let (_, remote, behind) = (quoted.next()?, quoted.next()?, quoted.next()?);
            let far = match behind.strip_prefix('[') {
                Some(behind) => behind.split_once(']')?.0.parse().ok()?,
                None => 1,
            };
            if !inside {
                return None;
            }
            records.last_mut()?.lines.push(Line {
                port: port.parse().ok()?,
                guid: own,
                remote: (remote.to_owned(), far),
                lid: comment.starts_with("lid").then(|| lid(comment)).flatten(),
            });
        } else if let Some((key, value)) = line.split_once('=') {
            inside = false;
            if key.ends_with("guid") || key.ends_with("guids") {
                let value = hexadecimal(value.split('(').next()?)?;
                if key != "sysimgguid" {
                    guid = Some(value);
                }
            }
        } else {
            let mut words = line.split_whitespace();
            let is_switch = match words.next()? {
                "Switch" => true,
                "Hca" | "Ca" => false,
                _ => return None,
            };
            let ports: u64 = words.next()?.parse().ok()?;
            let id = line.split('"').nth(1)?.to_owned();
            let next = if is_switch { &mut next_switch } else { &mut next_adapter };
            let own = guid.take().unwrap_or(*next);
            *next = own + if is_switch { 1 } else { ports + 1 };
            let lid = lid(comment);
            records.push(Record { is_switch, ports, id, guid: own, lid, lines: Vec::new() });
            inside = true;
        }
    }
    Some(records)
}

/// The fabric, if nothing in the text contradicts the rest.
pub fn read(text: &str) -> Option<Net> {
    let records = records(text)?;
    let mut known: BTreeMap<&str, &Record> = BTreeMap::new();
    for record in &records {
        if known.insert(&record.id, record).is_some() {
            return None;
        }
    }
    let mut lines: BTreeMap<(&str, u64), &Line> = BTreeMap::new();
    for record in &records {
        for line in &record.lines {
            let far = known.get(&line.remote.0[..])?;
            let in_range = |record: &Record, port| (1..=record.ports).contains(&port);
            let joins = far.id != record.id && (far.is_switch || record.is_switch);
            if !in_range(record, line.port) || !in_range(far, line.remote.1) || !joins {
                return None;
            }
            if lines.insert((&record.id, line.port), line).is_some() {
                return None;
            }
        }
    }
    // Every port has one cable.
    let mut named = BTreeSet::new();
    for ((id, port), line) in &lines {
        let there = (&line.remote.0[..], line.remote.1);
        match lines.get(&there) {
            Some(back) if (&back.remote.0[..], back.remote.1) == (*id, *port) => {}
            Some(_) => return None,
            None if !known[there.0].is_switch => return None,
            None if !named.insert(there) => return None,
            None => {}
        }
    }
    let mut net = Net::default();
    let (mut guids, mut lids) = (BTreeSet::new(), BTreeSet::new());
    for record in &records {
        if !guids.insert(record.guid) {
            return None;
        }
        if record.is_switch {
            if record.lid.is_some_and(|lid| !lids.insert(lid)) {
                return None;
            }
            net.switches.insert(record.guid, record.lid);
        }
        for line in &record.lines {
            let far = known[&line.remote.0[..]];
            if record.is_switch {
                if far.is_switch {
                    net.cables.insert((record.guid, line.port), (far.guid, line.remote.1));
                    net.cables.insert((far.guid, line.remote.1), (record.guid, line.port));
                }
                continue;
            }
            let guid = line.guid.unwrap_or(record.guid + line.port);
            let own = guid == record.guid && !net.terminals.contains_key(&guid);
            if !own && !guids.insert(guid) {
                return None;
            }
            if line.lid.is_some_and(|lid| !lids.insert(lid)) {
                return None;
            }
            let (node, switch) = (record.guid, far.guid);
            let terminal = Terminal { node, switch, port: line.remote.1, lid: line.lid };
            net.terminals.insert(guid, terminal);
        }
    }
    in_one_piece(&net).then_some(net)
}

fn in_one_piece(net: &Net) -> bool {
    let Some(first) = net.terminals.values().next() else { return false };
    let mut seen = BTreeSet::from([first.switch]);
    let mut open = vec![first.switch];
    while let Some(at) = open.pop() {
        for (&(switch, _), &(far, _)) in &net.cables {
            if switch == at && seen.insert(far) {
                open.push(far);
            }
        }
    }
    net.terminals.len() > 1 && net.terminals.values().all(|it| seen.contains(&it.switch))
}
