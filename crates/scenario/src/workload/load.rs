//! `[traffic]`: a load that goes on.

use std::sync::Arc;

use super::{
    Bound, BoundWorkload, Checked, Facts, Given, LARGEST_MESSAGE, LARGEST_REQUEST, LOAD_TABLE,
    Room, Share, WorkloadKind, WorkloadSpec,
};
use crate::Scenario;
use crate::checks::Checks;
use crate::load::Load;
use crate::schema::pattern;
use crate::simulation::SetupError;
use flitlab_base::document::{Choice, Flag, Number, Reader, Whole, plain, size, time, with_keys};
use flitlab_base::narrow::rounded;
use flitlab_base::registry::Row;
use flitlab_base::units::{Bytes, Picoseconds, bytes_text, rate_text, time_text};
use flitlab_engine::RouterKind;
use flitlab_fabric::Fabric;
use flitlab_traffic::{
    Access, Arrivals, LoadRates, LoadSpec, MessageSizes, OfferedLoad, OpenLoad, Pattern, Process,
    Workload,
};

pub(super) const TRAFFIC: Row<WorkloadKind> = Row::new(
    LOAD_TABLE,
    "Traffic that goes on for ever at an offered load; it may go on beside [collective], too.",
    WorkloadKind {
        purpose: "for a load that goes on, with for example `pattern = \"uniform\"` and `load = 0.3`",
        beside_load: false,
        read,
    },
);

fn read(reader: &mut Reader<'_>, given: &mut Given<'_>) -> Option<Arc<dyn WorkloadSpec>> {
    let pattern = pattern::read(reader, None, given);
    let parameters = &*given.parameters;
    let doc = "How much a node sends: a fraction of the fabric's capacity, all flits counted (0.3); or payload \
         (\"3 GB/s\"). The capacity of [topology.torus] is what saturates its bisection under uniform \
         traffic; of other fabrics it is the rate of a cable.";
    let load = reader.required("load", &Load, doc);
    let process = process(reader, &given.parameters.kind);
    let message: Option<MessageSizes> = match process {
        Some((_, Some(packets))) => {
            for key in ["message", "sizes"] {
                let message = format!("a burst has no `{key}`: its packets are its size");
                let help = format!("leave `{key}` out, or choose another `process`");
                reader.forbid(key, &message, &help);
            }
            Some(Bytes(packets * parameters.maximum_payload.0).into())
        }
        _ if reader.has("sizes") => {
            let message = "`message` is the size of all messages, and `sizes` has several";
            reader.forbid("message", message, "keep one of the two");
            sizes(reader)
        }
        _ => {
            let usual = match parameters.kind.output_queues() {
                None => parameters.maximum_payload,
                Some(it) => Bytes(it.packet.0 * u64::from(it.message_packets)),
            };
            let from =
                "as router.maximum_payload; 96 packets with router.preset \"outflank-paper\"";
            let doc =
                "Size of a message; longer ones than router.maximum_payload are cut into packets.";
            let kind = size(0, LARGEST_MESSAGE);
            let message = reader.value_from("message", &kind, usual, from, doc);
            // It is absent, and one of the keys here.
            sizes(reader);
            Some(message.into())
        }
    };
    let access = access(reader);
    let (pattern, process, load, message) = (pattern?, process?.0, load?, message?);
    Some(Arc::new(LoadSpec { pattern, process, load, message, access }))
}

/// `sizes`, in place of `message`.
fn sizes(reader: &mut Reader<'_>) -> Option<MessageSizes> {
    let doc = "Sizes of messages instead of `message`, drawn for each: from a list with weights, or from a cumulative \
               distribution. `load` is that of the mean size.";
    let example = "{ list = [[\"64 B\", 3], [\"4 KiB\", 1]] }";
    let read = |reader: &mut Reader<'_>| MessageSizes::read(reader, LARGEST_MESSAGE);
    reader.optional_table("sizes", example, doc, read).flatten()
}

