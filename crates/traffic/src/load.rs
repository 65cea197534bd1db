//! Traffic that goes on for ever at an offered load.
//!
//! All flits that a node causes to be injected count as its load: headers and checksums too, and
//! for a read the request's and the response's, though the response is injected elsewhere. The load
//! is the mean over the live terminals that send; silent ones neither get any nor count.

use std::ops::Range;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::interval::simplest_fraction;
use super::process::Period;
use super::{
    Access, Arrivals, Created, Interval, LoadSpec, Message, MessageKind, MessageSizes, OfferedLoad,
    Pattern, PatternError, Process, Workload, restored, saved,
};
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Bytes, Picoseconds};
use flitlab_fabric::Fabric;
use flitlab_model::workload::boxed;

const MIN_FRACTION: f64 = 1e-9;
const MAX_FRACTION: f64 = 1e3;
const PICOSECONDS_A_SECOND: u64 = 1_000_000_000_000;

/// Why traffic can't be bound to a fabric and its parameters. All of these are the user's mistakes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The pattern can't be bound to the fabric.
    #[error("{0}")]
    Pattern(#[from] PatternError),
    /// The fraction is outside 10^-9 to 1000.
    #[error("a load must be between {MIN_FRACTION:e} and {MAX_FRACTION}, not {0}")]
    Fraction(f64),
    /// A payload rate, but messages without payload.
    #[error("a payload rate needs messages of at least one byte")]
    NoPayload,
    /// The request has more bytes than a request can have.
    #[error("a read request has at most {} bytes, not {}", u32::MAX, .0.0)]
    Request(Bytes),
    /// A node would have to create more than one message a flit time of a network channel.
    #[error(
        "node {node} would create {messages:.3} messages a flit time of a link and one is the most: offer less or \
         make the messages larger"
    )]
    TooFast {
        /// The node.
        node: u32,
        /// Messages a flit time that it would create; above 1.
        messages: f64,
    },
}

/// How many messages of a terminal are drawn at a time.
const BLOCK: usize = 16;

/// Streams of what is drawn for a message when it is created: a terminal's is this one more than its
/// number.
const LATE_STREAM: u64 = 1 << 34;

/// Words of a terminal's random stream for each message, several times what patterns draw. So it is
/// known where those of a block start, and no terminal has to keep its generator.
const WORDS: u128 = 16;

/// Messages of a terminal that have been drawn: as many as a block has, from a multiple of this
/// number on.
#[derive(Clone, Debug)]
struct Terminal {
    /// The number of its next message, which is in the block.
    index: u64,
    /// The draws of [`Arrivals::draw_block`] for each.
    drawn: [u64; BLOCK],
    destinations: [u32; BLOCK],
}

impl Terminal {
    const NEW: Self = Self { index: 0, drawn: [0; BLOCK], destinations: [0; BLOCK] };

    /// The next message's place in the block.
    #[inline]
    fn place(&self) -> usize {
        narrow(self.index % BLOCK as u64)
    }
}

/// The rates of a load, each a mean over the terminals that send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadRates {
    /// Offered load as a fraction of the fabric's capacity.
    pub fraction: f64,
    /// Offered payload in bytes a second a node.
    pub payload: f64,
    /// Offered flits a node in the time one flit takes on a network channel.
    pub flits: f64,
    /// Offered messages a node in that time.
    pub messages: f64,
    /// Whether messages are created at random times.
    pub random: bool,
    /// The highest fraction of the capacity at which every source can create its messages, of which
    /// it has at most one in that time. Infinity where nothing bounds it.
    pub highest_fraction: f64,
    /// The mean time after which the process of a source begins anew, or the pattern if that takes
    /// longer, as [`Process::cycle`](super::Process::cycle) and [`Pattern::cycle`].
    pub cycle: Picoseconds,
}

