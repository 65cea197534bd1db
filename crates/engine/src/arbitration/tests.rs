//! Each arbitration through the interface that the routers call: the requests of known sets and
//! pointers in the order in which they are tried, and the flits that win in a small switch.

use super::*;
use crate::network::small::{direction_order, torus};
use crate::network::vc_map::VcMap;
use Arbitration::{OldestFirst, Random, RoundRobin, TransitFirst, Weighted};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_model::{FlitSharing, Parameters, RouterKind};

/// The virtual channels of a port, as many as three bits number.
const VCS: u32 = 8;

/// A map with all virtual channels in use.
fn vc_map() -> VcMap {
    let routes = direction_order(&torus(&[4]));
    let kind = RouterKind::SharedLinks(FlitSharing::default());
    let parameters =
        Parameters { kind, virtual_channels: narrow::<u8>(VCS), ..Parameters::default() };
    VcMap::new(&routes, &[], &parameters, &Default::default(), false)
}

/// The requests of a set in the order in which an output tries them at an instant. Input virtual
/// channels from `first_injected` on are injection channels'.
fn tried(
    arbitration: Arbitration,
    set: &[u64],
    (pointer, first_injected): (u32, u32),
    instant: u64,
) -> Vec<u32> {
    let (vc_map, time, output) = (vc_map(), Picoseconds(instant), (3, 1));
    let requests =
        PacketRequests { set, pointer, first_injected, shift: 3, vc_map: &vc_map, time, output };
    let (mut tried, mut step) = (Vec::new(), 0);
    while let Some((span, next)) = next_span(arbitration, &requests, step) {
        tried.extend(span);
        step = next;
    }
    if set.len() == 1 && is_cyclic(arbitration) {
        assert!(Span::new(0, pointer % 64, set[0]).eq(tried.iter().copied()));
    }
    tried
}

/// The members of a set that lie in `low..high`, cyclic from `start` on.
fn cyclic(set: &[u64], start: u32, low: u32, high: u32) -> Vec<u32> {
    let bits = narrow::<u32>(set.len()) * 64;
    let members =
        |bit: &u32| set[*bit as usize / 64] >> (bit % 64) & 1 == 1 && (low..high).contains(bit);
    (start..bits).chain(0..start.min(bits)).filter(members).collect()
}

fn sets() -> [Vec<u64>; 5] {
    [
        vec![0],
        vec![0b1011_0001],
        vec![u64::MAX],
        vec![1 << 63 | 5, 1, 1 << 40 | 3],
        vec![0, u64::MAX, 0, 1 << 7],
    ]
}

#[test]
fn round_robin_tries_each_request_once_from_the_pointer_on() {
    assert_eq!(tried(RoundRobin, &[0b1011_0001], (5, 0), 0), [5, 7, 0, 4]);
    for set in &sets() {
        for start in 0..=narrow::<u32>(set.len()) * 64 {
            let order = tried(RoundRobin, set, (start, 16), 0);
            assert_eq!(order, cyclic(set, start, 0, u32::MAX), "from {start}");
        }
    }
}

#[test]
fn transit_goes_before_injection_with_one_pointer() {
    assert_eq!(tried(TransitFirst, &[0b1011_0001], (5, 5), 0), [0, 4, 5, 7]);
    for set in &sets() {
        for start in 0..=narrow::<u32>(set.len()) * 64 {
            for transit in [0, 5, 64, 70, 1000] {
                let order = tried(TransitFirst, set, (start, transit), 0);
                let mut expected = cyclic(set, start, 0, transit);
                expected.extend(cyclic(set, start, transit, u32::MAX));
                assert_eq!(order, expected, "from {start}, transit below {transit}");
            }
        }
    }
}

#[test]
fn a_random_order_has_each_request_once_whatever_the_pointer() {
    for set in &sets() {
        let order = tried(Random, set, (9, 0), 5000);
        assert_eq!(order, tried(Random, set, (40, 30), 5000));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, cyclic(set, 0, 0, u32::MAX));
    }
    let orders = [1, 2, 3].map(|instant| tried(Random, &[u64::MAX], (0, 0), instant));
    assert!(orders[0] != orders[1] && orders[1] != orders[2]);
}

#[test]
fn a_random_order_begins_with_each_request_equally_often() {
    let set = [1 << 3 | 1 << 17 | 1 << 60, 1 << 9];
    let mut first = [0; 128];
    for instant in 0..4000 {
        first[tried(Random, &set, (0, 0), 1000 * instant)[0] as usize] += 1;
    }
    // Five standard deviations of a binomial distribution are 137.
    for request in [3, 17, 60, 64 + 9] {
        assert!((863..1137).contains(&first[request]), "{request}: {}", first[request]);
    }
}

