//! The state of a router that its visits read and write: a [`Cell`].
//!
//! A cell holds arrays by output, by input port and by buffer. A buffer is an input virtual
//! channel, counted by input port, then virtual channel. Routers of usual sizes have arrays of
//! fixed lengths ([`Fixed`]), for which a visit is compiled; [`AnySize`] has arrays of any length.
//! What other routers write is not here, but in the router's [inlets](super::inlets).

use std::fmt::Debug;
use std::ops::{Index, IndexMut};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::frame::tick::{NEVER, Tick, move_back};
use crate::network::NO_OUTPUT;
use crate::network::port::{AWAY, Input, NO_PORT, Output};
use crate::router::packet::vector::{Vector, least};
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_model::{ChannelKind, Stall};

/// What arrays of a cell hold.
pub(crate) trait Value: Copy + Debug + Send + Serialize + DeserializeOwned {}

impl<T: Copy + Debug + Send + Serialize + DeserializeOwned> Value for T {}

/// An array of a cell.
pub(crate) trait Array<T>:
    IndexMut<usize, Output = T> + AsRef<[T]> + AsMut<[T]> + Debug + Send + Serialize + DeserializeOwned
{
    /// An array of at least `length` equal values.
    fn filled(value: T, length: usize) -> Self;
}

/// An array of fixed length.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "T: Value", try_from = "Vec<T>", into = "Vec<T>")]
pub(crate) struct Values<T, const N: usize>([T; N]);

impl<T: Value, const N: usize> From<Values<T, N>> for Vec<T> {
    fn from(values: Values<T, N>) -> Self {
        values.0.into()
    }
}

impl<T, const N: usize> TryFrom<Vec<T>> for Values<T, N> {
    type Error = &'static str;

    fn try_from(values: Vec<T>) -> Result<Self, Self::Error> {
        values.try_into().map(Self).map_err(|_| "an array of another length")
    }
}

impl<T, const N: usize> Index<usize> for Values<T, N> {
    type Output = T;

    #[inline(always)]
    fn index(&self, place: usize) -> &T {
        &self.0[place]
    }
}

impl<T, const N: usize> IndexMut<usize> for Values<T, N> {
    #[inline(always)]
    fn index_mut(&mut self, place: usize) -> &mut T {
        &mut self.0[place]
    }
}

impl<T, const N: usize> AsRef<[T]> for Values<T, N> {
    #[inline(always)]
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const N: usize> AsMut<[T]> for Values<T, N> {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Value, const N: usize> Array<T> for Values<T, N> {
    fn filled(value: T, length: usize) -> Self {
        debug_assert!(length <= N);
        Self([value; N])
    }
}

impl<T: Value> Array<T> for Vec<T> {
    fn filled(value: T, length: usize) -> Self {
        vec![value; length]
    }
}

/// The size of a network's routers.
pub(crate) trait Shape: Debug + Send + 'static {
    /// Values by output, or by input port.
    type Ports<T: Value>: Array<T>;
    /// Values by buffer.
    type Buffers<T: Value>: Array<T>;
    /// Sets of buffers by output, each of [`Size::words`] words.
    type Sets: Array<u64>;

    /// What is known when a visit is compiled.
    const KNOWN: Option<Size>;

    /// A port or a buffer, in a form in which an array needs no check of its length.
    fn port(port: usize) -> usize;
    fn buffer(buffer: usize) -> usize;
}

/// The numbers of a router's ports and buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// At least the outputs, and the input ports.
    pub ports: usize,
    pub buffers: usize,
    /// Number of bits by which the input port is shifted in the number of a buffer; the lower bits
    /// hold the virtual channel.
    pub shift: u32,
    /// Words of a set of buffers.
    pub words: usize,
}

impl Size {
    pub(crate) const fn new(ports: usize, shift: u32) -> Self {
        let buffers = ports << shift;
        Self { ports, buffers, shift, words: buffers.div_ceil(64) }
    }

    /// Number of bits of a buffer's number in its router.
    #[inline(always)]
    pub(crate) const fn stride(self) -> u32 {
        self.buffers.next_power_of_two().trailing_zeros()
    }

