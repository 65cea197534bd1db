//! Routing tables as text files.
//!
//! The format is described in `docs/route-tables.md`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use super::{Flaw, prove};
use flitlab_base::InvalidLine;
use flitlab_base::memory::claim;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{DIMENSION_NAMES, Fabric, Faults, NONE, Torus};
use flitlab_routing::{Header, MAX_ROUND, RouteTable};

const MAGIC: &str = "flitlab-routes";
const VERSION: &str = "1";

/// A routing table with the torus, the failures and the node set that it is for.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// The torus without failures.
    pub torus: Torus,
    /// Failed cables and nodes, and nodes outside the node set.
    pub faults: Faults,
    /// The torus without what failed.
    pub fabric: Fabric,
    /// The routes.
    pub table: RouteTable,
    /// The line of each route, by source, then destination; empty if the table was not read.
    lines: Vec<u32>,
}

impl PartialEq for TableFile {
    /// Compares all but the fabric, which follows from the rest.
    fn eq(&self, other: &Self) -> bool {
        let parts = |file: &Self| (file.torus.clone(), file.faults.clone());
        parts(self) == parts(other) && self.table == other.table
    }
}

impl TableFile {
    /// Whether a file begins like a routing table of flitlab.
    pub fn begins(path: &Path) -> bool {
        let mut start = [0; MAGIC.len()];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && start == *MAGIC.as_bytes()
    }

    /// A table that was made for a fabric of this torus.
    pub fn new(torus: Torus, faults: Faults, fabric: Fabric, table: RouteTable) -> Self {
        Self { torus, faults, fabric, table, lines: Vec::new() }
    }

    /// Checks that the table can route another fabric of the same torus: it has a right route for
    /// every pair of the live nodes there. The failures may differ from those for which it was
    /// made.
    ///
    /// # Errors
    /// The first mismatch, and its line.
    pub fn fits(&self, fabric: &Fabric) -> Result<(), InvalidLine> {
        if self.torus != *fabric.coordinates() {
            let line = self.lines.first().map_or(1, |_| 2);
            return Err(InvalidLine::new(line, "the table is for another torus"));
        }
        match prove(fabric, &self.table).flaws.first() {
            None => Ok(()),
            Some(flaw) => Err(InvalidLine {
                line: self.line(flaw).unwrap_or(1),
                message: flaw.describe(fabric),
            }),
        }
    }

