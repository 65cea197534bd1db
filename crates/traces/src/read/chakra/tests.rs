//! Traces of Chakra written here, and read.

use flitlab_base::narrow::narrow;
use prost::Message;

use super::message::{Attribute, GlobalMetadata, Node, Tensors};
use super::*;
use crate::executor::{Carried, carry_out};
use crate::read::tests::{Folder, of_rank};
use crate::read::{Reading, read as read_file};
use flitlab_application::{Action, Schedule};

fn attribute(name: &str, value: i64) -> Attribute {
    Attribute { name: name.into(), int64: Some(value), ..Attribute::default() }
}

fn node(id: u64, kind: i32, after: &[u64], attributes: &[(&str, i64)]) -> Node {
    Node {
        id,
        kind,
        name: format!("n{id}"),
        data_dependencies: after.to_vec(),
        attributes: attributes.iter().map(|it| attribute(it.0, it.1)).collect(),
        ..Node::default()
    }
}

fn computation(id: u64, after: &[u64], micros: u64) -> Node {
    Node { duration_micros: micros, ..node(id, COMPUTATION, after, &[]) }
}

fn collective(id: u64, after: &[u64], kind: i64, bytes: i64) -> Node {
    node(id, COLLECTIVE, after, &[("comm_type", kind), ("comm_size", bytes)])
}

/// A group is named as text.
fn of_group(mut node: Node, name: &str) -> Node {
    let text = Some(name.to_owned());
    node.attributes.push(Attribute { name: "pg_name".into(), text, ..Attribute::default() });
    node
}

/// A collective operation with attributes that are texts.
fn texts(id: u64, attributes: &[(&str, &str)]) -> Node {
    let attribute = |it: &(&str, &str)| Attribute {
        name: it.0.into(),
        text: Some(it.1.into()),
        ..Attribute::default()
    };
    let attributes = attributes.iter().map(attribute).collect();
    Node { attributes, ..node(id, COLLECTIVE, &[], &[]) }
}

fn file(nodes: &[Node]) -> Vec<u8> {
    file_of("1.0.0", nodes)
}

fn file_of(schema: &str, nodes: &[Node]) -> Vec<u8> {
    let mut bytes = GlobalMetadata { version: schema.into() }.encode_length_delimited_to_vec();
    nodes.iter().for_each(|node| bytes.extend(node.encode_length_delimited_to_vec()));
    bytes
}

fn read_with(options: &Options, ranks: &[Vec<Node>]) -> Result<Reading, String> {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = Folder::new(&format!("chakra-{number}"));
    for (rank, nodes) in ranks.iter().enumerate() {
        folder.write(&format!("x.{rank}.et"), file(nodes));
    }
    // By the name of the trace, as ASTRA-sim takes it.
    read_file(&folder.0.join("x"), options).map_err(|it| it.plain())
}

fn schedule(ranks: &[Vec<Node>]) -> Schedule {
    read_with(&Options::default(), ranks).unwrap().schedule
}

fn of_all(ranks: usize, nodes: &[Node]) -> Carried {
    carry_out(&schedule(&vec![nodes.to_vec(); ranks]))
}

#[test]
fn collective_operations_move_as_much_as_in_astra_sim() {
    let size = 1 << 20;
    for ranks in [4, 8, 16] {
        let sent = |kind| {
            let carried = of_all(ranks, &[collective(0, &[], kind, size)]);
            assert!(carried.sent.iter().all(|sent| *sent == carried.sent[0]));
            (carried.sent[0], carried.rounds)
        };
        let (size, n) = (narrow::<u64>(size), ranks as u64);
        // An all-reduce around a ring: 2 (n - 1) / n of the buffer, in 2 (n - 1) steps.
        assert_eq!(sent(0), (2 * (n - 1) * size / n, 2 * (narrow::<u32>(n) - 1)));
        // All-gather of buffers; reduce-scatter and all-to-all of parts of a buffer.
        assert_eq!(sent(2), ((n - 1) * size, narrow::<u32>(n) - 1));
        assert_eq!(sent(7), ((n - 1) * size / n, narrow::<u32>(n) - 1));
        assert_eq!(sent(6), ((n - 1) * size / n, 1));
    }
    let halving = Options { algorithm: Some("halving-doubling".into()), ..Options::default() };
    let ranks = vec![vec![collective(0, &[], 0, size)]; 8];
    let carried = carry_out(&read_with(&halving, &ranks).unwrap().schedule);
    assert_eq!((carried.sent[3], carried.rounds), (2 * 7 * (1 << 20) / 8, 6));
}

