use super::*;
use crate::{PatternSpec, Process};
use flitlab_base::units::Rate;
use flitlab_fabric::{Faults, Torus};
use flitlab_model::Parameters;

fn fabric(sizes: &[u32]) -> Fabric {
    Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap()
}

fn spec(load: OfferedLoad) -> LoadSpec {
    LoadSpec {
        pattern: PatternSpec::new("uniform", ""),
        process: Process::Bernoulli,
        load,
        message: Bytes(256).into(),
        access: Access::Write,
    }
}

fn bind(spec: &LoadSpec, sizes: &[u32]) -> Result<OpenLoad, LoadError> {
    bind_to(spec, &fabric(sizes), 1)
}

/// As the default router parameters have it: 2133 ps a flit, header and checksum around 16 B flits.
fn bind_to(spec: &LoadSpec, fabric: &Fabric, seed: u64) -> Result<OpenLoad, LoadError> {
    let parameters = Parameters::default();
    let flits_of = |bytes| parameters.message_flits(bytes);
    OpenLoad::new(spec, fabric, parameters.link_flit_time(), flits_of, seed)
}

/// The messages that all terminals create before `end`.
fn run(load: &mut OpenLoad, terminals: u32, end: Picoseconds) -> Vec<Message> {
    let mut messages = vec![];
    for terminal in 0..terminals {
        let mut next = load.first(terminal);
        while let Some(now) = next.filter(|&now| now < end) {
            let message;
            (message, next) = load.create(terminal, now);
            messages.extend(message);
        }
    }
    messages
}

fn close(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 1e-12
}

#[test]
fn a_fraction_is_of_the_capacity_in_flits() {
    let load = bind(&spec(OfferedLoad::Fraction(0.35)), &[16, 4]).unwrap();
    assert_eq!(load.rates.fraction, 0.35);
    assert!(close(load.rates.flits, 0.35 * 0.5));
    assert!(close(load.rates.messages, 0.35 * 0.5 / 18.0));
    assert!(close(load.rates.payload, 0.35 * 0.5 / 18.0 * 256.0 / 2_133e-12));
}

#[test]
fn a_payload_rate_is_a_fraction_too() {
    let load = bind(&spec(OfferedLoad::Payload(Rate(8_000_000_000))), &[8, 8]).unwrap();
    assert_eq!(load.rates.payload, 1e9);
    assert!(close(load.rates.messages, 1e9 / 256.0 * 2_133e-12));
    assert!(close(load.rates.fraction, 1e9 / 256.0 * 2_133e-12 * 18.0));
    let again = bind(&spec(OfferedLoad::Fraction(load.rates.fraction)), &[8, 8]).unwrap();
    assert!(close(again.rates.payload, 1e9));
}

#[test]
fn a_read_counts_its_request_and_its_response() {
    let read = Access::Read { request: Bytes(16) };
    let spec = LoadSpec { access: read, ..spec(OfferedLoad::Fraction(0.5)) };
    let mut load = bind(&spec, &[8, 8]).unwrap();
    assert!(close(load.rates.flits, 0.5));
    assert!(close(load.rates.messages, 0.5 / 21.0));
    let first = load.first(9).unwrap();
    let message = load.create(9, first).0.unwrap();
    assert_eq!((message.time, message.source, message.bytes), (first, 9, 256));
    assert_eq!(message.kind, MessageKind::Read { request: 16 });
}

#[test]
fn messages_come_at_the_offered_rate() {
    let on_off = Process::OnOff { on: Picoseconds(100_000), off: Picoseconds(200_000) };
    let (high, low) = (Picoseconds(100_000), Picoseconds(200_000));
    let markov = Process::MarkovModulated { high, low, ratio: 5.0 };
    for process in [Process::Bernoulli, Process::Periodic { in_step: false }, on_off, markov] {
        let spec = LoadSpec { process, ..spec(OfferedLoad::Fraction(0.25)) };
        let mut load = bind(&spec, &[4, 4]).unwrap();
        let slots = 100_000;
        let messages = run(&mut load, 16, Picoseconds(slots * 2_133));
        let expected = load.rates.messages * slots as f64 * 16.0;
        let found = messages.len() as f64;
        assert!((found - expected).abs() < 4.0 * expected.sqrt(), "{found} {expected}");
        assert!(messages.iter().all(|message| message.source != message.destination));
    }
}

/// Web search as papers on data centres have it, a hundred times smaller.
fn web_search() -> MessageSizes {
    let points = [
        (100, 0.15),
        (200, 0.2),
        (300, 0.3),
        (500, 0.4),
        (800, 0.53),
        (2_000, 0.6),
        (10_000, 0.7),
        (20_000, 0.8),
        (50_000, 0.9),
        (100_000, 0.97),
        (300_000, 1.0),
    ];
    MessageSizes::cumulative(&points.map(|(bytes, up_to)| (Bytes(bytes), up_to)))
}

