//! `flitlab route`: makes a routing table, says how good it is, and proves it.

mod angara;
mod angara_report;
mod arrays;
mod choose;
mod comparison;
mod detours;
mod dump;
mod forwarding;
mod forwarding_report;
mod graph;
mod look;
mod pair;
mod traffic;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::input::Input;
use super::same_file::is_same;
use super::say::say;
use super::summary::{print_json, print_text};
use super::threads::Threads;
use super::{Failure, components, folder, program};
use flitlab::InvalidLine;
use flitlab::registry::Row;
use flitlab::report::figure::{Medium, load_heat_map, load_histogram};
use flitlab::report::{LoadRow, Table, rows_text};
use flitlab::routing::MAX_VCS;
use flitlab::scenario::{Network, OpenSmTable, RoutingSpec};
use flitlab::tables::{LoadFigures, MAX_POWER, TableFile, agnostic, angara as tables, deviation};
use flitlab::topology::{Channel, Fabric};
use flitlab::traces::formats::{self, Beginning, FileKind};

/// Flaws of a table, and sources of unroutable pairs, that are listed; the others are counted.
const SHOWN: usize = 10;

/// Make a routing table, show how good it is, and prove it
///
/// Needs the scenario's [topology] only: a torus for Angara's algorithms, any fabric for the
/// others. Also checks tables that were saved, and those of OpenSM: that every pair has a way, and
/// whether packets can wait for each other for ever.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    flitlab route scenarios/desmos/desmos.toml --algorithm balanced --save desmos.routes\n  \
    flitlab route scenarios/desmos/desmos.toml --traffic --set traffic.pattern=tornado --save t.routes\n  \
    flitlab route scenarios/desmos/desmos.toml --algorithm nue --lanes 4\n  \
    flitlab route scenarios/nue/kautz.toml --compare --lanes 4\n  \
    flitlab route scenarios/desmos/desmos.toml --algorithm sssp --out figures\n  \
    flitlab route scenarios/desmos/desmos.toml --pair 0,0,0,0 2,1,0,0\n  \
    flitlab route scenarios/desmos/desmos.toml --choose 8 --free free.txt\n  \
    flitlab route --check desmos.routes\n  \
    flitlab route --check opensm-lfts.dump --netlist fabric.net\n\n\
    Exit code 4: a pair has no route, packets can deadlock, or the table has another flaw.")]
#[group(skip)]
pub(super) struct Route {
    #[command(flatten)]
    input: Option<Input>,
    /// What makes the table; if not given, what the scenario's [routing] names, else balanced on a
    /// torus and what a scenario of that fabric takes by itself elsewhere. `sssp` is Angara's on a
    /// torus, unless the scenario has [routing.agnostic]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(names()))]
    algorithm: Option<String>,
    /// Make the table of every algorithm for any fabric, and print how good each is, a line each: what
    /// the proof found, the paths on the fullest channel, the bound, hops, virtual channels, time.
    /// With --out as algorithms.csv, too
    #[arg(long, conflicts_with_all = ["check", "algorithm", "partition", "traffic", "save", "sigma",
                                      "pair", "graph", "detours", "choose", "allow_partial"])]
    compare: bool,
    /// Virtual channels that the algorithm may use [default: the scenario's, else 8]
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u8).range(1..=i64::from(MAX_VCS)))]
    lanes: Option<u8>,
    /// How nue and nue-balanced part the destinations among the virtual channels [default: the
    /// scenario's, else near]
    #[arg(long, value_enum)]
    partition: Option<Partition>,
    /// Make the table for what the scenario's workloads send, with balanced or exact: each pair counts
    /// with its bytes, so that the fullest channel carries as little of them as possible
    #[arg(long, conflicts_with = "check")]
    traffic: bool,
    /// Write the table: to this file, if it is Angara's, else to files of OpenSM in this folder,
    /// with the fabric as a netlist
    #[arg(long, value_name = "PATH", group = "written")]
    save: Option<PathBuf>,
    /// Check this table: a file of Angara's routes, an `opensm-lfts.dump`, or a folder with one
    #[arg(long, value_name = "PATH",
          conflicts_with_all = ["path", "set", "algorithm", "lanes", "partition", "save"])]
    check: Option<PathBuf>,
    /// Replace the table that --save names, or the drawing that --graph names, if there is one
    #[arg(long, requires = "written")]
    force: bool,
    #[command(flatten)]
    dump: dump::Files,
    /// Accept pairs without a route: write, or check, the rest
    #[arg(long)]
    allow_partial: bool,
    /// Folder for the load of every channel: loads.csv, a histogram, on a torus a heat map
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also give sigma(K), the K-th root of the mean K-th power of the deviations from the perfect
    /// load
    #[arg(long, value_name = "K",
          value_parser = clap::value_parser!(u8).range(1..=i64::from(MAX_POWER)))]
    sigma: Option<u8>,
    #[command(flatten)]
    choose: choose::Choose,
    #[command(flatten)]
    look: look::Look,
    #[command(flatten)]
    threads: Threads,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// How destinations are parted among virtual channels, by its name in scenarios.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Partition {
    /// Those near each other together
    Near,
    /// In turn
    InTurn,
}

