//! What routers put into other routers' buffers.
//!
//! A visit writes a packet to where it goes at its grant. That is no harm, since the packet asks
//! there after the window, whichever of the two routers is visited first. So a buffer has two ends:
//! senders append packets here, and the router itself takes them from the head that its
//! [cell](super::cell) knows.

use serde::{Deserialize, Serialize};

use crate::frame::active::Active;
use crate::frame::tick::Tick;
use crate::packet::Packet;
use crate::router::packet::FarEnd;
use crate::router::packet::cell::Size;
use flitlab_base::narrow::narrow;
use flitlab_fabric::NONE;

/// The end of a buffer at which packets arrive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Inlet {
    /// The last packet in the buffer; [`NONE`] if it is empty.
    pub last: u32,
    /// The packet that has come while the buffer was empty. The router takes it as its head.
    pub first: u32,
}

/// The inlets of a part's routers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Inlets {
    /// By router, then buffer. A router has a power of two of places.
    pub inlets: Vec<Inlet>,
    /// By router: buffers that have got a head since its last visit, a bit each.
    pub arrived: Vec<u64>,
    /// Number of bits by which the router is shifted in the number of a buffer of the part.
    pub shift: u32,
    pub words: usize,
}

impl Inlets {
    pub(crate) fn new(routers: usize, size: Size) -> Self {
        let words = size.words;
        let shift = size.stride();
        Self {
            inlets: vec![Inlet { last: NONE, first: NONE }; routers << shift],
            arrived: vec![0; routers * words],
            shift,
            words,
        }
    }

    /// The number in the part of a router's buffer.
    #[inline(always)]
    pub(crate) fn buffer(&self, router: u32, buffer: u32) -> u32 {
        (router << self.shift) + buffer
    }

    /// The input port of a buffer of this part.
    pub(crate) fn far_end(&self, part: u32, buffer: u32, size: Size) -> FarEnd {
        let own = buffer & ((1 << self.shift) - 1);
        FarEnd { part, router: buffer >> self.shift, input: narrow(own >> size.shift) }
    }

    /// Puts a packet, whose `next` is [`NONE`], at the end of a buffer of the part, and wakes its
    /// router if it is the first one there. It may ask there at `ready`. The size is that of the
    /// routers.
    #[inline(always)]
    pub(crate) fn join(
        &mut self,
        packets: &mut [Packet],
        active: &mut Active,
        buffer: u32,
        (slot, ready): (u32, Tick),
        size: Size,
    ) {
        let inlet = &mut self.inlets[buffer as usize];
        let last = std::mem::replace(&mut inlet.last, slot);
        if last != NONE {
            packets[last as usize].next = slot;
            return;
        }
        inlet.first = slot;
        let (router, own) = (buffer >> size.stride(), buffer & ((1 << size.stride()) - 1));
        self.arrived[router as usize * size.words + own as usize / 64] |= 1 << (own % 64);
        active.lower(router, ready);
    }

    /// Whether a router has got heads since its last visit.
    #[inline(always)]
    pub(super) fn have_arrived(&self, router: u32) -> bool {
        let first = router as usize * self.words;
        self.arrived[first..first + self.words].iter().any(|&word| word != 0)
    }

    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.inlets) + size_of_val(&*self.arrived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::encoded_route::EncodedRoute;

    #[test]
    fn the_first_packet_of_an_empty_buffer_is_told_and_the_next_lies_behind_it() {
        let size = Size::new(3, 1);
        let mut inlets = Inlets::new(4, size);
        let mut active = Active::new(4);
        let route = EncodedRoute(0);
        let packet = Packet {
            ready: 0,
            tail: 0,
            next: NONE,
            source: 0,
            sequence: 0,
            flits: 1,
            note: 0,
            route,
        };
        let mut packets = [packet; 3];
        let buffer = inlets.buffer(2, 5);
        for (slot, ready) in [(0, 70), (2, 90)] {
            inlets.join(&mut packets, &mut active, buffer, (slot, ready), size);
        }
        let Inlet { first, last } = inlets.inlets[buffer as usize];
        assert_eq!((first, packets[0].next, last, packets[2].next), (0, 2, 2, NONE));
        assert_eq!(
            [0, 1, 2, 3].map(|router| inlets.have_arrived(router)),
            [false, false, true, false]
        );
        assert_eq!(
            (inlets.arrived[2], active.earliest()),
            (1 << 5, 70),
            "it is woken for the first"
        );
        let FarEnd { part, router, input } = inlets.far_end(7, buffer, size);
        assert_eq!((part, router, input), (7, 2, 2));
    }
}
