//! Construction of a fabric from a netlist's records.

use std::collections::{BTreeSet, HashMap};

use super::leave_out::{LeaveOut, LeftOut};
use super::record::{Kind, Lines, Link, Record, records};
use super::speed::{Stated, with_rates};
use super::{Adapter, FIRST_ADAPTER, FIRST_SWITCH, Netlist, Switch};
use crate::{Cabling, LaneRate};
use flitlab_base::InvalidLine;
use flitlab_base::narrow::narrow;

pub(super) fn read(text: &str, leave_out: &LeaveOut) -> Result<Netlist, InvalidLine> {
    let Lines { mut records, messages } = records(text)?;
    number(&mut records)?;
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (place, record) in records.iter().enumerate() {
        if let Some(earlier) = known.insert(record.id, place) {
            let line = records[earlier].line;
            let message = format!("there is a node \"{}\" in line {line} already", record.id);
            return Err(InvalidLine::new(record.line, message));
        }
    }
    let links = check(&records, &known)?;
    let stated = stated(&records);

    identifiers(&records)?;
    let is_left_out: Vec<bool> = records.iter().map(|it| leaves_out(leave_out, it)).collect();
    let names = names(&records, &is_left_out);
    let mut left_out = Vec::new();
    let mut cabling = Cabling::default();
    let mut router = vec![0; records.len()];
    let (mut switches, mut adapters) = (Vec::new(), Vec::new());
    let (mut of_port, mut of_terminal) = (HashMap::new(), Vec::new());
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
                // A plug, or a cable that leads back to its node, carries nothing.
                _ if far == place => {}
                (Kind::Adapter, Kind::Switch) if is_left_out[place] => left_out.push(LeftOut {
                    name: record.description.unwrap_or(record.id).to_owned(),
                    id: record.id.to_owned(),
                    guid: record.guid.expect("numbered"),
                    port_guid: port_guid(record, link),
                    lid: link.lid,
                    router: router[far],
                    router_port: link.remote_port,
                }),
                (Kind::Adapter, Kind::Switch) => {
                    let name = match record.ports {
                        1 => names[place].to_owned(),
                        _ => format!("{} port {}", names[place], link.port),
                    };
                    cabling.terminal_at(name, (router[far], link.remote_port));
                    of_terminal.push(of_cable(
                        &stated,
                        (place, link.port),
                        (far, link.remote_port),
                    ));
                    adapters.push(Adapter {
                        guid: record.guid.expect("numbered"),
                        port: link.port,
                        port_guid: port_guid(record, link),
                        lid: link.lid,
                        lmc: narrow(link.lmc),
                    });
                }
                // Each cable is added once, from the end that comes first.
                (Kind::Switch, Kind::Switch)
                    if (place, link.port) < (far, link.remote_port)
                        || !links.contains(&(far, link.remote_port)) =>
                {
                    let ends = [(router[place], link.port), (router[far], link.remote_port)];
                    cabling.cable_at(ends[0], ends[1]);
                    let rate = of_cable(&stated, (place, link.port), (far, link.remote_port));
                    of_port.extend(ends.map(|end| (end, rate)));
                }
                _ => {}
            }
        }
    }
    let fabric = cabling
        .fabric()
        .map_err(|error| InvalidLine::new(text.lines().count().max(1), error.to_string()))?;
    let of_channel: Vec<Option<LaneRate>> = (0..fabric.channel_slots())
        .map(|channel| of_port[&(fabric.source(channel), fabric.port(channel))])
        .collect();
    let fabric = with_rates(fabric, &of_channel, &of_terminal);
    Ok(Netlist { fabric, switches, adapters, left_out, messages })
}

