//! What the names of the patterns may mean, and how a benchmark may run them: messages of ranks.

use flitlab_application::generate::{Parameters, make};
use flitlab_application::{Operation, Schedule, ScheduleBuilder};
use flitlab_base::narrow::narrow;
use flitlab_fabric::Torus;
use flitlab_traffic::Placement;

const MESSAGE_BYTES: u64 = 1 << 20;

/// Bytes that a rank sends to each other one in an all-to-all of several ranks a node. Among 128
/// ranks messages of 1 MiB take a minute of CPU for each table. These are longer than
/// `[application]`'s `eager_limit` and than the messages for which MPICH takes another algorithm, so
/// that they are sent alike, and channels bound their time as well.
const SHARED_ALL_TO_ALL_BYTES: u64 = 128 << 10;

/// A definition of a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition {
    pub pattern: &'static str,
    pub name: &'static str,
    rule: Rule,
    /// Shown for comparison, but no reading of the paper: run with [`Setup::PLAIN`] alone.
    pub only_shown: bool,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    /// Where each rank sends, of so many.
    Ranks(fn(u32, u32) -> u32),
    /// Where each node sends, by its coordinates and the sizes: its ranks to those there with the
    /// same place.
    Coordinates(fn(u32, u32) -> u32),
    /// `MPI_Alltoall` by this algorithm.
    AllToAll(&'static str),
    /// All-to-all without the hosts' part in it: an `[exchange]`.
    Exchange,
}

fn next(at: u32, size: u32) -> u32 {
    (at + 1) % size
}

fn opposite(at: u32, size: u32) -> u32 {
    (at + size / 2) % size
}

fn half_way(at: u32, size: u32) -> u32 {
    (at + size.div_ceil(2) - 1) % size
}

/// Rank r of a matrix that is stored by rows goes to where it is when stored by columns; as many
/// rows as columns, or half as many.
fn transposed(rank: u32, ranks: u32) -> u32 {
    let rows = 1 << (ranks.ilog2() / 2);
    let columns = ranks / rows;
    rank % columns * rows + rank / columns
}

fn reversed(rank: u32, ranks: u32) -> u32 {
    rank.reverse_bits() >> (32 - ranks.ilog2())
}

pub(super) const DEFINITIONS: [Definition; 10] = {
    const fn of(pattern: &'static str, name: &'static str, rule: Rule) -> Definition {
        Definition { pattern, name, rule, only_shown: false }
    }
    const fn shown(pattern: &'static str, name: &'static str, rule: Rule) -> Definition {
        Definition { pattern, name, rule, only_shown: true }
    }
    [
        of("transpose", "matrix of ranks", Rule::Ranks(transposed)),
        of("transpose", "bits of ranks reversed", Rule::Ranks(reversed)),
        of("neighbor", "rank + 1", Rule::Ranks(next)),
        of("neighbor", "each coordinate + 1", Rule::Coordinates(next)),
        of("tornado", "rank + N/2 - 1", Rule::Ranks(half_way)),
        of("tornado", "each coordinate + k/2 - 1", Rule::Coordinates(half_way)),
        of("tornado", "rank + N/2", Rule::Ranks(opposite)),
        shown("all-to-all", "pairwise exchange", Rule::Exchange),
        // What MPICH takes for long messages if ranks are no power of two, and if they are.
        shown("all-to-all", "MPI_Alltoall by rank + i", Rule::AllToAll("pairwise")),
        of("all-to-all", "MPI_Alltoall by rank xor i", Rule::AllToAll("pairwise-xor")),
    ]
};

impl Definition {
    /// Whether hosts have no part in it. Ranks, which are hosts', mean nothing to it then.
    pub fn is_bare(&self) -> bool {
        matches!(self.rule, Rule::Exchange)
    }

    /// Bytes of a message.
    pub fn message_bytes(&self, setup: Setup) -> u64 {
        match self.rule {
            Rule::AllToAll(_) if setup.ranks_per_node > 1 => SHARED_ALL_TO_ALL_BYTES,
            _ => MESSAGE_BYTES,
        }
    }

    /// The setup with which it is the same as with this one, and with all others that only differ
    /// in what means nothing to it.
    pub fn distinct(&self, setup: Setup) -> Setup {
        if self.only_shown {
            return Setup::PLAIN;
        }
        let in_turn = setup.in_turn && setup.ranks_per_node > 1;
        match self.rule {
            Rule::Ranks(_) => Setup { in_turn, ..setup },
            Rule::Coordinates(_) => Setup { in_turn: false, x_fastest: true, ..setup },
            // All ranks send to all, both ways as it is.
            Rule::AllToAll(_) | Rule::Exchange => Setup { in_turn, both_ways: false, ..setup },
        }
    }

