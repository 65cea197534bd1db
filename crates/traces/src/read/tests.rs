//! Small traces of all formats, read from files and from memory.

use std::path::PathBuf;

use super::*;
use crate::executor::carry_out;
use crate::formats::FileFormat;
use flitlab_application::{Action, Operation};

/// A folder that is gone when the test ends.
pub(super) struct Folder(pub PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("flitlab-read-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_of_others_are_known_by_their_first_bytes() {
    let cases: [(&str, &[u8], &str); 19] = [
        ("x.goal", b"// made by hand\n\nnum_ranks 2\nrank 0 {", "goal"),
        ("x.bin", b"\x7f\x10\0\0\0\0\0\0\x02\0\0\0", "goal"),
        (
            "a.xml",
            b"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"x\">\n<platform version=\"4.1\">",
            "simgrid-platform",
        ),
        ("actions.txt", b"0 init\n1 init\n", "simgrid"),
        ("actions0.txt", b"p3 compute 1e9\n", "simgrid"),
        ("t.trace", b"0 allReduce 4 0\n", "simgrid"),
        ("dumpi-2013.03.14-0000.bin", b"\xff\xaa\xddDUMPI\0", "dumpi-binary"),
        ("dumpi-2013.03.14.meta", b"hostname=n1\nnumprocs=64\n", "dumpi-binary"),
        ("traces.otf2", b"OTF2\x01", "otf2"),
        ("a.txt", b"MPI_Init entering at walltime 8153.0493, cputime 0.1 seconds\n", "dumpi"),
        ("pmpi-trace-rank-0.txt", b"# host: n1\nMPI_Init:1234:-:-:1300\n", "liballprof"),
        ("all_reduce.0.et", b"\x07\x0a\x050.0.4\x41\x12", "chakra"),
        ("chakra.0.et", b"\x5e\x12\x10\x0a\x06schema\xea\x01\x051.0.1", "chakra"),
        ("perm.cm", b"Nodes 16\nConnections 15\n1->2 id 1\n", "htsim"),
        ("halo.load", b"[JOB_ID] 10\n[NID_LIST] 0-63\n", "ember"),
        ("a.toml", b"[topology.torus]\ndimensions = [4]\n", "scenario"),
        ("a.toml", b"", ""),
        ("a.csv", b"0,1,2\n", ""),
        ("a.txt", b"7 dwarfs\n", ""),
    ];
    for (name, start, format) in cases {
        let found = FileFormat::of(&Beginning::new(Path::new(name), start));
        assert_eq!(found.map_or("", |format| format.name), format, "{name}");
    }
}

#[test]
fn each_format_has_a_name_of_its_own_and_options_that_exist() {
    for (place, format) in FORMATS.iter().enumerate() {
        assert!(!FORMATS[..place].contains(format), "{}", format.name);
        assert!(format.takes().iter().all(|option| OPTIONS.contains(option)));
        assert!(format.doc.ends_with('.'));
    }
}

/// At a nanosecond an operation.
fn fast() -> Options {
    Options { flops_per_second: Some(1e9), ..Options::default() }
}

fn simgrid(text: &str) -> Reading {
    read_bytes("t.txt", text.as_bytes(), &fast()).unwrap_or_else(|it| panic!("{}", it.plain()))
}

fn refused(text: &str) -> String {
    read_bytes("t.txt", text.as_bytes(), &fast()).unwrap_err().plain()
}

/// Each operation of a rank, in short.
pub(super) fn of_rank(schedule: &Schedule, rank: u32) -> Vec<(Action, u64, u32, u32)> {
    let range = schedule.of_rank(rank);
    range
        .map(|it| schedule.operation(it))
        .map(|it| (it.action, it.amount, it.peer, it.tag))
        .collect()
}

#[test]
fn actions_of_simgrid_are_counted_and_carried_out() {
    // The last line has no end.
    let text = "# 3 ranks\n0 init\n1 init 1\n2 init\n\n0 compute 1e3\n0 send 1 7 1e2\n1 irecv 0 7 100 6\n\
                1 compute 500\n1 wait 0 1 7\n2 sleep 2e-6\n0 isend 2 0 40 1\n2 recv 0 0 160\n0 waitall\n\
                0 barrier\n1 barrier\n2 barrier\n0 allreduce 10 300 0\n1 allreduce 10 300\n2 allreduce 10 300 0\n\
                0 sendRecv 8 1 8 2\n1 sendRecv 8 2 8 0 6 6\n2 sendRecv 8 0 8 1\n0 finalize\n1 finalize\n2 finalize";
    let reading = simgrid(text);
    let carried = carry_out(&reading.schedule);
    let calls = |name| reading.calls.iter().find(|it| it.0 == name).map_or(0, |it| it.1);
    assert_eq!(
        ["compute", "barrier", "allreduce", "sendrecv", "wait", "waitall", "gather"].map(calls),
        [2, 3, 3, 3, 1, 1, 0]
    );
    assert_eq!(reading.schedule.ranks(), 3);
    assert_eq!(
        of_rank(&reading.schedule, 0)[..2],
        [(Action::Compute, 1000, 0, 0), (Action::Send, 100, 1, 7)]
    );
    assert_eq!(
        of_rank(&reading.schedule, 1)[..2],
        [(Action::Receive, 100, 0, 7), (Action::Compute, 500, 0, 0)]
    );
    // Rank 2 sleeps for 2 us, then each computes 300 operations more.
    assert_eq!(carried.busy, 2000 + 300);
    assert_eq!(carried.knows, [7; 3]);
    let phases = reading.schedule.phases();
    assert_eq!(phases, ["point-to-point", "barrier", "all-reduce"]);
}

#[test]
fn counts_of_each_rank_are_those_of_the_trace() {
    // Three ranks send each other i * 10 + j integers of 4 B.
    let rows = ["0 init\n1 init\n2 init\n".to_owned()].into_iter().chain((0..3).map(|rank| {
        let sent = (0..3).map(|to| format!("{} ", rank * 10 + to)).collect::<String>();
        let received = (0..3).map(|from| format!("{} ", from * 10 + rank)).collect::<String>();
        format!("{rank} alltoallv 99 {sent} 99 {received} 1 1\n")
    }));
    let carried = carry_out(&simgrid(&rows.collect::<String>()).schedule);
    assert_eq!(carried.sent, [4 * (1 + 2), 4 * (10 + 12), 4 * (20 + 21)]);
    assert_eq!(carried.received, [4 * (10 + 20), 4 * (1 + 21), 4 * (2 + 12)]);
    let all = |line: &str| (0..3).map(|rank| format!("{rank} {line}\n")).collect::<String>();
    let carried = |line: &str| carry_out(&simgrid(&all(line)).schedule);
    // Parts of 1, 2 and 3 B, around a ring; to rank 1 and from it; combined.
    let gathered = carried("allgatherv 1 1 2 3");
    assert_eq!((gathered.sent, gathered.received), (vec![4, 3, 5], vec![5, 4, 3]));
    assert_eq!(gathered.knows, [7; 3]);
    let text = "0 gatherv 1 1 2 3 1\n1 gatherv 2 1 2 3 1\n2 gatherv 3 1 2 3 1\n";
    assert_eq!(carry_out(&simgrid(text).schedule).received, [0, 4, 0]);
    let text = "0 scatterv 1 2 3 1 1\n1 scatterv 1 2 3 2 1\n2 scatterv 1 2 3 3 1\n";
    assert_eq!(carry_out(&simgrid(text).schedule).received, [1, 0, 3]);
    let combined = carried("reducescatter 1 2 3 70");
    assert_eq!((combined.received, combined.busy), (vec![2, 4, 6], 70));
    let scanned = carried("scan 5 70");
    assert_eq!((scanned.sent, scanned.knows), (vec![5, 5, 0], vec![1, 3, 7]));
}

#[test]
fn old_forms_wild_cards_and_large_tags_are_known() {
    let text = "p0 init\np0 Isend 1 8\np0 wait\np0 send 1 99999999 16\n\
                p1 init\np1 Irecv -1 8\np1 wait 0 1 0\np1 recv -555 -444 -1\n";
    let reading = simgrid(text);
    assert_eq!(
        of_rank(&reading.schedule, 0),
        [(Action::Send, 8, 1, 0), (Action::Send, 16, 1, 1 << 23)]
    );
    let any = flitlab_application::ANY;
    assert_eq!(
        of_rank(&reading.schedule, 1),
        [(Action::Receive, 8, any, 0), (Action::Receive, 0, any, any)]
    );
    // The wait finds the receipt from any rank.
    assert_eq!(reading.schedule.waits(3), 1);
}

#[test]
fn mistakes_in_traces_of_simgrid_have_a_line_and_a_way_out() {
    let text = "0 init\n1 init\n0 bcsat 8\n0 send 2 0 8\n0 compute x\n1 bcast 8 0 77\n1 alltoallv 1 1\n1 send 0 -5 1\n1 bcast 1e300\n";
    let errors = refused(text);
    for (place, what) in [
        ("t.txt:3:3", "did you mean `bcast`?"),
        ("t.txt:4:8", "the trace has 2: 0 to 1"),
        ("t.txt:5:11", "has to be a number"),
        ("t.txt:6:13", "there is no type of code 77"),
        ("t.txt:7:", "the count of rank 1 is missing"),
        ("t.txt:8:", "a tag is 0 or more"),
        ("t.txt:9:", "a count is too large"),
    ] {
        assert!(errors.contains(place) && errors.contains(what), "{what}: {errors}");
    }
    assert!(refused("0 init\n2 init\n").contains("rank 1 is missing"));
    let slow = read_bytes("t.txt", b"0 init\n0 compute 5\n", &Options::default());
    let slow = slow.unwrap_err().plain();
    assert!(slow.contains("t.txt:2:11") && slow.contains("`flops_per_second` says"), "{slow}");
    let options = Options { algorithm: Some("mpich-4".into()), ..Options::default() };
    let errors = read_bytes("t.txt", b"0 init\n", &options).unwrap_err().plain();
    assert!(errors.contains("did you mean `mpich-3`?"), "{errors}");
    let errors = read_bytes("t.goal", b"num_ranks 1\nrank 0 {\n}\n", &options).unwrap_err().plain();
    assert!(errors.contains("`algorithm` means nothing to a GOAL schedule"), "{errors}");
}

#[test]
fn files_of_ranks_a_list_of_them_and_their_folder_are_the_same_trace() {
    let folder = Folder::new("simgrid");
    let lines: Vec<String> = (0..11).map(|rank| format!("{rank} init\n{rank} bcast 8")).collect();
    for (rank, lines) in lines.iter().enumerate() {
        folder.write(&format!("t{rank}.txt"), lines);
    }
    let names: String = (0..11).map(|rank| format!("elsewhere/t{rank}.txt\n")).collect();
    let list = folder.write("list", names);
    let all = folder.write("all", lines.join("\n"));
    let schedule = |path: &Path| {
        let reading = read(path, &Options::default());
        reading.map(|it| (it.schedule, it.files.len())).map_err(|it| it.plain())
    };
    let (whole, files) = schedule(&all).unwrap();
    assert_eq!((whole.ranks(), files), (11, 1));
    assert_eq!(schedule(&list).unwrap(), (whole.clone(), 12));
    for rank in [0, 7, 10] {
        let named = folder.0.join(format!("t{rank}.txt"));
        assert_eq!(schedule(&named).unwrap(), (whole.clone(), 11));
    }
    assert!(schedule(&folder.0).unwrap_err().contains("has several traces, such as all and"));
    std::fs::remove_file(&all).unwrap();
    std::fs::remove_file(&list).unwrap();
    assert_eq!(schedule(&folder.0).unwrap(), (whole, 11));
    std::fs::remove_file(folder.0.join("t4.txt")).unwrap();
    let errors = schedule(&folder.0).unwrap_err();
    assert!(errors.contains("the file of rank 4 is missing: t4.txt"), "{errors}");
    let list = folder.write("list", "t0.txt\nt4.txt\n");
    let errors = schedule(&list).unwrap_err();
    assert!(errors.contains("list:2:1") && errors.contains("rank 1 is missing"), "{errors}");
}

#[test]
fn a_schedule_is_read_as_itself() {
    let text = "num_ranks 1\nrank 0 {\nl1: calc 5\n}\n";
    let reading = read_bytes("x.goal", text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(reading.schedule.operation(0), &Operation::compute(5));
    assert!(reading.calls.is_empty());
}

/// A trace of liballprof: files of ranks by their lines.
fn liballprof(ranks: &[&str]) -> Result<Reading, String> {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = Folder::new(&format!("liballprof-{number}"));
    for (rank, text) in ranks.iter().enumerate() {
        folder.write(&format!("pmpi-trace-rank-{rank}.txt"), text);
    }
    let path = folder.0.join("pmpi-trace-rank-0.txt");
    read(&path, &Options::default()).map_err(|it| it.plain())
}

#[test]
fn calls_of_liballprof_are_messages_with_computation_between_them() {
    let zero = "# header\nMPI_Init:-:1:2:1000\nMPI_Comm_size:1001:0,0,2:8:1003\n\
                MPI_Isend:1010:5:4:11,8,8:1:7:0,0,2:160:1011\nMPI_Irecv:1012:5:2:11,8,8:1:9:0,0,2:168:1013\n\
                MPI_Waitall:1020:2:160:0:1040\nMPI_Allreduce:1041:1:2:3:11,8,8:5:0,0,2:1050\n\
                MPI_Bcast:1050:1:4:1,1,1:1:0,0,2:1055\nMPI_Finalize:1060:-\n";
    let one = "MPI_Init:-:1:2:2000\nMPI_Recv:2000:5:4:11,8,8:0:7:0,1,2:88:2001\n\
               MPI_Send:2005:5:2:11,8,8:0:9:0,1,2:2006\nMPI_Allreduce:2006:1:2:3:11,8,8:5:0,1,2:2050\n\
               MPI_Bcast:2050:1:4:1,1,1:1:0,1,2:2055\nMPI_Finalize:2055:2056";
    let reading = liballprof(&[zero, one]).unwrap();
    let schedule = &reading.schedule;
    // The call in between is computed; waiting is not.
    assert_eq!(
        of_rank(schedule, 0)[..5],
        [
            (Action::Compute, 10_000, 0, 0),
            (Action::Send, 32, 1, 7),
            (Action::Compute, 1000, 0, 0),
            (Action::Receive, 16, 1, 9),
            (Action::Compute, 7000, 0, 0),
        ]
    );
    assert_eq!(
        of_rank(schedule, 1)[..3],
        [(Action::Receive, 32, 0, 7), (Action::Compute, 4000, 0, 0), (Action::Send, 16, 0, 9),]
    );
    // 4 B are broadcast from rank 1, and 5 us are computed at the end.
    assert_eq!(of_rank(schedule, 0).last(), Some(&(Action::Compute, 5000, 0, 0)));
    let calls = |name| reading.calls.iter().find(|it| it.0 == name).map_or(0, |it| it.1);
    assert_eq!(["Allreduce", "Bcast", "Isend", "Send", "Waitall"].map(calls), [2, 2, 1, 1, 1]);
    let carried = carry_out(schedule);
    assert_eq!(carried.sent, [32 + 24, 16 + 24 + 4]);
}

#[test]
fn collective_operations_of_liballprof_have_parts_and_may_go_on_beside_others() {
    let ranks: Vec<String> = (0..3)
        .map(|rank| {
            let comm = format!("0,{rank},3");
            let row = |from: u32, to: u32| from * 10 + to;
            let sent = (0..3).map(|to| row(rank, to).to_string()).collect::<Vec<_>>().join(",");
            let got = (0..3).map(|from| row(from, rank).to_string()).collect::<Vec<_>>().join(",");
            format!(
                "MPI_Init:-:1:2:0\n\
                 MPI_Alltoallv:0:1:2:{sent}:3:0,0,0:1,4,4:5:6:{got}:7:0,0,0:1,4,4:{comm}:0\n\
                 MPI_Allgatherv:0:1:{}:1,1,1:2:3:1,2,3:4:0,1,3:1,1,1:{comm}:0\n\
                 MPI_Gatherv:0:1:5:1,1,1:2:3:{}:4:0,5,10:1,1,1:0:{comm}:0\n\
                 MPI_Scatterv:0:2:3:{}:4:0,5,10:1,1,1:9:6:1,1,1:0:{comm}:0\n\
                 MPI_Iallreduce:0:1:2:8:1,1,1:5:{comm}:77:0\n\
                 MPI_Barrier:3:55,0,1:3\n\
                 MPI_Wait:5:77:1:9\n\
                 MPI_Reduce_scatter:9:1:2:3:1,2,3:1,1,1:5:{comm}:9\nMPI_Finalize:9:9\n",
                rank + 1,
                if rank == 0 { "5,5,5" } else { "?,0,-1" },
                if rank == 0 { "6,6,6" } else { "?,0,-1" },
            )
        })
        .collect();
    let ranks: Vec<&str> = ranks.iter().map(String::as_str).collect();
    let reading = liballprof(&ranks).unwrap();
    let carried = carry_out(&reading.schedule);
    assert_eq!(carried.busy, 5000);
    let of = |phase: &str, action| -> Vec<u64> {
        let sum = |rank| {
            let range = reading.schedule.of_rank(rank);
            let of_phase = range.filter(|it| reading.schedule.phase(*it) == Some(phase));
            let operations = of_phase.map(|it| reading.schedule.operation(it));
            operations.filter(|it| it.action == action).map(|it| it.amount).sum()
        };
        (0..3).map(sum).collect()
    };
    assert_eq!(of("all-to-all-v", Action::Send), [4 * 3, 4 * 22, 4 * 41]);
    assert_eq!(of("all-gather-v", Action::Receive), [5, 4, 3]);
    assert_eq!(of("gather-v", Action::Receive), [10, 0, 0]);
    assert_eq!(of("scatter-v", Action::Receive), [0, 6, 6]);
    assert_eq!(of("reduce-scatter-v", Action::Receive), [2, 4, 6]);
    assert!(of("all-reduce", Action::Send).iter().sum::<u64>() > 0);
}

#[test]
fn what_liballprof_does_not_say_is_refused_with_its_line() {
    for (line, place, words) in [
        (
            "MPI_Barrier:1:9,0,4:2",
            "0.txt:1:15",
            "a communicator of 4 ranks, and there are files of 2",
        ),
        ("MPI_Barrier:1:9,1,2:2", "0.txt:1:15", "rank 0 is rank 1 of this communicator"),
        ("MPI_Waitany:1:2:3:4:5:6", "0.txt:1:1", "MPI_Waitany is not read"),
        (
            "MPI_Send:1:5:4:11,8,8:7:7:0,0,2:2",
            "0.txt:1:23",
            "no file is of rank 7: there are those of ranks 0 to 1",
        ),
        ("MPI_Send:1:5:4:11:1:7:0,0,2:2", "0.txt:1:16", "`number,bytes,extent`"),
        ("MPI_Send:1:5:4", "0.txt:1:1", "an argument is missing"),
        ("MPI_Start:1:5:6", "0.txt:1:13", "no Send_init or Recv_init made this request"),
    ] {
        let errors = liballprof(&[line, "MPI_Finalize:1:2"]).unwrap_err();
        assert!(errors.contains(place) && errors.contains(words), "{line}: {errors}");
    }
}

#[test]
fn connections_of_htsim_begin_at_their_times_and_triggers() {
    let text = "# made by hand\nNodes 4\nConnections 5\nTriggers 2\n0->1 id 1 start 2000000 size 100\n\
                0->2 id 2 start 500000.0 size 200 recv_done_trigger 1\n2->3 id 3 trigger 1 size 300 prio 2\n\
                3->1 id 4 start 0 size 400 send_done_trigger 2\n3->0 id 5 trigger 2 size 500\n\
                trigger id 1 oneshot\ntrigger id 2 count 1 barrier\n";
    let reading = read_bytes("x.cm", text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(reading.calls, [("connection", 5), ("trigger", 2)]);
    let schedule = &reading.schedule;
    let carried = carry_out(schedule);
    assert_eq!(carried.sent, [300, 0, 300, 900]);
    // The beginnings of node 0 are 500 ns, and 1500 ns later.
    assert_eq!(
        of_rank(schedule, 0)[1..3],
        [(Action::Compute, 500, 0, 0), (Action::Compute, 1500, 0, 0)]
    );
    assert_eq!(carried.busy, 2000);
    // Node 3 knows of 0 by way of the message that sets trigger 1 off.
    assert_eq!((carried.knows[3], carried.rounds), (0b1101, 2));
    let computes_and_sends = |rank| {
        let range = schedule.of_rank(rank);
        range
            .map(|it| schedule.operation(it))
            .all(|it| (it.stream == 0) == (it.action == Action::Compute))
    };
    assert!((0..4).all(computes_and_sends));
}

#[test]
fn connections_that_no_schedule_has_are_refused_with_the_reason() {
    for (lines, words) in [
        (
            "0->1 start 0 size 1 recv_done_trigger 1\n0->1 trigger 1 size 1\ntrigger id 1 oneshot\n",
            "at node 1",
        ),
        ("0->1 trigger 1 size 1\ntrigger id 1 oneshot\n", "nothing sets off trigger 1"),
        ("0->1 trigger 1 size 1 send_done_trigger 1\ntrigger id 1 oneshot\n", "waits for itself"),
        ("0->1 start 0 size 1 send_done_trigger 1\n", "there is no trigger 1"),
        (
            "0->1 start 0 size 1 send_done_trigger 1\ntrigger id 1 count 2 barrier\n",
            "after 2 connections",
        ),
        ("0->1 start 0 size 1\ntrigger id 1 multishot\n", "goes off several times"),
        ("0->1 start 0\n", "goes on for ever"),
        ("0->1 start 0 size 0\n", "goes on for ever"),
        ("0->1 size 5\n", "when this connection begins"),
        ("0->9 start 0 size 5\n", "there is no node 9: 0 to 1"),
        ("0->1 start 0 size 5 colour 7\n", "a connection has no `colour`"),
        ("failure switch_type TOR\n", "[failures] of the scenario"),
        ("Connections 7\n0->1 start 0 size 5\n", "`Connections 7` stands in it, and there are 1"),
    ] {
        let text = format!("Nodes 2\n{lines}");
        let errors = read_bytes("x.cm", text.as_bytes(), &Options::default()).unwrap_err().plain();
        assert!(errors.contains(words), "{words}: {errors}");
    }
}

/// A call of DUMPI's text from one time to another, in nanoseconds.
fn dumpi_call(name: &str, begin: u32, end: u32, arguments: &str) -> String {
    let arguments: String = arguments.split("; ").map(|it| format!("{it}\n")).collect();
    let time =
        |at: u32| format!("walltime 1400000000.{at:09}, cputime 0.{at:09} seconds in thread 0.");
    format!("{name} entering at {}\n{arguments}{name} returning at {}\n", time(begin), time(end))
}

fn dumpi(ranks: &[String]) -> Result<Reading, String> {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = Folder::new(&format!("dumpi-{number}"));
    for (rank, text) in ranks.iter().enumerate() {
        folder.write(&format!("dumpi-2013.03.14-{rank:04}.txt"), text);
    }
    read(&folder.0, &Options::default()).map_err(|it| it.plain())
}

#[test]
fn calls_of_dumpi_are_messages_with_computation_between_them() {
    let comm = "MPI_Comm comm=2 (MPI_COMM_WORLD)";
    let double = "MPI_Datatype datatype=14 (MPI_DOUBLE)";
    let status = "MPI_Status status=<IGNORED>";
    let zero = [
        dumpi_call("MPI_Init", 0, 100, "int argc=1; string argv[1]=[\"a=b\"]"),
        dumpi_call(
            "MPI_Type_vector",
            110,
            120,
            &format!(
                "int count=3; int blocklength=2; int stride=9; {}; MPI_Datatype newtype=28 (user-defined-datatype)",
                double.replace("datatype=", "oldtype=")
            ),
        ),
        dumpi_call(
            "MPI_Isend",
            200,
            210,
            &format!(
                "int count=1; MPI_Datatype datatype=28 (user-defined-datatype); int dest=1; int tag=5; {comm}; MPI_Request request=[7]"
            ),
        ),
        dumpi_call(
            "MPI_Irecv",
            210,
            220,
            &format!(
                "int count=2; {double}; int source=-1 (MPI_ANY_SOURCE); int tag=-1 (MPI_ANY_TAG); {comm}; MPI_Request request=[8]"
            ),
        ),
        dumpi_call("MPI_Test", 230, 240, &format!("MPI_Request request=[8]; int flag=0; {status}")),
        dumpi_call(
            "MPI_Waitany",
            300,
            900,
            &format!("int count=2; MPI_Request requests[2]=[7, 8]; int index=1; {status}"),
        ),
        dumpi_call("MPI_Test", 950, 960, &format!("MPI_Request request=[7]; int flag=1; {status}")),
        dumpi_call(
            "MPI_Gatherv",
            960,
            970,
            &format!(
                "int commrank=0; int commsize=2; int sendcount=1; {}; int recvcounts[2]=[1, 3]; int displs[2]=[0, 1]; {}; int root=0; {comm}",
                double.replace("datatype=", "sendtype="),
                double.replace("datatype=", "recvtype=")
            ),
        ),
        dumpi_call("MPI_Finalize", 1000, 1001, ""),
    ];
    let one = [
        "version=1.0.0\n".to_owned(),
        dumpi_call("MPI_Init", 0, 100, ""),
        dumpi_call(
            "MPI_Comm_dup",
            100,
            110,
            "MPI_Comm oldcomm=2 (MPI_COMM_WORLD); MPI_Comm newcomm=4 (user-defined-comm)",
        ),
        dumpi_call(
            "MPI_Recv",
            150,
            400,
            &format!(
                "int count=6; {double}; int source=0; int tag=5; MPI_Comm comm=4 (user-defined-comm); {status}"
            ),
        ),
        dumpi_call(
            "MPI_Send",
            500,
            510,
            &format!("int count=2; {double}; int dest=0; int tag=9; {comm}"),
        ),
        dumpi_call(
            "MPI_Gatherv",
            510,
            520,
            &format!(
                "int commrank=1; int commsize=2; int sendcount=3; {}; int recvcounts[2]=<IGNORED>; int displs[2]=<IGNORED>; {}; int root=0; {comm}",
                double.replace("datatype=", "sendtype="),
                double.replace("datatype=", "recvtype=")
            ),
        ),
        dumpi_call("MPI_Finalize", 520, 530, ""),
    ];
    let reading = dumpi(&[zero.concat(), one.concat()]).unwrap();
    let any = flitlab_application::ANY;
    let schedule = &reading.schedule;
    assert_eq!(
        of_rank(schedule, 0),
        [
            (Action::Compute, 100, 0, 0),
            (Action::Send, 48, 1, 5),
            (Action::Receive, 16, any, any),
            (Action::Compute, 80, 0, 0),
            (Action::Compute, 50, 0, 0),
            (Action::Receive, 24, 1, of_rank(schedule, 1)[4].3),
            (Action::Compute, 30, 0, 0),
        ]
    );
    assert_eq!(
        of_rank(schedule, 1)[..4],
        [
            (Action::Compute, 50, 0, 0),
            (Action::Receive, 48, 0, 5),
            (Action::Compute, 100, 0, 0),
            (Action::Send, 16, 0, 9),
        ]
    );
    // The computation behind the wait depends on the receipt and on what was before.
    assert_eq!([3, 4, 5].map(|number| schedule.waits(number)), [1, 2, 2]);
    // A grid of all ranks has their communicator.
    let grid = dumpi_call(
        "MPI_Cart_create",
        1,
        2,
        &format!(
            "{}; int ndim=1; int dims[1]=[1]; int periods[1]=[0]; int reorder=0; MPI_Comm newcomm=6 (user-defined-comm)",
            comm.replace("comm=", "oldcomm=")
        ),
    );
    let barrier = dumpi_call("MPI_Barrier", 3, 4, "MPI_Comm comm=6 (user-defined-comm)");
    assert_eq!(dumpi(&[grid + &barrier]).unwrap().calls, [("Barrier", 1)]);
    let unknown = dumpi_call("MPI_Barrier", 1, 2, "MPI_Comm comm=6 (user-defined-comm)");
    let errors = dumpi(&[unknown]).unwrap_err();
    assert!(errors.contains("0000.txt:3:1") && errors.contains("communicator 6"), "{errors}");
    let unknown = dumpi_call("MPI_Win_fence", 1, 2, "int assert=0");
    assert!(dumpi(&[unknown]).unwrap_err().contains("MPI_Win_fence is not read"));
    let unknown = dumpi_call(
        "MPI_Bcast",
        1,
        2,
        &format!("int count=1; MPI_Datatype datatype=40 (x); int root=0; {comm}"),
    );
    assert!(dumpi(&[unknown]).unwrap_err().contains("the size of `datatype=40` is not known"));
}

#[test]
fn binaries_of_dumpi_are_the_same_as_their_text() {
    let folder = Folder::new("dumpi-binary");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traces/dumpi");
    let of = |ending: &str| read(&root.join(format!("dumpi-0000.{ending}")), &Options::default());
    let (text, binary) = (of("txt").unwrap(), of("bin").unwrap());
    assert!(text.schedule == binary.schedule);
    assert_eq!(text.calls, binary.calls);
    assert!(flitlab_application::check(&binary.schedule).is_empty());
    for name in ["dumpi-0000.bin", "dumpi-0001.bin"] {
        std::fs::copy(root.join(name), folder.0.join(name)).unwrap();
    }
    folder.write("dumpi.meta", "hostname=n1\nnumprocs=2\nfileprefix=dumpi\n");
    for path in [folder.0.join("dumpi.meta"), folder.0.clone()] {
        let reading = read(&path, &Options::default()).unwrap();
        assert!(reading.schedule == text.schedule);
    }
    // A cut or changed binary is refused in words, or read as something else.
    let whole = std::fs::read(root.join("dumpi-0000.bin")).unwrap();
    for length in 0..whole.len() {
        let cut = read_bytes("dumpi-0000.bin", &whole[..length], &Options::default());
        assert!(cut.is_err_and(|it| !it.plain().is_empty()), "{length}");
        let mut changed = whole.clone();
        changed[length] = changed[length].wrapping_add(77);
        let _ = read_bytes("dumpi-0000.bin", &changed, &Options::default());
    }
}

#[test]
fn times_of_liballprof_are_numbers_of_any_form_and_nothing_else_is_one() {
    let rank = |begin: &str, end: &str| {
        format!("MPI_Init:-:0:1:0\nMPI_Barrier:{begin}:55,0,1:{end}\nMPI_Finalize:5.0e3:5.001e3\n")
    };
    for (begin, end) in
        [("1000.0", "1001.0"), ("1.0e3", "1.001e3"), ("1000", "1001"), ("0100000E-2", "1001")]
    {
        let reading = liballprof(&[&rank(begin, end)]).unwrap();
        let computed = of_rank(&reading.schedule, 0);
        let times: Vec<u64> = computed.iter().map(|operation| operation.1).collect();
        assert_eq!(times, [1_000_000, 3_999_000], "{begin}");
    }
    for wrong in ["abc", "1e308", "", "1.2.3", "-5", "0x10", "1e", "nan", "2e99999999999"] {
        for (begin, end, place) in [(wrong, "1001", "0.txt:2:13"), ("1000", wrong, "0.txt:2:25")] {
            let errors = liballprof(&[&rank(begin, end)]).unwrap_err();
            assert!(errors.contains("this is no time") && errors.contains(place), "{errors}");
        }
    }
    let errors = liballprof(&["MPI_Init:-:0:1:soon\n"]).unwrap_err();
    assert!(errors.contains("0.txt:1:16") && errors.contains("this is no time"), "{errors}");
}

#[test]
fn what_the_traces_of_mpi_leave_open_is_said() {
    let rank = "MPI_Init:-:0:1:10\nMPI_Irecv:5:5:4:11,8,8:1:7:0,0,2:160:6\n\
                MPI_Irecv:9:5:4:11,8,8:1:8:0,0,2:168:8\nMPI_Wait:10:160:1:12\nMPI_Barrier:20:55,0,2:30";
    let other = "MPI_Init:-:0:1:0\nMPI_Barrier:3:55,1,2:5\nMPI_Finalize:7:8\n";
    let reading = liballprof(&[rank, other]).unwrap();
    assert_eq!(
        reading.notes,
        [
            "files without MPI_Finalize: 1; were they or the program cut off?",
            "calls with a time before that of the call before: 2; nothing is computed between the two",
            "requests that were begun and never waited for: 1; nothing waits for their messages",
        ]
    );
    let clean = "MPI_Init:-:0:1:0\nMPI_Send:3:5:4:11,8,8:1:7:0,0,2:4\nMPI_Finalize:7:8\n";
    assert_eq!(liballprof(&[clean, other]).unwrap().notes, [""; 0]);
    // One rank's file of several.
    let alone = "MPI_Init:-:0:1:0\nMPI_Barrier:3:55,0,1:5\nMPI_Finalize:7:8\n";
    let notes = liballprof(&[alone]).unwrap().notes;
    assert!(notes[0].starts_with("collective operations of all ranks where there is but one: 1"));
    let notes = simgrid("0 init\n0 isend 1 0 8\n1 init\n1 recv 0 0 8\n").notes;
    assert!(notes.len() == 1 && notes[0].contains("never waited for: 1"), "{notes:?}");
}

/// The files of a program of DUMPI by its calls.
fn program(calls: &[(&str, String)]) -> String {
    let calls = (0..).zip(calls);
    let call = |(number, (name, arguments)): (u32, &(&str, String))| {
        dumpi_call(name, 100 * number, 100 * number + 1, arguments)
    };
    calls.map(call).collect()
}

#[test]
fn splits_of_communicators_have_the_ranks_that_their_colours_and_keys_say() {
    // Even and odd ranks of six, in the opposite order; the even ones once more, but for one.
    let split = |old: i64, colour: i64, key: i64, new: i64| {
        let text = format!(
            "MPI_Comm oldcomm={old} (x); int color={colour}; int key={key}; MPI_Comm newcomm={new} (x)"
        );
        ("MPI_Comm_split", text)
    };
    let comm = |number: i64| format!("MPI_Comm comm={number} (x)");
    let bytes = "int count=10; MPI_Datatype datatype=2 (MPI_CHAR)";
    let files: Vec<String> = (0..6)
        .map(|rank| {
            let mut calls = vec![split(2, rank % 2, -rank, 4)];
            calls.push(("MPI_Comm_dup", "MPI_Comm oldcomm=4 (x); MPI_Comm newcomm=5 (x)".into()));
            calls.push(("MPI_Barrier", comm(5)));
            let place = (5 - rank) / 2;
            // Within the part from its first rank to its last, and within all from 0 to 1.
            let message = |other: &str, number: i64, comm: String| {
                format!("{bytes}; int {other}={number}; int tag=1; {comm}")
            };
            match place {
                0 => calls.push(("MPI_Send", message("dest", 2, comm(4)))),
                2 => calls.push(("MPI_Recv", message("source", 0, comm(4)))),
                _ => {}
            }
            if rank % 2 == 0 {
                calls.push(split(5, if rank == 2 { -1 } else { 7 }, 0, 6));
                if rank != 2 {
                    calls.push((
                        "MPI_Bcast",
                        format!(
                            "int count=1000; MPI_Datatype datatype=2 (x); int root=1; {}",
                            comm(6)
                        ),
                    ));
                }
            }
            calls.push(("MPI_Finalize", String::new()));
            program(&calls)
        })
        .collect();
    let reading = dumpi(&files).unwrap();
    let schedule = &reading.schedule;
    assert!(flitlab_application::check(schedule).is_empty());
    assert_eq!(reading.notes, [""; 0]);
    let carried = carry_out(schedule);
    // Each part hears of its own ranks alone.
    assert_eq!(carried.knows, [0b010101, 0b101010, 0b010101, 0b101010, 0b010101, 0b101010]);
    let of = |rank: u32, phase: &str| {
        let range = schedule.of_rank(rank).filter(|it| schedule.phase(*it) == Some(phase));
        let of_phase = range.map(|it| schedule.operation(it));
        of_phase.map(|it| (it.action, it.amount, it.peer)).collect::<Vec<_>>()
    };
    // The first rank of the even ones is 4, the last 0.
    assert_eq!(of(4, "point-to-point"), [(Action::Send, 10, 0)]);
    assert_eq!(of(0, "point-to-point"), [(Action::Receive, 10, 4)]);
    assert_eq!(of(5, "point-to-point"), [(Action::Send, 10, 1)]);
    // Of 4 and 0, in this order since equal keys keep it, the second one is the root.
    assert_eq!(of(0, "broadcast"), [(Action::Send, 1000, 4)]);
    assert_eq!(of(4, "broadcast"), [(Action::Receive, 1000, 0)]);
    // A rank that was left out is told so.
    let mut wrong = files.clone();
    wrong[2] += &program(&[("MPI_Barrier", comm(6))]);
    let errors = dumpi(&wrong).unwrap_err();
    assert!(errors.contains("which ranks are in communicator 6 is not known"), "{errors}");
}

#[test]
fn a_split_into_all_ranks_is_their_communicator() {
    let calls = [
        (
            "MPI_Comm_split",
            "MPI_Comm oldcomm=2 (x); int color=0; int key=0; MPI_Comm newcomm=4 (x)".to_owned(),
        ),
        ("MPI_Barrier", "MPI_Comm comm=4 (x)".into()),
        ("MPI_Finalize", String::new()),
    ];
    let reading = dumpi(&vec![program(&calls); 2]).unwrap();
    assert_eq!(carry_out(&reading.schedule).knows, [3, 3]);
    assert_eq!(reading.calls, [("Barrier", 2), ("Finalize", 2)]);
}

#[test]
fn ranks_of_which_there_is_no_file_are_missed_by_name() {
    let comm = "MPI_Comm comm=2 (MPI_COMM_WORLD)";
    let receive = format!(
        "int count=1; MPI_Datatype datatype=2 (MPI_CHAR); int source=1; int tag=5; {comm}; MPI_Status status=<IGNORED>"
    );
    let errors = dumpi(&[dumpi_call("MPI_Recv", 1, 2, &receive)]).unwrap_err();
    assert!(errors.contains("no file is of rank 1: there is a file of rank 0 alone"), "{errors}");
    let size = dumpi_call("MPI_Comm_size", 1, 2, &format!("{comm}; int size=4"));
    let errors = dumpi(&[size]).unwrap_err();
    assert!(errors.contains("the program had 4 ranks, and there are files of 1"), "{errors}");
    let folder = Folder::new("dumpi-meta");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traces/dumpi");
    std::fs::copy(root.join("dumpi-0000.bin"), folder.0.join("dumpi-0000.bin")).unwrap();
    let meta = folder.write("dumpi.meta", "hostname=n1\nnumprocs=2\nfileprefix=dumpi\n");
    let errors = read(&meta, &Options::default()).unwrap_err().plain();
    assert!(errors.contains("`numprocs=2` stands in"), "{errors}");
    assert!(errors.contains("and there are files of 1 rank"), "{errors}");
}

#[test]
fn requests_that_a_test_of_dumpi_does_not_name_are_refused() {
    let comm = "MPI_Comm comm=2 (MPI_COMM_WORLD)";
    let begin = |name: &'static str, other: &str, tag: u32, request: u32| {
        let text = format!(
            "int count=9; MPI_Datatype datatype=2 (x); int {other}; int tag={tag}; {comm}; MPI_Request request=[{request}]"
        );
        (name, text)
    };
    let some = |requests: &str, indices: &str| {
        let text = format!(
            "int count=2; MPI_Request requests[2]=[{requests}]; int outcount=1; int indices[1]=[{indices}]; MPI_Status statuses=<IGNORED>"
        );
        ("MPI_Testsome", text)
    };
    let sends = program(&[
        begin("MPI_Isend", "dest=0", 5, 8),
        begin("MPI_Isend", "dest=0", 6, 9),
        (
            "MPI_Waitall",
            "int count=2; MPI_Request requests[2]=[8, 9]; MPI_Status statuses=<IGNORED>".into(),
        ),
        ("MPI_Finalize", String::new()),
    ]);
    let receives = |first: (&'static str, String), second: (&'static str, String)| {
        program(&[
            begin("MPI_Irecv", "source=1", 5, 6),
            begin("MPI_Irecv", "source=1", 6, 7),
            first,
            second,
            ("MPI_Finalize", String::new()),
        ])
    };
    let right = receives(some("6, 7", "0"), some("-1, 7", "1"));
    let reading = dumpi(&[right, sends.clone()]).unwrap();
    assert_eq!(reading.notes, [""; 0]);
    // The computation behind each test waits for its receipt.
    let waits = [4, 5].map(|number| reading.schedule.waits(number));
    assert_eq!(waits, [2, 2]);
    for (first, second, place) in
        [("-1", "1", "place -1"), ("2", "1", "place 2"), ("0", "0", "place 0")]
    {
        let wrong = receives(some("6, 7", first), some("-1, 7", second));
        let errors = dumpi(&[wrong, sends.clone()]).unwrap_err();
        assert!(errors.contains(&format!("{place} is none of the 2 requests")), "{errors}");
    }
    // That none is open is said by a place below zero.
    let none = (
        "MPI_Testany",
        "int count=2; MPI_Request requests[2]=[-1, -1]; int index=-32766; int flag=1; MPI_Status status=<IGNORED>".into(),
    );
    dumpi(&[program(&[none])]).unwrap();
}

#[test]
fn damaged_lines_of_dumpi_are_refused() {
    let right = dumpi_call("MPI_Barrier", 1, 2, "MPI_Comm comm=2 (MPI_COMM_WORLD)");
    assert!(dumpi(std::slice::from_ref(&right)).is_ok());
    for (from, to, words) in [
        ("returning at walltime 1", "returning at walltime garbage", "at a number of seconds"),
        ("entering at walltime 1", "entering at walltime x", "at a number of seconds"),
        ("MPI_Barrier returning", "MPI_Bcast returning", "this call did not begin above"),
        ("returning at walltime", "returning at waltime", "ends within a call of MPI_Barrier"),
        ("entering at walltime", "entering at waltime", "neither the begin of a call nor its end"),
        ("MPI_Comm comm=2", "MPI_Comm comm=two", "`comm=two (MPI_COMM_WORLD)` is no number"),
    ] {
        let damaged = right.replace(from, to) + &right;
        assert_ne!(damaged, right.repeat(2));
        let errors =
            dumpi(&[if words.contains("ends within") { right.replace(from, to) } else { damaged }]);
        let errors = errors.unwrap_err();
        assert!(errors.contains(words), "{words}: {errors}");
    }
    let twice = right.replace("MPI_Barrier returning", "nothing") + &right;
    let errors = dumpi(&[twice]).unwrap_err();
    assert!(errors.contains("MPI_Barrier, which began above, did not return"), "{errors}");
    let start = dumpi_call("MPI_Start", 1, 2, "MPI_Request request=[7]");
    assert!(dumpi(&[start]).unwrap_err().contains("no call above makes request 7"));
}

/// A small trace of each format, and its name.
fn small_traces() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traces");
    let file = |name: &str| std::fs::read(root.join(name)).unwrap();
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        (
            "goal",
            "x.goal",
            text("num_ranks 1\nrank 0 {\nl1: calc 5\nl2: calc 6\nl2 requires l1\n}\n"),
        ),
        ("simgrid", "t.txt", text("0 init\n0 compute 5e3\n0 send 1 0 8\n1 init\n1 recv 0 0 8\n")),
        ("chakra", "x.0.et", file("astra-sim/all_reduce/all_reduce.0.et")),
        ("htsim", "perm.cm", text("Nodes 2\nConnections 1\n0->1 id 1 start 0 size 100\n")),
        ("dumpi", "dumpi-0000.txt", file("dumpi/dumpi-0000.txt")),
        ("dumpi-binary", "dumpi-0000.bin", file("dumpi/dumpi-0000.bin")),
        (
            "liballprof",
            "pmpi-trace-rank-0.txt",
            text("MPI_Init:-:1:2:0\nMPI_Send:5:1:4:11,8,8:1:7:0,0,2:6\nMPI_Finalize:6:7\n"),
        ),
    ]
}

