//! `flitlab report`: results as one HTML file.

mod facts;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::results::{Results, repeated};
use super::summary::{print_json, print_text};
use super::{Failure, components, folder, unasked, unlike};
use crate::cli::say::say;
use crate::cli::text::counted;
use flitlab::page::{Blocks, Contrast, Fact, ReportPage as Page, Reported, page};
use flitlab::scenario::{Document, Loads, Network, Setting, Sweep, differences, settings};

/// The name of a folder's report in that folder.
const NAME: &str = "report.html";

/// Make one HTML file of results, to look at and to send
///
/// The file opens in any browser, offline: curves whose points say what they are, tables that sort,
/// the links of the torus with their loads, warnings, the scenario, and how to repeat it. Several
/// folders share one page: their curves are drawn together, each named after its folder.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab report results/desmos-uniform\n  \
                        flitlab report results/bfs results/sssp --labels BFS,SSSP -o tables.html")]
pub(super) struct Report {
    /// Folders that run or sweep left
    #[arg(required = true, value_name = "RESULTS")]
    results: Vec<PathBuf>,
    /// The file [default: report.html in the folder of the results, if there is one folder]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Names of the results on the page, as many as there are folders [default: the folders' names]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    labels: Vec<String>,
    /// Title of the page [default: the scenario's, or the names]
    #[arg(long)]
    title: Option<String>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The JSON object that `--json` prints.
#[derive(Serialize)]
struct Made {
    report: String,
    bytes: usize,
    title: String,
    results: Vec<MadeOf>,
}

#[derive(Serialize)]
struct MadeOf {
    results: String,
    label: String,
    points: usize,
    finished: bool,
}

impl Report {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let out = self.place()?;
        if out.exists() && !is_page(&out) {
            return Err(Failure::input(format!(
                "{} is there and is no page of results: name another file with --out",
                out.display()
            )));
        }
        let results: Vec<Results> =
            self.results.iter().map(|folder| Results::open(folder)).collect::<Result<_, _>>()?;
        let labels = self.labels(&results)?;
        for note in results.iter().flat_map(|results| &results.notes) {
            say(&format!("note: {note}"));
        }
        let title = self.title.clone().or_else(|| match &results[..] {
            [only] => only.summary.title.clone().or_else(|| facts::title(only)),
            _ => None,
        });
        let report = Page {
            title: title.unwrap_or_else(|| labels.join(", ")),
            contrasts: contrasts(&results),
            figures: components::own_figures(),
            command: self.command(&results),
            results: results
                .iter()
                .zip(&labels)
                .map(|(own, label)| reported(own, label, results.len()))
                .collect::<Result<_, _>>()?,
        };
        let text = page(&report);
        folder::write(&out, &text)?;
        if !self.json {
            return print_text(&format!("{}\n", out.display()));
        }
        let made_of = results.iter().zip(labels).map(|(results, label)| MadeOf {
            results: results.name(),
            label,
            points: results.rows.points.len(),
            finished: results.finished,
        });
        print_json(&Made {
            report: out.display().to_string(),
            bytes: text.len(),
            title: report.title,
            results: made_of.collect(),
        })
    }

    /// Where the page goes.
    fn place(&self) -> Result<PathBuf, Failure> {
        let out = match (&self.out, &self.results[..]) {
            (Some(out), _) => out.clone(),
            (None, [only]) => only.join(NAME),
            (None, _) => {
                return Err(Failure::input(format!(
                    "a report of several results needs a name: add -o {NAME}"
                )));
            }
        };
        if out.is_dir() {
            let file = out.join(NAME);
            return Err(Failure::input(format!(
                "{} is a folder: write -o {}",
                out.display(),
                file.display()
            )));
        }
        if out.exists() && !self.force {
            return Err(Failure::input(format!(
                "{} exists: replace it with --force, or name another file with -o",
                out.display()
            )));
        }
        Ok(out)
    }

    /// Returns the names of the results on the page, all different.
    fn labels(&self, results: &[Results]) -> Result<Vec<String>, Failure> {
        if self.labels.is_empty() {
            let names: Vec<String> = results.iter().map(facts::name).collect();
            return Ok(match repeated(&names) {
                None => names,
                Some(_) => results.iter().map(Results::name).collect(),
            });
        }
        if self.labels.len() != results.len() {
            return Err(Failure::input(format!(
                "{} names for {} results: --labels takes as many, with commas between them",
                self.labels.len(),
                results.len()
            )));
        }
        match repeated(&self.labels) {
            Some(label) => Err(Failure::input(format!(
                "--labels names {label} twice: results need different names"
            ))),
            None => Ok(self.labels.clone()),
        }
    }

