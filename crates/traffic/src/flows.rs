//! Flows of a trace: each is one message, of a time, a source, a destination and a size.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::csv_file::{self, Shape, Wrong};
use super::{Created, Message, MessageKind, Needs, Receipt, Wake, Workload, restored, saved};
use flitlab_base::document::Diagnostics;
use flitlab_base::narrow::{narrow, rounded};
use flitlab_base::units::{Bytes, Picoseconds, bytes_text};
use flitlab_fabric::{NodeName, Places};
use flitlab_model::workload::boxed;
use flitlab_traces::formats::FileKind;

/// A message of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// The terminal that sends it.
    pub source: u32,
    /// The terminal that receives it.
    pub destination: u32,
    /// When it begins.
    pub time: Picoseconds,
    /// Its payload, at least 1.
    pub bytes: u64,
}

/// The header's name of the time, with the unit in picoseconds.
const TIMES: [(&str, u64); 5] = [
    ("time_ps", 1),
    ("time_ns", 1_000),
    ("time_us", 1_000_000),
    ("time_ms", 1_000_000_000),
    ("time_s", 1_000_000_000_000),
];

/// The latest time at which a flow may begin: an hour.
const LATEST: u64 = 3_600_000_000_000_000;

const SHAPE: Shape<'static> = Shape {
    kind: FileKind::Flows,
    noun: "flows",
    header: "time_us,source,destination,bytes",
    hint: "the time may be time_ps, time_ns, time_us, time_ms or time_s",
};

/// The flows of a trace, in the order in which their sources begin them.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowsSpec {
    /// By source, then time, then as in the file.
    pub flows: Arc<[Flow]>,
}

impl FlowsSpec {
    /// Reads a CSV file whose columns are a time, whose unit is part of its name, `source`,
    /// `destination` and `bytes`, in any order. The rows may have any order, too.
    ///
    /// # Errors
    /// The mistakes in the file, each with its line.
    pub fn read(path: &Path, places: Option<Places<'_>>, most: u64) -> Result<Self, Diagnostics> {
        let names = NodeName { places };
        let columns = std::cell::Cell::new([0; 4]);
        let unit = std::cell::Cell::new(1);
        let header = |record: &csv::StringRecord| {
            let find = |name: &str| record.iter().position(|column| column == name);
            let time = TIMES.iter().find_map(|&(name, unit)| Some((find(name)?, unit)));
            let others = [find("source"), find("destination"), find("bytes")];
            let (Some((time, of)), [Some(source), Some(destination), Some(bytes)]) = (time, others)
            else {
                return false;
            };
            unit.set(of);
            columns.set([time, source, destination, bytes]);
            record.len() == 4
        };
        let mut flows = Vec::new();
        let row = |record: &csv::StringRecord| {
            let [time, source, destination, bytes] = columns.get();
            let node = |column: usize| {
                let wrong =
                    |(message, help): (String, _)| Wrong::column(column, message).help(help);
                names.of_text(&record[column]).map_err(wrong)
            };
            let flow = Flow {
                time: time_of(&record[time], unit.get()).ok_or_else(|| {
                    let message = format!("`{}` is no time of a flow", &record[time]);
                    Wrong::column(time, message).help("a number from 0 to an hour".to_owned())
                })?,
                source: node(source)?,
                destination: node(destination)?,
                bytes: record[bytes].parse().ok().filter(|it| (1..=most).contains(it)).ok_or_else(
                    || {
                        let message = format!("`{}` is no size of a flow", &record[bytes]);
                        let most = bytes_text(Bytes(most));
                        let help = format!("a whole number of bytes, from 1 to {most}");
                        Wrong::column(bytes, message).help(help)
                    },
                )?,
            };
            if flow.source == flow.destination {
                let message = "a flow from a node to itself does not cross the network";
                return Err(Wrong::row(message).help("leave it out".to_owned()));
            }
            flows.push(flow);
            Ok(())
        };
        let read = csv_file::read(path, None, &SHAPE, header, row);
        if let Err(problems) = read {
            return Err(Diagnostics::check(problems).expect_err("there are some"));
        }
        flows.sort_by_key(|flow| (flow.source, flow.time));
        Ok(Self { flows: flows.into() })
    }

    /// Bytes that the flows of so many terminals take, about.
    pub fn memory_needed(&self, terminals: u32) -> u64 {
        let each = size_of::<Flow>() + size_of::<(u32, Picoseconds)>();
        self.flows.len() as u64 * each as u64 + u64::from(terminals) * size_of::<u32>() as u64
    }
}

/// A time in this unit, in whole picoseconds.
fn time_of(text: &str, unit: u64) -> Option<Picoseconds> {
    let whole = text.parse().ok().and_then(|number: u64| number.checked_mul(unit));
    let time = whole.or_else(|| {
        let number: f64 = text.parse().ok()?;
        let time = number * unit as f64;
        (time >= 0.0 && time <= LATEST as f64).then(|| rounded(time))
    })?;
    (time <= LATEST).then_some(Picoseconds(time))
}

/// The flows of a trace under way, of all terminals or of a range of them.
#[derive(Clone, Debug)]
pub struct Flows {
    flows: Arc<[Flow]>,
    /// The terminals whose next flows are kept here.
    terminals: Range<u32>,
    /// For each of them, the place of its next flow.
    next: Vec<u32>,
    /// Flows that its terminals have received, and when.
    received: Vec<(u32, Picoseconds)>,
}

