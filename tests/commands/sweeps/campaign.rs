//! Campaigns of faults: kills at random instants, disks that are full or read-only, bytes that
//! flip. After each, the sweep goes on and its results are those of an undisturbed one, byte by
//! byte.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Instant;

use rand::{Rng, RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::SMALL;
use crate::common::workplace::Workplace;

/// A sweep of a few seconds at the most: one or two series, with loads, repetitions or a search.
fn random_sweep(random: &mut impl Rng) -> String {
    let dimensions = ["[4, 4]", "[8]", "[3, 3, 3]", "[4, 2, 2]"].choose(random).expect("some");
    let patterns = ["[\"uniform\"]", "[\"tornado\", \"neighbor\"]", "[\"uniform\", \"transpose\"]"];
    let patterns = if *dimensions == "[4, 4]" {
        patterns.choose(random).expect("some")
    } else {
        patterns[..2].choose(random).expect("some")
    };
    let kind = random.random_range(0..3);
    let loads = ["", "traffic.load = [0.1, 0.25, 0.5]\n", "traffic.load = [0.15, 0.3]\n"][kind];
    let sweep = [
        "[sweep]\nsaturation = { tolerance = 0.1 }\n",
        "[sweep]\npast_saturation = \"all\"\n",
        "[sweep]\nrepetitions = 3\n",
    ][kind];
    let seed = random.random_range(1..1_000_000);
    format!(
        "seed = {seed}\n[topology.torus]\ndimensions = {dimensions}\n[traffic]\npattern = \"uniform\"\n\
         [measure]\nwindow = \"2 us\"\nmaximum_windows = 20\nminimum_windows = 20\n{sweep}[sweep.grid]\n\
         traffic.pattern = {patterns}\n{loads}"
    )
}

/// Kills sweeps of these seeds at so many random instants each and lets them end; how often one was
/// killed.
fn kill_and_resume(seeds: std::ops::Range<u64>, times: u32) -> u32 {
    let mut kills = 0;
    for seed in seeds {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let place = Workplace::new(&format!("sweeps_campaign_{seed}"));
        place.write("a.toml", &random_sweep(&mut random));
        let begun = Instant::now();
        place.run(&["sweep", "a.toml", "--out", "undisturbed"]);
        let whole = begun.elapsed();
        let threads = ["1", "2"].choose(&mut random).expect("some");
        let call = ["sweep", "a.toml", "--out", "killed", "--resume", "--threads", threads];
        for _ in 0..times {
            let ongoing = place.begin(&call);
            sleep(whole.mul_f64(random.random_range(0.0..1.0)));
            kills += u32::from(ongoing.kill_if_running());
        }
        place.run(&call);
        place.assert_same("undisturbed", "killed");
    }
    kills
}

#[test]
fn two_sweeps_killed_at_random_instants_end_as_if_undisturbed() {
    let kills = kill_and_resume(0..2, 4);
    assert!(kills >= 2, "{kills}");
}

#[test]
#[ignore = "long: a minute; 20 sweeps killed with SIGKILL at random instants and resumed"]
fn twenty_sweeps_killed_at_random_instants_end_as_if_undisturbed() {
    let kills = kill_and_resume(100..120, 12);
    println!("20 sweeps, {kills} kills");
    assert!(kills >= 40, "{kills}");
}

/// Calls flitlab in a mount namespace of its own, in which the folder `disk` is a file system with
/// these options; what is on it is copied to the folder `kept` at the end. `None` where that isn't
/// allowed.
fn on_a_disk(place: &Workplace, options: &str, call: &str) -> Option<Output> {
    let allowed = Command::new("unshare").args(["--mount", "--map-root-user", "true"]).output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no mount namespaces here");
        return None;
    }
    fs::create_dir_all(place.0.join("disk")).expect("a new folder");
    let script = format!(
        "mount -t tmpfs -o {options} none disk || exit 99\n\
         [ -e kept ] && cp -a kept/. disk/ 2>/dev/null\n\
         {} {call}\nend=$?\nrm -rf kept; cp -a disk kept; exit $end",
        env!("CARGO_BIN_EXE_flitlab")
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", &script]).current_dir(&place.0);
    let output = command.output().expect("unshare ran a moment ago");
    assert_ne!(output.status.code(), Some(99), "{output:?}");
    Some(output)
}

#[test]
fn a_disk_that_is_really_full_costs_no_finished_point_whatever_its_size() {
    let place = Workplace::new("sweeps_full_disk");
    place.write("a.toml", SMALL);
    place.run(&["sweep", "a.toml", "--out", "undisturbed"]);
    let mut finished = Vec::new();
    for kibibytes in [0, 8, 24, 60, 100, 150, 250] {
        let options = format!("size={}k", kibibytes.max(4));
        let call = "sweep a.toml --out disk/a --resume --threads 1";
        let Some(output) = on_a_disk(&place, &options, call) else { return };
        let errors = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(1), "{kibibytes} KiB: {errors}");
        assert!(errors.contains("can't write disk/a"), "{kibibytes} KiB: {errors}");
        assert!(!errors.contains("panicked"), "{errors}");
        let points = if place.0.join("kept/a").exists() { place.points("kept/a") } else { 0 };
        finished.push(points);
        assert!(!place.0.join("kept/a/summary.json").exists());
    }
    assert!(finished.is_sorted() && finished.last() > Some(&0), "{finished:?}");
    place.run(&["sweep", "a.toml", "--out", "kept/a", "--resume"]);
    place.assert_same("undisturbed", "kept/a");
}

