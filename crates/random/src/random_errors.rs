//! Random errors of links, so large for the small random scenarios that packets are often sent
//! again.

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Acknowledgements, Bursts, LinkErrors, Parameters, Resend, Retry, RouterKind};
use flitlab_fabric::Fabric;
use rand::{Rng, RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::random_scenario::Scenario;

impl Scenario {
    /// With errors of links in about one scenario of six. They are drawn from a stream of their
    /// own, so that all else is as without them.
    pub fn with_errors_at_times(self, seed: u64) -> Self {
        let mut random = generator(seed);
        if random.random_range(0..6) == 0 { self.with_errors(seed) } else { self }
    }

    /// With errors of links in about one scenario of six whose links are shared flit by flit, drawn
    /// from another stream.
    #[must_use]
    pub fn with_errors_of_flits_at_times(self, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(11);
        if random.random_range(0..6) == 0 { self.with_errors_of_flits(seed) } else { self }
    }

    /// With errors of links that are shared flit by flit. Stall times are left out.
    #[must_use]
    pub fn with_errors_of_flits(self, seed: u64) -> Self {
        let mut scenario = self.with_errors(seed);
        let RouterKind::SharedLinks(sharing) = &mut scenario.parameters.kind else {
            panic!("they are shared")
        };
        sharing.stall_times = false;
        scenario
    }

    /// With errors of links.
    pub fn with_errors(mut self, seed: u64) -> Self {
        let mut random = generator(seed);
        // The number that says whether there are any.
        let _: u32 = random.random();
        self.parameters.errors = Some(errors(&mut random, &self.fabric, &self.parameters));
        self
    }
}

fn generator(seed: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(2);
    random
}

/// Errors that leave a packet of any size a chance of at least about one in eight to be sound.
fn errors(random: &mut dyn Rng, fabric: &Fabric, parameters: &Parameters) -> LinkErrors {
    let largest = parameters.maximum_packet();
    let bits = f64::from(largest) * (8 * parameters.flit.0) as f64;
    let classes = fabric.cable_classes().iter();
    let flit_time = classes.clone().map(|&it| parameters.flit_time_of(it)).max().expect("some");
    let latency = classes.clone().map(|&it| parameters.latency_of(it)).max().expect("some");
    let injection = classes.map(|&it| parameters.injection_flit_time_of(it)).max();
    let slowest = flit_time.max(injection.expect("some"));
    // How long a packet may have a channel when nothing else is in its way.
    let hold = slowest * u64::from(largest);
    let bit_error_rate = match random.random_range(0..6) {
        0 => 0.0,
        _ => 10_f64.powf(random.random_range(-5.0..-2.0)).min(1.5 / bits),
    };
    let bursts = random.random_bool(0.3).then(|| {
        let length = random.random_range(1..=3 * hold.0);
        Bursts {
            interval: random.random_range(2..20) * (hold + Picoseconds(length)),
            length: Picoseconds(length),
        }
    });
    let channels = random
        .random_bool(0.2)
        .then(|| (0..fabric.channel_slots()).map(|_| random.random_bool(0.5)).collect());
    let replay = match random.random_range(0..4) {
        0 => 0,
        1 => random.random_range(0..=largest),
        _ => random.random_range(0..=10 * largest),
    };
    // A packet's last flit there, a verdict that waits for a packet, and back.
    let round_trip: Picoseconds =
        2 * latency + parameters.crossbar_latency + (2 * u64::from(largest) + 1) * flit_time;
    let longer = match random.random_range(0..4) {
        0 => 0,
        1 => random.random_range(0..=flit_time.0),
        2 => random.random_range(0..=2 * round_trip.0),
        _ => random.random_range(0..=50 * round_trip.0),
    };
    LinkErrors {
        bit_error_rate,
        bursts,
        channels,
        retry: *[Retry::Stomp, Retry::Store].choose(random).expect("two"),
        resend: *[Resend::GoBackN, Resend::Selective].choose(random).expect("two"),
        acknowledgements: *[Acknowledgements::Flits, Acknowledgements::Free]
            .choose(random)
            .expect("two"),
        sequence_bits: *[1, 2, 3, 4, 8].choose(random).expect("some"),
        replay_buffer: largest + replay,
        time_out: round_trip + Picoseconds(longer),
        seed: random.random(),
    }
}
