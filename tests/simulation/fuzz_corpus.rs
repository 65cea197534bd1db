//! The fuzzers' corpus, replayed: what their inputs found once stays mended, with a compiler that
//! has no fuzzer.

#[path = "../fuzz/src/entries/mod.rs"]
mod entries;

use std::{collections::BTreeSet, fs, path::Path};

use flitlab::scenario::{KeyDoc, reference};

/// Names the input if a test of it panics, wherever that is.
struct Named<'p>(&'p Path);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("with the input {}", self.0.display());
        }
    }
}

#[test]
fn every_input_of_the_fuzzers_corpora_is_refused_in_words_or_holds() {
    for (target, entry) in entries::ENTRIES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target);
        let mut files: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{target} has no corpus");
        for path in files {
            let _named = Named(&path);
            entry(&fs::read(&path).unwrap());
        }
    }
}

/// The words of scenarios: keys, names that can be chosen, and values.
fn words() -> BTreeSet<String> {
    fn gather(key: &KeyDoc, words: &mut BTreeSet<String>) {
        words.extend(key.path.split('.').map(str::to_owned));
        words.insert(format!("{}=", key.path));
        words.insert(key.example.clone());
        words.extend(key.default.clone());
        for variant in &key.variants {
            words.insert(variant.name.to_owned());
            variant.fields.iter().for_each(|field| gather(field, words));
        }
        key.fields.iter().for_each(|field| gather(field, words));
    }
    let mut words = BTreeSet::new();
    reference().keys().for_each(|key| gather(key, &mut words));
    words.retain(|word| (2..=64).contains(&word.len()));
    words
}

/// As libFuzzer reads a word.
fn quoted(word: &str) -> String {
    format!("\"{}\"\n", word.replace('\\', "\\\\").replace('"', "\\\""))
}

#[test]
fn the_fuzzers_dictionaries_have_every_key() {
    let text: String = words().iter().map(|word| quoted(word)).collect();
    for target in ["scenario", "set"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/dictionaries");
        let path = folder.join(target).with_extension("dict");
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let help = "UPDATE_EXPECTED=1 cargo test --test simulation the_fuzzers_dictionaries";
        assert!(fs::read_to_string(&path).unwrap_or_default() == text, "{help}");
    }
}
