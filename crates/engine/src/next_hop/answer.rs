//! The question and its answer: a head, and where it may go.

/// The head of a buffer, as far as its next hop depends on where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub slot: u32,
    /// Its router, by its number in the whole network.
    pub router: u32,
    /// Its input port, by its number in the part, and its virtual channel.
    pub input: u32,
    pub vc: u8,
    /// The output of the cable by which it has come; `None` if it has been injected here.
    pub came: Option<u16>,
}

/// Where a head may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextHop {
    /// One output: a port, or an ejection channel at the destination. `keeps_bubble`: with links
    /// shared flit by flit the bubble rule counts too.
    Output { output: u16, vc: OutVc, keeps_bubble: bool },
    /// Any of these ports, a bit each, on the adaptive virtual channel. If none has room: `output`
    /// on the virtual channel `escape`.
    AnyOf { ports: u16, output: u16, escape: u8 },
    /// Any hop of this list of the relation.
    Hops(u32),
    /// The packet has to [decide](super::Routing::decide) on a detour first.
    Undecided,
}

/// The virtual channel that a packet takes behind an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutVc {
    /// That of its arrival; with links shared flit by flit, any of its kind of traffic.
    Same,
    /// In a ring, that of this dateline class; elsewhere that of class 0.
    Class(u8),
    This(u8),
}

impl OutVc {
    /// The virtual channel of a packet that is granted an output whole, and that arrives on `vc`.
    #[inline(always)]
    pub(crate) fn of_packet(self, vc: u8, in_ring: bool) -> u8 {
        match self {
            Self::Same => vc,
            Self::Class(class) => vc & !1 | class & u8::from(in_ring),
            Self::This(vc) => vc,
        }
    }
}

impl NextHop {
    /// An ejection channel, for a packet that has arrived on `vc`.
    #[inline]
    pub(super) fn ejection(output: u16, vc: u8) -> Self {
        Self::Output { output, vc: OutVc::This(vc), keeps_bubble: false }
    }
}

/// The ends of a packet that is injected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    /// The source's number in its part, and its router in the whole network.
    pub terminal: u32,
    pub from: u32,
    pub destination: u32,
    /// The number of the ejection channel among those of the destination.
    pub ejection: u16,
}
