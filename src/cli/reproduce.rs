//! `flitlab reproduce`: published results computed again, beside the published values.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::COMMIT;
use super::again::again;
use super::folder::{Claim, Output};
use super::interrupt::Interrupt;
use super::progress::Bar;
use super::say::say;
use super::summary::{print_json, print_text};
use super::threads::Threads;
use super::{Failure, folder, slow_build};
use flitlab::report::figure::FIGURES_JSON;
use flitlab::reproduce::{
    Extent, Flawed, Kept, Outflank, PRINTED, PathSelectionFigure, PathSelectionTable, Progress,
    Record, Reproduction, Simulations, angara_collectives, angara_day, angara_figure_4,
    angara_figure_5, angara_figure_6, angara_table_2, angara_table_3, bounds, dragonfly_ugal,
    ember_torus, hyperx_omniwar, nue_faults, nue_runtime, nue_throughput, outflank,
    outflank_angara, outflank_sizes, path_selection, path_selection_figure, path_selection_runtime,
    slim_fly,
};

/// Compute a published result again and print it beside the published values
///
/// Leaves CSV and figures in results/NAME.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab reproduce angara-table2\n  \
                        flitlab reproduce angara-fig5 --quick")]
pub(super) struct Reproduce {
    result: Published,
    /// Compute a sample, or small networks, in seconds to minutes
    #[arg(long)]
    quick: bool,
    /// Go on where an interrupted run of the same stopped, or make anew what --out names: what has
    /// been simulated for it is not simulated again
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Published {
    /// Angara routing tables of parts of Desmos (Mukosey et al., Table 2)
    AngaraTable2,
    /// NAS Parallel Benchmarks on Desmos under the tables of three algorithms (Table 3)
    AngaraTable3,
    /// How often SSSP searches, on 1,571 tori (Figure 4)
    AngaraFig4,
    /// Loads and run times of all algorithms on 1,571 tori (Figure 5)
    AngaraFig5,
    /// Four communication patterns on parts of Desmos under each table, in all that their names may
    /// mean (Figure 6): ten minutes; an interrupted run goes on by --resume
    AngaraFig6,
    /// Operations of the collective subnetwork beside the same by messages, over size and nodes
    AngaraCollectives,
    /// A day of jobs on 256 nodes: their nodes by three rules, their tables, how they slow each other
    AngaraDay,
    /// What rules that choose sustain beside what their ways allow, on three fabrics
    Bounds,
    /// OutFlank Routing: maximum sustained loads (Versaci, Table 2)
    OutflankTable2,
    /// Shares of packets that were derouted (Table 3)
    OutflankTable3,
    /// Mean packet lifetimes over load (Figure 4): some six hours of CPU, with --quick half of one;
    /// an interrupted run goes on by --resume
    OutflankFig4,
    /// Share of derouted packets over load, butterfly (Figure 5)
    OutflankFig5,
    /// Whether OutFlank Routing gains with the network: tori of up to 32,768 nodes and six dimensions,
    /// two hours of CPU; an interrupted run goes on by --resume
    OutflankSizes,
    /// The same comparison on the Angara router, in three and four dimensions
    OutflankAngara,
    /// Which algorithms route 25 tori with 1% of the cables failed, and how fast (Domke et al.,
    /// Nue)
    NueFaults,
    /// Throughput of all-to-all exchanges on the slides' seven fabrics, under Nue and OpenSM's
    /// algorithms
    NueThroughput,
    /// Throughput of selected paths on 16 switches, one virtual channel (Koibuchi et al., Figure 4)
    PathSelectionFig4,
    /// The same with five virtual channels, under Up*/Down* and UDWM (Figure 5)
    PathSelectionFig5,
    /// The same on an 8x8 torus, with one and five (Figure 6)
    PathSelectionFig6,
    /// How the torus' channels are used at these throughputs (Figure 7)
    PathSelectionFig7,
    /// Run times of path selections over the number of switches (section 2)
    PathSelectionRuntime,
    /// Run times of all algorithms on the slides' seven fabrics and over the size of a torus
    NueRuntime,
    /// Spread of paths over irregular networks by path selection, one virtual channel (Koibuchi et
    /// al., Table 2)
    PathSelectionTable2,
    /// The same with five virtual channels, under Up*/Down* and UDWM (Table 3)
    PathSelectionTable3,
    /// Spread of paths over an 8x8 torus (Table 4)
    PathSelectionTable4,
    /// Minimal routing, Valiant's and UGAL on a Dragonfly of 1,056 terminals (Kim et al.)
    DragonflyUgal,
    /// Minimal routing, Valiant's and UGAL on a Slim Fly of 10,830 terminals (Besta and Hoefler)
    Slimfly,
    /// SST's Ember motifs on tori, beside the times that SST's tests expect
    EmberTorus,
    /// `DimWAR`, `OmniWAR` and others on a HyperX of 4,096 terminals (McDonald et al.)
    HyperxOmniwar,
}

impl Published {
    /// The reproduction of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        <Self as ValueEnum>::from_str(name, false).ok()
    }

