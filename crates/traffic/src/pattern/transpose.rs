//! d_i = s_(i + n/2 mod n) of n coordinates: in two dimensions (x,y) -> (y,x).

use super::{Nodes, Partners, PatternError, PatternKind, PatternRule};
use super::{coordinates::shifted, no_keys, sizes};
use flitlab_base::registry::Row;
use flitlab_fabric::DIMENSION_NAMES;

pub(super) const TRANSPOSE: Row<PatternKind> = Row::new(
    "transpose",
    "the first half of the coordinates swapped with the second: (x,y) to (y,x).",
    PatternKind { partners: Partners::Fixed, read: |_, _| no_keys(bind) },
);

fn bind(nodes: &Nodes<'_>) -> Result<Box<dyn PatternRule>, PatternError> {
    let torus = nodes.torus()?;
    let (lengths, dimensions) = (torus.sizes(), torus.dimensions());
    let half = dimensions / 2;
    let refuse = |needs: String, has: String| {
        Err(nodes.refuse_sizes(needs, has, lengths, sizes::halves_alike(lengths)))
    };
    if !dimensions.is_multiple_of(2) {
        let needs = match lengths {
            [x, y, z] if x == y && y == z => {
                "an even number of dimensions (transpose-3d is for three equal ones)"
            }
            _ => "an even number of dimensions",
        };
        return refuse(needs.into(), dimensions.to_string());
    }
    if let Some(i) = (0..half).find(|&i| lengths[i] != lengths[i + half]) {
        let (one, other) = (DIMENSION_NAMES[i], DIMENSION_NAMES[i + half]);
        return refuse(
            format!("dimensions {one} and {other} of equal size"),
            format!("{} and {}", lengths[i], lengths[i + half]),
        );
    }
    Ok(shifted(torus, half, |_| 0))
}