/// The process, and the packets of a burst.
fn process(reader: &mut Reader<'_>, kind: &RouterKind) -> Option<(Process, Option<u64>)> {
    let doc = "When messages are created. With router.preset \"outflank-paper\" all nodes create them together, at equal \
               intervals: there it is { periodic = { in_step = true } }.";
    let together = kind.output_queues().is_some();
    let usual = if together { "periodic" } else { "bernoulli" };
    let choice = Choice::usual("process", "process", usual, doc);
    let bernoulli = "in each flit time of a cable a message with the same probability.";
    let periodic = "at equal intervals.";
    let burst = "as \"bernoulli\", but messages of many packets, all of the largest size.";
    let on_off = "in turn as \"bernoulli\" at a higher rate and not at all; the mean rate is that \
                  of `load`.";
    let markov =
        "in turn as \"bernoulli\" at a high and at a low rate; the mean rate is that of `load`.";
    reader.choice(
        &choice,
        vec![
            plain("bernoulli", (Process::Bernoulli, None), bernoulli),
            with_keys("periodic", periodic, move |reader| {
                let doc = "Whether all nodes start together; otherwise each at a random time.";
                let in_step = reader.value("in_step", &Flag, together, doc);
                Some((Process::Periodic { in_step }, None))
            }),
            with_keys("burst", burst, |reader| {
                let kind = Whole { range: 1..=1_000_000 };
                let packets = reader.required("packets", &kind, "Packets of a burst.")?;
                Some((Process::Bernoulli, Some(packets)))
            }),
            with_keys("on-off", on_off, |reader| {
                let kind = time(Picoseconds(1));
                let doc = "Mean on period, geometrically distributed.";
                let on = reader.required("on", &kind, doc);
                let doc = "Mean off period, geometrically distributed.";
                let off = reader.required("off", &kind, doc);
                Some((Process::OnOff { on: on?, off: off? }, None))
            }),
            with_keys("markov-modulated", markov, |reader| {
                let kind = time(Picoseconds(1));
                let doc = "Mean length of a period of the high rate, geometrically distributed.";
                let high = reader.required("high", &kind, doc);
                let doc = "Mean length of a period of the low rate, geometrically distributed.";
                let low = reader.required("low", &kind, doc);
                let kind = Number { above: 1.0, to: 1e9, inclusive: true };
                let ratio = reader.required("ratio", &kind, "The high rate over the low one.");
                let (high, low, ratio) = (high?, low?, ratio?);
                Some((Process::MarkovModulated { high, low, ratio }, None))
            }),
        ],
    )
}

/// `read`, of both workloads.
pub(super) fn access(reader: &mut Reader<'_>) -> Access {
    let doc = "Makes every message a read: a request goes to the partner, which answers with the \
               message.";
    let request = reader.optional_table("read", "{ request = \"16 B\" }", doc, |reader| {
        let doc = "Payload of the request.";
        reader.value("request", &size(0, LARGEST_REQUEST), Bytes(16), doc)
    });
    request.map_or(Access::Write, |request| Access::Read { request })
}

impl WorkloadSpec for LoadSpec {
    fn check(&self, checks: &mut Checks<'_>, checked: &Checked<'_>) {
        match self.message.only() {
            Some(bytes) => {
                checks.messages(checked.parameters, Bytes(bytes), self.access, "traffic");
            }
            None => {
                let largest = Bytes(self.message.largest());
                checks.packets_of_sizes(checked.parameters, largest, self.access, "traffic");
            }
        }
        checks.pattern(&self.pattern, checked, "traffic.pattern", None);
        let least = Arrivals::least_period(checked.parameters.link_flit_time());
        for (key, mean) in periods(self.process) {
            if mean < least {
                period_too_short(checks, key, mean, least);
            }
        }
        if let (true, Some(fabric)) = (checked.packets, checked.fabric) {
            can_inject(self, checks, checked, fabric);
        }
    }

    fn bind(&self, scenario: &Scenario, room: &Room<'_>) -> Result<Bound, SetupError> {
        room(OpenLoad::memory_needed(self, scenario.network.fabric.terminals()))?;
        let load = open_load(self, scenario)?;
        let (pattern, message) = (load.pattern().clone(), (self.message.clone(), self.access));
        Ok(Bound { pattern, message, workload: Box::new(load) })
    }