#[test]
fn arbitrations_say_what_they_need() {
    let all = [RoundRobin, TransitFirst, Random, OldestFirst, Weighted];
    assert_eq!(all.map(needs_shared_links), [false, false, false, true, true]);
    assert_eq!(all.map(is_cyclic), [true, false, false, false, false]);
    assert_eq!(all.map(by_age), [false, false, false, true, false]);
    assert_eq!(all.map(counts_flits), [false, false, false, false, true]);
}

/// A switch with four input ports, of which the last two are injection channels, and four outputs.
struct SmallSwitch {
    sharing: FlitSharing,
    vc_map: VcMap,
    inputs: Vec<InputTurn>,
    outputs: Vec<OutputTurn>,
    priorities: Vec<Priority>,
    /// By queue.
    ages: Vec<(Picoseconds, u32, u32)>,
}

impl Turns for SmallSwitch {
    fn of_input(&self, input: usize) -> InputTurn {
        self.inputs[input]
    }

    fn of_output(&self, output: usize) -> OutputTurn {
        self.outputs[output]
    }

    fn age(&self, queue: u32) -> (Picoseconds, u32, u32) {
        self.ages[queue as usize]
    }
}

impl SmallSwitch {
    fn new(sharing: FlitSharing) -> Self {
        Self {
            vc_map: vc_map(),
            inputs: vec![InputTurn::default(); 4],
            outputs: vec![OutputTurn::new(&sharing); 4],
            priorities: Priority::of_outputs(&sharing, 4),
            ages: Vec::new(),
            sharing,
        }
    }

    /// Adds a flit at queue `of_port` of an input port, for virtual channel `out_vc` of an output.
    fn flit(
        &mut self,
        (input, of_port): (u32, u32),
        (output, out_vc): (u32, u8),
    ) -> SwitchCandidate {
        let queue = narrow::<u32>(self.ages.len());
        self.ages.push((Picoseconds::ZERO, 0, 0));
        SwitchCandidate { queue, input, output, of_port, out_vc, is_out: false }
    }

    /// Adds a flit whose packet was created at a time, by a source, under a number.
    fn aged(&mut self, place: (u32, u32), age: (u64, u32, u32)) -> SwitchCandidate {
        let flit = self.flit(place, (0, 0));
        self.ages[flit.queue as usize] = (Picoseconds(age.0), age.1, age.2);
        flit
    }

    fn at(&self, arbitration: Arbitration, instant: u64) -> Switch<'_, Self> {
        Switch {
            arbitration,
            sharing: &self.sharing,
            vc_map: &self.vc_map,
            time: Picoseconds(instant),
            router: 3,
            transit: 2,
            first_input: 0,
            first_output: 0,
            priorities: &self.priorities,
            turns: self,
        }
    }

    /// The flits in the order in which an output prefers them.
    fn order<'c>(
        &self,
        arbitration: Arbitration,
        flits: &'c [SwitchCandidate],
        instant: u64,
    ) -> Vec<&'c SwitchCandidate> {
        let mut order: Vec<_> = flits.iter().collect();
        let switch = self.at(arbitration, instant);
        order.sort_by(|one, other| {
            switch.is_offered(other, one).cmp(&switch.is_offered(one, other))
        });
        order
    }

    /// The input ports and queues of flits in the order in which an output prefers them.
    fn places(&self, arbitration: Arbitration, flits: &[SwitchCandidate]) -> Vec<(u32, u32)> {
        let order = self.order(arbitration, flits, 0).into_iter();
        order.map(|flit| (flit.input, flit.of_port)).collect()
    }
}

#[test]
fn flits_are_offered_an_output_in_turn_by_port_then_queue() {
    let mut switch = SmallSwitch::new(FlitSharing::default());
    let flits = [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (3, 0), (3, 5)]
        .map(|place| switch.flit(place, (0, 0)));
    switch.outputs[0].pointer = 1;
    switch.inputs[1].pointer = 2;
    switch.inputs[3].pointer = 6;
    assert_eq!(
        switch.places(RoundRobin, &flits),
        [(1, 2), (1, 0), (1, 1), (2, 0), (3, 0), (3, 5), (0, 0)]
    );
    switch.outputs[0].pointer = 3;
    assert_eq!(
        switch.places(TransitFirst, &flits),
        [(0, 0), (1, 2), (1, 0), (1, 1), (3, 0), (3, 5), (2, 0)]
    );
}

