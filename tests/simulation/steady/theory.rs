//! What queueing theory gives in closed form.

use flitlab::report::Status;
use flitlab::simulation::Simulation;

use super::{Known, hold, row, scenario};

/// Terminals on the first of two switches, with a slow way out and next to none in.
fn star(terminals: u32, pattern: &str) -> String {
    format!(
        "[topology.hyperx]\ndimensions = [2]\nterminals = {terminals}\n[adapter]\n\
         injection_buffer = \"6600 flits\"\nejection_rate = \"3.2 Gb/s\"\nejection_latency = \"200 ns\"\n[traffic]\n\
         message = \"2 KiB\"\nload = 0.01\npattern = {pattern}\n"
    )
}

/// 31 senders to one receiver are a queue M/D/1 at its ejection channel: packets wait `rho D / (2
/// (1 - rho))` in the mean (Pollaczek and Khinchine; \[kleinrock\], section 5.6).
fn waiting_is_that_of_an_md1_queue(rho: f64, precision: f64) -> Known {
    let pairs: Vec<String> = (1..32).map(|source| format!("[{source}, 0]")).collect();
    let text = star(32, &format!("{{ pairs = {{ list = [{}] }} }}", pairs.join(", ")));
    let simulation = Simulation::new(&scenario(&text, &[])).unwrap();
    let forecast = simulation.forecast();
    let capacity = simulation.fabric().capacity();
    let load = rho * forecast.throughput().unwrap() / capacity;
    let more = [
        format!("traffic.load={load}"),
        format!("measure.precision={precision}"),
        "measure.maximum_windows=4000".into(),
    ];
    let row = row(&text, &more.each_ref().map(String::as_str));
    assert_eq!(row.status, Status::Steady, "{rho}");
    let parameters = &simulation.scenario().parameters;
    let service = f64::from(parameters.maximum_packet()) * parameters.ejection_flit_time().0 as f64;
    let expected = rho * service / (2.0 * (1.0 - rho));
    let waiting = row.packet_latency_mean.unwrap().0 as f64 - forecast.zero_load_mean;
    let half = row.packet_latency_mean_ci95.unwrap().0 as f64;
    // Senders take turns with themselves, and slots are not points in time: two per cent.
    assert!(
        (waiting - expected).abs() < 1.5 * half + 0.02 * expected,
        "{rho}: {waiting} {expected} {half}"
    );
    println!(
        "M/D/1, rho {rho}: {:.4} of the closed form, +-{:.4}",
        waiting / expected,
        half / expected
    );
    Known {
        what: format!("mean wait for an ejection channel that is {rho} used, packet times"),
        expected: expected / service,
        ours: waiting / service,
    }
}

#[test]
fn packets_for_one_receiver_wait_as_in_an_md1_queue() {
    for rho in [0.3, 0.6] {
        waiting_is_that_of_an_md1_queue(rho, 0.01);
    }
}

#[test]
#[ignore = "long: a minute, M/D/1 up to nine tenths"]
fn packets_for_one_receiver_wait_as_in_an_md1_queue_near_saturation() {
    let loads = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9];
    hold("md1", &loads.map(|rho| waiting_is_that_of_an_md1_queue(rho, 0.005)));
}

/// A switch whose inputs hold one queue each passes 0.75, 0.6553 and 0.6184 of what 2, 4 and 8
/// channels carry, packets of one size in step (\[input-queueing\], Table I).
#[test]
fn a_switch_with_input_queues_saturates_where_theory_says() {
    assert_saturation(&[(2, 0.75)]);
}

#[test]
#[ignore = "long: a quarter of a minute; switches with input queues of 2, 4 and 8 ports against theory"]
fn switches_with_input_queues_saturate_where_theory_says() {
    hold("switches", &assert_saturation(&[(2, 0.75), (4, 0.6553), (8, 0.6184)]));
}

