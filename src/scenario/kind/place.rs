//! Places in a torus: nodes, pairs of nodes, dimensions, directions.

use super::{Kind, Slot, nearest, quoted, wrong_type};
use crate::{
    scenario::{
        diagnostic::Diagnostic,
        document::{Node, Value},
    },
    topology::{DIMENSION_NAMES, Torus},
};

/// A node by its coordinates or its number. Without a torus (the topology itself is wrong) only the
/// shape is checked, and the value means nothing.
#[derive(Clone, Copy)]
pub(in crate::scenario) struct NodeName<'t> {
    pub torus: Option<&'t Torus>,
}

/// Sizes as people write them, such as `8x8x4`.
pub(in crate::scenario) fn sizes_text(torus: &Torus) -> String {
    torus.sizes().iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

impl NodeName<'_> {
    fn outside(&self, torus: &Torus, node: &Node) -> Vec<Diagnostic> {
        let last: Vec<u32> = torus.sizes().iter().map(|size| size - 1).collect();
        vec![
            Diagnostic::new(&node.place, format!("there is no node {}", node.place.text()))
                .label(format!("outside the {} torus", sizes_text(torus)))
                .help(format!(
                    "coordinates run from {:?} to {last:?}, node numbers from 0 to {}",
                    vec![0; last.len()],
                    torus.nodes() - 1
                )),
        ]
    }

    /// Finds a node by coordinates or number, given as plain numbers.
    pub(in crate::scenario) fn find(&self, numbers: &[u32], coordinates: bool) -> Option<u32> {
        match self.torus {
            None => Some(0),
            Some(torus) if coordinates => torus.node(numbers),
            Some(torus) => numbers.first().copied().filter(|&node| node < torus.nodes()),
        }
    }
}

impl Kind for NodeName<'_> {
    type Value = u32;

    fn describe(&self) -> String {
        "a node: its coordinates or its number".into()
    }

    fn example(&self) -> String {
        let dimensions = self.torus.map_or(3, Torus::dimensions);
        let zeros = vec!["0"; dimensions];
        format!("[{}]", zeros.join(", "))
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<u32, Vec<Diagnostic>> {
        let number = |node: &Node| match node.value {
            Value::Integer(Some(number)) => Some(u32::try_from(number).unwrap_or(u32::MAX)),
            Value::Integer(None) => Some(u32::MAX),
            _ => None,
        };
        let wrong = || {
            let mut problems = wrong_type(self, slot, node);
            for problem in &mut problems {
                problem.message = format!("{slot} must be {}", self.describe());
                problem.help = Some(format!("coordinates are a list such as {}", self.example()));
            }
            problems
        };
        let (numbers, coordinates) = match &node.value {
            Value::List(list) => {
                let numbers: Option<Vec<u32>> = list.iter().map(number).collect();
                (numbers.ok_or_else(wrong)?, true)
            }
            _ => (vec![number(node).ok_or_else(wrong)?], false),
        };
        if let Some(torus) = self.torus
            && coordinates
            && numbers.len() != torus.dimensions()
        {
            return Err(vec![
                Diagnostic::new(
                    &node.place,
                    format!("a node of this torus has {} coordinates", torus.dimensions()),
                )
                .label(format!("this has {}", numbers.len()))
                .help(format!(
                    "the torus is {}; write for example {}",
                    sizes_text(torus),
                    self.example()
                )),
            ]);
        }
        self.find(&numbers, coordinates).ok_or_else(|| match self.torus {
            Some(torus) => self.outside(torus, node),
            None => Vec::new(),
        })
    }

    fn show(&self, value: &u32) -> String {
        match self.torus {
            Some(torus) => format!("{:?}", torus.coordinates(*value)),
            None => value.to_string(),
        }
    }
}

/// Two nodes, source first.
pub(in crate::scenario) struct NodePair<'t>(pub NodeName<'t>);

impl Kind for NodePair<'_> {
    type Value = (u32, u32);

    fn describe(&self) -> String {
        "a pair of nodes: [source, destination]".into()
    }

    fn example(&self) -> String {
        format!("[{0}, {0}]", self.0.example())
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<(u32, u32), Vec<Diagnostic>> {
        let Value::List(ends) = &node.value else { return Err(wrong_type(self, slot, node)) };
        let [source, destination] = ends.as_slice() else {
            return Err(vec![
                Diagnostic::new(&node.place, "a pair is two nodes: [source, destination]")
                    .label(format!("this has {}", ends.len())),
            ]);
        };
        match (self.0.parse(slot, source), self.0.parse(slot, destination)) {
            (Ok(source), Ok(destination)) => Ok((source, destination)),
            (source, destination) => {
                Err([source.err(), destination.err()].into_iter().flatten().flatten().collect())
            }
        }
    }

    fn show(&self, value: &(u32, u32)) -> String {
        format!("[{}, {}]", self.0.show(&value.0), self.0.show(&value.1))
    }
}

/// A dimension by its name; the value is its number.
pub(in crate::scenario) struct DimensionName {
    /// How many there are.
    pub dimensions: usize,
}

impl Kind for DimensionName {
    type Value = usize;

    fn describe(&self) -> String {
        "a dimension's name, x, y, z, k, l or m in order".into()
    }

    fn example(&self) -> String {
        quoted(DIMENSION_NAMES[0])
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<usize, Vec<Diagnostic>> {
        let Value::Text(text) = &node.value else {
            let mut problems = wrong_type(self, slot, node);
            for problem in &mut problems {
                problem.message = format!("{slot} takes dimensions by their names");
                problem.help =
                    Some("dimensions are called \"x\", \"y\", \"z\", \"k\", \"l\", \"m\"".into());
            }
            return Err(problems);
        };
        let names = &DIMENSION_NAMES[..self.dimensions];
        names.iter().position(|name| name == text).ok_or_else(|| {
            vec![
                Diagnostic::new(&node.place, format!("this torus has no dimension `{text}`"))
                    .help(format!("its dimensions are {}", names.join(", "))),
            ]
        })
    }

    fn show(&self, value: &usize) -> String {
        quoted(DIMENSION_NAMES[*value])
    }
}

/// A direction by its name, such as `+x`.
pub(in crate::scenario) struct DirectionName<'t> {
    pub torus: Option<&'t Torus>,
}

impl Kind for DirectionName<'_> {
    type Value = u32;

    fn describe(&self) -> String {
        "a direction: a sign and a dimension's name, such as \"+x\"".into()
    }

    fn example(&self) -> String {
        quoted("+x")
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<u32, Vec<Diagnostic>> {
        let Value::Text(text) = &node.value else { return Err(wrong_type(self, slot, node)) };
        let Some(torus) = self.torus else { return Ok(0) };
        torus.direction(text).ok_or_else(|| {
            let names: Vec<String> =
                (0..torus.directions()).map(|direction| torus.direction_name(direction)).collect();
            let mut problem =
                Diagnostic::new(&node.place, format!("this torus has no direction `{text}`"))
                    .help(format!("its directions are {}", names.join(", ")));
            let signed = format!("+{}", text.to_lowercase());
            let near = nearest(&signed, names.iter().map(String::as_str));
            if let Some(near) = near.filter(|&near| near == signed) {
                problem = problem.label(format!("a sign is missing: \"{near}\"?"));
            }
            vec![problem]
        })
    }

    fn show(&self, value: &u32) -> String {
        quoted(&self.torus.map_or_else(|| "+x".into(), |torus| torus.direction_name(*value)))
    }
}
