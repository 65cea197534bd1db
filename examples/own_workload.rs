//! A kind of workload of one's own, with a table in scenarios: `[bursts]`.
//!
//!     cargo run --release --example own_workload
//!
//! All that there is of it stands in this file. It goes on for ever, so that it is measured in a
//! steady state as a load is. One that comes to an end has no `load`, and needs no `is_finite`.

use std::error::Error;
use std::sync::Arc;

use flitlab::document::{Count, Reader, size, time};
use flitlab::memory::Shortage;
use flitlab::package;
use flitlab::registry::{Registry, Row};
use flitlab::scenario::workload::{
    Bound, BoundWorkload, Checked, Given, LARGEST_MESSAGE, Share, WorkloadKind, WorkloadSpec,
};
use flitlab::scenario::{Checks, Document, Scenario};
use flitlab::simulation::{SetupError, Simulation};
use flitlab::traffic::{
    Access, Created, LoadRates, Message, MessageKind, Pattern, PatternSpec, Workload, restored,
    saved,
};
use flitlab::units::{Bytes, Picoseconds};

/// What scenarios and messages call the workload, and what reads its keys.
pub static BURSTS: Row<WorkloadKind> = Row::new(
    "bursts",
    "Bursts of messages from every node to the one that lies opposite, for ever.",
    WorkloadKind { purpose: "for messages that come together", beside_load: false, read },
);

/// What a scenario says.
#[derive(Clone, Debug)]
struct Bursts {
    messages: u32,
    message: Bytes,
    period: Picoseconds,
}

/// Reads the keys. `Reader` reports those that are wrong, missing or misspelt.
fn read(reader: &mut Reader<'_>, _: &mut Given<'_>) -> Option<Arc<dyn WorkloadSpec>> {
    let messages = reader.required("messages", &Count { example: 4 }, "Messages of a burst.");
    let message = reader.required("message", &size(1, LARGEST_MESSAGE), "Payload of a message.");
    let doc = "From the beginning of a burst until that of the next one.";
    let period = reader.required("period", &time(Picoseconds::NANOSECOND), doc);
    Some(Arc::new(Bursts { messages: messages?, message: message?, period: period? }))
}

impl Bursts {
    /// The flits of a node in the time of one flit on a cable.
    fn flits(&self, parameters: &flitlab::engine::Parameters) -> f64 {
        let flits = parameters.message_flits(self.message.0) * u64::from(self.messages);
        flits as f64 * parameters.link_flit_time().0 as f64 / self.period.0 as f64
    }
}

impl WorkloadSpec for Bursts {
    /// Rules between keys. Each is reported at the first of its keys that is written.
    fn check(&self, checks: &mut Checks<'_>, checked: &Checked<'_>) {
        checks.messages(checked.parameters, self.message, Access::Write, "bursts");
        if checked.packets && self.flits(checked.parameters) > 1.0 {
            let message = "a burst has more flits than a node can inject until the next one";
            checks.refuse(&["bursts.period", "bursts.message"], message, "lengthen `period`");
        }
    }

    /// Binds the bursts to a fabric, once there is room for what they keep of each node.
    fn bind(
        &self,
        scenario: &Scenario,
        room: &dyn Fn(u64) -> Result<(), Shortage>,
    ) -> Result<Bound, SetupError> {
        let (fabric, parameters) = (&scenario.network.fabric, &scenario.parameters);
        room(u64::from(fabric.terminals()) * size_of::<u64>() as u64)?;
        let pattern = Pattern::new(&PatternSpec::new("tornado", ""), fabric, scenario.seed)?;
        let flits = self.flits(parameters);
        let seconds = self.period.0 as f64 / 1e12;
        let rates = LoadRates {
            fraction: flits / fabric.capacity(),
            payload: self.message.0 as f64 * f64::from(self.messages) / seconds,
            flits,
            messages: flits / parameters.message_flits(self.message.0) as f64,
            random: false,
            highest_fraction: f64::INFINITY,
            cycle: self.period,
        };
        let workload = Box::new(BoundBursts { bursts: self.clone(), rates });
        Ok(Bound { pattern, message: (self.message.into(), Access::Write), workload })
    }

