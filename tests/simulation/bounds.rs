//! Bounds of completion times: never above what a run takes, and reached where they can be told in
//! closed form.

use rand::{SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use crate::common::workplace::Workplace;
use serde_json::Value;

/// Bound and completion time of a scenario, in ns, and what sets the bound.
fn both(place: &Workplace, scenario: &str) -> (f64, f64, String) {
    place.write("a.toml", scenario);
    let expected = place.json(&["check", "a.toml", "--json"]);
    let bound = expected["completion_bound_ns"].as_f64().unwrap_or_else(|| panic!("{scenario}"));
    let _ = std::fs::remove_dir_all(place.0.join("out"));
    let run = place.json(&["run", "a.toml", "--json", "--out", "out"]);
    let point = &run["points"][0];
    let time = 1e3 * point["completion_time_us"].as_f64().unwrap_or_else(|| panic!("{point}"));
    (bound, time, expected["bottleneck"].as_str().unwrap().into())
}

const PAIR: &str = "[exchange]\npattern = { pairs = { list = [[0, 1], [1, 0]] } }\n";

#[test]
fn a_message_uses_one_of_two_injection_channels() {
    let place = Workplace::new("bound-one-channel");
    let two = "[topology.torus]\ndimensions = [2]\n[link]\nrate = \"1000 Gb/s\"\n";
    let (bound, time, by) =
        both(&place, &format!("{two}{PAIR}message = \"8 MB\"\nbetween_steps = \"nothing\"\n"));
    assert!((bound - time).abs() < 0.5, "{bound} {time}");
    assert!(by.contains("ejection") || by.contains("injection"), "{by}");
}

#[test]
fn a_channel_whose_credits_come_back_late_is_bound_by_them() {
    let place = Workplace::new("bound-credits");
    let fast = "[link]\nrate = \"1000 Gb/s\"\n[adapter]\ninjection_rate = \"1000 Gb/s\"\n\
                ejection_rate = \"1000 Gb/s\"\n";
    for (torus, switching, rounds) in
        [("[2]", "cut-through", 1), ("[4]", "cut-through", 2), ("[2]", "store-and-forward", 1)]
    {
        let scenario = format!(
            "[topology.torus]\ndimensions = {torus}\n{fast}[router]\nswitching = \"{switching}\"\n{PAIR}\
             message = \"1 MB\"\nbetween_steps = \"nothing\"\nrounds = {rounds}\n"
        );
        let scenario = scenario.replace("switching = \"cut-through\"\n", "");
        let (bound, time, by) = both(&place, &scenario);
        assert!(by.starts_with("the credits of channel"), "{by}");
        assert!(bound <= time && time < bound * 1.002, "{scenario}: {bound} {time}");
    }
    // By hand: a buffer has room for 8 packets of 18 flits of 0.128 ns. From a grant on, the header
    // is there after the crossbar's 10 and the link's 70 ns, is routed in 25 ns, and leaves in 18
    // flit times; credits take 70 ns.
    let place = Workplace::new("bound-credits-by-hand");
    let (bound, time, _) = both(
        &place,
        &format!(
            "[topology.torus]\ndimensions = [2]\n{fast}{PAIR}message = \"1 MiB\"\nbetween_steps = \"nothing\"\n"
        ),
    );
    let trip = 10.0 + 70.0 + 25.0 + 18.0 * 0.128 + 70.0;
    // 4096 packets: the last one is granted 7 packets' times after 511 round trips.
    let last = 511.0 * trip + 7.0 * 18.0 * 0.128;
    let before = 340.0 + 13.0 + 25.0;
    let after = 10.0 + 70.0 + 25.0 + 10.0 + 13.0 + 17.0 * 0.128 + 340.0;
    assert!((bound - (before + last + after)).abs() < 1.0, "{bound} {}", before + last + after);
    assert!((bound - time).abs() < 1.0, "{bound} {time}");
}

/// A buffer of 35 flits has room for another packet of 18 once a flit of the one before it has left.
#[test]
fn credits_that_come_back_flit_by_flit_bind_less() {
    let place = Workplace::new("bound-credits-of-flits");
    for (buffer, within) in [(35, 1.002), (36, 1.002), (50, 1.03)] {
        let (bound, time, by) = both(
            &place,
            &format!(
                "[topology.torus]\ndimensions = [2]\n[link]\nrate = \"1000 Gb/s\"\n[adapter]\n\
                 injection_rate = \"1000 Gb/s\"\nejection_rate = \"1000 Gb/s\"\n[router]\n\
                 output_buffer = \"40 flits\"\nbuffer = \"{buffer} flits\"\n{PAIR}message = \"1 MB\"\n\
                 between_steps = \"nothing\"\n"
            ),
        );
        assert!(by.starts_with("the credits of channel"), "{by}");
        assert!(bound <= time && time < bound * within, "{buffer}: {bound} {time}");
    }
}

#[test]
fn steps_that_wait_for_each_other_bound_an_exchange() {
    let place = Workplace::new("bound-steps");
    let ring = "[topology.torus]\ndimensions = [4]\n";
    // A ping of 8 B takes the same in each of 50 rounds.
    for between in ["exchange", "{ barrier = { latency = \"3 us\" } }"] {
        let between =
            if between.starts_with('{') { between.into() } else { format!("\"{between}\"") };
        let scenario =
            format!("{ring}{PAIR}message = \"8 B\"\nrounds = 50\nbetween_steps = {between}\n");
        let (bound, time, by) = both(&place, &scenario);
        assert!((bound - time).abs() < 0.5, "{bound} {time}");
        assert!(by.starts_with("the steps"), "{by}");
    }
    let (bound, time, by) =
        both(&place, &format!("{ring}{PAIR}message = \"8 B\"\nrounds = 50\nread = {{}}\n"));
    assert!((bound - time).abs() < 0.5 && by.starts_with("the steps"), "{bound} {time} {by}");
}

#[test]
fn a_host_that_takes_no_time_is_not_counted_in_an_applications_bound() {
    let place = Workplace::new("bound-hosts");
    place.write("x.goal", "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n");
    let scenario = "[topology.torus]\ndimensions = [2]\n[application]\nfile = \"x.goal\"\n[adapter]\n\
                    send_overhead = \"0 ns\"\nreceive_overhead = \"0 ns\"\n";
    let (bound, time, _) = both(&place, scenario);
    assert!((bound - time).abs() < 0.5, "{bound} {time}");
}

/// What the last packet's flits take behind the first one, and what is worked on before a message
/// comes, may be missing in an application's time.
#[test]
fn an_applications_bound_holds_with_cut_through_and_remote_reads() {
    let place = Workplace::new("bound-adapters");
    // The second one is asked for while the first one is under way, and nothing is left to do for
    // it when it has come.
    let two = "num_ranks 4\nrank 0 {\n}\nrank 1 {\nsend 200000b to 2\n}\n\
               rank 2 {\nrecv 200000b from 1\nrecv 201000b from 3\n}\n\
               rank 3 {\nl: calc 15000\nm: send 201000b to 2\nm requires l\n}\n";
    place.write("two.goal", two);
    let one = "num_ranks 2\nrank 0 {\nsend 2048b to 1\n}\nrank 1 {\nrecv 2048b from 0\n}\n";
    place.write("one.goal", one);
    let scenario = "[topology.torus]\ndimensions = [4]\n[router]\nmaximum_payload = \"2 KiB\"\n\
                    buffer = \"2000 flits\"\n[adapter]\ninjection_buffer = \"2000 flits\"\n\
                    ejection_channels = 1\nsend_overhead = \"0 ns\"\n";
    for (file, receive, more, within) in [
        ("one", "0 ns", "host_adapter = { cut_through = true }\n", 1.001),
        ("two", "5 us", "rendezvous = { get = {} }\neager_limit = \"200 kB\"\n", 1.05),
    ] {
        let host = format!("receive_overhead = \"{receive}\"\n[application]\n{more}");
        let (bound, time, _) = both(&place, &format!("{scenario}{host}file = \"{file}.goal\"\n"));
        assert!(bound > 0.0 && bound <= time, "{file}: {bound} {time}");
        assert!(time < within * bound, "{file} shows nothing: {bound} {time}");
    }
}

/// A random exchange, or other workload that ends.
fn random(rng: &mut ChaCha8Rng) -> String {
    let mut pick = |list: &[&str]| (*list.choose(rng).unwrap()).to_owned();
    let fabric = pick(&[
        "[topology.torus]\ndimensions = [4, 3]\n",
        "[topology.torus]\ndimensions = [2, 2, 2]\n",
        "[topology.torus]\ndimensions = [5]\n",
        "[topology.torus]\ndimensions = [4, 4]\n[routing.adaptive]\n",
        "[topology.torus]\ndimensions = [4, 4]\n[routing.direction_order]\nhalf_ring = \"random\"\n",
        "[topology.tree]\narity = 2\nlevels = 3\n",
        "[topology.tree]\narity = 2\nlevels = 3\n[routing.relation]\n",
        "[topology.dragonfly]\ngroups = 3\ngroup_size = 2\nglobal_cables = 1\nterminals = 2\n",
        "[topology.hyperx]\ndimensions = [3, 3]\nterminals = 2\n",
    ]);
    let sharing = pick(&["", "", "sharing = \"flit\"\n"]);
    let rate = pick(&["4 Gb/s", "60 Gb/s", "900 Gb/s"]);
    let latency = pick(&["20 ns", "70 ns", "900 ns"]);
    // A flit of 64 B takes 128 ns at 4 Gb/s, which latencies can't be below.
    let latency = if rate.starts_with('4') { "900 ns".into() } else { latency };
    let injection = pick(&["40 Gb/s", "64 Gb/s", "700 Gb/s"]);
    let ejection = pick(&["40 Gb/s", "64 Gb/s", "700 Gb/s"]);
    let channels = pick(&["1", "2", "3"]);
    let message = pick(&["0 B", "8 B", "300 B", "5000 B", "40 kB"]);
    let pattern = pick(&["\"all-to-all\"", "\"random-permutation\"", "\"bit-complement\""]);
    let pattern = if fabric.contains("[4, 4]") || fabric.contains("[2, 2, 2]") {
        pattern
    } else {
        pattern.replace("bit-complement", "all-to-all")
    };
    let between = pick(&["\"nothing\"", "\"exchange\"", "{ barrier = { latency = \"1 us\" } }"]);
    let rounds = pick(&["1", "2", "5"]);
    let read = pick(&["", "", "read = {}\n"]);
    format!(
        "{fabric}[link]\nrate = \"{rate}\"\nlatency = \"{latency}\"\n{sharing}[adapter]\ninjection_rate = \"{injection}\"\n\
         injection_latency = \"100 ns\"\nejection_latency = \"100 ns\"\n\
         ejection_rate = \"{ejection}\"\ninjection_channels = {channels}\n[exchange]\npattern = {pattern}\n\
         message = \"{message}\"\nrounds = {rounds}\nbetween_steps = {between}\n{read}"
    )
}

#[test]
fn no_random_exchange_is_over_before_its_bound() {
    let place = Workplace::new("bound-random");
    let mut rng = ChaCha8Rng::seed_from_u64(22);
    let (mut tight, mut accepted, mut with_buffers_at_outputs) = (0, 0, 0);
    for _ in 0..30 {
        let scenario = random(&mut rng);
        place.write("a.toml", &scenario);
        let checked = place.flitlab(&["check", "a.toml"]);
        assert!(
            checked.status.success(),
            "{scenario}: {}",
            String::from_utf8_lossy(&checked.stderr)
        );
        let (bound, time, by) = both(&place, &scenario);
        assert!(bound <= time + 0.001, "{scenario}: {bound} by {by}, {time}");
        if !scenario.contains("torus") && !scenario.contains("sharing") {
            // Buffers that whole packets do not fill.
            let behind = "[router]\noutput_buffer = \"70 flits\"\nbuffer = \"75 flits\"\n[link]";
            let scenario = scenario.replace("[link]", behind);
            let (bound, time, by) = both(&place, &scenario);
            assert!(bound <= time + 0.001, "{scenario}: {bound} by {by}, {time}");
            with_buffers_at_outputs += 1;
        }
        accepted += 1;
        tight += u32::from(time < 1.05 * bound);
    }
    assert!(with_buffers_at_outputs > 5, "{with_buffers_at_outputs}");
    assert!(tight * 4 > accepted, "a bound is of use if it is often near: {tight} of {accepted}");
}

#[test]
fn a_run_says_how_far_it_is_from_its_bound_and_why() {
    let place = Workplace::new("bound-why");
    let scenario = "[topology.torus]\ndimensions = [4, 4]\n[exchange]\npattern = \"all-to-all\"\nmessage = \"8 KiB\"\n";
    place.write("a.toml", scenario);
    let text = place.run(&["run", "a.toml", "--out", "text"]);
    for part in [
        "completion/bound",
        "times at least",
        "lock step: 15 steps",
        "the busiest channel, ",
        "heads of buffers waited for",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let run = place.json(&["run", "a.toml", "--json", "--out", "json"]);
    let over: &Value = &run["over_bound"];
    let time = run["points"][0]["completion_time_us"].as_f64().unwrap();
    let (ratio, bound) = (over["ratio"].as_f64().unwrap(), over["bound_us"].as_f64().unwrap());
    assert!(ratio > 1.1 && (ratio * bound - time).abs() < 0.01, "{over}");
    assert!(over["why"][0].as_str().unwrap().contains("between_steps = \"nothing\""), "{over}");
    // Where the bound is reached there is nothing to explain; the advice that was given is taken.
    let near = format!(
        "{}between_steps = \"nothing\"\n",
        scenario.replace("all-to-all", "neighbor").replace("8 KiB", "1 MiB")
    );
    place.write("b.toml", &near);
    let run = place.json(&["run", "b.toml", "--json", "--out", "near"]);
    assert!(run["over_bound"]["why"].as_array().unwrap().is_empty(), "{}", run["over_bound"]);
    // A load has no bound of this kind.
    place.write(
        "c.toml",
        "[topology.torus]\ndimensions = [4]\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
    );
    let run = place.json(&["run", "c.toml", "--json", "--out", "load"]);
    assert!(run["over_bound"].is_null());
}
