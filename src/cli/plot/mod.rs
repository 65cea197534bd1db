//! `flitlab plot`: figures from results, again and again.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command};
use serde::Serialize;

mod look;

use super::folder::Claim;
use super::results::{no_results, own_name, repeated, unreadable};
use super::summary::{print_json, print_text};
use super::{Failure, components};
use crate::cli::say::say;
use crate::cli::text::counted;
use flitlab::FileError;
use flitlab::registry::Row;
use flitlab::report::figure::{
    FIGURES, FIGURES_JSON, FigureKind, FigureRequest, FigureStyle, Files, Format, Length, Medium,
    Sheet, choose, draw_all, draw_kept, numeric_keys, points_shown,
};
use flitlab::report::{Label, Point, ReportError, ResultRows};
use flitlab::scenario::Figures;
use flitlab::text_file::read_text;
use look::LookOptions;

/// Draw the figures of results again, or several results in one figure
///
/// One folder: its figures are drawn anew in it (or in --out). Several: their curves share figures,
/// which go to --out; each curve is named after its result. Figures of `flitlab reproduce` are drawn
/// again in another size, format or with other axes. Nothing is simulated.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab plot results/desmos-uniform\n  \
                        flitlab plot results/desmos-uniform --width 89mm --font-size 9pt --format pdf --out figures\n  \
                        flitlab plot results/uniform --only cdf,channel-map --load 0.5 --out figures\n  \
                        flitlab plot results/bfs results/sssp --labels \"BFS,SSSP\" --out figures\n  \
                        flitlab plot results/patterns --y 200ns:20us --log y --panels --legend right --out figures\n  \
                        flitlab plot results/sizes --only scaling --over exchange.message --format pgfplots --out figures\n\n\
                        Kinds: latency (mean and 99th percentile over load), percentiles, cdf (of the latency), \
                        accepted (load), saturation (highest sustained loads), scaling (over a key of the sweep), \
                        completion (times), workloads (latencies of each of a point's workloads), \
                        channels (by direction), channel-map (each at its place in the torus), \
                        time (load, latency and utilisation window by window). docs/figures.md shows them.")]
pub(super) struct Plot {
    /// Folders with results
    #[arg(required = true, value_name = "RESULTS")]
    results: Vec<PathBuf>,
    /// Folder for the figures; figures of the same name in it are replaced (LaTeX that was worked
    /// on is kept)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Title of the figures; "" for none [default: the result's; none for several]
    #[arg(long)]
    title: Option<String>,
    /// What the results are called in the legend, with commas between, in their order [default: the
    /// folders' names]
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', conflicts_with = "label")]
    labels: Vec<String>,
    /// The same, one result each time
    #[arg(long, value_name = "NAME")]
    label: Vec<String>,
    /// Width of the figures in in, mm, cm or pt [default: 3.5in]
    #[arg(long, value_name = "LENGTH")]
    width: Option<Length>,
    /// Height of plots [default: follows from the width]
    #[arg(long, value_name = "LENGTH")]
    height: Option<Length>,
    /// Size of the axes' titles; other letters follow [default: 8pt]
    #[arg(long, value_name = "LENGTH")]
    font_size: Option<Length>,
    #[command(flatten)]
    look: LookOptions,
    /// What is written: pgfplots is LaTeX with the data as a table [default: svg,pdf,png]
    #[arg(long, value_name = "FORMATS", value_delimiter = ',', value_parser = look::named(Format::NAMES))]
    format: Vec<Format>,
    /// Draw these kinds of figures only, or single ones, by their files' names: latency-p99
    /// [default: all that say something]
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = OnlyParser)]
    only: Vec<Only>,
    /// The load whose distributions, channels and windows are shown, or the nearest simulated
    /// [default: the highest steady one]
    #[arg(long, value_parser = load, allow_negative_numbers = true)]
    load: Option<f64>,
    /// The key of the sweep that scaling curves are over [default: the only one with numbers]
    #[arg(long, value_name = "KEY")]
    over: Option<String>,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The JSON object that `--json` prints.
#[derive(Serialize)]
struct Printed {
    figures: Vec<String>,
    /// LaTeX files that were left as they are.
    kept: Vec<String>,
}

