//! `[routing.direction_order]`: the order of directions, half rings, and datelines.

use crate::{RoutingSpec, TopologySpec};
use flitlab_base::document::{
    Diagnostic, Flag, Kind, Node, Reader, Slot, Value, Variant, nearest, quoted, with_keys,
    wrong_type,
};
use flitlab_base::narrow::narrow;
use flitlab_fabric::Torus;
use flitlab_routing::{DirectionRules, HalfRing};

pub(super) fn variant<'v, 'd>(topology: Option<&TopologySpec>) -> Variant<'v, 'd, RoutingSpec> {
    let doc = "The shortest way round in every dimension, positive directions first, then negative \
               ones: +x +y +z +k -x -y -z -k, or in another order. The choice among routings is the table's name; this \
               is the default of [topology.torus].";
    let torus = topology.and_then(TopologySpec::torus).map(|(torus, _)| torus.clone());
    with_keys("direction_order", doc, move |reader: &mut Reader<'d>| {
        let doc = "Which way a packet goes when both ways round a ring are as long.";
        let balanced =
            "positive from nodes with an even sum of coordinates, negative from the others.";
        let random = "either way by chance, each packet in each dimension.";
        let rules = [
            ("balanced", HalfRing::Balanced, balanced),
            ("plus", HalfRing::Plus, "always positive."),
            ("random", HalfRing::Random, random),
        ];
        let half_ring = reader.one_of("half_ring", "half-ring rule", doc, rules);
        let kind = match &torus {
            Some(torus) => Directions::of(torus),
            None => Directions::example(),
        };
        let doc = "The order in which packets take the directions: every direction of the torus once. \
                   [\"+x\", \"-x\", \"+y\", \"-y\"] finishes a dimension before it begins the next.";
        let note = "all positive directions in the order of dimensions, then all negative ones";
        // Without a torus the routing is refused, or the topology has been.
        let order = match torus {
            None if !reader.is_documenting() => {
                reader.ignore("order");
                Vec::new()
            }
            _ => reader.value_from("order", &kind, kind.usual(), note, doc),
        };
        let order = if order == kind.usual() { Vec::new() } else { order };
        let doc = "Whether rings are kept from deadlock by two classes of packets, on virtual channels of their own, \
                   instead of the bubble: those that pass the cable between the last coordinate and the first, and the \
                   others. Needs two virtual channels, four with reads.";
        let dateline = reader.value("dateline", &Flag, false, doc);
        Some(RoutingSpec::DirectionOrder(DirectionRules { order, half_ring: half_ring?, dateline }))
    })
}

/// All directions of a torus in any order, as ports of its routers.
struct Directions {
    /// Each direction's name and port, in the usual order.
    all: Vec<(String, u16)>,
}

impl Directions {
    /// Returns the directions of dimensions in which there is something to go.
    fn of(torus: &Torus) -> Self {
        let moves = |direction: &u32| torus.sizes()[torus.dimension(*direction)] > 1;
        let directions = (0..torus.directions()).filter(moves);
        Self { all: directions.map(|it| (torus.direction_name(it), narrow(it))).collect() }
    }

    /// Returns the directions of two dimensions, for the reference page.
    fn example() -> Self {
        let names = ["+x", "+y", "-x", "-y"];
        Self { all: (0..).zip(names).map(|(port, name)| (name.into(), port)).collect() }
    }

    fn usual(&self) -> Vec<u16> {
        self.all.iter().map(|direction| direction.1).collect()
    }

    fn port(&self, name: &str) -> Option<u16> {
        self.all.iter().find(|direction| direction.0 == name).map(|direction| direction.1)
    }

    /// The directions that are not among these, behind them.
    fn completed(&self, ports: &[u16]) -> Vec<u16> {
        let mut all: Vec<u16> = Vec::new();
        for port in ports.iter().copied().chain(self.usual()) {
            if !all.contains(&port) {
                all.push(port);
            }
        }
        all
    }
}

impl Kind for Directions {
    type Value = Vec<u16>;

    fn describe(&self) -> String {
        "a list of all directions of the torus, each once".into()
    }

    fn example(&self) -> String {
        self.show(&self.usual())
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Vec<u16>, Vec<Diagnostic>> {
        let Value::List(elements) = &node.value else { return Err(wrong_type(self, slot, node)) };
        let (mut ports, mut problems) = (Vec::new(), Vec::new());
        for element in elements {
            let Value::Text(name) = &element.value else {
                let message = format!("an element of {slot} must be a direction, such as \"+x\"");
                problems.push(Diagnostic::new(&element.place, message));
                continue;
            };
            match self.port(name) {
                None => {
                    let message = format!("this torus has no direction `{name}`");
                    let problem = Diagnostic::new(&element.place, message);
                    let names = || self.all.iter().map(|direction| direction.0.as_str());
                    problems.push(match nearest(name, names()) {
                        Some(near) => problem.label(format!("did you mean `{near}`?")),
                        None => problem.help(format!(
                            "its directions are {}",
                            names().collect::<Vec<_>>().join(", ")
                        )),
                    });
                }
                Some(port) if ports.contains(&port) => problems.push(
                    Diagnostic::new(&element.place, format!("{slot} names {name} twice"))
                        .label("the second time"),
                ),
                Some(port) => ports.push(port),
            }
        }
        let missing: Vec<&str> = self
            .all
            .iter()
            .filter(|direction| !ports.contains(&direction.1))
            .map(|direction| direction.0.as_str())
            .collect();
        if problems.is_empty() && !missing.is_empty() {
            let message = format!("{slot} lacks {}", missing.join(", "));
            problems.push(Diagnostic::new(&node.place, message));
        }
        let Some(last) = problems.pop() else { return Ok(ports) };
        let list = self.show(&self.completed(&ports));
        let help = format!("every direction once: write for example {}", slot.write(node, &list));
        problems.push(if last.help.is_some() { last } else { last.help(help) });
        Err(problems)
    }

    fn show(&self, ports: &Vec<u16>) -> String {
        let name = |port: &u16| self.all.iter().find(|direction| direction.1 == *port);
        let names: Vec<String> = ports.iter().filter_map(name).map(|it| quoted(&it.0)).collect();
        format!("[{}]", names.join(", "))
    }
}
