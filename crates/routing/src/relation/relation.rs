//! The table of hops that packets may take next.

use super::{Phases, Targets};
use crate::{MAX_VCS, VirtualChannel};
use flitlab_base::memory::{Shortage, claim};
use flitlab_base::narrow::{fitted, narrow};
use flitlab_fabric::{Channel, Fabric, NONE};

/// The role of a hop in a ring of virtual channels that always has room for one of the largest
/// packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ring {
    /// The hop does not lead onto a ring.
    #[default]
    Off,
    /// The hop enters a ring, which needs room for one of the largest packets besides.
    Enters,
    /// The hop leads along a ring, from one place to the next.
    Along,
}

/// A hop that a packet may take: through an output port of the router that it is at, into a virtual
/// channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// The output port, numbered as in [`Fabric::outputs`].
    pub port: u16,
    /// The virtual channel, from 0.
    pub vc: u8,
    /// Whether the hop belongs to the escape (the routing subfunction of \[duato\]). Never set in
    /// relations that have none.
    pub escape: bool,
    /// Whether the hop begins a way that is longer than need be, which packets take like an escape:
    /// only where no other has room.
    pub detour: bool,
    /// Role of the hop in a ring; always [`Ring::Off`] in relations without one.
    pub ring: Ring,
    /// The phase in which the packet goes on; 0 in relations without [`Phases`].
    pub phase: u8,
    /// What the hop costs beside its queue, where packets [choose a port at its
    /// head](Relation::of_port): the detours that it adds, or the hops that are left by it; 0
    /// elsewhere. All hops of a list by one port have the same.
    pub label: u8,
    /// The classes of terminals to which packets take it, a bit each: a terminal of the
    /// destination's router is in the class of its number there modulo [`TERMINAL_CLASSES`].
    pub classes: u32,
}

/// Number of classes of a router's terminals that hops can distinguish.
pub const TERMINAL_CLASSES: u8 = 32;

/// The [classes](Hop::classes) of a hop that is for packets to all terminals.
pub const ALL_CLASSES: u32 = u32::MAX;

impl Hop {
    /// A hop that is neither escape nor detour, and is not of a ring.
    pub fn new(port: u16, vc: u8) -> Self {
        let (ring, classes) = (Ring::Off, ALL_CLASSES);
        Self { port, vc, escape: false, detour: false, ring, phase: 0, label: 0, classes }
    }

    /// Whether packets take the hop only where no other has room: escapes and detours.
    #[inline]
    pub fn is_fallback(&self) -> bool {
        self.escape || self.detour
    }
}

impl std::hash::Hash for Hop {
    /// Hashes one word, since the making of a relation mostly looks up lists of hops.
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let kind = (self.ring as u32) << 2 | u32::from(self.detour) << 1 | u32::from(self.escape);
        let vc = u32::from(self.phase) << 8 | u32::from(self.vc) << 4 | kind;
        let more = self.classes ^ u32::from(self.label);
        state.write_u64(u64::from(more) << 32 | u64::from(u32::from(self.port) << 16 | vc));
    }
}