    /// The ports and the shift of the least cells of fixed size that are large enough, unless they
    /// are to be of any size.
    fn fixed(self, any: bool) -> Option<(usize, u32)> {
        // Large cells would waste much memory where there are few virtual channels.
        let fits = |&(ports, shift): &(usize, u32)| {
            self.ports <= ports && (self.shift == shift || self.shift < shift && ports <= 16)
        };
        let sizes = [(8, 0), (8, 1), (8, 2), (16, 0), (16, 1), (16, 2), (32, 2), (64, 2)];
        sizes.into_iter().find(fits).filter(|_| !any)
    }
}

/// Up to `PORTS` ports and `BUFFERS` buffers, powers of two; all sets of buffers have `WORDS` words.
#[derive(Debug)]
pub(crate) struct Fixed<const PORTS: usize, const BUFFERS: usize, const WORDS: usize = PORTS>;

impl<const PORTS: usize, const BUFFERS: usize, const WORDS: usize> Shape
    for Fixed<PORTS, BUFFERS, WORDS>
{
    type Ports<T: Value> = Values<T, PORTS>;
    type Buffers<T: Value> = Values<T, BUFFERS>;
    type Sets = Values<u64, WORDS>;

    const KNOWN: Option<Size> = Some(Size::new(PORTS, (BUFFERS / PORTS).trailing_zeros()));

    #[inline(always)]
    fn port(port: usize) -> usize {
        port % PORTS
    }

    #[inline(always)]
    fn buffer(buffer: usize) -> usize {
        buffer % BUFFERS
    }
}

/// Any number of ports and buffers.
#[derive(Debug)]
pub(crate) struct AnySize;

impl Shape for AnySize {
    type Ports<T: Value> = Vec<T>;
    type Buffers<T: Value> = Vec<T>;
    type Sets = Vec<u64>;

    const KNOWN: Option<Size> = None;

    #[inline(always)]
    fn port(port: usize) -> usize {
        port
    }

    #[inline(always)]
    fn buffer(buffer: usize) -> usize {
        buffer
    }
}

/// In place of a [`Stall`]: no packet waits for the output.
pub(super) const NOT_STALLED: u8 = u8::MAX;

/// The output has a property: its channel belongs to a ring.
pub(super) const IN_RING: u8 = 1 << 0;
/// There is a buffer at its far end.
pub(super) const NEEDS_ROOM: u8 = 1 << 1;
/// A packet that is granted it is sent to the next router at once.
pub(super) const HANDS_ON: u8 = 1 << 2;
/// A packet that is granted it is sent by a link that may send it again.
pub(super) const REPEATS: u8 = 1 << 3;
/// It leads nowhere: a vacant port, or one that has failed.
pub(super) const DEAD: u8 = 1 << 4;
/// In place of [`HANDS_ON`]: it will fail, so a packet that is granted it may be cut.
pub(super) const WILL_FAIL: u8 = 1 << 5;

/// The state of a router.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
#[repr(C, align(64))]
pub(crate) struct Cell<S: Shape> {
    /// By output: the earliest time at which it can grant; [`NEVER`] at a vacant place.
    pub due: S::Ports<Tick>,
    /// By buffer: the time at which its head asks; [`NEVER`] if there is none, or if its request
    /// has not been computed.
    pub ask: S::Buffers<Tick>,
    /// By output: the time at which the last flit of the latest packet has left.
    pub free_at: S::Ports<Tick>,
    /// By output: the time since which packets wait for it; [`NEVER`] if none waits. While the
    /// output is busy this may lie ahead: then it is the time of the first request.
    pub since: S::Ports<Tick>,
    /// By output: the buffers whose heads ask for it now or soon, a bit each.
    pub requests: S::Sets,
    /// By buffer: the time at which the last flit of the latest packet that was sent from it has
    /// left; and the first packet in it, [`NONE`] if it is empty.
    pub left: S::Buffers<Tick>,
    pub head: S::Buffers<u32>,
    /// By input port: the time at which the latest packet that was granted an output has left.
    pub input_free_at: S::Ports<Tick>,
    /// By output: the far end, as one of the part's buffers for virtual channel 0, or with
    /// [`AWAY`] set as one of its far ends in other parts. For an ejection channel the terminal;
    /// [`NONE`] at a vacant port.
    pub far: S::Ports<u32>,
    /// By output: the place of its credits for virtual channel 0.
    pub room: S::Ports<u32>,
    /// By input port: the place of the sender's credits, for virtual channel 0; with [`AWAY`] set,
    /// an index into `remote_upstreams`.
    pub upstream: S::Ports<u32>,
    /// By buffer: the room that its head needs behind its output, in flits.
    pub need: S::Buffers<u16>,
    /// By output: the buffer at which round-robin arbitration starts.
    pub pointer: S::Ports<u16>,
    /// By input port: the output that continues the ring of its channel, and the output of the
    /// same cable in the other direction; [`NO_OUTPUT`] if there is none.
    pub ring_output: S::Ports<u16>,
    pub opposite: S::Ports<u16>,
    /// By output: its properties ([`IN_RING`] and others); and why packets wait for it
    /// ([`Stall`]).
    pub flags: S::Ports<u8>,
    pub stall: S::Ports<u8>,
    /// By output, and by input port: the index of its channel's timing in the network's.
    pub timing: S::Ports<u8>,
    pub input_timing: S::Ports<u8>,
    /// By input port: the port by which its channel leaves the router upstream.
    pub port: S::Ports<u8>,
    /// By buffer: the virtual channel that its head asks for; for a head with a choice that of its
    /// escape.
    pub out_vc: S::Buffers<u8>,
    /// The output at which the next allocation pass starts.
    pub next_output: u16,
}

