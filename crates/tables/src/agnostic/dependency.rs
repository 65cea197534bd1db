//! A set of channel dependencies without a cycle.
//!
//! The channels are kept in an order in which each comes before those that depend on it being left:
//! only where a new dependency runs against the order is there anything to search
//! (\[topological-order\]). Taking dependencies out leaves the order valid.

use super::graph::Graph;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, NONE};

/// Dependencies from a channel to one behind it that close no cycle.
#[derive(Clone)]
pub(super) struct Dependencies<'a> {
    graph: &'a Graph,
    /// 64-bit words that a router's ports take.
    words: usize,
    /// By channel, a bit for each output port behind it.
    onward: Vec<u64>,
    /// By channel, a bit for each input port before it.
    back: Vec<u64>,
    /// A dependency leads to a higher rank.
    rank: Vec<u32>,
    /// Marks of the two searches, by channel: the number of the search.
    mark: Vec<u32>,
    searches: u32,
    ahead: Vec<Channel>,
    behind: Vec<Channel>,
    /// Channels with their ranks in front.
    sorted: Vec<u64>,
    added: Vec<(Channel, Channel)>,
    #[cfg(test)]
    colours: Colours,
}

/// The first of the layers in which what a path needs closes no cycle, where it is then; a new
/// layer if there is none.
pub(super) fn first_layer<'a, 'b, I: Iterator<Item = &'b [Channel]>>(
    layers: &mut Vec<Dependencies<'a>>,
    graph: &'a Graph,
    windows: impl Fn() -> I,
) -> usize {
    let place = layers.iter_mut().position(|layer| layer.insert_all(windows()));
    place.unwrap_or_else(|| {
        let mut layer = Dependencies::new(graph);
        let fits = layer.insert_all(windows());
        assert!(fits, "a path that ends closes no cycle");
        layers.push(layer);
        layers.len() - 1
    })
}

impl<'a> Dependencies<'a> {
    /// No dependencies.
    pub(super) fn new(graph: &'a Graph) -> Self {
        let slots = graph.slots();
        let ports = graph.all_routers().map(|router| graph.ports(router)).max();
        let words = ports.unwrap_or(0).div_ceil(64).max(1);
        Self {
            graph,
            words,
            onward: vec![0; slots * words],
            back: vec![0; slots * words],
            rank: graph.all_channels().collect(),
            mark: vec![0; slots],
            searches: 0,
            ahead: Vec::new(),
            behind: Vec::new(),
            sorted: Vec::new(),
            added: Vec::new(),
            #[cfg(test)]
            colours: Colours::new(slots),
        }
    }

    /// Whether the dependency is there.
    #[inline]
    pub(super) fn has(&self, from: Channel, to: Channel) -> bool {
        let port = usize::from(self.graph.port(to));
        self.onward[from as usize * self.words + port / 64] >> (port % 64) & 1 == 1
    }

    /// How many dependencies there are.
    pub(super) fn count(&self) -> u64 {
        self.onward.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    /// Whether the dependency of the channel that comes in by an input port is there.
    #[inline]
    pub(super) fn has_from_port(&self, port: u32, to: Channel) -> bool {
        let word = self.back[to as usize * self.words + port as usize / 64];
        word >> (port % 64) & 1 == 1
    }

    /// The first input port from `start` on by which a channel comes in whose dependency is there.
    #[inline]
    pub(super) fn next_input(&self, to: Channel, start: u32) -> Option<u32> {
        let words = &self.back[to as usize * self.words..][..self.words];
        let mut mask = u64::MAX << (start % 64);
        for (word, bits) in words.iter().enumerate().skip(start as usize / 64) {
            let bits = bits & mask;
            if bits != 0 {
                return Some(64 * narrow::<u32>(word) + bits.trailing_zeros());
            }
            mask = u64::MAX;
        }
        None
    }

    /// Adds a dependency, unless it closes a cycle: then it returns false.
    pub(super) fn insert(&mut self, from: Channel, to: Channel) -> bool {
        self.has(from, to) || self.insert_new(from, to)
    }

    /// Adds a dependency that is not there yet, like [`Self::insert`].
    pub(super) fn insert_new(&mut self, from: Channel, to: Channel) -> bool {
        let is_against = self.rank[from as usize] > self.rank[to as usize];
        #[cfg(test)]
        self.colours.note(from, to, is_against);
        if is_against && !self.reorder(from, to) {
            return false;
        }
        #[cfg(test)]
        self.colours.merge(from, to);
        self.flip(from, to);
        true
    }

    /// Adds dependencies, each a window of two channels, unless one of them closes a cycle: then it
    /// adds none and returns false.
    pub(super) fn insert_all<'b>(&mut self, windows: impl Iterator<Item = &'b [Channel]>) -> bool {
        let mut added = std::mem::take(&mut self.added);
        added.clear();
        let mut fits = true;
        for window in windows {
            let (from, to) = (window[0], window[1]);
            if self.has(from, to) {
                continue;
            }
            if !self.insert(from, to) {
                fits = false;
                break;
            }
            added.push((from, to));
        }
        if !fits {
            for &(from, to) in &added {
                self.remove(from, to);
            }
        }
        self.added = added;
        fits
    }

    /// Takes out a dependency that is there.
    pub(super) fn remove(&mut self, from: Channel, to: Channel) {
        self.flip(from, to);
    }

