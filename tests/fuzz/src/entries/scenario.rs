//! Scenario text, values that are set over it, and the traffic matrices that it names.

use flitlab::scenario::{Diagnostics, Document, Network, Scenario, Sweep};

use super::files::Folder;
use super::gate::Size;
use super::text;

/// There is no such folder, so that no file is found beside the scenario.
const PATH: &str = "no-such-folder/fuzz.toml";

/// A scenario's text.
pub fn scenario(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if Size::of(text).is_small() {
        judge(&Document::parse(PATH, text));
    }
}

/// Arguments of `--set`, a line each, over a small scenario.
pub fn set(bytes: &[u8]) {
    const BASE: &str =
        "[topology.torus]\ndimensions = [4, 2]\n[traffic]\npattern = \"uniform\"\nload = 0.3\n";
    let Some(text) = text(bytes) else { return };
    let mut document = Document::parse(PATH, BASE);
    let mut size = Size::of(BASE);
    for line in text.lines() {
        document.set(line);
        size = size.with(Size::of(line));
    }
    if size.is_small() {
        judge(&document);
    }
}

/// A traffic matrix. The first byte says what its nodes are: those of a torus, of a line, or named
/// ones.
pub fn matrix(bytes: &[u8]) {
    const FABRICS: [&str; 3] = [
        "[topology.torus]\ndimensions = [3, 2]\n",
        "[topology.torus]\ndimensions = [5]\nopen = [\"x\"]\n",
        "[topology.hyperx]\ndimensions = [2, 2]\nterminals = 2\n",
    ];
    let Some((first, rest)) = bytes.split_first() else { return };
    let fabric = FABRICS[usize::from(*first) % FABRICS.len()];
    let folder = Folder::of_this_thread();
    folder.write("matrix.csv", rest);
    let traffic = "[traffic]\npattern = { matrix = { file = \"matrix.csv\" } }\nload = 0.1\n";
    let path = folder.path("fuzz.toml");
    judge(&Document::parse(&path.display().to_string(), &format!("{fabric}{traffic}")));
}

/// Reads a document as `run`, `sweep` and `route` do. What is right is written out with every
/// value, and read again to the same.
fn judge(document: &Document) {
    match Scenario::read_resolved(document) {
        Ok((scenario, resolved)) => {
            let again = Document::parse(PATH, &resolved);
            let (same, text) = Scenario::read_resolved(&again)
                .unwrap_or_else(|found| panic!("{}\n{resolved}", found.plain()));
            assert_eq!(same, scenario, "{resolved}");
            assert_eq!(text, resolved);
            assert_eq!(identity(&again), identity(document), "{resolved}");
        }
        Err(found) => show(&found),
    }
    if let Err(found) = Network::read(document) {
        show(&found);
    }
    if document.has_sweep() {
        judge_sweep(document);
    }
}

fn judge_sweep(document: &Document) {
    match Sweep::read(document) {
        Ok(sweep) => {
            let resolved = sweep.resolved().unwrap_or_else(|found| panic!("{}", found.plain()));
            let again = Sweep::read(&Document::parse(PATH, &resolved))
                .unwrap_or_else(|found| panic!("{}\n{resolved}", found.plain()));
            let points = |sweep: &Sweep| -> Vec<(String, String, String)> {
                let point = |at: usize| {
                    let point = &sweep.points[at];
                    (sweep.label(at), point.figure.clone(), point.identity.to_string())
                };
                (0..sweep.points.len()).map(point).collect()
            };
            assert_eq!(points(&again), points(&sweep), "{resolved}");
        }
        Err(found) => show(&found),
    }
}

fn identity(document: &Document) -> String {
    Scenario::identity(document).expect("it was read before").to_string()
}

/// Messages point into the text, which may be anything.
fn show(found: &Diagnostics) {
    assert!(!found.plain().is_empty() && !found.colored().is_empty());
}