impl<S: Shape> Cell<S> {
    /// An idle router without channels.
    pub(super) fn vacant(size: Size) -> Self {
        let Size { ports, buffers, words, .. } = size;
        Self {
            due: Array::filled(NEVER, ports),
            ask: Array::filled(NEVER, buffers),
            free_at: Array::filled(0, ports),
            since: Array::filled(NEVER, ports),
            requests: Array::filled(0, ports * words),
            left: Array::filled(0, buffers),
            head: Array::filled(NONE, buffers),
            input_free_at: Array::filled(0, ports),
            far: Array::filled(NONE, ports),
            room: Array::filled(0, ports),
            upstream: Array::filled(AWAY, ports),
            need: Array::filled(0, buffers),
            pointer: Array::filled(0, ports),
            ring_output: Array::filled(NO_OUTPUT, ports),
            opposite: Array::filled(NO_OUTPUT, ports),
            flags: Array::filled(DEAD, ports),
            stall: Array::filled(NOT_STALLED, ports),
            timing: Array::filled(0, ports),
            input_timing: Array::filled(0, ports),
            port: Array::filled(NO_PORT, ports),
            out_vc: Array::filled(0, buffers),
            next_output: 0,
        }
    }

    /// Sets what never changes of an output.
    pub(super) fn set_output(&mut self, output: usize, port: &Output, far: u32) {
        let flag = |flag: u8, has: bool| if has { flag } else { 0 };
        self.flags[output] = flag(IN_RING, port.in_ring)
            | flag(NEEDS_ROOM, port.needs_room)
            | flag(HANDS_ON, port.hands_on)
            | flag(REPEATS, port.repeats)
            | flag(DEAD, port.dead);
        (self.timing[output], self.room[output], self.far[output]) = (port.timing, port.room, far);
    }

    /// Sets what never changes of an input port.
    pub(super) fn set_input(&mut self, input: usize, port: &Input) {
        let &Input { upstream, timing, ring_output, opposite, port, .. } = port;
        (self.upstream[input], self.input_timing[input]) = (upstream, timing);
        (self.ring_output[input], self.opposite[input]) = (ring_output, opposite);
        self.port[input] = port;
    }

    /// An output of a channel between routers, or of an ejection channel; and its far end.
    pub(crate) fn output(&self, output: usize, is_network: bool) -> (Output, u32) {
        let has = |flag: u8| self.flags[output] & flag != 0;
        let port = Output {
            kind: if is_network { ChannelKind::Network } else { ChannelKind::Ejection },
            timing: self.timing[output],
            in_ring: has(IN_RING),
            dead: has(DEAD),
            needs_room: has(NEEDS_ROOM),
            hands_on: has(HANDS_ON) || has(WILL_FAIL),
            repeats: has(REPEATS),
            room: self.room[output],
            ..Output::VACANT
        };
        (port, self.far[output])
    }

    /// An input port.
    pub(crate) fn input(&self, input: usize, injects: bool) -> Input {
        Input {
            upstream: self.upstream[input],
            injects,
            timing: self.input_timing[input],
            ring_output: self.ring_output[input],
            opposite: self.opposite[input],
            port: self.port[input],
        }
    }

