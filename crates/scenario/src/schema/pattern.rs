//! `pattern`: who sends to whom, in all workloads that have one.

use crate::workload::Given;
use flitlab_base::document::{Choice, Reader, Variant, row_with_keys};
use flitlab_traffic::{Partners, PatternKind, PatternSpec};

/// Reads the pattern of a workload. One that sends step by step gives the pattern that is shown
/// where an example is, and is not offered those that draw their destinations.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    of_steps: Option<&str>,
    given: &mut Given<'_>,
) -> Option<PatternSpec> {
    let doc = "Who sends to whom. In the formulas a node's coordinates are (x,y,...), of k nodes \
               each; the bits are those of its number.";
    let choice = Choice::required("pattern", "pattern", doc);
    let mut kinds: Vec<_> = given.registry.rows::<PatternKind>().collect();
    // The first one is the example where none is written.
    if let Some(usual) = of_steps {
        kinds.sort_by_key(|kind| kind.name != usual);
    }
    let places = given.places;
    let variants = kinds.into_iter().map(|kind| {
        let read = move |reader: &mut _| PatternSpec::read(kind.row, reader, places);
        let variant = row_with_keys(kind, read);
        // Patterns that draw their destinations have no steps; the rules between keys say so.
        let drawn = of_steps.is_some() && kind.partners == Partners::Drawn;
        if drawn { Variant::not_offered(variant) } else { variant }
    });
    let pattern = reader.choice(&choice, variants.collect())?;
    let pattern = match &given.worst_case {
        Some(worst_case) => pattern.beside(worst_case.clone()),
        None => pattern,
    };
    Some(match given.nodes.take() {
        Some(nodes) => pattern.among(nodes),
        None => pattern,
    })
}
