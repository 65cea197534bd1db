//! How figures look: options, and what the results' scenario says.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::cli::components;
use flitlab::report::ResultRows;
use flitlab::report::figure::{
    FigureStyle, Intervals, LegendPlace, Limit, Limits, LoadsIn, Scale, SeriesStyle, Tail,
    TimeUnit, short_name,
};
use flitlab::scenario::{Document, Figures, Sweep};

/// The look of figures; what is not given is as the scenario's [sweep.figures] says.
#[derive(Debug, Args)]
#[command(next_help_heading = "Look of the figures")]
pub(super) struct LookOptions {
    /// Ends of x axes, either may be left out: 0:0.6, 0.1:
    #[arg(long, value_name = "FROM:TO", allow_hyphen_values = true)]
    x: Option<Limits>,
    /// Ends of y axes: 200ns:20us is for axes of time, 0:0.8 for others; how far bars go
    #[arg(long, value_name = "FROM:TO", allow_hyphen_values = true)]
    y: Option<Limits>,
    /// Axes that are logarithmic: x, y or x,y
    #[arg(long, value_name = "AXES", value_delimiter = ',', value_parser = ["x", "y"])]
    log: Vec<String>,
    /// Axes that are not, where they would be
    #[arg(long, value_name = "AXES", value_delimiter = ',', value_parser = ["x", "y"])]
    linear: Vec<String>,
    /// What all times are counted in [default: what suits each figure]
    #[arg(long, value_name = "UNIT", value_parser = named(TimeUnit::NAMES))]
    unit: Option<TimeUnit>,
    /// What loads are counted in: fractions of capacity, or payload in GB/s a node
    #[arg(long, value_name = "WHAT", value_parser = named(LoadsIn::NAMES))]
    loads: Option<LoadsIn>,
    /// Show this series, as the legend calls it; several times: these, in this order
    #[arg(long, value_name = "NAME")]
    series: Vec<String>,
    /// Write NEW for a series, or a part of its name, that is called OLD; may be given several
    /// times
    #[arg(long, value_name = "OLD=NEW", value_parser = renaming)]
    name: Vec<(String, String)>,
    /// Colour, marker and dashes of a series, as many of them as are to be fixed; may be given
    /// several times
    #[arg(long, value_name = "NAME=STYLE", value_parser = style)]
    style: Vec<(String, SeriesStyle)>,
    /// Percentile of the latency that is drawn beside its mean [default: 99]
    #[arg(long, value_name = "PERCENT", value_parser = named(Tail::NAMES))]
    percentile: Option<Tail>,
    /// Where the legend is: best is the first corner without curves, or else below
    #[arg(long, value_name = "PLACE", value_parser = named(LegendPlace::NAMES))]
    legend: Option<LegendPlace>,
    /// How confidence intervals are drawn
    #[arg(long, value_name = "FORM", value_parser = named(Intervals::NAMES))]
    intervals: Option<Intervals>,
    /// Put figures of one kind into one, as panels with the same axes, latency above accepted load
    #[arg(long)]
    panels: bool,
}