impl Plot {
    pub(super) fn execute(self) -> Result<(), Failure> {
        if let Some(kept) =
            self.results.iter().map(|it| it.join(FIGURES_JSON)).find(|it| it.is_file())
        {
            return self.draw_again(&kept);
        }
        let all: Vec<Figures> = self.results.iter().map(|it| look::of_results(it)).collect();
        let single = self.results.len() == 1;
        // Of several results the keys of the first that has some; which series are shown each says
        // for itself.
        let own = all.iter().find(|figures| **figures != Figures::default());
        let mut own = own.cloned().unwrap_or_default();
        if !single {
            own.look.series.clear();
        }
        let sheet = self.sheet(own.sheet).map_err(Failure::input)?;
        let look = self.look.over(own.look).map_err(Failure::input)?;
        let labels = self.labels()?;
        let out = match (&self.out, &self.results[..]) {
            (Some(out), _) => out.clone(),
            (None, [only]) => only.clone(),
            (None, _) => {
                return Err(Failure::input(
                    "figures of several results need a folder of their own: add --out DIR",
                ));
            }
        };
        let mut results = Vec::new();
        for (folder, figures) in self.results.iter().zip(&all) {
            let mut rows = read(folder, &self.kinds(), self.load)?;
            if !single {
                choose(&mut rows, &figures.look.series);
            }
            results.push(rows);
        }
        let given = self.title.clone().or(own.title.filter(|_| single));
        let untitled = given.as_deref() == Some("");
        let title = given.unwrap_or_else(|| match &results[..] {
            [only] => {
                only.title.clone().unwrap_or_else(|| own_name(&self.results[0]).unwrap_or_default())
            }
            _ => String::new(),
        });
        if !single {
            self.check_common(&labels, &results, &look)?;
        }
        let mut rows = ResultRows::default();
        if let [only] = &mut results[..] {
            rows.bounds = std::mem::take(&mut only.bounds);
        }
        for (label, mut result) in labels.iter().zip(results) {
            if !single || !self.label.is_empty() || !self.labels.is_empty() {
                rename(&mut result, label);
            }
            rows.extend(result);
        }
        self.check_key(&rows)?;
        self.look.check_series(&look, &rows).map_err(Failure::input)?;
        for vain in self.look.vain_names(&rows) {
            say(&format!("note: {vain}"));
        }
        let wish = FigureRequest {
            untitled,
            title,
            medium: Medium { sheet, formats: self.formats(own.formats) },
            kinds: self.kinds(),
            own: components::own_figures(),
            names: self.only.iter().map(|only| only.name.clone()).collect(),
            load: self.load,
            over: self.over.clone(),
            look,
        };
        // The figures of one call stand together, not mixed with another's.
        let claim = Claim::wait(&out)?;
        let files = draw_all(&rows, &*claim, &wish)?;
        drop(claim);
        if files.written.is_empty() && files.kept.is_empty() {
            return Err(Failure::input(self.nothing(&rows)));
        }
        for (kind, columns) in self.absent(&rows) {
            let stems = files.written.iter().filter_map(|path| path.file_stem()?.to_str());
            if !{ stems }.any(|stem| FigureKind::names_stem(&kind, stem)) {
                say(&format!("note: no {} is drawn: {}", kind.name, no_columns(&columns)));
            }
        }
        if let Some(vain) = look::vain_limits(&self.look, &files.written) {
            say(&format!("note: {vain}"));
        }
        self.show(&files)
    }

