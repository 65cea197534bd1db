//! Trees with the root at place 0, and what flows along them in segments.

use super::Call;
use crate::application::generate::communicator::Communicator;
use crate::application::generate::program::Program;

/// The parent and children of a place.
pub(super) struct Family {
    pub parent: Option<u32>,
    pub children: Vec<u32>,
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
    shape: fn(u32, u32) -> Family,
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
    shape: fn(u32, u32) -> Family,
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
