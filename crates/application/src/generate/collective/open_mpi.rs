//! Which algorithms Open MPI 4.1 takes.
//!
//! The rules are the fixed decisions of its component `coll/tuned`, for operations that commute, as
//! SimGrid's selector of February 2022 has them (`src/smpi/colls/smpi_openmpi_selector.cpp`, read
//! in November 2026). Where Open MPI has an algorithm that is not here, its nearest relative stands
//! in: binomial for k-nomial trees, binary for split and for in-order binary trees, recursive
//! halving for the butterfly, linear for linear with a barrier now and then. Rings of fewer
//! elements (of 8 bytes) than ranks are computed by recursive doubling, as there.

use super::Rules;

/// Of the first row for larger communicators, the first algorithm for more bytes.
pub(super) fn choose(rules: Rules, ranks: u32, bytes: u64) -> &'static str {
    let row = rules.iter().find(|row| ranks < row.0).or(rules.last());
    let rules = row.expect("there are rows").1;
    let rule = rules.iter().find(|rule| bytes < rule.0).or(rules.last());
    rule.expect("there are rules").1
}

/// For all above.
const MORE: u32 = u32::MAX;
const REST: u64 = u64::MAX;
const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

pub(super) const BROADCAST: Rules = &[
    (
        4,
        &[
            (32, "chain"),
            (256, "binary"),
            (512, "chain"),
            (KIB, "binomial"),
            (32 * KIB, "linear"),
            (128 * KIB, "binary"),
            (256 * KIB, "chain"),
            (512 * KIB, "linear"),
            (MIB, "binomial"),
            (REST, "binary"),
        ],
    ),
    (
        8,
        &[
            (64, "binary"),
            (128, "binomial"),
            (2 * KIB, "binary"),
            (8 * KIB, "binomial"),
            (MIB, "linear"),
            (REST, "chain"),
        ],
    ),
    (
        16,
        &[
            (8, "binomial"),
            (64, "binary"),
            (4 * KIB, "binomial"),
            (16 * KIB, "binary"),
            (32 * KIB, "binomial"),
            (REST, "linear"),
        ],
    ),
    (32, &[(MIB, "binomial"), (REST, "scatter-recursive-doubling")]),
    (128, &[(REST, "binomial")]),
    (
        256,
        &[
            (2, "binomial"),
            (16 * KIB, "binary"),
            (32 * KIB, "linear"),
            (64 * KIB, "binary"),
            (REST, "binomial"),
        ],
    ),
    (1024, &[(16 * KIB, "binomial"), (32 * KIB, "binary"), (REST, "binomial")]),
    (2048, &[(512 * KIB, "binomial"), (REST, "scatter-recursive-doubling")]),
    (4096, &[(256 * KIB, "binomial"), (REST, "scatter-recursive-doubling")]),
    (
        MORE,
        &[
            (8 * KIB, "binomial"),
            (16 * KIB, "binary"),
            (256 * KIB, "binomial"),
            (REST, "scatter-recursive-doubling"),
        ],
    ),
];

pub(super) const REDUCE: Rules = &[
    (4, &[(8, "linear"), (16, "binary"), (32, "chain"), (256 * KIB, "linear"), (REST, "chain")]),
    (
        8,
        &[
            (4 * KIB, "binary"),
            (64 * KIB, "chain"),
            (256 * KIB, "binomial"),
            (512 * KIB, "linear"),
            (MIB, "binomial"),
            (REST, "linear"),
        ],
    ),
    (16, &[(8 * KIB, "binary"), (REST, "binomial")]),
    (32, &[(4 * KIB, "binary"), (REST, "binomial")]),
    (256, &[(REST, "binomial")]),
    (512, &[(8 * KIB, "binomial"), (16 * KIB, "binary"), (REST, "binomial")]),
    (2048, &[(REST, "binomial")]),
    (
        4096,
        &[
            (512, "binomial"),
            (KIB, "binary"),
            (8 * KIB, "binomial"),
            (16 * KIB, "binary"),
            (REST, "binomial"),
        ],
    ),
    (
        MORE,
        &[
            (16, "binomial"),
            (32, "binary"),
            (KIB, "binomial"),
            (2 * KIB, "binary"),
            (8 * KIB, "binomial"),
            (16 * KIB, "binary"),
            (REST, "binomial"),
        ],
    ),
];