/// The algorithms by their names in scenarios, each once.
fn names() -> Vec<&'static str> {
    let of_angara = components::rows::<tables::Algorithm>().into_iter();
    let mut names: Vec<&str> = of_angara.map(|algorithm| algorithm.name).collect();
    let others = components::rows::<agnostic::Algorithm>().into_iter().map(|it| it.name);
    let others: Vec<&str> = others.filter(|name| !names.contains(name)).collect();
    names.extend(others);
    names
}

/// The algorithm that makes a table, or the table that the scenario names.
enum Maker<'n> {
    Angara(Row<tables::Algorithm>, tables::Parameters),
    Agnostic(Row<agnostic::Algorithm>, agnostic::Parameters),
    OpenSm(&'n OpenSmTable),
}

impl Route {
    /// As a program calls it.
    pub(super) fn for_a_program(&mut self, text: Option<&str>) {
        if let Some(input) = &mut self.input {
            input.text = text.map(str::to_owned);
        }
    }

    pub(super) fn execute(self) -> Result<(), Failure> {
        if let Some(path) = &self.check {
            return self.threads.with(|| {
                if path.is_dir() || self.dump.netlist.is_some() {
                    dump::check(&self, path)
                } else {
                    angara::check(&self, path)
                }
            });
        }
        let Some(input) = &self.input else {
            return Err(Failure::input("name a scenario, or a table with --check"));
        };
        if let (Some(save), Some(out)) = (&self.save, &self.out)
            && is_same(save, out)
        {
            let message =
                "--save and --out name one folder: give the table and the figures one each";
            return Err(Failure::input(message));
        }
        if let Some(path) = &self.save {
            self.may_write(path, "table", is_table)?;
        }
        if let Some(path) = &self.look.graph {
            self.may_write(path, "routing graph", graph::is_drawing)?;
        }
        if self.traffic && (self.look.is_asked() || self.look.detours.is_some()) {
            let message = "--traffic makes a table, which --pair, --graph and --detours do not show\n\
                           help: save the table, and look at the scenario with [routing.file]";
            return Err(Failure::input(message));
        }
        let network = Network::read(&input.document()?)?;
        // Another algorithm than the scenario's has keys of its own.
        let notes: Vec<String> = match self.compare || self.algorithm.is_some() {
            true => network.topology.notes().to_vec(),
            false => network.notes().collect(),
        };
        for note in notes {
            say(&format!("note: {note}"));
        }
        if let Some(names) = &self.look.detours {
            return detours::show(&self, &network, names);
        }
        if self.compare {
            return self.threads.with(|| comparison::show(&self, &network));
        }
        let traffic = if self.traffic { traffic::of(&input.document()?)? } else { Vec::new() };
        self.threads.with(|| match self.maker(&network)? {
            Maker::Angara(algorithm, parameters) if self.traffic => {
                traffic::check(algorithm.name)?;
                angara::make(&self, &network, algorithm, &parameters, Some(&traffic))
            }
            _ if self.traffic => Err(traffic::not_for_others()),
            maker if self.choose.is_asked() => choose::show(&self, &network, &maker),
            maker if self.look.is_asked() => look::show(&self, &network, maker),
            Maker::Angara(algorithm, parameters) => {
                angara::make(&self, &network, algorithm, &parameters, None)
            }
            Maker::Agnostic(algorithm, parameters) => {
                forwarding::make(&self, &network, algorithm, parameters)
            }
            Maker::OpenSm(read) => forwarding::show(&self, &network, read),
        })
    }

