//! Applications on the page: what ranks did over time, the critical path, and times by phase.
//!
//! Bars and the path's stretches are packed into bytes, in base64: as JSON they would take ten
//! times the room. Numbers are LEB128. assets/report/timeline.js reads them.

use std::collections::HashMap;

use serde::Serialize;

use flitlab_base::units::Picoseconds;
use flitlab_model::{Spent, Times};
use flitlab_report::{BarRow, Label, PathRow, Point};

/// The most points of a result whose applications are shown.
pub(super) const MAX_POINTS: usize = 6;

/// The most bars of a page: some 15 bytes each.
const MAX_BARS: usize = 150_000;

/// The most stretches of a critical path.
const MAX_STRETCHES: usize = 40_000;

/// Times of bars are so exact at least, as a share of the whole.
const EXACT: u64 = 10_000_000;

/// The applications of a point.
#[derive(Serialize)]
pub(super) struct Applications {
    /// Tells the points apart; empty of a single one.
    name: String,
    jobs: Vec<Job>,
    phases: Vec<String>,
    /// The kinds of operations: phase, action and bytes.
    operations: Vec<(usize, String, Option<u64>)>,
    channels: Vec<String>,
    /// The unit of the times of bars, in picoseconds.
    unit: u64,
    bars: Packed,
    /// Its times are in picoseconds.
    path: Packed,
}

/// An application. Times are in picoseconds.
#[derive(Serialize)]
struct Job {
    name: String,
    ranks: u32,
    start: u64,
    end: u64,
    /// By phase: its number, times on the critical path, and of a rank in the mean.
    phases: Vec<(usize, Times, Times)>,
    /// First and last rank, the phase's number, and times of all these ranks together.
    rank_phases: Vec<(u32, u32, usize, Times)>,
}

#[derive(Default, Serialize)]
struct Packed {
    count: usize,
    /// The number of things that they stand for.
    pieces: u64,
    data: String,
}

/// Bars that a page has room for.
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MAX_BARS)
    }
}

impl Room {
    /// The applications of a result's first points, and how many points with applications are left
    /// out.
    pub(super) fn applications(&mut self, points: &[Point]) -> (Vec<Applications>, usize) {
        let has = |point: &&Point| !point.explained.ranks.is_empty();
        let all: Vec<&Point> = points.iter().filter(has).collect();
        let mut shown = Vec::new();
        for point in all.iter().take(MAX_POINTS) {
            let bars = &point.explained.bars;
            let fits = bars.len() <= self.0;
            self.0 -= if fits { bars.len() } else { 0 };
            let name = point_name(point, points.len() == 1);
            shown.push(Applications::of(point, name, if fits { bars } else { &[] }));
        }
        (shown, all.len().saturating_sub(MAX_POINTS))
    }
}

/// Tells a point from others of its result; empty of a single one.
pub(super) fn point_name(point: &Point, is_single: bool) -> String {
    if is_single {
        return String::new();
    }
    let Label { series, point, repetition, .. } = &point.label;
    let series = if series.is_empty() { format!("point {point}") } else { series.clone() };
    if *repetition == 0 { series } else { format!("{series}, repetition {repetition}") }
}

/// Numbers by name, in the order in which they are asked for.
#[derive(Default)]
struct Numbers<K> {
    names: Vec<K>,
    numbers: HashMap<K, usize>,
}

impl<K: Clone + Eq + std::hash::Hash> Numbers<K> {
    fn of(&mut self, name: K) -> usize {
        if let Some(&number) = self.numbers.get(&name) {
            return number;
        }
        self.names.push(name.clone());
        self.numbers.insert(name, self.names.len() - 1);
        self.names.len() - 1
    }
}

#[derive(Default)]
struct Named {
    jobs: Vec<Job>,
    /// By job: its first row.
    first_rows: Vec<u32>,
    phases: Numbers<String>,
    operations: Numbers<(usize, String, Option<u64>)>,
    channels: Numbers<String>,
}

impl Named {
    fn job(&self, workload: Option<&String>) -> Option<usize> {
        self.jobs.iter().position(|job| {
            Some(job.name.as_str()).filter(|it| !it.is_empty()) == workload.map(String::as_str)
        })
    }

    fn operation(&mut self, phase: Option<&String>, action: &str, bytes: Option<u64>) -> u64 {
        let phase = self.phases.of(phase.map_or_else(|| "-".into(), String::clone));
        self.operations.of((phase, action.into(), bytes)) as u64
    }
}

