//! Random selection (\[path-selection\], section 2): a path drawn for each pair, every candidate as
//! likely as any other.

use flitlab_base::registry::Row;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::candidates::{Candidates, VcChoices};
use super::{Chosen, NoSelection, PathSelection, SelectionTask};

impl PathSelection {
    /// `random`.
    pub const RANDOM: Row<Self> =
        Row::new("random", "a path drawn for each pair.", Self { select: random });
}

fn random(task: &SelectionTask<'_>) -> Result<Chosen, NoSelection> {
    let candidates = Candidates::new(task.fabric, task.relation)?;
    let mut random = ChaCha8Rng::seed_from_u64(task.parameters.seed);
    let mut paths = Vec::with_capacity(candidates.pairs.len());
    for pair in &candidates.pairs {
        let bundles = pair.first..pair.last;
        let counts: Vec<u128> =
            bundles.map(|bundle| candidates.count(bundle)).collect::<Result<_, _>>()?;
        let all: u128 = match task.parameters.choices {
            VcChoices::Distinct => counts.iter().sum(),
            VcChoices::Shared => counts.len() as u128,
        };
        let mut number = random.random_range(0..all);
        let mut place = 0;
        match task.parameters.choices {
            VcChoices::Distinct => {
                while number >= counts[place] {
                    number -= counts[place];
                    place += 1;
                }
            }
            VcChoices::Shared => {
                place = flitlab_base::narrow::narrow(number);
                number = random.random_range(0..counts[place]);
            }
        }
        let bundle = pair.first + flitlab_base::narrow::narrow::<u32>(place);
        paths.push(candidates.path(task.fabric, bundle, number));
    }
    Ok(Chosen { paths })
}
