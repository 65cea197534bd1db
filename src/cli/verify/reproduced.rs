//! The simulations of a reproduction, by the record that it left.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::super::Failure;
use super::super::reproduce::Published;
use super::{Bar, Difference, Outcome, Row, again, of_another_version};
use flitlab::reproduce::{Extent, PRINTED, Record, Replay, Simulations, is_machine_time};
use flitlab::scenario::RESULTS_VERSION;

/// Longer texts are cut.
const SHOWN: usize = 160;

/// A reproduction that is finished.
pub(super) struct Reproduced {
    folder: PathBuf,
    record: Record,
    published: Published,
}

impl Reproduced {
    /// Reads its record.
    ///
    /// # Errors
    /// Why it can't be compared.
    pub(super) fn open(folder: &Path) -> Result<Self, String> {
        let record = Record::read(folder).map_err(|error| error.to_string())?;
        let record = record.ok_or("its record is gone")?;
        let name = &record.reproduced;
        if record.results_version != RESULTS_VERSION {
            let quick: &[&str] = if record.quick { &["--quick"] } else { &[] };
            let command = again(&[&["reproduce", name][..], quick].concat());
            let rows = record.simulated.len();
            return Err(of_another_version(record.results_version, rows, &command));
        }
        let published = Published::named(name)
            .ok_or_else(|| format!("this version has no reproduction `{name}`"))?;
        Ok(Self { folder: folder.into(), record, published })
    }

    /// Its simulations: their places, what tells each of them, and the CPU time that it took.
    pub(super) fn rows(&self) -> Vec<(usize, String, f64)> {
        let all = self.record.simulated.iter().enumerate();
        all.map(|(at, (key, it))| (at, key.clone(), it.seconds)).collect()
    }