impl Applications {
    fn of(point: &Point, name: String, bars: &[BarRow]) -> Self {
        let explained = &point.explained;
        let mut named = Named::default();
        for of_job in explained.ranks.chunk_by(|one, next| one.workload == next.workload) {
            let name = of_job[0].workload.clone().unwrap_or_default();
            let is_own = |workload: &Option<String>| workload.as_deref().unwrap_or("") == name;
            let phases = explained.phases.iter().filter(|row| is_own(&row.workload));
            let phases =
                phases.map(|row| (named.phases.of(row.phase.clone()), row.path(), row.ranks()));
            let phases = phases.collect();
            let rank_phases = explained.rank_phases.iter().filter(|row| is_own(&row.workload));
            let rank_phases = rank_phases.map(|row| {
                let times =
                    [row.compute, row.host, row.partner, row.injection, row.queueing, row.flight];
                (row.first_rank, row.last_rank, named.phases.of(row.phase.clone()), times)
            });
            let rank_phases = rank_phases.collect();
            let ranks = of_job.iter().map(|row| row.last_rank + 1).max().unwrap_or(0);
            // The path reaches from its beginning to its end.
            let path = explained.path.iter().filter(|row| is_own(&row.workload));
            let last = path.map(|row| row.end).chain(of_job.iter().map(|row| row.end)).max();
            let (start, end) = (of_job[0].start.0, last.unwrap_or(Picoseconds::ZERO).0);
            let first = named.first_rows.last().copied().unwrap_or(0);
            let before = named.jobs.last().map_or(0, |job: &Job| job.ranks);
            named.first_rows.push(first + before);
            named.jobs.push(Job { name, ranks, start, end, phases, rank_phases });
        }
        let end = named.jobs.iter().map(|job| job.end).max().unwrap_or(0);
        let mut unit = 1;
        while end / (unit * 10) >= EXACT {
            unit *= 10;
        }
        let bars = packed_bars(bars, unit, &mut named);
        let path = packed_path(&explained.path, &mut named);
        let Named { jobs, phases, operations, channels, .. } = named;
        let (phases, operations, channels) = (phases.names, operations.names, channels.names);
        Self { name, jobs, phases, operations, channels, unit, bars, path }
    }

    /// Whether what its ranks did over time is told.
    pub(super) fn has_bars(&self) -> bool {
        self.bars.count > 0
    }
}

/// Bars as bytes. The first byte of each has what most of it was spent on, and from bit 3 on: it is
/// the first of its row, stands for several things, has a peer. Then come: of the first of a row
/// how many rows it is below the one before it, and its start; its length; its operation; the peer,
/// as far as it is from the rank; of several things their number, which kinds of time they took, a
/// bit each, and the percentage of each of these.
fn packed_bars(rows: &[BarRow], unit: u64, named: &mut Named) -> Packed {
    let mut bytes = Bytes::default();
    let (mut row_before, mut end_before) = (None, 0);
    for row in rows {
        let Some(job) = named.job(row.workload.as_ref()) else { continue };
        let place = named.first_rows[job] + row.rank;
        let (start, end) = (row.start.0 / unit, row.end.0 / unit);
        let is_first = row_before != Some(place) || start != end_before;
        let has_peer = row.peer.is_some();
        bytes.flags(row.spent_on, [is_first, row.pieces > 1, has_peer]);
        if is_first {
            bytes.signed(i64::from(place) - i64::from(row_before.unwrap_or(0)));
            bytes.number(start);
        }
        bytes.number(end - start);
        let operation = named.operation(row.phase.as_ref(), &row.action, row.bytes);
        bytes.number(operation);
        if let Some(peer) = row.peer {
            bytes.signed(i64::from(peer) - i64::from(row.rank));
        }
        if row.pieces > 1 {
            bytes.number(row.pieces.into());
            let times =
                [row.compute, row.host, row.partner, row.injection, row.queueing, row.flight];
            let percents = percents(times.map(|time| time.map_or(0, |time| time.0)));
            let mask = (0..6).filter(|&kind| percents[kind] > 0).map(|kind| 1 << kind).sum();
            bytes.number(mask);
            percents.into_iter().filter(|&it| it > 0).for_each(|it| bytes.number(it));
        }
        (row_before, end_before) = (Some(place), end);
    }
    let pieces = rows.iter().map(|row| u64::from(row.pieces)).sum();
    Packed { count: rows.len(), pieces, data: bytes.text() }
}

/// The shares of times.
fn percents(times: [u64; 6]) -> [u64; 6] {
    let all = times.iter().map(|&time| u128::from(time)).sum::<u128>().max(1);
    times.map(|time| u64::try_from((u128::from(time) * 200 + all) / (2 * all)).unwrap_or(0))
}

/// A stretch of a path, or several of them.
struct Step<'r> {
    row: &'r PathRow,
    /// The length of `row`, the longest.
    longest: u64,
    start: u64,
    end: u64,
    /// Where the path goes on.
    to: u32,
    pieces: u64,
}

