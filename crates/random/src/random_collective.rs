//! Random operations of the collective subnetwork, beside a scenario's messages.

use flitlab_base::units::{Bytes, Picoseconds, Rate};
use flitlab_engine::{CollectiveUnit, DOWN_CHANNEL, Parameters, Switching, UP_CHANNEL};
use flitlab_routing::{EscapeRule, Routes};
use flitlab_traffic::{CollectiveKind, CollectiveSpec, Collectives, Script, Several, Workload};
use rand::{Rng, RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::random_scenario::Scenario;

impl Scenario {
    /// With collective operations in about one scenario of five, of those that may have some. They
    /// are drawn from a stream of their own, so that all else is as without them.
    #[must_use]
    pub fn with_collectives_at_times(self, seed: u64) -> Self {
        let mut random = generator(seed);
        if random.random_range(0..5) == 0 { self.with_collectives(seed) } else { self }
    }

    /// With collective operations, if the routing leaves them their virtual channels and the
    /// messages have one class.
    #[must_use]
    pub fn with_collectives(mut self, seed: u64) -> Self {
        let mut random = generator(seed);
        // The number that says whether there are any.
        let _: u32 = random.random();
        let classless = self.parameters.classes.is_empty()
            && self.messages.iter().all(|message| message.class == 0);
        let shares_flits = self.parameters.kind.grants_flits();
        if !classless
            || !leaves_channels(&self.routes)
            || self.parameters.virtual_channels <= DOWN_CHANNEL && !shares_flits
            || self.parameters.switching == Switching::Wormhole
            || self.parameters.head_of_queue_lifetime.is_some()
        {
            return self;
        }
        let spec = spec(&mut random, &self);
        let unit = unit(&mut random, &self.parameters);
        if spec.trees(&self.fabric).is_ok() {
            let least = if shares_flits { DOWN_CHANNEL + 1 } else { 0 };
            self.parameters.virtual_channels = self.parameters.virtual_channels.max(least);
            (self.collective, self.parameters.collective) = (Some(spec), unit);
        }
        self
    }

    /// What terminals send: the messages, and operations beside them if there are any.
    pub fn workload(&self) -> Box<dyn Workload> {
        let script: Box<dyn Workload> = Box::new(Script::new(self.messages.clone()));
        let Some(spec) = &self.collective else { return script };
        let trees = spec.trees(&self.fabric).expect("they were tried");
        let operations = Collectives::new(spec, trees, self.fabric.terminals());
        let both = [script, Box::new(operations)].map(|member| (member, Picoseconds::ZERO));
        Box::new(Several::new(both.into(), self.fabric.terminals()))
    }
}

fn generator(seed: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(10);
    random
}

/// Whether a routing has no use for the virtual channels of the collective subnetwork.
fn leaves_channels(routes: &Routes) -> bool {
    match routes {
        Routes::DirectionOrder(order) => !order.rules().dateline,
        Routes::Table(_) => true,
        Routes::Adaptive(adaptive) => {
            let channels = &adaptive.rules().channels;
            let used = [channels.adaptive, channels.escape, channels.escape_to_intermediate];
            adaptive.rules().escape != EscapeRule::Dateline
                && !used.contains(&UP_CHANNEL)
                && !used.contains(&DOWN_CHANNEL)
        }
        Routes::Forwarding(_) | Routes::Relation(_) | Routes::Paths(_) => false,
    }
}

fn spec(random: &mut dyn Rng, scenario: &Scenario) -> CollectiveSpec {
    let live: Vec<u32> = scenario.fabric.live_terminals().collect();
    let mut members: Vec<u32> = live.iter().copied().filter(|_| random.random_bool(0.6)).collect();
    if members.len() < 2 {
        members = live;
    }
    let kinds = [
        CollectiveKind::Broadcast,
        CollectiveKind::Reduce,
        CollectiveKind::AllReduce,
        CollectiveKind::Barrier,
    ];
    let kind = *kinds.choose(random).expect("some");
    let largest = scenario.parameters.maximum_payload.0;
    let bytes = random.random_range(0..=3 * largest);
    let rounds = random.random_range(1..=6);
    CollectiveSpec {
        kind,
        message: Bytes(if kind == CollectiveKind::Barrier { 0 } else { bytes }),
        roots: (0..random.random_range(1..=3))
            .map(|_| *members.choose(random).expect("some"))
            .collect(),
        members,
        rounds,
        outstanding: random.random_range(1..=rounds),
        start: Picoseconds(*[0, 1, 40, 200].choose(random).expect("some")),
    }
}

fn unit(random: &mut dyn Rng, parameters: &Parameters) -> CollectiveUnit {
    let bits = 8 * parameters.flit.0 * 1_000_000_000_000;
    CollectiveUnit {
        together: random.random_bool(0.5),
        open_operations: random.random_range(1..=4),
        combining_latency: Picoseconds(random.random_range(0..=9)),
        combining_rate: Rate(bits / random.random_range(1..=5)),
    }
}
