//! Sancho's traffic balancing (\[traffic-balancing\]; reference 27 of \[angara-routing\]) over
//! Angara's legal routes: as long as pairs have several, one is taken away that crosses the channel
//! with the most, of the pair with the most.

use super::{Algorithm, Choices, Generated, NoTable, Selection};
use crate::path_selection::balance_traffic;
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;

impl Algorithm {
    /// `traffic-balancing`.
    pub const TRAFFIC_BALANCING: Row<Self> = Row::new(
        "traffic-balancing",
        "takes routes away from the fullest channel (Sancho and Robles).",
        Self {
            is_random: false,
            follows_rule: false,
            table: |choices, _, _| {
                let selection = traffic_balancing(choices)?;
                Ok(Generated::new(choices.table(&selection)))
            },
        },
    );
}

/// Chooses a route for every pair.
fn traffic_balancing(choices: &Choices<'_>) -> Result<Selection, NoTable> {
    let lists = choices.pairs().map(|pair| {
        let routes = (0..pair.routes()).map(|it| choices.channels(&pair, it).collect()).collect();
        (pair.source, pair.destination, routes)
    });
    let algorithm = Algorithm::TRAFFIC_BALANCING.name;
    let failed = |reason| NoTable::Selection { algorithm, reason };
    let chosen =
        balance_traffic(choices.region().fabric().channel_slots(), lists).map_err(failed)?;
    let mut numbers = vec![0; choices.places()];
    for ((place, _), number) in choices.pairs_by_place().zip(chosen) {
        numbers[place as usize] = narrow(number);
    }
    Ok(Selection::new(choices, |place, _| numbers[place as usize]))
}