    /// Computes some of them again, and the tables of all.
    pub(super) fn verify(
        self,
        rows: &[&Row],
        threads: usize,
        bar: &Bar,
        outcome: &mut Outcome,
        equal: &mut dyn FnMut(String, f64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let chosen: HashSet<String> = rows.iter().map(|row| row.key.clone()).collect();
        let quick = self.record.quick;
        let replay = Replay::new(self.record, chosen);
        let extent = Extent { quick, threads, simulations: Simulations::Replayed(&replay) };
        let mut kept = Ok(());
        let found = self.published.compute(extent, &mut |_, _, _| {
            for (key, seconds) in replay.take_equal() {
                bar.one_done();
                outcome.equal += 1;
                if kept.is_ok() {
                    kept = equal(key, seconds);
                }
            }
        });
        kept?;
        for (key, seconds) in replay.take_equal() {
            bar.one_done();
            outcome.equal += 1;
            equal(key, seconds)?;
        }
        let (seen, unasked) = replay.finish();
        for it in seen.different {
            bar.one_done();
            let (row, column) = (short(&it.of), it.place);
            outcome.differences.push(Difference { row, column, was: it.was, is: it.is });
        }
        for of in seen.missing {
            let (was, is) = ("not in the record".into(), "needed".into());
            outcome.differences.push(Difference {
                row: short(&of),
                column: String::new(),
                was,
                is,
            });
        }
        if unasked > 0 {
            let was = format!("{unasked} in the record");
            let row = "simulations".into();
            outcome.differences.push(Difference {
                row,
                column: String::new(),
                was,
                is: "not needed".into(),
            });
        }
        let found = match found {
            Ok(found) => found,
            Err(flaw) => {
                outcome.problem = Some(flaw);
                return Ok(());
            }
        };
        let tables = found.tables.iter().map(|(name, table)| (format!("{name}.csv"), table));
        for (file, computed) in tables.chain([(PRINTED.to_owned(), &found.text)]) {
            let compare = if file == PRINTED { compare_lines } else { compare_tables };
            match std::fs::read_to_string(self.folder.join(&file)) {
                Ok(there) => compare(&file, &there, computed, &mut outcome.differences),
                Err(cause) => outcome.differences.push(Difference {
                    row: file,
                    column: String::new(),
                    was: format!("can't be read ({cause})"),
                    is: "a file".into(),
                }),
            }
        }
        Ok(())
    }
}

/// A text in one line.
fn short(of: &str) -> String {
    let text = of.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.len() <= SHOWN {
        return text;
    }
    // What tells simulations of a kind apart stands at the end.
    let mut from = text.len() - SHOWN;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    format!("...{}", &text[from..])
}

/// Compares a table with what is computed, but for times that the machine took.
fn compare_tables(file: &str, there: &str, computed: &str, differences: &mut Vec<Difference>) {
    let read = |text: &str| {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let header = reader.headers().cloned().unwrap_or_default();
        let rows: Vec<csv::StringRecord> = reader.into_records().filter_map(Result::ok).collect();
        (header, rows)
    };
    let ((was_header, was), (is_header, is)) = (read(there), read(computed));
    let mut differ = |row: String, column: &str, was: &str, is: &str| {
        let filled =
            |text: &str| if text.is_empty() { "nothing".to_owned() } else { text.to_owned() };
        let (column, was, is) = (column.to_owned(), filled(was), filled(is));
        differences.push(Difference { row, column, was, is });
    };
    if was_header != is_header {
        let line = |header: &csv::StringRecord| header.iter().collect::<Vec<_>>().join(",");
        differ(format!("{file}, line 1"), "", &line(&was_header), &line(&is_header));
        return;
    }
    if was.len() != is.len() {
        differ(file.into(), "", &format!("{} rows", was.len()), &format!("{} rows", is.len()));
        return;
    }
    for (number, (was, is)) in was.iter().zip(&is).enumerate() {
        for (place, column) in was_header.iter().enumerate() {
            let cell = |row: &csv::StringRecord| row.get(place).unwrap_or_default().to_owned();
            let (was, is) = (cell(was), cell(is));
            if was != is && !is_machine_time(column) {
                differ(format!("{file}, line {}", number + 2), column, &was, &is);
            }
        }
    }
}

/// Compares what was printed with what is printed now, up to the first line that differs.
fn compare_lines(file: &str, there: &str, computed: &str, differences: &mut Vec<Difference>) {
    let (mut was, mut is) = (there.lines(), computed.lines());
    let lines = std::iter::from_fn(|| Some((was.next(), is.next())));
    let mut lines = lines.take_while(|it| *it != (None, None)).zip(1..);
    if let Some(((was, is), number)) = lines.find(|((was, is), _)| was != is) {
        let [was, is] = [was, is].map(|line| line.unwrap_or("the end").to_owned());
        let row = format!("{file}, line {number}");
        differences.push(Difference { row, column: String::new(), was, is });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_was_edited_is_named() {
        let difference = |there: &str| {
            let mut found = Vec::new();
            compare_lines("printed.txt", there, "one\ntwo\nthree\n", &mut found);
            let Difference { row, was, is, .. } = found.pop()?;
            Some((row, was, is))
        };
        let line = |number: u32, was: &str, is: &str| {
            Some((format!("printed.txt, line {number}"), was.to_owned(), is.to_owned()))
        };
        assert_eq!(difference("one\ntwo\nthree\n"), None);
        assert_eq!(difference("one\ntwice\nthee\n"), line(2, "twice", "two"));
        assert_eq!(difference("one\ntwo\n"), line(3, "the end", "three"));
    }

    #[test]
    fn an_edited_cell_is_named_by_its_line_and_column() {
        let table = "name,load,cpu_seconds\none,0.5,1.25\ntwo,0.25,2\n";
        let differences = |there: &str| {
            let mut found = Vec::new();
            compare_tables("table.csv", there, table, &mut found);
            found
        };
        assert!(differences(table).is_empty());
        assert!(differences(&table.replace("1.25", "9")).is_empty(), "a time of the machine");
        let [found] = &differences(&table.replace("0.25", "0.26"))[..] else { panic!() };
        assert_eq!((found.row.as_str(), found.column.as_str()), ("table.csv, line 3", "load"));
        assert_eq!((found.was.as_str(), found.is.as_str()), ("0.26", "0.25"));
        assert_eq!(differences("name,load\none,0.5\n").len(), 1);
        assert_eq!(differences("name,load,cpu_seconds\none,0.5,1.25\n").len(), 1);
    }

    #[test]
    fn long_texts_are_cut_in_front() {
        assert_eq!(short("a\n   b"), "a b");
        let text = short(&format!("{} at load 0.5", "x".repeat(400)));
        assert!(text.starts_with("...x") && text.ends_with("at load 0.5") && text.len() < 170);
    }
}