    /// Every size that messages have, from which it follows whether packets can deadlock.
    fn for_each_size(&self, each: &mut dyn FnMut(u64, Access)) {
        each(self.message.0, Access::Write);
    }

    /// Another seed gives the same messages.
    fn draws(&self) -> bool {
        false
    }

    fn is_finite(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct BoundBursts {
    bursts: Bursts,
    rates: LoadRates,
}

impl BoundWorkload for BoundBursts {
    fn workload(&self, share: Share<'_>) -> Box<dyn Workload> {
        let sent = vec![0; share.fabric().terminals() as usize];
        Box::new(Sending { bursts: self.bursts.clone(), pattern: share.pattern().clone(), sent })
    }

    fn load(&self) -> Option<LoadRates> {
        Some(self.rates)
    }
}

/// The workload of the engine: by terminal, how many messages it has sent.
#[derive(Clone, Debug)]
struct Sending {
    bursts: Bursts,
    pattern: Pattern,
    sent: Vec<u64>,
}

impl Workload for Sending {
    fn first(&mut self, terminal: u32) -> Option<Picoseconds> {
        self.pattern.partner(terminal, 0).map(|_| Picoseconds::ZERO)
    }

    /// The messages of a burst come at one instant: the engine is told to ask for each of them
    /// `now`, and behind the last one at the beginning of the next burst.
    fn create(&mut self, terminal: u32, now: Picoseconds) -> Created {
        let Bursts { messages, message, period } = self.bursts;
        let sent = &mut self.sent[terminal as usize];
        *sent += 1;
        let next = period * (*sent / u64::from(messages));
        let message = self.pattern.partner(terminal, 0).map(|destination| Message {
            time: now,
            source: terminal,
            destination,
            bytes: message.0,
            kind: MessageKind::Data,
            tag: 0,
            class: 0,
        });
        (message, Some(next))
    }

    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64)) {
        each(MessageKind::Data, self.bursts.message.0);
    }

    /// What a checkpoint keeps.
    fn state(&self) -> Vec<u8> {
        saved(&self.sent)
    }

    fn resume(&mut self, state: &[u8]) -> bool {
        let sent = restored(state).filter(|sent: &Vec<_>| sent.len() == self.sent.len());
        sent.map(|sent| self.sent = sent).is_some()
    }

    fn memory(&self) -> usize {
        self.sent.len() * size_of::<u64>()
    }
}

/// A ring of eight nodes, each of which sends four messages every 2 us.
pub const SCENARIO: &str = "
[topology.torus]
dimensions = [8]

[bursts]
messages = 4
message = '256 B'
period = '2 us'

[measure]
window = '20 us'
";

/// Reads a scenario that may name the workload, as it names those of flitlab.
pub fn read_scenario(text: &str) -> Result<Scenario, Box<dyn Error>> {
    let registry = Registry::default().with(package!(), &BURSTS)?;
    let document = Document::parse("own_workload.toml", text).with_registry(&registry);
    Ok(Scenario::read(&document)?)
}

/// What the simulation of a scenario measured: payload of a node in GB/s, offered and accepted.
pub fn measure(scenario: &Scenario) -> Result<(f64, f64), Box<dyn Error>> {
    let measured = Simulation::new(scenario)?.run(&mut |_| {}).found.measured;
    let offered = measured.offered_payload.ok_or("nothing was offered")?;
    let accepted = measured.accepted_payload.ok_or("no throughput was measured")?;
    Ok((offered, accepted))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (offered, accepted) = measure(&read_scenario(SCENARIO)?)?;
    println!("{accepted:.3} GB/s of payload a node, of {offered:.3} GB/s offered");
    Ok(())
}