    pub(super) fn compute(
        self,
        extent: Extent<'_>,
        progress: Progress<'_>,
    ) -> Result<Reproduction, Flawed> {
        let spread = |table, progress: Progress<'_>| path_selection(table, extent, progress);
        let paths =
            |figure, progress: Progress<'_>| path_selection_figure(figure, extent, progress);
        match self {
            Self::AngaraTable2 => angara_table_2(),
            Self::AngaraTable3 => Ok(angara_table_3(extent, progress)),
            Self::AngaraFig4 => Ok(angara_figure_4(extent, progress)),
            Self::AngaraFig5 => angara_figure_5(extent, progress),
            Self::AngaraFig6 => Ok(angara_figure_6(extent, progress)),
            Self::AngaraCollectives => Ok(angara_collectives(extent, progress)),
            Self::AngaraDay => angara_day(extent, progress),
            Self::Bounds => Ok(bounds(extent, progress)),
            Self::OutflankTable2 => Ok(outflank(Outflank::Table2, extent, progress)),
            Self::OutflankTable3 => Ok(outflank(Outflank::Table3, extent, progress)),
            Self::OutflankFig4 => Ok(outflank(Outflank::Figure4, extent, progress)),
            Self::OutflankFig5 => Ok(outflank(Outflank::Figure5, extent, progress)),
            Self::OutflankSizes => Ok(outflank_sizes(extent, progress)),
            Self::OutflankAngara => Ok(outflank_angara(extent, progress)),
            Self::NueFaults => nue_faults(extent, progress),
            Self::NueThroughput => nue_throughput(extent, progress),
            Self::PathSelectionFig4 => paths(PathSelectionFigure::Figure4, progress),
            Self::PathSelectionFig5 => paths(PathSelectionFigure::Figure5, progress),
            Self::PathSelectionFig6 => paths(PathSelectionFigure::Figure6, progress),
            Self::PathSelectionFig7 => paths(PathSelectionFigure::Figure7, progress),
            Self::PathSelectionRuntime => path_selection_runtime(extent, progress),
            Self::NueRuntime => nue_runtime(extent, progress),
            Self::PathSelectionTable2 => spread(PathSelectionTable::Table2, progress),
            Self::PathSelectionTable3 => spread(PathSelectionTable::Table3, progress),
            Self::PathSelectionTable4 => spread(PathSelectionTable::Table4, progress),
            Self::DragonflyUgal => dragonfly_ugal(extent, progress),
            Self::Slimfly => slim_fly(extent, progress),
            Self::EmberTorus => Ok(ember_torus(extent, progress)),
            Self::HyperxOmniwar => hyperx_omniwar(extent, progress),
        }
    }
}

/// The JSON object that `--json` prints.
#[derive(Serialize)]
struct Printed<'n> {
    reproduced: &'n str,
    quick: bool,
    results: String,
    /// A list, or lists by their names, of what goes into the CSV files.
    rows: serde_json::Value,
}

