//! Carries a small schedule out, in tests: matches messages in order and follows what each
//! operation depends on.

use flitlab_base::narrow::narrow;
use std::collections::{HashMap, VecDeque};

use flitlab_application::{Action, Schedule, Until};

/// The observed messages.
#[derive(Debug)]
pub(crate) struct Carried {
    /// By rank, as bits: the ranks of which something can have reached it.
    pub knows: Vec<u64>,
    /// The most messages one after the other, each sent because the one before had come.
    pub rounds: u32,
    /// The longest that is computed one after the other, in nanoseconds.
    pub busy: u64,
    /// By rank: bytes sent and received.
    pub sent: Vec<u64>,
    pub received: Vec<u64>,
    pub messages: u64,
}

/// An operation that is going on: what its rank knows by then, and how many messages that took.
#[derive(Clone, Copy, Default)]
struct State {
    knows: u64,
    rounds: u32,
    busy: u64,
}

impl State {
    fn join(&mut self, other: Self) {
        self.knows |= other.knows;
        self.rounds = self.rounds.max(other.rounds);
        self.busy = self.busy.max(other.busy);
    }
}

/// Messages that wait for receives or the other way round, of one source, destination and tag.
type Queues = HashMap<(u32, u32, u32), VecDeque<u32>>;

/// # Panics
/// If it doesn't come to an end, if messages are left, or if one has another size than its receive.
pub(crate) fn carry_out(schedule: &Schedule) -> Carried {
    let ranks = schedule.ranks();
    let count = narrow::<u32>(schedule.operations().len());
    let mut states: Vec<State> = (0..count)
        .map(|number| State { knows: 1 << (schedule.rank_of(number) % 64), ..State::default() })
        .collect();
    let mut waits: Vec<u32> = (0..count).map(|number| schedule.waits(number)).collect();
    let mut ready: VecDeque<u32> = (0..count).filter(|&it| waits[it as usize] == 0).collect();
    let (mut arrived, mut posted) = (Queues::new(), Queues::new());
    let mut carried = Carried {
        knows: (0..ranks).map(|rank| 1 << (rank % 64)).collect(),
        rounds: 0,
        busy: 0,
        sent: vec![0; ranks as usize],
        received: vec![0; ranks as usize],
        messages: 0,
    };
    let mut ended = 0;
    while let Some(number) = ready.pop_front() {
        let operation = schedule.operation(number);
        let rank = schedule.rank_of(number);
        // A send ends at once, a receive with its message.
        let mut ends = Vec::new();
        match operation.action {
            Action::Remote(_) => unreachable!("what is made in has no one-sided operations"),
            Action::Compute => {
                states[number as usize].busy += operation.amount;
                ends.push(number);
            }
            Action::Send => {
                carried.sent[rank as usize] += operation.amount;
                carried.messages += 1;
                ends.push(number);
                let key = (rank, operation.peer, operation.tag);
                match posted.get_mut(&key).and_then(VecDeque::pop_front) {
                    Some(receive) => ends.extend(meet(schedule, &mut states, number, receive)),
                    None => arrived.entry(key).or_default().push_back(number),
                }
            }
            Action::Receive => {
                carried.received[rank as usize] += operation.amount;
                let key = (operation.peer, rank, operation.tag);
                match arrived.get_mut(&key).and_then(VecDeque::pop_front) {
                    Some(send) => ends.extend(meet(schedule, &mut states, send, number)),
                    None => posted.entry(key).or_default().push_back(number),
                }
            }
        }
        for number in ends {
            ended += 1;
            let state = states[number as usize];
            carried.knows[schedule.rank_of(number) as usize] |= state.knows;
            carried.rounds = carried.rounds.max(state.rounds);
            carried.busy = carried.busy.max(state.busy);
            for (dependant, until) in schedule.dependants(number) {
                assert_eq!(until, Until::Done);
                states[dependant as usize].join(state);
                waits[dependant as usize] -= 1;
                if waits[dependant as usize] == 0 {
                    ready.push_back(dependant);
                }
            }
        }
    }
    assert_eq!(ended, count, "it does not come to an end");
    assert!(arrived.values().all(VecDeque::is_empty), "messages are left");
    carried
}

/// A message meets its receive, which ends.
fn meet(schedule: &Schedule, states: &mut [State], send: u32, receive: u32) -> Option<u32> {
    let sizes = [send, receive].map(|number| schedule.operation(number).amount);
    assert_eq!(sizes[0], sizes[1], "{}, {}", schedule.describe(send), schedule.describe(receive));
    let state = states[send as usize];
    states[receive as usize].join(State { rounds: state.rounds + 1, ..state });
    Some(receive)
}
