//! Names of a fabric's parts in scenarios: nodes, pairs of nodes, switches, dimensions and
//! directions of a torus; and amounts of parts.

use super::{Amount, DIMENSION_NAMES, Fabric, Torus};
use flitlab_base::document::{
    Diagnostic, Kind, Node, Slot, Value, Whole, both, nearest, out_of_range, quoted, wrong_type,
};
use flitlab_base::narrow::narrow;

/// The source of nodes' names.
#[derive(Clone, Copy)]
pub enum Places<'t> {
    /// Coordinates on a torus.
    Torus(&'t Torus),
    /// Names of the terminals of a fabric of switches.
    Terminals(&'t Fabric),
}

impl Places<'_> {
    /// Number of nodes, failed ones included.
    fn nodes(self) -> u32 {
        match self {
            Self::Torus(torus) => torus.nodes(),
            Self::Terminals(fabric) => fabric.terminals(),
        }
    }

    /// The name of a node.
    pub fn name(self, node: u32) -> String {
        match self {
            Self::Torus(torus) => torus.node_name(node),
            Self::Terminals(fabric) => fabric.terminal_name(node),
        }
    }
}

/// A kind of value: a node by its coordinates, its name, or its number. Where the topology itself
/// is wrong only the shape is checked: a number is the value, any other text has no meaningful
/// value.
#[derive(Clone, Copy)]
pub struct NodeName<'t> {
    /// The source of the nodes' names; `None` if it is not known.
    pub places: Option<Places<'t>>,
}