    /// Its name, with the order of nodes if that makes a difference.
    pub fn label(&self, setup: Setup) -> String {
        match self.rule {
            Rule::Ranks(_) | Rule::AllToAll(_) if !self.only_shown => {
                format!("{}, {}", self.name, setup.node_order())
            }
            _ => self.name.into(),
        }
    }

    /// What ranks do on a torus; nothing if no rank has a partner but itself.
    pub fn schedule(&self, setup: Setup, torus: &Torus) -> Option<Schedule> {
        let each = setup.ranks_per_node;
        let ranks = torus.nodes() * each;
        let partners: Vec<u32> = match self.rule {
            Rule::Exchange => return None,
            Rule::AllToAll(algorithm) => {
                let parameters = Parameters {
                    ranks: Some(ranks),
                    algorithm: Some(algorithm.into()),
                    bytes: Some(self.message_bytes(setup)),
                    ..Parameters::default()
                };
                let schedule = make("all-to-all", &parameters).expect("right parameters");
                return Some(repeated(&schedule, setup));
            }
            Rule::Ranks(partner) => (0..ranks).map(|rank| partner(rank, ranks)).collect(),
            Rule::Coordinates(next) => {
                let moved = |node: u32| {
                    let coordinates = torus.coordinates(node);
                    let sizes = torus.sizes().iter();
                    let moved = coordinates.iter().zip(sizes).map(|(&at, &size)| next(at, size));
                    torus.node(&moved.collect::<Vec<u32>>()).expect("inside the torus")
                };
                (0..ranks).map(|rank| moved(rank / each) * each + rank % each).collect()
            }
        };
        let sent = partners.iter().zip(0..).any(|(partner, rank)| *partner != rank);
        sent.then(|| repeated(&exchange(&partners, setup.both_ways), setup))
    }
}

/// How a benchmark is run, whatever its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Setup {
    pub ranks_per_node: u32,
    /// Ranks go to one node after the other in turn, instead of filling node after node.
    pub in_turn: bool,
    /// Nodes are numbered with x fastest, instead of x slowest.
    pub x_fastest: bool,
    /// Each rank also sends to the one that sends to it.
    pub both_ways: bool,
    /// How often the pattern is done, each rank anew when all of its own messages are through.
    pub repetitions: u32,
}

impl Setup {
    pub const PLAIN: Self = Self {
        ranks_per_node: 1,
        in_turn: false,
        x_fastest: true,
        both_ways: false,
        repetitions: 1,
    };

    /// All of them.
    pub fn all() -> Vec<Self> {
        let mut setups = Vec::new();
        for (ranks_per_node, in_turn) in [(1, false), (2, false), (2, true), (4, false), (4, true)]
        {
            for x_fastest in [true, false] {
                for both_ways in [false, true] {
                    for repetitions in [1, REPETITIONS] {
                        let setup =
                            Self { ranks_per_node, in_turn, x_fastest, both_ways, repetitions };
                        setups.push(setup);
                    }
                }
            }
        }
        setups
    }

    /// The word of `[application]` for its placement.
    pub fn placement(self) -> &'static str {
        if self.in_turn { "round-robin" } else { "linear" }
    }

    pub fn node_order(self) -> &'static str {
        if self.x_fastest { "x fastest" } else { "x slowest" }
    }

    pub fn ways(self) -> &'static str {
        if self.both_ways { "both" } else { "one" }
    }

    /// The node of each rank.
    pub fn nodes(self, torus: &Torus) -> Placement {
        let mut order: Vec<u32> = (0..torus.nodes()).collect();
        if !self.x_fastest {
            order.sort_by_key(|&node| torus.coordinates(node));
        }
        let placement = if self.in_turn { Placement::RoundRobin } else { Placement::Linear };
        let ranks = torus.nodes() * self.ranks_per_node;
        let nodes = placement.nodes(ranks, self.ranks_per_node, &order, 0);
        Placement::Given(nodes.expect("a place for each rank").into())
    }
}

/// How often a benchmark repeats a pattern. Ranks drift apart, so that messages of one time meet
/// those of the next.
const REPETITIONS: u32 = 2;

const FEW: &str = "some thousand operations, each after those before it";

fn repeated(schedule: &Schedule, setup: Setup) -> Schedule {
    schedule.repeated(setup.repetitions).expect(FEW)
}