pub(super) const ALL_REDUCE: Rules = &[
    (
        4,
        &[
            (8, "ring"),
            (4 * KIB, "recursive-doubling"),
            (8 * KIB, "ring"),
            (16 * KIB, "recursive-doubling"),
            (256 * KIB, "ring"),
            (REST, "rabenseifner"),
        ],
    ),
    (8, &[(16, "ring"), (8 * KIB, "recursive-doubling"), (REST, "rabenseifner")]),
    (16, &[(8 * KIB, "recursive-doubling"), (REST, "rabenseifner")]),
    (32, &[(64, "ring"), (4 * KIB, "recursive-doubling"), (REST, "rabenseifner")]),
    (64, &[(128, "ring"), (REST, "rabenseifner")]),
    (128, &[(256 * KIB, "recursive-doubling"), (REST, "rabenseifner")]),
    (
        256,
        &[
            (128 * KIB, "reduce-broadcast"),
            (256 * KIB, "recursive-doubling"),
            (REST, "rabenseifner"),
        ],
    ),
    (512, &[(4 * KIB, "reduce-broadcast"), (REST, "rabenseifner")]),
    (
        2048,
        &[(2 * KIB, "reduce-broadcast"), (16 * KIB, "recursive-doubling"), (REST, "rabenseifner")],
    ),
    (
        4096,
        &[
            (2 * KIB, "reduce-broadcast"),
            (4 * KIB, "ring"),
            (16 * KIB, "recursive-doubling"),
            (REST, "rabenseifner"),
        ],
    ),
    (
        MORE,
        &[
            (2 * KIB, "reduce-broadcast"),
            (16 * KIB, "ring"),
            (32 * KIB, "recursive-doubling"),
            (REST, "rabenseifner"),
        ],
    ),
];

pub(super) const ALL_GATHER: Rules = &[
    (32, &[(REST, "recursive-doubling")]),
    (64, &[(KIB, "recursive-doubling"), (64 * KIB, "neighbor-exchange"), (REST, "ring")]),
    (128, &[(512, "recursive-doubling"), (64 * KIB, "neighbor-exchange"), (REST, "ring")]),
    (
        256,
        &[
            (512, "recursive-doubling"),
            (128 * KIB, "neighbor-exchange"),
            (512 * KIB, "ring"),
            (MIB, "neighbor-exchange"),
            (REST, "ring"),
        ],
    ),
    (
        512,
        &[
            (32, "recursive-doubling"),
            (128, "bruck"),
            (KIB, "recursive-doubling"),
            (128 * KIB, "neighbor-exchange"),
            (512 * KIB, "ring"),
            (MIB, "neighbor-exchange"),
            (REST, "ring"),
        ],
    ),
    (
        1024,
        &[
            (64, "recursive-doubling"),
            (256, "bruck"),
            (2 * KIB, "recursive-doubling"),
            (REST, "neighbor-exchange"),
        ],
    ),
    (
        2048,
        &[
            (4, "recursive-doubling"),
            (8, "bruck"),
            (16, "recursive-doubling"),
            (32, "bruck"),
            (256, "recursive-doubling"),
            (512, "bruck"),
            (4 * KIB, "recursive-doubling"),
            (REST, "neighbor-exchange"),
        ],
    ),
    (
        4096,
        &[
            (32, "bruck"),
            (128, "recursive-doubling"),
            (512, "bruck"),
            (4 * KIB, "recursive-doubling"),
            (REST, "neighbor-exchange"),
        ],
    ),
    (
        MORE,
        &[
            (2, "recursive-doubling"),
            (8, "bruck"),
            (16, "recursive-doubling"),
            (512, "bruck"),
            (4 * KIB, "recursive-doubling"),
            (REST, "neighbor-exchange"),
        ],
    ),
];