    /// The line of a wrong route; `None` if the flaw has none.
    pub fn line(&self, flaw: &Flaw) -> Option<usize> {
        let routers = self.fabric.routers() as usize;
        let place =
            |(source, destination): (u32, u32)| source as usize * routers + destination as usize;
        let line = flaw.pair().and_then(|pair| self.lines.get(place(pair)).copied());
        line.filter(|&line| line > 0).map(|line| line as usize)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write(&self, mut output: impl Write) -> io::Result<()> {
        let torus = &self.torus;
        writeln!(output, "{MAGIC} {VERSION}")?;
        let sizes: Vec<String> = torus.sizes().iter().map(u32::to_string).collect();
        writeln!(output, "torus {}", sizes.join(" "))?;
        let open: Vec<&str> = (0..torus.dimensions())
            .filter(|&dimension| torus.open(dimension))
            .map(|dimension| DIMENSION_NAMES[dimension])
            .collect();
        if !open.is_empty() {
            writeln!(output, "open {}", open.join(" "))?;
        }
        for &(node, direction) in &self.faults.cables {
            let direction = torus.direction_name(direction);
            writeln!(output, "failed-cable {} {direction}", torus.node_name(node))?;
        }
        for &node in &self.faults.nodes {
            writeln!(output, "failed-node {}", torus.node_name(node))?;
        }
        let nodes: Vec<u32> = self.fabric.live_terminals().collect();
        if self.faults.outside.is_empty() {
            writeln!(output, "nodes all")?;
        } else {
            let names: Vec<String> = nodes.iter().map(|&node| torus.node_name(node)).collect();
            writeln!(output, "nodes {}", names.join(" "))?;
        }
        writeln!(output, "routes")?;
        for &source in &nodes {
            for &destination in &nodes {
                if source == destination {
                    continue;
                }
                let headers = self.table.headers(source, destination);
                let (source, destination) = (torus.node_name(source), torus.node_name(destination));
                for &(header, count) in &headers {
                    let (first, directions, last) = header_text(torus, header);
                    write!(output, "{source} {destination} {first} {directions} {last}")?;
                    if headers.len() > 1 {
                        write!(output, " {count}")?;
                    }
                    writeln!(output)?;
                }
            }
        }
        output.flush()
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn parse(text: &str) -> Result<Self, InvalidLine> {
        Parser::new(text).file()
    }
}

/// Columns of a route whose pair has no other.
const ROUTE_COLUMNS: usize = 5;

/// The routes with a count that were read last, as long as those of their pair go on.
struct Several {
    pair: (u32, u32),
    routes: Vec<(Header, u8)>,
}

impl Several {
    /// Adds a route of the pair, if its count may be the next one.
    fn add(&mut self, header: Header, count: &[&str]) -> Result<(), String> {
        let [count] = count else {
            return Err("another route of this pair has a count, so this one needs one".into());
        };
        let before: u32 = self.routes.iter().map(|it| u32::from(it.1)).sum();
        let most = u32::from(u8::MAX) - before;
        let count = match count.parse() {
            Ok(count) if (1..=most).contains(&u32::from(count)) => count,
            _ => {
                return Err(format!(
                    "`{count}` is no count: those of a pair are from 1 and add up to at most {}",
                    MAX_ROUND
                ));
            }
        };
        if self.routes.iter().any(|it| it.0 == header) {
            return Err("this route again: add up its counts".into());
        }
        self.routes.push((header, count));
        Ok(())
    }

    /// Puts the routes into the table, if there are any.
    fn finish(&mut self, table: &mut RouteTable) {
        if !self.routes.is_empty() {
            table.set_several(self.pair.0, self.pair.1, &self.routes);
        }
        *self = Self::default();
    }
}

impl Default for Several {
    fn default() -> Self {
        Self { pair: (NONE, NONE), routes: Vec::new() }
    }
}

/// First step, directions and last step of a header, as the file has them; `.` for none.
pub fn header_text(torus: &Torus, header: Header) -> (String, String, String) {
    let name = |direction: usize| torus.direction_name(narrow(direction));
    let or_dot = |text: String| if text.is_empty() { ".".into() } else { text };
    let first = header.first_step().map(name).unwrap_or_default();
    let last = header.last_step().map(|dimension| name(dimension + torus.dimensions()));
    (or_dot(first), or_dot(header.directions_text(torus)), or_dot(last.unwrap_or_default()))
}

struct Parser<'t> {
    /// Line number and words of the remaining lines, without comments and empty lines.
    lines: Box<dyn Iterator<Item = (usize, Vec<&'t str>)> + 't>,
    line: usize,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        let lines = (1..).zip(text.lines()).filter_map(|(number, line)| {
            let words: Vec<&str> =
                line.split('#').next().unwrap_or("").split_whitespace().collect();
            (!words.is_empty()).then_some((number, words))
        });
        Self { lines: Box::new(lines), line: 0 }
    }

    fn next(&mut self) -> Option<Vec<&'t str>> {
        let (line, words) = self.lines.next()?;
        self.line = line;
        Some(words)
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, InvalidLine> {
        Err(InvalidLine::new(self.line, message))
    }

    fn expect(&mut self, what: &str) -> Result<Vec<&'t str>, InvalidLine> {
        match self.next() {
            Some(words) => Ok(words),
            None => {
                self.line += 1;
                self.wrong(format!("the file ends where {what} should be"))
            }
        }
    }