/// Each rank sends to its partner, and both ways also to the rank whose partner it is; all at once.
/// Ranks that are each other's partners exchange a message each way in either case.
fn exchange(partners: &[u32], both_ways: bool) -> Schedule {
    let mut inverse = vec![0; partners.len()];
    for (rank, &partner) in (0..).zip(partners) {
        inverse[partner as usize] = rank;
    }
    let mut schedule = ScheduleBuilder::new();
    for (rank, (&to, &from)) in (0..narrow(partners.len())).zip(partners.iter().zip(&inverse)) {
        let back = (both_ways && from != to).then_some((from, to));
        for (to, from) in [(to, from)].into_iter().chain(back).filter(|pair| pair.0 != rank) {
            schedule.add(Operation::receive(MESSAGE_BYTES, from, 0)).expect(FEW);
            schedule.add(Operation::send(MESSAGE_BYTES, to, 0)).expect(FEW);
        }
        schedule.end_rank().expect(FEW);
    }
    schedule.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::tori::PARTS;
    use flitlab_application::{Action, check};

    /// The messages of a schedule: sender, receiver.
    fn messages(schedule: &Schedule) -> Vec<(u32, u32)> {
        let sends = |rank| {
            let operations = schedule.of_rank(rank).map(|number| *schedule.operation(number));
            operations.filter(|it| it.action == Action::Send).map(move |it| (rank, it.peer))
        };
        (0..schedule.ranks()).flat_map(sends).collect()
    }

    fn torus(sizes: &[u32]) -> Torus {
        Torus::new(sizes, &[]).unwrap()
    }

    #[test]
    fn every_definition_is_a_permutation_and_every_message_is_received() {
        let of_partners =
            |it: &&Definition| matches!(it.rule, Rule::Ranks(_) | Rule::Coordinates(_));
        for definition in DEFINITIONS.iter().filter(of_partners) {
            for (nodes, sizes) in PARTS {
                for ranks_per_node in [1, 2, 4] {
                    let one = Setup { ranks_per_node, ..Setup::PLAIN };
                    let Some(schedule) = definition.schedule(one, &torus(sizes)) else { continue };
                    let sent = messages(&schedule);
                    let mut receivers: Vec<u32> = sent.iter().map(|pair| pair.1).collect();
                    receivers.sort_unstable();
                    receivers.dedup();
                    assert_eq!(receivers.len(), sent.len(), "{definition:?} on {nodes}");
                    let both = Setup { both_ways: true, repetitions: 2, ..one };
                    let schedule = definition.schedule(both, &torus(sizes)).unwrap();
                    assert!(check(&schedule).is_empty(), "{definition:?} on {nodes}");
                }
            }
        }
    }

    #[test]
    fn both_ways_each_message_has_one_back_and_no_pair_has_two() {
        // 0 to 1, 1 to 2, 2 to 0; 3 and 4 are each other's partners, 5 its own.
        let partners = [1, 2, 0, 4, 3, 5];
        let pairs = [(3, 4), (4, 3)];
        let ring = [(0, 1), (1, 2), (2, 0)];
        assert_eq!(messages(&exchange(&partners, false)), [&ring[..], &pairs].concat());
        let mut both = messages(&exchange(&partners, true));
        both.sort_unstable();
        let back = ring.map(|(from, to)| (to, from));
        let mut expected = [&ring[..], &back, &pairs].concat();
        expected.sort_unstable();
        assert_eq!(both, expected);
        assert!(check(&exchange(&partners, true)).is_empty());
    }

    #[test]
    fn ranks_are_placed_by_the_order_of_nodes() {
        let nodes = |in_turn, x_fastest| {
            let setup = Setup { ranks_per_node: 2, in_turn, x_fastest, ..Setup::PLAIN };
            let Placement::Given(nodes) = setup.nodes(&torus(&[4, 2])) else { panic!() };
            nodes[..6].to_vec()
        };
        assert_eq!(nodes(false, true), [0, 0, 1, 1, 2, 2]);
        assert_eq!(nodes(true, true), [0, 1, 2, 3, 4, 5]);
        assert_eq!(nodes(false, false), [0, 0, 4, 4, 1, 1]);
        assert_eq!(nodes(true, false), [0, 4, 1, 5, 2, 6]);
    }

    #[test]
    fn by_coordinates_ranks_of_a_node_send_to_those_of_one_node() {
        let of_name = |it: &&Definition| it.name == "each coordinate + k/2 - 1";
        let definition = DEFINITIONS.iter().find(of_name).unwrap();
        let setup = Setup { ranks_per_node: 2, ..Setup::PLAIN };
        let sent = messages(&definition.schedule(setup, &torus(&[4, 2])).unwrap());
        // Along x by one node; k/2 - 1 of two nodes is none.
        assert_eq!(sent[..3], [(0, 2), (1, 3), (2, 4)]);
    }
}
