//! The sizes of messages: one for all, or drawn for each message from a table of sizes and weights
//! or from a cumulative distribution.
//!
//! A cumulative distribution is given by points, as papers on data centres publish theirs: so much
//! of all messages have at most so many bytes. Between two points it is linear. If there are at most
//! [`STEPS`] whole numbers of bytes from one point to the next, each of them is as likely as any
//! other. Else the way is cut into [`STEPS`] equal stretches, and the middle of each stands for it,
//! so that the mean stays.
//!
//! Sizes are drawn as integers, so that they are equal on every machine.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::csv_file::{self, Shape, Wrong};
use super::share::ONE;
use flitlab_base::document::{
    Diagnostic, Kind, List, Listed, Location, Node, Reader, Slot, Text, Value, beside, both, size,
    wrong_type,
};
use flitlab_base::narrow::{narrow, rounded};
use flitlab_base::units::{Bytes, bytes_text, parse_bytes};
use flitlab_traces::formats::FileKind;

/// Sizes that stand for all between two points of a cumulative distribution.
pub const STEPS: u64 = 256;

/// The most by which the last probability of a cumulative distribution may differ from 1.
const ROUNDING: f64 = 1e-6;

/// The sizes that messages may have, and how likely each is.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageSizes {
    /// Sizes in bytes, ascending, and the sum of the weights up to and including each; the last sum
    /// is about [`ONE`], and at most that but for a weight of 1 for each size.
    entries: Arc<[(u64, u64)]>,
}

impl From<u64> for MessageSizes {
    /// All messages have this size.
    fn from(bytes: u64) -> Self {
        Self { entries: [(bytes, ONE)].into() }
    }
}

impl From<Bytes> for MessageSizes {
    fn from(size: Bytes) -> Self {
        size.0.into()
    }
}

impl MessageSizes {
    /// Sizes with weights, which are above 0 in sum. A size may stand there several times.
    ///
    /// # Panics
    /// If no weight is above 0.
    pub fn weighted(sizes: &[(Bytes, f64)]) -> Self {
        let most = sizes.iter().fold(0.0, |most: f64, one| most.max(one.1));
        assert!(most > 0.0, "a weight above 0");
        // Relative to the greatest, so that sums are finite.
        let mut weights: BTreeMap<u64, f64> = BTreeMap::new();
        for &(size, weight) in sizes.iter().filter(|one| one.1 > 0.0) {
            *weights.entry(size.0).or_default() += weight / most;
        }
        let total: f64 = weights.values().sum();
        let mut sum = 0;
        let entries = weights.into_iter().map(|(size, weight)| {
            sum += rounded::<u64>(weight / total * ONE as f64).max(1);
            (size, sum)
        });
        Self { entries: entries.collect() }
    }

    /// A cumulative distribution: sizes, ascending, each with the probability that a message has at
    /// most that size; the last one is 1. The first size has its probability itself.
    pub fn cumulative(points: &[(Bytes, f64)]) -> Self {
        let mut sizes = Vec::new();
        if let Some(&first) = points.first() {
            sizes.push(first);
        }
        for two in points.windows(2) {
            let [(Bytes(from), before), (Bytes(to), up_to)] = [two[0], two[1]];
            let between = to - from;
            let steps = between.min(STEPS);
            let weight = (up_to - before) / steps as f64;
            for step in 0..steps {
                let size = if between <= STEPS {
                    from + step + 1
                } else {
                    let twice = u128::from(between) * u128::from(2 * step + 1);
                    from + narrow::<u64>(twice / u128::from(2 * STEPS))
                };
                sizes.push((Bytes(size), weight));
            }
        }
        Self::weighted(&sizes)
    }

    /// The size, if all messages have the same.
    pub fn only(&self) -> Option<u64> {
        match &*self.entries {
            [(bytes, _)] => Some(*bytes),
            _ => None,
        }
    }

    /// Calls `each` with every size and its share of the messages. The shares add up to 1.
    pub fn for_each(&self, mut each: impl FnMut(u64, f64)) {
        let mut before = 0;
        for &(bytes, sum) in &*self.entries {
            each(bytes, (sum - before) as f64 / self.total() as f64);
            before = sum;
        }
    }

    /// The sum of all weights.
    fn total(&self) -> u64 {
        self.entries.last().expect("a size at least").1
    }

    /// The mean over messages of what `of` says of a size.
    pub fn mean_of(&self, of: impl Fn(u64) -> f64) -> f64 {
        if let Some(only) = self.only() {
            return of(only);
        }
        let mut mean = 0.0;
        self.for_each(|bytes, share| mean += share * of(bytes));
        mean
    }