pub(super) const REDUCE_SCATTER: Rules = &[
    (4, &[(64 * KIB, "ring"), (128 * KIB, "recursive-halving"), (REST, "ring")]),
    (8, &[(8, "reduce-then-scatter"), (256 * KIB, "recursive-halving"), (REST, "ring")]),
    (32, &[(256 * KIB, "recursive-halving"), (REST, "ring")]),
    (64, &[(64, "reduce-then-scatter"), (512 * KIB, "recursive-halving"), (REST, "ring")]),
    (512, &[(256, "reduce-then-scatter"), (REST, "recursive-halving")]),
    (4096, &[(512, "reduce-then-scatter"), (REST, "recursive-halving")]),
    (MORE, &[(KIB, "reduce-then-scatter"), (REST, "recursive-halving")]),
];

pub(super) const ALL_TO_ALL: Rules = &[
    (
        3,
        &[
            (2, "pairwise"),
            (4, "linear"),
            (16, "pairwise"),
            (64, "linear"),
            (256, "pairwise"),
            (4 * KIB, "linear"),
            (32 * KIB, "pairwise"),
            (MIB, "linear"),
            (REST, "pairwise"),
        ],
    ),
    (8, &[(512 * KIB, "linear"), (MIB, "pairwise"), (REST, "linear")]),
    (16, &[(REST, "linear")]),
    (32, &[(4, "linear"), (512, "bruck"), (REST, "linear")]),
    (64, &[(512, "bruck"), (REST, "linear")]),
    (256, &[(KIB, "bruck"), (256 * KIB, "linear"), (REST, "pairwise")]),
    (512, &[(KIB, "bruck"), (32 * KIB, "linear"), (REST, "pairwise")]),
    (1024, &[(512, "bruck"), (256 * KIB, "linear"), (REST, "pairwise")]),
    (2048, &[(512, "bruck"), (REST, "linear")]),
    (4096, &[(KIB, "bruck"), (REST, "linear")]),
    (MORE, &[(2 * KIB, "bruck"), (REST, "linear")]),
];

pub(super) const GATHER: Rules = &[
    (
        4,
        &[
            (4, "linear"),
            (32 * KIB, "binomial"),
            (64 * KIB, "linear"),
            (128 * KIB, "binomial"),
            (REST, "linear"),
        ],
    ),
    (8, &[(KIB, "binomial"), (8 * KIB, "linear"), (32 * KIB, "binomial"), (REST, "linear")]),
    (256, &[(REST, "binomial")]),
    (512, &[(2 * KIB, "binomial"), (8 * KIB, "linear"), (REST, "binomial")]),
    (MORE, &[(REST, "binomial")]),
];

pub(super) const SCATTER: Rules = &[
    (4, &[(REST, "linear")]),
    (8, &[(2 * KIB, "binomial"), (4 * KIB, "linear"), (8 * KIB, "binomial"), (REST, "linear")]),
    (32, &[(16 * KIB, "binomial"), (REST, "linear")]),
    (64, &[(512, "binomial"), (8 * KIB, "linear"), (16 * KIB, "binomial"), (REST, "linear")]),
    (MORE, &[(512, "binomial"), (REST, "linear")]),
];

pub(super) const BARRIER: Rules = &[
    (4, &[(REST, "recursive-doubling")]),
    (8, &[(REST, "linear")]),
    (64, &[(REST, "recursive-doubling")]),
    (256, &[(REST, "dissemination")]),
    (512, &[(REST, "tree")]),
    (1024, &[(REST, "dissemination")]),
    (4096, &[(REST, "tree")]),
    (MORE, &[(REST, "dissemination")]),
];
