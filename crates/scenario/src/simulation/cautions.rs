//! What keeps routers from what their routing could do, and what to set: buffers that are too small for
//! their credits or for decisions, and queues that routers do not see.

use super::Simulation;
use flitlab_base::narrow::narrow;
use flitlab_base::units::counted;
use flitlab_engine::{EmptyNetwork, MAX_VIRTUAL_CHANNELS, Parameters};
use flitlab_measure::{USUAL_WORK, never_derouted_bound};
use flitlab_routing::phased::Sight;
use flitlab_routing::{RelationRoutes, Routes};

impl Simulation {
    /// Sentences that say what holds the routers back, each with what to set.
    pub fn cautions(&self) -> Vec<String> {
        if self.scenario().parameters.kind.output_queues().is_some() {
            return Vec::new();
        }
        // Without channels between routers there is no buffer behind one, and nothing to choose.
        if self.fabric().channels() == 0 {
            return Vec::new();
        }
        let parameters = &self.scenario().parameters;
        let trip = self.round_trip();
        let mut found: Vec<String> = short_buffer(parameters, trip).into_iter().collect();
        if let Routes::Relation(routes) = self.routes()
            && let Some(rule) = &routes.rule
        {
            if let Some(sight) = rule.sight() {
                found.extend(unseen(parameters, &sight, trip).or(hidden(parameters, &sight, trip)));
            }
            found.extend(self.never_derouted(routes));
        }
        found
    }

    /// The flits that a channel between routers sends until the credit of the first is back, if all go
    /// on behind it: the most of any.
    fn round_trip(&self) -> u32 {
        let (parameters, classes) = (&self.scenario().parameters, self.fabric().cable_classes());
        let empty = EmptyNetwork::new(parameters, classes);
        let flits = (0u8..).zip(classes).map(|(class, &cables)| {
            empty.credit_round_trip(class).0.div_ceil(parameters.flit_time_of(cables).0)
        });
        narrow(flits.max().unwrap_or(0))
    }

    /// Packets that never take a detour since it begins by the port of their minimal way.
    fn never_derouted(&self, routes: &RelationRoutes) -> Option<String> {
        if self.scenario().workload.is_finite() {
            return None;
        }
        let (fabric, parameters) = (self.fabric(), &self.scenario().parameters);
        let (streams, senders) = (self.streams(), self.senders().len());
        let bound =
            never_derouted_bound(fabric, routes, parameters, &streams, senders, USUAL_WORK)?;
        let bound = bound / fabric.capacity();
        // Detours of all packets carry half of the load at best.
        (bound < 0.5).then(|| {
            format!(
                "by this rule a packet never takes a detour that begins by the port of its minimal way, since all virtual \
                 channels of the port count for both: that keeps the load of all sending nodes below {bound:.3}; try --set \
                 'routing.rule.ugal.queues=\"vc-if-shared\"'"
            )
        })
    }
}

/// Whether a buffer holds less than is under way until credits are back.
fn short_buffer(parameters: &Parameters, trip: u32) -> Option<String> {
    let largest = parameters.maximum_packet();
    let has = parameters.buffer;
    // Packets that are granted whole need room for all of their flits.
    let whole = parameters.kind.sends_from_inputs();
    let (held, needed) = match whole {
        true => (has / largest * largest, trip + largest),
        false => (has, trip),
    };
    (held < needed).then(|| {
        format!(
            "each virtual channel carries at most {:.1}% of its cable's rate: its buffer holds {held} flits, and {needed} are \
             sent until their credits are back (over the longest cables); try --set 'router.buffer=\"{} flits\"'",
            100.0 * f64::from(held) / f64::from(needed),
            if whole { needed.div_ceil(largest) * largest } else { needed }
        )
    })
}

/// Why no queue grows behind the crossbar.
const ALONE: &str = " (a step has one virtual channel, to which whole packets cross one at a time)";

/// Flits that a detour costs, with a packet that is on its way there.
fn needed(parameters: &Parameters, sight: &Sight, trip: u32) -> u32 {
    sight.threshold + sight.weight * (parameters.maximum_packet() + trip)
}

/// Whether routers do not see what waits for a channel: only what is out by it counts, and while all
/// goes on behind it that is no more than what a detour costs.
///
/// Queues in sight are those behind the crossbar. There are none while the crossbar is no faster than
/// channels. Whole packets cross to a virtual channel one after the other, each as fast as its channel
/// sends: so there are none either where a step has one virtual channel.
fn unseen(parameters: &Parameters, sight: &Sight, trip: u32) -> Option<String> {
    let largest = parameters.maximum_packet();
    let (is_fast, behind) = (parameters.crossbar_speedup > 1, parameters.behind_crossbar());
    // A packet that is granted counts as a whole.
    let out = if parameters.kind.grants_flits() { trip } else { trip.max(largest) };
    let one_by_one = !parameters.kind.grants_flits() && sight.vcs == 1;
    let seen = out + if is_fast && !one_by_one { behind } else { 0 };
    if seen > sight.threshold {
        return None;
    }
    let room = needed(parameters, sight, trip).div_ceil(largest) * largest;
    let mut sets = Vec::new();
    if behind < room {
        sets.push(match parameters.kind.grants_flits() {
            true => format!("--set link.sharing.flit.output_buffer={room}"),
            false => format!("--set 'router.output_buffer=\"{room} flits\"'"),
        });
    }
    if !is_fast {
        sets.push("--set router.crossbar_speedup=2".into());
    }
    if one_by_one && sight.vcs_for_two <= MAX_VIRTUAL_CHANNELS {
        sets.push(format!("--set router.virtual_channels={}", sight.vcs_for_two));
    }
    let (alone, sets) = (if one_by_one { ALONE } else { "" }, sets.join(" "));
    Some(format!(
        "where the first channel of a way is the bottleneck, no packet is led round it: routers count the flits that are out \
         by a channel and those behind the crossbar, {seen} at most as long as all goes on behind it{alone}, and a detour has \
         to be better by more than {} (`{}`){}{sets}",
        sight.threshold,
        sight.key,
        if sets.is_empty() { "" } else { "; try " }
    ))
}

/// Whether buffers hold too little to show that a way is full.
fn hidden(parameters: &Parameters, sight: &Sight, trip: u32) -> Option<String> {
    let largest = parameters.maximum_packet();
    let whole = parameters.kind.sends_from_inputs();
    let of_one = if whole { parameters.buffer / largest * largest } else { parameters.buffer };
    let (vcs, behind) = (u32::from(sight.vcs), parameters.behind_crossbar());
    let (held, needed) = (of_one * vcs + behind, needed(parameters, sight, trip));
    (held < needed).then(|| {
        let buffer = (needed - behind.min(needed)).div_ceil(vcs).div_ceil(largest) * largest;
        format!(
            "the buffers behind a full channel hold {held} flits in the {} of a step, and more than {needed} have to be out for a \
             detour by which a packet is on its way: {} (`{}`) and {} times {}; try --set 'router.buffer=\"{buffer} flits\"'",
            counted(usize::from(sight.vcs), "virtual channel"),
            sight.threshold,
            sight.key,
            sight.weight,
            largest + trip
        )
    })
}
