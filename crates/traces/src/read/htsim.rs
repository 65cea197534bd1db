//! Connection matrices of htsim (`sim/datacenter/connection_matrix.cpp` \[csg-htsim\]): a message a
//! line.
//!
//! A connection has no place in a program: it begins at its time, whatever else its node does. So
//! each is a sequence of its own. Triggers are dependencies between nodes, for which a schedule has
//! messages only; they are kept where the connection that sets one off ends where those begin that
//! wait for it.

use std::collections::BTreeMap;

use super::calls::MAX_BYTES;
use super::files::{Input, MAX_RANKS};
use super::lines::{Word, Words, any, is_number, read_lines};
use super::{Content, Format, Options};
use crate::complaints::{Flaw, of_file, shown};
use flitlab_application::generate::program::{End, Program};
use flitlab_base::document::{Diagnostic, Diagnostics};
use flitlab_base::narrow::narrow;

pub(crate) const HTSIM: Format = Format {
    name: "htsim",
    what: "a connection matrix of htsim",
    doc: "a message a line, with the time or the trigger at which it begins.",
    is: |file| any(&file.bytes, is_line),
    takes: &[],
    read,
};

/// Whether a line is `Nodes 2`, `Connections 1`, or `0->1` and something behind it.
fn is_line(line: &str) -> bool {
    let Some((first, rest)) = line.split_once(' ') else { return false };
    let ends = first.split_once("->");
    // Routes of Angara's tables begin alike, and so does a key of a scenario, `nodes = 4`.
    let connects =
        || rest.split_whitespace().any(|word| matches!(word, "size" | "start" | "trigger"));
    let counts = || rest.starts_with(|sign: char| sign.is_ascii_digit() || sign == '-');
    (matches!(first, "Nodes" | "nodes") && counts())
        || (first == "Connections" && is_number(rest))
        || ends.is_some_and(|(source, to)| is_number(source) && is_number(to)) && connects()
}

/// How a connection begins.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Begin {
    /// At so many picoseconds.
    At(f64),
    /// When a trigger goes off.
    Trigger(u32),
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    source: u32,
    destination: u32,
    bytes: u64,
    begin: Begin,
    /// The triggers that its end sets off: at its source, and at its destination.
    sent: Option<u32>,
    received: Option<u32>,
    line: usize,
}

/// A trigger, and how many connections it waits for: one, or as many as a barrier counts.
#[derive(Clone, Copy, Debug)]
struct Trigger {
    count: usize,
    line: usize,
}

/// A matrix as it is read.
#[derive(Default)]
struct Matrix {
    nodes: Option<u32>,
    /// How many there are said to be.
    said: BTreeMap<&'static str, u64>,
    connections: Vec<Connection>,
    triggers: BTreeMap<u32, Trigger>,
}

fn read(input: &Input<'_>, _: &Options) -> Result<Content, Diagnostics> {
    let path = input.path();
    let name = path.display().to_string();
    let mut matrix = Matrix::default();
    read_lines(&name, &mut *input.open(path)?, |number, line| matrix.line(number, line))?;
    matrix.schedule().map_err(|flaw| {
        let place = flaw.line.map_or(name.clone(), |line| format!("{name}:{line}"));
        of_file(Diagnostic::unplaced(format!("{place}: {}", flaw.message)).help(flaw.help))
    })
}

/// A mistake of the whole, or of a line of it.
struct Mistake {
    line: Option<usize>,
    message: String,
    help: String,
}

fn mistake(line: Option<usize>, message: String, help: &str) -> Mistake {
    Mistake { line, message, help: help.into() }
}

