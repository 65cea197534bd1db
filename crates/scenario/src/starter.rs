//! A first scenario to go on from: the keys that most studies change, described in the words of the
//! reference.

use std::fmt::Write as _;

use super::reference::reference_with;
use flitlab_base::document::{
    Item, KeyDoc, Reference, VariantDoc, comment, describe, quoted, write_items,
};
use flitlab_base::registry::Registry;
use flitlab_fabric::builders::{ANY_TABLE, BuilderKind};

/// Keys that are shown with their defaults.
const SHOWN: [&str; 2] = ["seed", "measure.precision"];

/// Of Angara's router; InfiniBand's is shown by its preset.
const SHOWN_OF_ANGARA: [&str; 3] = ["router.buffer", "link.rate", "link.latency"];

/// The keys of a topology that are left out, besides those whose defaults follow from others.
const LEFT_OUT: [&str; 6] =
    ["open", "node_set", "failed_cables", "failed_nodes", "failed_switches", "random_failures"];

/// A choice and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub name: String,
    pub doc: &'static str,
}

/// The workload of a starter.
#[derive(Clone, Debug, PartialEq)]
pub enum StarterWorkload {
    /// Send at this load, a fraction of capacity; a sweep draws the curve.
    Load(f64),
    /// Send a message of this size to each partner.
    Exchange(String),
}

/// The subject of a first scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Starter {
    /// One of [`Offers::topologies`].
    pub topology: String,
    /// Sizes of the topologies that [have dimensions](Offers::has_dimensions).
    pub dimensions: Vec<u32>,
    /// One of [`Offers::routings`], [`Offers::algorithms`] or [`Offers::rules`].
    pub routing: String,
    /// One of [`Offers::patterns`].
    pub pattern: String,
    pub workload: StarterWorkload,
}

/// The topology of Angara's routings.
const TORUS: &str = "torus";

/// The routing of the other topologies.
const AGNOSTIC: &str = "agnostic";
const RELATION: &str = "relation";

/// Terminals of a switch where a single one would leave most of the cables idle: about as many as
/// uniform traffic at load 1 fills the cables of the sizes above with; on a Slim Fly half the
/// cables of a switch, as \[slim-fly\] has it.
const TERMINALS: [(&str, u32); 4] =
    [("random_regular", 3), ("kautz", 3), ("slim_fly", 4), ("polarfly", 4)];

/// Virtual channels of the starters' switches.
const INFINIBAND_VCS: u8 = 8;

/// The key that says which of its algorithms makes the table.
const ALGORITHM: &str = "routing.agnostic.algorithm";

/// The key that says which of its rules a relation follows.
const RULE: &str = "routing.relation.rule";

impl Default for Starter {
    fn default() -> Self {
        Self {
            topology: TORUS.into(),
            dimensions: vec![4, 4, 4],
            routing: "direction_order".into(),
            pattern: "uniform".into(),
            workload: StarterWorkload::Load(0.3),
        }
    }
}

/// What a first scenario can be about: what scenarios with some components can name.
#[derive(Debug)]
pub struct Offers {
    registry: Registry,
    reference: Reference,
}

impl Offers {
    /// What is built in, and the components of a registry.
    pub fn new(registry: &Registry) -> Self {
        Self { registry: registry.clone(), reference: reference_with(registry) }
    }

    /// All keys of scenarios.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// The topologies that need no file.
    pub fn topologies(&self) -> Vec<Offer> {
        let mut offers = self.sections("topology");
        offers
            .retain(|offer| !self.required("topology", &offer.name).iter().any(|it| it == "path"));
        offers
    }

    /// The routings that need nothing else said.
    pub fn routings(&self) -> Vec<Offer> {
        let mut offers = self.sections("routing");
        offers.retain(|offer| self.required("routing", &offer.name).is_empty());
        offers
    }

    /// The algorithms that make tables for any fabric, each a routing by its own name.
    pub fn algorithms(&self) -> Vec<Offer> {
        self.choices(ALGORITHM)
    }

    /// The rules by which routers choose among hops, such as `ugal`, each a routing by its own name.
    /// A name that an algorithm has too is the algorithm's.
    pub fn rules(&self) -> Vec<Offer> {
        let algorithms = self.algorithms();
        let mut rules = self.choices(RULE);
        rules.retain(|rule| algorithms.iter().all(|algorithm| algorithm.name != rule.name));
        rules
    }

