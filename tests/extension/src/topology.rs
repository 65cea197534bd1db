//! Two levels of switches: each leaf has a cable to each spine. Leaves are the fabric's groups, and
//! load 1 saturates the cables to the spines.

use flitlab::document::Count;
use flitlab::registry::Row;
use flitlab::topology::Cabling;
use flitlab::topology::builders::{BuilderKind, Built, Sizes};

/// The topology.
pub static LEAF_SPINE: Row<BuilderKind> = Row::new(
    "leaf_spine",
    "Leaf switches with terminals, each joined with every spine switch.",
    BuilderKind { usual_table: |_| "up-down", read },
)
.known_as(&["clos", "spine_leaf"]);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let reader = &mut *sizes.reader;
    let leaves = reader.required("leaves", &Count { example: 4 }, "Leaf switches.");
    let spines = reader.required("spines", &Count { example: 2 }, "Spine switches.");
    let terminals = reader.value("terminals", &Count { example: 4 }, 4, "Terminals of each leaf.");
    let (leaves, spines) = (leaves?, spines?);
    let mut cabling = Cabling::default();
    for leaf in 0..leaves {
        cabling.router(format!("leaf{leaf}"));
    }
    for spine in 0..spines {
        let spine = cabling.router(format!("spine{spine}"));
        (0..leaves).for_each(|leaf| cabling.cable(leaf, spine));
    }
    for number in 0..leaves * terminals {
        cabling.terminal(format!("host{number}"), number / terminals);
    }
    // Under uniform traffic so many of the packets of a leaf's terminals leave it.
    let (leave, uplinks) = (terminals * (leaves - 1), spines * leaves);
    if leave > uplinks {
        cabling.capacity(uplinks, leave);
    }
    // Spines have no terminals: in which group they are does not matter.
    cabling.group(|router| if router < leaves { router } else { 0 });
    Some(Built { name: format!("{leaves} leaves and {spines} spines"), cabling: Ok(cabling) })
}