    /// Draws the figures that a reproduction has kept.
    fn draw_again(&self, kept: &Path) -> Result<(), Failure> {
        let [folder] = &self.results[..] else {
            return Err(Failure::input(format!(
                "{} has figures of a reproduction, which share none with other results: draw it alone",
                kept.parent().unwrap_or(kept).display()
            )));
        };
        let look = self.look.over(FigureStyle::default()).map_err(Failure::input)?;
        let applied = FigureStyle {
            x: look.x,
            y: look.y,
            x_scale: look.x_scale,
            y_scale: look.y_scale,
            legend: look.legend,
            intervals: look.intervals,
            ..FigureStyle::default()
        };
        let of_rows = self.title.is_some()
            || !self.labels.is_empty()
            || !self.label.is_empty()
            || !self.only.is_empty()
            || self.load.is_some()
            || self.over.is_some();
        if of_rows || applied != look {
            return Err(Failure::input(
                "figures of a reproduction keep their titles, curves and names: what can be chosen is \
                 --width, --height, --font-size, --format, --out, limits and scales of axes, the \
                 legend's place and intervals",
            ));
        }
        let text = read_text(kept);
        let text = text.map_err(FileError::read(kept)).map_err(Failure::input)?;
        let figures = serde_json::from_str(&text).map_err(|cause| {
            Failure::input(format!("{} can't be read: {cause}", kept.display()))
        })?;
        let medium = Medium {
            sheet: self.sheet(Sheet::default()).map_err(Failure::input)?,
            formats: self.formats(None),
        };
        let claim = Claim::wait(self.out.as_ref().unwrap_or(folder))?;
        let files = draw_kept(figures, &claim, &applied, &medium)?;
        drop(claim);
        self.show(&files)
    }

    fn formats(&self, own: Option<Vec<Format>>) -> Vec<Format> {
        let usual = || own.unwrap_or_else(|| Medium::default().formats);
        if self.format.is_empty() { usual() } else { self.format.clone() }
    }

    /// The size of the figures: what is asked for, else that of the results.
    fn sheet(&self, sheet: Sheet) -> Result<Sheet, String> {
        let sheet = self.width.map_or(Ok(sheet), |width| sheet.with_width(width))?;
        let sheet = self.font_size.map_or(Ok(sheet), |size| sheet.with_font_size(size))?;
        self.height.map_or(Ok(sheet), |height| sheet.with_height(height))
    }