    fn for_each_size(&self, each: &mut dyn FnMut(u64, Access)) {
        self.message.for_each(|bytes, _| each(bytes, self.access));
    }

    /// Messages come at random times.
    fn bears_losses(&self) -> bool {
        self.access == Access::Write
    }

    fn draws(&self) -> bool {
        true
    }

    fn is_finite(&self) -> bool {
        false
    }

    fn load(&self) -> Option<&LoadSpec> {
        Some(self)
    }

    fn at_load(&self, fraction: f64) -> Option<Arc<dyn WorkloadSpec>> {
        let load = OfferedLoad::Fraction(fraction);
        Some(Arc::new(Self { load, ..self.clone() }))
    }
}

impl BoundWorkload for OpenLoad {
    fn workload(&self, _: Share<'_>) -> Box<dyn Workload> {
        Box::new(self.clone())
    }

    fn load(&self) -> Option<LoadRates> {
        Some(self.rates)
    }

    /// The sizes, if they differ.
    fn facts(&self, _: Share<'_>) -> Facts {
        let mut facts = Facts::default();
        let sizes = &self.sizes;
        if sizes.only().is_none() {
            let [least, largest] = [sizes.least(), sizes.largest()].map(|it| bytes_text(Bytes(it)));
            let mean = significant(sizes.mean());
            facts.lines.push(("messages", format!("{least} to {largest}, {mean} B in the mean")));
        }
        facts
    }
}

/// A load on the fabric of its scenario.
pub(super) fn open_load(spec: &LoadSpec, scenario: &Scenario) -> Result<OpenLoad, SetupError> {
    let parameters = &scenario.parameters;
    let flits_of = |bytes| parameters.message_flits(bytes);
    let slot = parameters.link_flit_time();
    Ok(OpenLoad::new(spec, &scenario.network.fabric, slot, flits_of, scenario.seed)?)
}

/// The mean periods of a process, with their keys.
fn periods(process: Process) -> Vec<(&'static str, Picoseconds)> {
    match process {
        Process::Bernoulli | Process::Periodic { .. } => Vec::new(),
        Process::OnOff { on, off } => {
            vec![("traffic.process.on-off.on", on), ("traffic.process.on-off.off", off)]
        }
        Process::MarkovModulated { high, low, .. } => vec![
            ("traffic.process.markov-modulated.high", high),
            ("traffic.process.markov-modulated.low", low),
        ],
    }
}

/// Refuses a mean period of a process.
fn period_too_short(checks: &mut Checks<'_>, key: &str, mean: Picoseconds, least: Picoseconds) {
    let keys = [key, "link.rate", "router.flit"];
    if checks.sound(&keys) {
        let name = key.rsplit('.').next().unwrap_or(key);
        let (mean, least) = (time_text(mean), time_text(least));
        let message =
            format!("`{name}` is {mean} in the mean, and a period has two flit times at least");
        let help =
            format!("two flits take {least} on a cable, so `{name}` must be at least \"{least}\"");
        checks.report(&keys, message, &format!("at least {least}"), Some(help));
    }
}