    /// Refuses to write where something is, unless it is of the same kind and may be replaced.
    fn may_write(
        &self,
        path: &Path,
        what: &str,
        is_ours: impl Fn(&Path) -> bool,
    ) -> Result<(), Failure> {
        if !folder::occupied(path) {
            return Ok(());
        }
        let place = path.display();
        if !self.force {
            return Err(Failure::input(format!(
                "{place} exists: name another file or folder, or replace it with --force"
            )));
        }
        if !is_ours(path) {
            return Err(Failure::input(format!(
                "{place} is no {what} that flitlab route wrote, so --force does not replace it either"
            )));
        }
        Ok(())
    }

    /// Writes a file where none is, or over one that may be replaced.
    fn write(
        &self,
        path: &Path,
        contents: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        if self.force {
            return folder::write_by(path, contents);
        }
        let failed = |error| Failure::Run(format!("can't write {}: {error}", path.display()));
        let mut output = BufWriter::new(File::create_new(path).map_err(failed)?);
        contents(&mut output).and_then(|()| output.flush()).map_err(|error| {
            let _ = fs::remove_file(path);
            failed(error)
        })
    }

    /// The deviation that --sigma asks for.
    fn asked_sigma(&self, loads: &[(Channel, f64)], load: &LoadFigures) -> Option<Sigma> {
        let sigma = |k| Sigma { k, value: deviation(loads, load.perfect, k) };
        self.sigma.map(sigma)
    }

    /// Returns the requested maker, or the scenario's.
    fn maker<'n>(&self, network: &'n Network) -> Result<Maker<'n>, Failure> {
        let is_torus = network.torus().is_some();
        let of_angara = match network.routing {
            RoutingSpec::Angara { parameters, .. } => parameters,
            _ => tables::Parameters::default(),
        };
        let parameters = match network.routing {
            RoutingSpec::Agnostic { parameters, .. } => parameters,
            _ => agnostic::Parameters::default(),
        };
        let maker = match (&self.algorithm, &network.routing) {
            (None, RoutingSpec::Angara { algorithm, .. }) => Maker::Angara(*algorithm, of_angara),
            (None, RoutingSpec::Agnostic { algorithm, .. }) => {
                self.agnostic(*algorithm, parameters)?
            }
            (None, RoutingSpec::OpenSm(read)) => Maker::OpenSm(read),
            (None, _) if is_torus => Maker::Angara(tables::Algorithm::BALANCED, of_angara),
            (None, _) => self.agnostic(network.usual_algorithm(), parameters)?,
            (Some(name), routing) => {
                let angara = components::named::<tables::Algorithm>(name);
                let for_any_fabric = matches!(routing, RoutingSpec::Agnostic { .. });
                match (angara, components::named::<agnostic::Algorithm>(name)) {
                    (_, Some(algorithm)) if angara.is_none() || for_any_fabric || !is_torus => {
                        self.agnostic(algorithm, parameters)?
                    }
                    (Some(algorithm), _) if is_torus => Maker::Angara(algorithm, of_angara),
                    _ => return Err(forwarding::not_for_angara(name)),
                }
            }
        };
        let fixed = match &maker {
            Maker::Angara(algorithm, _) => {
                format!("{}, which is for Angara's virtual channels", algorithm.name)
            }
            Maker::OpenSm(_) => "the table that the scenario names".into(),
            Maker::Agnostic(..) => return Ok(maker),
        };
        if let Some(lanes) = self.lanes {
            say(&format!("note: --lanes {lanes} means nothing to {fixed}"));
        }
        if self.partition.is_some() {
            return Err(Failure::input(format!(
                "--partition means nothing to {fixed}\nhelp: leave --partition out, or name an algorithm that \
                 parts destinations among virtual channels, such as --algorithm nue"
            )));
        }
        Ok(maker)
    }

    /// Draws the channel loads, if that is wanted. A program gets them.
    fn draw(
        &self,
        fabric: &Fabric,
        title: &str,
        loads: impl Iterator<Item = (Channel, f64)>,
    ) -> Result<(), Failure> {
        if self.out.is_none() && program::current().is_none() {
            return Ok(());
        }
        let rows = LoadRow::of(fabric, loads);
        let mut figures = Vec::new();
        if fabric.torus().is_some() {
            figures.push(("heat-map", load_heat_map(&rows, title)));
        }
        figures.push(("histogram", load_histogram(&rows, title)));
        program::give(|answer| {
            answer.tables.push(Table::of_rows("loads", &rows));
            let figures = figures.iter().map(|(name, figure)| ((*name).into(), figure.clone()));
            answer.figures = figures.collect();
        });
        let Some(out) = &self.out else { return Ok(()) };
        let out = folder::prepare("", Some(out))?;
        out.fill(|| {
            folder::write(&out.join("loads.csv"), &rows_text(&rows))?;
            for (name, figure) in &figures {
                figure.write_to(&out, name, &Medium::default())?;
            }
            Ok(())
        })?;
        self.note(&format!("figures in {}", out.display()))
    }

    /// Prints a report, as an object or as text.
    fn print(&self, report: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json || program::current().is_some() {
            print_json(report)?;
        }
        if self.json { Ok(()) } else { print_text(&text()) }
    }

    /// Says what was written, if people read it.
    fn note(&self, text: &str) -> Result<(), Failure> {
        if self.json { Ok(()) } else { print_text(&format!("{text}\n")) }
    }
}

