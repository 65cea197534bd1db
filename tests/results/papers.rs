//! The pages of docs/papers, which go through the papers row by row, or through what is known of
//! them: each command that they name is one that flitlab takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::documents::{place, run};

/// The pages, and the commands in the rows of their tables, those aside that are refused on purpose.
fn pages() -> Vec<(String, Vec<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/papers");
    let mut pages: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    let commands_of = |page: PathBuf| {
        let text = fs::read_to_string(&page).unwrap();
        let rows = text.lines().filter(|line| line.starts_with('|') && !line.contains("refused"));
        // Code is every other piece of a row between backticks.
        let code = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
        let commands = code.filter(|code| code.starts_with("flitlab ")).map(str::to_owned);
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