#[test]
fn sizes_that_are_drawn_offer_the_load_that_was_asked_for() {
    let list = MessageSizes::weighted(&[(Bytes(64), 3.0), (Bytes(4_096), 1.0)]);
    let parameters = Parameters::default();
    for (message, slots) in [(list, 200_000), (web_search(), 4_000_000)] {
        let asked = [OfferedLoad::Fraction(0.25), OfferedLoad::Payload(Rate(8_000_000_000))];
        for (load, access) in [
            (asked[0], Access::Write),
            (asked[1], Access::Write),
            (asked[0], Access::Read { request: Bytes(300) }),
        ] {
            let spec = LoadSpec { message: message.clone(), access, ..spec(load) };
            let mut load = bind(&spec, &[4, 4]).unwrap();
            let end = slots * 2_133;
            let messages = run(&mut load, 16, Picoseconds(end));
            let request = match access {
                Access::Write => 0,
                Access::Read { request } => parameters.message_flits(request.0),
            };
            let of = |bytes| (parameters.message_flits(bytes) + request) as f64;
            let expected = load.rates.messages * slots as f64 * 16.0;
            // The sum of a random number of sizes: the deviation is that of the mean square.
            let square = message.mean_of(|bytes| of(bytes).powi(2));
            let flits: f64 = messages.iter().map(|message| of(message.bytes)).sum();
            let error = flits - load.rates.flits * slots as f64 * 16.0;
            assert!(error.abs() < 4.0 * (expected * square).sqrt(), "{error} of {flits}");
            let square = message.mean_of(|bytes| (bytes as f64).powi(2));
            let payload: f64 = messages.iter().map(|message| message.bytes as f64).sum();
            let error = payload - load.rates.payload * end as f64 / 1e12 * 16.0;
            assert!(error.abs() < 4.0 * (expected * square).sqrt(), "{error} of {payload}");
            // Intervals are multiples of 2^-20 ps.
            let offered = match spec.load {
                OfferedLoad::Fraction(asked) => {
                    load.rates.flits / fabric(&[4, 4]).capacity() / asked
                }
                OfferedLoad::Payload(_) => load.rates.payload / 1e9,
            };
            assert!((offered - 1.0).abs() < 1e-9, "{offered}");
        }
    }
}

#[test]
fn what_is_drawn_does_not_depend_on_how_terminals_are_parted() {
    let (high, low) = (Picoseconds(1_000_000), Picoseconds(9_000_000));
    let spec = LoadSpec {
        pattern: PatternSpec::new("hotspot", "share = 0.5\nmoves_every = \"1 us\""),
        process: Process::MarkovModulated { high, low, ratio: 4.0 },
        message: web_search(),
        ..spec(OfferedLoad::Fraction(0.25))
    };
    let mut whole = bind(&spec, &[4, 4]).unwrap();
    let end = Picoseconds(2_000_000_000);
    let all = run(&mut whole, 16, end);
    let parts = Box::new(bind(&spec, &[4, 4]).unwrap()).split(&[0..3, 3..16]);
    let mut found = Vec::new();
    for (mut part, range) in parts.into_iter().zip([0..3, 3..16]) {
        for terminal in range {
            let mut next = part.first(terminal);
            while let Some(now) = next.filter(|&now| now < end) {
                let message;
                (message, next) = part.create(terminal, now);
                found.extend(message);
            }
        }
    }
    assert_eq!(found, all);
}

#[test]
fn a_load_goes_on_from_its_state() {
    let on_off = Process::OnOff { on: Picoseconds(100_000), off: Picoseconds(200_000) };
    let (high, low) = (Picoseconds(100_000), Picoseconds(900_000));
    let markov = Process::MarkovModulated { high, low, ratio: 4.0 };
    for process in [Process::Bernoulli, Process::Periodic { in_step: false }, on_off, markov] {
        let pattern = PatternSpec::new("hotspot", "share = 0.5\nmoves_every = \"1 us\"");
        let message = web_search();
        let spec = LoadSpec { process, message, pattern, ..spec(OfferedLoad::Fraction(0.25)) };
        let mut load = bind(&spec, &[4, 4]).unwrap();
        let mut next = load.first(5).unwrap();
        // More than a block of messages, and not a whole number of them.
        for _ in 0..37 {
            next = load.create(5, next).1.unwrap();
        }
        let mut resumed = bind(&spec, &[4, 4]).unwrap();
        assert!(resumed.resume(&load.state()));
        for _ in 0..40 {
            let created = load.create(5, next);
            assert_eq!(resumed.create(5, next), created);
            next = created.1.unwrap();
        }
    }
}

#[test]
fn the_highest_fraction_is_that_at_which_a_source_creates_a_message_in_each_slot_of_its_peak() {
    let of = |process, fraction| {
        let spec = LoadSpec { process, ..spec(OfferedLoad::Fraction(fraction)) };
        bind(&spec, &[4, 4])
    };
    let (short, long) = (Picoseconds(100_000), Picoseconds(300_000));
    let on_off = Process::OnOff { on: short, off: long };
    // Nine times as many in a quarter of the time are three quarters: three times the mean.
    let markov = Process::MarkovModulated { high: short, low: long, ratio: 9.0 };
    for (process, peak) in [(Process::Bernoulli, 1.0), (on_off, 4.0), (markov, 3.0)] {
        let rates = of(process, 0.1).unwrap().rates;
        // A message in each slot is 18 flits a slot.
        let highest = rates.highest_fraction;
        assert!(close(highest, 18.0 / (rates.flits / 0.1) / peak), "{highest}");
        assert!(of(process, highest * (1.0 - 1e-9)).is_ok());
        let refused = of(process, highest * 1.01).unwrap_err();
        assert!(matches!(refused, LoadError::TooFast { .. }), "{refused}");
    }
}

