//! What fails on the way, and what comes of it, in both models of links.

use std::collections::{BTreeSet, VecDeque};

use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;
use flitlab_routing::Routes;

/// How often it is looked whether the network is empty.
pub const LOOK: Picoseconds = Picoseconds(100_000);

/// What fails at a time, and by what packets go from another one on, unless more fails until then.
#[derive(Debug)]
pub struct Failure {
    pub at: Picoseconds,
    pub ready: Picoseconds,
    /// The fabric without what fails, and what has failed before; the numbers are the same.
    pub left: Fabric,
    /// Of the kind of those before.
    pub routes: Routes,
}

impl Failure {
    /// Whether a terminal's router has failed by then.
    pub fn takes(&self, terminal: u32) -> bool {
        self.left.terminal_router(terminal).is_none()
    }
}

/// The failures whose routes are made to their end, since no other one comes before.
pub fn made(failures: &[Failure]) -> impl Iterator<Item = &Failure> {
    let nexts = failures.iter().skip(1).map(Some).chain([None]);
    let made = failures.iter().zip(nexts);
    let made = made.filter(|(it, next)| next.is_none_or(|next| next.at > it.ready));
    made.map(|(it, _)| it)
}

/// The failures of a run, and how far it has come with them.
#[derive(Default)]
pub struct Failures<'a> {
    all: &'a [Failure],
    /// How many have happened.
    happened: usize,
    /// How many the routes in use know of.
    known: usize,
    /// Routes that are being made, or wait until they come into use: when they are ready, and how
    /// many failures they know of.
    made: VecDeque<(Picoseconds, usize)>,
    /// When it is looked whether the network is empty, while no source injects anything.
    look: Option<Picoseconds>,
}

impl<'a> Failures<'a> {
    pub fn new(all: &'a [Failure]) -> Self {
        Self { all, ..Self::default() }
    }

    /// The failure that happens now, and the one before it.
    pub fn happens(&mut self, now: Picoseconds) -> Option<(&'a Failure, Option<&'a Failure>)> {
        let failure = self.all.get(self.happened).filter(|failure| failure.at == now)?;
        let before = self.happened.checked_sub(1).map(|before| &self.all[before]);
        self.happened += 1;
        // Routes that are still being made are begun anew.
        self.made.retain(|(ready, _)| *ready < now);
        self.made.push_back((failure.ready, self.happened));
        Some((failure, before))
    }

    /// Whether sources pause, after all else that happens now.
    pub fn pause(&mut self, now: Picoseconds) -> bool {
        if self.look.is_none() && self.made.front().is_some_and(|(ready, _)| *ready <= now) {
            self.look = Some(now);
        }
        self.look.is_some()
    }

    /// Whether it is looked now whether the network is empty.
    pub fn looks(&self, now: Picoseconds) -> bool {
        self.look == Some(now)
    }

    /// The network was not empty: the time at which it is looked again.
    pub fn look_later(&mut self, now: Picoseconds) -> Picoseconds {
        self.look = Some(now + LOOK);
        now + LOOK
    }

    /// The network was empty: the failure whose routes come into use.
    pub fn change(&mut self) -> &'a Failure {
        self.look = None;
        self.known = self.made.pop_front().expect("routes are ready").1;
        &self.all[self.known - 1]
    }

    /// How many failures the routes in use know of.
    pub fn known(&self) -> usize {
        self.known
    }

    /// Whether a message between two terminals can't be sent now: its source has failed, or the
    /// routes in use know that its destination has.
    pub fn cut_off(&self, (source, destination): (u32, u32), now: Picoseconds) -> bool {
        let dead = self.all.iter().any(|failure| failure.at < now && failure.takes(source));
        dead || self.known > 0 && self.all[self.known - 1].takes(destination)
    }
}

/// What has come of failures, or of packets that were dropped.
#[derive(Default)]
pub struct Losses {
    /// Packets that had been begun.
    pub packets: u64,
    /// By their numbers.
    pub messages: BTreeSet<usize>,
    /// Those of which nothing more is under way or will be sent.
    ended: BTreeSet<usize>,
    /// By failure.
    pub by_failure: Vec<Effects>,
}

/// What has come of a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effects {
    /// Packets of which a flit had been sent, and which had not been delivered, when it failed.
    pub under_way: u64,
    /// Packets and messages lost from then on, until the next failure.
    pub packets: u64,
    pub messages: u64,
    /// When the sources went on with routes that know of it.
    pub resumed: Option<Picoseconds>,
}

impl Losses {
    /// A packet of this message is lost, which had been begun.
    pub fn packet(&mut self, message: usize) {
        self.packets += 1;
        self.messages.insert(message);
        self.by_failure.last_mut().into_iter().for_each(|it| it.packets += 1);
    }

    /// Nothing more comes of a message that is lost.
    pub fn end(&mut self, message: usize) {
        self.messages.insert(message);
        if self.ended.insert(message) {
            self.by_failure.last_mut().into_iter().for_each(|it| it.messages += 1);
        }
    }

    /// Sources go on with routes that know of so many failures.
    pub fn resume(&mut self, known: usize, now: Picoseconds) {
        let late = self.by_failure.iter_mut().take(known).filter(|it| it.resumed.is_none());
        late.for_each(|it| it.resumed = Some(now));
    }
}
