//! A table of headers for every pair of a fabric's routers.

use super::{Header, Route};
use crate::topology::Fabric;

/// A header for each source and destination: four bytes a pair.
#[derive(Clone, Debug)]
pub struct RouteTable {
    routers: u32,
    headers: Vec<Header>,
}

impl RouteTable {
    /// A table in which `header` gives the header from one router to another.
    #[must_use]
    pub fn new(fabric: &Fabric, mut header: impl FnMut(u32, u32) -> Header) -> Self {
        let routers = fabric.routers();
        let headers = (0..routers)
            .flat_map(|source| (0..routers).map(move |destination| (source, destination)))
            .map(|(source, destination)| header(source, destination))
            .collect();
        Self { routers, headers }
    }

    /// The header that the source writes for this destination.
    #[must_use]
    pub fn header(&self, source: u32, destination: u32) -> Header {
        self.headers[source as usize * self.routers as usize + destination as usize]
    }

    /// # Panics
    /// If the header does not lead from `source` to `destination`.
    pub(super) fn route(&self, fabric: &Fabric, source: u32, destination: u32) -> Route {
        self.header(source, destination)
            .route(fabric.torus(), source, destination)
            .expect("a table's headers lead to their destinations")
    }
}