impl Reproduce {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let name = self.result.to_possible_value().expect("no value is hidden");
        let out = self.place(name.get_name())?;
        let cannot = |cause| Failure::Run(format!("can't write {}: {cause}", out.display()));
        slow_build::mention();
        let quick = if self.quick { " --quick" } else { "" };
        let command = format!("flitlab reproduce {}{quick}", name.get_name());
        let kept = Arc::new(Kept::open(&out, &command, COMMIT)?);
        let threads = self.threads.count();
        let extent = Extent { quick: self.quick, threads, simulations: Simulations::Kept(&kept) };
        let bar: Arc<OnceLock<Bar>> = Arc::default();
        let interrupt = Interrupt::watch({
            let (bar, kept) = (bar.clone(), kept.clone());
            let again = again(&self.output, self.resume, &out);
            let out = out.to_path_buf();
            move || {
                bar.get().inspect(|bar| bar.finish());
                Claim::release(&out);
                farewell(&kept, &again);
            }
        })?;
        let progress: Progress<'_> = &mut |_, all, note| {
            let bar = bar.get_or_init(|| Bar::of_sweep(all));
            if !note.is_empty() {
                bar.above(|| say(note));
            }
            bar.one_done();
        };
        let found = self.result.compute(extent, progress);
        let found = found.map_err(|flaw| Failure::Check(format!("error: {flaw}")))?;
        bar.get().inspect(|bar| bar.finish());
        let _whole = interrupt.hold();
        for (name, table) in &found.tables {
            folder::write(&out.join(name).with_extension("csv"), table)?;
        }
        for (name, figure) in &found.figures {
            figure.write_to(&out, name, &self.output.medium())?;
        }
        if !found.figures.is_empty() {
            let figures = serde_json::to_string(&found.figures).expect("figures are data");
            folder::write(&out.join(FIGURES_JSON), &(figures + "\n"))?;
        }
        folder::write(&out.join(PRINTED), &found.text)?;
        let record = kept.record(name.get_name(), self.quick, env!("CARGO_PKG_VERSION"));
        record.write(&out).map_err(|error| Failure::Run(error.to_string()))?;
        kept.clear().map_err(cannot)?;
        if self.output.json {
            let (reproduced, quick) = (name.get_name(), self.quick);
            let results = out.display().to_string();
            return print_json(&Printed { reproduced, quick, results, rows: found.json });
        }
        print_text(&format!("{}results in {}\n", found.text, out.display()))
    }

    /// The folder of an interrupted run, if one is to go on, or a new one.
    fn place(&self, name: &str) -> Result<Claim, Failure> {
        let asked = self.output.out.as_deref();
        let folders =
            asked.map_or_else(|| folder::numbered(name), |folder| vec![folder.to_path_buf()]);
        let is_made_anew = |folder: &Path| self.resume && asked.is_some() && Record::is_in(folder);
        let goes_on = |folder: &PathBuf| Kept::is_in(folder) || is_made_anew(folder);
        let mut unfinished = folders.into_iter().filter(goes_on);
        match (unfinished.next(), unfinished.next()) {
            (Some(folder), _) if !self.resume && asked.is_some() => Err(Failure::input(format!(
                "{} has what an interrupted run has simulated: go on with it by --resume, or name another \
                 folder with --out",
                folder.display()
            ))),
            (Some(folder), _) if !self.resume => {
                let unfinished = folder.display();
                say(&format!("note: {unfinished} is unfinished; --resume would go on with it"));
                folder::prepare(name, asked)
            }
            (Some(folder), None) => {
                let claim = Claim::take(&folder)?.ok_or_else(|| folder::busy(&folder))?;
                folder::remove_half_written(&claim);
                Ok(claim)
            }
            (Some(one), Some(other)) => Err(Failure::input(format!(
                "{} and {} are both unfinished: say with --out which to go on with",
                one.display(),
                other.display()
            ))),
            (None, _) => {
                let folder = folder::prepare(name, asked)?;
                if self.resume {
                    let place = folder.display();
                    say(&format!("note: nothing to resume, so this begins in {place}"));
                }
                Ok(folder)
            }
        }
    }
}

/// Says how an interrupted reproduction goes on, if anything is kept.
fn farewell(kept: &Kept, again: &str) {
    if let Some(cause) = kept.failure() {
        say(&format!("warning: not all that was simulated could be kept: {cause}"));
    }
    match kept.count() {
        0 => _ = kept.clear(),
        count => {
            say(&format!("interrupted; simulations that are finished and kept: {count}"));
            say(&format!("go on with\n    {again}"));
        }
    }
}
