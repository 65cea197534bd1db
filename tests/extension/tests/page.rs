//! The code of docs/extending.md is that of files which tests compile and run.

use std::fs;
use std::path::Path;

/// The page and the files that it quotes.
fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The lines of a text that say something.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Whether all lines of an excerpt stand in a file, in their order; what is between may be left out.
fn is_of(excerpt: &str, file: &str) -> bool {
    let all = lines(file);
    let mut rest = all.iter();
    lines(excerpt).iter().all(|line| rest.any(|other| other == line))
}

#[test]
fn code_on_the_page_is_of_files_that_are_tested() {
    let page = read("docs/extending.md");
    let files = [
        "examples/own_command.rs",
        "examples/own_pattern.rs",
        "examples/own_algorithm.rs",
        "tests/extension/src/phased_rule.rs",
        "tests/extension/src/table_rule.rs",
    ];
    let files = files.map(read);
    let blocks: Vec<&str> = page
        .split("```rust\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or_default())
        .collect();
    let mut found = 0;
    for block in &blocks {
        if block.contains("Document::open") {
            // Library calls whose pieces are all over the tests.
            continue;
        }
        assert!(files.iter().any(|file| is_of(block, file)), "{block}");
        found += 1;
    }
    assert_eq!(found, 4, "of {} blocks", blocks.len());
    let whole = lines(&files[3]);
    assert!(blocks.iter().any(|block| whole.ends_with(&lines(block))), "the rule is there in full");
}
