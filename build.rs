//! Tells the program the commit that it is built of, which results name.

use std::path::Path;
use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // Without a repository of its own, as in a package, the commit is not known.
    let own = git(&["rev-parse", "--show-prefix"]).is_some_and(|prefix| prefix.is_empty());
    let commit = own.then(|| git(&["rev-parse", "--short=12", "HEAD"])).flatten();
    let sources = ["src", "crates", "Cargo.lock"];
    let changed = git(&[&["status", "--porcelain", "--"][..], &sources].concat());
    let changed = changed.is_some_and(|files| !files.is_empty());
    let commit = match commit {
        Some(commit) if changed => commit + "-changed",
        commit => commit.unwrap_or_default(),
    };
    println!("cargo::rustc-env=FLITLAB_COMMIT={commit}");
    // What is not there, as the crates in a package, would count as changed each time.
    for watched in sources.iter().chain(&["build.rs"]).filter(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={watched}");
    }
    // What tells that there is another commit, also in a work tree.
    if let Some(log) =
        git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|it| Path::new(it).exists())
    {
        println!("cargo::rerun-if-changed={log}");
    }
}