/// Traffic at an offered load, under way: creates the messages of each terminal, independently of
/// the others: they depend on the specification, the seed and the terminal's number only. Takes 200
/// bytes a terminal, and 64 more where messages have several sizes.
#[derive(Clone, Debug)]
pub struct OpenLoad {
    pattern: Pattern,
    /// That of the pattern; 0 if the pattern stays.
    cycle: Picoseconds,
    /// Their payload; of a read the response's.
    pub sizes: MessageSizes,
    /// By terminal, the numbers of the sizes of the messages in its block; empty if all have one.
    drawn_sizes: Vec<[u32; BLOCK]>,
    /// By terminal, the period before and behind its block; empty if the process needs none.
    periods: Vec<[Period; 2]>,
    /// The kind of its messages.
    pub kind: MessageKind,
    /// One for all terminals, or one each if their rates differ.
    arrivals: Vec<Arrivals>,
    /// The seed of the generator; a terminal's number is the number of its stream.
    key: [u8; 32],
    /// The terminals from `first_terminal` on.
    terminals: Vec<Terminal>,
    first_terminal: u32,
    /// The rates at which the terminals that send offer messages.
    pub rates: LoadRates,
}

impl OpenLoad {
    /// Binds a specification to a fabric. `slot` is the time of a flit on a network channel and
    /// `flits_of` gives the flits of a message of so many bytes. The seed and a terminal's number
    /// give the terminal's random stream.
    ///
    /// # Errors
    /// If the pattern can't be bound to the fabric, the load is out of range, or a terminal would
    /// have to create more than one message a flit time of a network channel.
    ///
    /// # Panics
    /// As [`Arrivals::new`], if a period is too short.
    pub fn new(
        spec: &LoadSpec,
        fabric: &Fabric,
        slot: Picoseconds,
        flits_of: impl Fn(u64) -> u64,
        seed: u64,
    ) -> Result<Self, LoadError> {
        let pattern = Pattern::new(&spec.pattern, fabric, seed)?;
        let sizes = spec.message.clone();
        let (kind, request_flits) = match spec.access {
            Access::Write => (MessageKind::Data, 0),
            Access::Read { request } => {
                let size = u32::try_from(request.0).map_err(|_| LoadError::Request(request))?;
                (MessageKind::Read { request: size }, flits_of(request.0))
            }
        };
        let message_flits = sizes.mean_of(|bytes| (flits_of(bytes) + request_flits) as f64);
        let bytes = sizes.mean();
        let interval = match spec.load {
            OfferedLoad::Fraction(load) => {
                let exact = sizes.only().map(|bytes| flits_of(bytes) + request_flits);
                fraction_interval(load, fabric.capacity(), (exact, message_flits), slot)?
            }
            OfferedLoad::Payload(_) if sizes.largest() == 0 => return Err(LoadError::NoPayload),
            OfferedLoad::Payload(rate) => {
                let exact = sizes.only().and_then(|bytes| {
                    let bits = u128::from(bytes) * 8;
                    let numerator = bits.checked_mul(PICOSECONDS_A_SECOND.into())?;
                    Interval::new(numerator, u128::from(rate.0))
                });
                exact.unwrap_or_else(|| {
                    Interval::nearest(bytes * 8.0 * PICOSECONDS_A_SECOND as f64 / rate.0 as f64)
                })
            }
        };
        let arrivals = arrivals(spec, fabric, &pattern, slot, interval)?;
        let messages = slot.0 as f64 / interval.picoseconds();
        let flits = messages * message_flits;
        let (fraction, payload) = match spec.load {
            OfferedLoad::Fraction(load) => {
                (load, bytes * PICOSECONDS_A_SECOND as f64 / interval.picoseconds())
            }
            OfferedLoad::Payload(rate) => (flits / fabric.capacity(), rate.0 as f64 / 8.0),
        };
        let random = arrivals.iter().any(Arrivals::is_random);
        let most = fabric.live_terminals().map(|it| pattern.rate(it)).fold(0.0, f64::max);
        let highest_fraction = fraction / (messages * most * spec.process.peak());
        let cycle = spec.process.cycle().max(pattern.cycle());
        let terminals = fabric.terminals() as usize;
        let drawn_sizes = match sizes.only() {
            Some(_) => Vec::new(),
            None => vec![[0; BLOCK]; terminals],
        };
        let periods = match spec.process {
            Process::MarkovModulated { .. } => vec![[Period::default(); 2]; terminals],
            _ => Vec::new(),
        };
        Ok(Self {
            cycle: pattern.cycle(),
            pattern,
            sizes,
            drawn_sizes,
            periods,
            kind,
            arrivals,
            key: ChaCha8Rng::seed_from_u64(seed).get_seed(),
            terminals: vec![Terminal::NEW; terminals],
            first_terminal: 0,
            rates: LoadRates {
                fraction,
                payload,
                flits,
                messages,
                random,
                highest_fraction,
                cycle,
            },
        })
    }

