//! Keys of `[routing.angara]` for what \[angara-routing\] leaves open in BFS.

use flitlab_base::document::Reader;
use flitlab_routing::angara::{Named, Reading};

/// How BFS reads \[angara-routing\]; `None` if a choice is wrong.
pub(super) fn reading(reader: &mut Reader<'_>) -> Option<Reading> {
    let doc = "What algorithm bfs sorts the vertices of a level by, least first. The paper has \"outgoing edge \
               weights\"; an edge's weight is the number of routes across its channel. `arrival` with \
               `descending`, `sorted` and `last` below comes nearest to the paper's tables, the defaults make \
               better ones.";
    let key = choice(reader, "bfs_key", doc);
    let doc = "Which of the vertices that this leaves equal comes first.";
    let ties = choice(reader, "bfs_ties", doc);
    let doc = "By which of its destination's vertices a route of algorithm bfs ends, if several are as near.";
    let ends = choice(reader, "bfs_ends", doc);
    let doc = "Which of the nodes farthest from its latest source algorithm bfs takes next.";
    let next = choice(reader, "bfs_next", doc);
    let doc = "How algorithm bfs numbers nodes; it begins with the first.";
    let numbering = choice(reader, "bfs_numbering", doc);
    Some(Reading { key: key?, ties: ties?, ends: ends?, next: next?, numbering: numbering? })
}

fn choice<N: Named>(reader: &mut Reader<'_>, key: &'static str, doc: &'static str) -> Option<N> {
    reader.one_of(key, "order", doc, N::ALL.iter().map(|&(value, name, doc)| (name, value, doc)))
}
