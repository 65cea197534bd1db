//! Control characters reach no terminal and no figure, and sbatch gets no option that flitlab sets
//! itself (REVIEW B8).

use flitlab::scenario::check_sbatch_option;

use super::SMALL;
use crate::common::workplace::Workplace;

#[test]
fn titles_and_series_with_control_characters_are_refused() {
    let place = Workplace::new("robust_titles");
    place.write("a.toml", &format!("title = \"a\\u001b[31mred\"\n{SMALL}"));
    let (code, said) = place.soon(&["check", "a.toml"], &[]);
    assert_eq!(code, 2);
    assert!(said.contains("`title` has the character '\\u{1b}' in it"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
    place.write(
        "a.toml",
        &format!("{SMALL}[sweep.grid]\ntraffic.load = [0.1]\n[sweep.series]\n\"a\\u0007\" = {{ seed = 2 }}\n"),
    );
    let (code, said) = place.soon(&["sweep", "a.toml"], &[]);
    assert_eq!(code, 2);
    assert!(said.contains("a series can't be called \"a\\u{7}\""), "{said}");
}

#[test]
fn no_message_has_a_control_character_that_a_file_has() {
    let place = Workplace::new("robust_messages");
    for text in
        ["\"a\\u001b[31m\" = 1\n", "seed = \"\u{9b}31m\"\n", "x = \"\u{7f}\u{1b}]0;\u{7}\"\n"]
    {
        place.write("a.toml", &format!("{text}{SMALL}"));
        let (code, said) = place.soon(&["check", "a.toml"], &[]);
        assert_eq!(code, 2, "{said}");
        let strange = |letter: char| letter.is_control() && letter != '\n';
        assert!(!said.contains(strange), "{said:?}");
    }
    let (code, said) = place.soon(&["check", "no\u{1b}[31m.toml"], &[]);
    assert_eq!(code, 2);
    assert!(said.contains("no␛[31m.toml"), "{said:?}");
}

#[test]
fn names_of_a_netlist_reach_no_figure_and_no_terminal_raw() {
    let place = Workplace::new("robust_names");
    let netlist = "Switch 2 \"S1\" # a\u{1b}[31m\u{1}b\n[1] \"H1\"[1]\n[2] \"S2\"[2]\n\n\
                   Switch 2 \"S2\" # second\n[1] \"H2\"[1]\n[2] \"S1\"[2]\n\n\
                   Hca 1 \"H1\"\n[1] \"S1\"[1]\n\nHca 1 \"H2\"\n[1] \"S2\"[1]\n";
    place.write("evil.net", &netlist.replace("\"S1\"", "\"S\u{1b}1\""));
    place.write(
        "a.toml",
        "[topology.netlist]\npath = \"evil.net\"\n[exchange]\npattern = \"all-to-all\"\nmessage = \"1 KiB\"\n",
    );
    let output = place.flitlab(&["run", "a.toml", "--out", "out"]);
    let printed =
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    let strange = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    assert!(!printed.contains(strange), "{printed:?}");
    if output.status.success() {
        assert!(!place.read("out/channels.svg").contains(strange));
    }
}

#[test]
fn labels_of_results_reach_no_figure_raw() {
    let place = Workplace::new("robust_labels");
    place.write("sweep.toml", &super::sweep());
    place.run(&["sweep", "sweep.toml", "--out", "many"]);
    let points = place.read("many/points.csv");
    let series =
        points.lines().next().unwrap().split(',').position(|name| name == "series").unwrap();
    let evil = points.lines().enumerate().map(|(number, line)| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        if number > 0 {
            cells[series] = "a\u{1b}[31m\u{8}".into();
        }
        cells.join(",") + "\n"
    });
    let evil: String = evil.collect();
    place.write("many/points.csv", &evil);
    place.run(&["plot", "many", "--out", "drawn", "--format", "svg", "--format", "pgfplots"]);
    for entry in std::fs::read_dir(place.0.join("drawn")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let strange = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
        assert!(!text.contains(strange), "{}", path.display());
    }
}

#[test]
fn options_of_sbatch_that_flitlab_sets_are_refused_abbreviated_too() {
    let ours = [
        "--array=0-3",
        "--arra=0-3",
        "--arr",
        "-a0-3",
        "--out=x",
        "--err=x",
        "--job-name=x",
        "--job-nam=x",
        "-Jx",
        "--parsable",
        "--pars",
        "--test",
        "--test-only",
        "--wrap=ls",
        "--clusters=a",
        "--cluster=a",
    ];
    for option in ours {
        let why = check_sbatch_option(option).unwrap_err();
        assert!(why.contains("for itself"), "{option}: {why}");
    }
    for option in [
        "--exclusive",
        "--ntasks-per-node=1",
        "--nodelist=a",
        "--constraint=b",
        "--nice",
        "-C",
        "-q x",
    ] {
        check_sbatch_option(option).unwrap_or_else(|why| panic!("{option}: {why}"));
    }
}

#[test]
fn no_spreadsheet_computes_the_name_of_a_series_and_it_is_read_back_as_it_is() {
    let place = Workplace::new("robust_formulas");
    let formula = "=cmd|' /C calc'!A0";
    let turned = "a\u{202e}b\u{2028}c";
    let series =
        format!("[sweep.series]\n\"{formula}\" = {{ seed = 2 }}\n\"{turned}\" = {{ seed = 3 }}\n");
    place.write("a.toml", &format!("{SMALL}[sweep.grid]\ntraffic.load = [0.1, 0.2]\n{series}"));
    let output = place.flitlab(&["sweep", "a.toml", "--out", "o"]);
    let printed =
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{printed}");
    for file in ["points.csv", "channels.csv", "latencies.csv"] {
        let text = place.read(&format!("o/{file}"));
        assert!(text.contains(&format!("\n'{formula},")), "{file}");
        assert!(!text.contains(&format!("\n{formula}")), "{file}");
    }
    // What is read back has the series' own name, and what is drawn is read as it is written.
    let again = place.flitlab(&["plot", "o", "--out", "drawn", "--format", "svg"]);
    assert!(again.status.success(), "{again:?}");
    let drawn = place.read("drawn/latency.svg");
    assert!(drawn.contains(">=cmd|"), "{drawn}");
    for text in [&printed, &drawn] {
        assert!(!text.contains(['\u{202e}', '\u{2028}']), "{text}");
    }
    let summary: serde_json::Value = serde_json::from_str(&place.read("o/summary.json")).unwrap();
    assert_eq!(summary["points"][2]["series"], turned);
}