/// The hops that packets may take next, by the place of their head and by the router of their
/// destination.
///
/// The place of a head is a *state* with a number:
/// - for arrival through channel c in virtual channel v, it is `c * vcs + v`
///   ([`arrived`](Self::arrived));
/// - for injection at router r, it is `channel_slots * vcs + r` ([`injected`](Self::injected)).
///
/// In a relation with [`Phases`] a state is a router and a phase ([`in_phase`](Self::in_phase)), and
/// packets may be bound for a group of routers on their way: a *target* is a router by its number,
/// or a group by its number behind those of all routers. Where hops depend on the source, it is a
/// pair of routers ([`Phases::target`]).
///
/// States that no packet for the destination can reach have no hops. States at the destination's
/// own router have none either: packets leave the network there.
///
/// Hops of a state are in ascending order of port, then virtual channel, each pair once. A packet
/// takes any one of them, except that [fallbacks](Hop::is_fallback) come last. A selection function
/// may prefer some. Many states have equal hops, which are stored once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    vcs: u8,
    /// Channel numbers, vacant ones included.
    channels: u32,
    states: u32,
    phases: Option<Phases>,
    /// Number of phases; 0 without any.
    phase_count: u32,
    /// By target: its place among the destinations, or [`NONE`].
    row: Vec<u32>,
    /// By destination's place times states plus state: the list of hops, 0 for the empty one.
    list: Vec<u32>,
    /// List `n` is `hops[starts[n]..starts[n + 1]]`.
    starts: Vec<u32>,
    hops: Vec<Hop>,
    has_escape: bool,
    has_detours: bool,
    /// By list of hops, if there is a ring: the list of packets that [stay on it](Self::staying).
    staying: Vec<u32>,
    /// By list of hops, if some are not for all [classes](Hop::classes): the first of the lists of
    /// the classes, which follow one another, or [`NONE`] of a list that is for all.
    by_class: Vec<u32>,
    /// By list of hops, if packets choose a port at its head: the first of the lists of its
    /// ports, which follow one another; none if they choose hop by hop.
    by_port: Vec<u32>,
    longest: u32,
}

/// After so many fallback hops a packet stays on the ring once it is there, until it arrives.
pub const MAX_FALLBACKS: u8 = 16;

impl Relation {
    /// Number of virtual channels of each physical channel.
    pub fn vcs(&self) -> u8 {
        self.vcs
    }

    /// Number of virtual channels into which some hop leads.
    pub fn vcs_used(&self) -> u8 {
        distinct_vcs(&self.hops)
    }

    /// Number of targets; their numbers are below it.
    pub(crate) fn targets(&self) -> u32 {
        narrow(self.row.len())
    }

    /// Whether packets may go by way of a target: a router with live terminals, or a group where
    /// they go by way of groups.
    #[inline]
    pub(crate) fn is_via(&self, target: u32) -> bool {
        let first = match self.phases.as_ref().map(|phases| &phases.targets) {
            Some(Targets::Groups(groups)) => groups.len(),
            _ => 0,
        };
        target as usize >= first && self.row.get(target as usize).is_some_and(|&row| row != NONE)
    }

    /// Number of states; their numbers are below it.
    pub fn states(&self) -> u32 {
        self.states
    }

    /// The state of a packet that is injected at a router, and that of one that waits there for its
    /// first hop.
    #[inline]
    pub fn injected(&self, router: u32) -> u32 {
        self.channels * u32::from(self.vcs) + router
    }

    /// The state of a packet whose head has arrived through a channel, in a virtual channel.
    #[inline]
    pub fn arrived(&self, channel: Channel, vc: u8) -> u32 {
        channel * u32::from(self.vcs) + u32::from(vc)
    }

    /// The state of a packet in a phase at a router. The relation must have phases.
    #[inline]
    pub fn in_phase(&self, router: u32, phase: u8) -> u32 {
        router * self.phase_count + u32::from(phase)
    }

    /// How packets pass from phase to phase, if their hops depend on a phase.
    #[inline]
    pub fn phases(&self) -> Option<&Phases> {
        self.phases.as_ref()
    }

    /// The channel and virtual channel that a packet in this state came through; `None` if it was
    /// injected, and in relations with phases.
    #[inline]
    pub fn place(&self, state: u32) -> Option<VirtualChannel> {
        let vcs = u32::from(self.vcs);
        let channel = state / vcs;
        (state < self.channels * vcs && self.phase_count == 0)
            .then(|| VirtualChannel { channel, vc: narrow(state % vcs) })
    }

    /// The router at which a packet in this state waits; `None` for a state of a vacant channel.
    pub fn router(&self, fabric: &Fabric, state: u32) -> Option<u32> {
        if let Some(router) = state.checked_div(self.phase_count) {
            return Some(router);
        }
        match self.place(state) {
            Some(place) => fabric.target(place.channel),
            None => Some(state - self.channels * u32::from(self.vcs)),
        }
    }

