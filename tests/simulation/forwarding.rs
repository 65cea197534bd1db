//! Forwarding tables in the simulator: what the proof says of a table is what happens.

use std::sync::Arc;

use flitlab::{
    engine::{Deadlock, Log, Parameters, run_script},
    routing::{ForwardingTable, Routes, VirtualChannel},
    tables::{
        agnostic::{self, Algorithm},
        opensm::Dump,
        prove_forwarding,
    },
    topology::{Fabric, netlist::Netlist},
    traffic::{Message, MessageKind, Script},
    units::{Bytes, Picoseconds},
};

use flitlab_random::wait_cycle::assert_each_waits_for_the_next;

/// A torus of 4x2x2x2 switches with the table of OpenSM 3.3.23's minhop.
fn opensm_minhop() -> (Fabric, ForwardingTable) {
    let netlist = Netlist::read(include_str!("../fabrics/torus4222.net")).unwrap();
    let dump = Dump::read(&netlist, include_str!("../fabrics/torus4222-minhop.lfts")).unwrap();
    (netlist.fabric, dump.table)
}

/// Buffers of two packets, so that little traffic fills them.
fn parameters(virtual_channels: u8) -> Parameters {
    Parameters {
        virtual_channels,
        maximum_payload: Bytes(64),
        buffer: 12,
        injection_buffer: 12,
        bubble: false,
        ..Parameters::default()
    }
}

/// All terminals of some routers send to one each.
fn run(
    fabric: &Fabric,
    table: &ForwardingTable,
    pairs: impl Iterator<Item = (u32, u32)>,
) -> Result<Log, Deadlock> {
    let routes = Routes::Forwarding(Arc::new(table.clone()));
    let message = |(source, destination)| Message {
        time: Picoseconds::ZERO,
        source,
        destination,
        bytes: 64 * 100,
        kind: MessageKind::Data,
        tag: 0,
        class: 0,
    };
    let script = Script::new(pairs.map(message).collect());
    run_script(fabric, &routes, &parameters(table.vc_count()), script).map(|(log, _)| log)
}

/// The channels of a pair's way, with their virtual channels.
fn way(
    fabric: &Fabric,
    table: &ForwardingTable,
    source: u32,
    destination: u32,
) -> Vec<VirtualChannel> {
    let routes = Routes::Forwarding(Arc::new(table.clone()));
    let mut way = Vec::new();
    routes.for_each_channel(fabric, source, destination, |channel| {
        way.push(VirtualChannel { channel, vc: 0 });
    });
    way
}

fn pairs(fabric: &Fabric) -> impl Iterator<Item = (u32, u32)> {
    let terminals = fabric.terminals();
    (0..terminals).flat_map(move |from| (0..terminals).map(move |to| (from, to)))
}

/// Packets that take one channel of the proof's cycle after the other fill that cycle, and no
/// other.
#[test]
fn a_table_with_a_cycle_deadlocks_in_the_cycle_that_the_proof_names() {
    let (fabric, table) = opensm_minhop();
    let proof = prove_forwarding(&fabric, &table);
    let cycle = proof.cycle().expect("OpenSM's minhop has a cycle here");
    let next = |place: &VirtualChannel| {
        let at = cycle.iter().position(|other| other == place)?;
        Some(cycle[(at + 1) % cycle.len()])
    };
    let mut filled = Vec::new();
    let mut chosen = Vec::new();
    for (source, destination) in pairs(&fabric) {
        let way = way(&fabric, &table, source, destination);
        let dependency = way.windows(2).find(|pair| next(&pair[0]) == Some(pair[1]));
        if let Some(&[first, _]) = dependency
            && !filled.contains(&first)
        {
            filled.push(first);
            chosen.push((source, destination));
        }
    }
    assert_eq!(filled.len(), cycle.len(), "some pair has each dependency of the cycle");
    let deadlock = run(&fabric, &table, chosen.into_iter()).unwrap_err();
    let mut watched: Vec<&str> = deadlock.cycle.iter().map(|it| it.output.as_str()).collect();
    let mut proved: Vec<String> =
        cycle.iter().map(|place| fabric.channel_name(place.channel)).collect();
    watched.sort_unstable();
    proved.sort_unstable();
    assert_eq!(watched, proved);
    assert_each_waits_for_the_next(&deadlock);
}

#[test]
fn under_stress_a_table_with_a_cycle_deadlocks_and_one_without_delivers() {
    let (fabric, table) = opensm_minhop();
    let deadlock = run(&fabric, &table, pairs(&fabric)).unwrap_err();
    let waits = |one: &str, other: &str| {
        pairs(&fabric).any(|(source, destination)| {
            let way = way(&fabric, &table, source, destination);
            way.windows(2).any(|pair| {
                fabric.channel_name(pair[0].channel) == one
                    && fabric.channel_name(pair[1].channel) == other
            })
        })
    };
    for waiting in &deadlock.cycle {
        assert!(waits(&waiting.input, &waiting.output), "the table lets a packet wait so");
    }
    for (algorithm, vcs) in [(Algorithm::NUE, 1), (Algorithm::NUE, 8), (Algorithm::LASH, 8)] {
        let parameters = agnostic::Parameters { vcs, ..Default::default() };
        let table = algorithm.generate(&fabric, &parameters).unwrap().table;
        let log = run(&fabric, &table, pairs(&fabric)).unwrap();
        assert_eq!(log.messages.len(), 1024);
        assert_eq!(log.packets.len(), 1024 * 100);
    }
}