impl Matrix {
    fn line(&mut self, number: usize, line: &str) -> Result<(), Flaw> {
        let mut words = Words::of(line);
        let Some(first) = words.next().filter(|it| !it.text.starts_with('#')) else {
            return Ok(());
        };
        match first.text {
            "Nodes" | "nodes" => {
                let word = words.required("the number of nodes")?;
                let nodes = u32::try_from(word.count("the number of nodes")?);
                let nodes = nodes.ok().filter(|nodes| (1..=MAX_RANKS).contains(nodes));
                let most = format!("there are 1 to {MAX_RANKS} nodes");
                self.nodes = Some(nodes.ok_or_else(|| word.flaw(most))?);
            }
            "Connections" | "Triggers" | "Failures" => {
                let known = ["Connections", "Triggers", "Failures"];
                let key = known.into_iter().find(|known| *known == first.text);
                let count = words.required("the count")?.count("the count")?;
                self.said.insert(key.unwrap_or_default(), count);
            }
            "trigger" => self.trigger(number, first, words)?,
            "failure" => {
                let flaw = first.flaw("failures of htsim's switches are not read");
                return Err(flaw.help("[failures] of the scenario has failures of its own network"));
            }
            text => match text.split_once("->") {
                Some((source, destination)) => {
                    let node = |text: &str| text.parse().ok();
                    let ends = node(source).zip(node(destination));
                    let (source, destination) = ends.ok_or_else(|| {
                        first.flaw("a connection is written `source->destination`")
                    })?;
                    self.connection(number, first, (source, destination), words)?;
                }
                None => {
                    let flaw = first.flaw(format!("no line begins with `{}`", shown(text)));
                    return Err(flaw.help(
                        "lines are `Nodes N`, `Connections N`, `Triggers N`, `trigger id N oneshot` and \
                         `0->1 id 1 start 0 size 1000`",
                    ));
                }
            },
        }
        Ok(())
    }

    fn connection(
        &mut self,
        line: usize,
        first: Word<'_>,
        (source, destination): (u32, u32),
        mut words: Words<'_>,
    ) -> Result<(), Flaw> {
        let nodes = self.nodes.ok_or_else(|| {
            first.flaw("the number of nodes is not known").help("the file begins with `Nodes 16`")
        })?;
        if let Some(node) = [source, destination].into_iter().find(|node| *node >= nodes) {
            return Err(first.flaw(format!("there is no node {node}: 0 to {}", nodes - 1)));
        }
        let (mut start, mut trigger, mut bytes) = (None, None, None);
        let (mut sent, mut received) = (None, None);
        while let Some(key) = words.next() {
            if key.text == "addon" {
                continue;
            }
            let value = words.required(&format!("the value of `{}`", shown(key.text)))?;
            let id = || -> Result<Option<u32>, Flaw> {
                let id = u32::try_from(value.count("a number")?).ok().filter(|id| *id > 0);
                id.map(Some).ok_or_else(|| value.flaw("numbers of triggers begin with 1"))
            };
            match key.text {
                "start" => start = Some(value.amount("the start")?),
                "size" => {
                    let size = value.count("the size")?;
                    if size > MAX_BYTES {
                        return Err(value.flaw("a message has a tebibyte at the most"));
                    }
                    bytes = Some(size);
                }
                "trigger" => trigger = id()?,
                "send_done_trigger" => sent = id()?,
                "recv_done_trigger" => received = id()?,
                // Their order among others on the way is htsim's own matter.
                "id" | "prio" => {}
                other => {
                    let flaw = key.flaw(format!("a connection has no `{}`", shown(other)));
                    return Err(flaw.help(
                        "it has id, start, size, trigger, send_done_trigger, recv_done_trigger, prio and addon",
                    ));
                }
            }
        }
        let begin = match (start, trigger) {
            (Some(start), None) => Begin::At(start),
            (None, Some(trigger)) => Begin::Trigger(trigger),
            (Some(_), Some(_)) => {
                return Err(first.flaw("a connection has a start or a trigger, not both"));
            }
            (None, None) => {
                let flaw = first.flaw("it is not said when this connection begins");
                return Err(flaw.help("write `start 0`, in picoseconds, or `trigger 1`"));
            }
        };
        let bytes = bytes.filter(|bytes| *bytes > 0).ok_or_else(|| {
            let flaw = first.flaw("a connection without a size, or of size 0, goes on for ever");
            flaw.help("for a load that goes on, `pattern = { matrix = { file = ... } }` in [traffic] reads a CSV \
                       file with the header `source,destination,weight`")
        })?;
        self.connections.push(Connection {
            source,
            destination,
            bytes,
            begin,
            sent,
            received,
            line,
        });
        Ok(())
    }

