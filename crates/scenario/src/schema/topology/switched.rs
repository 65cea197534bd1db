//! Fabrics of switches that are built by rule, a table each.

use std::sync::Arc;

use crate::{
    TopologySpec,
    topology::{Plan, SwitchedSpec},
};
use flitlab_base::document::{Diagnostic, Reader, Variant, row_with_keys};
use flitlab_base::registry::Registry;
use flitlab_fabric::{
    Cabling, TopologyError,
    builders::{BuilderKind, Sizes},
};

use super::failures;

pub(super) fn variants<'v, 'd: 'v>(
    registry: &'v Registry,
    seed: u64,
) -> impl Iterator<Item = Variant<'v, 'd, TopologySpec>> {
    registry.rows().map(move |kind| row_with_keys(kind, move |reader| read(reader, &kind, seed)))
}

/// The fabric of a builder, and what has failed in it.
fn read(reader: &mut Reader<'_>, kind: &BuilderKind, seed: u64) -> Option<TopologySpec> {
    let start = reader.resolved.len();
    let built = (kind.read)(&mut Sizes { reader, seed });
    let keys = reader.resolved[start..].to_vec();
    let built = built.and_then(|built| match built.cabling.and_then(Cabling::fabric) {
        Ok(fabric) => Some((built.name, fabric)),
        Err(error) => {
            let key = match &error {
                TopologyError::Limit { key, allowed, .. } => Some((*key, allowed.clone())),
                _ => None,
            };
            // A size that is a default has no place of its own.
            let own = key.and_then(|(key, allowed)| {
                reader.has(key).then(|| Some((reader.place(key)?, allowed))).flatten()
            });
            let (place, label) = match own {
                Some((place, label)) => (Some(place), label),
                None => (reader.scope.place.clone(), String::new()),
            };
            if let Some(place) = place {
                let mut problem = Diagnostic::new(&place, error.to_string()).label(label);
                problem.help = error.help();
                reader.problems.push(problem);
            }
            None
        }
    });
    let failures = failures::read(reader, built.as_ref().map(|(_, fabric)| fabric), seed);
    let (name, whole) = built?;
    let plan = Plan::Built { name, keys, usual_table: kind.usual_table };
    Some(TopologySpec::Switched(Arc::new(SwitchedSpec { plan, failures, whole })))
}
