//! How graphs and lists that have no name of their own at the beginning are told apart.

use super::Beginning;

/// Whether a line is one of a netlist: the header of a node, or an identifier above it.
pub(super) fn is_of_netlist(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    if ["Switch", "Ca", "Hca", "Rt"].contains(&first) {
        let is_number = words.next().is_some_and(|it| it.parse::<u16>().is_ok());
        return is_number && words.next().is_some_and(|it| it.starts_with('"'));
    }
    let key = line.split('=').next().unwrap_or_default();
    line.len() > key.len() && ["switchguid", "caguid", "rtguid"].contains(&key)
}

/// Whether it is `graph [`, perhaps behind a line or two about who made it.
pub(super) fn is_gml(file: &Beginning) -> bool {
    let mut words =
        file.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let opens = |word: &str, words: &mut dyn Iterator<Item = &str>| {
        word == "graph[" || (word == "graph" && words.next() == Some("["))
    };
    let first = words.next().unwrap_or_default();
    opens(first, &mut words)
        || (["Creator", "Version", "comment"].contains(&first)
            && words.any(|word| word == "graph" || word == "graph["))
}

/// Whether it is `graph {`, `digraph name {` or the like.
pub(super) fn is_dot(file: &Beginning) -> bool {
    let mut words = file.line.split(|it: char| it.is_whitespace() || it == '{');
    let first = match words.next() {
        Some("strict") => words.next(),
        first => first,
    };
    matches!(first, Some("graph" | "digraph")) && file.has("{")
}

/// Whether each line is `router 0 node 0 router 1 ...`.
pub(super) fn is_anynet(file: &Beginning) -> bool {
    let mut words = file.line.split_whitespace();
    let end = |word: Option<&str>| matches!(word, Some("router" | "node"));
    words.next() == Some("router")
        && is_number(words.next())
        && end(words.next())
        && is_number(words.next())
}

/// Whether it is a count of vertices and one of edges, and a line of numbers for each vertex.
pub(super) fn is_metis(file: &Beginning) -> bool {
    let Some((lines, whole)) = numbers(file) else { return false };
    let Some((header, vertices)) = lines.split_first() else { return false };
    let counts = (2..=4).contains(&header.len());
    let varies = vertices.iter().any(|line| line.len() != 2);
    // Vertices without edges have an empty line, which is not counted here.
    let (found, stated) = (vertices.len() as u64, header[0]);
    let fits = match whole {
        true => found == stated || (found < stated && varies),
        false => found < stated && varies,
    };
    counts && found > 0 && fits
}

/// Whether each line is two numbers.
pub(super) fn is_pairs(file: &Beginning) -> bool {
    numbers(file)
        .is_some_and(|(lines, _)| lines.len() > 1 && lines.iter().all(|line| line.len() == 2))
}

/// The numbers of each line, if there is nothing else but comments, and whether these are all of
/// the file.
fn numbers(file: &Beginning) -> Option<(Vec<Vec<u64>>, bool)> {
    let is_comment = |line: &&str| !line.starts_with(['%', '#']);
    let mut lines: Vec<&str> = file.lines().filter(is_comment).collect();
    let whole = file.is_whole();
    if !whole {
        lines.pop();
    }
    let of_line = |line: &str| line.split_whitespace().map(|it| it.parse().ok()).collect();
    lines.into_iter().map(of_line).collect::<Option<_>>().map(|lines| (lines, whole))
}

/// Whether it is an object of lists under numbers, as in `{"1": [0, 1]}`.
pub(super) fn is_groups(file: &Beginning) -> bool {
    let text: String =
        file.lines().flat_map(str::chars).filter(|it| !it.is_whitespace()).take(40).collect();
    let behind = text.strip_prefix("{\"").unwrap_or_default();
    let number = behind.split('"').next().unwrap_or_default();
    is_number(Some(number)) && behind[number.len()..].starts_with("\":[")
}

fn is_number(word: Option<&str>) -> bool {
    word.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
}