/// The rates that the ends of cables state, by node and port.
fn stated(records: &[Record<'_>]) -> HashMap<(usize, u16), Stated> {
    let of_record = |(place, record): (usize, &Record<'_>)| {
        record.links.iter().map(move |link| ((place, link.port), link.stated)).collect::<Vec<_>>()
    };
    records.iter().enumerate().flat_map(of_record).collect()
}

/// The rate of a cable that both its ends agree on.
fn of_cable(
    stated: &HashMap<(usize, u16), Stated>,
    one: (usize, u16),
    other: (usize, u16),
) -> Option<LaneRate> {
    let of = |end| stated.get(&end).copied().unwrap_or_default();
    of(one).of_cable(of(other))
}

/// Gives identifiers to the nodes that have none, counting from the node before, as ibsim does.
///
/// # Errors
/// The first node after whose identifier there is none left for its ports.
fn number(records: &mut [Record<'_>]) -> Result<(), InvalidLine> {
    let (mut switch, mut adapter) = (FIRST_SWITCH, FIRST_ADAPTER);
    for record in records {
        let (next, step) = match record.kind {
            Kind::Switch => (&mut switch, 1),
            Kind::Adapter => (&mut adapter, u64::from(record.ports) + 1),
        };
        let guid = record.guid.unwrap_or(*next);
        record.guid = Some(guid);
        *next = guid.checked_add(step).ok_or_else(|| {
            InvalidLine::new(
                record.line,
                format!("behind the guid {guid:#x} there are none for ports"),
            )
        })?;
    }
    Ok(())
}

/// The identifier of an adapter's port: its own, or the one that ibsim gives it.
fn port_guid(record: &Record<'_>, link: &Link<'_>) -> u64 {
    let guid = record.guid.expect("numbered");
    link.port_guid.unwrap_or(guid + u64::from(link.port))
}

/// Checks that no two nodes, and no two ports of an adapter, share an identifier: tables name them
/// by it. A port may have the identifier of its own node.
fn identifiers(records: &[Record<'_>]) -> Result<(), InvalidLine> {
    let mut guids: HashMap<u64, (usize, usize)> = HashMap::new();
    let mut lids: HashMap<u16, usize> = HashMap::new();
    // Of a port with an LMC above 0 all of them.
    let mut lid = |first: Option<u16>, lmc: u64, line: usize| {
        // It has three bits.
        const MOST: u64 = 7;
        if lmc > MOST {
            let message = format!("lmc {lmc} is none that a port can have: these are 0 to {MOST}");
            return Err(InvalidLine::new(line, message));
        }
        let Some(first) = first else { return Ok(()) };
        if first % (1 << lmc) != 0 {
            let message =
                format!("with lmc {lmc} a first local identifier is a multiple of {}", 1 << lmc);
            return Err(InvalidLine::new(line, message));
        }
        // Those above are of multicast groups.
        const HIGHEST: u16 = 0xbfff;
        let last = first.saturating_add((1 << lmc) - 1);
        if last > HIGHEST {
            let message = format!("{last} is no node's local identifier: these are 1 to {HIGHEST}");
            return Err(InvalidLine::new(line, message));
        }
        for lid in first..=last {
            if let Some(earlier) = lids.insert(lid, line) {
                let which = match lmc {
                    0 => "this local identifier".into(),
                    _ => format!("local identifier {lid} of the {} here", 1 << lmc),
                };
                let message = format!("{which} is given in line {earlier}, too");
                return Err(InvalidLine::new(line, message));
            }
        }
        Ok(())
    };
    let again = |guid: u64, line: usize, earlier: usize| {
        Err(InvalidLine::new(line, format!("the guid {guid:#x} is that of line {earlier}, too")))
    };
    for (place, record) in records.iter().enumerate() {
        let guid = record.guid.expect("numbered");
        if let Some(&(_, earlier)) = guids.get(&guid) {
            return again(guid, record.line, earlier);
        }
        guids.insert(guid, (place, record.line));
        if record.kind == Kind::Switch {
            lid(record.lid, 0, record.line)?;
            continue;
        }
        let mut ports = BTreeSet::new();
        for link in &record.links {
            let guid = port_guid(record, link);
            let &mut (owner, earlier) = guids.entry(guid).or_insert((place, link.line));
            if owner != place || !ports.insert(guid) {
                return again(guid, link.line, earlier);
            }
            lid(link.lid, link.lmc, link.line)?;
        }
    }
    Ok(())
}

/// The port lines by node and port, if all are right.
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
            if far != place && (record.kind, remote.kind) == (Kind::Adapter, Kind::Adapter) {
                return wrong("a cable joins two adapters, without a switch".into());
            }
            if let Some(earlier) = links.insert((place, link.port), link) {
                return wrong(format!("port {} again, after line {}", link.port, earlier.line));
            }
        }
    }
    // Ports without a line of their own, with the line that names them.
    let mut named: HashMap<(usize, u16), usize> = HashMap::new();
    for (place, record) in records.iter().enumerate() {
        for link in &record.links {
            let wrong = |message: String| Err(InvalidLine::new(link.line, message));
            let far = known[link.remote];
            let there = (far, link.remote_port);
            let end = format!("\"{}\" port {}", link.remote, link.remote_port);
            match links.get(&there) {
                Some(back) if (known[back.remote], back.remote_port) == (place, link.port) => {}
                Some(back) => {
                    return wrong(format!(
                        "the other end, {end}, leads to \"{}\" port {} (line {})",
                        back.remote, back.remote_port, back.line
                    ));
                }
                // The port's identifier and its local identifier would be here.
                None if records[far].kind == Kind::Adapter => {
                    return wrong(format!("the other end, {end}, has no line of its own"));
                }
                None => {
                    if let Some(earlier) = named.insert(there, link.line) {
                        return wrong(format!("line {earlier} leads to {end}, too"));
                    }
                }
            }
        }
    }
    Ok(links.into_keys().collect())
}

/// Whether a node is an adapter that is no terminal.
fn leaves_out(leave_out: &LeaveOut, record: &Record<'_>) -> bool {
    let names = record.description.into_iter().chain([record.id]);
    record.kind == Kind::Adapter && leave_out.has(names)
}

/// The nodes' descriptions, if all nodes have one and no two are equal; otherwise the names by
/// which records refer to each other. Those of nodes that are left out do not count.
fn names<'t>(records: &[Record<'t>], is_left_out: &[bool]) -> Vec<&'t str> {
    let stay = || records.iter().zip(is_left_out).filter(|(_, left_out)| !**left_out);
    let described: Option<BTreeSet<&str>> = stay().map(|(record, _)| record.description).collect();
    let distinct = described.is_some_and(|names| names.len() == stay().count());
    let name = |record: &Record<'t>| record.description.filter(|_| distinct).unwrap_or(record.id);
    records.iter().map(name).collect()
}