    /// One of the outputs that the head of a buffer has asked for, and the virtual channel and the
    /// room that it needs. A set of buffers has this many words.
    pub(crate) fn request(&self, buffer: usize, words: usize) -> Option<(u16, u8, u16)> {
        let (word, bit) = (buffer / 64, buffer % 64);
        let asks = |&output: &usize| self.requests[output * words + word] >> bit & 1 == 1;
        let output = (0..self.due.as_ref().len()).find(asks)?;
        Some((fitted!(output, u16), self.out_vc[buffer], self.need[buffer]))
    }

    /// Notes that an output will fail.
    pub(super) fn will_fail(&mut self, output: usize) {
        let flags = &mut self.flags[output];
        if *flags & HANDS_ON != 0 {
            *flags = *flags & !HANDS_ON | WILL_FAIL;
        }
    }

    /// Makes an output swallow what is sent to it.
    pub(crate) fn fail(&mut self, output: usize) {
        let flags = &mut self.flags[output];
        *flags = *flags & !(NEEDS_ROOM | HANDS_ON | WILL_FAIL | REPEATS) | DEAD;
    }

    /// Notes that an output's channel belongs to no ring any more.
    pub(crate) fn leave_ring(&mut self, output: usize) {
        self.flags[output] &= !IN_RING;
    }

    /// Notes the same of the channel that ends at an input port.
    pub(crate) fn end_ring(&mut self, input: usize) {
        self.ring_output[input] = NO_OUTPUT;
    }

    /// Bytes of a cell.
    pub(crate) fn bytes(Size { ports, buffers, words, .. }: Size) -> usize {
        let by_port = 7 * size_of::<u32>() + 3 * size_of::<u16>() + 5 + 8 * words;
        let by_buffer = 3 * size_of::<u32>() + size_of::<u16>() + 1;
        let apart = if S::KNOWN.is_some() { 0 } else { ports * by_port + buffers * by_buffer };
        size_of::<Self>() + apart
    }

    fn memory(&self) -> usize {
        let (ports, buffers) = (self.due.as_ref().len(), self.ask.as_ref().len());
        let words = self.requests.as_ref().len() / ports.max(1);
        Self::bytes(Size { ports, buffers, shift: 0, words })
    }

    /// Moves all ticks back, after the epoch has advanced by `by`.
    pub(crate) fn rebase(&mut self, by: Tick) {
        let Self { due, ask, free_at, since, left, input_free_at, .. } = self;
        for ticks in [due, free_at, since, input_free_at] {
            move_back(ticks.as_mut(), by);
        }
        for ticks in [ask, left] {
            move_back(ticks.as_mut(), by);
        }
    }

    /// Makes an output busy until a time. The packets that ask for it wait since the time `since`,
    /// if that is not [`NEVER`].
    #[inline(always)]
    pub(super) fn keep_busy(&mut self, output: usize, since: Tick, until: Tick) {
        let output = S::port(output);
        (self.free_at[output], self.since[output]) = (until, since);
        self.stall[output] = Stall::OutputBusy as u8;
        self.due[output] = if since == NEVER { NEVER } else { until.max(since) };
    }

    /// Makes an output due by `time`.
    #[inline(always)]
    pub(crate) fn lower(&mut self, output: usize, time: Tick) {
        let due = &mut self.due[S::port(output)];
        *due = (*due).min(time);
    }

    /// The earliest time at which an output can grant.
    #[inline(always)]
    pub(super) fn least_due<V: Vector>(&self) -> Tick {
        least::<V>(self.due.as_ref())
    }
}

/// The cells of a part's routers, which have one size: ports, and virtual channels if there are
/// several.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Cells {
    Eight(Vec<Cell<Fixed<8, 8>>>),
    EightTwo(Vec<Cell<Fixed<8, 16>>>),
    EightFour(Vec<Cell<Fixed<8, 32>>>),
    Sixteen(Vec<Cell<Fixed<16, 16>>>),
    SixteenTwo(Vec<Cell<Fixed<16, 32>>>),
    SixteenFour(Vec<Cell<Fixed<16, 64>>>),
    ThirtyTwoFour(Vec<Cell<Fixed<32, 128, 64>>>),
    SixtyFourFour(Vec<Cell<Fixed<64, 256, 256>>>),
    Any(Vec<Cell<AnySize>>),
}

