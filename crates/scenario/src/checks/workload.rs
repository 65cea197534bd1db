//! Demands of loads, exchanges and applications: patterns that fit, packets that can be counted,
//! loads that can be injected.

use super::{Checks, PACKET};
use crate::schema::Draft;
use flitlab_base::narrow::rounded;
use flitlab_base::units::{Bytes, bytes_text, rate_text};
use flitlab_engine::{MAX_PACKETS, Parameters};
use flitlab_fabric::Fabric;
use flitlab_workload::application::Action;
use flitlab_workload::traffic::{
    Access, ApplicationSpec, Carrier, ExchangeSpec, LoadSpec, OfferedLoad, Pattern, PatternSpec,
    PlacementError,
};

impl Checks<'_> {
    /// Whether the packets of a message can be counted.
    pub(super) fn packets_of_messages(
        &mut self,
        parameters: &Parameters,
        message: Bytes,
        access: Access,
        table: &str,
    ) {
        let (message_key, request_key) =
            (format!("{table}.message"), format!("{table}.read.request"));
        let mut one = |key: &str, what: &str, size: Bytes| {
            let keys = [key, PACKET[0]];
            let (full, rest) = parameters.packets(size.0);
            let packets = full + u64::from(rest.is_some());
            if packets <= MAX_PACKETS || !self.sound(&keys) {
                return;
            }
            let most = MAX_PACKETS.saturating_mul(parameters.maximum_payload.0);
            let message = format!("a {what} of {} would be {packets} packets", bytes_text(size));
            let help = format!(
                "a message has at most {MAX_PACKETS} packets, each of up to {} (maximum_payload)",
                bytes_text(parameters.maximum_payload)
            );
            self.report(
                &keys,
                message,
                &format!("at most {}", bytes_text(Bytes(most))),
                Some(help),
            );
        };
        one(&message_key, "message", message);
        if let Access::Read { request } = access {
            one(&request_key, "read request", request);
        }
    }

    /// Whether all ranks have nodes, and the packets of their messages can be counted.
    pub(super) fn application(
        &mut self,
        draft: &Draft,
        application: &ApplicationSpec,
        fabric: Option<&Fabric>,
    ) {
        let keys = ["application.placement", "application.ranks_per_node", "application.file"];
        if let Some(fabric) = fabric.filter(|_| self.sound(&keys)) {
            let live: Vec<u32> = fabric.live_terminals().collect();
            let (ranks, each) = (application.schedule.ranks(), application.ranks_per_node);
            if let Err(error) = application.placement.nodes(ranks, each, &live, draft.seed) {
                let more = u64::from(ranks).div_ceil(live.len().max(1) as u64);
                let help = matches!(error, PlacementError::TooManyRanks { .. })
                    .then(|| format!("with `ranks_per_node = {more}` there is room for all"));
                self.report(&keys, error.to_string(), "", help);
            }
        }
        let sends = application.schedule.operations();
        let largest = sends.filter(|it| it.action == Action::Send).map(|it| it.amount).max();
        let largest = Bytes(largest.unwrap_or(0));
        // LogGOPS has no packets.
        if application.carrier == Carrier::Flits {
            self.packets_of_messages(&draft.parameters, largest, Access::Write, "application");
        }
    }

    /// Whether the steps and the flits of an exchange can be counted.
    pub(super) fn steps(
        &mut self,
        draft: &Draft,
        exchange: &ExchangeSpec,
        fabric: Option<&Fabric>,
    ) {
        let keys = ["exchange.rounds", "exchange.pattern"];
        let Some(fabric) = fabric.filter(|_| self.sound(&keys)) else { return };
        let Ok(pattern) = Pattern::new(&exchange.pattern, fabric, draft.seed) else { return };
        let Some(steps) = pattern.steps().map(|steps| u64::from(steps.max(1))) else { return };
        let most = u64::from(u32::MAX) / steps;
        if u64::from(exchange.rounds) > most {
            let message = format!("{} rounds of {steps} steps are too many", exchange.rounds);
            let help = format!("an exchange has at most {} steps, rounds included", u32::MAX);
            self.report(&keys, message, &format!("at most {most}"), Some(help));
        }
        let (keys, parameters) = (["exchange.message", "exchange.rounds"], &draft.parameters);
        if !self.sound(&keys) || !self.sound(&PACKET) || !self.problems.is_empty() {
            return;
        }
        let messages = steps.saturating_mul(u64::from(exchange.rounds));
        let messages = messages.saturating_mul(fabric.live_terminals().count() as u64);
        let a_message = match exchange.access {
            Access::Write => 0,
            Access::Read { request } => parameters.message_flits(request.0),
        } + parameters.message_flits(exchange.message.0);
        if messages.checked_mul(a_message).is_none() {
            let message = format!(
                "up to {messages} messages of {a_message} flits are more flits than can be counted"
            );
            let help = "at most 2^64 flits are; make messages smaller, or do fewer rounds";
            self.refuse(&keys, message, help);
        }
    }

    pub(super) fn pattern(
        &mut self,
        pattern: &PatternSpec,
        fabric: Option<&Fabric>,
        seed: u64,
        key: &str,
    ) {
        let Some(fabric) = fabric.filter(|_| self.sound(&[key])) else { return };
        match Pattern::new(pattern, fabric, seed) {
            Err(error) => {
                self.report(&[key, "topology"], error.to_string(), "", None);
            }
            Ok(bound) if key != "traffic.pattern" && bound.steps().is_none() => {
                let who = match key {
                    "exchange.pattern" => "an exchange needs",
                    _ => "remote memory operations need",
                };
                let message =
                    format!("{who} a pattern with steps, and this one draws its destinations");
                let help = "use for example all-to-all, neighbor, tornado, transpose or pairs";
                self.refuse(&[key], message, help);
            }
            Ok(_) => {}
        }
    }

    pub(super) fn empty_packets(
        &mut self,
        parameters: &Parameters,
        message: Bytes,
        access: Access,
        table: &str,
    ) {
        let message_key = format!("{table}.message");
        let request_key = format!("{table}.read.request");
        let (message_key, request_key) = (message_key.as_str(), request_key.as_str());
        let (what, key) = match access {
            _ if message.0 == 0 => ("message", message_key),
            Access::Read { request: Bytes(0) } => ("read request", request_key),
            _ => return,
        };
        let keys = [key, PACKET[2], PACKET[3]];
        if self.sound(&keys) && parameters.header_flits + parameters.checksum_flits == 0 {
            let message =
                format!("a {what} of 0 B without header and checksum is a packet of no flits");
            let help = "give it a size, or set `header_flits` to 1";
            self.report(&keys, message, "nothing to send", Some(help.into()));
        }
    }

    /// Checks all demands of a load.
    pub(super) fn whole_load(
        &mut self,
        draft: &Draft,
        load: &LoadSpec,
        (packets, fabric): (bool, Option<&Fabric>),
    ) {
        let parameters = &draft.parameters;
        self.empty_packets(parameters, load.message, load.access, "traffic");
        self.packets_of_messages(parameters, load.message, load.access, "traffic");
        self.pattern(&load.pattern, fabric, draft.seed, "traffic.pattern");
        if let (true, Some(fabric)) = (packets, fabric) {
            self.load(draft, load, fabric);
        }
    }

    /// Whether the nodes can inject what they are to offer.
    fn load(&mut self, draft: &Draft, load: &LoadSpec, fabric: &Fabric) {
        let parameters = &draft.parameters;
        let keys = [
            "traffic.load",
            "adapter.injection_rate",
            "adapter.injection_channels",
            "link.rate",
            "traffic.message",
            "traffic.read",
            "traffic.process",
        ];
        if !self.sound(&keys) {
            return;
        }
        let request = match load.access {
            Access::Write => 0,
            Access::Read { request } => parameters.message_flits(request.0),
        };
        let flits = (parameters.message_flits(load.message.0) + request) as f64;
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
        let (offered, largest, why) = match load.load {
            OfferedLoad::Fraction(fraction) => {
                let largest = rounded_down(most / capacity);
                (fraction * capacity, largest, format!("; load 1 is {} here", gigabits(capacity)))
            }
            OfferedLoad::Payload(_) if load.message.0 == 0 => {
                let keys = ["traffic.load", "traffic.message"];
                let message = "messages of 0 B carry no payload, so their load can't be a rate";
                let help = "give the load as a fraction, such as `load = 0.3`";
                return self.report(&keys, message, "a rate of payload", Some(help.into()));
            }
            OfferedLoad::Payload(rate) => {
                let flits_a_byte = flits / load.message.0 as f64;
                let offered = rate.0 as f64 / 8e12 * flits_a_byte;
                let largest = format!("\"{} GB/s\"", rounded_down(most / flits_a_byte * 1e3));
                let why = format!(
                    "; {} of payload are {} flits of {}",
                    bytes_text(load.message),
                    flits,
                    bytes_text(parameters.flit)
                );
                (offered, largest, why)
            }
        };
        if offered > most * (1.0 + 1e-9) {
            let message =
                format!("a node would offer {}, more than it can inject", gigabits(offered));
            let help = format!("{can}{why}; so `load` can be at most {largest}");
            return self.report(&keys, message, &format!("at most {largest}"), Some(help));
        }
        // Messages a flit time of a network channel, of the node that sends most.
        let pattern = Pattern::new(&load.pattern, fabric, draft.seed);
        let most = pattern.map_or(1.0, |pattern| {
            fabric.live_terminals().map(|node| pattern.rate(node)).fold(1.0, f64::max)
        });
        let messages = most * offered * parameters.link_flit_time().0 as f64 / flits;
        if messages > 1.0 {
            let label = match load.load {
                OfferedLoad::Fraction(load) => format!("at most {}", rounded_down(load / messages)),
                OfferedLoad::Payload(_) => String::new(),
            };
            let keys = ["traffic.load", "traffic.message"];
            let count = significant(messages);
            let message = format!("a node would create {count} messages in the time of one flit");
            let help = "it creates at most one: lower `load`, or make `message` larger";
            self.report(&keys, message, &label, Some(help.into()));
        }
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
