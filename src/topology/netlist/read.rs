//! From a netlist's records to a fabric.

use std::collections::{BTreeSet, HashMap};

use super::record::{Kind, Link, Record, records};
use super::{Adapter, FIRST_ADAPTER, FIRST_SWITCH, Netlist, Switch};
use crate::InvalidLine;
use crate::topology::Cabling;

pub(super) fn read(text: &str) -> Result<Netlist, InvalidLine> {
    let mut records = records(text)?;
    number(&mut records);
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (place, record) in records.iter().enumerate() {
        if let Some(earlier) = known.insert(record.id, place) {
            let line = records[earlier].line;
            let message = format!("there is a node \"{}\" in line {line} already", record.id);
            return Err(InvalidLine::new(record.line, message));
        }
    }
    let links = check(&records, &known)?;
    let names = names(&records);
    let mut cabling = Cabling::default();
    let mut router = vec![0; records.len()];
    let (mut switches, mut adapters) = (Vec::new(), Vec::new());
    for (place, record) in records.iter().enumerate() {
        if record.kind == Kind::Switch {
            router[place] = cabling.router(names[place]);
            let guid = record.guid.expect("numbered");
            switches.push(Switch { guid, ports: record.ports, lid: record.lid });
        }
    }
    for (place, record) in records.iter().enumerate() {
        for link in &record.links {
            let far = known[link.remote];
            match (record.kind, records[far].kind) {
                (Kind::Adapter, Kind::Switch) => {
                    let name = match record.ports {
                        1 => names[place].to_owned(),
                        _ => format!("{} port {}", names[place], link.port),
                    };
                    cabling.terminal_at(name, (router[far], link.remote_port));
                    let guid = record.guid.expect("numbered");
                    adapters.push(Adapter {
                        guid,
                        port: link.port,
                        port_guid: link.port_guid.unwrap_or(guid + u64::from(link.port)),
                        lid: link.lid,
                    });
                }
                // Each cable once, from the end that comes first.
                (Kind::Switch, Kind::Switch)
                    if (place, link.port) < (far, link.remote_port)
                        || !links.contains(&(far, link.remote_port)) =>
                {
                    cabling.cable_at((router[place], link.port), (router[far], link.remote_port));
                }
                _ => {}
            }
        }
    }
    let fabric = cabling
        .fabric()
        .map_err(|error| InvalidLine::new(text.lines().count().max(1), error.to_string()))?;
    Ok(Netlist { fabric, switches, adapters })
}

/// Gives guids to the nodes that have none, counting on from the one before as ibsim does.
fn number(records: &mut [Record<'_>]) {
    let (mut switch, mut adapter) = (FIRST_SWITCH, FIRST_ADAPTER);
    for record in records {
        let (next, step) = match record.kind {
            Kind::Switch => (&mut switch, 1),
            Kind::Adapter => (&mut adapter, u64::from(record.ports) + 1),
        };
        let guid = record.guid.unwrap_or(*next);
        record.guid = Some(guid);
        *next = guid + step;
    }
}

/// The port lines, by node and port, if none is wrong.
fn check(
    records: &[Record<'_>],
    known: &HashMap<&str, usize>,
) -> Result<BTreeSet<(usize, u16)>, InvalidLine> {
    let mut links: HashMap<(usize, u16), &Link<'_>> = HashMap::new();
    for (place, record) in records.iter().enumerate() {
        for link in &record.links {
            let wrong = |message: String| Err(InvalidLine::new(link.line, message));
            let beyond = |of: &Record<'_>, port: u16| port == 0 || port > of.ports;
            if beyond(record, link.port) {
                return wrong(format!(
                    "\"{}\" has {} ports, and this is {}",
                    record.id, record.ports, link.port
                ));
            }
            let Some(&far) = known.get(link.remote) else {
                return wrong(format!("there is no node \"{}\"", link.remote));
            };
            let remote = &records[far];
            if beyond(remote, link.remote_port) {
                return wrong(format!(
                    "\"{}\" has {} ports, not {}",
                    remote.id, remote.ports, link.remote_port
                ));
            }
            if far == place {
                return wrong(format!("a cable joins \"{}\" with itself", record.id));
            }
            if (record.kind, remote.kind) == (Kind::Adapter, Kind::Adapter) {
                return wrong("a cable joins two adapters, without a switch".into());
            }
            if let Some(earlier) = links.insert((place, link.port), link) {
                return wrong(format!("port {} again, after line {}", link.port, earlier.line));
            }
        }
    }
    for (place, record) in records.iter().enumerate() {
        for link in &record.links {
            let far = known[link.remote];
            let back = links.get(&(far, link.remote_port));
            if let Some(back) = back
                && (known[back.remote], back.remote_port) != (place, link.port)
            {
                let message = format!(
                    "the other end, \"{}\" port {}, leads to \"{}\" port {} (line {})",
                    link.remote, link.remote_port, back.remote, back.remote_port, back.line
                );
                return Err(InvalidLine::new(link.line, message));
            }
        }
    }
    Ok(links.into_keys().collect())
}

/// Descriptions, where all nodes have one and no two the same; otherwise what others refer to.
fn names<'t>(records: &[Record<'t>]) -> Vec<&'t str> {
    let described: Option<BTreeSet<&str>> =
        records.iter().map(|record| record.description).collect();
    let distinct = described.is_some_and(|names| names.len() == records.len());
    let name = |record: &Record<'t>| record.description.filter(|_| distinct).unwrap_or(record.id);
    records.iter().map(name).collect()
}
