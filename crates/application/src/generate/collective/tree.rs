//! Trees with the root at place 0, and what flows along them in segments.

use super::Call;
use crate::generate::communicator::Communicator;
use crate::generate::program::Program;

/// The parent and children of a place.
pub(super) struct Family {
    pub parent: Option<u32>,
    pub children: Vec<u32>,
}

/// The family of a place, of which there are so many.
pub(super) type Shape = dyn Fn(u32, u32) -> Family;

/// A shape of the first places of nodes that have so many places each; the others of a node are a
/// chain below its first one, as NCCL lays its trees out.
pub(super) fn of_nodes(each: u32, shape: fn(u32, u32) -> Family) -> impl Fn(u32, u32) -> Family {
    move |place, size| {
        let last = place % each + 1 == each;
        let next = (!last).then_some(place + 1);
        if !place.is_multiple_of(each) {
            return Family { parent: Some(place - 1), children: next.into_iter().collect() };
        }
        let Family { parent, children } = shape(place / each, size / each);
        let between = children.into_iter().map(|node| node * each);
        Family { parent: parent.map(|node| node * each), children: between.chain(next).collect() }
    }
}

/// Everyone below the root.
pub(super) fn linear(place: u32, size: u32) -> Family {
    match place {
        0 => Family { parent: None, children: (1..size).collect() },
        _ => Family { parent: Some(0), children: Vec::new() },
    }
}

/// Each place below the one before.
pub(super) fn chain(place: u32, size: u32) -> Family {
    let children = (place + 1 < size).then_some(place + 1);
    Family { parent: place.checked_sub(1), children: children.into_iter().collect() }
}

/// Two places below each.
pub(super) fn binary(place: u32, size: u32) -> Family {
    let children = [1, 2].map(|child| u64::from(place) * 2 + child);
    let children = children.into_iter().filter_map(|child| u32::try_from(child).ok());
    let children = children.filter(|&child| child < size).collect();
    Family { parent: place.checked_sub(1).map(|above| above / 2), children }
}

/// A child at each distance 1, 2, 4 and so on below the lowest bit of the place; the children with
/// the most below them come last.
pub(super) fn binomial(place: u32, size: u32) -> Family {
    let below = if place == 0 { size } else { 1 << place.trailing_zeros() };
    let children = super::fold::doubling(below).map(|distance| place + distance);
    let children = children.filter(|&child| child < size).collect();
    let parent = (place > 0).then(|| place & (place - 1));
    Family { parent, children }
}

/// A binary tree of which the places left of one come before it and those right of it behind: each
/// is below the place with the next higher bit in place of its lowest one. Its leaves are the odd
/// places, and place 0 has all others below it.
pub(super) fn in_order(place: u32, size: u32) -> Family {
    let inside = |&child: &u32| child < size;
    if place == 0 {
        let top = (size > 1).then(|| 1 << (size - 1).ilog2());
        return Family { parent: None, children: top.into_iter().collect() };
    }
    let bit = 1 << place.trailing_zeros();
    let above = place & !bit;
    let parent = if (above | bit << 1) < size { above | bit << 1 } else { above };
    // The right half may be cut short: then a smaller one has its place.
    let left = (bit > 1).then(|| place - bit / 2);
    let shorter = std::iter::successors(Some(bit / 2), |step| Some(step / 2));
    let right = shorter.take_while(|&step| step > 0).map(|step| place + step).find(inside);
    Family { parent: Some(parent), children: left.into_iter().chain(right).collect() }
}

/// The tree of [`in_order`] with its places in another order, so that its leaves are inside: from
/// the last one back of an even number of them, and each one further on of an odd one.
pub(super) fn in_order_reversed(place: u32, size: u32) -> Family {
    let there = |place: u32| match size.is_multiple_of(2) {
        true => size - 1 - place,
        false => (place + size - 1) % size,
    };
    let back = |place: u32| match size.is_multiple_of(2) {
        true => size - 1 - place,
        false => (place + 1) % size,
    };
    let Family { parent, children } = in_order(there(place), size);
    Family { parent: parent.map(back), children: children.into_iter().map(back).collect() }
}

/// How many places there are in the binomial tree from this one down.
pub(super) fn binomial_descendants(place: u32, size: u32) -> u32 {
    if place == 0 { size } else { (1 << place.trailing_zeros()).min(size - place) }
}

/// The sizes of the segments of so many bytes: one at least.
pub(super) fn segments(bytes: u64, most: u64) -> impl Iterator<Item = u64> {
    let count = bytes.div_ceil(most.max(1)).max(1);
    (0..count).map(move |segment| most.max(1).min(bytes - segment * most.max(1)))
}