#[test]
fn an_input_port_accepts_in_turn() {
    let mut switch = SmallSwitch::new(FlitSharing::default());
    let [one, other] = [1, 3].map(|output| switch.flit((0, 0), (output, 0)));
    for (accepts, first) in [(0, true), (1, true), (2, false), (3, false), (4, true)] {
        switch.inputs[0].accepts = accepts;
        for arbitration in [RoundRobin, TransitFirst, Random, Weighted] {
            let switch = switch.at(arbitration, 0);
            assert_eq!(switch.is_accepted(&one, &other), first);
            assert_eq!(switch.is_accepted(&other, &one), !first);
        }
    }
}

#[test]
fn pointers_move_behind_the_winner() {
    let (mut input, mut output) = (InputTurn::default(), OutputTurn::new(&FlitSharing::default()));
    let turns =
        |input: InputTurn, output: OutputTurn| (input.pointer, input.accepts, output.pointer);
    pass_turn((2, 4, 6), (&mut input, &mut output), (false, false));
    assert_eq!(turns(input, output), (5, 0, 0));
    pass_turn((2, 0, 6), (&mut input, &mut output), (true, true));
    assert_eq!(turns(input, output), (1, 7, 0));
    pass_turn((2, 4, 6), (&mut input, &mut output), (true, false));
    assert_eq!(turns(input, output), (5, 7, 3));
}

#[test]
fn a_random_flit_wins_equally_often() {
    let mut switch = SmallSwitch::new(FlitSharing::default());
    let flits = [(0, 0), (1, 1), (2, 2), (3, 3)]
        .map(|(input, out_vc)| switch.flit((input, 0), (0, out_vc)));
    let mut wins = [0; 4];
    for instant in 0..4000 {
        let order = switch.order(Random, &flits, 1000 * instant);
        wins[order[0].input as usize] += 1;
    }
    assert!(wins.iter().all(|wins| (863..1137).contains(wins)), "{wins:?}");
}

#[test]
fn the_oldest_packet_goes_first_then_the_lowest_source_then_the_lowest_number() {
    let mut switch = SmallSwitch::new(FlitSharing::default());
    let ages = [(7, 0, 0), (5, 2, 0), (5, 1, 9), (5, 1, 8), (3, 9, 9)];
    let flits: Vec<_> = (0..).zip(ages).map(|(place, age)| switch.aged((0, place), age)).collect();
    let oldest = [(0, 4), (0, 3), (0, 2), (0, 1), (0, 0)];
    assert_eq!(switch.places(OldestFirst, &flits), oldest);
    // Offers are accepted by age too, whatever the pointer.
    switch.inputs[0].accepts = 1;
    let switch = switch.at(OldestFirst, 0);
    let accepts = |one: usize, other: usize| switch.is_accepted(&flits[one], &flits[other]);
    assert!(accepts(1, 0) && accepts(2, 1) && accepts(3, 2) && !accepts(0, 4));
}

/// How many of `rounds` flits each virtual channel of an output sends if all have flits, of packets
/// of one flit, at any time.
fn sent_by_weights(sharing: FlitSharing, rounds: u32) -> [u32; 3] {
    let mut switch = SmallSwitch::new(sharing);
    let flits = [0, 1, 2].map(|out_vc| switch.flit((out_vc.into(), 0), (0, out_vc)));
    let mut sent = [0; 3];
    for _ in 0..rounds {
        let vc = switch.order(Weighted, &flits, 0)[0].out_vc;
        sent[usize::from(vc)] += 1;
        let turns = (&mut switch.outputs[0], switch.priorities.get_mut(0));
        let flit = SentFlit { vc, vcs: 3, is_last: true };
        count_flit(turns, &switch.sharing, flit);
    }
    sent
}

#[test]
fn virtual_channels_send_by_their_weights() {
    let weights = vec![1, 2, 5];
    let sharing = FlitSharing { weights, ..FlitSharing::default() };
    assert_eq!(sent_by_weights(sharing, 800), [100, 200, 500]);
}

#[test]
fn virtual_channels_of_high_priority_go_first_up_to_the_limit() {
    let sharing = FlitSharing {
        weights: vec![3, 0, 0],
        high_priority: vec![0, 1, 2],
        ..FlitSharing::default()
    };
    assert_eq!(sent_by_weights(sharing.clone(), 900), [0, 300, 600]);
    let limited = FlitSharing { high_priority_limit: Some(6), ..sharing };
    assert_eq!(sent_by_weights(limited, 700), [100, 200, 400]);
}
