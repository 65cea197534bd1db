//! How a command that ended early goes on.

use std::path::Path;

use super::Failure;
use super::folder::Output;

/// The command that goes on in a folder of results: this one, with what it lacks for that.
pub(super) fn again(output: &Output, resumes: bool, results: &Path) -> String {
    let mut words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut more = Vec::new();
    if output.out.is_none() {
        more.extend(["--out".to_owned(), results.display().to_string()]);
    }
    if !resumes {
        more.push("--resume".to_owned());
    }
    // Behind a bare `--` there are no options.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.splice(end..end, more);
    shlex::try_join(words.iter().map(String::as_str)).expect("arguments have no zero bytes")
}

/// Says with an error that what is finished is not lost.
pub(super) fn hint(failure: Failure, again: &str) -> Failure {
    match failure {
        Failure::Run(text) => {
            Failure::Run(format!("{text}\nFinished points are kept; go on with\n    {again}"))
        }
        other => other,
    }
}