    /// The hops that a packet in this state may take next, to a terminal of this router, or to this
    /// target on its way there. None at the target itself, where no packet can come to be in this
    /// state, and where the router has no live terminals.
    #[inline]
    pub fn hops(&self, state: u32, target: u32) -> &[Hop] {
        self.hops_of_list(self.list(state, target))
    }

    /// The number of the [list](Self::hops_of_list) of the hops that a packet in this state may
    /// take next.
    #[inline]
    pub fn list(&self, state: u32, target: u32) -> u32 {
        match self.row[target as usize] {
            // List 0 is the empty one.
            NONE => 0,
            row => self.list[row as usize * self.states as usize + state as usize],
        }
    }

    /// Number of lists of hops; the lists are numbered from 0.
    pub fn lists(&self) -> u32 {
        narrow(self.starts.len() - 1)
    }

    /// The hops of a list.
    #[inline]
    pub fn hops_of_list(&self, list: u32) -> &[Hop] {
        let list = list as usize;
        &self.hops[self.starts[list] as usize..self.starts[list + 1] as usize]
    }

    /// Whether there is a ring.
    #[inline]
    pub fn has_ring(&self) -> bool {
        !self.staying.is_empty()
    }

    /// The list of a packet that stays on the ring, after [`MAX_FALLBACKS`], in place of this one:
    /// the hop along the ring alone. If the packet is not on the ring it is the list itself. The
    /// relation must have a ring.
    #[inline]
    pub fn staying(&self, list: u32) -> u32 {
        self.staying[list as usize]
    }

    /// The list of packets to terminals of a class, in place of this one.
    #[inline]
    pub fn of_class(&self, list: u32, class: u8) -> u32 {
        match self.by_class.get(list as usize) {
            None | Some(&NONE) => list,
            Some(first) => first + u32::from(class),
        }
    }

    /// The list of a packet that has chosen a port, by its place among those of this list: the hops
    /// by that port, and all fallbacks. Only where packets choose a port at its head.
    #[inline]
    pub fn of_port(&self, list: u32, place: u8) -> u32 {
        self.by_port[list as usize] + u32::from(place)
    }

    /// Whether some hops are for some [classes](Hop::classes) of terminals alone.
    pub fn has_classes(&self) -> bool {
        !self.by_class.is_empty()
    }

    /// The states in which packets for a destination router can be before they are there, each
    /// behind those to which its hops lead.
    pub fn states_towards(&self, fabric: &Fabric, destination: u32) -> Vec<u32> {
        let mut search = Search::new(self, (0..self.vcs).collect());
        search.run(fabric, self, &fabric.ends(), destination);
        let depth = |&state: &u32| search.depth[state as usize];
        let mut states: Vec<u32> = (0..self.states)
            .filter(|state| depth(state) != UNSEEN && !self.hops(*state, destination).is_empty())
            .collect();
        states.sort_by_key(depth);
        states
    }

    /// Whether some hops are marked as the escape.
    pub fn has_escape(&self) -> bool {
        self.has_escape
    }

    /// Whether some hops are marked as detours.
    pub fn has_detours(&self) -> bool {
        self.has_detours
    }

    /// The relation without the hops that are marked as detours. Every list of a rule's has hops
    /// that are none.
    pub fn without_detours(&self, fabric: &Fabric) -> Self {
        let (mut starts, mut hops) = (vec![0], Vec::new());
        for list in 0..self.lists() {
            hops.extend(self.hops_of_list(list).iter().filter(|hop| !hop.detour));
            starts.push(narrow(hops.len()));
        }
        let relation = Self { starts, hops, has_detours: false, ..self.clone() };
        Builder::of(fabric, relation).finish()
    }

