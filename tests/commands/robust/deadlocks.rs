//! What a deadlock's advice says fits the routing, and helps (REVIEW C3).

use super::advice::settings;
use crate::common::workplace::Workplace;

/// Every node of a ring of eight sends much three hops ahead.
const AHEAD: &str = "[exchange]\nmessage = \"256 KiB\"\nbetween_steps = \"nothing\"\npattern = { pairs = { list = \
                     [[0, 3], [1, 4], [2, 5], [3, 6], [4, 7], [5, 0], [6, 1], [7, 2]] } }\n";

/// Runs into a deadlock, follows the advice, and runs to the end. What was said first.
fn followed(place: &Workplace, call: &[&str]) -> String {
    let (code, said) = place.soon(&[&["run"][..], call].concat(), &[]);
    assert_eq!(code, 3, "{said}");
    let sets = settings(&said);
    assert_eq!(sets.len(), 1, "{said}");
    let again = [&["run"][..], call, &["--set", &sets[0]]].concat();
    let (code, again) = place.soon(&again, &[]);
    assert_eq!(code, 0, "{again}");
    said
}

#[test]
fn a_ring_of_switches_is_told_of_tables_that_can_not_deadlock_and_not_of_bubbles() {
    let place = Workplace::new("robust_deadlock_switches");
    let ring = "[topology.switched_torus]\ndimensions = [8]\n[routing.agnostic]\nalgorithm = \"min-hop\"\n";
    place.write("a.toml", &format!("{ring}{AHEAD}"));
    let said = followed(&place, &["a.toml"]);
    assert!(said.contains("min-hop makes tables that can deadlock"), "{said}");
    assert!(!said.contains("bubble"), "{said}");
}

#[test]
fn a_torus_without_bubbles_is_told_of_the_bubble_rule() {
    let place = Workplace::new("robust_deadlock_torus");
    let ring = "[topology.torus]\ndimensions = [8]\n[router]\nbubble = false\n[routing.direction_order]\n\
                half_ring = \"plus\"\n";
    place.write("a.toml", &format!("{ring}{AHEAD}"));
    let said = followed(&place, &["a.toml"]);
    assert!(said.contains("router.bubble=true"), "{said}");
}

#[test]
fn requests_and_responses_on_one_channel_are_told_of_two() {
    let place = Workplace::new("robust_deadlock_requests");
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/angara/blocking-requests.toml");
    let said = followed(&place, &[scenario, "--set", "router.message_classes=1"]);
    assert!(said.contains("the cause: requests wait for adapters to send responses"), "{said}");
    let (code, said) = place.soon(&["check", scenario, "--set", "router.message_classes=1"], &[]);
    assert_eq!((code, settings(&said)), (4, vec!["router.message_classes=2".to_owned()]));
    let said = place.run(&["check", scenario]);
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("requests wait for responses, and these, apart"), "{said}");
}

#[test]
fn a_load_that_deadlocks_is_told_too() {
    let place = Workplace::new("robust_deadlock_load");
    place.write(
        "a.toml",
        "[topology.torus]\ndimensions = [8]\n[router]\nbubble = false\nbuffer = \"36 flits\"\n[traffic]\n\
         pattern = \"tornado\"\nload = 1.0\n[measure]\nwindow = \"5 us\"\nwarm_up_windows = 4\n\
         maximum_windows = 10\n",
    );
    let (code, said) = place.soon(&["run", "a.toml"], &[]);
    assert_eq!(code, 3, "{said}");
    // Other settings are advised for other reasons.
    let sets = settings(&said);
    let set = sets.iter().find(|set| set.contains("bubble")).unwrap();
    let (code, said) = place.soon(&["run", "a.toml", "--set", set], &[]);
    assert_eq!(code, 0, "{said}");
    // Points of a sweep are counted, one or several.
    for (folder, loads, told) in [
        ("one", "[0.01, 1.0]", "1 point ended in this deadlock:\n"),
        ("two", "[0.9, 1.0]", "2 points ended in a deadlock, the first of them in this one:\n"),
    ] {
        let text = place.read("a.toml");
        place.write("b.toml", &format!("{text}[sweep.grid]\ntraffic.load = {loads}\n"));
        let (code, said) = place.soon(&["sweep", "b.toml", "--out", folder], &[]);
        assert!(code == 3 && said.contains(told), "{said}");
    }
}

#[test]
fn a_table_of_opensm_that_deadlocks_is_told_how_to_get_another_one() {
    let place = Workplace::new("robust_deadlock_opensm");
    let fabrics = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fabrics");
    place.write(
        "a.toml",
        &format!(
            "[topology.netlist]\npath = \"{fabrics}/torus4222.net\"\n[routing.opensm]\ntables = \
             \"{fabrics}/torus4222-minhop.lfts\"\n[exchange]\npattern = \"all-to-all\"\nmessage = \"64 B\"\n"
        ),
    );
    let (code, said) = place.soon(&["check", "a.toml"], &[]);
    assert_eq!(code, 4, "{said}");
    let set = &settings(&said)[0];
    place.run(&["check", "a.toml", "--set", set]);
}

