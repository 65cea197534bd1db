//! A kind of workload of another crate: read, checked, swept, documented and simulated as those
//! that are built in.

use std::sync::Arc;

use crate::executor::{SetupError, Simulation};
use crate::workload::{
    Bound, BoundWorkload, Checked, Given, LARGEST_MESSAGE, WorkloadKind, WorkloadSpec,
};
use crate::{Checks, Document, Scenario, Sweep, reference};
use flitlab_base::document::{Reader, size};
use flitlab_base::memory::Shortage;
use flitlab_base::package;
use flitlab_base::registry::{Registry, Row};
use flitlab_base::units::{Bytes, Picoseconds};
use flitlab_report::Status;
use flitlab_workload::traffic::{Access, Message, MessageKind, Pattern, Script, Workload};

/// Every node sends one message to the next one by number.
#[derive(Clone, Debug, PartialEq)]
struct Pass {
    message: Bytes,
}

const PASS: Row<WorkloadKind> = Row::new(
    "pass",
    "Every node passes a message on to the next one.",
    WorkloadKind { purpose: "for one message of each node", beside_load: false, read },
);

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
        };
        let script = Script::new(pairs.into_iter().map(message).collect());
        let workload = Box::new(BoundPass(script));
        Ok(Bound { pattern, message: (self.message.0, Access::Write), workload })
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
    fn workload(&self, _: &Simulation) -> Box<dyn Workload> {
        Box::new(self.0.clone())
    }
}

fn document(text: &str) -> Document {
    let registry = Registry::default().with(package!(), &PASS).unwrap();
    let text = format!("[topology.torus]\ndimensions = [4, 4]\n{text}");
    Document::parse("a.toml", &text).with_registry(&registry)
}

#[test]
fn it_is_read_checked_swept_and_documented() {
    let said = |text| Scenario::read(&document(text)).unwrap_err().plain();
    assert!(said("[pass]\nmesage = '8 B'\n").contains("did you mean `message`?"));
    assert!(said("[pas]\nmessage = '8 B'\n").contains("did you mean `pass`?"));
    assert!(said("").contains("nor [remote_memory] nor [pass]"), "{}", said(""));
    assert!(said("[pass]\nmessage = '8 B'\n[exchange]\n").contains("not [exchange] and [pass]"));
    let sweep = "[pass]\nmessage = '8 B'\n[sweep.grid]\npass.message = ['8 B', '1 KiB']\n";
    assert_eq!(Sweep::read(&document(sweep)).unwrap().points.len(), 2);
    let search = "[pass]\nmessage = '8 B'\n[sweep]\nsaturation = { tolerance = 0.02 }\n";
    let refused = Sweep::read(&document(search)).unwrap_err().plain();
    assert!(refused.contains("a [pass] has no load that could saturate"), "{refused}");
    assert!(document("").reference().to_string().contains("\n[pass]\n"));
    assert!(!reference().to_string().contains("[pass]"));
    let (_, resolved) = Scenario::read_resolved(&document("[pass]\nmessage = '8 B'\n")).unwrap();
    assert!(resolved.starts_with("# pass is not built in: it comes from flitlab-scenario "));
}

#[test]
fn it_can_not_be_called_like_another_table() {
    static ROWS: [Row<WorkloadKind>; 2] = [
        Row::new("link", "Another one.", PASS.component),
        Row::new("exchange", "Another one.", PASS.component),
    ];
    for row in &ROWS {
        assert!(Registry::default().with(package!(), row).is_err(), "{}", row.name);
    }
}

#[test]
fn it_is_simulated() {
    let scenario = Scenario::read(&document("[pass]\nmessage = '8 B'\n")).unwrap();
    let found = Simulation::new(&scenario).unwrap().run(&mut |_| {}).found.measured;
    assert_eq!((found.status, found.nodes), (Status::Completed, Some(16)));
    let exchange = "pattern = { pairs = { list = [[[0, 0], [1, 0]]] } }\nmessage = '8 B'\n";
    let ping = Scenario::read(&document(&format!("[exchange]\n{exchange}"))).unwrap();
    let ping = Simulation::new(&ping).unwrap().run(&mut |_| {}).found.measured;
    // Some of the next nodes are one hop away, and some two.
    let (own, one_hop) = (found.completion_time.unwrap(), ping.completion_time.unwrap());
    assert!(own > one_hop && own < one_hop * 2, "{own} {one_hop}");
}