    /// The mean size, in bytes.
    pub fn mean(&self) -> f64 {
        self.mean_of(|bytes| bytes as f64)
    }

    /// The mean size of the message of a byte, in bytes: large messages have more of them.
    pub fn mean_of_bytes(&self) -> f64 {
        match self.only() {
            Some(only) => only as f64,
            None => self.mean_of(|bytes| bytes as f64 * bytes as f64) / self.mean(),
        }
    }

    /// The least size.
    pub fn least(&self) -> u64 {
        self.entries[0].0
    }

    /// The largest size.
    pub fn largest(&self) -> u64 {
        self.entries[self.entries.len() - 1].0
    }

    /// Draws the number of a size for a message.
    pub(super) fn draw(&self, random: &mut ChaCha8Rng) -> u32 {
        let drawn = random.random_range(0..self.total());
        let place = self.entries.partition_point(|entry| entry.1 <= drawn);
        narrow(place)
    }

    /// The size of this number, in bytes.
    #[inline]
    pub(super) fn at(&self, number: u32) -> u64 {
        self.entries[number as usize].0
    }

    /// Bytes on the heap.
    pub(super) fn memory(&self) -> usize {
        self.entries.len() * size_of::<(u64, u64)>()
    }

    /// Reads the keys of `sizes`. `most` is the largest size that a message may have.
    pub fn read(reader: &mut Reader<'_>, most: u64) -> Option<Self> {
        let list = |what, noun| List {
            kind: SizeAnd { what, most },
            noun,
            length: 1..=usize::MAX,
            example: None,
        };
        let (weights, points) = (list(WEIGHT, "sizes"), list(PROBABILITY, "points"));
        let doc = "Sizes with weights: a message has one of them in proportion to its weight.";
        let weighted = reader.optional("list", &weights, doc);
        let recorded = reader.resolved.len();
        let doc = "Points of a cumulative distribution: sizes, ascending, each with the probability that a message has at \
                   most that size, up to 1. It is linear in between.";
        let cumulative = reader.optional("cumulative", &points, doc);
        let place = reader.place("file");
        let kind = Text { what: "a file's path", example: "web-search.csv" };
        let doc = "A CSV file beside the scenario with such points instead, and the header `bytes,cumulative`.";
        let file = reader.optional("file", &kind, doc);
        let keys = ["list", "cumulative", "file"].into_iter().filter(|key| reader.has(key));
        let present: Vec<&str> = keys.collect();
        if let ([first, second, ..], Some(scope)) = (&present[..], reader.scope.place.clone()) {
            let place = reader.key_place(second).unwrap_or(scope);
            let message = format!(
                "`sizes` takes one of `list`, `cumulative` and `file`, not `{first}` and `{second}`"
            );
            reader.problems.push(Diagnostic::new(&place, message).help("keep one of them"));
            return None;
        }
        if let (true, Some(place)) = (present.is_empty(), reader.scope.place.clone()) {
            let message = "`sizes` needs `list`, `cumulative` or `file`";
            let help = "write for example `sizes = { list = [[\"64 B\", 3], [\"4 KiB\", 1]] }`";
            reader.problems.push(Diagnostic::new(&place, message).help(help));
        }
        if let Some(sizes) = weighted {
            return of_list(reader, sizes);
        }
        let listed = match (cumulative, file) {
            (Some(points), _) => points,
            (None, Some(file)) => {
                let read = read_file(&beside(reader, &file), &place?, most);
                let read = read.map_err(|problems| reader.problems.extend(problems)).ok()?;
                // A resolved scenario may go anywhere, so it takes the file's contents along.
                reader.resolved.truncate(recorded);
                reader.record("cumulative", points.show(&read));
                return Some(Self::cumulative(&Listed::values(read)));
            }
            (None, None) => return None,
        };
        let mut before = None;
        let mut sound = true;
        for Listed { value, place } in &listed {
            if let (Some(problem), Some(place)) = (wrong_point(before, *value), place) {
                sound = false;
                reader.problems.push(Diagnostic::new(place, problem));
            }
            before = Some(*value);
        }
        if let (Some(problem), Some(last)) = (wrong_end(before), listed.last().filter(|_| sound)) {
            sound = false;
            let (message, help) = problem;
            if let Some(place) = &last.place {
                reader.problems.push(Diagnostic::new(place, message).help(help));
            }
        }
        sound.then(|| Self::cumulative(&Listed::values(listed)))
    }
}

