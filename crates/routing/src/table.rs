//! A table of headers for every pair of a fabric's routers.

use super::{Header, Route};
use flitlab_fabric::Fabric;

/// A header for each source and destination, in four bytes a pair. Some pairs may have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteTable {
    routers: u32,
    headers: Vec<Option<Header>>,
}

impl RouteTable {
    /// A table without any route.
    pub fn empty(fabric: &Fabric) -> Self {
        let routers = fabric.routers();
        Self { routers, headers: vec![None; routers as usize * routers as usize] }
    }

    /// A table in which `header` gives the header from one router to another.
    pub fn new(fabric: &Fabric, mut header: impl FnMut(u32, u32) -> Header) -> Self {
        let mut table = Self::empty(fabric);
        for source in 0..table.routers {
            for destination in 0..table.routers {
                table.set(source, destination, header(source, destination));
            }
        }
        table
    }

    /// Sets the header of a pair.
    pub fn set(&mut self, source: u32, destination: u32, header: Header) {
        let place = self.place(source, destination);
        self.headers[place] = Some(header);
    }

    /// The header that the source writes for this destination; `None` if the pair has none.
    pub fn header(&self, source: u32, destination: u32) -> Option<Header> {
        self.headers[self.place(source, destination)]
    }

    fn place(&self, source: u32, destination: u32) -> usize {
        source as usize * self.routers as usize + destination as usize
    }

    /// The route of a pair.
    ///
    /// # Panics
    /// If the table has no header for the pair, or one that does not lead there.
    pub(super) fn route(&self, fabric: &Fabric, source: u32, destination: u32) -> Route {
        self.header(source, destination)
            .filter(|_| source != destination)
            .unwrap_or_default()
            .route(fabric.coordinates(), source, destination)
            .expect("a table that is used has been checked")
    }
}