    /// The relation after some channels have failed, and before a new one is made. All lists of this
    /// one keep their numbers, and so do those of `before`: of this relation after the earliest of
    /// these failures, if others came before the latest one.
    ///
    /// - Packets choose no failed channel where another hop is left to them.
    /// - Escapes stay, by failed channels too.
    /// - If failed channels alone are left to a packet, it takes one of them as an escape.
    pub(crate) fn avoiding(&self, fabric: &Fabric, failed: &[bool], before: Option<&Self>) -> Self {
        let before = before.unwrap_or(self);
        let mut left = Self { staying: Vec::new(), by_class: Vec::new(), ..before.clone() };
        // Lists whose hop along a ring is by a failed channel.
        let mut ending = Vec::new();
        // By router and list: the list in its place.
        let mut known = std::collections::HashMap::new();
        let states = self.states as usize;
        for state in 0..self.states {
            let Some(router) = self.router(fabric, state) else { continue };
            let channels = fabric.outputs(router);
            if !channels.clone().any(|channel| failed[channel as usize]) {
                continue;
            }
            for place in (state as usize..self.list.len()).step_by(states) {
                let list = self.list[place];
                left.list[place] = *known.entry((router, list)).or_insert_with(|| {
                    let hops = self.hops_of_list(list);
                    let is_dead =
                        |hop: &Hop| failed[(channels.start + u32::from(hop.port)) as usize];
                    if !hops.iter().any(is_dead) {
                        return list;
                    }
                    left.hops.extend(hops_left(hops, is_dead));
                    left.starts.push(narrow(left.hops.len()));
                    let along = hops.iter().find(|hop| hop.ring == Ring::Along);
                    ending.extend(
                        along.filter(|hop| is_dead(hop)).map(|hop| (left.lists() - 1, *hop)),
                    );
                    left.lists() - 1
                });
            }
        }
        left.has_escape |= left.hops.iter().any(|hop| hop.escape);
        left.keep_to_ring();
        for (list, along) in ending {
            left.staying[list as usize] = left.lists();
            left.hops.push(Hop { escape: true, ..along });
            left.starts.push(narrow(left.hops.len()));
            left.staying.push(left.lists() - 1);
        }
        left.part_by_class();
        left
    }

    /// The most hops that a packet can take from its source to its destination, whatever it
    /// chooses; `u32::MAX` if it could walk in circles, which the proof
    /// refuses but where packets [stay on a ring](Self::staying) at last.
    pub fn longest(&self) -> u32 {
        self.longest
    }
}

/// Number of virtual channels into which hops lead.
pub(super) fn distinct_vcs(hops: &[Hop]) -> u8 {
    let vcs = hops.iter().fold(0u32, |vcs, hop| vcs | 1 << hop.vc);
    narrow(vcs.count_ones())
}

/// Puts a [`Relation`] together, one destination after the other.
pub struct Builder<'f> {
    fabric: &'f Fabric,
    relation: Relation,
    /// The lists of the present destination, by their first hop, so that equal ones are found.
    known: std::collections::HashMap<Vec<Hop>, u32>,
}

impl<'f> Builder<'f> {
    /// Begins with a relation, whose hops can be set anew.
    pub fn of(fabric: &'f Fabric, relation: Relation) -> Self {
        let (staying, by_class) = (Vec::new(), Vec::new());
        let relation = Relation { staying, by_class, by_port: Vec::new(), longest: 0, ..relation };
        Self { fabric, relation, known: std::collections::HashMap::new() }
    }

    /// # Errors
    /// If the table would take more memory than there is.
    ///
    /// # Panics
    /// If there are no virtual channels or more than 16.
    pub fn new(fabric: &'f Fabric, vcs: u8) -> Result<Self, Shortage> {
        let arrivals = u64::from(fabric.channel_slots()) * u64::from(vcs);
        let states = arrivals + u64::from(fabric.routers());
        Self::with_states(fabric, vcs, states, (0, fabric.ends()))
    }

