//! The whole command line with a pattern and a rule of one's own, `half-way` and `shorter-queue`.
//!
//!     cargo run --release --example own_command -- init own.toml --defaults \
//!         --topology dragonfly --pattern half-way --routing shorter-queue
//!     cargo run --release --example own_command -- sweep own.toml
//!
//! docs/extending.md goes through this file ("The whole command", "A rule with phases").

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use flitlab::adaptive::Misroute;
use flitlab::package;
use flitlab::registry::{Refused, Registry, Row};
use flitlab::routing::phased::{
    Course, Deciding, DetourRule, MinimalVcs, PhasedKind, Queues, Sees, Valiant, ViaKind,
};
use flitlab::traffic::{Partners, PatternKind};

/// Each node sends to the one half of all nodes further on.
pub static HALF_WAY: Row<PatternKind> = Row::new(
    "half-way",
    "to the node that is half of all nodes further on.",
    PatternKind {
        partners: Partners::Fixed,
        read: |_, _| {
            Some(Arc::new(|nodes| {
                let count = nodes.count();
                Ok(Box::new(move |source| (source + count / 2) % count))
            }))
        },
    },
);

/// Each packet goes the minimal way or a detour, by the shorter queue.
pub static SHORTER_QUEUE: Row<PhasedKind> = Row::new(
    "shorter-queue",
    "the minimal way or, if its queue is shorter at the source, a detour as valiant's.",
    PhasedKind {
        misroutes: &[Misroute::AtSource],
        read: |_| {
            Some(Arc::new(|fabric, parameters| {
                let (via, vcs) = (ViaKind::Auto, MinimalVcs::Shared);
                Ok(Arc::new(ShorterQueue(Valiant::deciding(fabric, via, vcs, parameters)?)))
            }))
        },
    },
);

#[derive(Debug)]
struct ShorterQueue(Valiant);

impl DetourRule for ShorterQueue {
    fn valiant(&self) -> &Valiant {
        &self.0
    }

    fn decide(&self, packet: &Deciding<'_>, queues: &mut dyn Queues) -> Course {
        let minimal = self.0.minimal(packet);
        let Some(detour) = self.0.draw(packet, 0) else { return minimal };
        let mut queue = |way| Some(packet.least(way, Sees::Port, queues)?.0);
        match (queue(minimal), queue(detour)) {
            (Some(straight), Some(by_detour)) if straight > by_detour => detour,
            _ => minimal,
        }
    }
}

/// What the program knows besides what is built in.
pub fn registry() -> Result<Registry, Refused> {
    let registry = Registry::default();
    let registry = registry.with(package!(), &HALF_WAY)?;
    let registry = registry.with(package!(), &SHORTER_QUEUE)?;
    Ok(registry)
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    Ok(ExitCode::from(flitlab::cli::main_with(&registry()?, std::env::args_os())))
}