/// Sizes as people write them, such as `8x8x4`.
pub fn sizes_text(sizes: &[u32]) -> String {
    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

impl<'t> NodeName<'t> {
    /// Names of the nodes of a torus; without one a value can be read, but names no node.
    pub fn of_torus(torus: Option<&'t Torus>) -> Self {
        Self { places: torus.map(Places::Torus) }
    }

    /// The allowed nodes, for messages; `None` if they are not known.
    pub(crate) fn range(&self) -> Option<String> {
        let numbers = format!("from 0 to {}", self.places?.nodes() - 1);
        Some(match self.places? {
            Places::Torus(torus) => {
                let last: Vec<u32> = torus.sizes().iter().map(|size| size - 1).collect();
                let first = vec![0; last.len()];
                format!("coordinates run from {first:?} to {last:?}, node numbers {numbers}")
            }
            Places::Terminals(fabric) => format!(
                "nodes are called {} to {}, their numbers run {numbers}",
                fabric.terminal_name(0),
                fabric.terminal_name(fabric.terminals() - 1)
            ),
        })
    }

    fn outside(&self, node: &Node) -> Vec<Diagnostic> {
        let Some(places) = self.places else { return Vec::new() };
        let mut problem =
            Diagnostic::new(&node.place, format!("there is no node {}", node.place.text()));
        if let Places::Torus(torus) = places {
            problem = problem.label(format!("outside the {} torus", sizes_text(torus.sizes())));
        }
        problem.help = self.range();
        vec![problem]
    }

    /// Finds a node by coordinates or by number, given as plain numbers.
    pub(crate) fn find(&self, numbers: &[u32], coordinates: bool) -> Option<u32> {
        match self.places {
            None => numbers.first().copied(),
            Some(Places::Torus(torus)) if coordinates => torus.node(numbers),
            Some(_) if coordinates && numbers.len() != 1 => None,
            Some(places) => numbers.first().copied().filter(|&node| node < places.nodes()),
        }
    }

    /// Finds a node by its number, its coordinates, or its name, as files and command lines have
    /// them. Coordinates are joined by `;` or `,`, and may stand in round brackets. The error is the
    /// mistake, and advice if there is any.
    pub fn of_text(&self, text: &str) -> Result<u32, (String, Option<String>)> {
        let Some(Places::Torus(torus)) = self.places else {
            let number = text.trim().parse().map(|number| self.find(&[number], false));
            return number.unwrap_or_else(|_| self.named(text)).ok_or_else(|| self.unknown(text));
        };
        let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let numbers = inside.unwrap_or(text).split([';', ',']).map(|number| number.trim().parse());
        let Ok(numbers) = numbers.collect::<Result<Vec<u32>, _>>() else {
            let help = "a node is its number, or its coordinates, as in 0;1;3 or 0,1,3";
            return Err((format!("`{text}` is no node"), Some(help.into())));
        };
        let coordinates = inside.is_some() || numbers.len() > 1 || torus.dimensions() == 1;
        self.find(&numbers, coordinates).ok_or_else(|| self.unknown(text))
    }

    /// The mistake of a text that names no node, and advice.
    fn unknown(&self, text: &str) -> (String, Option<String>) {
        (format!("there is no node {text}"), self.range())
    }

    /// Finds a node of switches by its name.
    pub(crate) fn named(&self, name: &str) -> Option<u32> {
        match self.places {
            None => Some(0),
            Some(Places::Torus(_)) => None,
            Some(Places::Terminals(fabric)) => fabric.terminal_named(name),
        }
    }
}

impl Kind for NodeName<'_> {
    type Value = u32;

    fn describe(&self) -> String {
        match self.places {
            Some(Places::Torus(_)) => "a node: its coordinates or its number".into(),
            Some(Places::Terminals(_)) => "a node: its name or its number".into(),
            None => {
                "a node: its number, its coordinates (in a torus) or its name (elsewhere)".into()
            }
        }
    }

    fn example(&self) -> String {
        match self.places {
            Some(Places::Terminals(fabric)) => quoted(&fabric.terminal_name(0)),
            Some(Places::Torus(torus)) => format!("{:?}", vec![0; torus.dimensions()]),
            None => "[0, 0, 0]".into(),
        }
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
                let form = match self.places {
                    Some(Places::Terminals(_)) => "a name is text",
                    _ => "coordinates are a list",
                };
                problem.help = Some(format!("{form} such as {}", self.example()));
            }
            problems
        };
        let (numbers, coordinates) = match (&node.value, self.places) {
            (Value::Text(name), Some(Places::Terminals(_)) | None) => {
                return self.named(name).ok_or_else(|| self.outside(node));
            }
            (Value::List(list), Some(Places::Torus(_)) | None) => {
                let numbers: Option<Vec<u32>> = list.iter().map(number).collect();
                (numbers.ok_or_else(wrong)?, true)
            }
            _ => (vec![number(node).ok_or_else(wrong)?], false),
        };
        if let Some(Places::Torus(torus)) = self.places
            && coordinates
            && numbers.len() != torus.dimensions()
        {
            let message = format!("a node of this torus has {} coordinates", torus.dimensions());
            let (sizes, example) = (sizes_text(torus.sizes()), self.example());
            let problem = Diagnostic::new(&node.place, message);
            let problem = problem.label(format!("this has {}", numbers.len()));
            return Err(vec![
                problem.help(format!("the torus is {sizes}; write for example {example}")),
            ]);
        }
        self.find(&numbers, coordinates).ok_or_else(|| self.outside(node))
    }

    fn show(&self, value: &u32) -> String {
        match self.places {
            Some(Places::Torus(torus)) => format!("{:?}", torus.coordinates(*value)),
            Some(Places::Terminals(fabric)) => quoted(&fabric.terminal_name(*value)),
            None => value.to_string(),
        }
    }
}

/// A kind of value: a switch by its name or its number. The value has a meaning only with a fabric.
#[derive(Clone, Copy)]
pub struct SwitchName<'f> {
    /// The fabric that has the switches; `None` where there is none yet.
    pub fabric: Option<&'f Fabric>,
}

