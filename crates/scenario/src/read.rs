//! From a document to a scenario, its network, and its identity.

use std::sync::Arc;

use crate::checks::{self, Fabrics};
use crate::purpose::Purpose;
use crate::resolved::{self, Resolved};
use crate::schema::{self, Draft};
use crate::{Document, Identity, Network, Scenario, sweep};
use flitlab_base::document::{Diagnostic, Diagnostics, Hints, Missed, Reader};

impl Scenario {
    /// Reads and checks a document; its `[sweep]`, if it has one, is left alone.
    ///
    /// # Errors
    /// All mistakes that can be found, syntax included.
    pub fn read(document: &Document) -> Result<Self, Diagnostics> {
        Self::read_resolved(document).map(|(scenario, _)| scenario)
    }

    /// Reads a scenario like [`Scenario::read`], and returns also its TOML text with every value
    /// written out. That text reads back to an equal scenario wherever it is put.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn read_resolved(document: &Document) -> Result<(Self, String), Diagnostics> {
        let (scenario, read) = Self::read_with(document, &mut Fabrics::default())?;
        Ok((scenario, resolved::render(&read)))
    }

    /// Returns the identity of this document's result.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn identity(document: &Document) -> Result<Identity, Diagnostics> {
        Self::read_with(document, &mut Fabrics::default()).map(|(_, read)| Identity::new(&read))
    }

    pub(crate) fn read_with(
        document: &Document,
        fabrics: &mut Fabrics,
    ) -> Result<(Self, Resolved), Diagnostics> {
        let reading = Reading::of(document, fabrics, Purpose::Run);
        Diagnostics::check(reading.problems)?;
        let draft = reading.draft.expect("only syntax errors prevent reading");
        let scenario = Self {
            name: draft.name,
            title: draft.title,
            seed: draft.seed,
            network: reading.network.expect("or it was reported"),
            preset: draft.preset,
            parameters: draft.parameters,
            workload: draft.workload.expect("or it was reported"),
            measure: draft.measure,
            kept: draft.kept,
            interruption: draft.interruption,
        };
        Ok((scenario, reading.resolved))
    }
}

impl Network {
    /// Reads the network of a document, which may have no workload; whether every pair can be
    /// routed is left open.
    ///
    /// # Errors
    /// All mistakes that can be found.
    pub fn read(document: &Document) -> Result<Arc<Self>, Diagnostics> {
        let mut fabrics = Fabrics::default();
        let reading = Reading::of(document, &mut fabrics, Purpose::Routes);
        Diagnostics::check(reading.problems)?;
        Ok(reading.network.expect("or it was reported"))
    }
}

/// The readable part of a document.
#[derive(Default)]
pub(crate) struct Reading {
    pub draft: Option<Draft>,
    pub network: Option<Arc<Network>>,
    pub resolved: Resolved,
    /// All mistakes.
    pub problems: Vec<Diagnostic>,
}

impl Reading {
    pub fn of(document: &Document, fabrics: &mut Fabrics, purpose: Purpose) -> Self {
        let mut problems = document.problems.clone();
        if !document.intact {
            return Self { problems, ..Self::default() };
        }
        let missed = |path: &str| match (sweep::gives(document, path), purpose) {
            (false, _) => Missed::Mistake,
            (true, Purpose::Run) => Missed::Help(format!(
                "only [sweep] gives it: run the sweep, or give it for one run with --set \
                 {path}=VALUE"
            )),
            (true, _) => Missed::Nothing,
        };
        let hints = Hints { reference: &|| document.reference(), missed: &missed };
        let mut reader = Reader::reading(document, Some(hints));
        let draft = schema::read(&mut reader, &document.registry, purpose);
        problems.append(&mut reader.problems);
        if problems.is_empty() {
            problems.append(&mut reader.held);
        }
        // Of what is wrong anyhow no tables are made, which can take long.
        let mut without_tables = Fabrics::without_tables();
        let fabrics = if problems.is_empty() { fabrics } else { &mut without_tables };
        let (network, broken_rules) =
            checks::run(document, &reader.broken, &draft, fabrics, purpose);
        problems.extend(broken_rules);
        let Reader { resolved: keys, contents, packages, .. } = reader;
        let resolved = Resolved { keys, contents, packages };
        Self { draft: Some(draft), network, resolved, problems }
    }
}