#[test]
fn a_collective_operation_begins_behind_what_it_depends_on_and_ends_before_its_dependants() {
    // Times in parallel: 5 us of computation, all-reduce, 7 us; beside it 100 us of computation.
    let nodes = [
        computation(9, &[], 5),
        collective(2, &[9], 0, 64),
        computation(3, &[2], 7),
        computation(1, &[], 100),
        collective(4, &[3, 1], 9, 0),
    ];
    let schedule = schedule(&vec![nodes.to_vec(); 4]);
    let carried = carry_out(&schedule);
    assert_eq!(carried.busy, 100_000);
    let behind: Vec<u32> = schedule.of_rank(0).collect();
    // The first operation of the all-reduce waits for the computation, the last computation for its
    // last operations.
    let reaches = |from: u32, to: u32| {
        let mut known = vec![from];
        while let Some(number) = known.pop() {
            if number == to {
                return true;
            }
            known.extend(schedule.dependants(number).map(|it| it.0));
        }
        false
    };
    let at = |amount| {
        behind.iter().copied().find(|it| schedule.operation(*it).amount == amount).unwrap()
    };
    let (first, last, beside) = (at(5000), at(7000), at(100_000));
    let reduce: Vec<u32> =
        behind.iter().copied().filter(|it| schedule.phase(*it) == Some("all-reduce")).collect();
    assert!(reduce.len() >= 12);
    for operation in reduce {
        assert!(reaches(first, operation) && reaches(operation, last));
        assert!(!reaches(beside, operation) && !reaches(operation, beside));
        assert_eq!(schedule.operation(operation).stream, MESSAGES);
    }
    assert_eq!(schedule.operation(beside).stream, ACCELERATOR);
}

#[test]
fn messages_and_nodes_of_the_host_keep_their_places() {
    let mut host = computation(5, &[], 3);
    host.attributes.push(Attribute {
        name: "is_cpu_op".into(),
        boolean: Some(true),
        ..Attribute::default()
    });
    // What the host calls a collective operation is time; its kernel would be another node.
    let call = Node { kind: COLLECTIVE, id: 6, ..host.clone() };
    let to = [("comm_dst", 1), ("comm_size", 100), ("comm_tag", 3)];
    let from = [("comm_src", 0), ("comm_size", 100), ("comm_tag", 3)];
    let ranks = [
        vec![node(0, SEND, &[5], &to), host.clone(), call],
        vec![node(0, RECEIVE, &[], &from), computation(1, &[0], 2)],
    ];
    let schedule = schedule(&ranks);
    let zero =
        [(Action::Compute, 3000, 0, 0), (Action::Compute, 3000, 0, 0), (Action::Send, 100, 1, 3)];
    assert_eq!(of_rank(&schedule, 0), zero);
    assert_eq!(
        of_rank(&schedule, 1),
        [(Action::Receive, 100, 0, 3), (Action::Compute, 2000, 0, 0)]
    );
    assert_eq!(schedule.operation(0).stream, HOST);
    assert_eq!(carry_out(&schedule).busy, 5000);
}

