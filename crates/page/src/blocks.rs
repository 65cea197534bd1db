//! Channels of a fabric without coordinates, gathered into the cells of a matrix: from group to
//! group, or by level of a tree.

use std::collections::HashMap;

use serde::Serialize;

use flitlab_base::narrow::narrow;
use flitlab_fabric::Fabric;
use flitlab_report::{ChannelRow, levels};

/// Cells of a matrix that is drawn.
const MAX_CELLS: usize = 20_000;

/// The cells of a fabric's channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    /// The cell of each channel, by its name: row times columns plus column.
    cells: HashMap<String, u32>,
    axes: Axes,
}

/// What the rows and columns of a matrix are, as the page names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Axes {
    /// Of rows and of columns, in the singular.
    pub nouns: [&'static str; 2],
    pub rows: Vec<String>,
    pub columns: Vec<String>,
}

impl Blocks {
    /// From group to group in a fabric of groups, such as a Dragonfly; in a tree, where each cable
    /// joins two levels, the channels of each switch upwards and downwards. `None` for others, and
    /// where there are too many cells to draw.
    pub fn of(fabric: &Fabric) -> Option<Self> {
        let (axes, cell) = of_groups(fabric).or_else(|| of_levels(fabric))?;
        if axes.cells() > MAX_CELLS {
            return None;
        }
        let channels = 0..fabric.channel_slots();
        let cells = channels.filter_map(|channel| {
            let ends = (fabric.source(channel), fabric.target(channel)?);
            Some((fabric.channel_name(channel), narrow(cell(ends))))
        });
        Some(Self { cells: cells.collect(), axes })
    }

    /// How many cells there are.
    pub(super) fn cells(&self) -> usize {
        self.axes.cells()
    }

    /// The axes, if these are channels of the fabric.
    pub(super) fn axes_of(&self, channels: &[&ChannelRow]) -> Option<&Axes> {
        let all_known = channels.iter().all(|row| self.cells.contains_key(&row.channel));
        all_known.then_some(&self.axes)
    }

    /// The cell of a channel of the fabric.
    pub(super) fn cell(&self, row: &ChannelRow) -> usize {
        self.cells[&row.channel] as usize
    }
}

impl Axes {
    pub(super) fn cells(&self) -> usize {
        self.rows.len() * self.columns.len()
    }
}

/// The cell of a channel, by the routers that it leaves and where it ends.
type CellOf = Box<dyn Fn((u32, u32)) -> usize>;

fn of_groups(fabric: &Fabric) -> Option<(Axes, CellOf)> {
    let groups = fabric.groups().to_vec();
    let count = groups.iter().max()? + 1;
    let names: Vec<String> = (0..count).map(|group| group.to_string()).collect();
    let axes = Axes { nouns: ["from group", "to group"], rows: names.clone(), columns: names };
    let group = move |router: u32| groups[router as usize];
    let cell = move |(from, to): (u32, u32)| (group(from) * count + group(to)) as usize;
    Some((axes, Box::new(cell)))
}

fn of_levels(fabric: &Fabric) -> Option<(Axes, CellOf)> {
    let levels = levels(fabric)?;
    let highest = *levels.iter().max()?;
    let mut count = vec![0; highest as usize + 1];
    let mut place = Vec::new();
    for &level in &levels {
        let number: &mut u32 = &mut count[level as usize];
        place.push(*number);
        *number += 1;
    }
    // As a packet goes: up from the lowest level, then down to it.
    let up = (1..=highest).map(|level| format!("level {level}, up"));
    let down = (2..=highest + 1).rev().map(|level| format!("level {level}, down"));
    let columns: Vec<String> = (0..*count.iter().max()?).map(|at| at.to_string()).collect();
    let width = columns.len();
    let axes = Axes { nouns: ["switches of", "number"], rows: up.chain(down).collect(), columns };
    let cell = move |(from, to): (u32, u32)| {
        let [level, other] = [from, to].map(|router| levels[router as usize]);
        let row = if level < other { level } else { 2 * highest - level };
        row as usize * width + place[from as usize] as usize
    };
    Some((axes, Box::new(cell)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_fabric::builders::{Dragonfly, GlobalCables, HyperX, Tree};

    fn rows(fabric: &Fabric) -> Vec<ChannelRow> {
        let there = (0..fabric.channel_slots()).filter(|&one| fabric.target(one).is_some());
        let named = there.map(|one| fabric.channel_name(one));
        named.map(|channel| ChannelRow { channel, ..ChannelRow::default() }).collect()
    }

    /// How many channels each cell has.
    fn counts(blocks: &Blocks, rows: &[ChannelRow]) -> Vec<u32> {
        let mut counts = vec![0; blocks.axes.cells()];
        rows.iter().for_each(|row| counts[blocks.cell(row)] += 1);
        counts
    }

    #[test]
    fn a_dragonfly_has_a_cell_for_each_two_groups() {
        let cables = GlobalCables::default();
        let fabric = Dragonfly { routers: 4, terminals: 2, global: 2, groups: 9, cables };
        let fabric = fabric.cabling().unwrap().fabric().unwrap();
        let (blocks, rows) = (Blocks::of(&fabric).unwrap(), rows(&fabric));
        for (cell, count) in counts(&blocks, &rows).into_iter().enumerate() {
            // Four switches, each with a cable to three others; or one cable.
            assert_eq!(count, if cell % 10 == 0 { 12 } else { 1 }, "{cell}");
        }
    }

    #[test]
    fn a_tree_has_rows_up_and_down() {
        let fabric = Tree { arity: 2, levels: 3, terminals: 2 };
        let fabric = fabric.cabling().unwrap().fabric().unwrap();
        let (blocks, rows) = (Blocks::of(&fabric).unwrap(), rows(&fabric));
        let names = ["level 1, up", "level 2, up", "level 3, down", "level 2, down"];
        assert_eq!(
            (&blocks.axes.rows[..], blocks.axes.columns.len()),
            (&names.map(String::from)[..], 4)
        );
        assert_eq!(counts(&blocks, &rows), [2; 16]);
        assert_eq!(blocks.axes_of(&[&ChannelRow::default()]), None);
    }

    #[test]
    fn a_hyperx_has_no_blocks() {
        let fabric = HyperX { sizes: vec![4, 4], redundancy: 1, terminals: 4 };
        assert_eq!(Blocks::of(&fabric.cabling().unwrap().fabric().unwrap()), None);
    }
}