    fn show(&self, files: &Files) -> Result<(), Failure> {
        let text = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().map(|path| path.display().to_string()).collect()
        };
        for path in &files.kept {
            say(&format!(
                "note: {} has been worked on and is kept; remove it to have it written anew",
                path.display()
            ));
        }
        if self.json {
            return print_json(&Printed { figures: text(&files.written), kept: text(&files.kept) });
        }
        text(&files.written).iter().try_for_each(|path| print_text(&format!("{path}\n")))
    }

    /// A name for each result.
    fn labels(&self) -> Result<Vec<String>, Failure> {
        let given = if self.label.is_empty() { &self.labels } else { &self.label };
        let given: Vec<String> = given.iter().map(|label| label.trim().to_owned()).collect();
        if given.is_empty() {
            return self.names();
        }
        if given.len() != self.results.len() {
            return Err(Failure::input(format!(
                "{} for {}: give each result one, in their order",
                counted(given.len(), "label"),
                counted(self.results.len(), "result")
            )));
        }
        match repeated(&given) {
            Some(label) => Err(Failure::input(format!(
                "two results have the label `{label}`: their curves could not be told apart"
            ))),
            None => Ok(given),
        }
    }

    /// The folders' names, or the whole paths if two have the same name.
    fn names(&self) -> Result<Vec<String>, Failure> {
        let names: Vec<String> =
            self.results.iter().map(|folder| own_name(folder).unwrap_or_default()).collect();
        if repeated(&names).is_none() {
            return Ok(names);
        }
        let paths: Vec<String> =
            self.results.iter().map(|folder| folder.display().to_string()).collect();
        match repeated(&paths) {
            Some(path) => Err(Failure::input(format!("{path} is given twice"))),
            None => Ok(paths),
        }
    }

    /// Says which keys there are, if another is asked for.
    fn check_key(&self, rows: &ResultRows) -> Result<(), Failure> {
        let Some(key) = &self.over else { return Ok(()) };
        let keys = numeric_keys(&rows.points);
        if keys.contains(key) {
            return Ok(());
        }
        let known = if keys.is_empty() {
            "these results have no such key (a sweep has: see [sweep.grid])".to_owned()
        } else {
            format!("there is {}", keys.join(", "))
        };
        Err(Failure::input(format!(
            "no scaling curve can be over {key}: it takes numbers in a sweep; {known}"
        )))
    }

    /// Whether some figure has curves of two results; otherwise, how they get into one.
    fn check_common(
        &self,
        labels: &[String],
        results: &[ResultRows],
        look: &FigureStyle,
    ) -> Result<(), Failure> {
        let mut having: BTreeMap<(&str, String), usize> = BTreeMap::new();
        let mut texts = Vec::new();
        for (label, result) in labels.iter().zip(results) {
            let mut own: Vec<(&str, String)> = Vec::new();
            for row in &result.points {
                let what = match row.measured.completion_time {
                    Some(_) => "completion times",
                    None => "load curves",
                };
                let key = (what, look.renamed(&row.label.figure));
                if !own.contains(&key) {
                    own.push(key);
                }
            }
            let text = |(what, figure): &(&str, String)| match figure.as_str() {
                "" => (*what).to_owned(),
                figure => format!("{what} of {figure}"),
            };
            let all: Vec<String> = own.iter().map(text).collect();
            texts.push(format!("{label} has {}", all.join(", ")));
            own.into_iter().for_each(|key| *having.entry(key).or_default() += 1);
        }
        if having.values().any(|&results| results > 1) {
            return Ok(());
        }
        let mut kinds: Vec<&str> = having.keys().map(|key| key.0).collect();
        kinds.dedup();
        let way = if kinds.len() == 1 {
            // The files share a name, under different figures' names.
            let names = having.keys().filter(|key| !key.1.is_empty());
            let names = names.map(|key| format!("--name '{}=same'", key.1.replace('\'', "'\\''")));
            let mut names: Vec<String> = names.collect();
            if having.keys().any(|key| key.1.is_empty()) {
                names.iter_mut().for_each(|name| *name = name.replace("=same'", "='"));
            }
            format!("to have them in one figure, add {}", names.join(" "))
        } else {
            let each = self.results.iter().map(|it| format!("flitlab plot {}", it.display()));
            format!("draw each by itself: {}", each.collect::<Vec<_>>().join("; "))
        };
        Err(Failure::input(format!(
            "these results have nothing in common to draw: {}\n{way}",
            texts.join("; ")
        )))
    }

    /// The kinds of figures that were asked for, each once.
    fn kinds(&self) -> Vec<Row<FigureKind>> {
        let mut kinds: Vec<Row<FigureKind>> = Vec::new();
        for only in &self.only {
            if !kinds.contains(&only.kind) {
                kinds.push(only.kind);
            }
        }
        kinds
    }

    /// Kinds of figures that were to be drawn, and the columns that results of an earlier version
    /// lack for them.
    fn absent(&self, rows: &ResultRows) -> Vec<(Row<FigureKind>, Vec<&'static str>)> {
        let kinds = if self.only.is_empty() { components::rows() } else { self.kinds() };
        let kinds = kinds.into_iter().map(|kind| (kind, FigureKind::absent(&kind, rows)));
        kinds.filter(|(_, columns)| !columns.is_empty()).collect()
    }

    /// Why there are no figures.
    fn nothing(&self, rows: &ResultRows) -> String {
        if let Some((kind, columns)) = self.absent(rows).first() {
            return format!("there is nothing to draw for {}: {}", kind.name, no_columns(columns));
        }
        let has = |some: fn(&Point) -> bool| rows.points.iter().any(some);
        let missing: Vec<&str> = [
            (FigureKind::DISTRIBUTION, "latencies.csv", !has(|point| !point.latencies.is_empty())),
            (FigureKind::TIME, "windows.csv", !has(|point| !point.windows.is_empty())),
            (FigureKind::CHANNELS, "channels.csv", !has(|point| !point.channels.is_empty())),
            (FigureKind::CHANNEL_MAP, "channels.csv", !has(|point| !point.channels.is_empty())),
        ]
        .into_iter()
        .filter(|(kind, _, missing)| *missing && self.kinds().contains(kind))
        .map(|(_, file, _)| file)
        .collect();
        let kinds: Vec<&str> = self.only.iter().map(|only| only.name.as_str()).collect();
        match (kinds.is_empty(), missing.first()) {
            (true, _) => "there is nothing to draw in these results".into(),
            (false, Some(file)) => format!(
                "there is nothing to draw for {}: the results have no {file} (runs and sweeps of this \
                 version of flitlab write it)",
                kinds.join(", ")
            ),
            (false, None) => {
                let needs =
                    self.only.iter().map(|only| format!("\n  {}: {}", only.name, only.kind.needs));
                format!(
                    "there is nothing to draw for {} in these results; what it takes:{}",
                    kinds.join(", "),
                    needs.collect::<String>()
                )
            }
        }
    }
}

