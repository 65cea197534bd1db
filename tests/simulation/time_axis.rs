//! The time axis of what comes to its end: windows.csv of exchanges, and of several workloads at
//! once. All of it is compared with what follows from the log of each packet.

use flitlab::{
    engine::DeliveredPacket,
    measure::LogFilter,
    report::{PointResult, Status, WindowPhase, WindowRow},
    scenario::{Document, Scenario},
    simulation::Simulation,
    units::Picoseconds,
};

fn simulation(text: &str) -> Simulation {
    let scenario = Scenario::read(&Document::parse("axis.toml", text));
    Simulation::new(&scenario.unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

fn run(text: &str, threads: usize) -> (PointResult, Vec<DeliveredPacket>) {
    let filter = LogFilter { packets: true, messages: false, terminals: Vec::new(), most: 1 << 20 };
    let simulation = simulation(text).on_threads(threads).logging_deliveries(filter);
    let outcome = simulation.run(&mut |_| {});
    (outcome.found, outcome.logged.packets)
}

/// Routers of each kind.
const KINDS: [(&str, &str); 3] = [
    ("whole packets", ""),
    ("flits", "link.sharing.flit = {}\nrouting.direction_order.dateline = true\n"),
    (
        "buffers at outputs",
        "router.output_buffer = \"64 flits\"\nrouting.direction_order.dateline = true\n",
    ),
];

const TORUS: &str = "topology.torus.dimensions = [4, 4]\n";

/// A background, a burst of load, and an incast that begins before and ends after it.
fn three_at_once(kind: &str) -> String {
    format!(
        "{kind}{TORUS}\
         [workloads.background]\n\
         traffic = {{ pattern = \"uniform\", load = 0.2 }}\n\
         [workloads.burst]\nstart = \"20 us\"\nend = \"30 us\"\n\
         traffic = {{ pattern = \"uniform\", load = 0.4 }}\n\
         [workloads.incast]\nstart = \"10 us\"\n\
         [workloads.incast.exchange]\nmessage = \"16 KiB\"\nbetween_steps = \"nothing\"\n\
         pattern.incast.source_count = 8\n"
    )
}

fn of<'r>(found: &'r PointResult, name: &str) -> Vec<&'r WindowRow> {
    found.windows.iter().filter(|row| row.workload.as_deref().unwrap_or("") == name).collect()
}

fn packets(rows: &[&WindowRow]) -> u64 {
    rows.iter().map(|row| row.packets.unwrap()).sum()
}

/// The windows of one class, or of all, follow from the packets that were delivered.
fn follow_from(rows: &[&WindowRow], packets: &[&DeliveredPacket], all: bool, what: &str) {
    let mut from = None;
    for row in rows {
        let within = |it: &&&DeliveredPacket| {
            from.is_none_or(|from| it.delivered > from) && it.delivered <= row.end
        };
        let mut latencies: Vec<Picoseconds> =
            packets.iter().filter(within).map(|it| it.delivered - it.created).collect();
        latencies.sort_unstable();
        let count = latencies.len();
        assert_eq!(row.packets, Some(count as u64), "{what}, {:?}", row.start);
        let sum: u64 = latencies.iter().map(|it| it.0).sum();
        match row.packet_latency_mean {
            Some(mean) => assert!((mean.0 as f64 - sum as f64 / count as f64).abs() <= 0.5),
            None => assert_eq!(count, 0),
        }
        match row.packet_latency_p99 {
            // Of the histogram, which is exact to three digits.
            Some(p99) => {
                let exact = latencies[(count as f64 * 0.99).ceil() as usize - 1];
                assert!(p99 >= exact && p99.0 as f64 <= exact.0 as f64 * 1.001, "{what}");
            }
            None => assert!(count < 100, "{what}: {count}"),
        }
        let under_way = |since: fn(&DeliveredPacket) -> Picoseconds| {
            packets.iter().filter(move |it| since(it) <= row.end && it.delivered > row.end)
        };
        let flits: u64 = under_way(|it| it.created).map(|it| u64::from(it.flits)).sum();
        let injected = under_way(|it| it.injected).count() as u64;
        // Those that are still under way at the end are in no log.
        let is_last = row.end >= rows.last().unwrap().start;
        assert!(is_last || row.flits_under_way.unwrap() >= flits, "{what}, {:?}", row.start);
        assert!(!all || row.packets_under_way.unwrap() >= injected, "{what}, {:?}", row.start);
        from = Some(row.end);
    }
}

