//! PolarFly (\[polarfly\]) on Erdos-Renyi polarity graphs of diameter 2.

use super::{
    ANY_TABLE, BuilderKind, Built, Cabling, Size, Sizes, TopologyError, begin, is_prime, populate,
    product, refuse,
};
use flitlab_base::registry::Row;

pub(super) const POLARFLY: Row<BuilderKind> = Row::new(
    "polarfly",
    "A PolarFly: no switch is farther than two hops from another, by nearly the fewest ports.",
    BuilderKind { usual_table: ANY_TABLE, read },
);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let doc = "The prime q; there are q^2 + q + 1 switches with q + 1 cables, or q, each.";
    let prime = sizes.required_in("prime", 2..=997, 7, doc);
    let terminals = sizes.terminals(1);
    let polarfly = PolarFly { prime: prime?, terminals };
    let name = format!("PolarFly on {}", polarfly.prime);
    Some(Built { name, cabling: polarfly.cabling() })
}

/// A PolarFly of q^2 + q + 1 routers for a prime q. All have q + 1 cables, but for q + 1 of them,
/// the quadrics, which have q. Prime powers have such graphs too, but are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolarFly {
    /// The prime q.
    pub prime: u32,
    /// Terminals of each router. Half of q + 1, rounded up, balances them with the network.
    pub terminals: u32,
}

impl PolarFly {
    /// The cables of the fabric. Routers are the points of the projective plane over q: vectors of
    /// three numbers below q whose first number other than 0 is 1. Two are joined if their product
    /// is 0 modulo q. Router x q + y is the point (1, x, y), q^2 + z is (0, 1, z), and the last one
    /// (0, 0, 1). A quadric is a point whose product with itself is 0.
    ///
    /// # Errors
    /// If q is no prime below 1000, or there are too many parts.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let q = self.prime;
        if q >= 1_000 || !is_prime(q) {
            return refuse(format!(
                "a PolarFly is built on a prime from 2 to 997, and {q} is none"
            ));
        }
        let degree = u64::from(q) + 1;
        let all = u64::from(q) * degree + 1;
        let mut cabling = begin(&Size {
            routers: all,
            terminals: product([all, self.terminals.into()]),
            cables: u64::from(q) * degree * degree / 2,
            ports: degree + u64::from(self.terminals),
        })?;
        for router in 0..cabling.routers() {
            let others = self.line(self.point(router)).into_iter();
            others.filter(|&other| other > router).for_each(|other| cabling.cable(router, other));
        }
        populate(&mut cabling, |_| self.terminals);
        Ok(cabling)
    }

    /// The point of a router.
    fn point(&self, router: u32) -> [u32; 3] {
        let q = self.prime;
        match router.checked_sub(q * q) {
            None => [1, router / q, router % q],
            Some(z) if z < q => [0, 1, z],
            Some(_) => [0, 0, 1],
        }
    }

    /// The routers of all points whose product with one is 0.
    fn line(&self, [a, b, c]: [u32; 3]) -> Vec<u32> {
        let q = self.prime;
        // What times `by` is the opposite of `number`, modulo q.
        let solve = |by: u32| {
            let inverse = (1..q).find(|it| by * it % q == 1).expect("q is a prime");
            move |number: u32| inverse * (q - number % q) % q
        };
        let last = q * q + q;
        if c > 0 {
            let solve = solve(c);
            let of_x = (0..q).map(|x| x * q + solve(a + b * x));
            of_x.chain([q * q + solve(b)]).collect()
        } else if b > 0 {
            let x = solve(b)(a);
            (0..q).map(|y| x * q + y).chain([last]).collect()
        } else {
            (q * q..=last).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breadth_first;
    use flitlab_base::narrow::narrow;

    #[test]
    fn points_are_joined_whose_product_is_0() {
        for q in [2, 3, 5, 7, 11, 13] {
            let polarfly = PolarFly { prime: q, terminals: 1 };
            let fabric = polarfly.cabling().unwrap().fabric().unwrap();
            let all = q * q + q + 1;
            assert_eq!(fabric.routers(), all);
            assert_eq!(narrow::<u32>(fabric.cables().count()), q * (q + 1) * (q + 1) / 2);
            let product = |one: u32, other: u32| -> u32 {
                let (one, other) = (polarfly.point(one), polarfly.point(other));
                (0..3).map(|at| one[at] * other[at]).sum::<u32>() % q
            };
            let mut quadrics = 0;
            for router in 0..all {
                let joined =
                    (0..all).filter(|&other| other != router && product(router, other) == 0);
                let found: Vec<u32> = fabric.neighbors(router).collect();
                let mut sorted = found.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, joined.collect::<Vec<_>>(), "{q} {router}");
                let is_quadric = product(router, router) == 0;
                quadrics += u32::from(is_quadric);
                assert_eq!(narrow::<u32>(found.len()), q + 1 - u32::from(is_quadric));
                let (mut hops, mut order) = (vec![0; all as usize], Vec::new());
                breadth_first(router, &mut hops, &mut order, |at| fabric.neighbors(at));
                assert!(hops.iter().all(|&hops| hops <= 2));
            }
            assert_eq!(quadrics, q + 1);
        }
    }

    #[test]
    fn numbers_that_are_no_primes_are_refused() {
        for q in [0, 1, 4, 9, 1_009] {
            let refused = PolarFly { prime: q, terminals: 1 }.cabling().unwrap_err().to_string();
            assert!(refused.contains(&format!("{q} is none")), "{refused}");
        }
    }
}