#[test]
fn damaged_traces_are_told_as_what_they_are() {
    use rand::{RngExt, SeedableRng};
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(74);
    for (format, name, whole) in small_traces() {
        let mut refused = 0;
        for turn in 0..600 {
            let mut damaged = whole.clone();
            if turn % 7 == 0 {
                damaged.truncate(random.random_range(1..damaged.len()));
            } else {
                // One byte or two, in every other case among the first.
                let among = if turn % 2 == 0 { damaged.len().min(12) } else { damaged.len() };
                for _ in 0..random.random_range(1..3) {
                    let place = random.random_range(0..among);
                    damaged[place] = random.random();
                }
            }
            let found = Beginning::new(Path::new(name), &damaged).format();
            let told = found.map_or("goal", |found| found.name);
            let Err(errors) = read_bytes(name, &damaged, &fast_or_none(format)) else { continue };
            refused += 1;
            let errors = errors.plain();
            assert!(!errors.is_empty());
            // So little may be left that it is none of them.
            if damaged.len() >= whole.len() / 2 {
                assert_eq!(told, format, "{}\n{errors}", String::from_utf8_lossy(&damaged));
                assert!(format == "goal" || !errors.contains("GOAL"), "{format}: {errors}");
            }
        }
        assert!(refused > 50, "{format}: {refused}");
    }
    let negative = read_bytes("x.cm", b"Nodes -1\n", &Options::default()).unwrap_err().plain();
    assert!(negative.contains("the number of nodes can't be below zero"), "{negative}");
}

