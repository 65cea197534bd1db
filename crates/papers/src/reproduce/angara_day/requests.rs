//! Requests for nodes over days, by the model of Lublin and Feitelson (\[lublin-feitelson\]): when
//! jobs come, how many nodes they take, and for how long, as logs of batch systems have them. All
//! jobs are of one kind, and the parameters are those that the model has for its logs as a whole.

use std::array;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use flitlab_base::narrow::rounded;

/// What a job asks for. Times are in seconds; the first day begins with 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub submitted: u64,
    pub nodes: u32,
    /// For how long it runs, which the scheduler knows.
    pub runtime: u64,
}

pub(super) const DAY: u64 = 24 * 3600;

/// A gamma distribution.
struct Gamma {
    shape: f64,
    scale: f64,
}

/// Share of the jobs on one node, and on a power of two.
const SERIAL: f64 = 0.244;
const POWER_OF_TWO: f64 = 0.576;

/// Of the logarithm of the nodes: the least, how far below that of the machine the second of two
/// uniform distributions begins, and the share of the first.
const LEAST: f64 = 0.8;
const SECOND_BELOW: f64 = 2.5;
const FIRST: f64 = 0.86;

/// Logarithms of runtimes: two gamma distributions, the share of the first over the nodes, which
/// falls with them, and the most.
const SHORT: Gamma = Gamma { shape: 4.2, scale: 0.94 };
const LONG: Gamma = Gamma { shape: 312.0, scale: 0.03 };
const SHORT_SHARE: (f64, f64) = (0.78, -0.0054);
const MOST_RUNTIME: f64 = 12.0;

/// Logarithms of the times between two jobs, were all hours alike, and the most.
const BETWEEN: Gamma = Gamma { shape: 10.2303 * 1.0225, scale: 0.4871 };
const MOST_BETWEEN: f64 = 13.0;

/// How jobs are spread over the half hours of a day, from the eleventh one on.
const OVER_DAY: Gamma = Gamma { shape: 8.1737, scale: 3.9631 };
const HALF_HOURS: usize = 48;
const FIRST_HALF_HOUR: usize = 11;

/// The requests of so many days to a machine, in the order of their times.
pub(super) fn requests(machine: u32, days: u64, random: &mut ChaCha8Rng) -> Vec<Request> {
    let weights = weights();
    let mut requests = Vec::new();
    // A half hour of mean weight has one point, which are spent on the time until the next job.
    let (mut half_hour, mut spent) = (0_usize, 0.0);
    loop {
        let mut points =
            libm::exp(at_most(&BETWEEN, MOST_BETWEEN, random)) / (DAY / HALF_HOURS as u64) as f64;
        loop {
            let left = weights[half_hour % HALF_HOURS] - spent;
            if points <= left {
                break;
            }
            points -= left;
            (half_hour, spent) = (half_hour + 1, 0.0);
        }
        spent += points;
        let share = spent / weights[half_hour % HALF_HOURS];
        let submitted =
            rounded::<u64>((half_hour as f64 + share) * (DAY / HALF_HOURS as u64) as f64);
        if submitted >= days * DAY {
            return requests;
        }
        let nodes = nodes(machine, random);
        requests.push(Request { submitted, nodes, runtime: runtime(nodes, random) });
    }
}

/// The half hours of a day by how many jobs come, 1 in the mean.
fn weights() -> [f64; HALF_HOURS] {
    let density = |at: f64| libm::pow(at, OVER_DAY.shape - 1.0) * libm::exp(-at / OVER_DAY.scale);
    // Simpson's rule; the factor that is common to all goes with the mean.
    const STEPS: usize = 32;
    let integral = |from: f64| {
        let part = |step: usize| {
            let factor = [4.0, 2.0][usize::from(step.is_multiple_of(2))];
            factor * density(from + step as f64 / STEPS as f64)
        };
        density(from) + (1..STEPS).map(part).sum::<f64>() + density(from + 1.0)
    };
    let mut weights = [0.0; HALF_HOURS];
    for number in FIRST_HALF_HOUR..FIRST_HALF_HOUR + HALF_HOURS {
        weights[(number - 1) % HALF_HOURS] = integral(number as f64 - 0.5);
    }
    let mean = weights.iter().sum::<f64>() / HALF_HOURS as f64;
    array::from_fn(|at| weights[at] / mean)
}

