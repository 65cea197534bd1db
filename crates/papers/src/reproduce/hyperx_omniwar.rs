//! \[hyperx-adaptive\]: `DimWAR` and `OmniWAR` beside minimal routing, Valiant's, UGAL and DAL on a
//! HyperX of 8x8x8 routers with 8 terminals each, and of 4x4 with 4, under uniform traffic, the
//! complement of every coordinate, and from each router to the next one of the first dimension.
//! Packets of 16 flits; buffers of four.
//!
//! The paper's values are in its figures, of which we have none; of its abstract one is put beside
//! ours. Its minimal routing goes by the order of dimensions, ours in any order.

use super::load_curves::{Claim, Network, Of, Panel, Rule, Says, load_curves};
use super::{Extent, Flawed, Progress, Reproduction};

const RULES: [Rule; 6] = [
    Rule { name: "minimal", written: "\"minimal-by-hop\"", buffer: 64 },
    Rule { name: "Valiant", written: "\"valiant\"", buffer: 64 },
    Rule { name: "UGAL", written: "\"ugal\"", buffer: 64 },
    Rule { name: "DAL", written: "\"dal\"", buffer: 64 },
    Rule { name: "DimWAR", written: "\"dimwar\"", buffer: 64 },
    Rule { name: "OmniWAR", written: "\"omniwar\"", buffer: 64 },
];

const UNIFORM: Panel = Panel {
    name: "uniform",
    title: "uniform",
    pattern: "\"uniform\"",
    rules: &RULES,
    loads: &[0.1, 0.3, 0.5, 0.7, 1.0],
    claims: &[
        Claim {
            rule: "minimal",
            of: Of::Highest,
            says: Says::AtMost(1.0),
            remark: "closed form: the terminals' links bind before the cables do",
        },
        Claim {
            rule: "OmniWAR",
            of: Of::HighestOver("UGAL"),
            says: Says::AtLeast(1.0),
            remark: "the paper, as remembered: at least as much",
        },
    ],
};

const COMPLEMENT: Panel = Panel {
    name: "complement",
    title: "complement",
    pattern: "\"dimension-complement\"",
    rules: &RULES,
    loads: &[0.1, 0.3, 0.4, 0.45, 1.0],
    claims: &[],
};

const SHIFT: Panel = Panel {
    name: "shift",
    title: "x + 1",
    pattern: "{ dimension-shift = { dimension = 1, by = 1 } }",
    rules: &RULES,
    loads: &[0.1, 0.3, 0.4, 0.45, 1.0],
    claims: &[],
};

const ORDER: Claim = Claim {
    rule: "OmniWAR",
    of: Of::HighestOver("UGAL"),
    says: Says::AtLeast(1.0),
    remark: "the paper, as remembered: more than rules that decide at the source",
};

const fn minimal(says: f64) -> Claim {
    Claim {
        rule: "minimal",
        of: Of::Highest,
        says: Says::Equal(says),
        remark: "closed form 1 / T: one cable carries a router's T terminals",
    }
}

const fn valiant(says: f64) -> Claim {
    Claim {
        rule: "Valiant",
        of: Of::Highest,
        says: Says::AtMost(says),
        remark: "the bound that `flitlab check` proves",
    }
}

pub(super) static NETWORKS: [Network; 2] = [
    Network {
        name: "hyperx-64",
        title: "HyperX of 4x4 routers, 64 terminals",
        topology: "hyperx = { dimensions = [4, 4], terminals = 4 }",
        vcs: 4,
        packet: 16,
        windows: (1000, 2, 10),
        panels: &[
            UNIFORM,
            Panel { claims: &[minimal(0.25), valiant(0.4375), ORDER], ..COMPLEMENT },
            Panel { claims: &[minimal(0.25), ORDER], ..SHIFT },
        ],
    },
    Network {
        name: "hyperx-4096",
        title: "HyperX of 8x8x8 routers, 4,096 terminals",
        topology: "hyperx = { dimensions = [8, 8, 8], terminals = 8 }",
        vcs: 6,
        packet: 16,
        windows: (200, 2, 4),
        panels: &[
            UNIFORM,
            Panel {
                claims: &[
                    minimal(0.125),
                    valiant(0.498),
                    ORDER,
                    Claim {
                        rule: "OmniWAR",
                        of: Of::HighestOver("minimal"),
                        says: Says::Equal(4.0),
                        remark: "the abstract: \"as much as 4x\" over prior work, of which it names none",
                    },
                ],
                ..COMPLEMENT
            },
            Panel { claims: &[minimal(0.125), ORDER], ..SHIFT },
        ],
    },
];

/// The curves of all rules.
///
/// # Errors
/// If packets deadlock in spite of a proof.
pub fn hyperx_omniwar(extent: Extent<'_>, progress: Progress<'_>) -> Result<Reproduction, Flawed> {
    load_curves(&NETWORKS, extent, progress)
}
