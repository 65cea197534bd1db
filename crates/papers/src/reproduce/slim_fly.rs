//! \[slim-fly\], the evaluation of routing: minimal routing, Valiant's and UGAL on the paper's
//! network of 10,830 terminals (q = 19, 15 a router), and on one of 200 (q = 5), under uniform
//! traffic and from each router to one at two hops. Packets of one flit; UGAL takes the best of
//! four detours.
//!
//! The paper's curves are in its figures, of which we have none, and its worst case is another
//! one: all that goes over one channel.

use super::load_curves::{Claim, Network, Of, Panel, Rule, Says, load_curves};
use super::{Extent, Flawed, Progress, Reproduction};

const RULES: [Rule; 4] = [
    Rule { name: "minimal", written: "\"minimal-by-hop\"", buffer: 16 },
    Rule { name: "Valiant", written: "\"valiant\"", buffer: 16 },
    Rule {
        name: "UGAL-L",
        written: "{ ugal = { candidates = 4, weights = \"hops\" } }",
        buffer: 16,
    },
    Rule {
        name: "UGAL-G",
        written: "{ ugal = { candidates = 4, weights = \"hops\", sees = \"way\", age = \"1 ns\" } }",
        buffer: 16,
    },
];

const fn claim(rule: &'static str, says: Says, remark: &'static str) -> Claim {
    Claim { rule, of: Of::Highest, says, remark }
}

/// Of minimal routing: above this load the fullest channel is full, others are not.
const fn carried(most: f64, remark: &'static str) -> Claim {
    Claim { rule: "minimal", of: Of::Carried, says: Says::AtMost(most), remark }
}

const IDEAL: Claim = Claim {
    rule: "UGAL-L",
    of: Of::HighestOver("UGAL-G"),
    says: Says::AtMost(1.0),
    remark: "the paper, as remembered: UGAL-G is the better one",
};

const MEAN_HOPS: &str = "closed form: channels of a router over terminals and mean hops";

pub(super) static NETWORKS: [Network; 2] = [
    Network {
        name: "slim-fly-200",
        title: "Slim Fly, 200 terminals",
        topology: "slim_fly = { prime = 5, terminals = 4 }",
        vcs: 4,
        packet: 1,
        windows: (200, 3, 6),
        panels: &[
            Panel {
                name: "uniform",
                title: "uniform",
                pattern: "\"uniform\"",
                rules: &RULES,
                loads: &[0.1, 0.4, 0.7, 1.0],
                claims: &[
                    claim("minimal", Says::AtMost(0.957), MEAN_HOPS),
                    claim("Valiant", Says::AtMost(0.483), "the bound that `flitlab check` proves"),
                ],
            },
            Panel {
                name: "two-hops",
                title: "two hops away",
                pattern: "{ router-shift = { by = 7 } }",
                rules: &RULES,
                loads: &[0.1, 0.12, 0.2, 0.3, 0.45, 1.0],
                claims: &[carried(0.125, "closed form 1 / (2 p): two routers' ways meet"), IDEAL],
            },
        ],
    },
    Network {
        name: "slim-fly-10830",
        title: "Slim Fly, 10,830 terminals",
        topology: "slim_fly = { prime = 19, terminals = 15 }",
        vcs: 4,
        packet: 1,
        windows: (50, 3, 6),
        panels: &[
            Panel {
                name: "uniform",
                title: "uniform",
                pattern: "\"uniform\"",
                rules: &RULES,
                loads: &[0.1, 0.4, 0.7, 1.0],
                claims: &[
                    claim("minimal", Says::AtMost(0.988), MEAN_HOPS),
                    claim("Valiant", Says::AtMost(0.5), "the paper, as remembered: below that"),
                ],
            },
            Panel {
                name: "two-hops",
                title: "two hops away",
                pattern: "{ router-shift = { by = 190 } }",
                rules: &RULES,
                loads: &[0.05, 0.1, 0.2, 0.35, 0.45, 1.0],
                claims: &[
                    carried(
                        1.0 / 15.0,
                        "closed form 1 / p; the paper's worst case has 1 / (p + 1), as remembered",
                    ),
                    IDEAL,
                ],
            },
        ],
    },
];

/// The curves of all rules.
///
/// # Errors
/// If packets deadlock in spite of a proof.
pub fn slim_fly(extent: Extent<'_>, progress: Progress<'_>) -> Result<Reproduction, Flawed> {
    load_curves(&NETWORKS, extent, progress)
}
