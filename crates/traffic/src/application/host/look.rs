//! When hosts are looked at.
//!
//! Events at a host are visible outside only by the messages that it gives to its adapter, and a
//! stream works on each for at least `send_overhead`. So a host is asked for a message no sooner
//! than it can have one. It then handles the events in the meantime, each at its own time
//! (docs/model.md, "Threads").

use super::{Application, Happening, Host, parts};
use crate::Wake;
use flitlab_application::Operation;
use flitlab_base::units::Picoseconds;

impl Application {
    /// Handles all events at a terminal up to `now`. Only events at `now` may give its adapter a
    /// message: invisible events wait until the next one that may be visible.
    pub(super) fn run_until(&mut self, terminal: u32, now: Picoseconds) {
        while let Some((time, happening)) = self.state.hosts[terminal as usize].agenda.take_due(now)
        {
            self.state.latest = self.state.latest.max(time);
            self.happen(terminal, happening, time);
            self.run_streams(terminal, time);
        }
    }

    /// Returns a time before which a terminal gives its adapter nothing, as far as is known.
    #[inline]
    pub(super) fn next_given(&self, terminal: u32) -> Picoseconds {
        let Host { agenda, idle, .. } = &self.state.hosts[terminal as usize];
        self.lead.map_or_else(|| agenda.next(), |lead| agenda.next_given(lead, *idle > 0))
    }

    /// Notes a future event of a message at a terminal. If all streams are busy by then, it has no
    /// effect before one of them is done with its job.
    pub(super) fn note(&mut self, terminal: u32, time: Picoseconds, happening: Happening) -> Wake {
        let host = &mut self.state.hosts[terminal as usize];
        host.agenda.add(time, happening);
        match self.lead {
            None => Wake::Terminal(terminal, time),
            Some(lead) if host.idle > 0 => Wake::Terminal(terminal, time + lead),
            Some(lead) => self.taken_first(terminal, time, happening, lead),
        }
    }

    /// The only stream of a terminal's only rank is busy when a message comes. If a receipt waits
    /// for the message the stream takes it, or another one that has come, before it works on
    /// anything to be given to the adapter.
    fn taken_first(
        &self,
        terminal: u32,
        time: Picoseconds,
        happening: Happening,
        lead: Picoseconds,
    ) -> Wake {
        let Host { agenda, outbox, streams, .. } = &self.state.hosts[terminal as usize];
        let (Happening::Arrive { tag }, Some((end, Happening::End { stream, gives, .. }))) =
            (happening, agenda.first_end())
        else {
            return Wake::Nobody;
        };
        debug_assert!(outbox.is_empty(), "what is given at an instant is taken at it");
        if self.asks || self.is_one_sided || *streams != 1 || gives || time > end {
            return Wake::Nobody;
        }
        let (number, operation, _) = parts(tag);
        let Operation { peer: rank, tag, .. } = *self.schedule.operation(operation);
        let sender = self.schedule.rank_of(operation);
        if self.state.streams.has_task(stream)
            || !self.state.order.is_next(self.pairs.of(operation), number)
            || !self.state.receipts.has(rank, sender, tag)
        {
            return Wake::Nobody;
        }
        Wake::NotBefore(terminal, end + self.host.receive_overhead + lead)
    }
}