fn no_columns(names: &[&str]) -> String {
    let column = if names.len() == 1 { "column" } else { "columns" };
    format!("points.csv has no {column} {}", names.join(", "))
}

/// Reads what the figures of these kinds show, or of all; channels at this load.
fn read(folder: &Path, only: &[Row<FigureKind>], load: Option<f64>) -> Result<ResultRows, Failure> {
    let points = folder.join("points.csv");
    if !points.is_file() {
        return Err(Failure::Input(no_results(folder)));
    }
    let nothing = || {
        Failure::input(format!(
            "{} has no points, so there is nothing to draw: its run or sweep was stopped before the first, or goes \
             on",
            points.display()
        ))
    };
    if fs::metadata(&points).is_ok_and(|file| file.len() == 0) {
        return Err(nothing());
    }
    let note = |note: String| say(&format!("warning: {note}"));
    let unreadable = |error: ReportError| Failure::Input(unreadable(&error));
    let mut rows = ResultRows::read_without_channels(folder, note).map_err(unreadable)?;
    // Of studies these are most of what there is, and a figure shows those of one point.
    let of_channels = [FigureKind::CHANNELS, FigureKind::CHANNEL_MAP];
    if only.iter().any(|kind| !FIGURES.contains(kind)) {
        // What such a kind looks at is not known.
        rows.read_channels(folder, note).map_err(unreadable)?;
    } else if only.is_empty() || only.iter().any(|kind| of_channels.contains(kind)) {
        let have = rows.have_channels(folder).map_err(unreadable)?;
        let shown = points_shown(&rows.points, &have, load);
        rows.read_channels_of(folder, &shown, note).map_err(unreadable)?;
    }
    if rows.points.is_empty() && rows.saturation.is_empty() {
        return Err(nothing());
    }
    Ok(rows)
}

/// A kind of figures, or one figure of it.
#[derive(Clone, Debug)]
struct Only {
    kind: Row<FigureKind>,
    /// The kind's name, or that of the figure's file without its ending.
    name: String,
}

/// Reads the names of kinds, which help lists, and those of single figures.
#[derive(Clone)]
struct OnlyParser;

impl OnlyParser {
    fn kinds() -> PossibleValuesParser {
        PossibleValuesParser::new(components::rows::<FigureKind>().iter().map(|kind| kind.name))
    }
}

impl TypedValueParser for OnlyParser {
    type Value = Only;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Only, clap::Error> {
        let text = value.to_str().unwrap_or_default();
        let kinds = components::rows::<FigureKind>();
        let named = kinds.iter().find(|kind| kind.name == text);
        // The longest name is that of the figure's own kind.
        let begins = kinds.iter().filter(|kind| FigureKind::names_stem(kind, text));
        let kind = named.or_else(|| begins.max_by_key(|kind| kind.name.len()));
        match kind {
            Some(kind) => Ok(Only { kind: *kind, name: text.to_owned() }),
            None => Err(Self::kinds()
                .parse_ref(command, argument, value)
                .expect_err("it is the name of no kind")),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let kinds = components::rows::<FigureKind>();
        Some(Box::new(kinds.into_iter().map(|kind| PossibleValue::new(kind.name))))
    }
}

/// A load to look for among those simulated.
fn load(text: &str) -> Result<f64, String> {
    let load = text.parse::<f64>().ok().filter(|load| load.is_finite() && *load > 0.0);
    load.ok_or_else(|| "write a load such as 0.3".into())
}

/// Puts a result's label in front of its series, or in their place if there is one series only.
fn rename(result: &mut ResultRows, label: &str) {
    let first = result.labels().next().map(|label| label.series.clone()).unwrap_or_default();
    let single = result.labels().all(|label| label.series == first);
    for Label { series, .. } in result.labels() {
        *series = if single || series.is_empty() {
            label.to_owned()
        } else {
            format!("{label}, {series}")
        };
    }
}
