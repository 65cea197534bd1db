//! Names of series: parts with commas between them, one a key of the sweep.

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
