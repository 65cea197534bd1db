//! Credits that are held back by how long others are away (docs/model.md, "Credits that are held
//! back").

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};

use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Channel as Number, Fabric};
use flitlab_routing::{Routes, phased::Ugal};

/// The longest delay that is told apart from longer ones.
const LONGEST: Picoseconds = Picoseconds(500_000_000);

/// What a sender knows of its channel's credits, if that is used.
#[derive(Clone, Default)]
pub struct Delay {
    /// Whether the router at the end holds credits back.
    pub is_held: bool,
    /// By how much longer than in an idle network the latest credit was away.
    pub known: Picoseconds,
    /// By virtual channel: how long the flits waited behind the crossbar whose credits are away.
    waited: BTreeMap<usize, VecDeque<Picoseconds>>,
}

impl Delay {
    /// Notes how long a flit waits behind the crossbar.
    pub fn send(&mut self, virtual_channel: usize, waits: Picoseconds) {
        self.waited.entry(virtual_channel).or_default().push_back(waits);
    }

    /// Takes what has come with all credits of this instant: their virtual channels, and by how
    /// much their flits were late at the far end.
    pub fn learn(&mut self, delays: Vec<(usize, Picoseconds)>) {
        let whole = delays.into_iter().map(|(virtual_channel, delay)| {
            let waited = self.waited.get_mut(&virtual_channel).and_then(VecDeque::pop_front);
            (waited.expect("a flit was sent") + delay).min(LONGEST)
        });
        if let Some(longest) = whole.max() {
            self.known = longest;
        }
    }
}

/// What becomes of the room of flits that leave a buffer.
#[derive(Clone, Default)]
pub struct Held {
    /// The latest time at which room of this buffer was free.
    until: Picoseconds,
}

impl Held {
    /// From when on the room of a flit counts as free that leaves now, and by how much longer than
    /// in an idle network that took. It has waited; senders know so much of the channel by which it
    /// came, of its output to a router, and of all its router's outputs to routers.
    pub fn free<'a>(
        &mut self,
        (waited, now): (Picoseconds, Picoseconds),
        from: &Delay,
        own: Option<&Delay>,
        all: impl Iterator<Item = &'a Delay>,
    ) -> (Picoseconds, Picoseconds) {
        let by = match own {
            Some(own) if from.is_held => {
                own.known - all.map(|it| it.known).min().expect("its own is one")
            }
            _ => Picoseconds::ZERO,
        };
        self.until = self.until.max(now + by);
        (self.until, waited + (self.until - now))
    }
}

/// Whether some credits are held back by these routes.
pub fn are_held(routes: &Routes) -> bool {
    let Routes::Relation(routes) = routes else { return false };
    let Some(rule) = &routes.rule else { return false };
    let rule: &dyn Any = &**rule;
    rule.downcast_ref::<Ugal>().is_some_and(|ugal| ugal.holds_credits)
}

/// Whether the credits of this channel are held back by these routes.
pub fn is_held(routes: &Routes, fabric: &Fabric, number: Number) -> bool {
    let target = fabric.target(number).expect("it leads on");
    let ends = [fabric.source(number), target].map(|it| fabric.groups().get(it as usize));
    are_held(routes) && ends[0] == ends[1]
}
