//! Which points are being computed: a point that two series have is computed by one thread, while
//! the other waits for it.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The points that threads of this process are at work on.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    names: Mutex<HashSet<String>>,
    released: Condvar,
}

/// A point that is this thread's until the claim is dropped.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    claims: &'a Claims,
    name: String,
}

impl Claims {
    /// Waits until no other thread has the point.
    pub fn claim(&self, name: String) -> Claim<'_> {
        let mut names = self.names();
        while !names.insert(name.clone()) {
            names = self.released.wait(names).unwrap_or_else(PoisonError::into_inner);
        }
        Claim { claims: self, name }
    }

    fn names(&self) -> MutexGuard<'_, HashSet<String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.claims.names().remove(&self.name);
        self.claims.released.notify_all();
    }
}
