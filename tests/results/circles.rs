//! Circles of modules: files of which each uses the next, the last the first. Nobody can read one of
//! them without the others, so they stay small.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::walls::{module, sources};

/// The most files of a circle.
const MOST: usize = 8;

type Names = Vec<String>;

/// The modules of a crate by their paths, such as `router/packet`; the root's is empty.
struct Modules(BTreeMap<String, Module>);

#[derive(Default)]
struct Module {
    /// What is defined in it.
    defined: BTreeSet<String>,
    /// What it names, and by which name it has it then.
    named: Vec<(Names, String)>,
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn split(path: &str) -> Names {
    path.split("::").map(|name| name.trim().to_owned()).collect()
}

/// The paths of a `use`, whose braces may be nested.
fn spread(before: &str, rest: &str, found: &mut Vec<(Names, String)>) {
    let rest = rest.trim();
    if let Some(at) = rest.find('{') {
        let before = format!("{before}{}", &rest[..at]);
        let inner = &rest[at + 1..rest.rfind('}').expect("it is closed")];
        let (mut depth, mut start) = (0, 0);
        for (at, letter) in inner.char_indices().chain([(inner.len(), ',')]) {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    spread(&before, &inner[start..at], found);
                    start = at + 1;
                }
                _ => {}
            }
        }
    } else if !rest.is_empty() {
        let (path, alias) = rest.split_once(" as ").map_or((rest, None), |(a, b)| (a, Some(b)));
        let mut names = split(&format!("{before}{path}"));
        if names.last().is_some_and(|last| last == "self" || last == "*") {
            names.pop();
        }
        let own = names.last().cloned().unwrap_or_default();
        found.push((names, alias.map_or(own, |it| it.trim().to_owned())));
    }
}

impl Module {
    fn of(text: &str) -> Self {
        let code: String =
            text.lines().flat_map(|line| [line.split("//").next().unwrap_or(""), "\n"]).collect();
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
        // Where something can be seen is no use of it.
        let mut code = code.to_owned();
        while let Some(at) = code.find("pub(in ") {
            let end = at + code[at..].find(')').expect("it is closed");
            code.replace_range(at..=end, "pub");
        }
        let mut found = Self::default();
        let words: Vec<&str> = code.split_whitespace().collect();
        for pair in words.windows(2) {
            let keywords = ["fn", "struct", "enum", "trait", "type", "const", "static", "union"];
            if keywords.contains(&pair[0]) || pair[0] == "macro_rules!" {
                let name = pair[1].split(|letter| !is_word(letter)).next().unwrap_or("");
                found.defined.insert(name.to_owned());
            }
        }
        for (at, _) in code.match_indices("use ") {
            let line = &code[code[..at].rfind('\n').map_or(0, |it| it + 1)..at];
            let visibility = line.trim();
            let is_use = code[..at].ends_with(char::is_whitespace) || at == 0;
            if is_use
                && (visibility.is_empty()
                    || visibility.starts_with("pub") && !visibility.contains(' '))
            {
                let end = at + code[at..].find(';').expect("it ends");
                spread("", &code[at + 4..end], &mut found.named);
            }
        }
        for root in ["crate::", "super::", "self::"] {
            for (at, _) in code.match_indices(root) {
                let goes_on = |it: char| is_word(it) || it == ':';
                let end = code[at..].find(|it| !goes_on(it)).map_or(code.len(), |it| at + it);
                // Before braces it is the beginning of a `use`.
                if !code[..at].ends_with(goes_on) && !code[..end].ends_with(':') {
                    found.named.push((split(&code[at..end]), String::new()));
                }
            }
        }
        found
    }
}

impl Modules {
    fn of(root: &Path) -> Self {
        let mut paths: Vec<PathBuf> = Vec::new();
        sources(root, &mut paths);
        let mut modules = BTreeMap::new();
        for path in paths {
            let own = path.strip_prefix(root).unwrap();
            let of_tests = own.iter().any(|part| part == "tests" || part == "tests.rs");
            if !of_tests && own != Path::new("main.rs") {
                let name = module(own).join("/");
                let name = if name == "lib" { String::new() } else { name };
                modules.insert(name, Module::of(&fs::read_to_string(&path).unwrap()));
            }
        }
        Self(modules)
    }