    /// The command that makes the page, in the folder where the results are.
    fn command(&self, results: &[Results]) -> String {
        let mut words = vec![components::name(), "report".into()];
        words.extend(results.iter().map(facts::name));
        if !self.labels.is_empty() {
            words.extend(["--labels".into(), self.labels.join(",")]);
        }
        if let Some(title) = &self.title {
            words.extend(["--title".into(), title.clone()]);
        }
        words.extend(["-o".into(), NAME.into()]);
        words.iter().map(|word| facts::quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// Whether a file is an HTML page, which a new one may replace.
fn is_page(path: &Path) -> bool {
    let mut start = [0; 14];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start.eq_ignore_ascii_case(b"<!doctype html")
}

/// A folder's results as the page shows them.
fn reported(results: &Results, label: &str, all: usize) -> Result<Reported, Failure> {
    let document = results.scenario.as_ref();
    let keys = document.map(settings).unwrap_or_default();
    let topology_varies = keys
        .iter()
        .any(|(key, value)| key.starts_with("topology") && matches!(value, Setting::Swept(_)));
    let network = document.filter(|_| !topology_varies).and_then(|it| Network::read(it).ok());
    let one = |key: &str| {
        keys.iter().find_map(|(name, value)| match value {
            Setting::One(text) if name == key => Some(text.as_str()),
            _ => None,
        })
    };
    let path = results.name();
    // A page that is sent does not say where it was made.
    let renamed = |note: &String| match note.strip_prefix(&path) {
        Some(rest) => format!("{label}{rest}"),
        None => note.clone(),
    };
    let mut unfinished: Vec<String> = results.notes.iter().map(renamed).collect();
    if let Some(planned) = document.filter(|_| !results.finished).and_then(planned) {
        let points = counted(results.rows.points.len(), "point");
        unfinished.push(format!("{points} so far, of {planned}"));
    }
    let mut facts = facts::facts(results, &keys);
    // The topology or the routing brings these along, where they are compared.
    let varies = |(key, value): &(String, Setting)| {
        ["topology", "routing"].iter().any(|table| match key.strip_prefix("sweep.series.") {
            Some(of_series) => of_series.contains(&format!(".{table}")),
            None => key.starts_with(table) && matches!(value, Setting::Swept(_)),
        })
    };
    let compared = document.filter(|_| keys.iter().any(varies)).map(Sweep::read_without_tables);
    if let Some(sweep) = compared.and_then(Result::ok) {
        let unlike = unlike::texts(&sweep.unlike(unlike::PATIENCE));
        let differ: Vec<String> = unasked::text(&sweep.unasked).into_iter().chain(unlike).collect();
        if !differ.is_empty() {
            facts.push(Fact { name: "compared".into(), value: differ.join(". ") });
        }
    }
    let torus = network.as_ref().and_then(|network| Some(network.torus()?.0.clone()));
    let blocks = network.and_then(|network| Blocks::of(&network.fabric));
    let (points, with_channels) = results.with_details(all, (torus.as_ref(), blocks.as_ref()))?;
    Ok(Reported {
        label: label.to_owned(),
        facts,
        points,
        with_channels: Some(with_channels),
        torus,
        blocks,
        saturation: results.saturation().to_vec(),
        unfinished,
        warnings: results.summary.warnings.clone(),
        deadlocks: results.summary.deadlocks.clone(),
        precision: one("measure.precision").and_then(|text| text.parse().ok()),
        scenario: document.map(|document| facts::without_folders(document.text())),
        version: results.made(),
        commands: document.map(|document| facts::commands(document, results)).unwrap_or_default(),
    })
}

/// How many points a sweep has that has not ended.
fn planned(document: &Document) -> Option<usize> {
    let sweep = document.has_sweep().then(|| Sweep::read(document).ok()).flatten()?;
    matches!(sweep.loads, Loads::Written { .. }).then_some(sweep.points.len())
}

/// The keys in which scenarios differ from the first one's.
fn contrasts(results: &[Results]) -> Vec<Contrast> {
    let documents: Option<Vec<&Document>> =
        results.iter().map(|results| results.scenario.as_ref()).collect();
    let Some(documents) = documents.filter(|documents| documents.len() > 1) else {
        return Vec::new();
    };
    let mut contrasts: Vec<Contrast> = Vec::new();
    for (at, document) in documents.iter().enumerate().skip(1) {
        for found in differences(documents[0], document) {
            let first = found.a.as_ref().map(facts::setting);
            let same = |contrast: &&mut Contrast| contrast.key == found.key;
            let own = found.b.as_ref().map(facts::setting);
            match contrasts.iter_mut().find(same) {
                Some(contrast) => contrast.values[at] = own,
                None => {
                    let mut values = vec![first; documents.len()];
                    values[at] = own;
                    contrasts.push(Contrast { key: found.key, values });
                }
            }
        }
    }
    // No key says how many virtual channels a routing takes.
    let used: Vec<Option<String>> = documents.iter().map(|it| unlike::vcs_used(it)).collect();
    if used.iter().all(Option::is_some) && used.iter().any(|it| *it != used[0]) {
        contrasts.push(Contrast { key: "virtual channels that packets take".into(), values: used });
    }
    contrasts
}
