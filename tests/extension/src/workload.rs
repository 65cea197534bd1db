//! An exchange of one message of each node. It is a list of messages; a workload that answers what
//! arrives, or draws when it sends, implements [`Workload`] itself.

use std::sync::Arc;

use flitlab::document::{Reader, size};
use flitlab::memory::Shortage;
use flitlab::registry::Row;
use flitlab::scenario::workload::{
    Bound, BoundWorkload, Checked, Given, LARGEST_MESSAGE, Share, WorkloadKind, WorkloadSpec,
};
use flitlab::scenario::{Checks, Scenario};
use flitlab::simulation::SetupError;
use flitlab::traffic::{Access, Message, MessageKind, Pattern, Script, Workload};
use flitlab::units::{Bytes, Picoseconds};

/// Every node sends one message to the next one by number.
#[derive(Clone, Debug, PartialEq)]
struct Pass {
    message: Bytes,
}

/// All of the kind but its name.
pub const KIND: WorkloadKind =
    WorkloadKind { purpose: "for one message of each node", beside_load: false, read };

/// The kind of workload.
pub static PASS: Row<WorkloadKind> =
    Row::new("pass", "Every node passes a message on to the next one.", KIND);

fn read(reader: &mut Reader<'_>, _: &mut Given<'_>) -> Option<Arc<dyn WorkloadSpec>> {
    let message = reader.required("message", &size(0, LARGEST_MESSAGE), "Payload of a message.")?;
    Some(Arc::new(Pass { message }))
}

impl WorkloadSpec for Pass {
    fn check(&self, checks: &mut Checks<'_>, checked: &Checked<'_>) {
        checks.messages(checked.parameters, self.message, Access::Write, "pass");
        if checked.fabric.is_some_and(|fabric| fabric.live_terminals().count() < 2) {
            checks.refuse(&["pass", "topology"], "there is no next node", "take a larger fabric");
        }
    }

    fn bind(
        &self,
        scenario: &Scenario,
        room: &dyn Fn(u64) -> Result<(), Shortage>,
    ) -> Result<Bound, SetupError> {
        let fabric = &scenario.network.fabric;
        room(u64::from(fabric.terminals()) * size_of::<Message>() as u64)?;
        let nodes: Vec<u32> = fabric.live_terminals().collect();
        let next = nodes.iter().cycle().skip(1);
        let pairs: Vec<_> = nodes.iter().zip(next).map(|(&from, &to)| (from, to, 1.0)).collect();
        let pattern = Pattern::of_weights(&pairs, fabric)?;
        let message = |(source, destination, _)| Message {
            time: Picoseconds::ZERO,
            source,
            destination,
            bytes: self.message.0,
            kind: MessageKind::Data,
            tag: 0,
            class: 0,
        };
        let script = Script::new(pairs.into_iter().map(message).collect());
        let workload = Box::new(BoundPass(script));
        Ok(Bound { pattern, message: (self.message.into(), Access::Write), workload })
    }

    fn for_each_size(&self, each: &mut dyn FnMut(u64, Access)) {
        each(self.message.0, Access::Write);
    }

    fn draws(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct BoundPass(Script);

impl BoundWorkload for BoundPass {
    fn workload(&self, _: Share<'_>) -> Box<dyn Workload> {
        Box::new(self.0.clone())
    }
}