fn assert_saturation(switches: &[(u32, f64)]) -> Vec<Known> {
    let mut known = Vec::new();
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("steady-switch");
    std::fs::create_dir_all(&folder).unwrap();
    for &(ports, expected) in switches {
        let mut matrix = String::from("source,destination,weight\n");
        for (source, sink) in (0..ports).flat_map(|it| (0..ports).map(move |sink| (it, sink))) {
            matrix += &format!("{source},{},1\n", ports + sink);
        }
        let file = folder.join(format!("{ports}.csv"));
        std::fs::write(&file, matrix).unwrap();
        let text = star(2 * ports, &format!("{{ matrix = {{ file = {file:?} }} }}"))
            .replace("ejection_rate = \"3.2 Gb/s\"\nejection_latency = \"200 ns\"\n", "");
        let more = [
            "traffic.load=1",
            "measure.warm_up_windows=5",
            "measure.minimum_windows=100",
            "measure.maximum_windows=100",
        ];
        let row = row(&text, &more);
        assert_eq!(row.status, Status::NotSteady, "{ports}");
        let accepted = row.accepted_load.unwrap();
        println!("switch of {ports}: {accepted:.4}, in theory {expected}");
        assert!((accepted / expected - 1.0).abs() < 0.01, "{ports}: {accepted} {expected}");
        // And a load a little below is steady, one a little above is not.
        for (share, status) in [(0.95, Status::Steady), (1.05, Status::NotSteady)] {
            let load = format!("traffic.load={}", share * expected);
            let verdict = super::run(&text, &[&load, "measure.maximum_windows=2000"]);
            assert_eq!(
                verdict.found.measured.status, status,
                "{ports} at {share}: {:?}",
                verdict.found.warnings
            );
        }
        let what = format!("switch of {ports} ports with a queue an input: share of a channel");
        known.push(Known { what, expected, ours: accepted });
    }
    known
}

/// What a switch whose links are shared flit by flit passes under full uniform load, of packets of
/// one flit: as a share of what its outputs carry.
fn flit_switch(ports: u32, queues: &str, iterations: u32) -> f64 {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("steady-flit-switch");
    std::fs::create_dir_all(&folder).unwrap();
    let pairs = (0..ports).flat_map(|it| (0..ports).map(move |sink| (it, ports + sink)));
    let rows = pairs.map(|(source, sink)| format!("{source},{sink},1\n"));
    let file = folder.join(format!("{ports}-{queues}-{iterations}.csv"));
    let matrix = "source,destination,weight\n".to_owned() + &rows.collect::<String>();
    std::fs::write(&file, matrix).unwrap();
    let text = format!(
        "[topology.hyperx]\ndimensions = [2]\nterminals = {}\n[router]\nvirtual_channels = 16\nrouting_latency = \
         \"0 ns\"\ncrossbar_latency = \"0 ns\"\n[link]\nsharing = {{ flit = {{ queues = \"{queues}\", iterations = \
         {iterations} }} }}\n[adapter]\ninjection_buffer = \"128 flits\"\ninjection_latency = \"16 ns\"\n\
         ejection_latency = \"16 ns\"\n[traffic]\nmessage = \"0 B\"\nload = 1.0\npattern = {{ matrix = {{ file = \
         {file:?} }} }}\n[measure]\nwarm_up_windows = 5\nminimum_windows = 30\nmaximum_windows = 30\n",
        2 * ports
    );
    row(&text, &[]).accepted_load.unwrap()
}

/// By ports: input queues as above (32 ports: the limit of many is 0.5858), and virtual output
/// queues, which have no head of line that blocks others, so that theory gives them all
/// (\[islip\]).
fn assert_flit_switches(queues: &[(u32, f64)], outputs: &[u32]) -> Vec<Known> {
    let mut known = Vec::new();
    let mut hold_to = |ports: u32, kind: &str, iterations: u32, expected: f64, within: f64| {
        let ours = flit_switch(ports, kind, iterations);
        assert!((ours / expected - 1.0).abs() < within, "{ports} {kind}: {ours} {expected}");
        let rounds = if iterations == 1 { String::new() } else { format!(", {iterations} rounds") };
        let what = format!("flits through a switch of {ports} ports, {kind} queues{rounds}");
        known.push(Known { what, expected, ours });
    };
    for &(ports, expected) in queues {
        hold_to(ports, "virtual-channel", 1, expected, 0.01);
    }
    for &ports in outputs {
        hold_to(ports, "virtual-output", 4, 1.0, 0.04);
    }
    known
}

#[test]
fn a_switch_that_shares_links_flit_by_flit_saturates_where_theory_says() {
    assert_flit_switches(&[(2, 0.75)], &[4]);
}

#[test]
#[ignore = "long: a quarter of a minute; switches of up to 32 ports, flit by flit, against theory"]
fn flit_switches_saturate_where_theory_says() {
    let queues = [(2, 0.75), (4, 0.6553), (8, 0.6184), (32, 0.59)];
    hold("flit-switches", &assert_flit_switches(&queues, &[2, 4, 8, 24]));
}