    /// A path from the root of the crate; `None` if it leads to another one.
    fn absolute(&self, own: &str, names: &[String]) -> Option<Names> {
        let mut above: Names = own.split('/').filter(|it| !it.is_empty()).map(Into::into).collect();
        let mut names = names;
        match names.first()?.as_str() {
            "crate" => return Some(names[1..].to_vec()),
            "self" => names = &names[1..],
            "super" => {
                while names.first().is_some_and(|name| name == "super") {
                    above.pop();
                    names = &names[1..];
                }
            }
            first => {
                let child = [&above[..], &[first.to_owned()]].concat().join("/");
                self.0.contains_key(&child).then_some(())?;
            }
        }
        Some([above, names.to_vec()].concat())
    }

    /// The module that defines what a path from the root names, whoever hands it on.
    fn definer(&self, path: &[String], depth: u32) -> Option<String> {
        let (at, module) = (0..=path.len()).rev().find_map(|at| {
            let module = path[..at].join("/");
            self.0.contains_key(&module).then_some((at, module))
        })?;
        let Some(name) = path.get(at) else { return Some(module) };
        let Module { defined, named } = &self.0[&module];
        if defined.contains(name) || depth > 8 {
            return Some(module);
        }
        match named.iter().find(|(_, own)| own == name) {
            Some((handed, _)) => self.definer(&self.absolute(&module, handed)?, depth + 1),
            None => Some(module),
        }
    }

    fn used(&self, own: &str) -> BTreeSet<String> {
        let named = self.0[own].named.iter();
        let paths = named.filter_map(|(names, _)| self.absolute(own, names));
        paths.filter_map(|path| self.definer(&path, 0)).filter(|it| it != own).collect()
    }

    /// The modules of each circle.
    fn circles(&self) -> BTreeSet<Vec<&str>> {
        let uses: BTreeMap<&str, BTreeSet<String>> =
            self.0.keys().map(|own| (own.as_str(), self.used(own))).collect();
        let reached = |from: &str| {
            let mut reached: BTreeSet<&str> = BTreeSet::new();
            let mut open: Vec<&str> = uses[from].iter().map(String::as_str).collect();
            while let Some(next) = open.pop() {
                if reached.insert(next) {
                    open.extend(uses[next].iter().map(String::as_str));
                }
            }
            reached
        };
        let all: BTreeMap<&str, BTreeSet<&str>> =
            uses.keys().map(|&own| (own, reached(own))).collect();
        let circle = |own: &str| -> Vec<&str> {
            let members =
                all.iter().filter(|(it, reached)| all[own].contains(**it) && reached.contains(own));
            members.map(|(&member, _)| member).collect()
        };
        all.keys().map(|own| circle(own)).filter(|members| members.len() > 1).collect()
    }
}

#[test]
fn no_circle_of_modules_has_more_than_eight() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|it| it.unwrap().path());
    let (mut some, mut large) = (0, Vec::new());
    for folder in crates.chain([root.to_owned()]) {
        let modules = Modules::of(&folder.join("src"));
        for members in modules.circles() {
            some += 1;
            if members.len() > MOST {
                large.push(format!("{}: {members:?}", folder.display()));
            }
        }
    }
    assert!(large.is_empty(), "{large:#?}");
    // Or the search would find none.
    assert!(some > 10, "{some}");
}

#[test]
fn a_circle_is_found_through_what_is_handed_on() {
    let modules = |texts: &[(&str, &str)]| {
        Modules(texts.iter().map(|(name, text)| ((*name).to_owned(), Module::of(text))).collect())
    };
    let a = "use super::{b::{c::C as D, other}, e};\npub struct A;";
    let found = modules(&[
        ("", "mod a;\nmod b;\npub use a::A;"),
        ("a", a),
        ("b", "pub mod c;\npub fn other() {}"),
        ("b/c", "pub struct C(pub crate::A);"),
        ("e", "// use crate::A;\n#[cfg(test)]\nmod tests {\n use crate::A;\n}"),
        // Tests in a file of their own hide nothing of what stands behind.
        ("f", "#[cfg(test)]\nmod tests;\nuse crate::g::G;\npub struct F;"),
        ("g", "pub struct G(crate::f::F);"),
    ]);
    assert_eq!(found.circles(), BTreeSet::from([vec!["a", "b/c"], vec!["f", "g"]]));
    assert_eq!(found.used("a"), BTreeSet::from(["b", "b/c", "e"].map(String::from)));
}