    /// Draws the block in which a terminal's next message is. Returns the terminal.
    fn draw(&mut self, terminal: u32) -> &Terminal {
        let number = (terminal - self.first_terminal) as usize;
        let own = &mut self.terminals[number];
        let first = own.index - own.place() as u64;
        let mut random = ChaCha8Rng::from_seed(self.key);
        random.set_stream(terminal.into());
        random.set_word_pos(u128::from(first) * WORDS);
        if self.cycle == Picoseconds::ZERO {
            self.pattern.destinations(terminal, first, &mut random, &mut own.destinations);
        }
        let arrivals = of_terminal(&self.arrivals, terminal);
        let mut period = self.periods.get(number).map_or(Period::default(), |own| own[0]);
        arrivals.draw_block(first, &mut random, &mut own.drawn, &mut period);
        if let Some(own) = self.periods.get_mut(number) {
            own[1] = period;
        }
        if let Some(block) = self.drawn_sizes.get_mut(number) {
            block.fill_with(|| self.sizes.draw(&mut random));
        }
        own
    }

    /// Bytes that the load of so many terminals takes, about.
    pub fn memory_needed(spec: &LoadSpec, terminals: u32) -> u64 {
        let sizes = if spec.message.only().is_some() { 0 } else { size_of::<[u32; BLOCK]>() };
        u64::from(terminals) * (size_of::<Terminal>() + size_of::<Arrivals>() + sizes) as u64
    }

    /// The size of the message at hand of a terminal, by its number in the vectors here.
    #[inline]
    fn size(&self, number: usize) -> u64 {
        let drawn = self.drawn_sizes.get(number);
        self.sizes.at(drawn.map_or(0, |block| block[self.terminals[number].place()]))
    }

    /// Returns the pattern of sources and destinations.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }
}

impl Workload for OpenLoad {
    fn is_open(&self) -> bool {
        true
    }

    /// To be called once a terminal.
    fn first(&mut self, terminal: u32) -> Option<Picoseconds> {
        if !self.pattern.sends(terminal) {
            return None;
        }
        let drawn = self.draw(terminal).drawn[0];
        let time = of_terminal(&self.arrivals, terminal).first(drawn);
        Some(time).filter(within_reach)
    }

    /// # Panics
    /// If the terminal sends nothing.
    #[inline]
    fn create(&mut self, terminal: u32, now: Picoseconds) -> Created {
        let number = (terminal - self.first_terminal) as usize;
        let bytes = self.size(number);
        let own = &mut self.terminals[number];
        let mut destination = own.destinations[own.place()];
        if self.cycle > Picoseconds::ZERO {
            let mut random = ChaCha8Rng::from_seed(self.key);
            random.set_stream(LATE_STREAM + u64::from(terminal));
            random.set_word_pos(u128::from(own.index) * WORDS);
            destination = self.pattern.destination_at(terminal, own.index, now, &mut random);
        }
        own.index += 1;
        let (index, place) = (own.index, own.place());
        let drawn = if place == 0 {
            if let Some([before, behind]) = self.periods.get_mut(number) {
                *before = *behind;
            }
            self.draw(terminal).drawn[0]
        } else {
            own.drawn[place]
        };
        let next = of_terminal(&self.arrivals, terminal).next(now, index, drawn);
        let message = Message {
            time: now,
            source: terminal,
            destination,
            bytes,
            kind: self.kind,
            tag: 0,
            class: 0,
        };
        (Some(message), Some(next).filter(within_reach))
    }

    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64)) {
        self.sizes.for_each(|bytes, _| each(self.kind, bytes));
    }

    /// The numbers of the terminals' next messages, and the periods before their blocks.
    fn state(&self) -> Vec<u8> {
        let indices: Vec<u64> = self.terminals.iter().map(|terminal| terminal.index).collect();
        let periods: Vec<Period> = self.periods.iter().map(|own| own[0]).collect();
        saved(&(indices, periods))
    }

    fn resume(&mut self, state: &[u8]) -> bool {
        let Some((indices, periods)) = restored::<(Vec<u64>, Vec<Period>)>(state) else {
            return false;
        };
        if indices.len() != self.terminals.len() || periods.len() != self.periods.len() {
            return false;
        }
        for (own, period) in self.periods.iter_mut().zip(periods) {
            own[0] = period;
        }
        for (terminal, index) in (self.first_terminal..).zip(indices) {
            self.terminals[(terminal - self.first_terminal) as usize].index = index;
            if self.pattern.sends(terminal) {
                self.draw(terminal);
            }
        }
        true
    }

    fn split(mut self: Box<Self>, terminals: &[Range<u32>]) -> Vec<Box<dyn Workload>> {
        let mut all = std::mem::take(&mut self.terminals).into_iter();
        let mut sizes = std::mem::take(&mut self.drawn_sizes).into_iter();
        let mut periods = std::mem::take(&mut self.periods).into_iter();
        boxed(terminals.iter().map(|range| Self {
            terminals: all.by_ref().take(range.len()).collect(),
            drawn_sizes: sizes.by_ref().take(range.len()).collect(),
            periods: periods.by_ref().take(range.len()).collect(),
            first_terminal: range.start,
            ..(*self).clone()
        }))
    }

    /// Bytes on the heap.
    fn memory(&self) -> usize {
        self.pattern.memory()
            + self.sizes.memory()
            + self.drawn_sizes.capacity() * size_of::<[u32; BLOCK]>()
            + self.periods.capacity() * size_of::<[Period; 2]>()
            + self.arrivals.capacity() * size_of::<Arrivals>()
            + self.terminals.capacity() * size_of::<Terminal>()
    }
}