    /// For a relation with phases, whose hops are set for each state and target.
    ///
    /// # Errors
    /// If the table would take more memory than there is.
    ///
    /// # Panics
    /// If there are no virtual channels or more than 16, or no phases or more than 256.
    pub fn with_phases(fabric: &'f Fabric, vcs: u8, phases: Phases) -> Result<Self, Shortage> {
        let count = phases.phases.len();
        assert!((1..=256).contains(&count), "1 to 256 phases");
        let states = u64::from(fabric.routers()) * count as u64;
        let groups = phases.group_count();
        let more = fabric.routers()..fabric.routers() + groups;
        let targets = phases.destinations(fabric).into_iter().chain(more);
        let mut builder =
            Self::with_states(fabric, vcs, states, (phases.more_targets(), targets.collect()))?;
        builder.relation.phase_count = narrow(count);
        builder.relation.phases = Some(phases);
        Ok(builder)
    }

    fn with_states(
        fabric: &'f Fabric,
        vcs: u8,
        states: u64,
        (more, targets): (u64, Vec<u32>),
    ) -> Result<Self, Shortage> {
        assert!((1..=MAX_VCS).contains(&vcs), "1 to 16 virtual channels");
        let (routers, channels) = (fabric.routers(), fabric.channel_slots());
        let rows = targets.len() as u64;
        // List numbers; the lists themselves are a router's ports and virtual channels a few times
        // over.
        let lists = u64::from(channels) * u64::from(vcs) * 4 * 2;
        let needed = rows.saturating_mul(states * 4 + lists).saturating_add(4 * more);
        claim("the routing relation", needed.saturating_mul(2))?;
        let mut row = vec![NONE; narrow::<usize>(u64::from(routers) + more)];
        for (number, target) in (0..).zip(targets) {
            row[target as usize] = number;
        }
        let relation = Relation {
            vcs,
            channels,
            states: narrow(states),
            phases: None,
            phase_count: 0,
            row,
            list: vec![0; narrow::<usize>(rows) * narrow::<usize>(states)],
            starts: vec![0, 0],
            hops: Vec::new(),
            has_escape: false,
            has_detours: false,
            staying: Vec::new(),
            by_class: Vec::new(),
            by_port: Vec::new(),
            longest: 0,
        };
        Ok(Self { fabric, relation, known: std::collections::HashMap::new() })
    }

