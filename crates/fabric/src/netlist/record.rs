//! A netlist's lines, cut into records.

use std::collections::HashMap;

use super::speed::Stated;
use flitlab_base::InvalidLine;

/// The kind of node that a record describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Switch,
    /// A channel adapter, or a router to other subnets: traffic begins and ends at both.
    Adapter,
}

/// What a netlist's lines say.
pub(super) struct Lines<'t> {
    pub records: Vec<Record<'t>>,
    /// Lines before the first node that are messages of the tool that wrote the file.
    pub messages: usize,
}

/// A switch or an adapter, with its port lines.
#[derive(Clone, Debug)]
pub(super) struct Record<'t> {
    pub line: usize,
    pub kind: Kind,
    pub ports: u16,
    /// The name by which others refer to it.
    pub id: &'t str,
    pub description: Option<&'t str>,
    pub guid: Option<u64>,
    pub lid: Option<u16>,
    pub links: Vec<Link<'t>>,
}

impl Record<'_> {
    /// Whether two records describe one node equally, perhaps with their lines in another order.
    /// `ibnetdiscover -g` writes the switches of a chassis by their place in it, and then again.
    fn repeats(&self, other: &Self) -> bool {
        let links = |record: &Self| -> Vec<_> {
            record
                .links
                .iter()
                .map(|it| (it.port, it.port_guid, it.remote, it.remote_port))
                .collect()
        };
        let own = |record: &Self| (record.kind, record.ports, record.guid, record.lid);
        self.id == other.id && own(self) == own(other) && links(self) == links(other)
    }
}

/// A port line.
#[derive(Clone, Debug)]
pub(super) struct Link<'t> {
    pub line: usize,
    pub port: u16,
    pub port_guid: Option<u64>,
    pub remote: &'t str,
    pub remote_port: u16,
    /// Local identifier of an adapter's port; `None` if there is none.
    pub lid: Option<u16>,
    /// Its LID mask control; 0 if nothing is said.
    pub lmc: u64,
    /// The cable's rate as this end states it.
    pub stated: Stated,
}

/// A line that is read from left to right.
struct Cursor<'t>(&'t str);

impl<'t> Cursor<'t> {
    fn take(&mut self, prefix: char) -> Option<()> {
        self.0 = self.0.strip_prefix(prefix)?;
        Some(())
    }

    fn space(&mut self) {
        self.0 = self.0.trim_start();
    }

    /// The text between two characters.
    fn between(&mut self, open: char, close: char) -> Option<&'t str> {
        let rest = self.0.strip_prefix(open)?;
        let (inside, rest) = rest.split_once(close)?;
        self.0 = rest;
        Some(inside)
    }
}

/// The records of a netlist.
///
/// # Errors
/// The first line that is neither a comment, an assignment, a heading of a group, a node nor a
/// port. Before the first node messages of `ibnetdiscover` are skipped and counted, since its
/// standard error often stands there; nothing else is.
pub(super) fn records(text: &str) -> Result<Lines<'_>, InvalidLine> {
    let mut records: Vec<Record<'_>> = Vec::new();
    let mut open = false;
    let mut guid = None;
    let mut messages = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim().trim_start_matches('\u{feff}');
        let wrong = |message: String| InvalidLine::new(number, message);
        if line.starts_with('#') {
            continue;
        }
        if line.is_empty() || is_heading(line) {
            open = false;
        } else if line.starts_with('[') {
            let (mut link, rest) = link(number, line)
                .ok_or_else(|| wrong("this is no port line, such as [1] \"S7\"[2]".into()))?;
            link.stated = Stated::read(rest).map_err(wrong)?;
            match records.last_mut().filter(|_| open) {
                Some(record) => record.links.push(link),
                None => return Err(wrong("a port line without a node above it".into())),
            }
        } else if let Some((key, value)) = assignment(line) {
            open = false;
            if key.ends_with("guid") || key.ends_with("guids") {
                let value = value.split(['(', '#']).next().unwrap_or_default().trim();
                let known = hexadecimal(value)
                    .ok_or_else(|| wrong(format!("{value} is no guid, such as 0x100000")))?;
                if key != "sysimgguid" {
                    guid = Some(known);
                }
            }
        } else if let Some(mut record) = header(number, line) {
            record.guid = guid.take();
            records.push(record);
            open = true;
        } else if records.is_empty() && is_message(line) {
            messages += 1;
        } else {
            return Err(wrong(format!(
                "this is neither a node, such as Switch 5 \"S0\", nor a port{}",
                meant(line)
            )));
        }
    }
    Ok(Lines { records: without_repeats(records), messages })
}

/// Whether a line is one that `ibnetdiscover` or the library below it prints on standard error.
fn is_message(line: &str) -> bool {
    let of_source = |(_, behind): (&str, &str)| {
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && behind[digits..].starts_with(';')
    };
    line.starts_with("ibwarn: [")
        || line.starts_with("DR path slid ")
        || line.contains(" iberror: ")
        || line.split_once(".c:").is_some_and(of_source)
}

