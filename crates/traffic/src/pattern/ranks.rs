//! Patterns on ranks, as MPI programs have them: the nodes that take part, in ascending order, are
//! ranks 0 to N - 1. So they are defined for any set of nodes of any fabric (\[angara-routing\],
//! section 5.2).

use std::sync::Arc;

use super::{Live, Partners, PatternError, PatternKind, PatternRule};
use flitlab_base::document::Count;
use flitlab_base::registry::Row;

pub(super) const RANK_TRANSPOSE: Row<PatternKind> = Row::new(
    "rank-transpose",
    "a matrix of ranks transposed: rank i C + j of R rows and C columns to rank j R + i.",
    PatternKind {
        partners: Partners::Fixed,
        read: |reader, _| {
            let doc = "Rows of the matrix, which divide the number of ranks; by default as many as there are columns, or \
                       the next fewer that do.";
            let rows = reader.optional("rows", &Count { example: 4 }, doc);
            Some(Arc::new(move |nodes| {
                let ranks = nodes.live.count();
                let rows = rows.unwrap_or_else(|| most_rows(ranks));
                if rows == 0 || !ranks.is_multiple_of(rows) {
                    let text =
                        format!("rank-transpose has {ranks} ranks, which {rows} rows don't divide");
                    return Err(PatternError::Refused(text));
                }
                if rows == 1 || rows == ranks {
                    let text = format!(
                        "rank-transpose moves nothing in one row: {ranks} ranks need a number of rows that divides them"
                    );
                    return Err(PatternError::Refused(text));
                }
                let columns = ranks / rows;
                Ok(Box::new(ByRank(move |rank, _| rank % columns * rows + rank / columns)))
            }))
        },
    },
);

pub(super) const RANK_NEIGHBOR: Row<PatternKind> = Row::new(
    "rank-neighbor",
    "to the next rank, and the last one to the first.",
    PatternKind {
        partners: Partners::Fixed,
        read: |_, _| super::no_keys(|_| Ok(Box::new(ByRank(|rank, ranks| (rank + 1) % ranks)))),
    },
);

pub(super) const RANK_TORNADO: Row<PatternKind> = Row::new(
    "rank-tornado",
    "almost half way round: to rank r + ceil(N / 2) - 1, mod N.",
    PatternKind {
        partners: Partners::Fixed,
        read: |_, _| {
            super::no_keys(|_| {
                Ok(Box::new(ByRank(|rank, ranks: u32| (rank + ranks.div_ceil(2) - 1) % ranks)))
            })
        },
    },
);

/// The largest divisor whose square is not above the number of ranks.
fn most_rows(ranks: u32) -> u32 {
    let rows = (1..=ranks.isqrt()).rev().find(|&rows| ranks.is_multiple_of(rows));
    rows.expect("one divides all")
}

/// Gives the rank to which a rank of so many sends.
struct ByRank<F>(F);

impl<F: Fn(u32, u32) -> u32 + Send + Sync> PatternRule for ByRank<F> {
    fn partner(&self, source: u32, _: u32, live: &Live) -> u32 {
        live.at((self.0)(live.rank(source), live.count()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Pattern, PatternSpec};
    use flitlab_fabric::{Faults, Torus};

    /// Where each node of a torus sends; itself if it sends nothing.
    fn destinations(sizes: &[u32], name: &str, keys: &str, among: &[u32]) -> Vec<u32> {
        let fabric = Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap();
        let mut spec = PatternSpec::new(name, keys);
        if !among.is_empty() {
            spec = spec.among(among.to_vec());
        }
        let pattern = Pattern::new(&spec, &fabric, 1).unwrap();
        let nodes: Vec<u32> =
            if among.is_empty() { (0..fabric.terminals()).collect() } else { among.to_vec() };
        let to = |&node: &u32| {
            let mut to = node;
            if pattern.sends(node) {
                pattern.for_each_share(node, |destination, _| to = destination);
            }
            to
        };
        nodes.iter().map(to).collect()
    }

    #[test]
    fn a_matrix_of_ranks_is_transposed_on_any_torus() {
        // Desmos: 4 rows of 8 become 8 rows of 4.
        let desmos = destinations(&[4, 2, 2, 2], "rank-transpose", "", &[]);
        assert_eq!(desmos[..9], [0, 4, 8, 12, 16, 20, 24, 28, 1]);
        let back: Vec<u32> = desmos.iter().map(|&at| at % 4 * 8 + at / 4).collect();
        assert_eq!(back, (0..32).collect::<Vec<_>>());
        let six = destinations(&[6], "rank-transpose", "rows = 3", &[]);
        assert_eq!(six, [0, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn ranks_are_the_nodes_that_take_part() {
        let some = [1, 2, 4, 7, 8, 11];
        assert_eq!(destinations(&[4, 3], "rank-neighbor", "", &some), [2, 4, 7, 8, 11, 1]);
        assert_eq!(destinations(&[4, 3], "rank-tornado", "", &some), [4, 7, 8, 11, 1, 2]);
        assert_eq!(destinations(&[5], "rank-tornado", "", &[]), [2, 3, 4, 0, 1]);
        assert_eq!(destinations(&[4, 3], "rank-transpose", "", &some), [1, 4, 8, 2, 7, 11]);
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        let said = |nodes: u32, keys: &str| {
            let fabric = Torus::new(&[nodes], &[]).unwrap().fabric(&Faults::default()).unwrap();
            let spec = PatternSpec::new("rank-transpose", keys);
            Pattern::new(&spec, &fabric, 1).map(|_| ()).unwrap_err().to_string()
        };
        assert!(said(7, "").contains("moves nothing in one row"));
        assert!(said(8, "rows = 8").contains("moves nothing in one row"));
        assert!(said(8, "rows = 3").contains("8 ranks, which 3 rows don't divide"));
    }
}