/// The sizes of a list with weights.
fn of_list(reader: &mut Reader<'_>, sizes: Vec<Listed<(Bytes, f64)>>) -> Option<MessageSizes> {
    let place = reader.place("list");
    let sizes = Listed::values(sizes);
    if sizes.iter().all(|one| one.1 == 0.0) {
        reader.problems.push(Diagnostic::new(&place?, "all weights of `sizes` are 0"));
        return None;
    }
    if let Some(Bytes(0)) = sizes.iter().map(|one| one.0).min() {
        let message = "messages of 0 B can't be among others";
        reader.problems.push(Diagnostic::new(&place?, message).help("give them a byte"));
        return None;
    }
    Some(MessageSizes::weighted(&sizes))
}

/// What is wrong with a point behind the one before it.
fn wrong_point(before: Option<(Bytes, f64)>, point: (Bytes, f64)) -> Option<String> {
    let (size, up_to) = point;
    match before {
        None if size.0 == 0 && up_to > 0.0 => {
            Some("a message has at least one byte, so the probability of 0 B is 0".into())
        }
        Some((before, _)) if size <= before => Some(format!(
            "sizes must ascend, and {} is not above {}",
            bytes_text(size),
            bytes_text(before)
        )),
        Some((_, before)) if up_to < before => {
            Some(format!("probabilities must not fall, and {up_to} is below {before}"))
        }
        _ => None,
    }
}

/// What is wrong with the last point, and the way out.
fn wrong_end(last: Option<(Bytes, f64)>) -> Option<(String, String)> {
    let (_, up_to) = last.filter(|last| (last.1 - 1.0).abs() > ROUNDING)?;
    let help = if (up_to - 100.0).abs() < 1e-3 {
        "these look like percentages: divide them by 100"
    } else {
        "add the largest size with the probability 1"
    };
    Some((format!("the last probability must be 1, not {up_to}"), help.into()))
}

/// Reads the points of a CSV file.
fn read_file(
    path: &Path,
    place: &Location,
    most: u64,
) -> Result<Vec<Listed<(Bytes, f64)>>, Vec<Diagnostic>> {
    let shape =
        Shape { kind: FileKind::Sizes, noun: "sizes", header: "bytes,cumulative", hint: "" };
    let mut points: Vec<(Bytes, f64)> = Vec::new();
    let header = |record: &csv::StringRecord| record.iter().eq(["bytes", "cumulative"]);
    csv_file::read(path, Some(place), &shape, header, |record| {
        let bytes = record[0].parse().ok().or_else(|| parse_bytes(&record[0]).ok().map(|it| it.0));
        let bytes = bytes.filter(|&bytes| bytes <= most).ok_or_else(|| {
            let message = format!("`{}` is no size of a message", &record[0]);
            let most = bytes_text(Bytes(most));
            Wrong::column(0, message).help(format!("a whole number of bytes, up to {most}"))
        })?;
        let up_to = record[1].parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0);
        let up_to = up_to.ok_or_else(|| {
            Wrong::column(1, format!("`{}` is no probability: a number from 0 to 1", &record[1]))
        })?;
        let point = (Bytes(bytes), up_to);
        if let Some(message) = wrong_point(points.last().copied(), point) {
            return Err(Wrong::row(message));
        }
        points.push(point);
        Ok(())
    })?;
    match wrong_end(points.last().copied()) {
        None if points.is_empty() => {
            let message = format!("{} has no points", path.display());
            Err(vec![Diagnostic::new(place, message).help("add lines such as 10000,0.15")])
        }
        None => Ok(points.into_iter().map(|value| Listed { value, place: None }).collect()),
        Some((message, help)) => {
            let message = format!("{}: {message}", path.display());
            Err(vec![Diagnostic::new(place, message).help(help)])
        }
    }
}

/// What stands behind a size.
#[derive(Clone, Copy)]
struct Beside {
    name: &'static str,
    article: &'static str,
    most: f64,
    range: &'static str,
    example: &'static str,
}

const WEIGHT: Beside = Beside {
    name: "weight",
    article: "a weight",
    most: f64::MAX,
    range: "0 or above",
    example: "3",
};

const PROBABILITY: Beside = Beside {
    name: "probability",
    article: "a probability",
    // Percentages are told apart at the last point.
    most: 100.0,
    range: "from 0 to 1",
    example: "1",
};

/// `["64 B", 3]`.
#[derive(Clone, Copy)]
struct SizeAnd {
    what: Beside,
    most: u64,
}

impl Kind for SizeAnd {
    type Value = (Bytes, f64);

    fn describe(&self) -> String {
        format!("[size, {}]", self.what.name)
    }

