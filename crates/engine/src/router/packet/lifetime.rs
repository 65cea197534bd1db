//! Packets that wait at the head of a buffer for too long are dropped (docs/model.md, "Head-of-queue
//! lifetime").

use serde::{Deserialize, Serialize};

use crate::frame::tick::{NEVER, Tick, move_back};
use crate::network::context::NetworkContext;
use crate::packet::{Delivery, Packet};
use crate::router::packet::cell::Shape;
use crate::router::packet::{Features, Visit};
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

/// When the heads of buffers may be dropped.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Lifetimes {
    /// By router: no head is dropped before; empty if none ever is.
    due: Vec<Tick>,
}

impl Lifetimes {
    pub(super) fn new(context: &NetworkContext<'_>, routers: usize) -> Self {
        let drops = context.parameters.head_of_queue_lifetime.is_some();
        Self { due: vec![NEVER; if drops { routers } else { 0 }] }
    }

    /// The time before which no head of a router is dropped.
    #[inline]
    pub(super) fn due(&self, router: u32) -> Tick {
        self.due.get(router as usize).copied().unwrap_or(NEVER)
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        move_back(&mut self.due, by);
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.due)
    }
}

impl<S: Shape, F: Features> Visit<'_, '_, S, F> {
    /// The time at which the head of a buffer is dropped, unless it has been granted an output: it
    /// has waited for its lifetime, and its last flit is there.
    fn expires(&self, buffer: u32) -> Tick {
        let place = S::buffer(buffer as usize);
        let (head, ask) = (self.cell.head[place], self.cell.ask[place]);
        match self.context.parameters.head_of_queue_lifetime {
            Some(lifetime) if head != NONE && ask != NEVER => {
                (ask + fitted!(lifetime.0, Tick)).max(self.head_of(buffer).tail)
            }
            _ => NEVER,
        }
    }

    /// Notes when a packet that has become the head of a buffer is dropped.
    pub(super) fn note_lifetime(&mut self, buffer: u32) {
        let expires = self.expires(buffer);
        if let Some(due) = self.lifetimes.due.get_mut(self.number as usize) {
            *due = (*due).min(expires);
        }
    }

    /// Drops all heads of the router whose time is over.
    pub(super) fn drop_expired(&mut self, now: Tick) {
        self.lifetimes.due[self.number as usize] = NEVER;
        let buffers = u32::from(self.layout.inputs) << self.size().shift;
        for buffer in 0..buffers {
            if self.expires(buffer) <= now {
                self.drop_head(buffer, now);
            } else {
                self.note_lifetime(buffer);
            }
        }
    }

    /// Drops the head of a buffer, which frees its room now.
    fn drop_head(&mut self, buffer: u32, now: Tick) {
        let place = S::buffer(buffer as usize);
        let slot = self.cell.head[place];
        let Packet { next, flits, .. } = *self.packet(slot);
        self.withdraw_all(buffer, now);
        (self.cell.head[place], self.cell.ask[place]) = (next, NEVER);
        self.cell.left[place] = self.cell.left[place].max(now);
        self.release_buffer(buffer, flits, now, now);
        self.routing.swallow(self.context, self.packets, (self.name, slot));
        let (time, (_, vc)) = (self.time(now), self.place(buffer));
        self.to_hosts.deliveries.push(Delivery { time, slot, terminal: NONE, vc });
        self.go_to_next(buffer, next);
    }
}
