//! The pages beside results: a table below `<!-- values: FILES -->` has no number that is not in these
//! files, its heading and the names of its rows aside.

use std::fs;
use std::path::{Path, PathBuf};

use super::values::{Known, cells, text_of};

fn pages(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let pages = paths.flat_map(|path| match path.is_dir() {
        true => pages(&path),
        false => Some(path).filter(|path| path.ends_with("README.md")).into_iter().collect(),
    });
    pages.collect()
}

#[test]
fn the_tables_beside_results_have_the_values_of_the_files_that_they_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let (mut seen, mut unlike) = (0, Vec::new());
    for page in pages(&root) {
        let folder = page.parent().unwrap();
        let name = page.strip_prefix(&root).unwrap().display().to_string();
        let text = fs::read_to_string(&page).unwrap();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(files) = line.strip_prefix("<!-- values: ") else { continue };
            let files = files.strip_suffix(" -->").unwrap_or_else(|| panic!("{name}: {line}"));
            let texts: Vec<String> =
                files.split(", ").map(|file| text_of(&folder.join(file))).collect();
            let known = Known::of(texts.iter().map(String::as_str));
            let rows = lines.by_ref().take_while(|line| line.starts_with('|'));
            for row in rows.skip(2) {
                for cell in &cells(row)[1..] {
                    let (values, missing) = known.lack(cell);
                    seen += values;
                    if !missing.is_empty() {
                        unlike.push(format!("{name}: {row}\n  {files}: no {missing:?}"));
                    }
                }
            }
        }
    }
    assert!(unlike.is_empty(), "{}", unlike.join("\n"));
    assert!(seen >= 3000, "{seen}");
}
