//! Where channels lie in a torus.

use serde::Serialize;

use flitlab_base::narrow::narrow;
use flitlab_fabric::Torus;
use flitlab_report::ChannelRow;
use flitlab_report::torus_place;

/// The torus of a point, as the page draws it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Shape {
    pub sizes: Vec<u32>,
    /// Dimensions that close into rings.
    pub closed: Vec<bool>,
}

impl Shape {
    pub(super) fn of(torus: &Torus) -> Self {
        let closed = (0..torus.dimensions()).map(|dimension| torus.closed(dimension)).collect();
        Self { sizes: torus.sizes().to_vec(), closed }
    }
}

/// The torus that the channels are of: the scenario's if all fit into it, else the smallest that
/// has them. `None` if they are not the channels of a torus.
pub(super) fn torus_of(channels: &[&ChannelRow], scenario: Option<&Torus>) -> Option<Torus> {
    let mut sizes: Vec<u32> = Vec::new();
    for row in channels {
        let (coordinates, _) = torus_place(&row.channel)?;
        sizes.resize(sizes.len().max(coordinates.len()), 1);
        for (size, at) in sizes.iter_mut().zip(coordinates) {
            *size = (*size).max(at + 1);
        }
    }
    if let Some(torus) = scenario
        && torus.dimensions() == sizes.len()
        && torus.sizes().iter().zip(&sizes).all(|(all, needed)| all >= needed)
    {
        return Some(torus.clone());
    }
    let torus = Torus::new(&sizes, &[]).ok()?;
    let wraps = |dimension: usize| {
        let sizes = torus.sizes();
        channels.iter().any(|row| {
            torus_place(&row.channel).is_some_and(|(coordinates, direction)| {
                torus.direction(direction) == Some(narrow(dimension))
                    && coordinates[dimension] + 1 == sizes[dimension]
            })
        })
    };
    let open: Vec<usize> = (0..torus.dimensions()).filter(|&dimension| !wraps(dimension)).collect();
    Torus::new(&sizes, &open).ok()
}

/// The channel's number: its node's times the directions, plus its direction's.
pub(super) fn number(torus: &Torus, channel: &str) -> Option<usize> {
    let (coordinates, direction) = torus_place(channel)?;
    let (node, direction) = (torus.node(&coordinates)?, torus.direction(direction)?);
    Some((node * torus.directions() + direction) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels(torus: &Torus) -> Vec<ChannelRow> {
        let fabric = torus.fabric(&flitlab_fabric::Faults::default()).unwrap();
        let there = (0..fabric.channel_slots()).filter(|&one| fabric.target(one).is_some());
        there
            .map(|one| ChannelRow { channel: fabric.channel_name(one), ..ChannelRow::default() })
            .collect()
    }

    #[test]
    fn names_say_what_the_torus_is_if_the_scenario_s_is_another() {
        let torus = Torus::new(&[4, 3, 2], &[1]).unwrap();
        let rows = channels(&torus);
        let rows: Vec<&ChannelRow> = rows.iter().collect();
        let shape = |scenario: Option<&Torus>| Shape::of(&torus_of(&rows, scenario).unwrap());
        let expected = Shape { sizes: vec![4, 3, 2], closed: vec![true, false, false] };
        assert_eq!(shape(None), expected);
        assert_eq!(shape(Some(&Torus::new(&[4, 2, 2], &[]).unwrap())), expected);
        assert_eq!(shape(Some(&torus)), expected);
        assert_eq!(number(&torus, "(1,0,1) -x"), Some(13 * 6 + 3));
        let other = ChannelRow { channel: "leaf 3 to spine 1".into(), ..ChannelRow::default() };
        assert_eq!(torus_of(&[&other], None), None);
    }
}
