//! The map between virtual channel numbers and the indices of those in use.
//!
//! A scenario numbers its virtual channels from 0 to 15, but its traffic may use a few of them
//! only. Buffers, credits and statistics are kept for the virtual channels in use, so that the
//! others take no memory. In the engine `vc` is such an index; `virtual_channel` is a scenario's
//! number.

use super::demands::{KindsByClass, VcDemand, VcSet};
use crate::by_class::ByClass;
use crate::packet::message::Purpose;
use flitlab_base::narrow::fitted;
use flitlab_model::{DOWN_CHANNEL, MAX_VIRTUAL_CHANNELS, Parameters, REQUEST_CHANNEL, UP_CHANNEL};
use flitlab_routing::Routes;

/// In place of the index of a virtual channel: it is not in use.
pub(crate) const UNUSED: u8 = u8::MAX;

/// The virtual channels in use, in ascending order of their numbers.
#[derive(Clone, Debug)]
pub(crate) struct VcMap {
    /// By index: the number.
    numbers: Vec<u8>,
    /// By number: the index, or [`UNUSED`] if the virtual channel is not in use.
    index_of: [u8; MAX_VIRTUAL_CHANNELS as usize],
    /// By class of traffic, then purpose: the index of the virtual channel on which sources inject.
    injected_on: ByClass<[u8; Purpose::COUNT]>,
    /// By class of traffic: the set of virtual channels of its packets.
    sets: ByClass<VcSet>,
    /// Whether links that are shared flit by flit have virtual channels for responses alone.
    pub is_split: bool,
}

impl VcMap {
    /// The map for the [demand](VcDemand::new) of routes and traffic, and for collective operations
    /// if there are any.
    pub(crate) fn new(
        routes: &Routes,
        later: &[&Routes],
        parameters: &Parameters,
        kinds: &KindsByClass,
        collective: bool,
    ) -> Self {
        let VcDemand { mut used, injected_on, sets, is_split } =
            VcDemand::new(routes, later, parameters, kinds, collective);
        if collective {
            used |= 1 << UP_CHANNEL | 1 << DOWN_CHANNEL;
            // Acknowledgements that take flits count there.
            used |= u16::from(parameters.errors.is_some()) << REQUEST_CHANNEL;
        }
        let numbers: Vec<u8> =
            (0..MAX_VIRTUAL_CHANNELS).filter(|&channel| used >> channel & 1 == 1).collect();
        let mut index_of = [UNUSED; MAX_VIRTUAL_CHANNELS as usize];
        for (vc, &channel) in (0..).zip(&numbers) {
            index_of[usize::from(channel)] = vc;
        }
        let index = |number: u8| index_of[usize::from(number)];
        let injected_on = ByClass::new(|class| injected_on[class].map(index));
        Self { numbers, index_of, injected_on, sets, is_split }
    }

    /// How many virtual channels are in use.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.numbers.len()
    }

    /// The index of a virtual channel; [`UNUSED`], which no packet has, if it is not in use.
    #[inline]
    pub(crate) fn index(&self, virtual_channel: u8) -> u8 {
        self.index_of[usize::from(virtual_channel)]
    }

    /// The index of the virtual channel on which sources inject packets of a class.
    #[inline]
    pub(crate) fn injected_on(&self, class: u8, purpose: Purpose) -> u8 {
        self.injected_on[class][purpose as usize]
    }

    /// The set of virtual channels of a class.
    #[inline]
    pub(crate) fn set(&self, class: u8) -> VcSet {
        self.sets[class]
    }

    /// The number of the virtual channel with this index.
    #[inline]
    pub(crate) fn number(&self, vc: u8) -> u8 {
        self.numbers[usize::from(vc)]
    }

    /// The number that random arbitration hashes for a buffer of an input port: that of its virtual
    /// channel. The two queues of a router's reduction unit have the indices behind those in use,
    /// and the numbers behind all possible ones. So their draws don't depend on what is in use.
    #[inline]
    pub(crate) fn drawn_number(&self, vc: u8) -> u8 {
        let used = self.numbers.get(usize::from(vc));
        let behind = || MAX_VIRTUAL_CHANNELS + vc - fitted!(self.numbers.len(), u8);
        used.copied().unwrap_or_else(behind)
    }
}