/// Whether the nodes can inject what they are to offer.
fn can_inject(load: &LoadSpec, checks: &mut Checks<'_>, checked: &Checked<'_>, fabric: &Fabric) {
    let parameters = checked.parameters;
    let keys = [
        "traffic.load",
        "adapter.injection_rate",
        "adapter.injection_channels",
        "link.rate",
        "traffic.message",
        "traffic.sizes",
        "traffic.read",
        "traffic.process",
    ];
    if !checks.sound(&keys) {
        return;
    }
    let request = match load.access {
        Access::Write => 0,
        Access::Read { request } => parameters.message_flits(request.0),
    };
    let sizes = &load.message;
    let flits = sizes.mean_of(|bytes| (parameters.message_flits(bytes) + request) as f64);
    // Flits a picosecond.
    let channels = f64::from(parameters.injection_channels);
    let most = channels / parameters.injection_flit_time().0 as f64;
    let capacity = fabric.capacity() / parameters.link_flit_time().0 as f64;
    let gigabits = |flits_a_ps: f64| {
        format!("{} Gb/s", significant(flits_a_ps * parameters.flit.0 as f64 * 8.0 * 1e3))
    };
    let can = match parameters.injection_channels {
        1 => format!("a node's injection channel carries {}, headers included", gigabits(most)),
        count => format!(
            "a node's {count} injection channels of {} carry {}, headers included",
            rate_text(parameters.injection_rate),
            gigabits(most)
        ),
    };
    // Of sources that are on and off, while they are on.
    let peak = load.process.peak();
    let (offered, largest, why) = match load.load {
        OfferedLoad::Fraction(fraction) => {
            let largest = rounded_down(most / capacity / peak);
            (
                fraction * capacity * peak,
                largest,
                format!("; load 1 is {} here", gigabits(capacity)),
            )
        }
        OfferedLoad::Payload(_) if sizes.largest() == 0 => {
            let keys = ["traffic.load", "traffic.message"];
            let message = "messages of 0 B carry no payload, so their load can't be a rate";
            let help = "give the load as a fraction, such as `load = 0.3`";
            return checks.report(&keys, message, "a rate of payload", Some(help.into()));
        }
        OfferedLoad::Payload(rate) => {
            let flits_a_byte = flits / sizes.mean();
            let offered = rate.0 as f64 / 8e12 * flits_a_byte * peak;
            let largest = format!("\"{} GB/s\"", rounded_down(most / flits_a_byte * 1e3 / peak));
            let why = format!(
                "; {} of payload are {} flits of {}",
                sizes.only().map_or_else(
                    || format!("{} B in the mean", significant(sizes.mean())),
                    |bytes| bytes_text(Bytes(bytes)),
                ),
                trimmed(&format!("{flits:.2}")),
                bytes_text(parameters.flit)
            );
            (offered, largest, why)
        }
    };
    let (while_on, longer_on) = match load.process {
        Process::OnOff { .. } => {
            (" while it is on", ", or on periods longer beside the off periods")
        }
        Process::MarkovModulated { .. } => {
            (" while its rate is high", ", or high periods longer beside the low periods")
        }
        Process::Bernoulli | Process::Periodic { .. } => ("", ""),
    };
    if offered > most * (1.0 + 1e-9) {
        let message =
            format!("a node would offer {}{while_on}, more than it can inject", gigabits(offered));
        let help = format!("{can}{why}; so `load` can be at most {largest}{longer_on}");
        return checks.report(&keys, message, &format!("at most {largest}"), Some(help));
    }
    // Messages a flit time of a network channel, of the node that sends most.
    let pattern = Pattern::new(&load.pattern, fabric, checked.seed);
    let most = pattern.map_or(1.0, |pattern| {
        fabric.live_terminals().map(|node| pattern.rate(node)).fold(1.0, f64::max)
    });
    let messages = most * offered * parameters.link_flit_time().0 as f64 / flits;
    if messages > 1.0 {
        let label = match load.load {
            OfferedLoad::Fraction(load) => format!("at most {}", rounded_down(load / messages)),
            OfferedLoad::Payload(_) => String::new(),
        };
        let keys = ["traffic.load", "traffic.message", "traffic.sizes"];
        let count = significant(messages);
        let message =
            format!("a node would create {count} messages in the time of one flit{while_on}");
        let help =
            format!("it creates at most one: lower `load`, or make `message` larger{longer_on}");
        checks.report(&keys, message, &label, Some(help));
    }
}

/// Four significant digits.
fn significant(value: f64) -> String {
    let digits: usize = rounded(3.0 - value.abs().log10().floor().clamp(-12.0, 3.0));
    let text = format!("{value:.*}", digits);
    trimmed(&text)
}

/// At most four decimals, rounded down, so that it can be typed as the largest load.
fn rounded_down(value: f64) -> String {
    trimmed(&format!("{:.4}", (value * 1e4).floor() / 1e4))
}

fn trimmed(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text.into()
    }
}