    fn trigger(&mut self, line: usize, first: Word<'_>, mut words: Words<'_>) -> Result<(), Flaw> {
        let (mut id, mut count, mut is_barrier) = (None, None, None);
        while let Some(key) = words.next() {
            match key.text {
                "id" => id = Some(words.required("its number")?.count("its number")?),
                "count" => count = Some(words.required("its count")?.count("its count")?),
                "oneshot" => is_barrier = Some(false),
                "barrier" => is_barrier = Some(true),
                "multishot" => {
                    let flaw = key.flaw("a trigger that goes off several times is not read");
                    return Err(flaw.help("a schedule's operation happens once: write a trigger and a connection for each time"));
                }
                other => return Err(key.flaw(format!("a trigger has no `{}`", shown(other)))),
            }
        }
        let id = id.and_then(|id| u32::try_from(id).ok()).filter(|id| *id > 0);
        let (Some(id), Some(is_barrier)) = (id, is_barrier) else {
            let flaw = first.flaw("a trigger has a number and a kind");
            return Err(
                flaw.help("write `trigger id 1 oneshot`, or `trigger id 1 count 3 barrier`")
            );
        };
        let count = if is_barrier { count.unwrap_or(1) } else { 1 };
        let trigger = Trigger { count: narrow(count.min(1 << 32)), line };
        if self.triggers.insert(id, trigger).is_some() {
            return Err(first.flaw(format!("there are two triggers {id}")));
        }
        Ok(())
    }

    /// The connections by the trigger that they set off, and the node where they end for it.
    fn causes(&self) -> BTreeMap<u32, Vec<(usize, u32)>> {
        let mut causes: BTreeMap<u32, Vec<(usize, u32)>> = BTreeMap::new();
        for (place, it) in self.connections.iter().enumerate() {
            for (trigger, node) in [(it.sent, it.source), (it.received, it.destination)] {
                if let Some(trigger) = trigger {
                    causes.entry(trigger).or_default().push((place, node));
                }
            }
        }
        causes
    }

    fn schedule(self) -> Result<Content, Mistake> {
        let nodes = self.nodes.ok_or_else(|| {
            mistake(None, "it has no line `Nodes`".into(), "the file begins with `Nodes 16`")
        })?;
        let counts = [("Connections", self.connections.len()), ("Triggers", self.triggers.len())];
        for (key, count) in counts {
            let said = self.said.get(key).copied().unwrap_or(count as u64);
            if said != count as u64 {
                let message = format!("`{key} {said}` stands in it, and there are {count}");
                return Err(mistake(None, message, "was the file cut off?"));
            }
        }
        let causes = self.causes();
        for (trigger, set_off) in &causes {
            let Some(it) = self.triggers.get(trigger) else {
                let line = self.connections[set_off[0].0].line;
                let message = format!("there is no trigger {trigger}");
                return Err(mistake(Some(line), message, "write `trigger id 1 oneshot` for it"));
            };
            if set_off.len() != it.count {
                let message = format!(
                    "trigger {trigger} goes off after {} connections, and {} set it off",
                    it.count,
                    set_off.len()
                );
                return Err(mistake(
                    Some(it.line),
                    message,
                    "one that goes off after some of many depends on which are first, which no schedule can say: let \
                     `count` be the number of those that set it off",
                ));
            }
        }
        // By node: the connections that it sends and those that it receives.
        let mut of_nodes: Vec<Vec<usize>> = vec![Vec::new(); nodes as usize];
        for (place, it) in self.connections.iter().enumerate() {
            of_nodes[it.source as usize].push(place);
            if it.destination != it.source {
                of_nodes[it.destination as usize].push(place);
            }
            if let Begin::Trigger(trigger) = it.begin {
                self.can_wait(it, trigger, &causes)?;
            }
        }
        let mut program = Program::new();
        for (node, own) in (0..).zip(&of_nodes) {
            self.node(&mut program, node, own, &causes)?;
            if !program.next_rank() {
                break;
            }
        }
        let finished = program.finish();
        let schedule =
            finished.map_err(|message| mistake(None, message, "write a smaller matrix"))?;
        let calls = [("connection", self.connections.len()), ("trigger", self.triggers.len())];
        let calls = calls.into_iter().filter(|it| it.1 > 0).map(|(it, count)| (it, count as u64));
        Ok(Content { calls: calls.collect(), ..Content::of(schedule) })
    }