/// Up a binary tree and down again, whole: waits for both children, then for the parent, then
/// passes on to the children in their order.
pub(super) fn up_and_down(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let Family { parent, children } = binary(members.place(), members.size);
    let tags = members.tags(2);
    let receive = |&from: &u32| members.begin_receive(program, call.bytes, from, tags.at(0));
    let receives: Vec<_> = children.iter().map(receive).collect();
    program.wait(&receives);
    receives.iter().for_each(|_| call.combine(program, call.bytes));
    if let Some(parent) = parent {
        members.send(program, call.bytes, parent, tags.at(0));
        members.receive(program, call.bytes, parent, tags.at(1));
    }
    let send = |&to: &u32| members.begin_send(program, call.bytes, to, tags.at(1));
    let sends: Vec<_> = children.iter().map(send).collect();
    program.wait(&sends);
}

/// From the root to all, those with the most below them first. The next segment's receive is posted
/// before the current one is passed on.
pub(super) fn down(
    program: &mut Program,
    members: &mut Communicator<'_>,
    call: &Call,
    segment: u64,
    shape: &Shape,
) {
    let family = shape(members.place(), members.size);
    let sizes: Vec<u64> = segments(call.bytes, segment).collect();
    let tags = members.tags(flitlab_base::narrow::narrow(sizes.len()));
    let post = |program: &mut Program, round: u32| {
        let bytes = *sizes.get(round as usize)?;
        Some(members.begin_receive(program, bytes, family.parent?, tags.at(round)))
    };
    let mut receive = post(program, 0);
    for (round, &bytes) in (0..).zip(&sizes) {
        let next = receive.and_then(|_| post(program, round + 1));
        program.wait(receive.as_slice());
        let sends = family.children.iter().rev();
        let sends: Vec<_> =
            sends.map(|&to| members.begin_send(program, bytes, to, tags.at(round))).collect();
        program.wait(&sends);
        receive = next;
    }
}

/// From all to the root, which combines what comes; those with the least below them first.
pub(super) fn up(
    program: &mut Program,
    members: &mut Communicator<'_>,
    call: &Call,
    segment: u64,
    shape: &Shape,
) {
    let family = shape(members.place(), members.size);
    let sizes: Vec<u64> = segments(call.bytes, segment).collect();
    let tags = members.tags(flitlab_base::narrow::narrow(sizes.len()));
    for (round, &bytes) in (0..).zip(&sizes) {
        let receives: Vec<_> = family
            .children
            .iter()
            .map(|&from| members.begin_receive(program, bytes, from, tags.at(round)))
            .collect();
        for receive in receives {
            program.wait(&[receive]);
            call.combine(program, bytes);
        }
        if let Some(parent) = family.parent {
            members.send(program, bytes, parent, tags.at(round));
        }
    }
}

/// At the root of a tree: each segment that has come from below goes down again at once. The tags
/// are those that the others have for each way.
pub(super) fn turn(
    program: &mut Program,
    above: &mut Communicator<'_>,
    below: &mut Communicator<'_>,
    call: &Call,
    segment: u64,
    shape: &Shape,
) {
    let Family { children, .. } = shape(above.place(), above.size);
    let sizes: Vec<u64> = segments(call.bytes, segment).collect();
    let count = flitlab_base::narrow::narrow(sizes.len());
    let (up, down) = (above.tags(count), below.tags(count));
    for (round, &bytes) in (0..).zip(&sizes) {
        let receive = |program: &mut Program, &from: &u32| {
            above.begin_receive(program, bytes, from, up.at(round))
        };
        let receives: Vec<_> = children.iter().map(|from| receive(program, from)).collect();
        for receive in receives {
            program.wait(&[receive]);
            call.combine(program, bytes);
        }
        let sends = children.iter().map(|&to| below.begin_send(program, bytes, to, down.at(round)));
        let sends: Vec<_> = sends.collect();
        program.wait(&sends);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_binary_trees_have_all_places_once_and_leaves_of_one_are_inside_the_other() {
        for size in 1..=130 {
            let mut inside = Vec::new();
            for shape in [in_order, in_order_reversed] as [fn(u32, u32) -> Family; 2] {
                let families: Vec<Family> = (0..size).map(|place| shape(place, size)).collect();
                assert_eq!(families.iter().filter(|it| it.parent.is_none()).count(), 1);
                for (place, family) in (0..).zip(&families) {
                    assert!(family.children.len() <= 2, "{size}: {place}");
                    for &child in &family.children {
                        assert_eq!(families[child as usize].parent, Some(place), "{size}: {child}");
                    }
                    // From each place up to the root in few steps.
                    let up = |&at: &u32| families[at as usize].parent;
                    let steps = std::iter::successors(Some(place), up).count();
                    assert!(steps <= size.ilog2() as usize + 2, "{size}: {place}");
                }
                let below: usize = families.iter().map(|it| it.children.len()).sum();
                assert_eq!(below, size as usize - 1);
                inside.push(families.iter().map(|it| it.children.len()).collect::<Vec<_>>());
            }
            // Nobody passes on whole vectors in both: that is what makes it twice as fast.
            let both = inside[0].iter().zip(&inside[1]).filter(|it| *it.0 == 2 && *it.1 == 2);
            assert_eq!(both.count(), 0, "{size}");
        }
    }
}