/// Whether a message of a load is ever created. Half of all times is 107 days; a load of next to
/// nothing gives later ones.
fn within_reach(time: &Picoseconds) -> bool {
    *time < Picoseconds::LAST / 2
}

#[inline]
fn of_terminal(arrivals: &[Arrivals], terminal: u32) -> &Arrivals {
    arrivals.get(terminal as usize).unwrap_or(&arrivals[0])
}

/// The process of all terminals, or of each one if their rates differ.
fn arrivals(
    spec: &LoadSpec,
    fabric: &Fabric,
    pattern: &Pattern,
    slot: Picoseconds,
    mean: Interval,
) -> Result<Vec<Arrivals>, LoadError> {
    let bind = |node: u32| {
        let interval = match pattern.rate(node) {
            1.0 => mean,
            rate => Interval::nearest(mean.picoseconds() / rate),
        };
        let messages = slot.0 as f64 / interval.picoseconds() * spec.process.peak();
        if messages > 1.0 {
            return Err(LoadError::TooFast { node, messages });
        }
        Ok(Arrivals::new(spec.process, slot, interval))
    };
    let senders = || fabric.live_terminals().filter(|&terminal| pattern.sends(terminal));
    let first = bind(senders().next().expect("a pattern has a sender"))?;
    if senders().all(|sender| pattern.rate(sender) == 1.0) {
        return Ok(vec![first]);
    }
    let mut each = vec![first; fabric.terminals() as usize];
    for sender in senders() {
        each[sender as usize] = bind(sender)?;
    }
    Ok(each)
}

/// The time between messages of so many flits at this fraction of the capacity (flits a slot). It is
/// exact if the flits are the same of all.
fn fraction_interval(
    load: f64,
    capacity: f64,
    (all_flits, mean_flits): (Option<u64>, f64),
    slot: Picoseconds,
) -> Result<Interval, LoadError> {
    if !(MIN_FRACTION..=MAX_FRACTION).contains(&load) {
        return Err(LoadError::Fraction(load));
    }
    let (load_over, load_under) = simplest_fraction(load);
    let (capacity_over, capacity_under) = simplest_fraction(capacity);
    let product = |factors: [u128; 4]| {
        factors.into_iter().try_fold(1u128, |product, factor| product.checked_mul(factor))
    };
    let exact = all_flits
        .and_then(|flits| product([slot.into(), flits.into(), load_under, capacity_under]))
        .zip(product([load_over, capacity_over, 1, 1]))
        .and_then(|(numerator, denominator)| Interval::new(numerator, denominator));
    let about = || Interval::nearest(slot.0 as f64 * mean_flits / (load * capacity));
    Ok(exact.unwrap_or_else(about))
}

#[cfg(test)]
mod tests;