impl Flows {
    /// The flows from their beginning, among so many terminals.
    pub fn new(spec: &FlowsSpec, terminals: u32) -> Self {
        let flows = spec.flows.clone();
        let first = |terminal| flows.partition_point(|flow| flow.source < terminal);
        let next = (0..terminals).map(|terminal| narrow(first(terminal))).collect();
        Self { flows, terminals: 0..terminals, next, received: Vec::new() }
    }

    /// The flows that its terminals have received, in the order of their receipts at each, with
    /// their completion times: from the beginning of the flow to its receipt.
    pub fn completed(&self) -> impl Iterator<Item = (&Flow, Picoseconds)> {
        self.received.iter().map(|&(number, time)| {
            let flow = &self.flows[number as usize];
            (flow, time - flow.time)
        })
    }

    fn own(&self, terminal: u32) -> usize {
        (terminal - self.terminals.start) as usize
    }

    /// The next flow of a terminal.
    fn upcoming(&self, terminal: u32) -> Option<&Flow> {
        let place = self.next[self.own(terminal)] as usize;
        self.flows.get(place).filter(|flow| flow.source == terminal)
    }
}

impl Workload for Flows {
    fn is_open(&self) -> bool {
        true
    }

    fn first(&mut self, terminal: u32) -> Option<Picoseconds> {
        self.upcoming(terminal).map(|flow| flow.time)
    }

    fn create(&mut self, terminal: u32, now: Picoseconds) -> Created {
        let own = self.own(terminal);
        let flow = self.upcoming(terminal).filter(|flow| flow.time <= now);
        let message = flow.map(|flow| Message {
            time: flow.time,
            source: terminal,
            destination: flow.destination,
            bytes: flow.bytes,
            kind: MessageKind::Data,
            tag: self.next[own].into(),
            class: 0,
        });
        self.next[own] += u32::from(message.is_some());
        (message, self.first(terminal))
    }

    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64)) {
        self.flows.iter().for_each(|flow| each(MessageKind::Data, flow.bytes));
    }

    /// Receipts are noted with their times.
    fn needs(&self) -> Needs {
        Needs { receipts: true, ahead: true, ..Needs::default() }
    }

    fn received(&mut self, _: u32, receipt: &Receipt) -> Wake {
        self.received.push((narrow(receipt.tag), receipt.time));
        Wake::Nobody
    }

    fn messages(&self) -> u64 {
        self.flows.len() as u64
    }

    fn state(&self) -> Vec<u8> {
        saved(&(&self.next, &self.received))
    }

    fn resume(&mut self, state: &[u8]) -> bool {
        let Some((next, received)) = restored::<(Vec<u32>, Vec<_>)>(state) else { return false };
        let fits = next.len() == self.next.len();
        if fits {
            (self.next, self.received) = (next, received);
        }
        fits
    }

    fn split(self: Box<Self>, terminals: &[Range<u32>]) -> Vec<Box<dyn Workload>> {
        boxed(terminals.iter().map(|range| Self {
            next: self.next[range.start as usize..range.end as usize].to_vec(),
            terminals: range.clone(),
            ..(*self).clone()
        }))
    }

    fn memory(&self) -> usize {
        self.flows.len() * size_of::<Flow>()
            + self.next.capacity() * size_of::<u32>()
            + self.received.capacity() * size_of::<(u32, Picoseconds)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_picoseconds() {
        for (text, unit, time) in [
            ("12", 1, Some(12)),
            ("12.5", 1_000_000, Some(12_500_000)),
            ("0.0000000123", 1_000_000_000_000, Some(12_300)),
            ("1e-3", 1_000_000, Some(1_000)),
            ("3600", 1_000_000_000_000, Some(LATEST)),
            ("3601", 1_000_000_000_000, None),
            ("-1", 1, None),
            ("1e300", 1, None),
            ("nan", 1, None),
            ("soon", 1, None),
        ] {
            assert_eq!(time_of(text, unit), time.map(Picoseconds), "{text}");
        }
    }

    #[test]
    fn flows_are_created_in_the_order_of_their_times_and_go_on_from_their_state() {
        let flow = |time, source, destination| Flow {
            time: Picoseconds(time),
            source,
            destination,
            bytes: 10 + time,
        };
        let flows = [flow(5, 1, 0), flow(9, 1, 2), flow(9, 1, 0), flow(3, 2, 1)];
        let spec = FlowsSpec { flows: flows.into() };
        let mut whole = Flows::new(&spec, 4);
        assert_eq!((whole.first(0), whole.first(2)), (None, Some(Picoseconds(3))));
        let (message, next) = whole.create(1, Picoseconds(5));
        assert_eq!((message.unwrap().bytes, next), (15, Some(Picoseconds(9))));
        let receipt = Receipt {
            tag: 0,
            created: Picoseconds(5),
            injected: Picoseconds(6),
            hops: 1,
            sequence: 0,
            channel: 0,
            trailing: Picoseconds(7),
            leading: Picoseconds(0),
            time: Picoseconds(77),
        };
        assert_eq!(whole.received(0, &receipt), Wake::Nobody);
        let mut resumed = Flows::new(&spec, 4);
        assert!(resumed.resume(&whole.state()));
        assert!(!Flows::new(&spec, 3).resume(&whole.state()));
        assert_eq!(resumed.completed().collect::<Vec<_>>(), [(&flows[0], Picoseconds(72))]);
        let created: Vec<u32> = std::iter::from_fn(|| resumed.create(1, Picoseconds(9)).0)
            .map(|message| message.destination)
            .collect();
        assert_eq!(created, [2, 0]);
    }
}