#[test]
fn a_disk_that_was_full_leaves_a_folder_that_the_next_call_takes() {
    let place = Workplace::new("sweeps_full_folder");
    place.write("a.toml", SMALL);
    place.write("route.toml", "[topology.torus]\ndimensions = [8, 8]\n");
    for call in ["run a.toml --set traffic.load=0.1", "route route.toml"] {
        for kibibytes in [8, 16, 32, 64] {
            let options = format!("size={kibibytes}k");
            let out = format!("{call} --out disk/a");
            let Some(output) = on_a_disk(&place, &options, &out) else { return };
            let errors = String::from_utf8(output.stderr).expect("text");
            assert_eq!(output.status.code(), Some(1), "{call}, {kibibytes} KiB: {errors}");
            assert!(errors.contains("can't write disk/a"), "{errors}");
            let left = fs::read_dir(place.0.join("kept/a")).into_iter().flatten();
            let left: Vec<_> = left.map(|entry| entry.expect("an entry").path()).collect();
            assert!(left.is_empty(), "{call}, {kibibytes} KiB: {left:?}");
        }
        // Even another call of the same folder.
        let words: Vec<&str> =
            call.split(' ').chain(["--set", "seed=7", "--out", "kept/a"]).collect();
        place.run(&words);
        fs::remove_dir_all(place.0.join("kept")).expect("a folder of results");
    }
}

#[test]
fn a_folder_that_is_read_only_is_an_error_before_anything_is_simulated() {
    let place = Workplace::new("sweeps_read_only");
    place.write("a.toml", SMALL);
    for call in ["sweep a.toml --out disk/a", "run a.toml --set traffic.load=0.1 --out disk/a"] {
        let Some(output) = on_a_disk(&place, "ro", call) else { return };
        let errors = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(1), "{call}: {errors}");
        assert!(errors.contains("can't write disk/a") && !errors.contains("panicked"), "{errors}");
        assert!(!errors.contains("load 0.1"), "{errors}");
    }
}

/// Flips a bit of a file.
fn flip(path: &Path, random: &mut impl Rng) {
    let mut content = fs::read(path).expect("a stored file");
    let place = random.random_range(0..content.len());
    content[place] ^= 1 << random.random_range(0..8);
    fs::write(path, content).expect("a stored file");
}

#[test]
#[ignore = "long: half a minute; a flipped bit in each stored file, found by every command that reads it"]
fn a_flipped_bit_in_any_stored_file_is_noticed_and_mended_by_resuming() {
    let place = Workplace::new("sweeps_flipped");
    place.write("a.toml", &SMALL.replace("[0.1, 0.2, 0.3, 0.4]", "[0.1, 0.2]"));
    place.run(&["sweep", "a.toml", "--out", "undisturbed"]);
    let call = ["sweep", "a.toml", "--out", "a", "--resume"];
    place.run(&call);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    // The lock has nothing in it to flip.
    let mut files = place.content("a");
    files.retain(|(_, content)| !content.is_empty());
    assert!(files.len() > 10);
    for (file, _) in files {
        flip(&place.0.join("a").join(&file), &mut random);
        // What reads results may find fault with them, in words, and no more than that.
        for reader in [
            ["plot", "a", "--out", "p"],
            ["report", "a", "--out", "p.html"],
            ["compare", "undisturbed", "a", "--json"],
        ] {
            let output = place.flitlab(&reader);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code().is_some_and(|code| code <= 4), "{reader:?}: {errors}");
            assert!(!errors.contains("panicked"), "{reader:?}, {}: {errors}", file.display());
        }
        place.run(&call);
        place.assert_same("undisturbed", "a");
    }
}