    /// The fabric.
    pub fn fabric(&self) -> &'f Fabric {
        self.fabric
    }

    /// The relation as far as it goes, to ask for the numbers of states.
    pub fn relation(&self) -> &Relation {
        &self.relation
    }

    /// Sets the hops of packets for a destination router, or another target, in a state, in any
    /// order, in place of earlier ones. If a hop is named twice, `escape` holds if one of the two
    /// has it, `detour` only if both have it.
    ///
    /// # Panics
    /// If the router has no live terminals.
    pub fn set(&mut self, state: u32, target: u32, hops: &mut Vec<Hop>) {
        let row = self.relation.row[target as usize];
        assert!(row != NONE, "only routers with terminals are destinations");
        hops.sort_unstable_by_key(|hop| (hop.port, hop.vc, !hop.escape, hop.detour));
        hops.dedup_by_key(|hop| (hop.port, hop.vc));
        let relation = &mut self.relation;
        let place = row as usize * relation.states as usize + state as usize;
        if hops.is_empty() {
            relation.list[place] = 0;
            return;
        }
        let next = narrow(relation.starts.len() - 1);
        let known = self.known.get(&hops[..]).copied();
        relation.list[place] = known.unwrap_or_else(|| {
            relation.hops.extend_from_slice(hops);
            relation.has_escape |= hops.iter().any(|hop| hop.escape);
            relation.has_detours |= hops.iter().any(|hop| hop.detour);
            relation.starts.push(narrow(relation.hops.len()));
            self.known.insert(hops.clone(), next);
            next
        });
    }

    /// Gives a state the hops of another state, which have been set, for packets to a destination
    /// router.
    ///
    /// # Panics
    /// If the router has no live terminals.
    pub fn set_like(&mut self, state: u32, other: u32, destination_router: u32) {
        let row = self.relation.row[destination_router as usize];
        assert!(row != NONE, "only routers with terminals are destinations");
        let first = row as usize * self.relation.states as usize;
        self.relation.list[first + state as usize] = self.relation.list[first + other as usize];
    }

    /// The relation with phases, with all that was set. `longest` is the most hops of a packet.
    /// `by_port`: packets choose a port at its head.
    #[must_use]
    pub fn finish_phases(mut self, longest: u32, by_port: bool) -> Relation {
        self.relation.longest = longest;
        if by_port {
            self.relation.part_by_port();
        }
        self.relation
    }

    /// The relation, without what no packet can come to: states that are not reached from any
    /// router with terminals lose their hops.
    #[must_use]
    pub fn finish(self) -> Relation {
        let Self { fabric, mut relation, .. } = self;
        let senders: Vec<u32> =
            (0..fabric.routers()).filter(|&at| relation.row[at as usize] != NONE).collect();
        // Packets come to a channel in all virtual channels that are alike, or in none.
        let lowest = relation.lowest_alike(fabric);
        let mut search = Search::new(&relation, lowest);
        for &destination in &senders {
            search.run(fabric, &relation, &senders, destination);
            relation.longest = relation.longest.max(search.longest);
            let row = relation.row[destination as usize] as usize * relation.states as usize;
            let lists = &mut relation.list[row..row + relation.states as usize];
            for (state, list) in (0..).zip(lists) {
                if search.depth[search.alike(state) as usize] == UNSEEN {
                    *list = 0;
                }
            }
        }
        relation.keep_to_ring();
        relation.part_by_class();
        relation
    }
}

impl Relation {
    /// Makes the lists of packets that stay on the ring, if there is one.
    fn keep_to_ring(&mut self) {
        if self.hops.iter().all(|hop| hop.ring == Ring::Off) {
            return;
        }
        let mut known = std::collections::HashMap::new();
        for list in 0..self.lists() {
            let along = self.hops_of_list(list).iter().find(|hop| hop.ring == Ring::Along).copied();
            let own = along.map_or(list, |along| {
                *known.entry((along.port, along.vc)).or_insert_with(|| {
                    self.hops.push(Hop { escape: false, ..along });
                    self.starts.push(narrow(self.hops.len()));
                    self.lists() - 1
                })
            });
            self.staying.push(own);
        }
        // The new lists lead along the ring alone.
        self.staying.extend(narrow(self.staying.len())..self.lists());
    }
}

impl Relation {
    /// Makes the lists of each port, of the ports with a hop that is no fallback.
    fn part_by_port(&mut self) {
        for list in 0..self.lists() {
            let own = self.hops_of_list(list).to_vec();
            self.by_port.push(self.lists());
            for hops in own.chunk_by(|one, other| one.port == other.port) {
                if hops.iter().all(Hop::is_fallback) {
                    continue;
                }
                let port = hops[0].port;
                let stays = |hop: &&Hop| hop.port == port || hop.is_fallback();
                self.hops.extend(own.iter().filter(stays));
                self.starts.push(narrow(self.hops.len()));
            }
        }
    }

    /// Makes the lists of each class of terminals.
    fn part_by_class(&mut self) {
        let is_for_all = |hop: &Hop| hop.classes == ALL_CLASSES;
        if self.hops.iter().all(is_for_all) {
            return;
        }
        for list in 0..self.lists() {
            let own = self.hops_of_list(list).to_vec();
            if own.iter().all(is_for_all) {
                self.by_class.push(NONE);
                continue;
            }
            self.by_class.push(self.lists());
            for class in 0..TERMINAL_CLASSES {
                let of_class = own.iter().filter(|hop| hop.classes >> class & 1 == 1);
                self.hops.extend(of_class.map(|&hop| Hop { classes: ALL_CLASSES, ..hop }));
                self.starts.push(narrow(self.hops.len()));
            }
        }
        if self.has_ring() {
            self.staying.extend(narrow(self.staying.len())..self.lists());
        }
    }
}

