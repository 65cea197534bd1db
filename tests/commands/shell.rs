//! The command in a shell: first scenarios, completions, manual pages, pipes.

use std::fs;
use std::process::Command;

use crate::common::workplace::Workplace;

#[test]
fn a_first_scenario_checks_and_is_never_replaced() {
    let place = Workplace::new("init");
    let said = place.run(&["init"]);
    assert!(said.starts_with("scenario.toml: 4x4x4 torus, 64 nodes, uniform traffic\n"), "{said}");
    for command in said.lines().skip(2).map(|line| line.trim().trim_start_matches("flitlab ")) {
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[1], "scenario.toml");
        place.run(&["check", words[1]]);
    }
    let before = place.read("scenario.toml");
    let (code, errors) = place.fail(&["init"]);
    assert_eq!(code, 2);
    assert!(errors.contains("scenario.toml exists"), "{errors}");
    assert_eq!(place.read("scenario.toml"), before);
}

#[test]
fn options_say_what_the_first_scenario_is() {
    let place = Workplace::new("init_options");
    let options = ["--dimensions", "4,2,2,2", "--pattern", "all-to-all", "--exchange", "4 KiB"];
    let made =
        place.json(&[&["init", "a.toml", "--json", "--routing", "angara"][..], &options].concat());
    assert_eq!((&made["scenario"], &made["nodes"]), (&"a.toml".into(), &32.into()));
    let result = place.json(&["run", "a.toml", "--json"]);
    assert_eq!(result["points"][0]["status"], "completed");
    let printed = place.run(&["init", "-", "--load", "0.25"]);
    assert!(printed.contains("\nload = 0.25\n"), "{printed}");

    let (code, errors) =
        place.fail(&["init", "b.toml", "--pattern", "transpose-3d", "--dimensions", "4x4"]);
    assert_eq!(code, 2, "{errors}");
    assert!(errors.starts_with("error: ") && !errors.contains("b.toml:"), "{errors}");
    let (code, errors) = place.fail(&["init", "b.toml", "--routing", "adaptve"]);
    assert_eq!((code, errors.contains("adaptive")), (2, true), "{errors}");
    assert!(!place.0.join("b.toml").exists());
}

#[test]
fn what_init_writes_is_in_the_words_of_the_reference() {
    let place = Workplace::new("init_words");
    let reference = place.run(&["check", "--reference"]);
    let comments = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("# ")).map(str::to_owned).collect()
    };
    let known = comments(&reference);
    let ours = comments(&place.run(&["init", "-"]));
    let unknown: Vec<&String> = ours.iter().filter(|line| !known.contains(line)).collect();
    assert!(ours.len() > 40 && unknown.len() <= 5, "all but the head: {unknown:?}");
}

#[test]
fn completions_know_commands_and_options() {
    let place = Workplace::new("completions");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&["completions", shell]);
        assert!(script.contains("compare") && script.contains("tolerance"), "{shell}");
        // The others complete options only.
        if ["bash", "zsh", "fish"].contains(&shell) {
            assert!(script.contains("pick_orthant"), "{shell}");
        }
    }
}

#[test]
fn every_command_has_a_page_with_its_examples() {
    let place = Workplace::new("man");
    place.run(&["man", "--out", "man1"]);
    place.run(&["man", "--out", "man1"]);
    let help = place.run(&["--help"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed
        .take_while(|line| !line.is_empty())
        // Other lines go on with a description.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    let commands: Vec<String> = names.filter(|name| *name != "help").map(str::to_owned).collect();
    assert!(commands.len() > 10, "{help}");
    let main = place.read("man1/flitlab.1");
    for command in commands {
        assert!(main.contains(&format!("flitlab\\-{command}")), "{command}: {main}");
        let page = place.read(&format!("man1/flitlab-{command}.1"));
        assert!(page.contains(".SH EXAMPLES\n.nf\n"), "{command}: {page}");
        assert_eq!(place.run(&["man", &command]), page);
    }
    assert!(place.read("man1/flitlab-compare.1").contains(".SH \"EXIT STATUS\""));
    let (code, errors) = place.fail(&["man", "swep"]);
    assert_eq!((code, errors.contains("flitlab-sweep")), (2, true), "{errors}");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let place = Workplace::new("pipe");
    let flitlab = env!("CARGO_BIN_EXE_flitlab");
    for arguments in ["check --reference", "man", "completions bash", "init -"] {
        let line = format!("{{ '{flitlab}' {arguments}; echo $? >code; }} | head -n 1");
        let output = Command::new("sh").args(["-c", &line]).current_dir(&place.0).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments}");
        assert_eq!(fs::read_to_string(place.0.join("code")).unwrap(), "0\n", "{arguments}");
    }
}

#[test]
fn what_is_piped_has_no_colour() {
    let place = Workplace::new("colour");
    fs::write(place.0.join("a.toml"), "[topology.torus]\nsize = 3\n").unwrap();
    for arguments in [&["--help"][..], &["compare", "--help"], &["check", "a.toml"], &["compare"]] {
        let output = place.flitlab(arguments);
        for stream in [&output.stdout, &output.stderr] {
            assert!(!stream.contains(&0x1b), "{arguments:?}: {}", String::from_utf8_lossy(stream));
        }
    }
}
