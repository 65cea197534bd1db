//! Slim Fly (\[slim-fly\]) on McKay-Miller-Siran graphs of diameter 2.

use super::{
    ANY_TABLE, BuilderKind, Built, Cabling, Size, Sizes, TopologyError, begin, is_prime, populate,
    product, refuse,
};
use flitlab_base::registry::Row;

pub(super) const SLIM_FLY: Row<BuilderKind> = Row::new(
    "slim_fly",
    "A Slim Fly: no switch is farther than two hops from another.",
    BuilderKind { usual_table: ANY_TABLE, read },
);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let prime = sizes.required_in("prime", 5..=997, 5, "The prime q; there are 2 q^2 switches.");
    let terminals = sizes.terminals(1);
    let slim_fly = SlimFly { prime: prime?, terminals };
    let name = format!("Slim Fly on {}", slim_fly.prime);
    Some(Built { name, cabling: slim_fly.cabling() })
}

/// A Slim Fly of 2 q^2 routers of degree (3 q - d) / 2, for a prime q = 4 w + d with d = 1 or -1.
/// Prime powers have such graphs too, but are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlimFly {
    /// The prime q, at least 5.
    pub prime: u32,
    /// Terminals of each router. Half the degree, rounded up, balances them with the network.
    pub terminals: u32,
}

impl SlimFly {
    /// The cables of the fabric. Router (s, x, y) has the number (s q + x) q + y. For generator
    /// sets X and X' (\[slim-fly\], section II-B):
    ///
    /// - (0, x, y) and (0, x, y') are joined if y - y' is in X;
    /// - (1, m, c) and (1, m, c') are joined if c - c' is in X';
    /// - (0, x, y) and (1, m, c) are joined if y = m x + c.
    ///
    /// # Errors
    /// If q is no odd prime of 5 or more.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let q = self.prime;
        if !(5..1_000).contains(&q) || !is_prime(q) {
            return refuse(format!(
                "a Slim Fly is built on a prime from 5 to 997, and {q} is none"
            ));
        }
        let sets = generators(q);
        let all = 2 * u64::from(q) * u64::from(q);
        let degree = (3 * u64::from(q)).div_ceil(2);
        let mut cabling = begin(&Size {
            routers: all,
            terminals: product([all, self.terminals.into()]),
            cables: all * degree / 2,
            ports: degree + u64::from(self.terminals),
        })?;
        for (side, set) in (0..).zip(&sets) {
            for row in 0..q {
                for one in 0..q {
                    for other in one + 1..q {
                        if set.contains(&(other - one)) {
                            let first = (side * q + row) * q;
                            cabling.cable(first + one, first + other);
                        }
                    }
                }
            }
        }
        for x in 0..q {
            for y in 0..q {
                for m in 0..q {
                    let c = (y + q * q - m * x) % q;
                    cabling.cable(x * q + y, (q + m) * q + c);
                }
            }
        }
        populate(&mut cabling, |_| self.terminals);
        Ok(cabling)
    }
}

/// The generator sets X and X', both closed under negation (\[mms-graphs\]). For q = 4 w + 1 they
/// are the even and the odd powers of a primitive element. For q = 4 w - 1 they are the first even
/// powers and the odd powers after them, and the reverse.
fn generators(q: u32) -> [Vec<u32>; 2] {
    let root =
        (2..q).find(|&root| order(root, q) == q - 1).expect("a prime has a primitive element");
    let power = |exponent: u32| (0..exponent).fold(1, |product, _| product * root % q);
    if q % 4 == 1 {
        let every_second = |first: u32| (first..q - 1).step_by(2).map(power).collect();
        [every_second(0), every_second(1)]
    } else {
        let w = q.div_ceil(4);
        let halves = |first: u32, second: u32| {
            let both =
                (first..2 * w - 1 + first).step_by(2).chain((second..).step_by(2).take(w as usize));
            both.map(power).collect()
        };
        [halves(0, 2 * w - 1), halves(1, 2 * w)]
    }
}

/// The order of an element: the least exponent with which its power is 1.
fn order(element: u32, q: u32) -> u32 {
    let mut power = element;
    (1..q)
        .find(|_| {
            let one = power == 1;
            power = power * element % q;
            one
        })
        .unwrap_or(q)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_base::narrow::narrow;

    #[test]
    fn every_router_reaches_every_other_in_two_hops() {
        for q in [5, 7, 11, 13, 17, 19] {
            let fabric = SlimFly { prime: q, terminals: 1 }.cabling().unwrap().fabric().unwrap();
            let sign = if q % 4 == 1 { 1 } else { -1 };
            let degree = (3 * i64::from(q) - sign) / 2;
            assert_eq!(fabric.routers(), 2 * q * q);
            let next =
                |router: u32| fabric.outputs(router).filter_map(|channel| fabric.target(channel));
            for router in 0..fabric.routers() {
                assert_eq!(narrow::<i64>(next(router).count()), degree, "q = {q}");
                let mut near = vec![false; fabric.routers() as usize];
                for first in next(router) {
                    near[first as usize] = true;
                    next(first).for_each(|second| near[second as usize] = true);
                }
                assert!(near.iter().all(|&near| near), "q = {q}");
            }
        }
    }

    #[test]
    fn other_numbers_are_refused() {
        for q in [0, 2, 3, 4, 9, 25, 1_009] {
            assert!(SlimFly { prime: q, terminals: 1 }.cabling().is_err(), "{q}");
        }
    }
}
