//! The line that shows progress, in a terminal of some width (REVIEW C6). `script` (util-linux) is
//! the terminal.

use std::process::{Command, Stdio};

use crate::common::workplace::Workplace;

const SLOW: &str = "[topology.torus]\ndimensions = [16, 16]\n[traffic]\npattern = \"uniform\"\nload = 0.3\n\
                    [measure]\nwindow = \"1 ms\"\nwarm_up_windows = 1000\n";

/// What a call writes to a terminal of so many columns. `signal`: after so many seconds it is
/// interrupted.
fn seen(place: &Workplace, call: &str, columns: u32, seconds: f64) -> String {
    let program = env!("CARGO_BIN_EXE_flitlab");
    let line =
        format!("stty cols {columns} rows 24; timeout -s INT {seconds} '{program}' {call}; true");
    let output = Command::new("script")
        .args(["-qefc", &line, "/dev/null"])
        .current_dir(&place.0)
        .stdin(Stdio::null())
        .output()
        .expect("script, of util-linux, is needed for this test");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Columns of a line without the sequences that move the cursor or colour it.
fn width(line: &str) -> usize {
    let mut columns = 0;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            letters.by_ref().find(char::is_ascii_alphabetic);
        } else if !letter.is_control() {
            columns += 1;
        }
    }
    columns
}

#[test]
fn a_run_shows_progress_before_its_first_window_within_the_terminal_and_leaves_nothing_behind() {
    let place = Workplace::new("robust_progress");
    // The first window takes longer than a busy machine needs to begin.
    place.write("a.toml", &SLOW.replace("1 ms", "5 ms"));
    for columns in [80, 40] {
        let seen = seen(&place, &format!("run a.toml --out out-{columns}"), columns, 3.5);
        assert!(seen.contains("the first window"), "{seen:?}");
        let lines = seen.split(['\r', '\n']).filter(|line| line.contains("first window"));
        let drawn = lines.map(width).max().unwrap();
        assert!(drawn <= columns as usize, "{drawn} of {columns}: {seen:?}");
        // The last line that was drawn is cleared before the farewell.
        let farewell = seen.find("interrupted: ").unwrap_or_else(|| panic!("{seen:?}"));
        let last = seen[..farewell].rfind("the first window").unwrap();
        assert!(
            seen[last..farewell].contains("\u{1b}[2K") || seen[last..farewell].contains("\u{1b}[K"),
            "{seen:?}"
        );
        assert!(!seen[farewell..].contains("window,"), "{seen:?}");
    }
}

#[test]
fn a_sweep_says_from_the_start_how_long_it_will_take() {
    let place = Workplace::new("robust_progress_sweep");
    place.write("a.toml", &format!("{SLOW}[sweep.grid]\ntraffic.load = [0.1, 0.2, 0.3, 0.4]\n"));
    let seen = seen(&place, "sweep a.toml --threads 1 --out out", 80, 9.0);
    assert!(seen.contains("0/4, "), "{seen:?}");
    assert!(seen.contains(" left"), "{seen:?}");
    let drawn = seen.split(['\r', '\n']).filter(|line| line.contains(" so far")).map(width).max();
    assert!(drawn.unwrap() <= 80, "{drawn:?}: {seen:?}");
}

const MANY_WINDOWS: &str = "[topology.torus]\ndimensions = [8, 8]\n[traffic]\npattern = \"uniform\"\nload = 0.6\n\
                            [measure]\nwindow = \"20 us\"\nwarm_up_windows = 20\nminimum_windows = 2000\n\
                            maximum_windows = 2000\n";

#[test]
fn the_line_of_a_run_fits_into_80_columns_to_its_last_word() {
    let place = Workplace::new("robust_progress_run");
    place.write("a.toml", MANY_WINDOWS);
    let seen = seen(&place, "run a.toml --out out", 80, 4.0);
    let lines: Vec<&str> = seen.split(['\r', '\n']).filter(|line| line.contains(" us/s")).collect();
    assert!(!lines.is_empty(), "{seen:?}");
    for line in lines {
        assert!(width(line) <= 80, "{line:?}");
        let text = line.split("us/s, ").nth(1).unwrap_or_else(|| panic!("it is cut: {line:?}"));
        assert!(
            text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').starts_with(" s"),
            "{line:?}"
        );
    }
}

#[test]
fn the_line_of_a_sweep_is_gone_before_its_last_note() {
    let place = Workplace::new("robust_progress_note");
    let slow = MANY_WINDOWS.replace("= 2000", "= 150");
    place.write("a.toml", &format!("{slow}[sweep.grid]\ntraffic.load = [0.9, 1.0, 1.1, 1.2]\n"));
    let seen = seen(&place, "sweep a.toml --threads 1 --out out", 80, 60.0);
    let note = seen.find("left out, since").unwrap_or_else(|| panic!("{seen:?}"));
    let last = seen[..note].rfind(" so far").unwrap_or_else(|| panic!("{seen:?}"));
    let between = &seen[last..note];
    assert!(between.contains("\u{1b}[2K") || between.contains("\u{1b}[K"), "{seen:?}");
}
