//! The lists of routes that pairs choose from. Pairs whose destinations lie alike from their
//! sources mostly have the same headers and output ports to choose from, so a torus has about as
//! many lists as nodes, not as many as pairs.

use std::collections::HashMap;

use flitlab_base::narrow::narrow;
use flitlab_routing::{Header, Route};

/// The routes of some pairs, all with as many hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Menu {
    /// Where its headers begin.
    pub headers: u32,
    /// Where its ports begin, `hops` for each route.
    pub ports: u32,
    pub hops: u16,
    pub routes: u16,
    /// How often its first route changes direction.
    pub turns: u8,
}

/// All menus, with what they list.
#[derive(Clone, Debug, Default)]
pub(super) struct Menus {
    pub list: Vec<Menu>,
    pub headers: Vec<Header>,
    /// The output ports of each route, hop by hop.
    pub ports: Vec<u8>,
}

/// Menus to which some are added, each once.
#[derive(Default)]
pub(super) struct Collecting {
    pub menus: Menus,
    numbers: HashMap<Box<[(Header, Route)]>, u32>,
}

impl Collecting {
    /// The number of the menu of these routes.
    ///
    /// # Panics
    /// If there is no route.
    pub fn number(&mut self, routes: &[(Header, Route)]) -> u32 {
        if let Some(&number) = self.numbers.get(routes) {
            return number;
        }
        let Menus { list, headers, ports } = &mut self.menus;
        let first = &routes[0].1;
        let number = narrow(list.len());
        list.push(Menu {
            headers: narrow(headers.len()),
            ports: narrow(ports.len()),
            hops: narrow(first.hops()),
            routes: narrow(routes.len()),
            turns: narrow(first.runs().len() - 1),
        });
        headers.extend(routes.iter().map(|it| it.0));
        ports.extend(routes.iter().flat_map(|it| it.1.ports()).map(narrow::<u8>));
        self.numbers.insert(routes.into(), number);
        number
    }
}
