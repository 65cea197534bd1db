//! Links that err, and send again what was damaged (docs/model.md, "Links that err").
//!
//! The sender of a channel keeps all packets that are not acknowledged ([`replay`]). At the start
//! of a transmission it knows whether the packet will be damaged, and how the far end will react.
//! It sends only what the far end accepts; later knowledge is kept until its time. So the router at
//! the far end has two tasks for the link: to discard bad copies, and to send acknowledgements
//! where they take flits.

mod damage;
pub(super) mod replay;

use serde::{Deserialize, Serialize};

use crate::frame::tick::{NEVER, Tick, move_back};
use crate::network::context::NetworkContext;
use crate::network::ports::Ports;
use damage::Damage;
use flitlab_base::narrow::narrow;
use flitlab_model::{LinkErrors, Parameters};
use replay::{AckMessage, ReplayChannel, ReplayRules};

/// An output of another router: the router's part, its number there, and the output's number in the
/// router.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct FarOutput {
    pub part: u32,
    pub router: u32,
    pub output: u16,
}

/// A notice for a router.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    pub to: FarOutput,
    /// Time at which the notice takes effect.
    pub time: Tick,
    pub kind: NoticeKind,
}

/// The contents of a notice.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NoticeKind {
    /// An acknowledgement message: about what the output has sent, or else one that is decided
    /// there, for the output to send.
    Message { message: AckMessage, about_sent: bool },
    /// A bad copy whose last flit is there, among an input virtual channel's packets.
    BadCopy(u32),
}

/// The links of a part's channels.
pub(crate) struct Links {
    pub rules: ReplayRules,
    pub state: LinkState,
    /// Outputs that were granted at an instant, those served at one, and packets that enter a
    /// buffer after another one; kept to reuse their memory.
    pub granted: Vec<u16>,
    pub serving: Vec<usize>,
    pub followers: Vec<u32>,
    /// Notices of visits for other routers.
    pub notices: Vec<Notice>,
}

/// The fields that change, as a checkpoint saves them.
#[derive(Serialize, Deserialize)]
pub(crate) struct LinkState {
    /// By output; `None` for those of terminals and for vacant ports.
    pub channels: Vec<Option<Box<ReplayChannel>>>,
    /// By output: a lower bound of the next event on its link, grants excluded.
    pub next: Vec<Tick>,
    /// By router: a lower bound of the next event on its links.
    pub due: Vec<Tick>,
    /// By router: the bad copies whose last flits are still to come, with that time and their input
    /// virtual channel.
    pub bad_copies: Vec<Vec<(Tick, u32)>>,
}

impl Links {
    /// The links of a part. There are none unless links err.
    pub(crate) fn new(context: &NetworkContext<'_>, part: usize, ports: &Ports) -> Self {
        let NetworkContext { fabric, cut, parameters, .. } = context;
        let errors = &parameters.errors.clone().unwrap_or_default();
        let routers = cut.routers(part);
        let that_err = if parameters.errors.is_some() { routers.clone() } else { 0..0 };
        let mut channels = Vec::new();
        for router in that_err.clone() {
            let of_router = &ports.routers[(router - cut.first_router(part)) as usize];
            let slots = fabric.outputs(router);
            for slot in slots.clone() {
                let channel = fabric.target(slot).map(|target| {
                    let far = cut.part_of_router(target);
                    let reverse = fabric.opposite(slot).map(|reverse| FarOutput {
                        part: narrow::<u32>(far),
                        router: target - cut.first_router(far),
                        output: narrow::<u16>(reverse - fabric.outputs(target).start),
                    });
                    Box::new(ReplayChannel::new(Damage::new(errors, slot), reverse))
                });
                channels.push(channel);
            }
            let ejections = usize::from(of_router.outputs) - slots.len();
            channels.extend((0..ejections).map(|_| None));
        }
        Self {
            rules: ReplayRules::new(errors, parameters),
            state: LinkState {
                next: vec![NEVER; channels.len()],
                channels,
                due: vec![NEVER; routers.len()],
                bad_copies: vec![Vec::new(); that_err.len()],
            },
            granted: Vec::new(),
            serving: Vec::new(),
            followers: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// Takes in a notice for a router of the part, whose first output has this number.
    pub(crate) fn take_in(&mut self, first_output: u32, notice: &Notice) {
        let &Notice { to: FarOutput { router, output, .. }, time, kind } = notice;
        let place = (first_output + u32::from(output)) as usize;
        let LinkState { channels, next, due, bad_copies } = &mut self.state;
        match (kind, &mut channels[place]) {
            (NoticeKind::BadCopy(input_vc), _) => {
                bad_copies[router as usize].push((time, input_vc));
            }
            (_, None) => return,
            (NoticeKind::Message { message, about_sent }, Some(channel)) => {
                let list = if about_sent { &mut channel.learned } else { &mut channel.to_send };
                list.push_back((time, message));
                next[place] = next[place].min(time);
            }
        }
        let due = &mut due[router as usize];
        *due = (*due).min(time);
    }

    /// The link of one of the part's channels.
    pub(crate) fn channel(&self, output: u32) -> Option<&ReplayChannel> {
        self.state.channels.get(output as usize)?.as_deref()
    }

    /// Time at which the last flit of the link's present transmission has left.
    pub(crate) fn line_free(&self, output: u32) -> Tick {
        self.channel(output).map_or(0, |channel| channel.line_free)
    }

    /// Bytes for a channel.
    pub(crate) fn bytes_per_channel(errors: &LinkErrors, parameters: &Parameters) -> u64 {
        let entries = ReplayRules::new(errors, parameters).entries;
        (size_of::<ReplayChannel>() + entries * size_of::<replay::ReplayEntry>()) as u64
    }

    pub(crate) fn memory(&self) -> usize {
        let channels = self.state.channels.iter().flatten().count();
        let entries = self.rules.entries * size_of::<replay::ReplayEntry>();
        channels * (size_of::<ReplayChannel>() + entries)
    }

    /// Resets statistics.
    pub(crate) fn reset_statistics(&mut self) {
        self.state.channels.iter_mut().flatten().for_each(|channel| channel.flits_resent = 0);
    }

    pub(crate) fn rebase(&mut self, by: Tick) {
        self.state.channels.iter_mut().flatten().for_each(|channel| channel.rebase(by));
        let bad_copies = self.state.bad_copies.iter_mut().flatten().map(|it| &mut it.0);
        move_back(self.state.next.iter_mut().chain(&mut self.state.due).chain(bad_copies), by);
    }
}
