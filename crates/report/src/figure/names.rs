//! Names of series: parts with commas between them, one a key of the sweep.

use std::collections::HashSet;

/// The parts of a name. Commas within brackets, as in `dimensions [4, 4]`, separate nothing.
pub(super) fn parts(name: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0i32);
    for (at, letter) in name.char_indices() {
        match letter {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth -= 1,
            ',' if depth <= 0 && name[at..].starts_with(", ") => {
                parts.push(&name[start..at]);
                start = at + 2;
            }
            _ => {}
        }
    }
    parts.push(&name[start..]);
    parts
}

/// The parts that are not empty, as one name.
pub(super) fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

/// Returns a name without this part, which may be several: `tree arity 4, levels 2`.
pub(super) fn without(name: &str, part: &str) -> String {
    let (mut own, leaving) = (parts(name), parts(part));
    if let Some(at) = own.windows(leaving.len()).position(|it| it == leaving) {
        own.drain(at..at + leaving.len());
    }
    joined(&own)
}

/// A name without the part that a key with this value gives it: `buffer 72 flits`, or the value
/// alone.
pub(super) fn without_value(name: &str, value: &str) -> String {
    let mut parts = parts(name);
    let of_key = |part: &&str| {
        let before = part.strip_suffix(value);
        before.is_some_and(|before| before.is_empty() || before.ends_with(' '))
    };
    if let Some(at) = parts.iter().position(of_key) {
        parts.remove(at);
    }
    joined(&parts)
}

/// The series of rows in the order in which they first appear.
pub(super) fn series_of<'r>(labels: impl Iterator<Item = &'r str>) -> Vec<String> {
    let mut seen = HashSet::new();
    labels.filter(|label| seen.insert(*label)).map(str::to_owned).collect()
}

/// The most bytes of a figure's or series' name in the name of a file, of which systems allow 255.
const LONGEST_NAME: usize = 120;

/// The end of a file's name that says which figure it is: letters of any language, digits and
/// points, at most [`LONGEST_NAME`] bytes of them.
pub(super) fn file_name(figure: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
    let fits = |(at, letter): &(usize, char)| at + letter.len_utf8() <= LONGEST_NAME;
    let name: String =
        figure.char_indices().take_while(fits).map(|(_, letter)| plain(letter)).collect();
    if name.is_empty() { name } else { format!("-{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_leaves_the_name_with_its_value() {
        assert_eq!(without_value("a, dimensions [4, 4], b", "[4, 4]"), "a, b");
        assert_eq!(without_value("buffer 72 flits", "72 flits"), "");
        assert_eq!(without_value("buffer 172 flits", "72 flits"), "buffer 172 flits");
    }

    #[test]
    fn a_part_is_left_out_as_a_whole() {
        assert_eq!(without("uniform, ABR", "uniform"), "ABR");
        assert_eq!(without("dimensions [4, 4], ABR", "dimensions [4, 4]"), "ABR");
        assert_eq!(without("uniform", "uniform"), "");
        assert_eq!(without("uniform, ABR", ""), "uniform, ABR");
        assert_eq!(without("a, tree arity 4, levels 2", "tree arity 4, levels 2"), "a");
        assert_eq!(without("a, levels 2", "tree arity 4, levels 2"), "a, levels 2");
    }
}