#[test]
fn groups_are_those_of_the_file_or_of_the_trace() {
    let json = "{\"1\": [0, 1], \"2\": [2, 3], \"tp\": [3, 1]}".to_owned();
    let options = Options { groups: Some(("g.json".into(), json)), ..Options::default() };
    let reduce = |id, group: &str| of_group(collective(id, &[], 0, 8), group);
    let ranks = [
        vec![reduce(0, "1")],
        vec![reduce(0, "1"), reduce(1, "tp")],
        vec![reduce(0, "2")],
        // In another order: operations are matched group by group.
        vec![reduce(0, "tp"), reduce(1, "2")],
    ];
    let carried = carry_out(&read_with(&options, &ranks).unwrap().schedule);
    assert_eq!(carried.sent, [8, 16, 8, 16]);
    let errors = read_with(&Options::default(), &ranks).unwrap_err();
    assert!(errors.contains("who is in its group `1` is not known"), "{errors}");
    assert!(errors.contains("x.0.et: node 0 (n0)"), "{errors}");
    let values =
        r#"["[{\"pg_name\": \"1\", \"ranks\": [0, 1]}, {\"pg_name\": \"0\", \"ranks\": []}]"]"#;
    for values in [values.to_owned(), values.replace('\\', "")] {
        let inputs = Some(Tensors { values });
        let metadata = Node { inputs, ..node(7, METADATA, &[], &[]) };
        let ranks = vec![vec![metadata.clone(), reduce(0, "1")]; 2];
        let read = read_with(&Options::default(), &ranks);
        if let Ok(reading) = read {
            assert_eq!(carry_out(&reading.schedule).sent, [8, 8]);
        } else {
            panic!("{}", read.unwrap_err());
        }
    }
    // Each rank's trace has its own group under the name.
    let of = |members: &str| {
        let values = format!("[\"[{{\"pg_name\": \"1\", \"ranks\": [{members}]}}]\"]");
        let inputs = Some(Tensors { values });
        vec![Node { inputs, ..node(7, METADATA, &[], &[]) }, reduce(0, "1")]
    };
    let ranks = ["0, 2", "1, 3", "0, 2", "1, 3"].map(of);
    let reading = read_with(&Options::default(), &ranks).unwrap();
    assert_eq!(carry_out(&reading.schedule).sent, [8; 4]);
    let stranger = read_with(&options, &vec![vec![reduce(0, "2")]; 4]).unwrap_err();
    assert!(stranger.contains("rank 0 is no member of its group `2`"), "{stranger}");
}

#[test]
fn mistakes_of_graphs_name_the_file_and_the_node() {
    let refused = |nodes: &[Node]| read_with(&Options::default(), &[nodes.to_vec()]).unwrap_err();
    for (nodes, words) in [
        (vec![computation(0, &[8], 1)], "node 0 needs data of node 8, which is not there"),
        (vec![computation(0, &[1], 1), computation(1, &[0], 1)], "node 0 needs its own data"),
        (vec![computation(3, &[], 1), computation(3, &[], 1)], "there are two nodes 3"),
        (vec![collective(0, &[], 12, 1)], "node 0 (n0): there is no `comm_type` 12"),
        (vec![node(0, COLLECTIVE, &[], &[("comm_type", 0)])], "its `comm_size` is missing"),
        (
            vec![node(0, SEND, &[], &[("comm_size", 1), ("comm_dst", 4)])],
            "no file is of rank 4: there is a file of rank 0 alone",
        ),
        (vec![node(0, COMPUTATION, &[], &[("num_ops", -5)])], "its `num_ops` is below zero"),
        (
            vec![node(0, SEND, &[], &[("comm_size", 1), ("comm_dst", 0), ("comm_src", 3)])],
            "its `comm_src` is 3, and it is in the file of rank 0",
        ),
        (
            vec![node(0, RECEIVE, &[], &[("comm_size", 1), ("comm_src", 0), ("comm_dst", 2)])],
            "its `comm_dst` is 2, and it is in the file of rank 0",
        ),
        (
            vec![node(0, COLLECTIVE, &[], &[("comm_type", 5), ("comm_size", 1), ("root", 2)])],
            "its root, rank 2, is no member of its group",
        ),
        (vec![texts(0, &[("comm_type", "first")])], "its `comm_type` is no whole number"),
        (vec![texts(0, &[("involved_dim", "all"), ("comm_type", "0")])], "is no list of truths"),
        (vec![node(0, 11, &[], &[])], "there is no kind 11"),
        (vec![node(0, COMPUTATION, &[], &[("num_ops", 5)])], "how fast is not known"),
    ] {
        let errors = refused(&nodes);
        assert!(errors.contains("x.0.et: ") && errors.contains(words), "{words}: {errors}");
    }
    // A dependency of control on a node that a converter left out is none, and is counted.
    let cut = Node { control_dependencies: vec![3, 1], ..computation(0, &[], 1) };
    let reading = read_with(&Options::default(), &[vec![cut, computation(1, &[], 1)]]).unwrap();
    assert_eq!(reading.calls.last(), Some(&("control dependency left out", 1)));
    assert_eq!(carry_out(&reading.schedule).busy, 2000);
    // So is one that would let nodes wait for each other.
    let back = Node { control_dependencies: vec![0], ..computation(1, &[], 1) };
    let reading = read_with(&Options::default(), &[vec![computation(0, &[1], 1), back]]).unwrap();
    assert_eq!(reading.calls.last(), Some(&("control dependency left out", 1)));
    let fast = Options { flops_per_second: Some(1e9), ..Options::default() };
    let reading = read_with(&fast, &[vec![node(0, COMPUTATION, &[], &[("num_ops", 5)])]]).unwrap();
    assert_eq!(reading.schedule.operation(0).amount, 5);
    let bytes = file(&[computation(0, &[], 1)]);
    let cut = &bytes[..bytes.len() - 1];
    let errors = super::super::read_bytes("x.et", cut, &Options::default()).unwrap_err().plain();
    assert!(errors.contains("at byte 8: the file ends in a message"), "{errors}");
}

