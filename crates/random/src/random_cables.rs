//! Random rates and latencies of cables, for the small random scenarios.

use flitlab_base::units::{Picoseconds, Rate};
use flitlab_engine::Parameters;
use flitlab_fabric::{CableClass, CableRate, CableSpeed, Fabric};
use rand::{Rng, RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::random_scenario::Scenario;

impl Scenario {
    /// With cables of several classes in about one scenario of three. They are drawn from a stream
    /// of their own, so that all else is as without them.
    pub fn with_cables_at_times(self, seed: u64) -> Self {
        if generator(seed).random_range(0..3) == 0 { self.with_cables(seed) } else { self }
    }

    /// With cables of up to four classes, by cable or by dimension, and adapters whose cables may
    /// be slow.
    pub fn with_cables(self, seed: u64) -> Self {
        let random = &mut generator(seed);
        // The number that says whether there are any.
        let _: u32 = random.random();
        let classes: Vec<CableClass> =
            (0..random.random_range(2..=4)).map(|_| class(random, &self.parameters)).collect();
        let Self { fabric, .. } = self;
        let by_dimension = random.random_bool(0.3);
        let drawn: Vec<CableClass> = (0..fabric.channel_slots())
            .map(|_| *classes.choose(random).expect("two at least"))
            .collect();
        let slow_adapters = random.random_bool(0.3);
        let of_terminals: Vec<CableClass> = (0..fabric.terminals())
            .map(|_| {
                *classes[..if slow_adapters { classes.len() } else { 1 }].choose(random).unwrap()
            })
            .collect();
        let of_channel: Vec<CableClass> = (0..fabric.channel_slots())
            .map(|channel| match fabric.torus() {
                Some(torus) if by_dimension => {
                    classes[torus.dimension(channel % torus.directions()) % classes.len()]
                }
                _ => drawn[channel.min(fabric.opposite(channel).unwrap_or(channel)) as usize],
            })
            .collect();
        let fabric: Fabric = fabric.with_cables(
            |channel| of_channel[channel as usize],
            |terminal| of_terminals[terminal as usize],
        );
        Self { fabric, ..self }
    }
}

fn generator(seed: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(4);
    random
}

/// Rates of about `link_rate` or a half, a third or a quarter of it.
fn class(random: &mut dyn Rng, parameters: &Parameters) -> CableClass {
    let speed = |rate| CableSpeed::Data(Rate(rate));
    let rate = match random.random_range(0..5) {
        0 => CableRate::Link,
        slower => CableRate::Share { cable: speed(12 / slower), fastest: speed(12) },
    };
    let alone = CableClass { rate, latency: None };
    let latency = random
        .random_bool(0.4)
        .then(|| parameters.flit_time_of(alone) + Picoseconds(random.random_range(0..=20)));
    CableClass { rate, latency }
}