#[test]
fn periodic_traffic_keeps_step_for_ever() {
    let process = Process::Periodic { in_step: true };
    let spec = LoadSpec { process, ..spec(OfferedLoad::Fraction(0.3)) };
    let mut load = bind(&spec, &[8, 8, 8]).unwrap();
    // An interval is 2133 * 18 / 0.3 = 127980 ps, exactly.
    assert_eq!(load.first(5), Some(Picoseconds::ZERO));
    assert_eq!(load.create(5, Picoseconds(0)).1, Some(Picoseconds(127_980)));
    assert_eq!(load.create(5, Picoseconds(127_980)).1, Some(Picoseconds(255_960)));
}

#[test]
fn terminals_have_streams_of_their_own_and_the_seed_decides() {
    let spec = spec(OfferedLoad::Fraction(0.2));
    let messages = |seed| {
        let mut load = bind_to(&spec, &fabric(&[4, 4]), seed).unwrap();
        run(&mut load, 16, Picoseconds(10_000_000))
    };
    assert_eq!(messages(1), messages(1));
    assert_ne!(messages(1), messages(2));
    // A terminal's messages do not depend on which other terminals are asked first.
    let mut load = bind(&spec, &[4, 4]).unwrap();
    let first = load.first(7).unwrap();
    let own = load.create(7, first).0.unwrap();
    assert_eq!(messages(1).iter().find(|message| message.source == 7), Some(&own));
}

#[test]
fn a_matrix_offers_the_mean_over_its_senders() {
    let pattern = PatternSpec::new("matrix", "list = [[0, 1, 3.0], [2, 3, 1.0]]");
    let spec = LoadSpec { pattern, ..spec(OfferedLoad::Fraction(0.2)) };
    let mut load = bind(&spec, &[4, 4]).unwrap();
    assert!(close(load.rates.flits, 0.2 * 2.0));
    let slots = 200_000;
    let messages = run(&mut load, 16, Picoseconds(slots * 2_133));
    let from = |source| messages.iter().filter(|message| message.source == source).count();
    let expected = load.rates.messages * slots as f64;
    assert!((from(0) as f64 / expected - 1.5).abs() < 0.1);
    assert!((from(2) as f64 / expected - 0.5).abs() < 0.1);
    assert_eq!(from(0) + from(2), messages.len());
    assert!(messages.iter().all(|message| message.time % Picoseconds(2_133) == Picoseconds(0)));
}

#[test]
fn silent_and_failed_terminals_create_nothing() {
    let faults = Faults { nodes: vec![1], ..Faults::default() };
    let fabric = Torus::new(&[4, 4], &[]).unwrap().fabric(&faults).unwrap();
    let spec =
        LoadSpec { pattern: PatternSpec::new("transpose", ""), ..spec(OfferedLoad::Fraction(0.2)) };
    let mut load = bind_to(&spec, &fabric, 1).unwrap();
    let creating = (0..16).filter(|&terminal| load.first(terminal).is_some());
    assert_eq!(creating.collect::<Vec<_>>(), [2, 3, 6, 7, 8, 9, 11, 12, 13, 14]);
}

#[test]
fn impossible_loads_are_refused() {
    let refusal = |spec: &LoadSpec| bind(spec, &[3, 3]).unwrap_err().to_string();
    for (load, text) in [(0.0, "0"), (-0.3, "-0.3"), (f64::NAN, "NaN"), (1001.0, "1001")] {
        assert_eq!(
            refusal(&spec(OfferedLoad::Fraction(load))),
            format!("a load must be between 1e-9 and 1000, not {text}")
        );
    }
    assert_eq!(
        refusal(&LoadSpec {
            message: Bytes(0).into(),
            ..spec(OfferedLoad::Payload(Rate(1_000_000_000)))
        }),
        "a payload rate needs messages of at least one byte"
    );
    assert_eq!(
        refusal(&LoadSpec { message: Bytes(0).into(), ..spec(OfferedLoad::Fraction(0.9)) }),
        "node 0 would create 1.200 messages a flit time of a link and one is the most: offer \
         less or make the messages larger"
    );
    let access = Access::Read { request: Bytes(1 << 32) };
    assert_eq!(
        refusal(&LoadSpec { access, ..spec(OfferedLoad::Fraction(0.9)) }),
        "a read request has at most 4294967295 bytes, not 4294967296"
    );
    assert_eq!(
        refusal(&LoadSpec {
            pattern: PatternSpec::new("bit-reverse", ""),
            ..spec(OfferedLoad::Fraction(0.9))
        }),
        "bit-reverse needs a power of two of nodes; 3x3 has 9: 4x4 (16) or 2x4 (8) would do"
    );
}