#[test]
fn worms_without_a_second_virtual_channel_deadlock_and_a_dateline_helps() {
    let place = Workplace::new("robust_deadlock_worms");
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/peers/wormhole-one-lane.toml");
    let (code, said) = place.soon(&["run", scenario, "--out", "one"], &[]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("packets wait for each other in a cycle"), "{said}");
    // Other settings are advised for other reasons.
    let sets = settings(&said);
    let sets = sets.iter().filter(|set| !set.contains("buffer"));
    let sets: Vec<&str> = sets.flat_map(|set| ["--set", set.as_str()]).collect();
    let (code, said) = place.soon(&[&["run", scenario, "--out", "two"], &sets[..]].concat(), &[]);
    assert_eq!((code, sets.len()), (0, 4), "{said}");
}

/// What deadlocks when it is run is foretold, and what was proved runs: adaptive worms, a ring
/// without a bubble, and the settings that are advised.
#[test]
fn check_foretells_what_deadlocks_and_its_advice_helps() {
    let place = Workplace::new("robust_foretold");
    let worms = "[router]\nswitching = \"wormhole\"\nbuffer = \"4 flits\"\n[adapter]\ninjection_buffer = \"4 flits\"\n\
                 [link]\nsharing = \"flit\"\n";
    let one_vc = worms.replacen("[router]\n", "[router]\nvirtual_channels = 1\n", 1);
    let load = |pattern: &str| {
        format!(
            "[traffic]\npattern = \"{pattern}\"\nload = 0.9\n[measure]\nwindow = \"5 us\"\nwarm_up_windows = 4\n\
             maximum_windows = 10\n"
        )
    };
    for (scenario, pattern) in [
        (format!("[topology.torus]\ndimensions = [8, 8]\n{worms}[routing.adaptive]\n"), "uniform"),
        (format!("[topology.torus]\ndimensions = [8]\n{one_vc}"), "tornado"),
        (
            "[topology.torus]\ndimensions = [8]\n[router]\nbubble = false\nbuffer = \"36 flits\"\n"
                .into(),
            "tornado",
        ),
    ] {
        place.write("a.toml", &format!("{scenario}{}", load(pattern)));
        let (code, said) = place.soon(&["check", "a.toml"], &[]);
        assert_eq!(code, 4, "{scenario}: {said}");
        assert!(said.contains("packets can wait for each other for ever"), "{said}");
        let sets = settings(&said);
        let (code, stuck) = place.soon(&["run", "a.toml"], &[]);
        assert_eq!((code, settings(&stuck)), (3, sets.clone()), "{scenario}: {stuck}");
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set.as_str()]).collect();
        let (code, said) = place.soon(&[&["check", "a.toml"], &sets[..]].concat(), &[]);
        assert_eq!(code, 0, "{scenario}, followed: {said}");
        let (code, said) = place.soon(&[&["run", "a.toml"], &sets[..]].concat(), &[]);
        assert_eq!(code, 0, "{scenario}, followed: {said}");
    }
}

#[test]
fn check_says_why_nothing_deadlocks() {
    let place = Workplace::new("robust_proved");
    let load = "[traffic]\npattern = \"uniform\"\nload = 0.1\n";
    let torus = "[topology.torus]\ndimensions = [4, 4]\n";
    let says = |scenario: &str, why: &str| {
        place.write("a.toml", &format!("{scenario}{load}"));
        let said = place.run(&["check", "a.toml"]);
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(why), "{scenario}: {said}");
    };
    says(torus, "rings keep a bubble, and packets have one size");
    says(&format!("{torus}[routing.direction_order]\ndateline = true\n"), "leads in no circle");
    says("[topology.torus]\ndimensions = [3, 3]\n[router]\nbubble = false\n", "leads in no circle");
    says(
        &format!("{torus}[routing.adaptive]\nescape = \"nue\"\n"),
        "all have an escape, and these lead in no circle",
    );
    says("[topology.tree]\narity = 2\nlevels = 2\n", "leads in no circle");
    let mixed = format!("{torus}{load}message = \"300 B\"\n");
    place.write("a.toml", &mixed);
    let said = place.run(&["check", "a.toml"]);
    let set = settings(&said.split_whitespace().collect::<Vec<_>>().join(" "));
    assert!(said.contains("hardly ever") && set.len() == 2, "{said}");
    let sets: Vec<&str> = set.iter().flat_map(|set| ["--set", set.as_str()]).collect();
    let said = place.run(&[&["check", "a.toml"], &sets[..]].concat());
    assert!(said.contains("leads in no circle"), "{said}");
}