#[test]
fn the_trace_of_the_scenario_is_a_step_of_training() {
    // Forward; three layers backward, whose gradients are all-reduced while the next is computed.
    let mut nodes = vec![computation(0, &[], 60)];
    for layer in 0..3 {
        nodes.push(computation(2 * layer + 1, &[(2 * layer).saturating_sub(1)], 40));
        nodes.push(collective(2 * layer + 2, &[2 * layer + 1], 0, 1 << 20));
    }
    nodes.push(computation(7, &[2, 4, 6], 20));
    let bytes = file(&nodes);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/applications/chakra");
    for rank in 0..8 {
        let path = folder.join(format!("step.{rank}.et"));
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            std::fs::write(&path, &bytes).unwrap();
        }
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "UPDATE_EXPECTED=1 writes it");
    }
    let reading = read_file(&folder, &Options::default()).unwrap();
    assert_eq!(reading.calls, [("collective", 24), ("computation", 40)]);
    let carried = carry_out(&reading.schedule);
    assert_eq!((carried.busy, carried.sent[0]), (200_000, 3 * 2 * 7 * (1 << 20) / 8));
}

#[test]
fn a_group_may_be_named_by_its_number_and_a_file_of_groups_is_used_or_said_not_to_be() {
    let json = "{\"1\": [0, 1], \"2\": [2, 3]}".to_owned();
    let options = Options { groups: Some(("g.json".into(), json)), ..Options::default() };
    let reduce = |group: i64| {
        let number = Attribute {
            name: "comm_group".into(),
            int32: Some(i32::try_from(group).unwrap()),
            ..Attribute::default()
        };
        let mut node = collective(0, &[], 0, 1 << 20);
        node.attributes.push(number);
        vec![node]
    };
    let reading = read_with(&options, &[reduce(1), reduce(1), reduce(2), reduce(2)]).unwrap();
    assert_eq!(carry_out(&reading.schedule).sent, [1 << 20; 4]);
    assert_eq!(reading.notes, [""; 0]);
    let errors = read_with(&options, &[reduce(1), reduce(1), reduce(3), reduce(3)]).unwrap_err();
    assert!(errors.contains("who is in its group `3` is not known"), "{errors}");
    // The name is taken before the number.
    let both = |group| vec![of_group(reduce(group).remove(0), "2")];
    let reading = read_with(&options, &[reduce(1), reduce(1), both(1), both(7)]).unwrap();
    assert_eq!(carry_out(&reading.schedule).sent, [1 << 20; 4]);
    let reading = read_with(&options, &vec![vec![collective(0, &[], 0, 1 << 20)]; 4]).unwrap();
    assert_eq!(carry_out(&reading.schedule).sent, [(2 * 3) << 18; 4]);
    assert!(reading.notes[0].starts_with("no node names a group of g.json"), "{:?}", reading.notes);
}

