//! Routing tables in columns, for programs.

use flitlab::report::{NamedColumn, Table, Values};
use flitlab::routing::ForwardingTable;
use flitlab::tables::{TableFile, header_text};
use flitlab::topology::Fabric;

fn counts(name: &str, meaning: &str, values: impl Iterator<Item = Option<u32>>) -> NamedColumn {
    let values = Values::Counts(values.map(|value| value.map(i64::from)).collect());
    NamedColumn { name: name.into(), unit: "", meaning: meaning.into(), values }
}

/// A row a route, as in the file of a table.
pub(super) fn routes(file: &TableFile) -> Table {
    let nodes: Vec<u32> = file.fabric.live_terminals().collect();
    let mut found = Vec::new();
    for &source in &nodes {
        for &destination in nodes.iter().filter(|&&node| node != source) {
            let headers = file.table.headers(source, destination);
            found.extend(headers.into_iter().map(|(header, count)| {
                (source, destination, u32::from(count), header_text(&file.torus, header))
            }));
        }
    }
    let texts = |name: &str, meaning: &str, of: fn(&(String, String, String)) -> &String| {
        let values = Values::Texts(found.iter().map(|it| Some(of(&it.3).clone())).collect());
        NamedColumn { name: name.into(), unit: "", meaning: meaning.into(), values }
    };
    let columns = vec![
        counts("source", "The number of the source node.", found.iter().map(|it| Some(it.0))),
        counts("destination", "The number of the destination.", found.iter().map(|it| Some(it.1))),
        counts(
            "packets",
            "How many packets of a round take the route; 1 if the pair has one only.",
            found.iter().map(|it| Some(it.2)),
        ),
        texts("first_step", "The direction of the first step; `.` without one.", |it| &it.0),
        texts("directions", "The directions of the header, in their order; `.` if none.", |it| {
            &it.1
        }),
        texts("last_step", "The direction of the last step; `.` without one.", |it| &it.2),
    ];
    Table { name: "routes", columns, rows: found.len() }
}

/// A row for each router and terminal at another router.
pub(super) fn next_hops(fabric: &Fabric, table: &ForwardingTable) -> Table {
    let mut found = Vec::new();
    for router in 0..table.routers() {
        for terminal in fabric.live_terminals() {
            if fabric.terminal_router(terminal) != Some(router) {
                let channel = table.channel(fabric, router, terminal);
                let port = table.port(router, terminal).map(u32::from);
                found.push((router, terminal, port, channel.and_then(|it| fabric.target(it))));
            }
        }
    }
    let columns = vec![
        counts("router", "The number of the router.", found.iter().map(|it| Some(it.0))),
        counts("terminal", "The number of the destination.", found.iter().map(|it| Some(it.1))),
        counts("port", "The router's port to it; none without a way.", found.iter().map(|it| it.2)),
        counts("next_router", "The router at the port's other end.", found.iter().map(|it| it.3)),
    ];
    Table { name: "next_hops", columns, rows: found.len() }
}