/// Leaves out records that repeat an earlier one.
fn without_repeats(records: Vec<Record<'_>>) -> Vec<Record<'_>> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut kept: Vec<Record<'_>> = Vec::new();
    for record in records {
        let earlier = *first.entry(record.id).or_insert(kept.len());
        if !kept.get(earlier).is_some_and(|earlier| earlier.repeats(&record)) {
            kept.push(record);
        }
    }
    kept
}

/// Whether a line is the heading of a group of nodes in the output of `ibnetdiscover -g`.
fn is_heading(line: &str) -> bool {
    let chassis = line.strip_prefix("Chassis ").and_then(|rest| rest.split_whitespace().next());
    chassis.is_some_and(|number| number.parse::<u32>().is_ok())
        || line == "Non-Chassis Nodes"
        || line.starts_with("Hostname: ")
}

/// What a line that is none of a netlist may have been meant as.
fn meant(line: &str) -> &'static str {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let is_node = ["Switch", "Hca", "Ca", "Rt"].contains(&first);
    if ["SW", "CA", "RT"].contains(&first) {
        ": it looks like the list of ports that ibnetdiscover -p prints; a netlist is what it prints without -p"
    } else if (is_node || first == "Router") && line.contains(" ports ") {
        ": it looks like the list of nodes that ibnetdiscover -l prints; a netlist is what it prints without -l"
    } else if line.starts_with("{ ") {
        ": it looks like OpenSM's opensm-subnet.lst; a netlist is what ibnetdiscover prints"
    } else if is_node && words.next().is_some_and(|word| word.parse::<u16>().is_ok()) {
        ": the name behind the number of ports stands in quotes"
    } else if first == "do" {
        ": it is a command to ibsim; write a cable that it makes as a line at each \
         of its ports, and leave out one that it takes away"
    } else if first == "include" {
        ": put the lines of the included file in its place"
    } else if ["width", "speed", "extspeed"].iter().any(|key| line.starts_with(key)) {
        ": it is ibsim's width or speed of all cables that follow; write w=, s= or e= behind each of them"
    } else {
        ""
    }
}

/// Keys that are read, or mean nothing to a fabric.
const KEYS: [&str; 11] = [
    "switchguid",
    "switchguids",
    "hcaguid",
    "hcaguids",
    "caguid",
    "caguids",
    "rtguid",
    "vendid",
    "devid",
    "sysimgguid",
    "pdebug",
];

/// A key and its value, such as `switchguid=0x100000`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    KEYS.contains(&key.trim_end()).then_some((key.trim_end(), value))
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

/// The number after the first word `lid`; `None` if it is 0, which ports have before they get one.
fn lid(comment: &str) -> Option<u16> {
    let mut words = comment.split_whitespace();
    words.find(|word| *word == "lid")?;
    words.next()?.parse().ok().filter(|&lid| lid > 0)
}

/// The number after the first word `lmc`, whether a port can have it or not.
fn lmc(comment: &str) -> Option<u64> {
    let mut words = comment.split_whitespace();
    words.find(|word| *word == "lmc")?;
    words.next()?.parse().ok()
}

fn header(line: usize, text: &str) -> Option<Record<'_>> {
    let (word, rest) = text.split_once(char::is_whitespace)?;
    let kind = match word {
        "Switch" => Kind::Switch,
        "Hca" | "Ca" | "Rt" => Kind::Adapter,
        _ => return None,
    };
    let (ports, rest) = rest.trim_start().split_once(char::is_whitespace)?;
    let mut cursor = Cursor(rest.trim_start());
    let id = cursor.between('"', '"')?;
    cursor.space();
    let comment = cursor.take('#').map(|()| cursor.0.trim_start());
    // A description may contain that word too.
    let behind = comment.map(|comment| comment.rsplit_once('"').map_or(comment, |(_, rest)| rest));
    Some(Record {
        line,
        kind,
        ports: ports.parse().ok()?,
        id,
        description: comment.and_then(|comment| Cursor(comment).between('"', '"')),
        guid: None,
        lid: behind.and_then(lid),
        links: Vec::new(),
    })
}

/// A port line, and the text after its two ends.
fn link(line: usize, text: &str) -> Option<(Link<'_>, &str)> {
    let mut cursor = Cursor(text);
    let port = cursor.between('[', ']')?.parse().ok()?;
    // The outer number on a chassis, with `ibnetdiscover -g`.
    if cursor.0.starts_with("[ext ") {
        cursor.between('[', ']')?;
    }
    let port_guid = match cursor.between('(', ')') {
        Some(guid) => Some(hexadecimal(guid)?),
        None => None,
    };
    cursor.space();
    let remote = cursor.between('"', '"')?;
    // Without a number it is the remote node's first port.
    let remote_port = cursor.between('[', ']').map_or(Some(1), |port| port.parse().ok())?;
    // The comment of an adapter's port begins with its own identifier; that of a switch's port does
    // not.
    let comment = cursor.0.split_once('#').map(|(_, comment)| comment.trim_start());
    let own = comment.filter(|comment| comment.starts_with("lid"));
    // A description may contain that word too.
    let own_lmc = own.and_then(|own| own.split('"').next()).and_then(lmc).unwrap_or(0);
    let (lid, lmc) = (own.and_then(lid), own_lmc);
    let stated = Stated::default();
    Some((Link { line, port, port_guid, remote, remote_port, lid, lmc, stated }, cursor.0))
}
