//! Every command of README and docs runs, as a reader would type it: page by page, in order, in a
//! folder in which the repository's scenarios are in reach.
//!
//! A `flitlab` that comes first on the path shortens what is simulated: fewer and shorter windows,
//! few loads, small networks instead of huge ones. What takes minutes all the same is ended after a
//! while. An `sbatch` there computes the tasks of a job array at once (on a real Slurm they are
//! tested in `tests/commands/slurm`).

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use flitlab::engine::{FEATURES, FeatureRow, Support};

use crate::common::slice::{at_least, is_in_slice};
use crate::common::workplace::Workplace;

/// Commands that no setting shortens: it is enough that they go on for a while.
const LONG: [&str; 3] = ["reproduce outflank", "reproduce angara-fig5", "reproduce angara-table3"];
const A_WHILE: Duration = Duration::from_secs(5);

/// More than any other command takes here on a slow machine.
const TOO_LONG: Duration = Duration::from_secs(600);

const SHORTENING: &str = r#"#!/bin/sh
# The flitlab under test, with settings that make runs and sweeps short.
for word in "$@"; do
    case $word in *.toml) [ -f "$word" ] && scenario=$word ;; esac
done
case $1 in
run | sweep)
    if [ -z "$scenario" ]; then
        :
    elif grep -q '^preset = "outflank-paper"' "$scenario"; then
        set -- "$@" --set measure.messages=2
    elif grep -q '^\[exchange\]' "$scenario"; then
        set -- "$@" --set 'exchange.message=512 B'
        case $scenario in */nue/torus4222*) ;; */nue/*) set -- "$@" --set exchange.pattern=random-permutation ;; esac
    else
        set -- "$@" --set 'measure.window=2 us' --set measure.warm_up_windows=4
        set -- "$@" --set measure.minimum_windows=10 --set measure.maximum_windows=10
        if [ "$1" = sweep ] && ! echo "$*" | grep -q saturation && grep -q '^traffic.load = ' "$scenario"; then
            set -- "$@" --set 'sweep.grid.traffic.load=[0.1, 0.3]'
        fi
    fi
    case "$1 $scenario" in
    sweep*8x8x8*) set -- "$@" --set 'topology.torus.dimensions=[4, 4, 4]' ;;
    esac
    case $scenario in */ft-desmos.toml) set -- "$@" --set application.schedule.npb.iterations=1 ;; esac
    case $scenario in */scale/*) set -- "$@" --set 'topology.torus.dimensions=[10, 10, 10]' ;; esac
    ;;
esac
exec FLITLAB "$@"
"#;

const SBATCH: &str = r#"#!/bin/sh
case $1 in --version) exit ;; esac
for task in $(seq 0 "$(sed -n 's/^#SBATCH --array=0-//p' "$2")"); do
    SLURM_ARRAY_JOB_ID=1 SLURM_ARRAY_TASK_ID=$task bash "$2" >"$(dirname "$2")/logs/$task.log" || exit
done
echo 1
"#;

/// Knows no job any more, as Slurm soon after their end.
const SQUEUE: &str =
    "#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id specified' >&2\nexit 1\n";

const SCONTROL: &str = "#!/bin/sh\necho 'MaxArraySize            = 1001'\n";

/// The commands of a page: in blocks of code, without what stands beside them.
pub fn commands(page: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut fenced = false;
    let mut goes_on = false;
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if !fenced && !line.starts_with("    ") {
            goes_on = false;
            continue;
        }
        let line = line.trim();
        let command = line.replace("cargo run --release -- ", "flitlab ");
        // Two spaces begin an explanation.
        let command = command.split("  ").next().unwrap_or_default().trim();
        let (part, more) = command.strip_suffix('\\').map_or((command, false), |part| (part, true));
        if goes_on {
            let last = commands.last_mut().expect("or it would not go on");
            *last += part;
        } else if part.starts_with("flitlab ") || part.starts_with("cd ") {
            commands.push(part.into());
        } else {
            continue;
        }
        goes_on = more;
    }
    commands
}

/// A folder with the scenarios and the shortening command in it.
pub fn place(name: &str) -> Workplace {
    let place = Workplace::new(name);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    symlink(root.join("scenarios"), place.0.join("scenarios")).unwrap();
    fs::create_dir(place.0.join("path")).unwrap();
    let shortening = SHORTENING.replace("FLITLAB", env!("CARGO_BIN_EXE_flitlab"));
    for (name, script) in [
        ("flitlab", shortening.as_str()),
        ("sbatch", SBATCH),
        ("squeue", SQUEUE),
        ("sacct", SQUEUE),
        ("scontrol", SCONTROL),
    ] {
        let path = place.0.join("path").join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
}

fn start(command: &str, long: bool, place: &Workplace) -> Child {
    let path = std::env::var("PATH").unwrap();
    // What may have to be ended takes the shell's place.
    let exec = if long { "exec" } else { "" };
    Command::new("sh")
        .args(["-c", &format!("exec 2>errors; {exec} {command}")])
        .current_dir(&place.0)
        .env("PATH", format!("{}:{path}", place.0.join("path").display()))
        .env("HOME", &place.0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs a command to its end, or for a while if it is one of the long ones.
pub fn run(command: &str, page: &str, place: &Workplace) {
    outcome(command, place).unwrap_or_else(|wrong| panic!("{page}: {command}: {wrong}"));
}

/// What is wrong with a command.
fn outcome(command: &str, place: &Workplace) -> Result<(), String> {
    let long = LONG.iter().any(|long| command.contains(long));
    let mut child = start(command, long, place);
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let limit = if long { A_WHILE } else { TOO_LONG };
        if begun.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            return if long { Ok(()) } else { Err(format!("still running after {limit:?}")) };
        }
        sleep(Duration::from_millis(20));
    };
    // A deadlock or a difference that was found is what some are there for.
    let code = status.code();
    match code {
        Some(0 | 3 | 4) => Ok(()),
        _ => Err(format!("exit code {code:?}\n{}", place.read("errors"))),
    }
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    pages.push(root.join("README.md"));
    pages.sort();
    pages
}

/// Runs the commands of the pages that are wanted, all of them whatever is wrong with some; how many
/// there were.
fn run_commands(wanted: impl Fn(&str) -> bool) -> usize {
    let mut seen = 0;
    let mut wrong = Vec::new();
    for path in pages() {
        let page = path.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let commands = commands(&text);
        if commands.is_empty() || !wanted(page) {
            continue;
        }
        let place = place(&format!("documents-{page}"));
        for command in &commands {
            let begun = Instant::now();
            if let Err(why) = outcome(command, &place) {
                wrong.push(format!("{page}: {command}: {why}"));
            }
            println!("{page}: {:.1} s: {command}", begun.elapsed().as_secs_f64());
            seen += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    seen
}

#[test]
fn every_command_of_the_tutorial_runs() {
    let seen = run_commands(|page| page == "tutorial.md");
    assert!(seen >= 5, "{seen}");
}

#[test]
#[ignore = "long: five minutes; every command of README and docs, as a reader would type it, by slices"]
fn every_command_of_readme_and_docs_runs() {
    let number = Cell::new(0);
    let seen =
        run_commands(|page| page != "tutorial.md" && is_in_slice(number.replace(number.get() + 1)));
    assert!(seen >= at_least(20), "{seen}");
}

/// The tutorial shows what is in the file that `init` wrote, and a line that goes into it (REVIEW
/// C4).
#[test]
fn what_the_tutorial_says_to_write_fits_the_file_that_init_writes() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tutorial.md");
    let text = fs::read_to_string(page).unwrap();
    let blocks = text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let [shown, line] = blocks.collect::<Vec<_>>()[..] else { panic!("two blocks of TOML") };
    let typed = |part: &str| commands(&text).into_iter().find(|it| it.contains(part)).unwrap();
    let place = place("documents_tutorial_edits");
    run(&typed("flitlab init"), "tutorial.md", &place);
    let written = place.read("study.toml");
    let other = place.0.join("shown");
    fs::create_dir(&other).unwrap();
    place.write("shown/study.toml", shown);
    let resolved = |file| place.run(&["check", file, "--resolved"]);
    assert_eq!(resolved("study.toml"), resolved("shown/study.toml"));
    // The same curves by the command as by the line in the file.
    let points = |listing: serde_json::Value| {
        let points = listing["points"].as_array().unwrap().clone();
        let mut points: Vec<String> =
            points.iter().map(|point| point["identity"].as_str().unwrap().to_owned()).collect();
        points.sort();
        points
    };
    let command = typed("sweep.grid.routing=");
    let set = command.split('\'').nth(1).unwrap();
    let by_command =
        points(place.json(&["sweep", "study.toml", "--dry-run", "--json", "--set", set]));
    // A curve each, which finds its loads.
    assert_eq!(by_command.len(), 3);
    let header = "\n[sweep.grid]\n";
    assert_eq!(written.matches(header).count(), 1, "{written}");
    place.write("study.toml", &written.replace(header, &format!("{header}{line}")));
    assert_eq!(points(place.json(&["sweep", "study.toml", "--dry-run", "--json"])), by_command);
}

/// The networks in ten lines: each is a scenario that nothing is to be said against.
#[test]
fn each_network_of_ten_lines_passes_the_check_without_a_warning() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("docs/your-network.md")).unwrap();
    let place = Workplace::new("documents_networks");
    fs::copy(root.join("scenarios/irregular/quantum.net"), place.0.join("fabric.net")).unwrap();
    let blocks = text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut fabrics = HashSet::new();
    for block in blocks {
        assert!(block.lines().count() < 20, "{block}");
        place.write("network.toml", block);
        let Output { status, stdout, stderr } = place.flitlab(&["check", "network.toml"]);
        let said = String::from_utf8_lossy(&stderr);
        assert!(status.success() && !said.contains("warning"), "{block}{said}");
        let told = String::from_utf8_lossy(&stdout).into_owned();
        fabrics.insert(told.lines().next().unwrap_or_default().to_owned());
    }
    assert_eq!(fabrics.len(), 7, "{fabrics:?}");
}

/// All Markdown of the repository that readers are led to.
fn linking_pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let results = fs::read_dir(root.join("results")).unwrap();
    let results = results.map(|entry| entry.unwrap().path().join("README.md"));
    let papers = fs::read_dir(root.join("docs/papers")).unwrap();
    let papers = papers.map(|entry| entry.unwrap().path());
    let others = ["CHANGELOG.md", "benches/README.md", "results/README.md"];
    let mut pages = pages();
    let others = others.iter().map(|name| root.join(name)).chain(results).chain(papers);
    pages.extend(others.filter(|it| it.exists()));
    pages
}

/// The lines of a page that are text, not code.
fn text_lines(page: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    page.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence && !line.starts_with("    ")
    })
}

/// The anchors of a page's headings, as GitHub makes them: small letters, digits, `-` and `_`, with
/// a number from the second of the same name on.
fn anchors(page: &str) -> HashSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = text_lines(page).filter(|line| line.starts_with('#'));
    let headings = headings.map(|line| line.trim_start_matches('#').trim().to_lowercase());
    headings
        .map(|heading| {
            let kept = heading.chars().filter(|&c| c.is_alphanumeric() || "-_ ".contains(c));
            let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
            let before = seen.entry(anchor.clone()).or_default();
            *before += 1;
            if *before == 1 { anchor } else { format!("{anchor}-{}", *before - 1) }
        })
        .collect()
}

/// The targets of the links of a page: `[text](target)`, also over the end of a line, and `[name]:
/// target`.
fn targets(page: &str) -> Vec<String> {
    let lines: Vec<&str> = text_lines(page).collect();
    let text = lines.join("\n");
    let inline = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let named = lines.iter().filter(|line| line.starts_with('['));
    let named = named.filter_map(|line| line.split_once("]: "));
    inline.chain(named.map(|(_, target)| target.trim())).map(str::to_owned).collect()
}

#[test]
fn links_and_anchors_are_found_in_a_page() {
    let page = "# One (two), `three`\n## Same\n## Same\n```\n# no heading\n```\nSee [a\nb](x.md#y) and \
                [c].\n\n[c]: z.md\n\n    [code](no.md)\n";
    let expected = ["one-two-three", "same", "same-1"].map(str::to_owned);
    assert_eq!(anchors(page), HashSet::from(expected));
    assert_eq!(targets(page), ["x.md#y", "z.md"]);
}

/// The names of the modules that a file declares.
fn modules(file: &str) -> Vec<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let declared = |line: &str| {
        let line = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
        Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned())
    };
    text.lines().filter_map(declared).filter(|name| name != "tests").collect()
}

#[test]
fn the_map_of_the_house_names_every_crate_and_every_room_of_the_engine() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let crates = fs::read_dir(root.join("crates")).unwrap();
    let crates = crates.map(|it| format!("flitlab-{}", it.unwrap().file_name().display()));
    let rooms = ["crates/engine/src/lib.rs", "crates/engine/src/router/mod.rs"];
    let names: Vec<String> = crates.chain(rooms.into_iter().flat_map(modules)).collect();
    assert!(names.len() > 35, "{names:?}");
    let is_named = |name: &&String| {
        page.contains(&format!("`{name}`")) || page.contains(&format!("::{name}`"))
    };
    let missing: Vec<&String> = names.iter().filter(|name| !is_named(name)).collect();
    assert!(missing.is_empty(), "docs/architecture.md does not name {missing:?}");
}

/// The table of what each kind of routers can do, as the page has it.
fn features() -> String {
    let cell = |support| match support {
        Support::Yes => "yes".to_owned(),
        Support::Absent => "not counted: its columns are absent".into(),
        Support::No(why) => format!("no: {why}"),
    };
    let row = |row: &FeatureRow| {
        let kinds = row.columns().map(|(_, support)| cell(support));
        format!("| {} | {} |\n", row.name, kinds.join(" | "))
    };
    let kinds = FEATURES[0].columns().map(|(kind, _)| kind);
    let head = format!("| | {} |\n|{}\n", kinds.join(" | "), "---|".repeat(kinds.len() + 1));
    head + &FEATURES.iter().map(row).collect::<String>()
}

#[test]
fn the_matrix_of_features_is_that_of_the_table_that_check_refuses_by() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- features -->\n").expect("a place for it");
    let (own, after) = rest.split_once("<!-- end of features -->").expect("its end");
    let table = format!("\n{}\n", features());
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        let page = format!("{before}<!-- features -->\n{table}<!-- end of features -->{after}");
        return fs::write(path, page).unwrap();
    }
    assert_eq!(own, table, "UPDATE_EXPECTED=1 writes it anew");
}

#[test]
fn what_pages_link_to_is_there_with_its_anchor() {
    for path in linking_pages() {
        let text = fs::read_to_string(&path).unwrap();
        for target in targets(&text).iter().filter(|target| !target.contains("://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let linked = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            assert!(linked.exists(), "{}: {target}", path.display());
            if !anchor.is_empty() {
                let anchors = anchors(&fs::read_to_string(&linked).unwrap());
                assert!(anchors.contains(anchor), "{}: {target}", path.display());
            }
        }
    }
}

/// Files and folders of the repository that pages name, as `crates/engine`, unless the name has a
/// place to fill in, as `crates/fabric/src/builders/<name>.rs` and `tests/fuzz/corpus/TARGET`.
#[test]
fn paths_that_pages_name_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["benches", "crates", "docs", "examples", "scenarios", "scripts", "tests"];
    let mut seen = 0;
    for page in linking_pages() {
        let text = fs::read_to_string(&page).unwrap();
        let quoted = text_lines(&text).flat_map(|line| line.split('`').skip(1).step_by(2));
        let named = quoted.filter(|path| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
            // What the fuzzer writes is not committed.
            let made =
                ["tests/fuzz/new", "tests/fuzz/artifacts"].iter().any(|at| path.starts_with(at));
            let made = made || path.ends_with("/TARGET");
            let folder = path.split_once('/').map_or("", |(folder, _)| folder);
            folders.contains(&folder) && path.chars().all(plain) && !made
        });
        for path in named {
            assert!(root.join(path).exists(), "{}: {path}", page.display());
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

/// Whether a word is the key of a paper: small letters, digits and `-`.
fn is_key(word: &str) -> bool {
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !word.is_empty() && word.chars().all(known)
}

/// Every `.rs` file under a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Comments cite a paper by its key between escaped brackets.
#[test]
fn papers_that_comments_cite_are_in_the_bibliography() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bibliography = anchors(&fs::read_to_string(root.join("docs/bibliography.md")).unwrap());
    let mut files = Vec::new();
    for folder in ["benches", "crates", "examples", "src", "tests"] {
        sources(&root.join(folder), &mut files);
    }
    let mut seen = 0;
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let comments = text.lines().filter_map(|line| line.split_once("//"));
        for (_, comment) in comments {
            let cited = comment.split("\\[").skip(1).filter_map(|rest| rest.split_once("\\]"));
            for (key, _) in cited.filter(|(key, _)| is_key(key)) {
                assert!(bibliography.contains(key), "{}: {key}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}
