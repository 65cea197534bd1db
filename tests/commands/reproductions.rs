//! Published results computed again, by the command.

use std::fs;
use std::process::Command;

use crate::common::workplace::Workplace;
use flitlab::reproduce::Record;

const FIGURE: [&str; 3] = ["reproduce", "path-selection-fig4", "--quick"];

/// Simulations that are kept in a folder of results.
fn kept(place: &Workplace, folder: &str) -> usize {
    let files = fs::read_dir(place.0.join(folder).join("unfinished")).into_iter().flatten();
    let names = files.flatten().map(|file| file.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".json")).count()
}

#[test]
fn an_interrupted_reproduction_says_how_to_go_on_and_that_gives_the_same_bytes() {
    let place = Workplace::new("reproduction_interrupted");
    place.run(&[&FIGURE[..], &["--out", "undisturbed"]].concat());
    let mut call = place.begin(&[&FIGURE[..], &["--threads", "1"]].concat());
    call.wait_until(|| kept(&place, "results/path-selection-fig4") >= 3);
    call.signal("INT");
    let (code, said) = call.end();
    assert_eq!(code, Some(130), "{said}");
    let count = kept(&place, "results/path-selection-fig4");
    let farewell = format!("interrupted; simulations that are finished and kept: {count}");
    assert!(said.contains(&farewell), "{said}");

    let anew = place.flitlab(&[&FIGURE[..], &["--out", "results/path-selection-fig4"]].concat());
    assert_eq!(anew.status.code(), Some(2));
    assert!(String::from_utf8(anew.stderr).unwrap().contains("go on with it by --resume"));
    let other = ["reproduce", "path-selection-fig6", "--quick", "--resume"];
    let other = place.flitlab(&[&other[..], &["--out", "results/path-selection-fig4"]].concat());
    assert_eq!(other.status.code(), Some(2));
    let refusal = String::from_utf8(other.stderr).unwrap();
    let theirs = "is that of `flitlab reproduce path-selection-fig4 --quick`";
    assert!(refusal.contains(theirs), "{refusal}");

    assert_eq!(kept(&place, "results/path-selection-fig4"), count);
    let command = said.lines().last().unwrap().trim();
    let again = Command::new("sh").args(["-c", command]).current_dir(&place.0).output().unwrap();
    assert!(again.status.success(), "{command}");
    // How long simulations took is not the same twice; what they found is.
    let found = ["undisturbed", "results/path-selection-fig4"].map(|folder| {
        let record = Record::read(&place.0.join(folder)).unwrap().expect("it has a record");
        fs::remove_file(place.0.join(folder).join("simulated.json.gz")).unwrap();
        let found = record.simulated.into_iter().map(|(key, it)| (key, it.found.get().to_owned()));
        found.collect::<Vec<_>>()
    });
    assert!(found[0] == found[1] && found[0].len() >= count, "{count}");
    place.assert_same("undisturbed", "results/path-selection-fig4");
}

#[test]
fn a_finished_reproduction_is_made_anew_from_its_record() {
    let place = Workplace::new("reproduction_made_anew");
    let first = place.run(&[&FIGURE[..], &["--out", "found"]].concat());
    let record = fs::read(place.0.join("found/simulated.json.gz")).unwrap();
    let printed = place.read("found/printed.txt");
    assert!(first.starts_with(&printed));
    fs::write(place.0.join("found/printed.txt"), "edited").unwrap();
    let verified = place.flitlab(&["verify", "found", "--sample", "1", "--no-record"]);
    assert_eq!(verified.status.code(), Some(4));
    assert!(String::from_utf8(verified.stdout).unwrap().contains("printed.txt, line 1"));
    let over = place.fail(&[&FIGURE[..], &["--out", "found"]].concat());
    assert_eq!(over.0, 2, "without --resume results never replace others");
    place.run(&[&FIGURE[..], &["--out", "found", "--resume"]].concat());
    assert_eq!(place.read("found/printed.txt"), printed);
    // Seconds that were measured are those of the first call: nothing was simulated.
    assert!(fs::read(place.0.join("found/simulated.json.gz")).unwrap() == record);
}

#[test]
fn figures_of_a_reproduction_are_drawn_again_and_keep_their_curves() {
    let place = Workplace::new("reproduction_drawn_again");
    place.run(&[&FIGURE[..], &["--out", "found"]].concat());
    let drawn = "found/throughput-up-down-1.svg";
    let first = fs::read(place.0.join(drawn)).unwrap();
    fs::remove_file(place.0.join(drawn)).unwrap();
    place.run(&["plot", "found", "--format", "svg"]);
    assert_eq!(fs::read(place.0.join(drawn)).unwrap(), first);
    place.run(&["plot", "found", "--width", "89mm", "--format", "svg,pgfplots", "--out", "narrow"]);
    assert_ne!(fs::read(place.0.join("narrow/throughput-up-down-1.svg")).unwrap(), first);
    assert!(place.0.join("narrow/throughput-up-down-1.tex").is_file());
    let refused = |words: &[&str], why: &str| {
        let refused = place.flitlab(&[&["plot", "found", "--out", "other"], words].concat());
        assert_eq!(refused.status.code(), Some(2));
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains(why), "{said}");
        assert!(!place.0.join("other").exists());
    };
    refused(&["--title", "x"], "keep their titles, curves and names");
    refused(&["--only", "cdf"], "keep their titles, curves and names");
    refused(&["narrow"], "draw it alone");
    fs::write(place.0.join("found/figures.json"), "[[\"name\", {}]]").unwrap();
    refused(&[], "figures.json can't be read");
}