/// Whether a path is a file of Angara's routes, or a folder of a forwarding table.
fn is_table(path: &Path) -> bool {
    match path.is_dir() {
        true => dump::is_in(path),
        false => TableFile::begins(path),
    }
}

/// A load: a whole number, or with three decimals.
fn plain(load: f64) -> String {
    if load.fract() == 0.0 { load.to_string() } else { format!("{load:.3}") }
}

/// How much channels carry.
fn load_text(load: &LoadFigures) -> String {
    format!(
        "maximum {}, minimum {}, mean {:.3}; {:.3} if every route were shortest",
        plain(load.maximum),
        plain(load.minimum),
        load.mean,
        load.perfect
    )
}

/// A deviation of channel loads.
#[derive(Clone, Copy, Debug, Serialize)]
struct Sigma {
    k: u8,
    value: f64,
}

/// Returns how evenly they share the load, in words.
fn deviation_text(load: &LoadFigures, asked: Option<Sigma>) -> String {
    let usual = format!(
        "sigma(1) {:.3}, sigma(2) {:.3}, sigma(4) {:.3}",
        load.sigma_1, load.sigma_2, load.sigma_4
    );
    match asked {
        Some(Sigma { k, value }) if ![1, 2, 4].contains(&k) => {
            format!("{usual}, sigma({k}) {value:.3}")
        }
        _ => usual,
    }
}

/// The text of a file.
fn read(path: &Path) -> Result<String, Failure> {
    flitlab::text_file::read_text(path)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

/// Returns the failure of a file that could not be read as what it is taken for, with its line; if
/// it is known to be something else, says so.
fn refuse_file(path: &Path, text: &str, wanted: FileKind, error: &InvalidLine) -> Failure {
    let name = path.display().to_string();
    match formats::refusal(&Beginning::new(path, text.as_bytes()), &name, wanted) {
        Some(refusal) => Failure::input(format!("{}\nhelp: {}", refusal.message, refusal.help)),
        None => wrong_line(path, error.line, &error.message),
    }
}

/// Returns the failure of a wrong line in a file.
fn wrong_line(path: &Path, line: usize, message: &str) -> Failure {
    Failure::input(format!("{}:{line}: {message}", path.display()))
}

/// A flawed table is exit code 4.
fn refuse(flaws: impl ExactSizeIterator<Item = String>) -> Failure {
    let more = flaws.len().saturating_sub(SHOWN);
    let mut lines: Vec<String> = flaws.take(SHOWN).map(|flaw| format!("error: {flaw}")).collect();
    if more > 0 {
        lines.push(format!("... and {more} more flaws"));
    }
    Failure::Check(lines.join("\n"))
}
