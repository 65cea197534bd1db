//! \[dragonfly\], the evaluation of routing: minimal routing, Valiant's and UGAL on a Dragonfly of
//! 1,056 terminals, under uniform traffic and from each group to the next one. Packets of one flit
//! are created at random; a virtual channel has a buffer of 16 flits.
//!
//! The paper's values are in its figures only, and of these we have none: what its text says is
//! put beside ours, and marked as remembered where we had no text. So is the rule of UGAL-L_CR,
//! which delays credits by congestion.

use super::load_curves::{Claim, Network, Of, Panel, Rule, Says, load_curves};
use super::{Extent, Flawed, Progress, Reproduction};

const RULES: [Rule; 7] = [
    Rule { name: "minimal", written: "\"dragonfly-minimal\"", buffer: 16 },
    Rule { name: "Valiant", written: "\"valiant\"", buffer: 16 },
    Rule {
        name: "UGAL-L",
        written: "{ ugal = { queues = \"port\", minimal_channels = \"apart\" } }",
        buffer: 16,
    },
    Rule { name: "UGAL-L_VC", written: "{ ugal = { queues = \"vc\" } }", buffer: 16 },
    Rule { name: "UGAL-L_VCH", written: "{ ugal = { queues = \"vc-if-shared\" } }", buffer: 16 },
    Rule {
        name: "UGAL-L_CR",
        written: "{ ugal = { queues = \"vc-if-shared\", credits = \"delayed\" } }",
        buffer: 16,
    },
    Rule {
        name: "UGAL-G",
        written: "{ ugal = { sees = \"group\", age = \"1 ns\", minimal_channels = \"apart\" } }",
        buffer: 16,
    },
];

/// UGAL-L of the others with its buffers, and with shorter and longer ones.
const BUFFERS: [Rule; 3] = [
    Rule { name: "buffers of 4 flits", written: RULES[2].written, buffer: 4 },
    Rule { name: "buffers of 16 flits", written: RULES[2].written, buffer: 16 },
    Rule { name: "buffers of 256 flits", written: RULES[2].written, buffer: 256 },
];

const UNIFORM: Panel = Panel {
    name: "uniform",
    title: "uniform",
    pattern: "\"uniform\"",
    rules: &RULES,
    loads: &[],
    claims: &[],
};

const NEXT_GROUP: Panel = Panel {
    name: "worst-case",
    title: "to the next group",
    pattern: "{ group-shift = { by = 1 } }",
    rules: &RULES,
    loads: &[],
    claims: &[],
};

const OTHER_BUFFERS: Panel = Panel {
    name: "worst-case-buffers",
    title: "to the next group, UGAL-L",
    pattern: NEXT_GROUP.pattern,
    rules: &BUFFERS,
    loads: &[0.05, 0.1, 0.2, 0.3, 0.35],
    claims: &[
        Claim {
            rule: "buffers of 256 flits",
            of: Of::LatencyOver("buffers of 16 flits", 0.3),
            says: Says::AtLeast(1.0),
            remark: "the paper, as remembered: latency at intermediate loads grows with buffers",
        },
        Claim {
            rule: "buffers of 16 flits",
            of: Of::LatencyOver("buffers of 4 flits", 0.2),
            says: Says::AtLeast(1.0),
            remark: "beyond the paper: the same of shorter ones",
        },
    ],
};

/// What the paper's text says of the worst case on any size.
const SAID: [Claim; 7] = [
    Claim {
        rule: "UGAL-G",
        of: Of::Highest,
        says: Says::Equal(0.5),
        remark: "the paper, as remembered: near that",
    },
    Claim {
        rule: "UGAL-L",
        of: Of::HighestOver("UGAL-G"),
        says: Says::Equal(1.0),
        remark: "the paper, as remembered: about as much",
    },
    Claim {
        rule: "UGAL-L",
        of: Of::LatencyOver("UGAL-G", 0.3),
        says: Says::AtLeast(1.0),
        remark: "the paper, as remembered: high at intermediate loads",
    },
    Claim {
        rule: "UGAL-L_VCH",
        of: Of::LatencyOver("UGAL-L", 0.3),
        says: Says::AtMost(1.0),
        remark: "the paper: channels told apart and the credits' round trip come near the ideal",
    },
    Claim {
        rule: "UGAL-L_CR",
        of: Of::LatencyOver("UGAL-L_VCH", 0.3),
        says: Says::AtMost(1.0),
        remark: "the paper: credits that are delayed by congestion come nearer to the ideal",
    },
    Claim {
        rule: "UGAL-L_CR",
        of: Of::LatencyOver("UGAL-G", 0.3),
        says: Says::Equal(1.0),
        remark: "the paper: with channels told apart near the ideal",
    },
    Claim {
        rule: "UGAL-L_CR",
        of: Of::HighestOver("UGAL-G"),
        says: Says::Equal(1.0),
        remark: "the paper: with channels told apart near the ideal",
    },
];

