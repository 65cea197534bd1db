//! The pages of docs/papers, which go through the papers row by row, or through what is known of
//! them: each command that they name is one that flitlab takes, and each value beside a command
//! that a reader can wait for is what it prints.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::documents::{place, run};
use super::values::{Known, cells, code, texts_of};
use crate::common::slice::{at_least, is_in_slice};
use crate::common::workplace::Workplace;

/// The pages, and the commands in the rows of their tables, those aside that are refused on purpose.
fn pages() -> Vec<(String, Vec<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/papers");
    let mut pages: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    let commands_of = |page: PathBuf| {
        let text = fs::read_to_string(&page).unwrap();
        let rows = text.lines().filter(|line| line.starts_with('|') && !line.contains("refused"));
        // A command by its name alone, such as `flitlab check`, stands for itself in the text.
        let is_typed = |code: &&str| code.starts_with("flitlab ") && code.split(' ').count() > 2;
        let typed = rows.flat_map(code).filter(is_typed);
        let scenario = named_scenario(&text);
        let commands = typed.map(|command| command.replace("$T", scenario));
        (page.file_name().unwrap().to_string_lossy().into_owned(), commands.collect())
    };
    pages.into_iter().map(commands_of).collect()
}

/// `check` of the scenario and the settings of a command that simulates.
fn check(words: &[&str], command: &str) -> Option<String> {
    let ["run" | "sweep" | "check", scenario, ..] = words[1..] else { return None };
    let settings = command.split(" --set ").skip(1);
    let settings = settings.map(|rest| match rest.strip_prefix('\'') {
        Some(quoted) => format!(" --set '{}'", quoted.split('\'').next().unwrap_or("")),
        None => format!(" --set {}", rest.split(' ').next().unwrap_or("")),
    });
    scenario
        .ends_with(".toml")
        .then(|| format!("flitlab check {scenario}{}", settings.collect::<String>()))
}

#[test]
fn the_scenarios_keys_and_reproductions_that_the_papers_pages_name_exist() {
    let help = Command::new(env!("CARGO_BIN_EXE_flitlab"))
        .args(["reproduce", "--help"])
        .output()
        .expect("it starts");
    let help = String::from_utf8(help.stdout).unwrap();
    let mut seen = 0;
    for (page, commands) in pages() {
        let place = place(&format!("papers-{page}"));
        for command in &commands {
            let words: Vec<&str> = command.split_whitespace().collect();
            if let ["flitlab", "reproduce", name, ..] = words[..] {
                assert!(help.contains(&format!("- {name}:")), "{page}: no {name}");
            } else if let Some(check) = check(&words, command) {
                run(&check, &page, &place);
            } else {
                continue;
            }
            seen += 1;
        }
    }
    assert!(seen >= 60, "{seen}");
}

#[test]
#[ignore = "long: 20 minutes; every command of docs/papers that makes no result, as a reader would type it, by slices"]
fn every_command_of_the_papers_pages_runs() {
    let made = made();
    for (page, commands) in pages() {
        let place = place(&format!("papers-long-{page}"));
        let makes = |it: &str| it.starts_with("flitlab reproduce") || made.contains_key(it);
        let commands = commands.iter().filter(|it| !makes(it));
        for (_, command) in (0..).zip(commands).filter(|it| is_in_slice(it.0)) {
            run(command, &page, &place);
            // Several commands write a FILE, and none replaces another's.
            fs::remove_file(place.0.join("FILE")).ok();
        }
    }
}

/// A row of a page with what flitlab gives, and the commands that give it.
struct Row {
    page: String,
    item: String,
    value: String,
    commands: Vec<String>,
}

/// The scenario that a page calls `$T`.
fn named_scenario(page: &str) -> &str {
    code(page).find_map(|it| it.strip_prefix("T=")).unwrap_or_default()
}

/// The rows that give values and name commands. `T` is the scenario that the page calls so. A row's
/// commands are those of its second cell, or of the row above if that says `same`, and, wherever
/// `--set ...` stands in it by itself, the first one with that setting.
fn rows() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/papers");
    let mut rows = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let page = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let scenario = named_scenario(&text);
        let mut value_at = None;
        for line in text.lines() {
            if !line.starts_with('|') {
                value_at = None;
                continue;
            }
            let of_line = cells(line);
            let Some(at) = value_at else {
                value_at = Some(of_line.iter().position(|cell| cell == "flitlab"));
                continue;
            };
            let Some(value) = at.and_then(|at: usize| of_line.get(at)) else { continue };
            let named = code(&of_line[1]).filter(|it| it.starts_with("flitlab "));
            let mut commands: Vec<String> = named.map(|it| it.replace("$T", scenario)).collect();
            if of_line[1].starts_with("same") {
                commands.extend(rows.last().into_iter().flat_map(|row: &Row| row.commands.clone()));
            }
            let Some(first) = commands.first().cloned() else { continue };
            let settings = of_line[1..].iter().flat_map(|cell| code(cell));
            let settings = settings.filter(|it| it.starts_with("--set "));
            commands.extend(settings.map(|setting| format!("{first} {setting}")));
            let (item, value) = (of_line[0].clone(), value.clone());
            rows.push(Row { page: page.clone(), item, value, commands });
        }
    }
    rows
}

