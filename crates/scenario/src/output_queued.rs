//! What output-queued routers make of a scenario.

use flitlab_base::units::{Bytes, Picoseconds, Rate, flit_time};
use flitlab_engine::{OutputQueues, Parameters, RouterKind, Switching};
use flitlab_fabric::Torus;
use flitlab_output_queued::Routing;
use flitlab_routing::AdaptiveRules;
use flitlab_routing::adaptive::profit::{Average, IdleRatio, Weights};
use flitlab_routing::adaptive::{Family, Midpoint, Nodes, OutFlank};
use flitlab_traffic::LoadSpec;

/// What messages of a load are in output-queued routers: so many packets, all of one size; `None` if
/// they can't be cut into such.
pub(crate) fn packets_of(load: &LoadSpec, packet: Bytes) -> Option<u32> {
    let bytes = load.message.only()?;
    let packets = u32::try_from(bytes / packet.0).ok()?;
    (packets > 0 && bytes.is_multiple_of(packet.0)).then_some(packets)
}

/// Routers of the engine with the rates and the times without load of output-queued ones: a packet
/// is one flit. What is known before a simulation, such as latencies without load and bounds of
/// the throughput, follows from them.
pub(crate) fn equivalent(routers: OutputQueues) -> Parameters {
    let whole = |rate: Rate, latency: Picoseconds| flit_time(routers.packet, rate).0 + latency;
    let (link, own) = (routers.external_rate, routers.internal_rate);
    let internal = whole(own, routers.internal_latency);
    Parameters {
        kind: RouterKind::OutputQueues(routers),
        flit: routers.packet,
        header_flits: 0,
        checksum_flits: 0,
        maximum_payload: routers.packet,
        buffer: routers.capacity,
        switching: Switching::StoreAndForward,
        routing_latency: Picoseconds::ZERO,
        crossbar_latency: Picoseconds::ZERO,
        link_rate: link,
        link_latency: whole(link, routers.external_latency),
        injection_channels: 1,
        injection_rate: own,
        injection_latency: internal,
        injection_buffer: routers.capacity,
        ejection_channels: 1,
        ejection_rate: own,
        ejection_latency: internal,
        send_overhead: Picoseconds::ZERO,
        receive_overhead: Picoseconds::ZERO,
        ..Parameters::default()
    }
}

/// The routing that output-queued routers have for these rules, with the averages and the midpoints
/// of the paper's program.
///
/// # Errors
/// If they have none: because of this key, for this reason.
pub(crate) fn routing(rules: &AdaptiveRules) -> Result<Routing, (&'static str, &'static str)> {
    if rules.non_minimal == AdaptiveRules::default().non_minimal {
        return Ok(Routing::AdaptiveBubble);
    }
    // The weights are those on any torus, and a small one has its detours at once.
    let small = Torus::new(&[3], &[]).expect("a ring");
    let detours = rules.non_minimal.detours(&small).ok().flatten();
    let rule = "routing.pick_orthant.rule";
    let detours = detours.ok_or((rule, "this rule is not one of the paper's"))?;
    let distance = detours.weights.distance;
    if detours.full_distance != distance {
        let key = match detours.family {
            Family::Orthants => rule,
            Family::IntermediateNodes { .. } => "routing.outflank.full_weight_factor",
        };
        let why =
            "nodes weigh the lengths of detours when they create a message, alike at all loads";
        return Err((key, why));
    }
    match detours.family {
        Family::Orthants => Ok(Routing::PickOrthant(Weights {
            distance,
            average: Average::FreeOverDimensions,
            idle: IdleRatio::AnyIdle,
        })),
        Family::IntermediateNodes { steps, percent: 0 } => Ok(Routing::OutFlank {
            outflank: OutFlank {
                steps,
                midpoint: Midpoint::HalfOfRemainder,
                nodes: Nodes::Simulator,
            },
            wraparound: Midpoint::HalfOfRemainder,
            weights: Weights {
                distance,
                average: Average::FreeOverSecondLeg,
                idle: IdleRatio::AnyIdle,
            },
        }),
        Family::IntermediateNodes { .. } => Err((
            "routing.outflank.steps_percent",
            "outflanking nodes are the same few steps outside, however far a packet goes",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_routing::adaptive::NonMinimalRule;

    fn routing_of(name: &str, keys: &str) -> Result<Routing, (&'static str, &'static str)> {
        let non_minimal = NonMinimalRule::new(name, keys);
        routing(&AdaptiveRules { non_minimal, ..AdaptiveRules::default() })
    }

    #[test]
    fn rules_without_keys_are_those_of_the_published_results() {
        assert_eq!(routing_of("adaptive", ""), Ok(Routing::AdaptiveBubble));
        assert_eq!(routing_of("profit", ""), Ok(Routing::PICK_ORTHANT_PUBLISHED));
        assert_eq!(routing_of("outflank", ""), Ok(Routing::OUTFLANK_PUBLISHED));
        let Ok(Routing::OutFlank { outflank, weights, .. }) =
            routing_of("outflank", "steps = 3\ndistance_weight = 1.5")
        else {
            panic!("it is OutFlank Routing");
        };
        assert_eq!((outflank.steps, weights.distance), (3, 1.5));
        assert!(routing_of("outflank", "steps_percent = 50").is_err());
        assert!(routing_of("profit", "full_weight_factor = 0.5").is_err());
        assert!(routing_of("goal", "").is_err());
        assert!(routing_of("romm", "").is_err());
    }

    #[test]
    fn the_equivalent_has_the_times_of_table_1() {
        let parameters = equivalent(OutputQueues::PUBLISHED);
        assert_eq!(parameters.link_latency, Picoseconds(204_800 + 200_000));
        assert_eq!(parameters.injection_latency, Picoseconds(64_000 + 80_000));
        assert_eq!(parameters.maximum_packet(), 1);
    }
}