impl Kind for SwitchName<'_> {
    type Value = u32;

    fn describe(&self) -> String {
        "a switch: its name or its number".into()
    }

    fn example(&self) -> String {
        quoted(&self.fabric.map_or_else(|| "S0".into(), |fabric| fabric.router_name(0)))
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<u32, Vec<Diagnostic>> {
        let found = match (&node.value, self.fabric) {
            (Value::Text(_) | Value::Integer(_), None) => return Ok(0),
            (Value::Text(name), Some(fabric)) => fabric.router_named(name),
            (Value::Integer(number), Some(fabric)) => number
                .and_then(|number| u32::try_from(number).ok())
                .filter(|&number| number < fabric.routers()),
            _ => return Err(wrong_type(self, slot, node)),
        };
        found.ok_or_else(|| {
            let mut problem =
                Diagnostic::new(&node.place, format!("there is no switch {}", node.place.text()));
            problem.help = self.fabric.map(|fabric| {
                let last = fabric.routers() - 1;
                format!(
                    "switches are called {} to {}, their numbers run from 0 to {last}",
                    fabric.router_name(0),
                    fabric.router_name(last)
                )
            });
            vec![problem]
        })
    }

    fn show(&self, value: &u32) -> String {
        match self.fabric {
            Some(fabric) => quoted(&fabric.router_name(*value)),
            None => value.to_string(),
        }
    }
}

/// A kind of value: two nodes, source first.
pub struct NodePair<'t>(pub NodeName<'t>);

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
            let message = "a pair is two nodes: [source, destination]";
            let problem = Diagnostic::new(&node.place, message);
            return Err(vec![problem.label(format!("this has {}", ends.len()))]);
        };
        both(self.0.parse(slot, source), self.0.parse(slot, destination))
    }

    fn show(&self, value: &(u32, u32)) -> String {
        format!("[{}, {}]", self.0.show(&value.0), self.0.show(&value.1))
    }
}

/// A kind of value: a dimension by its name; the value is its number.
pub struct DimensionName {
    /// Number of dimensions.
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
            let message = format!("this torus has no dimension `{text}`");
            let help = format!("its dimensions are {}", names.join(", "));
            vec![Diagnostic::new(&node.place, message).help(help)]
        })
    }

    fn show(&self, value: &usize) -> String {
        quoted(DIMENSION_NAMES[*value])
    }
}

/// A kind of value: a direction by its name, such as `+x`.
pub struct DirectionName<'t> {
    /// The torus that has the directions; `None` where there is none yet.
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

/// A kind of value: a count, or a percentage as text such as `1%`.
pub struct AmountOrShare;

impl AmountOrShare {
    const COUNT: Whole = Whole { range: 0..=u32::MAX as u64 };
}

impl Kind for AmountOrShare {
    type Value = Amount;

    fn describe(&self) -> String {
        "how many, or a share such as \"1%\"".into()
    }

    fn example(&self) -> String {
        quoted("1%")
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Amount, Vec<Diagnostic>> {
        match &node.value {
            Value::Integer(_) => {
                Self::COUNT.parse(slot, node).map(|count| Amount::Count(narrow(count)))
            }
            Value::Float(share, _) => {
                let mut problems = wrong_type(self, slot, node);
                problems[0].label = "this has a fraction".into();
                let share = quoted(&format!("{}%", share * 100.0));
                problems[0].help = Some(format!("for a share write {}", slot.write(node, &share)));
                Err(problems)
            }
            Value::Text(text) => {
                let share = text.trim().strip_suffix('%').and_then(|text| text.trim().parse().ok());
                match share {
                    Some(share @ 0.0..=100.0) => Ok(Amount::Percent(share)),
                    Some(_) => Err(out_of_range(slot, node, "from 0% to 100%")),
                    None => Err(wrong_type(self, slot, node)),
                }
            }
            _ => Err(wrong_type(self, slot, node)),
        }
    }

    fn show(&self, value: &Amount) -> String {
        match value {
            Amount::Count(count) => count.to_string(),
            Amount::Percent(share) => quoted(&format!("{share}%")),
        }
    }
}