/// An expression over the cells, whatever their size.
macro_rules! with_cells {
    ($cells:expr, $name:ident => $value:expr) => {
        match $cells {
            $crate::router::packet::cell::Cells::Eight($name) => $value,
            $crate::router::packet::cell::Cells::EightTwo($name) => $value,
            $crate::router::packet::cell::Cells::EightFour($name) => $value,
            $crate::router::packet::cell::Cells::Sixteen($name) => $value,
            $crate::router::packet::cell::Cells::SixteenTwo($name) => $value,
            $crate::router::packet::cell::Cells::SixteenFour($name) => $value,
            $crate::router::packet::cell::Cells::ThirtyTwoFour($name) => $value,
            $crate::router::packet::cell::Cells::SixtyFourFour($name) => $value,
            $crate::router::packet::cell::Cells::Any($name) => $value,
        }
    };
}
pub(crate) use with_cells;

impl Cells {
    /// Idle routers without channels, of these sizes, in the least cells that fit. The last one is
    /// at least as large as each. `any`: in cells of any size in any case.
    pub(super) fn vacant(sizes: &[Size], most: Size, any: bool) -> (Self, Size) {
        fn cells<S: Shape>(sizes: &[Size]) -> Vec<Cell<S>> {
            sizes.iter().map(|&size| Cell::vacant(S::KNOWN.unwrap_or(size))).collect()
        }
        match most.fixed(any) {
            Some((8, 0)) => (Self::Eight(cells(sizes)), Size::new(8, 0)),
            Some((8, 1)) => (Self::EightTwo(cells(sizes)), Size::new(8, 1)),
            Some((8, _)) => (Self::EightFour(cells(sizes)), Size::new(8, 2)),
            Some((16, 0)) => (Self::Sixteen(cells(sizes)), Size::new(16, 0)),
            Some((16, 1)) => (Self::SixteenTwo(cells(sizes)), Size::new(16, 1)),
            Some((16, _)) => (Self::SixteenFour(cells(sizes)), Size::new(16, 2)),
            Some((32, _)) => (Self::ThirtyTwoFour(cells(sizes)), Size::new(32, 2)),
            Some(_) => (Self::SixtyFourFour(cells(sizes)), Size::new(64, 2)),
            None => (Self::Any(cells(sizes)), most),
        }
    }

    /// Bytes of cells of these sizes, as [`vacant`](Self::vacant) makes them.
    pub(crate) fn bytes(sizes: impl Iterator<Item = Size>, most: Size, any: bool) -> usize {
        fn bytes<S: Shape>(sizes: impl Iterator<Item = Size>) -> usize {
            sizes.map(|size| Cell::<S>::bytes(size)).sum()
        }
        match most.fixed(any) {
            Some((8, 0)) => bytes::<Fixed<8, 8>>(sizes),
            Some((8, 1)) => bytes::<Fixed<8, 16>>(sizes),
            Some((8, _)) => bytes::<Fixed<8, 32>>(sizes),
            Some((16, 0)) => bytes::<Fixed<16, 16>>(sizes),
            Some((16, 1)) => bytes::<Fixed<16, 32>>(sizes),
            Some((16, _)) => bytes::<Fixed<16, 64>>(sizes),
            Some((32, _)) => bytes::<Fixed<32, 128, 64>>(sizes),
            Some(_) => bytes::<Fixed<64, 256, 256>>(sizes),
            None => bytes::<AnySize>(sizes),
        }
    }

    /// Bytes of the cells.
    pub(crate) fn memory(&self) -> usize {
        with_cells!(self, cells => cells.iter().map(Cell::memory).sum())
    }

    pub(crate) fn rebase(&mut self, by: Tick) {
        with_cells!(self, cells => cells.iter_mut().for_each(|cell| cell.rebase(by)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::packet::vector::Portable;

    #[test]
    fn an_output_is_due_when_it_is_free_and_a_packet_asks() {
        let mut cell = Cell::<AnySize>::vacant(Size::new(3, 1));
        assert_eq!(cell.least_due::<Portable>(), NEVER);
        cell.keep_busy(0, 80, 60);
        cell.keep_busy(1, NEVER, 50);
        cell.keep_busy(2, 20, 55);
        assert_eq!(*cell.due, [80, NEVER, 55], "the first asks later, for the second nobody does");
        cell.lower(1, 52);
        cell.lower(2, 99);
        assert_eq!((cell.least_due::<Portable>(), cell.due[2]), (52, 55));
        cell.rebase(54);
        assert_eq!(*cell.due, [26, 0, 1]);
    }
}
