//! The pages of docs/papers, which go through the papers row by row, or through what is known of
//! them: each command that they name is one that flitlab takes, and each value beside a command
//! that a reader can wait for is what it prints.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::documents::{place, run};
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
        let commands = typed.map(str::to_owned);
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
#[ignore = "long: minutes; every command of docs/papers that reproduces nothing, as a reader would type it"]
fn every_command_of_the_papers_pages_runs() {
    for (page, commands) in pages() {
        let place = place(&format!("papers-long-{page}"));
        for command in commands.iter().filter(|it| !it.starts_with("flitlab reproduce")) {
            run(command, &page, &place);
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

/// What stands between backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The cells of a line of a table. A bar behind a backslash is text.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\u{1}");
    let cells = line.trim().trim_matches('|').split('|');
    cells.map(|cell| cell.trim().replace('\u{1}', "|")).collect()
}

/// The rows that give values and name commands. `T` is the scenario that the page calls so. A row's
/// commands are those of its second cell and, wherever `--set ...` stands in it by itself, the first
/// one with that setting.
fn rows() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/papers");
    let mut rows = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let page = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let scenario = code(&text).find_map(|it| it.strip_prefix("T=")).unwrap_or_default();
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

/// The numbers of a text and how many decimals each has. Those that are parts of names, such as
/// `4x4x2` or `p99`, are none.
fn numbers(text: &str) -> Vec<(f64, usize)> {
    numbers_but(text, &[])
}

/// Those before none of these units.
fn numbers_but(text: &str, units: &[&str]) -> Vec<(f64, usize)> {
    let mut found = Vec::new();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'^';
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let begin = at;
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        while is_digit(at) || matches!(bytes.get(at), Some(b',' | b'.')) && is_digit(at + 1) {
            at += 1;
        }
        let in_word = begin > 0 && is_part(bytes[begin - 1])
            || bytes.get(at).is_some_and(|&byte| byte != b'x' && is_part(byte))
            || bytes.get(at) == Some(&b'x') && is_digit(at + 1);
        let of_machine = units.iter().any(|unit| text[at..].starts_with(unit));
        let digits = text[begin..at].replace(',', "");
        if let (false, false, Ok(value)) = (in_word, of_machine, digits.parse()) {
            found.push((value, digits.split_once('.').map_or(0, |(_, decimals)| decimals.len())));
        }
    }
    found
}

/// Whether one of the known numbers is this one as it is written, in its unit or in another one
/// of the same quantity: of nanoseconds microseconds, of shares percent.
fn is_among(&(value, decimals): &(f64, usize), known: &[(f64, usize)]) -> bool {
    let half = 0.5 / 10_f64.powi(i32::try_from(decimals).unwrap());
    known.iter().any(|&(it, _)| {
        [1.0, 1e3, 1e-3, 1e2].iter().any(|unit| (it * unit - value).abs() <= half * (1.0 + 1e-9))
    })
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

/// Times that a machine took: they are of no other one.
const OF_A_MACHINE: [&str; 3] = [" ms", " s of", " s "];

/// Whether a command simulates so much that its values are in `results`, where `flitlab verify` sees
/// to them.
fn is_long(command: &str) -> bool {
    ["flitlab reproduce", "flitlab sweep"].iter().any(|long| command.starts_with(long))
}

#[test]
#[ignore = "long: minutes; every value of docs/papers beside what its command prints"]
fn the_values_of_the_papers_pages_are_what_their_commands_print() {
    let place = Workplace::new("papers-values");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    symlink(root.join("scenarios"), place.0.join("scenarios")).unwrap();
    symlink(env!("CARGO_BIN_EXE_flitlab"), place.0.join("flitlab")).unwrap();
    let mut texts: HashMap<String, String> = HashMap::new();
    let (mut seen, mut unlike) = (0, Vec::new());
    for row in rows().iter().filter(|row| !row.commands.iter().any(|it| is_long(it))) {
        let mut known = Vec::new();
        for command in &row.commands {
            let text = texts.entry(command.clone()).or_insert_with(|| printed(command, &place));
            known.extend(numbers(text));
            // What is given is no result, but may stand beside one.
            known.extend(numbers(command));
            if let Some(scenario) = command.split(' ').find(|word| word.ends_with(".toml")) {
                known.extend(numbers(&place.read(scenario)));
            }
        }
        let prose: String = row.value.split('`').step_by(2).collect();
        let values = numbers_but(&prose, &OF_A_MACHINE);
        seen += values.len();
        let missing: Vec<f64> =
            values.iter().filter(|value| !is_among(value, &known)).map(|value| value.0).collect();
        if !missing.is_empty() {
            let Row { page, item, value, commands } = row;
            unlike.push(format!("{page}: {item}: {value}\n  {commands:?}: no {missing:?}"));
        }
    }
    assert!(unlike.is_empty(), "{}", unlike.join("\n"));
    assert!(seen >= 150, "{seen}");
}

#[test]
fn a_value_that_a_command_does_not_print_is_noticed() {
    let printed =
        numbers("packet latency    mean 1.118 us, p99 2,400 ns; 8.5% of 4x4x2 in 12.3 ms");
    let is = |text: &str| is_among(&numbers(text)[0], &printed);
    assert!(is("1,118 ns") && is("1.12 us") && is("2.4 us") && is("8.5%"));
    assert!(!is("1,119 ns") && !is("1.11 us") && !is("8.4%") && !is("13"));
    assert!(numbers_but("p95 of 6x5x5 in 3.2 ms", &OF_A_MACHINE).is_empty());
    assert_eq!(cells("| a \\| b | c |"), ["a | b", "c"]);
}
