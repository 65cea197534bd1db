//! `[exchange]`: a workload that ends.

use std::sync::Arc;

use super::load::access;
use super::{
    Bound, BoundWorkload, Checked, Given, LARGEST_MESSAGE, Room, Share, WorkloadKind, WorkloadSpec,
};
use crate::Scenario;
use crate::checks::{Checks, PACKET};
use crate::schema::pattern;
use crate::simulation::SetupError;
use flitlab_base::document::{Choice, Reader, Whole, plain, size, time, with_keys};
use flitlab_base::registry::Row;
use flitlab_base::units::{Picoseconds, short_time_text, time_text};
use flitlab_measure::{CompletionBound, completion_bound};
use flitlab_traffic::{Access, Between, Exchange, ExchangeSpec, Partners, Pattern, Workload};

pub(super) const EXCHANGE: Row<WorkloadKind> = Row::new(
    "exchange",
    "A finite workload: every node sends a message to each of its partners.",
    WorkloadKind { purpose: "for a finite workload", beside_load: false, read },
);

fn read(reader: &mut Reader<'_>, given: &mut Given<'_>) -> Option<Arc<dyn WorkloadSpec>> {
    let pattern = pattern::read(reader, Some("all-to-all"), given);
    let doc = "Size of the message to each partner.";
    let message = reader.required("message", &size(0, LARGEST_MESSAGE), doc);
    let between = between(reader);
    let mut rounds = 1;
    let doc = "How often the whole exchange is done.";
    reader.set("rounds", &Whole { range: 1..=1_000_000_000 }, &mut rounds, doc);
    let access = access(reader);
    let (pattern, message, between) = (pattern?, message?, between?);
    Some(Arc::new(ExchangeSpec { pattern, message, access, between, rounds }))
}

fn between(reader: &mut Reader<'_>) -> Option<Between> {
    let doc = "What a node waits for before it sends to its next partner.";
    let choice = Choice::usual("between_steps", "rule between steps", "exchange", doc);
    let nothing = "all messages are queued at the start.";
    let exchange = "its own message has left and its partner's has come, as in MPI_Sendrecv.";
    let barrier = "as \"exchange\", for all nodes; then the next step starts everywhere at once.";
    reader.choice(
        &choice,
        vec![
            plain("exchange", Between::Exchange, exchange),
            plain("nothing", Between::Nothing, nothing),
            with_keys("barrier", barrier, |reader| {
                let doc = "Time that the barrier itself takes.";
                let latency =
                    reader.value("latency", &time(Picoseconds::ZERO), Picoseconds::ZERO, doc);
                Some(Between::Barrier { latency })
            }),
        ],
    )
}

impl WorkloadSpec for ExchangeSpec {
    fn check(&self, checks: &mut Checks<'_>, checked: &Checked<'_>) {
        checks.messages(checked.parameters, self.message, self.access, "exchange");
        checks.pattern(&self.pattern, checked, "exchange.pattern", Some("an exchange needs"));
        // Steps and flits are counted.
        let keys = ["exchange.rounds", "exchange.pattern"];
        let Some(fabric) = checked.fabric.filter(|_| checks.sound(&keys)) else { return };
        let Ok(pattern) = Pattern::new(&self.pattern, fabric, checked.seed) else { return };
        let Some(steps) = pattern.steps().map(|steps| u64::from(steps.max(1))) else { return };
        let most = u64::from(u32::MAX) / steps;
        if u64::from(self.rounds) > most {
            let message = format!("{} rounds of {steps} steps are too many", self.rounds);
            let help = format!("an exchange has at most {} steps, rounds included", u32::MAX);
            checks.report(&keys, message, &format!("at most {most}"), Some(help));
        }
        let (keys, parameters) = (["exchange.message", "exchange.rounds"], checked.parameters);
        if !checks.sound(&keys) || !checks.sound(&PACKET) || !checks.is_clean() {
            return;
        }
        let messages = steps.saturating_mul(u64::from(self.rounds));
        let messages = messages.saturating_mul(fabric.live_terminals().count() as u64);
        let a_message = match self.access {
            Access::Write => 0,
            Access::Read { request } => parameters.message_flits(request.0),
        } + parameters.message_flits(self.message.0);
        if messages.checked_mul(a_message).is_none() {
            let message = format!(
                "up to {messages} messages of {a_message} flits are more flits than can be counted"
            );
            let help = "at most 2^64 flits are; make messages smaller, or do fewer rounds";
            checks.refuse(&keys, message, help);
        }
    }

    fn bind(&self, scenario: &Scenario, room: &Room<'_>) -> Result<Bound, SetupError> {
        let fabric = &scenario.network.fabric;
        let pattern = Pattern::new(&self.pattern, fabric, scenario.seed)?;
        room(Exchange::memory_needed(self, pattern.steps().unwrap_or(0), fabric.terminals()))?;
        let message = (self.message.into(), self.access);
        Ok(Bound { pattern, message, workload: Box::new(self.clone()) })
    }

    fn for_each_size(&self, each: &mut dyn FnMut(u64, Access)) {
        each(self.message.0, self.access);
    }

    fn bears_losses(&self) -> bool {
        self.between == Between::Nothing && self.access == Access::Write
    }

    fn has_barriers(&self) -> bool {
        matches!(self.between, Between::Barrier { .. })
    }

    fn draws(&self) -> bool {
        self.pattern.partners() != Partners::Fixed
    }
}

impl BoundWorkload for ExchangeSpec {
    fn workload(&self, share: Share<'_>) -> Box<dyn Workload> {
        Box::new(Exchange::new(self, share.pattern().clone(), share.fabric()))
    }

    fn completion_bound(&self, share: Share<'_>) -> Option<CompletionBound> {
        let (fabric, routes) = (share.fabric(), share.routes());
        let parameters = share.parameters();
        completion_bound(fabric, routes, parameters, share.pattern(), self)
    }

    /// Returns the effect of waiting for others between two steps.
    fn why_over_bound(
        &self,
        share: Share<'_>,
        bound: &CompletionBound,
        completion: Picoseconds,
    ) -> Option<String> {
        let all = share.pattern().steps()?.saturating_mul(self.rounds);
        let waits = match self.between {
            Between::Nothing => return None,
            Between::Barrier { .. } => "all nodes wait for the slowest one in each",
            Between::Exchange => "in each a node waits for its partners",
        };
        if all < 2 {
            return None;
        }
        let each = time_text(completion / u64::from(all) / 1000 * 1000);
        Some(format!(
            "lock step: {all} steps of {each} in the mean, and {waits}; one after the other they take {} at least, \
             the channels {} (exchange.between_steps = \"nothing\" lets nodes go on)",
            short_time_text(bound.by_steps),
            short_time_text(bound.by_rates)
        ))
    }
}
