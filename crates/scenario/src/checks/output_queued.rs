//! Demands of output-queued routers on all else.

use super::Checks;
use crate::output_queued::{self, packets_of};
use crate::purpose::Purpose;
use crate::schema::Draft;
use crate::{RoutingSpec, TopologySpec};
use flitlab_base::units::{Bytes, Picoseconds, bytes_text};
use flitlab_engine::{Feature, OutputQueues, RouterKind};
use flitlab_fabric::{CableClass, DIMENSION_NAMES, Fabric, Faults};
use flitlab_output_queued::{LONGEST_RUN, MAX_PACKETS, longest_run};
use flitlab_traffic::{Access, LoadSpec, OfferedLoad, Pattern, Process};

const PRESET: &str = "router.preset";

/// The loads that they can be offered, with what is said of them.
const LOADS: (std::ops::RangeInclusive<f64>, &str) = (1e-6..=1e3, "0.000001 to 1000");

impl Checks<'_> {
    /// The rules between the keys of output-queued routers and all others.
    pub(super) fn output_queued(&mut self, draft: &Draft, purpose: Purpose) {
        let RouterKind::OutputQueues(routers) = &draft.parameters.kind else { return };
        if routers.answer > routers.packet {
            let (answer, packet) = (bytes_text(routers.answer), bytes_text(routers.packet));
            let message = format!("an `answer` of {answer} is longer than a `packet` of {packet}");
            let help = "routers send answers ahead of packets, and no faster than they take them: make `answer` at most as \
                        long";
            self.refuse(&[PRESET], message, help);
        }
        self.torus_of_rings(draft);
        self.routing_of_the_paper(draft);
        if purpose == Purpose::Routes {
            return;
        }
        let kind = &draft.parameters.kind;
        if let (true, Some(message)) =
            (draft.interruption.is_some(), Feature::Failures.refusal(kind))
        {
            let help = "leave [interruption] out, or choose another preset in [router]";
            self.refuse(&["interruption", PRESET], message, help);
        }
        let Some(workloads) = &draft.workload else { return };
        let several = workloads.are_several();
        let Some(load) = workloads.downcast_ref::<LoadSpec>() else {
            let kind = if several { "workloads" } else { workloads.members()[0].kind };
            let message = format!(
                "the generators of preset \"outflank-paper\" create the messages of one [traffic], and [{kind}] is something else"
            );
            let help = "simulate a load ([traffic]), or choose another preset in [router]";
            return self.refuse(&[kind, PRESET], message, help);
        };
        self.messages_together(load, routers, draft);
    }

    /// Whether the fabric is a whole torus of equal cables, all of whose dimensions are rings.
    fn torus_of_rings(&mut self, draft: &Draft) {
        let Some(topology) = &draft.topology else { return };
        let (key, message) = match topology {
            TopologySpec::Switched(_) => ("topology", "this fabric is none".to_owned()),
            TopologySpec::Torus(_, faults) if *faults != Faults::default() => {
                ("topology", "here something has failed".into())
            }
            TopologySpec::Torus(torus, _) => {
                let mut dimensions = 0..torus.dimensions();
                let plain = CableClass::default();
                let (own, of) = (dimensions.clone(), |it: usize| torus.cables(it));
                if let Some(open) = dimensions.find(|&it| !torus.closed(it)) {
                    let name = DIMENSION_NAMES[open];
                    if torus.open(open) {
                        ("topology.torus.open", format!("dimension {name} is open"))
                    } else {
                        let message = format!("dimension {name} is no ring of three nodes or more");
                        ("topology.torus.dimensions", message)
                    }
                } else if own.clone().any(|it| of(it).rate != plain.rate) {
                    ("topology.torus.rates", "here cables have rates of their own".into())
                } else if own.clone().any(|it| of(it) != plain) {
                    ("topology.torus.latencies", "here cables have latencies of their own".into())
                } else {
                    return;
                }
            }
        };
        let message =
            format!("preset \"outflank-paper\" is for whole tori of equal cables, and {message}");
        let help = "all dimensions of [topology.torus] need three nodes or more; for other fabrics there are other presets";
        self.refuse(&[key, "topology", PRESET], message, help);
    }

    /// Whether it is one of the three routings.
    fn routing_of_the_paper(&mut self, draft: &Draft) {
        let Some(routing) = &draft.routing else { return };
        let (key, why) = match routing {
            RoutingSpec::Adaptive(rules, ..) => match output_queued::routing(rules) {
                Ok(_) => return,
                Err(why) => why,
            },
            _ => ("routing", "this is another one"),
        };
        let message = format!(
            "preset \"outflank-paper\" has the three routings of the paper, with the rules of its program: {why}"
        );
        let help = "write [routing.adaptive] (ABR), [routing.pick_orthant] (POR) or [routing.outflank] (OFR), with \
                    `distance_weight` and `steps` as you like; or choose another preset in [router]";
        self.refuse(&[key, "routing", PRESET], message, help);
    }

    /// Whether all nodes can create the messages of a load at the same instants.
    fn messages_together(&mut self, load: &LoadSpec, routers: &OutputQueues, draft: &Draft) {
        if let Access::Read { .. } = load.access {
            let message = "nodes of preset \"outflank-paper\" answer no reads";
            self.refuse(&["traffic.read"], message, "leave `read` out");
        }
        if load.process != (Process::Periodic { in_step: true }) {
            let message = "nodes of preset \"outflank-paper\" create their messages all at once, at equal intervals";
            let help = "write `process = { periodic = { in_step = true } }`, or leave it out; a burst of 96 packets of 512 B is \
                        `message = \"48 KiB\"`";
            self.refuse(&["traffic.process"], message, help);
        }
        let packets = packets_of(load, routers.packet);
        let keys = ["traffic.message", PRESET];
        let packet = routers.packet;
        let Some(bytes) = load.message.only() else {
            let message = "messages of preset \"outflank-paper\" are all of one size";
            return self.refuse(&["traffic.sizes", PRESET], message, "give `message` instead");
        };
        if packets.is_none() {
            let most = Bytes(packet.0.saturating_mul(u32::MAX.into()));
            let message = format!(
                "a message of {} is not cut into packets of {}, which is the size of all",
                bytes_text(Bytes(bytes)),
                bytes_text(packet)
            );
            let help = format!(
                "give `message` a multiple of {}, of {} at the most",
                bytes_text(packet),
                bytes_text(most)
            );
            self.refuse(&keys, message, help);
        }
        if let OfferedLoad::Fraction(fraction) = load.load
            && !LOADS.0.contains(&fraction)
        {
            let message =
                format!("nodes of preset \"outflank-paper\" are offered loads from {}", LOADS.1);
            self.refuse(&["traffic.load"], message, "give another `load`");
        }
        let Some(fabric) = draft.topology.as_ref().and_then(|topology| topology.fabric().ok())
        else {
            return;
        };
        let all = u64::from(fabric.terminals()) * u64::from(routers.messages);
        let all = all.saturating_mul(packets.unwrap_or(1).into());
        if all > MAX_PACKETS {
            let message =
                format!("{all} packets would be created in all, and {MAX_PACKETS} is the most");
            let help = "lower `messages` in [measure], or make `message` smaller";
            return self.refuse(&["measure.messages", "traffic.message"], message, help);
        }
        let fraction = match load.load {
            OfferedLoad::Fraction(fraction) => fraction,
            // As much as a link carries, about.
            OfferedLoad::Payload(rate) => rate.0 as f64 / routers.external_rate.0 as f64,
        };
        if let (Some(torus), Some(message_packets)) = (fabric.torus(), packets) {
            let routers = OutputQueues { message_packets, ..*routers };
            if longest_run(&routers, torus, fraction) > LONGEST_RUN {
                let message = "so many messages may take more than an hour of simulated time, which is the most";
                let help = "lower `messages` in [measure], or raise `load`";
                self.refuse(&["measure.messages", "traffic.load", PRESET], message, help);
            }
        }
        self.equal_rates(load, &fabric, draft.seed);
    }

    /// Whether the pattern has all nodes that send anything send as much.
    fn equal_rates(&mut self, load: &LoadSpec, fabric: &Fabric, seed: u64) {
        let Ok(pattern) = Pattern::new(&load.pattern, fabric, seed) else { return };
        if pattern.cycle() > Picoseconds::ZERO {
            let message = "hot spots of preset \"outflank-paper\" do not move";
            let help = "leave `moves_every` out, or choose another preset in [router]";
            return self.refuse(&["traffic.pattern", PRESET], message, help);
        }
        let mut rates =
            fabric.live_terminals().map(|node| pattern.rate(node)).filter(|it| *it > 0.0);
        if rates.any(|rate| rate != 1.0) {
            let message = "in this pattern some nodes send more than others, and nodes of preset \"outflank-paper\" all create \
                           messages at the same instants";
            self.refuse(
                &["traffic.pattern"],
                message,
                "choose another pattern, or another preset in [router]",
            );
        }
    }
}
