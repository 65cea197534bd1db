//! How large routers are: what small ones do is compiled for them, with a third fewer instructions.

use serde::{Deserialize, Serialize};

use super::octet::{EIGHT, Octet};

/// How large the routers of a network are.
pub(super) trait Size: Copy {
    type Octets: ?Sized;

    /// A router's octets, which are as many as it has.
    fn octets(octets: &mut [Octet]) -> &mut Self::Octets;

    /// All ports of a router.
    fn all(octets: &Self::Octets) -> &[Octet];

    /// The octet in which a port is.
    fn octet(octets: &mut Self::Octets, port: usize) -> &mut Octet;

    /// Words of a set of pairs of an input port and a lane.
    fn words(self) -> usize;

    /// By how many bits the input port is shifted in a pair's number; the lane is in these bits.
    fn shift(self) -> u32;
}

/// At most eight outputs and eight input ports, and eight lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Small {
    pub shift: u32,
}

impl Size for Small {
    type Octets = Octet;

    #[inline(always)]
    fn octets(octets: &mut [Octet]) -> &mut Octet {
        &mut octets[0]
    }

    #[inline(always)]
    fn all(octets: &Octet) -> &[Octet] {
        std::slice::from_ref(octets)
    }

    #[inline(always)]
    fn octet(octets: &mut Octet, _: usize) -> &mut Octet {
        octets
    }

    #[inline(always)]
    fn words(self) -> usize {
        1
    }

    #[inline(always)]
    fn shift(self) -> u32 {
        self.shift
    }
}

/// Any size.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Any {
    pub words: usize,
    pub shift: u32,
}

impl Size for Any {
    type Octets = [Octet];

    #[inline(always)]
    fn octets(octets: &mut [Octet]) -> &mut [Octet] {
        octets
    }

    #[inline(always)]
    fn all(octets: &[Octet]) -> &[Octet] {
        octets
    }

    #[inline(always)]
    fn octet(octets: &mut [Octet], port: usize) -> &mut Octet {
        &mut octets[port / EIGHT]
    }

    #[inline(always)]
    fn words(self) -> usize {
        self.words
    }

    #[inline(always)]
    fn shift(self) -> u32 {
        self.shift
    }
}