/// What a trace of a format needs besides.
fn fast_or_none(format: &str) -> Options {
    if format == "simgrid" { fast() } else { Options::default() }
}

#[test]
fn words_of_megabytes_are_refused_in_short() {
    let long = "a".repeat(4 << 20);
    for (name, text) in [
        ("t.txt", format!("0 init\n0 {long}\n")),
        ("t.txt", format!("0 init\n{long} init\n")),
        ("t.txt", format!("0 init\n0 compute {long}\n")),
        ("x.cm", format!("Nodes 2\n{long} 1\n0->1 {long} 7\n")),
        ("t-0.txt", format!("MPI_Init:-:0:1:0\nMPI_{long}:1:2\nMPI_Send:{long}:1\n")),
        (
            "d.txt",
            format!(
                "MPI_Init entering at walltime 1.5, x\nMPI_{long} returning at walltime {long}\n"
            ),
        ),
        ("x.goal", format!("num_ranks 1\nrank 0 {{\n{long} 7\n}}\n")),
    ] {
        let options = fast_or_none(if name == "t.txt" { "simgrid" } else { "" });
        let errors = read_bytes(name, text.as_bytes(), &options).unwrap_err().plain();
        assert!(errors.len() < 4000, "{name}: {} bytes", errors.len());
    }
}
