//! Committed pictures, and the rows behind them, are what the commands beside them make.
//!
//! Each page's commands are run as they stand, in a folder of their own, and what the page shows
//! and keeps is compared with what they leave. `UPDATE_EXPECTED=1` puts that in its place.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::workplace::Workplace;
use crate::documents::commands;

/// A page, which of its commands draw, and the folder whose files are what these leave (else only
/// pictures are).
struct Page {
    path: &'static str,
    draws: fn(&str) -> bool,
    kept: Option<&'static str>,
}

const PAGES: [Page; 3] = [
    Page {
        path: "README.md",
        draws: |command| command.contains("first.toml") || command.contains("ugal"),
        kept: None,
    },
    Page {
        path: "docs/figures.md",
        draws: |command| {
            let here = ["patterns", "uniform", "searches", "sizes", "classes"];
            let names = |flag: &str| here.iter().any(|it| command.contains(&format!("{flag}{it}")));
            names("--out ") || names("plot ") && command.ends_with("--out figures")
        },
        kept: None,
    },
    Page { path: "results/desmos/README.md", draws: |_| true, kept: Some("results/desmos") },
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| !path.is_symlink())
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect()
}

/// The pictures that a page shows, made by its commands: those whose names end in svg.
fn shown(text: &str, page: &Path) -> Vec<PathBuf> {
    let targets =
        text.split("![").skip(1).filter_map(|rest| rest.split("](").nth(1)?.split(')').next());
    targets.filter(|it| it.ends_with(".svg")).map(|it| page.parent().unwrap().join(it)).collect()
}

fn check(page: &Page, stale: &mut Vec<String>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join(page.path);
    let text = fs::read_to_string(&path).unwrap();
    let place = Workplace::new(&format!("pictures-{}", page.path.replace('/', "-")));
    symlink(root.join("scenarios"), place.0.join("scenarios")).unwrap();
    let wanted: Vec<String> = commands(&text).into_iter().filter(|it| (page.draws)(it)).collect();
    assert!(!wanted.is_empty(), "{}", page.path);
    for command in &wanted {
        let words = shlex::split(command).unwrap();
        let mut flitlab = Command::new(env!("CARGO_BIN_EXE_flitlab"));
        let output = flitlab.args(&words[1..]).current_dir(&place.0).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {command}: {errors}", page.path);
    }
    let drawn = files(&place.0);
    assert!(!drawn.is_empty());
    let mut compared: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for picture in shown(&text, &path) {
        let same_name = |it: &&PathBuf| it.file_name() == picture.file_name();
        // What a sweep draws by itself is drawn again by the command above the picture.
        let by_plot = |it: &&PathBuf| it.parent().is_some_and(|folder| folder.ends_with("figures"));
        let ours = match page.kept {
            Some(folder) => place.0.join(picture.strip_prefix(root.join(folder)).unwrap()),
            None => drawn.iter().filter(same_name).max_by_key(by_plot).unwrap().clone(),
        };
        compared.insert(picture, ours);
    }
    if let Some(folder) = page.kept {
        for kept in files(&root.join(folder)) {
            let ours = place.0.join(kept.strip_prefix(root.join(folder)).unwrap());
            // A summary says which commit made it; `flitlab verify` compares what else it has.
            if ours.exists() && !ours.ends_with("summary.json") {
                compared.insert(kept, ours);
            }
        }
    }
    for (kept, ours) in compared {
        let new = fs::read(&ours).unwrap_or_else(|cause| panic!("{}: {cause}", ours.display()));
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&kept, &new).unwrap();
        }
        if fs::read(&kept).ok().as_ref() != Some(&new) {
            stale.push(kept.strip_prefix(root).unwrap().display().to_string());
        }
    }
}

#[test]
#[ignore = "long: five minutes; the commands beside the pictures of README, docs and results/desmos"]
fn committed_pictures_are_what_the_commands_beside_them_draw() {
    let mut stale = Vec::new();
    PAGES.iter().for_each(|page| check(page, &mut stale));
    assert!(stale.is_empty(), "UPDATE_EXPECTED=1 draws anew: {stale:?}");
}

/// Sweeps that take long are not run again for their pictures: these are what is drawn of the rows
/// beside them.
#[test]
fn committed_pictures_of_long_sweeps_are_drawn_of_the_rows_beside_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = Workplace::new("pictures-of-rows");
    for sweep in ["angara-lossy-links", "outflank/angara-8x8x8"] {
        let folder = root.join("results").join(sweep);
        place.run(&["plot", folder.to_str().unwrap(), "--format", "svg", "--out", "drawn"]);
        let pictures =
            files(&folder).into_iter().filter(|it| it.extension() == Some("svg".as_ref()));
        let pictures: Vec<PathBuf> = pictures.collect();
        assert!(pictures.len() > 1, "{sweep}");
        for kept in pictures {
            let ours = place.0.join("drawn").join(kept.file_name().unwrap());
            assert!(fs::read(&kept).unwrap() == fs::read(ours).unwrap(), "{}", kept.display());
        }
        fs::remove_dir_all(place.0.join("drawn")).unwrap();
    }
}