/// The hops of a list without those by failed channels, as [`Relation::avoiding`] has them.
fn hops_left(hops: &[Hop], is_dead: impl Fn(&Hop) -> bool) -> Vec<Hop> {
    let stays = |hop: &Hop| hop.escape || !is_dead(hop);
    let served = hops.iter().filter(|hop| stays(hop)).fold(0, |served, hop| served | hop.classes);
    let left = hops.iter().filter_map(|&hop| {
        let classes = hop.classes & !served;
        let lost = Hop { escape: true, detour: false, classes, ..hop };
        if stays(&hop) { Some(hop) } else { (classes != 0).then_some(lost) }
    });
    left.collect()
}

const UNSEEN: u32 = u32::MAX;
/// Of a state that the present walk came through.
const OPEN: u32 = u32::MAX - 1;

/// The states that packets for one destination come to, and how many hops they can have before
/// them.
struct Search {
    /// By state: the most hops to the end.
    depth: Vec<u32>,
    longest: u32,
    /// By virtual channel: the one that is looked at in its place.
    lowest: Vec<u8>,
    /// Number of states of packets that came through a channel.
    arrived: u32,
}

impl Search {
    fn new(relation: &Relation, lowest: Vec<u8>) -> Self {
        let arrived = relation.channels * u32::from(relation.vcs);
        let depth = vec![UNSEEN; relation.states as usize];
        Self { depth, longest: 0, lowest, arrived }
    }

    /// The state that is looked at in place of a state.
    fn alike(&self, state: u32) -> u32 {
        let vcs = fitted!(self.lowest.len(), u32);
        let vc = state % vcs;
        if state < self.arrived { state - vc + u32::from(self.lowest[vc as usize]) } else { state }
    }

    fn run(&mut self, fabric: &Fabric, relation: &Relation, senders: &[u32], destination: u32) {
        self.depth.fill(UNSEEN);
        self.longest = 0;
        let mut circles = false;
        for &source in senders.iter().filter(|&&source| source != destination) {
            let start = relation.injected(source);
            let mut calls = vec![(start, source, 0, 0u32)];
            self.depth[start as usize] = OPEN;
            while let Some((state, router, next, deepest)) = calls.last_mut() {
                if let Some(hop) = relation.hops(*state, destination).get(*next) {
                    *next += 1;
                    if self.lowest.get(usize::from(hop.vc)).is_some_and(|&lowest| lowest != hop.vc)
                    {
                        continue;
                    }
                    let channel = fabric.outputs(*router).start + u32::from(hop.port);
                    let Some(target) = fabric.target(channel) else { continue };
                    let after = relation.arrived(channel, hop.vc);
                    match self.depth[after as usize] {
                        UNSEEN if target == destination => {
                            self.depth[after as usize] = 0;
                            *deepest = (*deepest).max(1);
                        }
                        UNSEEN => {
                            self.depth[after as usize] = OPEN;
                            calls.push((after, target, 0, 0));
                        }
                        OPEN => circles = true,
                        known => *deepest = (*deepest).max(known.saturating_add(1)),
                    }
                } else {
                    let (state, _, _, deepest) = *calls.last().expect("it has an end");
                    self.depth[state as usize] = deepest;
                    calls.pop();
                    if let Some((.., before)) = calls.last_mut() {
                        *before = (*before).max(deepest + 1);
                    }
                }
            }
            self.longest = self.longest.max(self.depth[start as usize]);
        }
        if circles {
            self.longest = u32::MAX;
        }
    }
}