/// The path's stretches as bytes, with short ones in a row as one if there are too many. The first
/// byte of each has what it was spent on, and from bit 3 on: it begins a path, is a message's, was
/// held up, is several. Then come: of the first of a path the job and the start; its length; the
/// rank; its operation; the peer, one more, or 0; of a message the rank that it leads to, as far as
/// it is from its own; which channel held it up, and for how long; the number of stretches.
fn packed_path(rows: &[PathRow], named: &mut Named) -> Packed {
    let mut limit = 0;
    let mut steps = steps_of(rows, limit);
    while steps.len() > MAX_STRETCHES {
        let end = rows.iter().map(|row| row.end.0).max().unwrap_or(0);
        limit = if limit == 0 { end / (1 << 20) + 1 } else { limit * 2 };
        steps = steps_of(rows, limit);
    }
    let mut bytes = Bytes::default();
    let (mut job_before, mut rank_before) = (None, 0);
    for step in &steps {
        let Step { row, start, end, to, pieces, .. } = step;
        let Some(job) = named.job(row.workload.as_ref()) else { continue };
        let is_message = row.to_rank.is_some() || *to != row.rank;
        let held_up = row.held_up_by.as_ref().zip(row.held_up);
        let begins = job_before != Some(job);
        bytes.flags(row.spent_on, [begins, is_message, held_up.is_some(), *pieces > 1]);
        if begins {
            bytes.number(job as u64);
            bytes.number(*start);
        }
        bytes.number(end - start);
        bytes.signed(i64::from(row.rank) - i64::from(rank_before));
        let action = row.action.as_deref().unwrap_or("");
        let operation = named.operation(row.phase.as_ref(), action, row.bytes);
        bytes.number(operation);
        bytes.number(row.peer.map_or(0, |peer| u64::from(peer) + 1));
        if is_message {
            bytes.signed(i64::from(*to) - i64::from(row.rank));
        }
        if let Some((channel, time)) = held_up {
            bytes.number(named.channels.of(channel.clone()) as u64);
            bytes.number(time.0);
        }
        if *pieces > 1 {
            bytes.number(*pieces);
        }
        (job_before, rank_before) = (Some(job), row.rank);
    }
    Packed { count: steps.len(), pieces: rows.len() as u64, data: bytes.text() }
}

/// Stretches that are shorter than a limit as one with their neighbours that are.
fn steps_of(rows: &[PathRow], limit: u64) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for row in rows {
        let (start, end, to) = (row.start.0, row.end.0, row.to_rank.unwrap_or(row.rank));
        if let Some(last) = steps.last_mut()
            && last.row.workload == row.workload
            && last.end - last.start < limit
            && end - start < limit
        {
            (last.end, last.to) = (end, to);
            last.pieces += 1;
            if end - start > last.longest {
                (last.row, last.longest) = (row, end - start);
            }
        } else {
            steps.push(Step { row, longest: end - start, start, end, to, pieces: 1 });
        }
    }
    steps
}

/// Numbers as bytes.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    /// A kind of time, and from bit 3 on some flags.
    fn flags<const COUNT: usize>(&mut self, spent: Spent, flags: [bool; COUNT]) {
        let flags = (3..).zip(flags).map(|(bit, flag)| u64::from(flag) << bit);
        self.number(spent as u64 + flags.sum::<u64>());
    }

    /// A number of 7 bits a byte, the lowest first.
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(0x80 | (number & 0x7f) as u8);
            number >>= 7;
        }
        self.0.push((number & 0x7f) as u8);
    }

    /// Numbers around zero: 0, -1, 1, -2 and so on.
    fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63).cast_unsigned());
    }

    /// In base64.
    fn text(&self) -> String {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::with_capacity(self.0.len().div_ceil(3) * 4);
        for three in self.0.chunks(3) {
            let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
            let all = byte(0) << 16 | byte(1) << 8 | byte(2);
            for digit in 0..4 {
                let value = (all >> (18 - 6 * digit)) & 63;
                let is_filled = digit <= three.len();
                text.push(if is_filled { char::from(DIGITS[value as usize]) } else { '=' });
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_leb128_in_base64() {
        let mut bytes = Bytes::default();
        [0, 127, 128, 300].into_iter().for_each(|it| bytes.number(it));
        [-1, 1, -64, 64].into_iter().for_each(|it| bytes.signed(it));
        assert_eq!(bytes.0, [0, 127, 0x80, 1, 0xac, 2, 1, 2, 127, 0x80, 1]);
        assert_eq!(bytes.text(), "AH+AAawCAQJ/gAE=");
        assert_eq!(percents([1, 1, 0, 0, 0, 2]), [25, 25, 0, 0, 0, 50]);
    }

    #[test]
    fn a_long_path_is_shortened_and_leads_to_the_same_rank() {
        let row = |at: u64| PathRow {
            start: Picoseconds(at * 10),
            end: Picoseconds(at * 10 + 10),
            rank: u32::try_from(at).unwrap(),
            to_rank: Some(u32::try_from(at).unwrap() + 1),
            ..PathRow::default()
        };
        let rows: Vec<PathRow> = (0..100).map(row).collect();
        let steps = steps_of(&rows, 11);
        assert_eq!(steps.len(), 50);
        assert_eq!((steps[49].end, steps[49].to, steps[49].pieces), (1000, 100, 2));
        assert_eq!(steps_of(&rows, 10).len(), 100);
    }
}
