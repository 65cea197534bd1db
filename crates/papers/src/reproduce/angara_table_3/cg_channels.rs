//! Which exchanges of CG share which channels, under each table.
//!
//! A product of CG is a sequence of exchanges, in each of which all ranks take part: four within the
//! rows of its grid of ranks, at distances of 1, 2, 4 and 8, and one with the transpose partner. An
//! exchange takes at least as long as its fullest channel needs for what crosses it, so a table
//! should gain what it takes off the fullest channels of the five.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{ALGORITHMS, read, scenario};
use flitlab_application::{Action, Schedule};
use flitlab_scenario::simulation::Simulation;
use flitlab_traffic::ApplicationSpec;

/// Products of a time step: of 25 steps of the method, and of the residual.
const PRODUCTS: u32 = 26;

/// The tags of a product's messages (`CG/cg.f`): within the row, and to the transpose partner.
const ROW: u32 = 1;
const TRANSPOSE: u32 = 2;

/// What the largest packet takes on a channel, in nanoseconds: 256 B of payload in 18 flits of 128
/// bit, at 60 Gb/s.
const PAYLOAD_BYTES: f64 = 256.0;
const PACKET_NS: f64 = 18.0 * 128.0 / 60.0;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Row {
    algorithm: &'static str,
    exchange: String,
    /// Messages that leave their node, and the bytes of the largest.
    messages: usize,
    message_bytes: u64,
    /// The fullest channel, the first of equal ones, and how many are as full.
    fullest_channel: String,
    channels_as_full: usize,
    messages_on_it: usize,
    bytes_on_it: u64,
    /// Between which nodes these are.
    pairs_on_it: String,
    /// How long they take on it, one after the other.
    least_us: f64,
}

/// The exchanges of a product, in their order, under each table.
pub(super) fn rows() -> Vec<Row> {
    ALGORITHMS.into_iter().flat_map(of_table).collect()
}

fn of_table(algorithm: &'static str) -> Vec<Row> {
    let scenario = read(&scenario("cg", 1, algorithm, 1e9));
    let application = scenario.workload.downcast_ref::<ApplicationSpec>().expect("it is one");
    let simulation = Simulation::new(&scenario).expect("Desmos can be routed");
    let fabric = simulation.fabric();
    let node = |rank: u32| rank / application.ranks_per_node;
    let row = |(exchange, messages): (Exchange, BTreeMap<(u32, u32), u64>)| {
        let mut channels: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        let outside = messages.keys().filter(|(from, to)| node(*from) != node(*to));
        for &(from, to) in outside.clone() {
            simulation.routes().for_each_channel(fabric, node(from), node(to), |channel| {
                channels.entry(channel).or_default().push((from, to));
            });
        }
        let bytes = |on: &Vec<(u32, u32)>| on.iter().map(|message| messages[message]).sum::<u64>();
        let most = channels.values().map(bytes).max().unwrap_or(0);
        let mut fullest = channels.iter().filter(|(_, on)| bytes(on) == most);
        let as_full = fullest.clone().count();
        let (channel, on) = fullest.next().unzip();
        let pairs: BTreeSet<String> = on
            .into_iter()
            .flatten()
            .map(|(from, to)| {
                let name = |rank: u32| fabric.terminal_name(node(rank));
                format!("{} to {}", name(*from), name(*to))
            })
            .collect();
        Row {
            algorithm,
            exchange: exchange.name(),
            messages: outside.count(),
            message_bytes: messages.values().copied().max().unwrap_or(0),
            fullest_channel: channel.map_or(String::new(), |it| fabric.channel_name(*it)),
            channels_as_full: as_full,
            messages_on_it: on.map_or(0, Vec::len),
            bytes_on_it: most,
            pairs_on_it: pairs.into_iter().collect::<Vec<_>>().join("; "),
            least_us: most as f64 / PAYLOAD_BYTES * PACKET_NS / 1e3,
        }
    };
    exchanges(&application.schedule).into_iter().map(row).collect()
}