    /// Whether a connection can wait for a trigger: those that set it off end at its source.
    fn can_wait(
        &self,
        it: &Connection,
        trigger: u32,
        causes: &BTreeMap<u32, Vec<(usize, u32)>>,
    ) -> Result<(), Mistake> {
        let Some(set_off) = causes.get(&trigger) else {
            let message = format!("nothing sets off trigger {trigger}");
            return Err(mistake(Some(it.line), message, "this connection would never begin"));
        };
        let elsewhere = set_off.iter().find(|(_, node)| *node != it.source);
        let Some((other, node)) = elsewhere else { return Ok(()) };
        let message = format!(
            "it begins at node {} when trigger {trigger} goes off, which the connection of line {} does at node {node}",
            it.source, self.connections[*other].line
        );
        Err(mistake(
            Some(it.line),
            message,
            "htsim's triggers take no time from node to node, for which a schedule has no means: use send_done_trigger \
             of a connection from this node, or recv_done_trigger of one to it",
        ))
    }

    /// Adds what a node does.
    fn node(
        &self,
        program: &mut Program,
        node: u32,
        own: &[usize],
        causes: &BTreeMap<u32, Vec<(usize, u32)>>,
    ) -> Result<(), Mistake> {
        // By connection and end: when it has ended here.
        let mut sent: BTreeMap<usize, End> = BTreeMap::new();
        let mut received: BTreeMap<usize, End> = BTreeMap::new();
        let tag = |place: usize| narrow::<u32>(place) & ((1 << 31) - 1);
        for &place in own {
            let it = &self.connections[place];
            if it.destination == node {
                program.begin_sequence(1, &[]);
                program.receive(it.bytes, it.source, tag(place));
                received.insert(place, program.end_sequence());
            }
        }
        let mut waiting: Vec<usize> =
            own.iter().copied().filter(|it| self.connections[*it].source == node).collect();
        // The times of all beginnings, one after the other on a stream of its own.
        let mut starts: Vec<(f64, usize)> = Vec::new();
        for &place in &waiting {
            if let Begin::At(start) = self.connections[place].begin {
                starts.push((start, place));
            }
        }
        starts.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let (mut clock, mut now) = (End::default(), 0.0);
        let mut begun: BTreeMap<usize, End> = BTreeMap::new();
        for (start, place) in starts {
            // Whole nanoseconds, from the begin on.
            let start = (start / 1e3).round();
            if start > now {
                program.begin_sequence(0, &[clock]);
                program.compute(start - now);
                (clock, now) = (program.end_sequence(), start);
            }
            begun.insert(place, clock);
        }
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|&place| {
                let it = &self.connections[place];
                let after: Option<Vec<End>> = match it.begin {
                    Begin::At(_) => Some(vec![begun[&place]]),
                    Begin::Trigger(trigger) => causes[&trigger]
                        .iter()
                        .map(|(other, _)| {
                            let cause = &self.connections[*other];
                            let by_send = cause.sent == Some(trigger);
                            if by_send { sent.get(other) } else { received.get(other) }.copied()
                        })
                        .collect(),
                };
                let Some(after) = after else { return true };
                program.begin_sequence(1, &after);
                program.send(it.bytes, it.destination, tag(place));
                sent.insert(place, program.end_sequence());
                false
            });
            if waiting.len() == before {
                let line = self.connections[waiting[0]].line;
                let message = "it waits for itself by way of triggers".into();
                return Err(mistake(Some(line), message, "it would never begin"));
            }
        }
        Ok(())
    }
}
