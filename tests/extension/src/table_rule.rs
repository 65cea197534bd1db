//! A rule that looks at a table of its own: a file says by way of which router packets of a pair go
//! where the queue of their minimal way is the longer one. On fabrics of groups they look twice: at
//! their source, and after a hop within its group.

use std::collections::HashMap;
use std::sync::Arc;

use flitlab::adaptive::Misroute;
use flitlab::document::{InputFile, Reader, Text};
use flitlab::registry::Row;
use flitlab::routing::phased::{
    Bind, Course, Deciding, DetourRule, MinimalVcs, PhasedKind, Queues, Sees, Valiant, ViaKind,
};
use flitlab::routing::relation::NoRelation;
use flitlab::topology::Fabric;

/// The rule.
pub static BY_TABLE: Row<PhasedKind> = Row::new(
    "by-table",
    "the minimal way or, if its queue is longer, by way of the router that a file names.",
    PhasedKind { misroutes: &Misroute::BY_PHASES, read },
);

fn read(reader: &mut Reader<'_>) -> Option<Bind> {
    let kind = Text { what: "a file's path", example: "detours.csv" };
    let doc = "A file with lines `from,to,via` of routers' names, beside the scenario.";
    let file = InputFile::required(reader, "path", &kind, doc)?;
    let lines = file.take(reader, lines(&file.text))?;
    Some(Arc::new(move |fabric, parameters| {
        let vcs = match fabric.groups().is_empty() {
            true => MinimalVcs::Shared,
            false => MinimalVcs::SharedLate,
        };
        let valiant = Valiant::deciding(fabric, ViaKind::Router, vcs, parameters)?;
        Ok(Arc::new(ByTable { valiant, vias: vias(fabric, &lines)? }))
    }))
}

/// The three names of each line; or the number of a wrong line, from 1, and what is wrong.
fn lines(text: &str) -> Result<Vec<[String; 3]>, (usize, String)> {
    let names = |(number, line): (usize, &str)| {
        let names: Vec<String> = line.split(',').map(|name| name.trim().to_owned()).collect();
        names.try_into().map_err(|_| (number, "a line is `from,to,via`".to_owned()))
    };
    (1..).zip(text.lines()).map(names).collect()
}

/// By the routers of source and destination: the via.
fn vias(fabric: &Fabric, lines: &[[String; 3]]) -> Result<HashMap<(u32, u32), u32>, NoRelation> {
    let named = |name: &String| {
        let none = || NoRelation::Refused(format!("the fabric has no router `{name}`"));
        fabric.router_named(name).ok_or_else(none)
    };
    let pair = |[from, to, via]: &[String; 3]| Ok(((named(from)?, named(to)?), named(via)?));
    lines.iter().map(pair).collect()
}

#[derive(Debug)]
struct ByTable {
    valiant: Valiant,
    vias: HashMap<(u32, u32), u32>,
}

impl DetourRule for ByTable {
    fn valiant(&self) -> &Valiant {
        &self.valiant
    }

    fn decide(&self, packet: &Deciding<'_>, queues: &mut dyn Queues) -> Course {
        let minimal = self.valiant.minimal(packet);
        let via = self.vias.get(&packet.ends);
        let Some(detour) = via.and_then(|&via| self.valiant.detour_by(packet, via)) else {
            return minimal;
        };
        let mut queue = |way| Some(packet.least(way, Sees::Port, queues)?.0);
        match (queue(minimal), queue(detour)) {
            (Some(straight), Some(by_detour)) if straight > by_detour => detour,
            _ => minimal,
        }
    }
}
