//! (x,y,z) -> (y,z,x), as \[outflank\] defines it for three dimensions.

use super::{Nodes, Partners, PatternError, PatternKind, PatternRule};
use super::{coordinates::shifted, no_keys, sizes};
use flitlab_base::registry::Row;

pub(super) const TRANSPOSE_3D: Row<PatternKind> = Row::new(
    "transpose-3d",
    "(x,y,z) to (y,z,x).",
    PatternKind { partners: Partners::Fixed, read: |_, _| no_keys(bind) },
);

fn bind(nodes: &Nodes<'_>) -> Result<Box<dyn PatternRule>, PatternError> {
    let torus = nodes.torus()?;
    let lengths = torus.sizes();
    let has = match lengths {
        [x, y, z] if x == y && y == z => return Ok(shifted(torus, 1, |_| 0)),
        [x, y, z] => format!("{x}, {y} and {z}"),
        [_] => "1 dimension".into(),
        _ => format!("{} dimensions", lengths.len()),
    };
    let needs = "three dimensions of equal size".into();
    Err(nodes.refuse_sizes(needs, has, lengths, sizes::cubes(lengths)))
}