    fn file(mut self) -> Result<TableFile, InvalidLine> {
        let magic = self.expect("`flitlab-routes 1`")?;
        match magic[..] {
            [MAGIC, VERSION] => {}
            [MAGIC, version] => {
                return self.wrong(format!("version {version} is not known; this is version 1"));
            }
            _ => return self.wrong("a table file begins with `flitlab-routes 1`"),
        }
        let words = self.expect("`torus` and its sizes")?;
        let ["torus", sizes @ ..] = &words[..] else {
            return self.wrong("`torus` and its sizes should be here");
        };
        let sizes: Vec<u32> = match sizes.iter().map(|size| size.parse()).collect() {
            Ok(sizes) => sizes,
            Err(_) => return self.wrong("sizes are whole numbers"),
        };
        let mut torus = self.torus(&sizes, &[])?;
        let mut faults = Faults::default();
        let nodes = loop {
            let words = self.expect("`nodes`")?;
            match words[..] {
                ["open", ref names @ ..] => {
                    if (0..torus.dimensions()).any(|dimension| torus.open(dimension)) {
                        return self.wrong("`open` again: one line has all open dimensions");
                    }
                    let mut open = Vec::new();
                    for name in names {
                        match DIMENSION_NAMES.iter().position(|other| other == name) {
                            Some(dimension) => open.push(dimension),
                            None => return self.wrong(format!("`{name}` is no dimension")),
                        }
                    }
                    torus = self.torus(&sizes, &open)?;
                }
                ["failed-cable", node, direction] => {
                    let cable = (self.node(&torus, node)?, self.direction(&torus, direction)?);
                    faults.cables.push(cable);
                }
                ["failed-node", node] => faults.nodes.push(self.node(&torus, node)?),
                ["nodes", "all"] => break None,
                ["nodes", ref names @ ..] => {
                    let nodes: Result<Vec<u32>, _> =
                        names.iter().map(|name| self.node(&torus, name)).collect();
                    break Some(nodes?);
                }
                _ => {
                    return self.wrong(format!(
                        "`{}` is not known here; open, failed-cable, failed-node and nodes are",
                        words[0]
                    ));
                }
            }
        };
        if let Some(inside) = nodes {
            if let Some(dead) = inside.iter().find(|node| faults.nodes.contains(node)) {
                return self.wrong(format!("node {} has failed", torus.node_name(*dead)));
            }
            let mut outside = vec![true; torus.nodes() as usize];
            for &node in inside.iter().chain(&faults.nodes) {
                outside[node as usize] = false;
            }
            faults.outside = (0..torus.nodes()).filter(|&node| outside[node as usize]).collect();
        }
        let fabric = match torus.fabric(&faults) {
            Ok(fabric) => fabric,
            Err(error) => return self.wrong(error.to_string()),
        };
        if self.expect("`routes`")?[..] != ["routes"] {
            return self.wrong("`routes` should be here");
        }
        // A header and a line for each pair.
        let pairs = u64::from(fabric.routers()).saturating_mul(fabric.routers().into());
        if let Err(shortage) = claim("a table of this torus", pairs.saturating_mul(8)) {
            return self.wrong(format!("{shortage}: {}", shortage.help()));
        }
        let mut table = RouteTable::empty(&fabric);
        let routers = fabric.routers() as usize;
        let mut lines = vec![0; routers * routers];
        let mut several = Several::default();
        while let Some(words) = self.next() {
            let (words, count) = words.split_at(words.len().min(ROUTE_COLUMNS));
            let (&[source, destination, first, directions, last], [] | [_]) = (words, count) else {
                return self.wrong(format!(
                    "a route has five columns (source, destination, first step, directions, last \
                     step), and a count if its pair has several, not {}",
                    words.len() + count.len()
                ));
            };
            let (from, to) = (self.node(&torus, source)?, self.node(&torus, destination)?);
            for (node, name) in [(from, source), (to, destination)] {
                if fabric.terminal_router(node).is_none() {
                    return self.wrong(format!("node {name} is not in the node set"));
                }
            }
            if from == to {
                return self.wrong(format!("a route from {source} to itself"));
            }
            let header = self.header(&torus, first, directions, last)?;
            if (from, to) == several.pair {
                match several.add(header, count) {
                    Ok(()) => continue,
                    Err(reason) => return self.wrong(reason),
                }
            }
            if table.header(from, to).is_some() {
                return self.wrong(format!(
                    "a second route from {source} to {destination}: several have a count each, and \
                     stand together"
                ));
            }
            several.finish(&mut table);
            lines[from as usize * routers + to as usize] = narrow(self.line);
            match count {
                [] => table.set(from, to, header),
                count => {
                    several.pair = (from, to);
                    if let Err(reason) = several.add(header, count) {
                        return self.wrong(reason);
                    }
                }
            }
        }
        several.finish(&mut table);
        Ok(TableFile { torus, faults, fabric, table, lines })
    }