    /// Returns the default routing of a topology; of all but the torus it is the only one.
    pub fn usual_routing(topology: &str) -> &'static str {
        if topology == TORUS { "direction_order" } else { AGNOSTIC }
    }

    /// Whether a topology is one of `dimensions`.
    pub fn has_dimensions(&self, topology: &str) -> bool {
        self.required("topology", topology).iter().any(|key| key == "dimensions")
    }

    /// The patterns that need no file, and no list of nodes or patterns.
    pub fn patterns(&self) -> Vec<Offer> {
        // Of such lists there is no usual one.
        let variants = self.variants("traffic.pattern").iter();
        let offered = variants.filter(|it| !["mixture", "matrix", "pairs"].contains(&it.name));
        offered.map(|it| Offer { name: it.name.into(), doc: it.doc }).collect()
    }

    /// The choices at a key that need no keys of their own.
    fn choices(&self, key: &str) -> Vec<Offer> {
        let enough = |it: &&VariantDoc| it.fields.iter().all(|field| !field.required);
        let variants = self.variants(key).iter().filter(enough);
        variants.map(|it| Offer { name: it.name.into(), doc: it.doc }).collect()
    }

    fn variants(&self, key: &str) -> &[VariantDoc] {
        self.reference.key(key).map_or(&[], |key| &key.variants)
    }

    /// A choice at a key as TOML, with examples of the keys that it can't do without.
    fn written(&self, key: &str, name: &str) -> String {
        let variant = self.variants(key).iter().find(|it| it.name == name);
        let fields = variant.map_or(&[][..], |it| &it.fields).iter();
        let example = |field: &KeyDoc| {
            let own = field.path.rsplit('.').next().unwrap_or_default();
            format!("{own} = {}", field.example)
        };
        let needed: Vec<String> = fields.filter(|field| field.required).map(example).collect();
        match needed.is_empty() {
            true => quoted(name),
            false => format!("{{ {name} = {{ {} }} }}", needed.join(", ")),
        }
    }

    /// The tables below one, with what each is for.
    fn sections(&self, table: &str) -> Vec<Offer> {
        let below = |path: &str| {
            let name = path.strip_prefix(table)?.strip_prefix('.')?;
            (!name.contains('.')).then(|| name.to_owned())
        };
        let sections = self.reference.items.iter().filter_map(|item| match item {
            Item::Section { path, doc } => Some(Offer { name: below(path)?, doc }),
            Item::Key(_) => None,
        });
        sections.collect()
    }

    /// The keys that a table below another can't do without.
    fn required(&self, table: &str, name: &str) -> Vec<String> {
        let prefix = format!("{table}.{name}.");
        let keys = self.reference.keys().filter(|key| key.required);
        keys.filter_map(|key| Some(key.path.strip_prefix(&prefix)?.to_owned())).collect()
    }

    /// The scenario of a starter, with a comment for each key. `command` is the program, and `path`
    /// the file, of the commands to type.
    pub fn text(&self, starter: &Starter, (command, path): (&str, &str)) -> String {
        let is_in = |offers: Vec<Offer>| offers.iter().any(|offer| offer.name == starter.routing);
        let kind = match () {
            () if is_in(self.algorithms()) => RoutingKind::Algorithm,
            () if is_in(self.rules()) => RoutingKind::Rule,
            () => RoutingKind::Own,
        };
        let mut page = String::new();
        let written = Writing { offers: self, starter, kind }.write(&mut page, (command, path));
        written.expect("a string takes all");
        page
    }
}

/// What the routing of a starter names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RoutingKind {
    /// One of [`Offers::algorithms`].
    Algorithm,
    /// One of [`Offers::rules`].
    Rule,
    /// A table below [routing].
    Own,
}

/// A starter as its scenario is written.
struct Writing<'a> {
    offers: &'a Offers,
    starter: &'a Starter,
    kind: RoutingKind,
}