/// One of some words.
pub(super) fn named<T, const N: usize>(
    all: [(T, &'static str); N],
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let value = move |word: String| all.into_iter().find(|row| row.1 == word).map(|row| row.0);
    PossibleValuesParser::new(all.map(|row| row.1))
        .map(move |word| value(word).expect("a possible value"))
}

fn renaming(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() => Ok((old.into(), new.into())),
        _ => Err("write OLD=NEW, such as 'matrix file halo.csv=halo exchange'".into()),
    }
}

fn style(text: &str) -> Result<(String, SeriesStyle), String> {
    match text.rsplit_once('=') {
        Some((name, style)) if !name.is_empty() => Ok((name.into(), style.parse()?)),
        _ => Err(format!("write NAME=STYLE, such as 'ABR={}'", SeriesStyle::EXAMPLE)),
    }
}

impl LookOptions {
    /// These options over a look: what is given here counts.
    pub(super) fn over(&self, look: FigureStyle) -> Result<FigureStyle, String> {
        let scale = |axis: &str, own: Option<Scale>| {
            let in_list = |list: &[String]| list.iter().any(|other| other == axis);
            match (in_list(&self.log), in_list(&self.linear)) {
                (true, true) => Err(format!("the {axis} axis is either logarithmic or linear")),
                (true, false) => Ok(Some(Scale::Logarithmic)),
                (false, true) => Ok(Some(Scale::Linear)),
                (false, false) => Ok(own),
            }
        };
        let (x, y) = (self.x.unwrap_or(look.x), self.y.unwrap_or(look.y));
        let (x_scale, y_scale) = (scale("x", look.x_scale)?, scale("y", look.y_scale)?);
        for (axis, limits, scale) in [("x", x, x_scale), ("y", y, y_scale)] {
            if scale == Some(Scale::Logarithmic) && limits.has_no_logarithm() {
                return Err(format!(
                    "a logarithmic {axis} axis has no 0: leave out the lower end of --{axis}, or give one above 0"
                ));
            }
        }
        let or = |given: &[String], own: Vec<String>| {
            if given.is_empty() { own } else { given.to_vec() }
        };
        Ok(FigureStyle {
            x,
            y,
            x_scale,
            y_scale,
            unit: self.unit.or(look.unit),
            loads: self.loads.unwrap_or(look.loads),
            series: or(&self.series, look.series),
            names: self.name.iter().cloned().chain(look.names).collect(),
            styles: self.style.iter().cloned().chain(look.styles).collect(),
            percentile: self.percentile.unwrap_or(look.percentile),
            legend: self.legend.unwrap_or(look.legend),
            intervals: self.intervals.unwrap_or(look.intervals),
            panels: self.panels || look.panels,
        })
    }

    /// Says which series there are, if another is asked for.
    pub(super) fn check_series(&self, look: &FigureStyle, rows: &ResultRows) -> Result<(), String> {
        // The scenario may give styles to series that the results do not have yet.
        let given = FigureStyle {
            styles: self.style.clone(),
            names: look.names.clone(),
            ..FigureStyle::default()
        };
        let labels = rows.points.iter().map(|point| &point.label);
        let mut known: Vec<String> = Vec::new();
        for label in labels {
            let short = short_name(&label.series, &label.figure);
            if !known.contains(&short) {
                known.push(short);
            }
        }
        let full = |name: &String| rows.points.iter().any(|point| point.label.series == *name);
        let shown = look.series.iter().find(|name| !known.contains(name) && !full(name));
        let labels = rows.points.iter().map(|point| point.label.series.as_str());
        match shown.map(String::as_str).or(given.unknown_styles(labels).first().copied()) {
            Some(name) => {
                let names: Vec<String> = known.iter().map(|name| format!("  {name}")).collect();
                Err(format!(
                    "there is no series `{name}` in these results; there are\n{}",
                    names.join("\n")
                ))
            }
            None => Ok(()),
        }
    }

    /// Says which new names are for nothing that these results have.
    pub(super) fn vain_names(&self, rows: &ResultRows) -> Vec<String> {
        let labels = || rows.points.iter().map(|point| &point.label);
        let has = |old: &str| {
            labels().any(|label| {
                [&label.series, &label.figure]
                    .iter()
                    .any(|name| *name == old || name.split(", ").any(|part| part == old))
            })
        };
        let vain = self.name.iter().filter(|(old, _)| !has(old));
        vain.map(|(old, _)| {
            format!("nothing in these results is called `{old}`, so it gets no other name")
        })
        .collect()
    }
}

/// Returns the figure settings in the scenario of a folder of results.
pub(super) fn of_results(folder: &Path) -> Figures {
    let document = components::open(&folder.join("scenario.toml"));
    let document = document.ok().filter(Document::has_sweep);
    document.map_or_else(Figures::default, |document| Sweep::figures(&document))
}

/// Says that ends without a unit are for no axis of time, if they can hardly be meant for another.
pub(super) fn vain_limits(options: &LookOptions, drawn: &[PathBuf]) -> Option<String> {
    let stems = drawn.iter().filter_map(|path| path.file_stem()?.to_str());
    let of_time = ["latency", "percentiles", "completion"];
    let times = stems.filter(|stem| of_time.iter().any(|kind| stem.starts_with(kind))).count();
    match options.y?.high? {
        Limit::Number(high) if times > 0 && high > 10.0 => Some(format!(
            "--y {} has no unit, so it is for no axis of time: write for example --y 100ns:10us",
            options.y?
        )),
        _ => None,
    }
}
