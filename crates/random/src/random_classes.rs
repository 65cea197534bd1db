//! Random classes of traffic for the scenarios of `random_scenario`: as many as there can be, each
//! with what the routing can give it.

use flitlab_base::units::Picoseconds;
use flitlab_engine::{PacketKind, Parameters, TrafficClass};
use flitlab_routing::{HalfRing, Routes};
use flitlab_traffic::{MAX_WORKLOADS, Message, MessageKind};
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::differential::has_dateline;
use super::random_scenario::Scenario;

impl Scenario {
    /// One of five with several classes of traffic, to which the messages belong at random. They
    /// are drawn from a stream of their own, so the other scenarios are what they have always been.
    pub fn with_classes_at_times(self, seed: u64) -> Self {
        if seed % 5 == 2 { self.with_classes(seed) } else { self }
    }

    /// One of four with requests and responses on one channel, and of the classes that would not choose
    /// some whose responses do; drawn from a stream of their own, too.
    pub fn with_ways_of_responses_at_times(mut self, seed: u64) -> Self {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(6);
        self.parameters.message_classes = if random.random_bool(0.25) { 1 } else { 2 };
        for class in &mut self.parameters.classes {
            if class.packets == PacketKind::Deterministic && random.random_bool(0.5) {
                class.packets = PacketKind::AdaptiveResponses;
            }
        }
        self
    }

    /// One of three with adapters that hold few responses.
    pub fn with_responder_resources_at_times(self, seed: u64) -> Self {
        if seed % 3 == 1 { self.with_responder_resources(seed) } else { self }
    }

    /// With adapters that hold few responses, unless packets of a request can overtake each other:
    /// then these might fill an adapter with requests that never become whole.
    pub fn with_responder_resources(mut self, seed: u64) -> Self {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(7);
        let limit = random.random_range(1..=3);
        let keep_order = match &self.routes {
            Routes::Forwarding(_) => true,
            Routes::DirectionOrder(order) => order.rules().half_ring != HalfRing::Random,
            _ => false,
        };
        let is_whole = |message: &Message| {
            message.kind == MessageKind::Data || self.packets_of(message).0.len() == 1
        };
        // A packet that needs more room than there ever is waits for nothing that a cycle could show.
        let Parameters { buffer, .. } = self.parameters;
        let fits = match &self.routes {
            _ if self.parameters.errors.is_some() => false,
            Routes::Adaptive(adaptive) => {
                let packets = 1 + u32::from(adaptive.rules().injection_bubble);
                packets * self.parameters.maximum_packet() <= buffer
            }
            _ => true,
        };
        if fits && (keep_order || self.messages.iter().all(is_whole)) {
            self.parameters.responder_resources = Some(limit);
        }
        self
    }

    /// One of five, of those that allow it, with a short lifetime at the head of queues.
    pub fn with_head_of_queue_lifetime_at_times(self, seed: u64) -> Self {
        if seed % 5 == 4 { self.with_head_of_queue_lifetime(seed) } else { self }
    }

    /// With a lifetime at the head of queues, unless links err or adapters hold few responses.
    pub fn with_head_of_queue_lifetime(mut self, seed: u64) -> Self {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(9);
        let longest = *[5, 50, 500].choose(random).expect("some");
        let Parameters { errors, responder_resources, head_of_queue_lifetime, .. } =
            &mut self.parameters;
        if errors.is_none() && responder_resources.is_none() {
            *head_of_queue_lifetime = Some(Picoseconds(random.random_range(1..=longest)));
        }
        self
    }

    /// With several classes of traffic.
    pub fn with_classes(mut self, seed: u64) -> Self {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(5);
        let Self { routes, parameters, messages, .. } = &mut self;
        let count = random.random_range(2..=MAX_WORKLOADS as u8);
        for message in messages.iter_mut() {
            message.class = random.random_range(0..count);
        }
        // Classes at the end that are not given are the default.
        let given = random.random_range(1..=count);
        let set_size = match routes {
            Routes::Forwarding(table) => Some(table.vc_count()),
            Routes::Paths(routes) => Some(routes.paths.vcs()),
            _ => None,
        };
        let sets = set_size.map_or(1, |size| random.random_range(1..=(16 / size).min(3)));
        let mut class = || match routes {
            Routes::Adaptive(_) => {
                let kinds = [PacketKind::Usual, PacketKind::Adaptive, PacketKind::Deterministic];
                let packets = *kinds.choose(random).expect("some");
                let on_response_channel = random.random_bool(0.5);
                TrafficClass { packets, on_response_channel, ..TrafficClass::default() }
            }
            Routes::DirectionOrder(_) | Routes::Table(_) => TrafficClass {
                on_response_channel: random.random_bool(0.5),
                ..TrafficClass::default()
            },
            Routes::Forwarding(_) | Routes::Paths(_) => {
                TrafficClass { service: random.random_range(0..sets), ..TrafficClass::default() }
            }
            Routes::Relation(_) => TrafficClass::default(),
        };
        parameters.classes = (0..given).map(|_| class()).collect();
        let needed = match routes {
            Routes::DirectionOrder(_) | Routes::Table(_) => {
                if has_dateline(routes) {
                    4
                } else {
                    2
                }
            }
            _ => set_size.unwrap_or(1) * sets,
        };
        parameters.virtual_channels = parameters.virtual_channels.max(needed);
        self
    }
}