impl Writing<'_> {
    /// The routing's table below [routing].
    fn table(&self) -> &str {
        match self.kind {
            RoutingKind::Algorithm => AGNOSTIC,
            RoutingKind::Rule => RELATION,
            RoutingKind::Own => &self.starter.routing,
        }
    }

    /// Returns the default algorithm of the table.
    fn usual_table(&self) -> &'static str {
        let mut kinds = self.offers.registry.rows::<BuilderKind>();
        let kind = kinds.find(|kind| kind.name == self.starter.topology);
        kind.map_or(ANY_TABLE, |kind| kind.usual_table)(INFINIBAND_VCS)
    }

    fn write(&self, page: &mut String, (command, path): (&str, &str)) -> std::fmt::Result {
        let (starter, reference) = (self.starter, self.offers.reference());
        let mut commands =
            vec![("check", "what would run, and what is wrong"), ("run", "simulate it once")];
        if let StarterWorkload::Load(_) = starter.workload {
            commands.push(("sweep", "draw the curve: at the loads that it needs"));
        }
        let typed = |name: &str| format!("{command} {name} {path}");
        let width = commands.iter().map(|(name, _)| typed(name).len()).max().unwrap_or(0);
        for (name, purpose) in commands {
            writeln!(page, "# {:<width$}    {purpose}", typed(name))?;
        }
        writeln!(page, "#")?;
        let more = format!(
            "The keys that most studies change. All others have defaults too: `{command} check \
             --reference` lists them."
        );
        comment(page, 0, &more)?;
        write_items(page, &reference.items, |key| self.value(key))?;
        if let (RoutingKind::Rule, Some(rule)) = (self.kind, reference.key(RULE)) {
            // Which of the other keys mean something depends on the rule.
            writeln!(page)?;
            describe(page, rule)?;
            writeln!(page, "[routing]\n\nrule = \"{}\"", starter.routing)?;
        }
        if let (StarterWorkload::Load(_), Some(grid)) =
            (&starter.workload, reference.key("sweep.grid"))
        {
            // The table stands by itself, so that a user can add lines to it.
            writeln!(page)?;
            describe(page, grid)?;
            writeln!(page, "[sweep.grid]\n\ntraffic.load = \"auto\"")?;
        }
        Ok(())
    }

    /// Whether a key is shown, and its value if that is not the default.
    fn value(&self, key: &KeyDoc) -> Option<Option<String>> {
        let (path, starter) = (key.path.as_str(), self.starter);
        let angara = starter.topology == TORUS;
        if SHOWN.contains(&path) || angara && SHOWN_OF_ANGARA.contains(&path) {
            let measured = matches!(starter.workload, StarterWorkload::Load(_));
            return (measured || !path.starts_with("measure.")).then_some(None);
        }
        if let Some((table, name)) = path.rsplit_once('.') {
            let routing = self.table();
            if table == "routing.relation" && self.kind == RoutingKind::Rule {
                // It is written below, in [routing] itself.
                return None;
            }
            if path == ALGORITHM && routing == AGNOSTIC {
                let own = if self.kind == RoutingKind::Algorithm {
                    &starter.routing
                } else {
                    self.usual_table()
                };
                return Some(Some(format!("\"{own}\"")));
            }
            let chosen = table.strip_prefix("routing.") == Some(routing)
                || table.strip_prefix("topology.") == Some(&starter.topology);
            if chosen {
                let shown = key.default_from.is_none() && !LEFT_OUT.contains(&name);
                let terminals = || {
                    let own = TERMINALS.iter().find(|it| it.0 == starter.topology)?;
                    Some(own.1.to_string())
                };
                let value = match name {
                    "dimensions" => Some(format!("{:?}", starter.dimensions)),
                    "terminals" => terminals(),
                    _ => None,
                };
                return shown.then_some(value);
            }
        }
        let pattern = || self.offers.written(path, &starter.pattern);
        let value = match (path, &starter.workload) {
            ("router.preset", _) if !angara => "\"infiniband-4xqdr\"".into(),
            // A torus takes in more than one of InfiniBand's adapters gives.
            ("router.preset", _) if [AGNOSTIC, RELATION].contains(&self.table()) => {
                "\"angara\"".into()
            }
            // Rules that compare queues see a full one only behind a crossbar that is faster than cables.
            ("router.output_buffer", _) if !angara && self.kind == RoutingKind::Rule => {
                "\"132 flits\"".into()
            }
            ("router.crossbar_speedup", _) if !angara && self.kind == RoutingKind::Rule => {
                "2".into()
            }
            ("traffic.pattern", StarterWorkload::Load(_)) => pattern(),
            ("traffic.load", StarterWorkload::Load(load)) => load.to_string(),
            ("traffic.message", StarterWorkload::Load(_)) if !angara => "\"2 KiB\"".into(),
            ("traffic.message", StarterWorkload::Load(_))
            | ("exchange.between_steps" | "exchange.rounds", StarterWorkload::Exchange(_)) => {
                return Some(None);
            }
            ("exchange.pattern", StarterWorkload::Exchange(_)) => pattern(),
            ("exchange.message", StarterWorkload::Exchange(size)) => format!("\"{size}\""),
            _ => return None,
        };
        Some(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Scenario, Sweep};

    #[test]
    fn a_pattern_that_needs_keys_is_written_with_them() {
        let offers = Offers::new(&Registry::default());
        for (pattern, written) in [
            ("hotspot", "pattern = { hotspot = { share = 0.2 } }"),
            ("hot-region", "pattern = { hot-region = { size = 8, share = 0.2 } }"),
        ] {
            let starter = Starter { pattern: pattern.into(), ..Starter::default() };
            let text = offers.text(&starter, ("flitlab", "a.toml"));
            assert!(text.contains(written), "{text}");
        }
        assert!(offers.patterns().iter().all(|pattern| pattern.name != "pairs"));
    }

    #[test]
    fn every_offer_makes_a_scenario_that_reads() {
        let offers = Offers::new(&Registry::default());
        let text_of = |starter: &Starter| offers.text(starter, ("flitlab", "a.toml"));
        let read = |starter: &Starter| {
            let text = text_of(starter);
            let document = Document::parse("a.toml", &text);
            let read = Scenario::read(&document).map(drop);
            let read = match starter.workload {
                StarterWorkload::Load(_) => read.and(Sweep::read(&document).map(drop)),
                StarterWorkload::Exchange(_) => read,
            };
            read.unwrap_or_else(|found| panic!("{starter:?}\n{found}"));
        };
        let (routings, patterns) = (offers.routings(), offers.patterns());
        let topologies = offers.topologies();
        assert!(routings.len() >= 6 && patterns.len() >= 10 && topologies.len() >= 10);
        for Offer { name: topology, .. } in topologies {
            let routing = Offers::usual_routing(&topology).into();
            read(&Starter { topology, routing, ..Starter::default() });
        }
        for Offer { name: routing, .. } in routings {
            read(&Starter { routing, ..Starter::default() });
        }
        for Offer { name: routing, .. } in offers.algorithms() {
            let starter = Starter { topology: "tree".into(), routing, ..Starter::default() };
            let text = text_of(&starter);
            assert!(text.contains(&format!("algorithm = \"{}\"", starter.routing)), "{text}");
        }
        for routing in ["ugal", "valiant", "par"].map(str::to_owned) {
            let starter = Starter { topology: "dragonfly".into(), routing, ..Starter::default() };
            let text = text_of(&starter);
            assert!(text.contains("\n[routing]\n"), "{text}");
            assert!(text.contains(&format!("rule = \"{}\"", starter.routing)), "{text}");
            read(&starter);
        }
        // A terminal a switch would leave most cables idle.
        for (topology, terminals) in [
            ("hyperx", 256),
            ("slim_fly", 200),
            ("polarfly", 228),
            ("kautz", 108),
            ("random_regular", 96),
        ] {
            let (topology, routing) = (topology.into(), AGNOSTIC.into());
            let starter = Starter { topology, routing, ..Starter::default() };
            let document = Document::parse("a.toml", &text_of(&starter));
            let fabric = &Scenario::read(&document).unwrap().network.fabric;
            assert_eq!(fabric.terminals(), terminals, "{starter:?}");
        }
        for Offer { name: pattern, .. } in patterns {
            // Some patterns are defined on some shapes only.
            let dimensions = if pattern == "transpose-3d" { vec![4, 4, 4] } else { vec![4, 4] };
            let mut starter = Starter { dimensions, pattern, ..Starter::default() };
            if starter.pattern == "group-shift" {
                starter =
                    Starter { topology: "dragonfly".into(), routing: AGNOSTIC.into(), ..starter };
            }
            read(&starter);
            // The partners of a finite exchange are fixed.
            let at_random = ["uniform", "hotspot", "hot-region", "group-shift"];
            if !at_random.contains(&starter.pattern.as_str()) {
                let workload = StarterWorkload::Exchange("4 KiB".into());
                read(&Starter { workload, ..starter });
            }
        }
    }
}
