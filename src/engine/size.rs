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

/// At most `N` times eight outputs and as many input ports, and at most 64 pairs of an input port and a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Small<const N: usize> {
    pub shift: u32,
}

impl<const N: usize> Size for Small<N> {
    type Octets = [Octet; N];

    #[inline(always)]
    fn octets(octets: &mut [Octet]) -> &mut [Octet; N] {
        octets.try_into().expect("each router has as many")
    }

    #[inline(always)]
    fn all(octets: &[Octet; N]) -> &[Octet] {
        octets
    }

    #[inline(always)]
    fn octet(octets: &mut [Octet; N], port: usize) -> &mut Octet {
        &mut octets[port / EIGHT % N]
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
