//! Cycles in the channel graphs of the proofs.

use std::collections::{HashMap, HashSet, VecDeque};

/// Strongly connected components of the graph of vertices from 0 to `count` (\[tarjan\]), without
/// recursion. All cycles through a vertex lie in its component.
pub(super) fn components<I: Iterator<Item = u32>>(
    count: u32,
    successors: &impl Fn(u32) -> I,
) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let mut number = vec![UNSEEN; count as usize];
    let mut low = vec![0u32; count as usize];
    let mut on_stack = vec![false; count as usize];
    let (mut stack, mut found) = (Vec::new(), Vec::new());
    let mut next_number = 0;
    for root in 0..count {
        if number[root as usize] != UNSEEN {
            continue;
        }
        let mut calls = vec![(root, successors(root))];
        while let Some((vertex, rest)) = calls.last_mut() {
            let vertex = *vertex;
            let place = vertex as usize;
            if number[place] == UNSEEN {
                number[place] = next_number;
                low[place] = next_number;
                next_number += 1;
                stack.push(vertex);
                on_stack[place] = true;
            }
            match rest.next() {
                Some(next) if number[next as usize] == UNSEEN => {
                    calls.push((next, successors(next)));
                }
                Some(next) => {
                    if on_stack[next as usize] {
                        low[place] = low[place].min(number[next as usize]);
                    }
                }
                None => {
                    calls.pop();
                    if let Some((caller, _)) = calls.last() {
                        let caller = *caller as usize;
                        low[caller] = low[caller].min(low[place]);
                    }
                    if low[place] == number[place] {
                        let first = stack
                            .iter()
                            .rposition(|&other| other == vertex)
                            .expect("its root is on the stack");
                        let component = stack.split_off(first);
                        for &member in &component {
                            on_stack[member as usize] = false;
                        }
                        found.push(component);
                    }
                }
            }
        }
    }
    found
}

/// A short cycle of two vertices or more, if there is one.
pub(super) fn any<I: Iterator<Item = u32>>(
    count: u32,
    successors: &impl Fn(u32) -> I,
) -> Option<Vec<u32>> {
    let components = components(count, successors);
    let component = components.iter().find(|component| component.len() > 1)?;
    shortest(component, successors, |_, _| true)
}

/// A short cycle in a strongly connected component: the shortest way back from its first edge that
/// is `wanted`. `None` if no edge is.
pub(super) fn shortest<I: Iterator<Item = u32>>(
    component: &[u32],
    successors: &impl Fn(u32) -> I,
    wanted: impl Fn(u32, u32) -> bool,
) -> Option<Vec<u32>> {
    let inside: HashSet<u32> = component.iter().copied().collect();
    let (from, to) = component.iter().find_map(|&from| {
        let to = successors(from).find(|&to| inside.contains(&to) && wanted(from, to))?;
        Some((from, to))
    })?;
    let mut parents = HashMap::from([(to, to)]);
    let mut queue = VecDeque::from([to]);
    while let Some(vertex) = queue.pop_front() {
        for next in successors(vertex).filter(|next| inside.contains(next)) {
            parents.entry(next).or_insert_with(|| {
                queue.push_back(next);
                vertex
            });
        }
    }
    let mut way = vec![from];
    while *way.last()? != to {
        way.push(parents[way.last()?]);
    }
    way.reverse();
    Some(way)
}