/// An exchange of a product, in the order in which they are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Exchange {
    /// With the rank of the same row at this distance.
    Row(u32),
    Transpose,
}

impl Exchange {
    fn name(self) -> String {
        match self {
            Self::Row(distance) => format!("row, distance {distance}"),
            Self::Transpose => "transpose".into(),
        }
    }
}

/// The messages of a product by exchange: sender, receiver, bytes.
fn exchanges(schedule: &Schedule) -> BTreeMap<Exchange, BTreeMap<(u32, u32), u64>> {
    let mut exchanges: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for rank in 0..schedule.ranks() {
        let operations = schedule.of_rank(rank).map(|number| schedule.operation(number));
        for sent in operations.filter(|it| it.action == Action::Send) {
            let exchange = match sent.tag {
                ROW => Exchange::Row(rank ^ sent.peer),
                TRANSPOSE => Exchange::Transpose,
                _ => continue,
            };
            exchanges.entry(exchange).or_default().insert((rank, sent.peer), sent.amount);
        }
    }
    exchanges
}

/// The bytes on the fullest channel of each exchange, and what the tables should gain by them
/// beside what they gain. `completion_us` has the time of so many time steps under each table.
pub(super) fn text(rows: &[Row], steps: u32, completion_us: &[(&'static str, f64)]) -> String {
    let of = |algorithm: &'static str| rows.iter().filter(move |row| row.algorithm == algorithm);
    let names = of(ALGORITHMS[0]).map(|row| format!("{:>18}", row.exchange)).collect::<String>();
    let mut text = format!(
        "CG: kB on the fullest channel of each exchange of a product, and the time for all five; \
         the gain that follows from it, and the simulated one\n{:<10}{names}{:>10}{:>10}{:>10}\n",
        "algorithm", "us", "follows", "gain"
    );
    let least = |algorithm: &'static str| of(algorithm).map(|row| row.least_us).sum::<f64>();
    let Some((bfs, time_of_bfs)) = completion_us.first().copied() else { return text };
    for &(algorithm, time) in completion_us {
        let bytes = of(algorithm).map(|row| format!("{:>18.0}", row.bytes_on_it as f64 / 1e3));
        let saved = f64::from(PRODUCTS * steps) * (least(bfs) - least(algorithm));
        text += &format!(
            "{algorithm:<10}{}{:>10.1}{:>+9.2}%{:>+9.2}%\n",
            bytes.collect::<String>(),
            least(algorithm),
            100.0 * saved / (time_of_bfs - saved),
            100.0 * (time_of_bfs / time - 1.0)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_has_five_exchanges_of_all_ranks() {
        let scenario = read(&scenario("cg", 1, "bfs", 1e9));
        let application = scenario.workload.downcast_ref::<ApplicationSpec>().unwrap();
        let exchanges = exchanges(&application.schedule);
        let names: Vec<String> = exchanges.keys().map(|it| it.name()).collect();
        let distances = [1, 2, 4, 8].map(|it| format!("row, distance {it}"));
        assert_eq!(names, [&distances[..], &["transpose".into()]].concat());
        for (exchange, messages) in &exchanges {
            // Ranks on the diagonal are their own transpose partners.
            let senders = if *exchange == Exchange::Transpose { 112 } else { 128 };
            assert_eq!(messages.len(), senders, "{exchange:?}");
            assert!(messages.keys().all(|&(from, to)| messages.contains_key(&(to, from))));
            assert!(messages.values().all(|&bytes| bytes == 75_000));
        }
    }

    #[test]
    fn ranks_at_distances_of_1_and_2_share_a_node_and_no_channel() {
        let rows = of_table("sssp");
        assert!(rows[..2].iter().all(|row| (row.messages, row.bytes_on_it) == (0, 0)));
        assert!(rows[2..].iter().all(|row| row.bytes_on_it >= 4 * 75_000), "{rows:?}");
        assert!(rows[2..].iter().all(|row| !row.pairs_on_it.is_empty()));
    }
}
