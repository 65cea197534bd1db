//! `[routing]`: how routes are found.

use std::{path::Path, sync::Arc};

use crate::{
    routing::{
        HalfRing, TableFile,
        angara::{Algorithm, Freedoms},
    },
    scenario::{
        RoutingSpec,
        choice::{Choice, plain, with_keys},
        diagnostic::{Diagnostic, Location, Source},
        identity::content_hash,
        kind::{Flag, Kind, Text},
        reader::Reader,
    },
};

use super::adaptive;

pub(super) fn read(reader: &mut Reader<'_>) -> Option<RoutingSpec> {
    let choice = Choice {
        key: "routing",
        noun: "routing",
        default: Some("direction_order"),
        doc: "",
        sections: true,
    };
    let doc = "The shortest way round in every dimension, positive directions first, then negative \
               ones: +x +y +z +k -x -y -z -k. The choice among routings is the table's name.";
    let direction_order = with_keys("direction_order", doc, |reader: &mut Reader<'_>| {
        let half_ring = reader.choice(
            &Choice {
                key: "half_ring",
                noun: "half-ring rule",
                default: Some("balanced"),
                doc: "Which way a packet goes when both ways round a ring are as long.",
                sections: false,
            },
            vec![
                plain(
                    "balanced",
                    HalfRing::Balanced,
                    "positive from nodes with an even sum of coordinates, negative from the others.",
                ),
                plain("plus", HalfRing::Plus, "always positive."),
            ],
        )?;
        Some(RoutingSpec::DirectionOrder { half_ring })
    });
    let doc = "A table for Angara: direction order, never both ways in a dimension, and one first \
               positive and one last negative step that may break these rules where no deadlock can \
               come of it. `flitlab route` shows how good it is.";
    let angara = with_keys("angara", doc, |reader: &mut Reader<'_>| {
        let algorithm = reader.choice(
            &Choice {
                key: "algorithm",
                noun: "algorithm",
                default: Some("balanced"),
                doc: "What chooses among the shortest legal routes of each pair.",
                sections: false,
            },
            vec![
                plain(
                    "balanced",
                    Algorithm::Balanced,
                    "makes the load of the fullest channel as small as it can.",
                ),
                plain(
                    "sssp",
                    Algorithm::Sssp,
                    "the published SSSP, by single-source shortest paths.",
                ),
                plain("bfs", Algorithm::Bfs, "the published BFS, by breadth-first searches."),
                plain("genetic", Algorithm::Genetic, "the published genetic algorithm; slow."),
            ],
        );
        let mut freedoms = Freedoms::default();
        freedoms.first_and_last_steps = reader.value(
            "first_and_last_steps",
            &Flag,
            freedoms.first_and_last_steps,
            "Whether routes may begin with a first and end with a last step.",
        );
        freedoms.relaxation = reader.value(
            "relaxation",
            &Flag,
            freedoms.relaxation,
            "Whether these steps may break the direction order where no deadlock can come of it.",
        );
        Some(RoutingSpec::Angara { algorithm: algorithm?, freedoms })
    });
    let doc = "A table that `flitlab route --save` wrote, for this torus with these failures.";
    let file = with_keys("file", doc, |reader: &mut Reader<'_>| {
        let kind = Text { what: "a file's path", example: "desmos.routes" };
        let place = reader.place("path");
        let path = reader.required("path", &kind, "The table file, beside the scenario.")?;
        match table(reader, &path, &place?) {
            Ok(Read { file, whole, hash }) => {
                // A resolved scenario may go anywhere.
                reader.resolved.pop();
                reader.record("path", kind.show(&whole));
                // What the file says decides results, not where it is.
                let path = reader.path("path");
                reader.contents.insert(path, hash);
                Some(RoutingSpec::File(Arc::new(file)))
            }
            Err(problem) => {
                reader.problems.push(problem);
                None
            }
        }
    });
    let variants = vec![
        direction_order,
        angara,
        file,
        adaptive::bubble(),
        adaptive::pick_orthant(),
        adaptive::outflank(),
    ];
    reader.choice(&choice, variants)
}

/// A table file.
struct Read {
    file: TableFile,
    /// Its whole path.
    whole: String,
    /// Of its content.
    hash: String,
}

/// The table in a file; what is wrong in it is shown in its line.
fn table(reader: &Reader<'_>, path: &str, place: &Location) -> Result<Read, Diagnostic> {
    let scenario = reader.document.map_or("", |document| document.file.name.as_str());
    let path = Path::new(scenario).parent().unwrap_or(Path::new("")).join(path);
    let unreadable = |error: std::io::Error| {
        Diagnostic::new(place, format!("can't read {}: {error}", path.display()))
            .help("the path is taken from the scenario's own folder")
    };
    let text = std::fs::read_to_string(&path).map_err(unreadable)?;
    let whole = path.canonicalize().map_err(unreadable)?.display().to_string();
    match TableFile::parse(&text) {
        Ok(file) => Ok(Read { file, whole, hash: content_hash(&text) }),
        Err(error) => {
            let line = text.split_inclusive('\n').nth(error.line - 1).unwrap_or("");
            let start: usize = text.split_inclusive('\n').take(error.line - 1).map(str::len).sum();
            let name = path.display().to_string();
            let span = start..start + line.trim_end().len();
            let order = usize::MAX;
            let source = Arc::new(Source { name, text, order, typed: false });
            Err(Diagnostic::new(&Location { source, span }, error.message))
        }
    }
}