#[test]
fn a_message_alone_is_in_the_one_window_that_there_is() {
    for (kind, own) in KINDS {
        let text =
            format!("{own}{TORUS}[exchange]\npattern.pairs.list = [[0, 1]]\nmessage = \"256 B\"\n");
        let (found, packets) = run(&text, 1);
        let [row] = &found.windows[..] else { panic!("{kind}: {:?}", found.windows) };
        assert_eq!((row.phase, row.start), (WindowPhase::Measured, Picoseconds::ZERO));
        assert!(row.end <= found.measured.completion_time.unwrap() && row.end > row.start);
        assert_eq!((row.packets, packets.len()), (Some(1), 1), "{kind}");
        assert_eq!(row.packet_latency_mean, found.measured.packet_latency_mean, "{kind}");
        assert_eq!(row.packet_latency_p99, None, "of one packet it would be its latency");
        assert_eq!((row.flits_under_way, row.packets_under_way), (Some(0), Some(0)), "{kind}");
        assert!(row.workload.is_none() && row.fullest_channel.is_some());
        // All three channels of its way carry as many flits; they differ in speed.
        let busiest = found.channels.iter().map(|channel| channel.utilisation);
        let busiest = busiest.fold(0.0, f64::max);
        assert_eq!(row.utilisation_fullest, Some(busiest), "{kind}");
        assert_eq!(row.utilisation_busiest, Some(busiest), "{kind}");
    }
}

#[test]
fn windows_add_up_to_the_totals_of_points_and_workloads() {
    for (kind, own) in KINDS {
        let (found, _) = run(&three_at_once(own), 1);
        assert_eq!(found.measured.status, Status::Completed, "{kind}");
        let start = found.measured.warm_up.unwrap();
        let measured = |name: &str| -> u64 {
            let mut rows = of(&found, name);
            rows.retain(|row| row.phase == WindowPhase::Measured);
            assert!(rows.iter().all(|row| row.end > start), "{kind}");
            packets(&rows)
        };
        assert_eq!(Some(measured("")), found.measured.packets, "{kind}");
        let mut sum = 0;
        for row in &found.workloads {
            assert_eq!(Some(measured(&row.name)), row.measured.packets, "{kind}, {}", row.name);
            sum += measured(&row.name);
        }
        assert_eq!(sum, measured(""), "{kind}");
        // The flits under way of the workloads are those of the network.
        for row in of(&found, "") {
            let here = found.windows.iter().filter(|it| it.start == row.start);
            let own = here.filter(|it| it.workload.is_some());
            let own: u64 = own.map(|it| it.flits_under_way.unwrap()).sum();
            assert_eq!(row.flits_under_way, Some(own), "{kind}, {:?}", row.start);
        }
    }
}

#[test]
fn windows_are_what_follows_from_each_packet_on_any_number_of_threads() {
    for (kind, own) in KINDS {
        let text = three_at_once(own);
        let (found, logged) = run(&text, 1);
        for threads in 2..=3 {
            assert_eq!(run(&text, threads).0.windows, found.windows, "{kind}, {threads}");
        }
        // All that was delivered, the warm-up included.
        let all: Vec<&DeliveredPacket> = logged.iter().collect();
        follow_from(&of(&found, ""), &all, true, kind);
        for (class, row) in (0..).zip(&found.workloads) {
            let own: Vec<&DeliveredPacket> =
                logged.iter().filter(|packet| packet.class == class).collect();
            follow_from(&of(&found, &row.name), &own, false, &format!("{kind}, {}", row.name));
        }
        let p99 = found.windows.iter().filter(|row| row.packet_latency_p99.is_some());
        assert!(p99.count() > 10, "{kind}");
    }
}

