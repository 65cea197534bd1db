//! Numbers in the pages, and whether they are among those that a command has printed or a table has.

use std::fs;
use std::path::Path;

/// What stands between backticks.
pub fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The cells of a line of a table. A bar behind a backslash is text.
pub fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\u{1}");
    let cells = line.trim().trim_matches('|').split('|');
    cells.map(|cell| cell.trim().replace('\u{1}', "|")).collect()
}

/// The numbers of a text and how many decimals each has. Those that are parts of names, such as
/// `4x4x2` or `p99`, are none.
fn numbers(text: &str) -> Vec<(f64, usize)> {
    numbers_but(text, &[])
}

/// Those before none of these units.
fn numbers_but(text: &str, units: &[&str]) -> Vec<(f64, usize)> {
    let mut found = Vec::new();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'^';
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let begin = at;
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        while is_digit(at) || matches!(bytes.get(at), Some(b',' | b'.')) && is_digit(at + 1) {
            at += 1;
        }
        let in_word = begin > 0 && is_part(bytes[begin - 1])
            || bytes.get(at).is_some_and(|&byte| byte != b'x' && is_part(byte))
            || bytes.get(at) == Some(&b'x') && is_digit(at + 1);
        let of_machine = units.iter().any(|unit| text[at..].starts_with(unit));
        let digits = text[begin..at].replace(',', "");
        if let (false, false, Ok(value)) = (in_word, of_machine, digits.parse()) {
            found.push((value, digits.split_once('.').map_or(0, |(_, decimals)| decimals.len())));
        }
    }
    found
}

/// Numbers that a value of a page may be.
pub struct Known(Vec<f64>);

impl Known {
    /// Those of some texts.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let all = texts.into_iter().flat_map(numbers).map(|(value, _)| value);
        let mut all: Vec<f64> = all.collect();
        all.sort_by(f64::total_cmp);
        Self(all)
    }

    /// Whether one of them is this number as it is written, in its unit or in another one of the
    /// same quantity: of nanoseconds microseconds, of shares percent.
    fn has(&self, &(value, decimals): &(f64, usize)) -> bool {
        let half = 0.5 / 10_f64.powi(i32::try_from(decimals).unwrap()) * (1.0 + 1e-9);
        [1.0, 1e3, 1e-3, 1e2].iter().any(|unit| {
            let from = self.0.partition_point(|it| *it < (value - half) / unit);
            self.0.get(from).is_some_and(|it| *it <= (value + half) / unit)
        })
    }

    /// How many numbers a cell has, code and times of a machine aside, and which are none of these.
    pub fn lack(&self, cell: &str) -> (usize, Vec<f64>) {
        let prose: String = cell.split('`').step_by(2).collect();
        let values = numbers_but(&prose, &OF_A_MACHINE);
        let missing = values.iter().filter(|it| !self.has(it)).map(|it| it.0);
        (values.len(), missing.collect())
    }
}

/// What a reproduction has printed, and the tables of results, in a folder and those below it.
pub fn texts_of(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(texts_of(&path));
        } else if path.extension().is_some_and(|it| it == "csv") || path.ends_with("printed.txt") {
            texts.push(text_of(&path));
        }
    }
    texts
}

/// A file whose numbers are looked for. Commas part the cells of a table, not the thousands of a number.
pub fn text_of(path: &Path) -> String {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path.extension().is_some_and(|it| it == "csv") { text.replace(',', " ") } else { text }
}

/// Times that a machine took: they are of no other one.
const OF_A_MACHINE: [&str; 3] = [" ms", " s of", " s "];

#[test]
fn a_value_that_is_not_there_is_noticed() {
    let printed = "packet latency    mean 1.118 us, p99 2,400 ns; 8.5% of 4x4x2 in 12.3 ms";
    let known = Known::of([printed]);
    let is = |text: &str| known.lack(text) == (1, Vec::new());
    assert!(is("1,118 ns") && is("1.12 us") && is("2.4 us") && is("8.5%"));
    assert!(!is("1,119 ns") && !is("1.11 us") && !is("8.4%") && !is("13"));
    assert_eq!(known.lack("p95 of 6x5x5 in 3.2 ms, by `a 7`"), (0, Vec::new()));
    assert_eq!(known.lack("8.5% of 17"), (2, vec![17.0]));
    assert_eq!(cells("| a \\| b | c |"), ["a | b", "c"]);
}
