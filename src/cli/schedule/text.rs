//! A schedule's count as text for people.

use super::super::terminal::fact;
use super::super::text::counted;
use flitlab::application::{Share, Tally};
use flitlab::narrow::narrow;
use flitlab::traces::read::Reading;
use flitlab::units::{Bytes, bytes_text};

/// Where values begin.
const COLUMN: usize = 20;

/// What a file is, and the calls in a trace; nothing of a schedule.
pub(super) fn read(reading: &Reading) -> String {
    if reading.calls.is_empty() {
        return String::new();
    }
    let files = match reading.files.len() {
        0 | 1 => "1 file".into(),
        files => format!("{files} files"),
    };
    let calls = reading.calls.iter().map(|(name, count)| format!("{count} {name}"));
    let calls: Vec<String> = calls.collect();
    fact("read", &format!("{}, {files}", reading.format.what), COLUMN)
        + &fact("calls", &calls.join(", "), COLUMN)
}

/// What is to be said of a trace besides.
pub(super) fn notes(reading: &Reading) -> Vec<String> {
    let name =
        reading.files.first().map_or(reading.format.what.into(), |file| file.display().to_string());
    reading.notes.iter().map(|note| format!("{name}: {note}")).collect()
}

pub(super) fn tally(tally: &Tally) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &fact(name, &value, COLUMN);
    line("ranks", tally.ranks.to_string());
    line(
        "operations",
        format!(
            "{}: {} sends, {} receives, {} computations; {} dependencies",
            tally.operations, tally.sends, tally.receives, tally.computations, tally.dependencies
        ),
    );
    if tally.one_sided > 0 {
        let count = counted(narrow(tally.one_sided), "operation");
        line("one-sided", format!("{count}, {}", size(tally.one_sided_bytes as f64)));
    }
    line("bytes sent", format!("{} in all", size(tally.bytes as f64)));
    for class in &tally.sizes {
        let name = match class.to_bytes {
            Some(to) => format!("  up to {}", bytes_text(Bytes(to))),
            None => format!("  above {}", bytes_text(Bytes(class.from_bytes - 1))),
        };
        line(
            &name,
            format!("{}, {}", counted(narrow(class.messages), "message"), size(class.bytes as f64)),
        );
    }
    let share = |share: &Share, text: fn(f64) -> String| {
        let (least, most) = (text(share.least as f64), text(share.most as f64));
        format!("{least} to {most}, mean {}", text(share.mean))
    };
    line(
        "a rank sends",
        share(&tally.messages_sent, |count| format!("{}", (count * 10.0).round() / 10.0))
            + " messages",
    );
    line("", share(&tally.bytes_sent, size));
    if tally.compute_ns.most > 0 {
        line("a rank computes", share(&tally.compute_ns, time));
    }
    text
}

/// Nanoseconds with three digits behind the point, in a unit in which that is something.
fn time(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{} ns", (ns * 10.0).round() / 10.0),
        ..1e6 => format!("{:.3} us", ns / 1e3),
        ..1e9 => format!("{:.3} ms", ns / 1e6),
        _ => format!("{:.3} s", ns / 1e9),
    }
}

/// Bytes with three digits behind the point.
fn size(bytes: f64) -> String {
    match bytes {
        ..1e3 => format!("{} B", (bytes * 10.0).round() / 10.0),
        ..1e6 => format!("{:.3} kB", bytes / 1e3),
        ..1e9 => format!("{:.3} MB", bytes / 1e6),
        _ => format!("{:.3} GB", bytes / 1e9),
    }
}