fn nodes(machine: u32, random: &mut ChaCha8Rng) -> u32 {
    let kind: f64 = random.random();
    if kind <= SERIAL {
        return 1;
    }
    let most = libm::log2(machine.into());
    let second = most - SECOND_BELOW;
    let is_first = random.random::<f64>() <= FIRST;
    let (from, to) = if is_first { (LEAST, second) } else { (second, most) };
    let mut exponent = from + (to - from) * random.random::<f64>();
    if kind <= SERIAL + POWER_OF_TWO {
        exponent = (exponent + 0.5).floor();
    }
    rounded::<u32>(libm::exp2(exponent)).clamp(1, machine)
}

fn runtime(nodes: u32, random: &mut ChaCha8Rng) -> u64 {
    let (of_none, of_each) = SHORT_SHARE;
    let is_short = random.random::<f64>() <= of_none + of_each * f64::from(nodes);
    let gamma = if is_short { &SHORT } else { &LONG };
    rounded::<u64>(libm::exp(at_most(gamma, MOST_RUNTIME, random))).max(1)
}

/// Draws again as long as the value is larger than the most.
fn at_most(gamma: &Gamma, most: f64, random: &mut ChaCha8Rng) -> f64 {
    loop {
        let drawn = gamma.draw(random);
        if drawn <= most {
            return drawn;
        }
    }
}

impl Gamma {
    /// Draws a value, for a shape of 1 or more, by rejection (\[marsaglia-tsang\]). The functions
    /// are libm's, so that all machines draw the same.
    fn draw(&self, random: &mut ChaCha8Rng) -> f64 {
        let d = self.shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = normal(random);
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            let u: f64 = 1.0 - random.random::<f64>();
            if libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v * self.scale;
            }
        }
    }
}

/// A value of the standard normal distribution, by the method of Box and Muller.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (one, other): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * libm::log(one)).sqrt() * libm::cos(std::f64::consts::TAU * other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn random() -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(1)
    }

    #[test]
    fn gamma_distributions_have_their_means_and_variances() {
        let mut random = random();
        for gamma in [SHORT, LONG, BETWEEN] {
            const DRAWS: usize = 20_000;
            let drawn: Vec<f64> = (0..DRAWS).map(|_| gamma.draw(&mut random)).collect();
            let mean = drawn.iter().sum::<f64>() / DRAWS as f64;
            let squares = drawn.iter().map(|it| (it - mean).powi(2)).sum::<f64>();
            let (of_mean, variance) =
                (gamma.shape * gamma.scale, gamma.shape * gamma.scale.powi(2));
            // Five standard errors of the mean, and of the variance.
            let error = 5.0 * (variance / DRAWS as f64).sqrt();
            assert!((mean - of_mean).abs() < error, "{mean} for {of_mean}");
            let kurtosis = 3.0 + 6.0 / gamma.shape;
            let error = 5.0 * variance * ((kurtosis - 1.0) / DRAWS as f64).sqrt();
            assert!((squares / DRAWS as f64 - variance).abs() < error);
        }
    }

    /// As the model's authors have them: a quarter on one node, of the others most on powers of two;
    /// most come by day.
    #[test]
    fn jobs_are_as_in_the_model() {
        let jobs = requests(256, 200, &mut random());
        assert!(jobs.is_sorted_by_key(|job| job.submitted));
        let share = |is: &dyn Fn(&Request) -> bool| {
            jobs.iter().filter(|job| is(job)).count() as f64 / jobs.len() as f64
        };
        assert!((share(&|job| job.nodes == 1) - SERIAL).abs() < 0.02);
        assert!(share(&|job| job.nodes.is_power_of_two()) > SERIAL + POWER_OF_TWO - 0.02);
        assert!(jobs.iter().all(|job| (1..=256).contains(&job.nodes)));
        assert!(jobs.iter().any(|job| job.nodes > 180), "some take nearly all");
        let hour = |job: &Request| job.submitted % DAY / 3600;
        let by_day = share(&|job| (9..18).contains(&hour(job)));
        let by_night = share(&|job| hour(job) < 6);
        assert!(by_day > 0.45 && by_night < 0.2, "{by_day} {by_night}");
        let mean = weights().iter().sum::<f64>() / HALF_HOURS as f64;
        assert!((mean - 1.0).abs() < 1e-12);
    }
}
