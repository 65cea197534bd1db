//! Texts in CSV cells that a spreadsheet would take for formulas.
//!
//! Names in results come from scenarios and netlists of other people, and a spreadsheet computes
//! what begins with `=`, `+`, `-` or `@`. Such a text is written behind a `'`, which spreadsheets
//! show or hide, and never compute. Numbers stay as they are. Reading takes the `'` away: a text
//! that has one of its own before such a sign gets another one.

use std::borrow::Cow;

use csv::StringRecord;

/// What spreadsheets take for the begin of a formula; some skip a tab or a line break before it.
const SIGNS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Whether a text is marked: it would be computed, or could be taken for a marked one.
fn is_marked(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(SIGNS) && text.parse::<f64>().is_err()
}

/// A text as a cell that no spreadsheet computes.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    if is_marked(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// The text that [`harmless`] made a cell of.
fn restored(cell: &str) -> &str {
    let inner = cell.strip_prefix('\'').filter(|inner| is_marked(inner));
    inner.unwrap_or(cell)
}

/// A record with its cells as they were before [`harmless`].
pub(super) fn restored_record(record: StringRecord) -> StringRecord {
    if !record.iter().any(|cell| cell.starts_with('\'')) {
        return record;
    }
    let position = record.position().cloned();
    let mut whole: StringRecord = record.iter().map(restored).collect();
    whole.set_position(position);
    whole
}

/// A whole CSV file in which every text is [`harmless`].
pub(super) fn harmless_file(text: String) -> String {
    let before_cells = [b',', b'\n', b'"'];
    let begins = |two: &[u8]| {
        before_cells.contains(&two[0]) && (two[1] == b'\'' || SIGNS.contains(&char::from(two[1])))
    };
    if !text.as_bytes().windows(2).any(begins) {
        return text;
    }
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for record in reader.records() {
        let record = record.expect("it was written a moment ago");
        let cells = record.iter().map(|cell| harmless(cell).into_owned());
        writer.write_record(cells.collect::<Vec<_>>()).expect("a buffer in memory");
    }
    String::from_utf8(writer.into_inner().expect("a buffer in memory")).expect("CSV of texts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_begins_like_a_formula_and_all_are_read_back_as_they_were() {
        for (text, cell) in [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+x", "'+x"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-x then +y", "'-x then +y"),
            ("\t=1", "'\t=1"),
            ("'=1", "''=1"),
            ("'-1", "''-1"),
            ("''=1", "'''=1"),
            ("-1", "-1"),
            ("+1.5e3", "+1.5e3"),
            ("'uniform'", "'uniform'"),
            ("'", "'"),
            ("", ""),
            ("a=b", "a=b"),
        ] {
            assert_eq!(harmless(text), cell);
            assert_eq!(restored(cell), text, "{cell}");
        }
    }

    #[test]
    fn a_whole_file_is_harmless_and_its_numbers_are_untouched() {
        let text = "name,value\n\"=1,2\",-3\nplain,4\n'=x,5\n";
        let file = harmless_file(text.into());
        assert_eq!(file, "name,value\n\"'=1,2\",-3\nplain,4\n''=x,5\n");
        let mut reader = csv::Reader::from_reader(file.as_bytes());
        let names: Vec<String> =
            reader.records().map(|it| restored_record(it.unwrap())[0].to_owned()).collect();
        assert_eq!(names, ["=1,2", "plain", "'=x"]);
    }
}
