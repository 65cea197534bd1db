//! A workload that sends nothing, on a network that was made for it.

use std::ops::Range;

use super::{Collectives, Created, HostOverheads, MessageKind, Needs, Workload};
use flitlab_base::units::Picoseconds;
use flitlab_model::workload::boxed;

/// A workload whose messages are gone. What it could send is known all the same, so routers and
/// adapters are as they are beside it: how others would do without it is a question about the same
/// network.
#[derive(Clone, Debug)]
pub struct Silent(Box<dyn Workload>);

impl Silent {
    /// Silences a workload that has not begun, and is not several.
    ///
    /// # Panics
    /// If it consists of several.
    pub fn new(workload: Box<dyn Workload>) -> Self {
        assert!(workload.by_class().is_empty(), "one workload is silent");
        Self(workload)
    }
}

impl Workload for Silent {
    fn first(&mut self, _: u32) -> Option<Picoseconds> {
        None
    }

    fn create(&mut self, _: u32, _: Picoseconds) -> Created {
        (None, None)
    }

    fn is_open(&self) -> bool {
        self.0.is_open()
    }

    fn overheads(&self, class: u8) -> Option<HostOverheads> {
        self.0.overheads(class)
    }

    fn creates_more(&self, _: u8) -> bool {
        false
    }

    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64)) {
        self.0.for_each_size(each);
    }

    fn kinds_of(&self, class: u8) -> (bool, bool) {
        self.0.kinds_of(class)
    }

    fn state(&self) -> Vec<u8> {
        self.0.state()
    }

    fn resume(&mut self, state: &[u8]) -> bool {
        self.0.resume(state)
    }

    fn memory(&self) -> usize {
        self.0.memory()
    }

    fn split(self: Box<Self>, terminals: &[Range<u32>]) -> Vec<Box<dyn Workload>> {
        boxed(self.0.split(terminals).into_iter().map(Self))
    }

    /// What the engine does at an event is as beside it, too. Without events it asks nothing.
    fn needs(&self) -> Needs {
        Needs { deferred: false, ..self.0.needs() }
    }

    fn collectives(&self) -> Option<&Collectives> {
        self.0.collectives()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Message, Script};

    #[test]
    fn what_is_silent_sends_nothing_and_says_what_it_could_send() {
        let message = |source, kind| Message {
            time: Picoseconds(5),
            source,
            destination: 3,
            bytes: 40,
            kind,
            tag: 0,
            class: 0,
        };
        let messages = vec![message(0, MessageKind::Data), message(2, MessageKind::Put)];
        let script = Script::new(messages);
        let silent = Silent::new(Box::new(script.clone()));
        assert_eq!(silent.kinds_of(0), script.kinds_of(0));
        assert_eq!(silent.kinds_of(0), (true, true));
        for mut part in Box::new(silent).split(&[0..2, 2..4]) {
            assert_eq!((part.first(0), part.first(2)), (None, None));
            assert_eq!(part.kinds_of(0), (true, true));
            assert!(!part.creates_more(0));
        }
    }
}