    fn torus(&self, sizes: &[u32], open: &[usize]) -> Result<Torus, InvalidLine> {
        Torus::new(sizes, open).or_else(|error| self.wrong(error.to_string()))
    }

    fn node(&self, torus: &Torus, name: &str) -> Result<u32, InvalidLine> {
        let coordinates = name
            .strip_prefix('(')
            .and_then(|name| name.strip_suffix(')'))
            .and_then(|name| name.split(',').map(|c| c.parse().ok()).collect::<Option<Vec<u32>>>());
        match coordinates.and_then(|coordinates| torus.node(&coordinates)) {
            Some(node) => Ok(node),
            None => {
                let last = torus.node_name(torus.nodes() - 1);
                self.wrong(format!("`{name}` is no node; the last one is {last}"))
            }
        }
    }

    fn direction(&self, torus: &Torus, name: &str) -> Result<u32, InvalidLine> {
        match torus.direction(name) {
            Some(direction) => Ok(direction),
            None => self.wrong(format!("`{name}` is no direction of this torus")),
        }
    }

    fn header(
        &self,
        torus: &Torus,
        first: &str,
        directions: &str,
        last: &str,
    ) -> Result<Header, InvalidLine> {
        let mut header = Header::default();
        if first != "." {
            let direction = self.direction(torus, first)?;
            if !torus.positive(direction) {
                return self.wrong(format!("a first step is positive, not {first}"));
            }
            header = header.with_first_step(torus.dimension(direction));
        }
        if last != "." {
            let direction = self.direction(torus, last)?;
            if torus.positive(direction) {
                return self.wrong(format!("a last step is negative, not {last}"));
            }
            header = header.with_last_step(torus.dimension(direction));
        }
        if directions == "." {
            return Ok(header);
        }
        let mut before = None;
        let mut rest = directions;
        while !rest.is_empty() {
            let Some(name) = rest.get(..2) else {
                return self.wrong(format!("`{rest}` is no direction of this torus"));
            };
            let direction = self.direction(torus, name)?;
            let dimension = torus.dimension(direction);
            if header.direction(dimension).is_some() {
                return self.wrong(format!("{directions} goes twice in one dimension"));
            }
            if before.is_some_and(|before| before >= direction) {
                return self.wrong(format!("{directions} is not in direction order"));
            }
            header = header.with_direction(dimension, torus.positive(direction));
            before = Some(direction);
            rest = &rest[2..];
        }
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Region;
    use super::super::angara::{Choices, Freedoms, balanced};
    use super::*;

    fn example() -> TableFile {
        let torus = Torus::new(&[4, 2, 2], &[2]).unwrap();
        let faults = Faults { cables: vec![(0, 0)], nodes: vec![15], outside: vec![7] };
        let fabric = torus.fabric(&faults).unwrap();
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let table = choices.table(&balanced(&choices).selection);
        TableFile::new(torus, faults, fabric.clone(), table)
    }

    fn text(file: &TableFile) -> String {
        let mut text = Vec::new();
        file.write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let file = example();
        let written = text(&file);
        let again = TableFile::parse(&written).unwrap();
        assert_eq!(again.table, file.table);
        assert_eq!((&again.torus, &again.faults), (&file.torus, &file.faults));
        assert!(written.contains("nodes (0,0,0) (1,0,0)"), "{written}");
        assert_eq!(text(&again), written);
    }

    #[test]
    fn several_routes_are_read_again_with_their_counts() {
        let torus = Torus::new(&[4, 4], &[]).unwrap();
        let fabric = torus.fabric(&Faults::default()).unwrap();
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let mut table = choices.table(&balanced(&choices).selection);
        let ways = [true, false].map(|plus| Header::default().with_direction(0, plus));
        let mut several = RouteTable::empty(&fabric);
        for (from, to) in (0..16).flat_map(|from| (0..16).map(move |to| (from, to))) {
            match table.header(from, to) {
                _ if (from, to) == (0, 2) => {
                    several.set_several(0, 2, &[(ways[0], 3), (ways[1], 2)]);
                }
                _ if (from, to) == (2, 0) => {
                    several.set_several(2, 0, &[(ways[1], 1), (ways[0], 9)]);
                }
                Some(header) => several.set(from, to, header),
                None => {}
            }
        }
        table = several;
        let file = TableFile::new(torus, Faults::default(), fabric.clone(), table);
        let written = text(&file);
        assert!(written.contains("\n(0,0) (2,0) . +x . 3\n(0,0) (2,0) . -x . 2\n"), "{written}");
        let again = TableFile::parse(&written).unwrap();
        assert_eq!((&again.table, text(&again)), (&file.table, written.clone()));
        again.fits(&fabric).unwrap();
        for (find, replace, message) in [
            ("+x . 3", "+x .", "a second route from (0,0) to (2,0)"),
            ("-x . 2", "-x .", "another route of this pair has a count"),
            ("-x . 2", "-x . 253", "add up to at most 255"),
            ("-x . 2", "-x . 0", "`0` is no count"),
            ("-x . 2", "-x . two", "`two` is no count"),
            ("-x . 2", "-x . 2 2", "a route has five columns"),
            ("(2,0) . -x . 2", "(2,0) . +x . 2", "this route again"),
            ("(0,0) (2,0) . -x . 2", "(0,0) (3,0) . -x . 2", "another route of this pair has"),
        ] {
            assert!(written.contains(find), "{find}");
            let error = TableFile::parse(&written.replacen(find, replace, 1)).unwrap_err();
            assert!(error.to_string().contains(message), "{replace}: {error}");
        }
        let longer = written.replacen("(2,0) . -x . 2", "(2,0) +y +x -y 2", 1);
        let error = TableFile::parse(&longer).unwrap().fits(&fabric).unwrap_err();
        assert!(error.to_string().contains("not all routes from (0,0) to (2,0)"), "{error}");
    }

    #[test]
    fn the_documented_example_is_a_table() {
        let page = include_str!("../../../docs/route-tables.md");
        let (_, section) = page.split_once("\n## The file\n").unwrap();
        let example = section.split("```").nth(1).and_then(|it| it.strip_prefix("text\n")).unwrap();
        let file = TableFile::parse(example).unwrap();
        assert_eq!(file.faults, Faults { cables: vec![(0, 0)], nodes: vec![15], outside: vec![] });
        let expected =
            Header::default().with_first_step(1).with_direction(0, true).with_last_step(1);
        assert_eq!(file.table.header(0, 1), Some(expected));
    }

    /// Each corruption has a part of the message that names it: the reader's, or the proof's.
    #[test]
    fn each_of_two_dozen_corruptions_is_caught_and_named() {
        let square = "flitlab-routes 1\ntorus 4 4\nnodes (0,0) (1,0) (0,1) (1,1)\nroutes\n\
            (0,0) (1,0) . +x .\n(0,0) (0,1) . +y .\n(0,0) (1,1) . +x+y .\n\
            (1,0) (0,0) . -x .\n(1,0) (0,1) . +y-x .\n(1,0) (1,1) . +y .\n\
            (0,1) (0,0) . -y .\n(0,1) (1,0) . +x-y .\n(0,1) (1,1) . +x .\n\
            (1,1) (0,0) . -x-y .\n(1,1) (1,0) . -y .\n(1,1) (0,1) . -x .\n";
        let verdict = |text: &str| match TableFile::parse(text) {
            Err(error) => error.to_string(),
            Ok(file) => {
                let proof = prove(&file.fabric, &file.table);
                let flaws = proof.flaws.iter().map(|flaw| flaw.describe(&file.fabric));
                flaws.collect::<Vec<_>>().join("; ")
            }
        };
        assert_eq!(verdict(square), "");
        for (find, replace, message) in [
            ("flitlab-routes 1", "flitlab-routes 2", "line 1: version 2 is not known"),
            ("flitlab-routes 1", "routes", "line 1: a table file begins with"),
            ("torus 4 4", "torus 4 four", "line 2: sizes are whole numbers"),
            ("torus 4 4", "tours 4 4", "line 2: `torus` and its sizes should be here"),
            ("nodes (0,0)", "nodes (0,9)", "line 3: `(0,9)` is no node; the last one is (3,3)"),
            ("nodes", "failed-cable (0,0) +z\nnodes", "line 3: `+z` is no direction"),
            ("nodes", "failed-node (0,0)\nnodes", "node (0,0) has failed"),
            ("nodes", "node", "line 3: `node` is not known here"),
            ("nodes", "open x\nopen y\nnodes", "line 4: `open` again"),
            (
                "(0,0) (1,0) . +x .",
                "(0,0) (1,0) +x +x .",
                "the route from (0,0) to (1,0) has +x among its directions",
            ),
            ("routes\n(", "(", "line 4: `routes` should be here"),
            (
                "(0,0) (1,1) . +x+y .",
                "(0,0) (1,1) . +y+x .",
                "line 7: +y+x is not in direction order",
            ),
            (
                "(0,0) (1,1) . +x+y .",
                "(0,0) (1,1) . +x-x .",
                "line 7: +x-x goes twice in one dimension",
            ),
            (
                "(0,0) (1,1) . +x+y .",
                "(0,0) (1,1) -y +x .",
                "line 7: a first step is positive, not -y",
            ),
            (
                "(0,0) (1,1) . +x+y .",
                "(0,0) (1,1) . +x +y",
                "line 7: a last step is negative, not +y",
            ),
            ("(0,0) (1,1) . +x+y .", "(0,0) (1,1) . +x", "line 7: a route has five columns"),
            (
                "(0,0) (1,1) . +x+y .",
                "(0,0) (1,0) . +x .",
                "line 7: a second route from (0,0) to (1,0)",
            ),
            ("(0,0) (1,1) . +x+y .", "(0,0) (0,0) . +x .", "line 7: a route from (0,0) to itself"),
            (
                "(0,0) (1,1) . +x+y .",
                "(0,0) (2,2) . +x .",
                "line 7: node (2,2) is not in the node set",
            ),
            ("(0,0) (1,1) . +x+y .\n", "", "there is no route from (0,0) to (1,1)"),
            (
                "(0,0) (1,1) . +x+y .",
                "(0,0) (1,1) . +x .",
                "the route from (0,0) to (1,1) ends at (1,0)",
            ),
            (
                "(0,0) (1,1) . +x+y .",
                "(0,0) (1,1) . +x-y .",
                "takes channel (1,0) -y, which has failed, leaves the node set",
            ),
            ("nodes", "failed-cable (0,0) +x\nnodes", "takes channel (0,0) +x, which has failed"),
            (
                "(1,1) . +x+y .",
                "(1,1) +x +x+y -x",
                "takes channel (1,0) +x, which has failed, leaves",
            ),
        ] {
            assert!(square.contains(find), "{find}");
            let text = square.replacen(find, replace, 1);
            let found = verdict(&text);
            assert!(found.contains(message), "{replace}: {found}");
            assert_ne!(found, "", "{replace}");
        }
    }

    #[test]
    fn a_cycle_across_dimensions_is_printed() {
        let torus = Torus::new(&[4, 4], &[]).unwrap();
        let faults = Faults::default();
        let fabric = torus.fabric(&faults).unwrap();
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let mut table = choices.table(&balanced(&choices).selection);
        for source in 0..16 {
            let up = torus.neighbor(source, 1).unwrap();
            let header = Header::default().with_first_step(1).with_direction(0, true);
            table.set(source, torus.neighbor(up, 0).unwrap(), header);
        }
        let file = TableFile::new(torus, faults, fabric.clone(), table);
        let again = TableFile::parse(&text(&file)).unwrap();
        let proof = prove(&again.fabric, &again.table);
        let flaws: Vec<String> =
            proof.flaws.iter().map(|flaw| flaw.describe(&again.fabric)).collect();
        assert_eq!(flaws.len(), 1);
        assert!(flaws[0].contains("each of these channels can wait for the next"), "{}", flaws[0]);
        assert!(flaws[0].contains("+x") && flaws[0].contains("+y"), "{}", flaws[0]);
    }
}
