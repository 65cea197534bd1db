//! Round robin: requests in turn, cyclic from behind the latest one that was served.
//!
//! The cyclic orders here also serve other arbitrations, the allocation of virtual channels, and
//! the order in which a router visits its outputs.

use super::{InputTurn, OutputTurn, PacketRequests, Span, Switch, SwitchCandidate, Turns};
use flitlab_base::narrow::fitted;

/// Whether an output is offered to one flit rather than to another: to that of the first port from
/// its pointer on, and of two of a port to that of the first queue from the port's pointer on.
#[inline(always)]
pub(super) fn is_offered(
    switch: &Switch<'_, impl Turns>,
    one: &SwitchCandidate,
    other: &SwitchCandidate,
) -> bool {
    if one.input == other.input {
        let InputTurn { pointer, .. } = switch.input_turn(one);
        return turn(one.of_port, pointer) < turn(other.of_port, pointer);
    }
    let OutputTurn { pointer, .. } = switch.output_turn(one);
    turn(one.input, pointer) < turn(other.input, pointer)
}

/// Whether an input port accepts the offer of one output rather than that of another: that of the
/// first from a pointer of its own.
#[inline(always)]
pub(super) fn is_accepted(
    switch: &Switch<'_, impl Turns>,
    one: &SwitchCandidate,
    other: &SwitchCandidate,
) -> bool {
    let InputTurn { accepts, .. } = switch.input_turn(one);
    turn(one.output, accepts) < turn(other.output, accepts)
}

/// The next span of requests in cyclic order, and the step behind it.
pub(super) fn next_span(requests: &PacketRequests<'_>, step: u32) -> Option<(Span, u32)> {
    let steps = fitted!(span_count(requests.set.len()), u32);
    (step..steps).find_map(|step| Some((span_between(requests, step, 0, u32::MAX)?, step + 1)))
}

/// Span `step` of the cyclic order, of which it has the requests in `low..high`; `None` if there
/// are none.
pub(super) fn span_between(
    requests: &PacketRequests<'_>,
    step: u32,
    low: u32,
    high: u32,
) -> Option<Span> {
    let BitSpan { word, mask, turn } =
        cyclic_span(requests.pointer, step as usize, requests.set.len());
    let base = fitted!(word, u32) * 64;
    let span = Span::new(base, turn, requests.set[word] & mask & bits_between(low, high, base));
    (!span.is_empty()).then_some(span)
}

/// Moves the pointers of a flit's ports behind the flit, which won in the first round or later.
/// `of_port` is the number of its queue among those of its input port. The output's pointer stays
/// if the arbitration [counts flits](super::counts_flits).
#[inline(always)]
pub(crate) fn pass_turn(
    (input, of_port, output): (u16, u16, u16),
    (of_input, of_output): (&mut InputTurn, &mut OutputTurn),
    (in_first_round, counts_flits): (bool, bool),
) {
    of_input.pointer = of_port + 1;
    if in_first_round {
        of_input.accepts = output + 1;
        if !counts_flits {
            of_output.pointer = input + 1;
        }
    }
}

/// The rank of a place in the cyclic order from a pointer on: places before the pointer come behind
/// all others.
#[inline(always)]
pub(crate) fn turn(place: u32, pointer: u16) -> u32 {
    place.wrapping_sub(pointer.into())
}

/// The first member of a set in cyclic order from a pointer on.
#[inline(always)]
pub(crate) fn first_from(set: u16, pointer: u32) -> Option<u32> {
    let from_pointer = if pointer < u16::BITS { set & (u16::MAX << pointer) } else { 0 };
    let first = if from_pointer != 0 { from_pointer } else { set };
    (first != 0).then(|| first.trailing_zeros())
}

/// A span of the cyclic order over a set of bits: the bits of word `word` in `mask`, cyclic from
/// bit `turn` on.
pub(crate) struct BitSpan {
    pub word: usize,
    pub mask: u64,
    pub turn: u32,
}

/// The number of spans of a cyclic order over `words` words.
#[inline]
pub(crate) fn span_count(words: usize) -> usize {
    if words == 1 { 1 } else { words + 1 }
}

/// Span `step` of the cyclic order over `words` words from bit `start` on. A single word is
/// rotated. Of several words, the first one is visited twice: first from `start` on, at last up to
/// `start`.
#[inline]
pub(crate) fn cyclic_span(start: u32, step: usize, words: usize) -> BitSpan {
    if words == 1 {
        return BitSpan { word: 0, mask: u64::MAX, turn: start % 64 };
    }
    // A start behind the last word is a start at the first bit.
    let start = if start as usize >= words * 64 { 0 } else { start };
    let first = start as usize / 64;
    let word = if first + step < words { first + step } else { first + step - words };
    let upper = u64::MAX << (start % 64);
    let mask = match step {
        0 => upper,
        _ if step == words => !upper,
        _ => u64::MAX,
    };
    BitSpan { word, mask, turn: 0 }
}

/// The bits of the word that begins at bit `base` that lie in `low..high`.
#[inline]
fn bits_between(low: u32, high: u32, base: u32) -> u64 {
    let below = |bound: u32| match bound.saturating_sub(base) {
        64.. => u64::MAX,
        bits => (1 << bits) - 1,
    };
    below(high) & !below(low)
}
