//! Rows of groups of channels in place of those of channels: the mean and the most of each.

use std::collections::HashMap;

use super::ChannelRow;
use super::csv::Row;
use super::table::Cell;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, Fabric, NONE, breadth_first};
use flitlab_model::ChannelKind;

/// The two rows of a group, as its rows are called.
const WORDS: [(&str, GroupRow); 2] =
    [(", mean of ", GroupRow::Mean), (", most of ", GroupRow::Most)];

/// Which of a group's two rows one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupRow {
    /// Its columns are the means of the channels'.
    Mean,
    /// Each of its columns is the highest of the channels'.
    Most,
}

/// The rows of a fabric's groups of channels: of a torus by direction, of a fabric of groups those
/// within each group and those that leave it, of a tree by level, upwards and downwards, of another
/// one all channels between switches; and those into and out of the network.
pub fn group_rows(fabric: &Fabric, channels: &[ChannelRow]) -> Vec<ChannelRow> {
    let name = group_names(fabric, channels);
    let mut groups: Vec<(String, Vec<&ChannelRow>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (row, name) in channels.iter().zip(name) {
        let at = *places.entry(name.clone()).or_insert_with(|| {
            groups.push((name, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(row);
    }
    let rows = groups.iter().flat_map(|(name, rows)| {
        WORDS.map(|(words, which)| {
            let channel = format!("{name}{words}{}", rows.len());
            ChannelRow { channel, kind: rows[0].kind, ..reduced(rows, which) }
        })
    });
    rows.collect()
}

impl ChannelRow {
    /// The group that the row is of, how many channels it has, and which of its rows this is; `None`
    /// if it is of a channel.
    pub fn group(&self) -> Option<(&str, usize, GroupRow)> {
        WORDS.into_iter().find_map(|(words, which)| {
            let (name, count) = self.channel.rsplit_once(words)?;
            Some((name, count.parse().ok()?, which))
        })
    }
}

/// The name of each channel's group.
fn group_names(fabric: &Fabric, channels: &[ChannelRow]) -> Vec<String> {
    let of_network = of_network(fabric);
    let wanted: HashMap<&str, usize> = match &of_network {
        None => HashMap::new(),
        Some(_) => (0..).zip(channels).map(|(at, row)| (&*row.channel, at)).collect(),
    };
    let usual = |row: &ChannelRow| match row.kind {
        // `(0,0,1) +x` on a torus.
        ChannelKind::Network if fabric.torus().is_some() => {
            row.channel.rsplit(' ').next().unwrap_or_default().to_owned()
        }
        ChannelKind::Network => "network".into(),
        ChannelKind::Injection => "injection".into(),
        ChannelKind::Ejection => "ejection".into(),
    };
    let mut names: Vec<String> = channels.iter().map(usual).collect();
    if let Some(name) = of_network {
        let there = (0..fabric.channel_slots()).filter(|&one| fabric.target(one).is_some());
        for channel in there {
            if let Some(&at) = wanted.get(&*fabric.channel_name(channel)) {
                names[at] = name(channel);
            }
        }
    }
    names
}

/// What names the groups of channels between switches; `None` on tori, and where all are one group.
fn of_network(fabric: &Fabric) -> Option<Box<dyn Fn(Channel) -> String + '_>> {
    if fabric.torus().is_some() {
        return None;
    }
    let ends = |channel| (fabric.source(channel), fabric.target(channel).expect("it leads on"));
    if let groups @ [_, ..] = fabric.groups() {
        return Some(Box::new(move |channel| {
            let (from, to) = ends(channel);
            let [own, other] = [from, to].map(|router| groups[router as usize]);
            let way = if own == other { "within" } else { "to others" };
            format!("group {own}, {way}")
        }));
    }
    let levels = levels(fabric)?;
    Some(Box::new(move |channel| {
        let (from, to) = ends(channel);
        let [own, other] = [from, to].map(|router| levels[router as usize]);
        let way = if own < other { "up" } else { "down" };
        format!("level {}, {way}", own + 1)
    }))
}

/// A row whose numbers are the means, or the most, of those of these rows. A column has none that one
/// of them does not have.
fn reduced(rows: &[&ChannelRow], which: GroupRow) -> ChannelRow {
    let mut all = ChannelRow::default();
    for column in <ChannelRow as Row>::columns() {
        let cells: Option<Vec<f64>> = rows.iter().map(|row| (column.cell)(row).number()).collect();
        let Some(cells) = cells else { continue };
        let number = match which {
            GroupRow::Mean => cells.iter().sum::<f64>() / narrow::<u32>(cells.len()).max(1) as f64,
            GroupRow::Most => cells.iter().copied().fold(0.0, f64::max),
        };
        let is_whole = matches!((column.cell)(rows[0]), Cell::Whole(_));
        let text = if is_whole { format!("{number:.0}") } else { format!("{number:.6}") };
        (column.read)(&mut all, &text).expect("a number of the column's kind");
    }
    all
}

/// The level of each router of a tree, 0 where there are terminals; `None` if some cable joins no
/// two levels that follow each other.
pub fn levels(fabric: &Fabric) -> Option<Vec<u32>> {
    let ends = fabric.ends();
    let routers = fabric.routers();
    // As if one more router had a cable to each of those with terminals.
    let next = |router: u32| -> Box<dyn Iterator<Item = u32>> {
        if router == routers {
            Box::new(ends.iter().copied())
        } else {
            Box::new(fabric.neighbors(router))
        }
    };
    let mut hops = vec![NONE; routers as usize + 1];
    breadth_first(routers, &mut hops, &mut Vec::new(), next);
    let levels: Vec<u32> =
        hops[..routers as usize].iter().map(|hops| hops.wrapping_sub(1)).collect();
    let joins = |router: u32| {
        let own = levels[router as usize];
        fabric.neighbors(router).all(|next| levels[next as usize].abs_diff(own) == 1)
    };
    let is_tree = levels.iter().any(|&level| level > 0) && (0..routers).all(joins);
    is_tree.then_some(levels)
}
