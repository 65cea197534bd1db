//! `pattern`: who sends to whom, in all workloads that have one.

use flitlab_base::document::{Choice, Reader, Variant, row_with_keys};
use flitlab_base::registry::Registry;
use flitlab_fabric::Places;
use flitlab_workload::traffic::{Partners, PatternKind, PatternSpec};

/// The pattern of an exchange where an example is shown.
const USUAL_EXCHANGE: &str = "all-to-all";

/// The default pattern of remote memory operations.
const USUAL_REMOTE_MEMORY: &str = "neighbor";

/// The kind of traffic that sends by the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    Load,
    /// Takes patterns with steps only, as the next one does.
    Exchange,
    RemoteMemory,
}

/// The names of nodes, if they are known, and the available patterns.
#[derive(Clone, Copy)]
pub(super) struct Senders<'f> {
    pub places: Option<Places<'f>>,
    pub registry: &'f Registry,
}

pub(super) fn read(
    reader: &mut Reader<'_>,
    sender: Sender,
    senders: Senders<'_>,
) -> Option<PatternSpec> {
    let doc = "Who sends to whom. In the formulas a node's coordinates are (x,y,...), of k nodes \
               each; the bits are those of its number.";
    let choice = Choice::required("pattern", "pattern", doc);
    let mut kinds: Vec<_> = senders.registry.rows::<PatternKind>().collect();
    // The first one is the example where none is written.
    match sender {
        Sender::Load => {}
        Sender::Exchange => kinds.sort_by_key(|kind| kind.name != USUAL_EXCHANGE),
        Sender::RemoteMemory => kinds.sort_by_key(|kind| kind.name != USUAL_REMOTE_MEMORY),
    }
    let variants = kinds.into_iter().map(|kind| {
        let read = move |reader: &mut _| PatternSpec::read(kind.row, reader, senders.places);
        let variant = row_with_keys(kind, read);
        // Patterns that draw their destinations have no steps; the rules between keys say so.
        let drawn = sender != Sender::Load && kind.partners == Partners::Drawn;
        if drawn { Variant::not_offered(variant) } else { variant }
    });
    reader.choice(&choice, variants.collect())
}