/// What a command prints, as it is typed; nothing is shortened.
fn printed(command: &str, place: &Workplace) -> String {
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(&place.0)
        .env("PATH", format!("{}:{path}", place.0.display()))
        .env("HOME", &place.0)
        .output()
        .unwrap();
    let [out, errors] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    assert!(matches!(output.status.code(), Some(0 | 2..=4)), "{command}: {errors}");
    out + &errors
}

/// Whether a command simulates so much that its values are in `results`, where `flitlab verify` sees
/// to them.
fn is_long(command: &str) -> bool {
    ["flitlab reproduce", "flitlab sweep"].iter().any(|long| command.starts_with(long))
}

/// Looks for each value of rows, and says of how many. `known_of` gives the numbers that a row's
/// values may be.
fn assert_values<'r>(
    rows: impl Iterator<Item = &'r Row>,
    mut known_of: impl FnMut(&Row) -> Known,
) -> usize {
    let (mut seen, mut unlike) = (0, Vec::new());
    for row in rows {
        let (values, missing) = known_of(row).lack(&row.value);
        seen += values;
        if !missing.is_empty() {
            let Row { page, item, value, commands } = row;
            unlike.push(format!("{page}: {item}: {value}\n  {commands:?}: no {missing:?}"));
        }
    }
    assert!(unlike.is_empty(), "{}", unlike.join("\n"));
    seen
}

#[test]
#[ignore = "long: 20 minutes; every value of docs/papers beside what its command prints, by slices"]
fn the_values_of_the_papers_pages_are_what_their_commands_print() {
    let place = Workplace::new("papers-values");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    symlink(root.join("scenarios"), place.0.join("scenarios")).unwrap();
    symlink(env!("CARGO_BIN_EXE_flitlab"), place.0.join("flitlab")).unwrap();
    let mut texts: HashMap<String, String> = HashMap::new();
    let rows = rows();
    let short = rows.iter().filter(|row| !row.commands.iter().any(|it| is_long(it)));
    let short = (0..).zip(short).filter(|it| is_in_slice(it.0)).map(|it| it.1);
    let seen = assert_values(short, |row| {
        let mut known = String::new();
        for command in &row.commands {
            known += texts.entry(command.clone()).or_insert_with(|| printed(command, &place));
            // What is given is no result, but may stand beside one.
            known += command;
            if let Some(scenario) = command.split(' ').find(|word| word.ends_with(".toml")) {
                known += &place.read(scenario);
            }
        }
        Known::of([&*known])
    });
    assert!(seen >= at_least(150), "{seen}");
}

/// The folders of committed results by the command that makes them; of a reproduction also by its
/// `--quick`, if that has none of its own.
fn made() -> HashMap<String, PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = fs::read_to_string(root.join("scripts/make-results.sh")).unwrap();
    let rows = script.lines().filter_map(|line| line.split_once(char::is_whitespace));
    let rows = rows.map(|(name, command)| (name, command.split('|').next().unwrap().trim()));
    let mut made: HashMap<String, PathBuf> = rows
        .filter(|(_, command)| command.starts_with("reproduce ") || command.starts_with("sweep "))
        .map(|(name, command)| (format!("flitlab {command}"), root.join("results").join(name)))
        .collect();
    for (command, folder) in made.clone() {
        made.entry(format!("{command} --quick")).or_insert(folder);
    }
    assert!(made.len() >= 50, "{}", made.len());
    made
}

#[test]
fn the_values_of_the_papers_pages_are_those_of_the_committed_results() {
    let made = made();
    let folders = |row: &Row| -> Vec<&PathBuf> {
        row.commands.iter().filter_map(|command| made.get(command)).collect()
    };
    // A reproduction that was made before its text was kept is made anew some day.
    let is_kept = |row: &Row| {
        let has = |folder: &PathBuf, file| folder.join(file).is_file();
        folders(row).iter().all(|folder| has(folder, "printed.txt") || has(folder, "scenario.toml"))
    };
    let rows = rows();
    let long = rows.iter().filter(|row| row.commands.iter().any(|it| is_long(it)) && is_kept(row));
    let seen = assert_values(long, |row| {
        let texts: Vec<_> = folders(row).into_iter().flat_map(|it| texts_of(it)).collect();
        Known::of(texts.iter().chain(&row.commands).map(String::as_str))
    });
    assert!(seen >= 70, "{seen}");
}
