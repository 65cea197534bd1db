//! Keys of `[routing.angara]` for what \[angara-routing\] leaves open in its algorithms.

use flitlab_base::document::{Reader, Whole};
use flitlab_tables::angara::{Named, Reading, SsspReading, Stop};

/// How BFS reads \[angara-routing\]; `None` if a choice is wrong.
pub(super) fn bfs(reader: &mut Reader<'_>) -> Option<Reading> {
    let doc = "What algorithm bfs sorts the vertices of a level by, least first. The paper has \"outgoing edge \
               weights\"; an edge's weight is the number of routes across its channel. `arrival` with \
               `descending`, `sorted` and `last` below comes nearest to the paper's tables, the defaults make \
               better ones.";
    let key = choice(reader, "bfs_key", doc);
    let doc = "Which of the vertices that this leaves equal comes first.";
    let ties = choice(reader, "bfs_ties", doc);
    let doc = "By which of its destination's vertices a route of algorithm bfs ends, if several are as near.";
    let ends = choice(reader, "bfs_ends", doc);
    let doc = "Which node algorithm bfs takes next as a source: one of those that are farthest from the latest, or \
               in turn.";
    let next = choice(reader, "bfs_next", doc);
    let doc = "How algorithm bfs numbers nodes; it begins with the first.";
    let numbering = choice(reader, "bfs_numbering", doc);
    Some(Reading { key: key?, ties: ties?, ends: ends?, next: next?, numbering: numbering? })
}

/// How SSSP reads \[angara-routing\]; `None` if a choice is wrong.
pub(super) fn sssp(reader: &mut Reader<'_>) -> Option<SsspReading> {
    let doc = "Which pairs algorithm sssp routes first, as those that have one route.";
    let unique = choice(reader, "sssp_unique", doc);
    let doc = "How algorithm sssp sorts the other pairs into groups, least first. In each the sources follow one \
               another.";
    let groups = choice(reader, "sssp_groups", doc);
    let doc = "Which of a pair's routes with equal loads algorithm sssp takes.";
    let ties = choice(reader, "sssp_ties", doc);
    let doc = "In which order algorithm sssp takes the sources of a group, and of each the destinations. Of routes \
               that cross the first is taken, the others wait for the next search.";
    let order = choice(reader, "sssp_order", doc);
    let doc = "How algorithm sssp numbers nodes.";
    let numbering = choice(reader, "sssp_numbering", doc);
    Some(SsspReading {
        unique: unique?,
        groups: groups?,
        ties: ties?,
        order: order?,
        numbering: numbering?,
    })
}

/// When the genetic algorithm of \[angara-routing\] ends; `None` if a choice is wrong.
pub(super) fn genetic(reader: &mut Reader<'_>) -> Option<Stop> {
    let mut percent = Stop::default().improvement_percent;
    let doc = "Algorithm genetic ends after 30 generations in a row without a better table. A table is better by \
               little if its sigma(4) is lower by fewer hundredths than these. The paper names 0.05 of the best \
               fitness; 5 is one reading of that. With 0 no gain is small.";
    reader.set("genetic_improvement_percent", &Whole { range: 0..=100 }, &mut percent, doc);
    let doc = "What a small gain does to algorithm genetic, as the paper's sentence may be read.";
    let small_gain = choice(reader, "genetic_small_gain", doc);
    Some(Stop { improvement_percent: percent, small_gain: small_gain? })
}

/// One of the choices that have names.
fn choice<N: Named>(reader: &mut Reader<'_>, key: &'static str, doc: &'static str) -> Option<N> {
    reader.one_of(key, "order", doc, N::ALL.iter().map(|&(value, name, doc)| (name, value, doc)))
}