    fn example(&self) -> String {
        format!("[\"64 B\", {}]", self.what.example)
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<(Bytes, f64), Vec<Diagnostic>> {
        let parts = match &node.value {
            Value::List(parts) if parts.len() == 2 => parts,
            Value::List(parts) => {
                let message = format!("{slot} is two things: {}", self.describe());
                let problem = Diagnostic::new(&node.place, message);
                return Err(vec![problem.label(format!("this has {}", parts.len()))]);
            }
            _ => return Err(wrong_type(self, slot, node)),
        };
        let number = match &parts[1].value {
            Value::Integer(Some(number)) => Some(*number as f64),
            Value::Float(number, _) => Some(*number),
            _ => None,
        };
        let most = self.what.most;
        let number = number.filter(|it| it.is_finite() && (0.0..=most).contains(it));
        let number = number.ok_or_else(|| {
            let message = format!("{} is a number, {}", self.what.article, self.what.range);
            vec![Diagnostic::new(&parts[1].place, message)]
        });
        both(size(0, self.most).parse(slot, &parts[0]), number)
    }

    fn show(&self, value: &(Bytes, f64)) -> String {
        format!("[{}, {}]", size(0, self.most).show(&value.0), value.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn drawn(sizes: &MessageSizes, count: u32) -> BTreeMap<u64, u32> {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut found = BTreeMap::new();
        for _ in 0..count {
            *found.entry(sizes.at(sizes.draw(&mut random))).or_default() += 1;
        }
        found
    }

    #[test]
    fn sizes_are_drawn_by_their_weights() {
        let sizes = [(Bytes(4096), 1.0), (Bytes(64), 2.0), (Bytes(64), 1.0), (Bytes(7), 0.0)];
        let sizes = MessageSizes::weighted(&sizes);
        assert_eq!((sizes.least(), sizes.largest(), sizes.only()), (64, 4096, None));
        assert!((sizes.mean() - (3.0 * 64.0 + 4096.0) / 4.0).abs() < 1e-9);
        let found = drawn(&sizes, 40_000);
        assert_eq!(found.len(), 2);
        // The deviation is 87.
        assert!(found[&64].abs_diff(30_000) < 350, "{found:?}");
    }

    #[test]
    fn a_cumulative_distribution_is_linear_between_its_points() {
        let points = [(Bytes(0), 0.0), (Bytes(10), 0.5), (Bytes(20), 0.5), (Bytes(10_020), 1.0)];
        let sizes = MessageSizes::cumulative(&points);
        // Each of 1 to 10 has 5%; the middle of the stretch from 20 to 10020 is 5020.
        assert!((sizes.mean() - 0.5 * 5.5 - 0.5 * 5_020.0).abs() < 0.5, "{}", sizes.mean());
        let mut shares = Vec::new();
        sizes.for_each(|bytes, share| shares.push((bytes, share)));
        assert_eq!(shares.len() as u64, 10 + STEPS);
        assert!((shares.iter().map(|one| one.1).sum::<f64>() - 1.0).abs() < 1e-12);
        let up_to = |most| shares.iter().filter(|one| one.0 <= most).map(|one| one.1).sum::<f64>();
        for (most, share) in [(1, 0.05), (7, 0.35), (20, 0.5), (2_520, 0.625), (10_020, 1.0)] {
            assert!((up_to(most) - share).abs() < 0.5 / STEPS as f64, "{most} {}", up_to(most));
        }
        let found = drawn(&sizes, 20_000);
        let small: u32 = found.range(..=10).map(|one| one.1).sum();
        assert!(small.abs_diff(10_000) < 4 * 71, "{small}");
    }

    #[test]
    fn an_only_size_is_exact() {
        let sizes = MessageSizes::from(Bytes(4096));
        assert_eq!(
            (sizes.only(), sizes.mean(), sizes.mean_of_bytes()),
            (Some(4096), 4096.0, 4096.0)
        );
        assert_eq!(MessageSizes::weighted(&[(Bytes(4096), 0.3)]), sizes);
    }

    #[test]
    fn the_same_stream_gives_the_same_sizes_on_every_machine() {
        let points = [(Bytes(0), 0.0), (Bytes(100), 0.3), (Bytes(1_000_000), 1.0)];
        let sizes = MessageSizes::cumulative(&points);
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let drawn: Vec<u64> = (0..6).map(|_| sizes.at(sizes.draw(&mut random))).collect();
        assert_eq!(drawn, [53, 56, 576_214, 611_366, 431_697, 84_075]);
    }
}
