//! Packets that leave a buffer flit by flit, through a crossbar or by a channel, and the room that
//! they leave behind.

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;

/// A packet that crosses or is sent, one flit after the other.
pub struct Passage {
    pub packet: usize,
    /// The virtual channel to which it crosses or in which it is sent.
    pub virtual_channel: usize,
    pub flits: u32,
    /// How many of its flits have gone, and when the latest one of those went.
    pub gone: u32,
    latest: Picoseconds,
    /// When the last one will go: determined from the start, since whatever brings the flits was
    /// given to the whole packet.
    last: Picoseconds,
    /// The flit time of the channel to which, or by which it goes.
    pub flit_time: Picoseconds,
}

impl Passage {
    /// The passage of a packet whose flits go at these times, the first one of them now.
    pub fn new(
        packet: usize,
        virtual_channel: usize,
        times: &[Picoseconds],
        flit_time: Picoseconds,
    ) -> Self {
        let flits = times.len() as u32;
        let (latest, last) = (times[0], times[times.len() - 1]);
        Self { packet, virtual_channel, flits, gone: 0, latest, last, flit_time }
    }

    /// Whether the flit before has had its time, and there is a next one.
    pub fn is_due(&self, now: Picoseconds) -> bool {
        self.gone < self.flits && (self.gone == 0 || self.latest + self.flit_time <= now)
    }

    /// Notes that a flit goes now.
    pub fn go(&mut self, now: Picoseconds) {
        self.gone += 1;
        self.latest = now;
        if self.gone == self.flits {
            assert_eq!(now, self.last, "the last flit goes when it was to go");
        }
    }

    /// Whether the last flit has had its time.
    pub fn is_over(&self, now: Picoseconds) -> bool {
        self.gone == self.flits && self.latest + self.flit_time <= now
    }

    /// The times at which its flits go as the page counts them: each a flit time before the next.
    pub fn counted(&self) -> impl Iterator<Item = Picoseconds> {
        let &Self { last, flit_time, flits, .. } = self;
        (0..flits).rev().map(move |behind| last - flit_time * u64::from(behind))
    }

    /// How many of its flits have still to go.
    pub fn left(&self) -> u32 {
        self.flits - self.gone
    }
}

/// When flits go that are there at some times, if the first goes at one time, and each a flit time
/// after the one before at the soonest.
pub fn paced(there: &[Picoseconds], from: Picoseconds, flit_time: Picoseconds) -> Vec<Picoseconds> {
    let mut soonest = from;
    let pace = there.iter().map(|&there| {
        let goes = soonest.max(there);
        soonest = goes + flit_time;
        goes
    });
    pace.collect()
}

/// The room of flits that leave a buffer.
#[derive(Default)]
pub struct Leaving {
    /// Flits that have left, and whose room is not free yet.
    pub departed: u32,
    /// When room gets free, in order.
    frees: VecDeque<Picoseconds>,
}

impl Leaving {
    /// A packet begins to leave. Returns when room of its flits gets free.
    pub fn plan(&mut self, passage: &Passage) -> Vec<Picoseconds> {
        let frees: Vec<_> = passage.counted().map(|goes| goes + passage.flit_time).collect();
        assert!(self.frees.back().is_none_or(|&before| before <= frees[0]), "packets keep order");
        self.frees.extend(&frees);
        frees
    }

    /// For how many flits room gets free now.
    pub fn free(&mut self, now: Picoseconds) -> u32 {
        let mut flits = 0;
        while self.frees.front().is_some_and(|&free| free <= now) {
            let free = self.frees.pop_front();
            assert_eq!(free, Some(now), "no instant at which room gets free is left out");
            flits += 1;
        }
        assert!(flits <= self.departed, "room of a flit that is still there is not free");
        self.departed -= flits;
        flits
    }

    pub fn is_idle(&self) -> bool {
        self.departed == 0 && self.frees.is_empty()
    }
}
