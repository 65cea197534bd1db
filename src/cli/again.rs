//! How a command that ended early goes on.

use std::path::Path;

use super::folder::Output;
use super::{Failure, arguments, program};

/// The command that goes on in a folder of results: this one, with what it lacks for that. For a
/// program the call of Python.
pub(super) fn again(output: &Output, resumes: bool, results: &Path) -> String {
    if program::current().is_some() {
        return format!("flitlab.sweep(..., out={:?}, resume=True)", results.display().to_string());
    }
    let mut words: Vec<String> =
        arguments().iter().map(|word| word.to_string_lossy().into_owned()).collect();
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
