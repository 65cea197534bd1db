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

/// A name without this part of it.
pub(super) fn without(name: &str, part: &str) -> String {
    if part.is_empty() {
        return name.to_owned();
    }
    joined(&parts(name).into_iter().filter(|own| *own != part).collect::<Vec<_>>())
}

/// What all names have in common at their beginning and at their end, in whole parts.
pub(super) fn common(names: &[&str]) -> String {
    let names: Vec<Vec<&str>> = names.iter().map(|name| parts(name)).collect();
    let Some(first) = names.first() else { return String::new() };
    let shortest = names.iter().map(Vec::len).min().unwrap_or(0);
    let head =
        (0..shortest).take_while(|&at| names.iter().all(|other| other[at] == first[at])).count();
    let last = |name: &Vec<&str>, at: usize| name.len() - 1 - at;
    let tail = (0..shortest - head)
        .take_while(|&at| {
            names.iter().all(|other| other[last(other, at)] == first[last(first, at)])
        })
        .count();
    joined(&[&first[..head], &first[first.len() - tail..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_what_they_share() {
        assert_eq!(common(&["a, x [1, 2], b", "a, x [1, 4], b"]), "a, b");
        assert_eq!(common(&["n 1", "n 2"]), "");
        assert_eq!(common(&["same", "same"]), "same");
    }

    #[test]
    fn a_part_is_left_out_as_a_whole() {
        assert_eq!(without("uniform, ABR", "uniform"), "ABR");
        assert_eq!(without("dimensions [4, 4], ABR", "dimensions [4, 4]"), "ABR");
        assert_eq!(without("uniform", "uniform"), "");
        assert_eq!(without("uniform, ABR", ""), "uniform, ABR");
    }
}