#[test]
fn attributes_that_are_not_known_are_said_with_how_many_nodes_have_them() {
    let mut unequal = collective(0, &[], 6, 64);
    unequal.attributes.push(attribute("in_split_size", 7));
    unequal.attributes.push(attribute("rf_id", 7));
    let reading = read_with(&Options::default(), &vec![vec![unequal]; 2]).unwrap();
    assert_eq!(reading.notes, ["attributes of nodes that are not read: `in_split_size` (2)"]);
}

#[test]
fn a_trace_of_one_rank_and_groups_with_others_are_told_what_is_missing() {
    let reading = read_with(&Options::default(), &[vec![collective(0, &[], 0, 64)]]).unwrap();
    assert!(reading.schedule.operations().all(|it| it.action == Action::Compute));
    assert!(
        reading.notes[0]
            .starts_with("collective operations of all ranks where there is but one: 1"),
        "{:?}",
        reading.notes
    );
    let values = r#"["[{\"pg_name\": \"0\", \"ranks\": [0, 1, 2, 3]}]"]"#.to_owned();
    let metadata = Node { inputs: Some(Tensors { values }), ..node(7, METADATA, &[], &[]) };
    let of_all = of_group(collective(0, &[], 0, 64), "0");
    let errors = read_with(&Options::default(), &[vec![metadata, of_all]]).unwrap_err();
    let words = "its group `0` has rank 1: no file is of rank 1: there is a file of rank 0 alone";
    assert!(errors.contains(words), "{errors}");
    let unreadable = r#"["[{\"pg_name\": 0}]"]"#.to_owned();
    let metadata =
        Node { inputs: Some(Tensors { values: unreadable }), ..node(7, METADATA, &[], &[]) };
    let reading = read_with(&Options::default(), &[vec![metadata]]).unwrap();
    assert_eq!(reading.notes, ["metadata nodes with process groups that can't be read: 1"]);
}

#[test]
fn schemas_whose_nodes_differ_are_refused_by_name() {
    let nodes = [computation(0, &[], 1)];
    let read = |bytes: &[u8]| {
        let reading = super::super::read_bytes("x.0.et", bytes, &Options::default());
        reading.map(|it| carry_out(&it.schedule).busy).map_err(|it| it.plain())
    };
    for schema in ["", "0.0.4", "1.0.0", "1.1.0"] {
        assert_eq!(read(&file_of(schema, &nodes)), Ok(1000), "{schema}");
    }
    for schema in ["0.0.1", "0.0.3", "2.0.0"] {
        let errors = read(&file_of(schema, &nodes)).unwrap_err();
        assert!(errors.contains(&format!("is of Chakra's schema {schema}, which is not read")));
        assert!(errors.contains("0.0.4 and 1.0.0 are read"), "{errors}");
    }
    // Before, files began with a node.
    let first = nodes[0].encode_length_delimited_to_vec();
    let with_id = [&[first[0] + 2, 0x08, 0x01][..], &first[1..]].concat();
    let errors = read(&with_id).unwrap_err();
    assert!(errors.contains("which those before 0.0.4 don't"), "{errors}");
}

#[test]
fn sends_of_chakra_wait_for_no_receipt() {
    let reading = read_with(&Options::default(), &[vec![computation(0, &[], 1)]]).unwrap();
    assert!(!reading.sends_wait);
    let goal =
        super::super::read_bytes("x.goal", b"num_ranks 1\nrank 0 {\n}\n", &Options::default());
    assert!(goal.unwrap().sends_wait);
}