#[test]
fn a_burst_is_seen_from_its_start_until_its_last_packets_are_there() {
    let (found, _) = run(&three_at_once(""), 1);
    let burst = found.workloads.iter().find(|row| row.name == "burst").unwrap();
    let start = Picoseconds(20_000_000);
    assert_eq!(burst.start, Some(start));
    let end = start + burst.measured.completion_time.unwrap();
    assert!(end > Picoseconds(30_000_000), "it creates messages until then");
    assert_eq!(burst.measured.offered_load, Some(0.4));
    let rows = of(&found, "burst");
    for row in &rows {
        let sends = row.end > start && row.start < end;
        let has_any = row.packets != Some(0) || row.flits_under_way != Some(0);
        assert!(sends || !has_any, "{row:?}");
    }
    let of_time =
        |time: u64| *rows.iter().find(|row| row.end > Picoseconds(time * 1_000_000)).unwrap();
    assert_eq!(of_time(19).flits_under_way, Some(0));
    assert!(of_time(25).packets > Some(0) && of_time(25).flits_under_way > Some(0));
    let last = rows.last().unwrap();
    assert_eq!(last.flits_under_way, Some(0), "all has been received");
}

#[test]
fn a_load_with_an_end_creates_what_it_would_without_one_until_then() {
    let load = |end: &str, measure: &str| {
        format!(
            "{TORUS}[workloads.a]\n{end}traffic = {{ pattern = \"uniform\", load = 0.3 }}\n{measure}"
        )
    };
    let measure = "[measure]\nwindow = \"5 us\"\nwarm_up_windows = 4\nmaximum_windows = 30\n";
    let (ends, logged) = run(&load("end = \"12 us\"\n", ""), 2);
    assert_eq!(ends.measured.status, Status::Completed);
    let (_, steady) = run(&load("", measure), 1);
    let created = |packets: &[DeliveredPacket]| -> Vec<(u32, u32, Picoseconds)> {
        let of = packets.iter().filter(|packet| packet.created < Picoseconds(12_000_000));
        let mut created: Vec<_> = of.map(|it| (it.source, it.destination, it.created)).collect();
        created.sort_unstable();
        created
    };
    assert_eq!(created(&logged), created(&steady));
    // Hosts need a time before a message enters its queue.
    let overhead = Picoseconds(1_000_000);
    assert!(logged.iter().all(|it| it.created < Picoseconds(12_000_000) + overhead));
    assert_eq!(ends.workloads[0].measured.packets, Some(logged.len() as u64));
}

#[test]
fn a_long_run_has_no_more_windows_than_there_may_be() {
    let text =
        format!("{TORUS}[exchange]\npattern = \"all-to-all\"\nmessage = \"4 KiB\"\nrounds = 20\n");
    let (found, logged) = run(&text, 1);
    let rows = of(&found, "");
    assert_eq!(rows.len(), found.windows.len(), "there is one workload");
    assert!((64..=128).contains(&rows.len()), "{}", rows.len());
    let length = rows[0].end;
    assert!(length > Picoseconds(1_000_000) && (length.0 / 1_000_000).is_power_of_two());
    let starts = (0..).zip(&rows).all(|(number, row)| row.start == length * number);
    assert!(starts, "windows of equal length");
    assert_eq!(Some(packets(&rows)), found.measured.packets);
    follow_from(&rows, &logged.iter().collect::<Vec<_>>(), true, "exchange");
}

#[test]
fn windows_of_a_load_tell_the_tail_and_the_fullest_channel_too() {
    let text = format!(
        "{TORUS}[traffic]\npattern = \"uniform\"\nload = 0.3\n\
         [measure]\nwindow = \"5 us\"\nwarm_up_windows = 4\nmaximum_windows = 30\n"
    );
    let (found, logged) = run(&text, 2);
    let (warm, measured): (Vec<_>, Vec<_>) =
        found.windows.iter().partition(|row| row.phase == WindowPhase::WarmUp);
    assert!(warm.iter().all(|row| row.packet_latency_p99.is_none() && row.packets > Some(0)));
    assert!(measured.iter().all(|row| row.packet_latency_p99 > row.packet_latency_mean));
    assert_eq!(Some(packets(&measured)), found.measured.packets);
    for row in &found.windows {
        assert!(row.utilisation_fullest > row.utilisation_mean && row.fullest_channel.is_some());
    }
    let whole: Vec<&DeliveredPacket> = logged.iter().collect();
    assert_eq!(packets(&warm) + packets(&measured), whole.len() as u64);
}