const fn minimal(says: f64) -> Claim {
    Claim {
        rule: "minimal",
        of: Of::Highest,
        says: Says::Equal(says),
        remark: "closed form 1 / (a h): one cable carries a group's terminals",
    }
}

const fn valiant(says: f64) -> Claim {
    Claim {
        rule: "Valiant",
        of: Of::Highest,
        says: Says::AtMost(says),
        remark: "closed form (g - 2) / (2 (g - 1)); the paper, as remembered: near 0.5",
    }
}

/// Of uniform traffic, with the most that Valiant's detours carry.
const fn uniform(valiant: f64) -> [Claim; 4] {
    [
        Claim {
            rule: "minimal",
            of: Of::Highest,
            says: Says::AtMost(1.0),
            remark: "closed form: the terminals' links bind before the cables do",
        },
        Claim {
            rule: "Valiant",
            of: Of::Highest,
            says: Says::AtMost(valiant),
            remark: "the bound that `flitlab check` proves; the paper, as remembered: half of the capacity",
        },
        Claim {
            rule: "UGAL-L_VC",
            of: Of::HighestOver("UGAL-L"),
            says: Says::AtMost(1.0),
            remark: "the paper, from its readers: it takes too many detours of uniform traffic",
        },
        Claim {
            rule: "UGAL-L_VCH",
            of: Of::HighestOver("UGAL-L_VC"),
            says: Says::AtLeast(1.0),
            remark: "the paper, as remembered: the hybrid mends that",
        },
    ]
}

const SMALL_UNIFORM: [Claim; 4] = uniform(0.5182);
const LARGE_UNIFORM: [Claim; 4] = uniform(0.5031);

const fn claims(minimal: Claim, valiant: Claim) -> [Claim; 9] {
    let [ideal, most, latency, hybrid, earlier, near, nearly] = SAID;
    [minimal, valiant, ideal, most, latency, hybrid, earlier, near, nearly]
}

const SMALL: [Claim; 9] = claims(minimal(1.0 / 8.0), valiant(7.0 / 16.0));
const LARGE: [Claim; 9] = claims(minimal(1.0 / 32.0), valiant(31.0 / 64.0));

pub(super) static NETWORKS: [Network; 2] = [
    Network {
        name: "dragonfly-72",
        title: "Dragonfly of 9 groups, 72 terminals",
        topology: "dragonfly = { groups = 9, group_size = 4, global_cables = 2, terminals = 2 }",
        vcs: 3,
        packet: 1,
        windows: (200, 3, 8),
        panels: &[
            Panel { loads: &[0.1, 0.3, 0.6, 0.8, 1.0], claims: &SMALL_UNIFORM, ..UNIFORM },
            Panel { loads: &[0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 1.0], claims: &SMALL, ..NEXT_GROUP },
        ],
    },
    Network {
        name: "dragonfly-1056",
        title: "Dragonfly of 33 groups, 1,056 terminals",
        topology: "dragonfly = { groups = 33, group_size = 8, global_cables = 4, terminals = 4 }",
        vcs: 3,
        packet: 1,
        windows: (250, 4, 6),
        panels: &[
            Panel { loads: &[0.1, 0.4, 0.7, 0.85, 1.0], claims: &LARGE_UNIFORM, ..UNIFORM },
            Panel {
                loads: &[0.02, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 1.0],
                claims: &LARGE,
                ..NEXT_GROUP
            },
            OTHER_BUFFERS,
        ],
    },
];

/// The curves of all rules.
///
/// # Errors
/// If packets deadlock in spite of a proof.
pub fn dragonfly_ugal(extent: Extent<'_>, progress: Progress<'_>) -> Result<Reproduction, Flawed> {
    load_curves(&NETWORKS, extent, progress)
}
