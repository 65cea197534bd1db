//! Adaptive routing on a torus: the table of its escape, and the proof.
//!
//! With failures the escape follows a table. A packet that has entered it stays on it until its
//! present leg ends (docs/model.md, "Adaptive routing with failures").

use super::RelationProof;
use super::agnostic::{Algorithm, Parameters};
use super::choice_proof::{Errand, Head, Leg, Packets, prove_choices};
use flitlab_base::narrow::fitted;
use flitlab_fabric::Fabric;
use flitlab_routing::adaptive::{Heading, Tie};
use flitlab_routing::relation::Hop;
use flitlab_routing::{Adaptive, AdaptiveChannels, AdaptiveRules};

/// Makes an adaptive routing, with a table of this algorithm if its escape [needs
/// one](AdaptiveRules::needs_table). `seed` is that of the packets' random numbers.
///
/// # Errors
/// If the rules don't [fit](AdaptiveRules::fit), the algorithm has no table of one virtual channel for
/// the fabric, or the rule of detours refuses the torus.
pub fn adaptive(
    fabric: &Fabric,
    rules: AdaptiveRules,
    algorithm: &Algorithm,
    seed: u64,
) -> Result<Adaptive, String> {
    if !rules.needs_table(fabric) {
        return Adaptive::new(fabric, rules, seed);
    }
    let parameters = Parameters { vcs: 1, ..Parameters::default() };
    let table = algorithm.generate(fabric, &parameters);
    let table = table.map_err(|error| format!("the escape has no table: {error}"))?.table;
    Adaptive::with_table(fabric, rules, &table, seed)
}

/// Proves that packets arrive and can't deadlock, for all their choices. It is for escapes by a
/// table or with datelines. With the bubble rule no graph shows what prevents deadlock.
#[must_use]
pub fn prove_adaptive(fabric: &Fabric, adaptive: &Adaptive) -> RelationProof {
    prove_as(fabric, adaptive, |head, errand, hops| allowed(adaptive, head, errand, hops))
}

/// Proves the routing like [`prove_adaptive`], but escapes don't count as such: no hops may
/// close a cycle.
#[must_use]
pub(super) fn prove_adaptive_without_escapes(
    fabric: &Fabric,
    adaptive: &Adaptive,
) -> RelationProof {
    let (packets, hops) = (packets(fabric, adaptive), |head, errand, hops: &mut Vec<Hop>| {
        allowed(adaptive, head, errand, hops);
        hops.iter_mut().for_each(|hop| hop.escape = true);
    });
    let escapes = vec![true; packets.escapes.len()];
    prove_choices(fabric, &Packets { escapes, ..packets }, hops)
}

/// Proves the routing like [`prove_adaptive`], but with other hops.
pub(super) fn prove_as(
    fabric: &Fabric,
    adaptive: &Adaptive,
    hops: impl Fn(Head, Errand, &mut Vec<Hop>) + Sync,
) -> RelationProof {
    prove_choices(fabric, &packets(fabric, adaptive), hops)
}

/// The packets of the routing, for the proof.
fn packets(fabric: &Fabric, routing: &Adaptive) -> Packets {
    let rules = routing.rules();
    let AdaptiveChannels { adaptive, escape, escape_to_intermediate } = rules.channels;
    let (reads, width) = (rules.escape.reads(), rules.escape.width());
    let pair = |vc: u8| ((1u16 << width) - 1) << vc;
    let mut legs: Vec<Leg> = reads.map(|vc| Leg::Fixed { vc }).into();
    let mut turning = 0;
    if rules.non_minimal.goes_via_intermediate() {
        turning = 1 << adaptive | pair(escape_to_intermediate);
        legs.extend(headings(fabric, rules).map(|heading| Leg::First { heading }));
    }
    legs.extend(headings(fabric, rules).map(|heading| Leg::Last { heading }));
    let escapes = reads.iter().fold(pair(escape), |set, &vc| set | pair(vc));
    let escapes = escapes | if turning == 0 { 0 } else { pair(escape_to_intermediate) };
    let vcs = fitted!(u16::BITS - (escapes | 1 << adaptive).leading_zeros(), u8);
    let of_channel = (0..vcs).map(|vc| escapes >> vc & 1 == 1);
    let of_channel: Vec<bool> = of_channel.collect();
    let escapes = of_channel.repeat(fabric.channel_slots() as usize);
    let deciding = if routing.decides_on_the_way() { 1 << adaptive } else { 0 };
    let sizes = vec![1; vcs.into()];
    Packets { vcs, escapes, turning, deciding, legs, sizes }
}

/// All headings of packets: the ways of half rings if these are drawn, and, if the rule binds
/// packets, any choice of ways round in some dimensions.
fn headings(fabric: &Fabric, rules: &AdaptiveRules) -> impl Iterator<Item = Heading> {
    let binds = rules.non_minimal.binds();
    let torus = fabric.coordinates();
    let closed = (0..torus.dimensions()).filter(|&dimension| torus.closed(dimension));
    let rings = closed.fold(0u8, |set, dimension| set | 1 << dimension);
    let draws = rules.tie == Some(Tie::Random);
    (0..=rings).filter(move |set| set & !rings == 0).flat_map(move |bound| {
        let told = if draws { rings } else { bound };
        let negatives = (0..=told).filter(move |set| set & !told == 0);
        let negatives = negatives.map(move |negative| Heading { negative, bound });
        negatives.filter(move |_| binds || bound == 0)
    })
}

/// Adds all hops that a packet may take from its head's place.
pub(super) fn allowed(adaptive: &Adaptive, head: Head, errand: Errand, hops: &mut Vec<Hop>) {
    let channels = adaptive.rules().channels;
    let (heading, escape) = match errand.leg {
        Leg::First { heading } => (heading, channels.escape_to_intermediate),
        Leg::Last { heading } => (heading, channels.escape),
        Leg::Fixed { vc } => (Heading::default(), vc),
    };
    // Only an escape by a table, which has one class, asks.
    let escaped =
        matches!(errand.leg, Leg::Fixed { .. }) || head.came.is_some_and(|came| came.vc == escape);
    let onward = adaptive.onward(head.router, errand.to, heading, escaped);
    // Packets without a choice follow direction order where it leaves them one hop.
    let is_fixed = matches!(errand.leg, Leg::Fixed { .. });
    let options = if is_fixed { 0 } else { onward.options };
    let options = (0..u16::BITS).filter(|port| options >> port & 1 == 1);
    hops.extend(options.map(|port| Hop::new(fitted!(port, u16), channels.adaptive)));
    hops.push(Hop { escape: true, ..Hop::new(onward.escape, escape + onward.class) });
}