    #[inline]
    fn flip(&mut self, from: Channel, to: Channel) {
        let out = usize::from(self.graph.port(to));
        self.onward[from as usize * self.words + out / 64] ^= 1 << (out % 64);
        let into = usize::from(self.graph.port(self.graph.opposite(from)));
        self.back[to as usize * self.words + into / 64] ^= 1 << (into % 64);
    }

    /// Whether a dependency would close a cycle.
    pub(super) fn closes_cycle(&mut self, from: Channel, to: Channel) -> bool {
        self.rank[from as usize] > self.rank[to as usize] && self.leads_to(to, from)
    }

    /// Searches from a channel for another of a higher rank; those that it meets on the way are in
    /// `ahead`.
    fn leads_to(&mut self, start: Channel, end: Channel) -> bool {
        let high = self.rank[end as usize];
        self.searches += 1;
        self.ahead.clear();
        self.ahead.push(start);
        self.mark[start as usize] = self.searches;
        let mut place = 0;
        while let Some(&channel) = self.ahead.get(place) {
            place += 1;
            let first = self.graph.first(self.graph.target(channel));
            for word in 0..self.words {
                let first = first + narrow::<u32>(64 * word);
                let mut bits = self.onward[channel as usize * self.words + word];
                while bits != 0 {
                    let next = first + bits.trailing_zeros();
                    bits &= bits - 1;
                    if next == end {
                        return true;
                    }
                    if self.rank[next as usize] < high && self.mark[next as usize] != self.searches
                    {
                        self.mark[next as usize] = self.searches;
                        self.ahead.push(next);
                    }
                }
            }
        }
        false
    }

    /// Changes the order so that `from` comes before `to`; false if `from` can be reached from
    /// `to`.
    fn reorder(&mut self, from: Channel, to: Channel) -> bool {
        if self.leads_to(to, from) {
            return false;
        }
        let low = self.rank[to as usize];
        self.behind.clear();
        self.behind.push(from);
        self.mark[from as usize] = self.searches;
        let mut place = 0;
        while let Some(&channel) = self.behind.get(place) {
            place += 1;
            let first = self.graph.first(self.graph.source(channel));
            for word in 0..self.words {
                let first = first + narrow::<u32>(64 * word);
                let mut bits = self.back[channel as usize * self.words + word];
                while bits != 0 {
                    let port = first + bits.trailing_zeros();
                    bits &= bits - 1;
                    let next = self.graph.opposite(port);
                    if self.rank[next as usize] > low && self.mark[next as usize] != self.searches {
                        self.mark[next as usize] = self.searches;
                        self.behind.push(next);
                    }
                }
            }
        }
        let Self { rank, ahead, behind, sorted, .. } = self;
        let key = |&at: &Channel| u64::from(rank[at as usize]) << 32 | u64::from(at);
        sorted.clear();
        sorted.extend(behind.iter().chain(&*ahead).map(key));
        let middle = behind.len();
        sorted[..middle].sort_unstable();
        sorted[middle..].sort_unstable();
        // They share their ranks: the lowest ones go to those behind.
        let (mut one, mut other) = (0, middle);
        for &channel in &*sorted {
            let lower = other == sorted.len() || one < middle && sorted[one] < sorted[other];
            let next = if lower { &mut one } else { &mut other };
            rank[narrow::<usize>(channel & u64::from(u32::MAX))] = narrow(sorted[*next] >> 32);
            *next += 1;
        }
        true
    }
}

/// Numbers for all pairs of a channel and one behind it.
pub(super) struct Numbering {
    /// Ports behind the channels before this one.
    before: Vec<u32>,
}

impl Numbering {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut before = Vec::with_capacity(graph.slots() + 1);
        before.push(0);
        let mut sum = 0;
        for channel in graph.all_channels() {
            let target = graph.target(channel);
            sum += if target == NONE { 0 } else { narrow(graph.ports(target)) };
            before.push(sum);
        }
        Self { before }
    }

    /// How many numbers there are.
    pub(super) fn count(&self) -> usize {
        self.before[self.before.len() - 1] as usize
    }

    #[inline]
    pub(super) fn number(&self, from: Channel, port: u16) -> usize {
        self.before[from as usize] as usize + usize::from(port)
    }
}

/// The colours of \[nue\] (omega), to compare: channels that dependencies connect have one
/// colour, and a dependency between two colours closes no cycle.
#[cfg(test)]
#[derive(Clone)]
struct Colours(Vec<Channel>);

/// New dependencies, and how many of them have to be searched for a cycle.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checks {
    pub new: u64,
    pub by_order: u64,
    pub by_colours: u64,
}

#[cfg(test)]
thread_local! {
    pub(super) static CHECKS: std::cell::Cell<Checks> = std::cell::Cell::default();
}

#[cfg(test)]
impl Colours {
    fn new(slots: usize) -> Self {
        Self((0..narrow(slots)).collect())
    }

    fn of(&mut self, channel: Channel) -> Channel {
        let mut at = channel;
        while self.0[at as usize] != at {
            self.0[at as usize] = self.0[self.0[at as usize] as usize];
            at = self.0[at as usize];
        }
        at
    }

    fn note(&mut self, from: Channel, to: Channel, is_against: bool) {
        let by_colours = u64::from(self.of(from) == self.of(to));
        CHECKS.set({
            let Checks { new, by_order, by_colours: before } = CHECKS.get();
            Checks {
                new: new + 1,
                by_order: by_order + u64::from(is_against),
                by_colours: before + by_colours,
            }
        });
    }

    fn merge(&mut self, from: Channel, to: Channel) {
        let (one, other) = (self.of(from), self.of(to));
        self.0[one as usize] = other;
    }
}
