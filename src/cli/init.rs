//! `flitlab init`: writes a first scenario, from flags or a few questions.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{BufRead, ErrorKind, IsTerminal, Write, stderr, stdin};
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Args, Command};
use serde::Serialize;

use super::summary::{print_json, print_text};
use super::text::fabric_text;
use super::{Failure, components, terminal};
use flitlab::scenario::{
    Diagnostic, Diagnostics, Offer, Offers, Scenario, Starter, StarterWorkload, Sweep,
};
use flitlab::units::parse_bytes;

/// Write a first scenario, with a comment for each key
///
/// Asks for what no option gives, if there is a terminal to ask; otherwise, and with --defaults, it
/// takes the defaults. Never replaces a file.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab init\n  \
    flitlab init study.toml --dimensions 8x8x8 --routing outflank --pattern tornado\n  \
    flitlab init fabric.toml --topology dragonfly --defaults\n  \
    flitlab init alltoall.toml --pattern all-to-all --exchange \"64 KiB\" --defaults\n  \
    flitlab init - --defaults | less")]
pub(super) struct Init {
    /// The file to write, which must not exist; - is standard output
    #[arg(value_name = "FILE", default_value = "scenario.toml")]
    file: PathBuf,
    /// What joins the nodes [default: torus]
    #[arg(long, value_name = "NAME", value_parser = among("topology", Offers::topologies))]
    topology: Option<String>,
    /// Nodes along each dimension of a torus, or switches [default: 4x4x4]
    #[arg(long, value_name = "SIZES", value_parser = dimensions)]
    dimensions: Option<Sizes>,
    /// How packets find their way, or the algorithm that makes a table for any fabric [default:
    /// direction_order on a torus, else agnostic]
    #[arg(long, value_name = "NAME", value_parser = among("routing", routings))]
    routing: Option<String>,
    /// Who sends to whom [default: uniform; of an exchange all-to-all]
    #[arg(long, value_name = "NAME", value_parser = among("traffic.pattern", Offers::patterns))]
    pattern: Option<String>,
    /// A load that goes on, as a fraction of the network's capacity [default: 0.3]
    #[arg(long, value_name = "SHARE", value_parser = load)]
    load: Option<f64>,
    /// Instead of a load: each node sends its partners a message of this size, such as "64 KiB"
    #[arg(long, value_name = "SIZE", conflicts_with = "load", value_parser = message)]
    exchange: Option<String>,
    /// Ask nothing
    #[arg(long)]
    defaults: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Sizes(Vec<u32>);

#[derive(Serialize)]
struct Written {
    scenario: String,
    fabric: String,
    nodes: usize,
}

/// Routings, and the algorithms and rules of those that have many.
fn routings(offers: &Offers) -> Vec<Offer> {
    let routings = offers.routings().into_iter().chain(offers.algorithms());
    routings.chain(offers.rules()).collect()
}

/// Names for help and completions; what they mean is in the file that is written.
fn among(key: &'static str, offers: fn(&Offers) -> Vec<Offer>) -> Among {
    let offers = components::with_offers(offers);
    let names = offers.into_iter().map(|offer| PossibleValue::new(offer.name));
    Among { key, names: PossibleValuesParser::new(names) }
}

/// The names that can be chosen for a key; for others there is what a scenario with them would be
/// told.
#[derive(Clone)]
struct Among {
    key: &'static str,
    names: PossibleValuesParser,
}

impl Among {
    fn hint(&self, name: &str) -> Option<String> {
        let document = components::parse("", &format!("[{}.{name}]\n", self.key));
        let found = Scenario::read(&document).err()?;
        let wanted = format!("`{name}`");
        let told = found
            .iter()
            .find(|it| it.message.starts_with("there is no") && it.message.ends_with(&wanted));
        let Some(told) = told else { return self.needed(name, &found) };
        let help = told.help.iter().filter(|help| !help.starts_with("choose one"));
        let parts = std::iter::once(&told.label).chain(help).filter(|part| !part.is_empty());
        Some(parts.cloned().collect::<Vec<_>>().join(" ")).filter(|hint| !hint.is_empty())
    }

    /// Returns what a choice needs that is not offered since no example of it would do.
    fn needed(&self, name: &str, found: &Diagnostics) -> Option<String> {
        let table = format!("{}.{name}", self.key);
        let needed = found.iter().find_map(|it| {
            let (subject, needed) = it.message.split_once(" needs ")?;
            let subject = subject.trim_matches(['`', '[', ']']);
            (subject == name || subject == table).then_some(needed)
        })?;
        // The option is called as the key's last part.
        let option = self.key.rsplit('.').next()?;
        Some(format!(
            "`{name}` needs {needed} of yours: leave --{option} out, and change the file that is written"
        ))
    }
}

impl TypedValueParser for Among {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        self.names.parse_ref(command, argument, value).map_err(|mut error| {
            if let Some(hint) = value.to_str().and_then(|name| self.hint(name)) {
                let hint = ContextValue::StyledStrs(vec![hint.into()]);
                error.insert(ContextKind::Suggested, hint);
            }
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.names.possible_values()
    }
}

fn dimensions(text: &str) -> Result<Sizes, String> {
    let parts = text.split(['x', 'X', ',', ' ', '[', ']']).map(str::trim);
    let sizes: Result<Vec<u32>, _> =
        parts.filter(|part| !part.is_empty()).map(str::parse).collect();
    match sizes {
        Ok(sizes) if !sizes.is_empty() => Ok(Sizes(sizes)),
        _ => Err("write sizes such as 8x8x8".into()),
    }
}

fn load(text: &str) -> Result<f64, String> {
    let load = text.parse::<f64>().ok().filter(|load| load.is_finite() && *load > 0.0);
    load.ok_or_else(|| "write a fraction of the network's capacity, such as 0.3".into())
}

fn message(text: &str) -> Result<String, String> {
    parse_bytes(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

impl Init {
    pub(super) fn execute(self) -> Result<(), Failure> {
        if let (Some(topology), Some(_)) = (&self.topology, &self.dimensions)
            && !components::with_offers(|offers| offers.has_dimensions(topology))
        {
            let message = format!(
                "error: a {topology} has no dimensions: leave --dimensions out, and change the sizes that \
                 the file names"
            );
            return Err(Failure::Input(message));
        }
        let printed = self.file.as_os_str() == "-";
        let path = if printed { "scenario.toml".into() } else { self.file.display().to_string() };
        if !printed && self.file.exists() {
            return Err(exists(&path));
        }
        let json = self.json;
        let file = self.file.clone();
        let asks = !self.defaults && stdin().is_terminal() && stderr().is_terminal();
        let starter =
            if asks { self.ask(&mut stdin().lock(), &mut stderr())? } else { self.starter() };
        let text = text(&starter, &path);
        let scenario =
            read(&starter, &path).map_err(|problems| Failure::input(problems.join("\nerror: ")))?;
        if printed {
            return print_text(&text);
        }
        let written = OpenOptions::new().write(true).create_new(true).open(&file);
        match written.and_then(|mut file| file.write_all(text.as_bytes())) {
            Ok(()) => {}
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => return Err(exists(&path)),
            Err(cause) => return Err(Failure::Run(format!("can't write {path}: {cause}"))),
        }
        let fabric = fabric_text(&scenario.network);
        let nodes = scenario.network.fabric.live_terminals().count();
        if json {
            return print_json(&Written { scenario: path, fabric, nodes });
        }
        let next = match starter.workload {
            StarterWorkload::Load(_) => "sweep",
            StarterWorkload::Exchange(_) => "run",
        };
        print_text(&format!(
            "{path}: {fabric}, {nodes} nodes, {} traffic\nnext:\n  flitlab check {path}\n  flitlab {next} \
             {path}\n",
            starter.pattern
        ))
    }

    /// Returns the starter with the values of the options, and defaults.
    fn starter(&self) -> Starter {
        let usual = Starter::default();
        let topology = self.topology.clone().unwrap_or(usual.topology);
        let usual_routing = Offers::usual_routing(&topology);
        Starter {
            dimensions: self.dimensions.clone().map_or(usual.dimensions, |sizes| sizes.0),
            routing: self.routing.clone().unwrap_or_else(|| usual_routing.into()),
            topology,
            pattern: self.pattern.clone().unwrap_or_else(|| self.usual_pattern().into()),
            workload: match (&self.exchange, self.load) {
                (Some(size), _) => StarterWorkload::Exchange(size.clone()),
                (None, Some(load)) => StarterWorkload::Load(load),
                (None, None) => usual.workload,
            },
        }
    }

    fn usual_pattern(&self) -> &'static str {
        if self.exchange.is_some() { "all-to-all" } else { "uniform" }
    }

    /// Asks for what no option gives, again until it can be used.
    fn ask(
        mut self,
        input: &mut impl BufRead,
        output: &mut impl Write,
    ) -> Result<Starter, Failure> {
        let mut form = Form { input, output };
        if self.topology.is_none() {
            let offers = components::with_offers(Offers::topologies);
            self.topology = Some(form.choose("Topology", "torus", &offers)?);
        }
        let topology = self.starter().topology;
        let has_dimensions = components::with_offers(|offers| offers.has_dimensions(&topology));
        if self.dimensions.is_none() && has_dimensions {
            self.dimensions = Some(form.ask("Nodes along each dimension", "4x4x4", |answer| {
                let sizes = dimensions(answer)?;
                let routing = Offers::usual_routing(&topology).into();
                let (topology, dimensions) = (topology.clone(), sizes.0.clone());
                let starter = Starter { topology, dimensions, routing, ..Starter::default() };
                read(&starter, "scenario.toml").map_err(|problems| problems.join("\n"))?;
                Ok(sizes)
            })?);
        }
        let usual = Offers::usual_routing(&topology);
        if self.routing.is_none() && usual == Starter::default().routing {
            let offers = components::with_offers(Offers::routings);
            let offers = self.usable(offers, |starter, name| starter.routing = name.into());
            self.routing = Some(form.choose("Routing", usual, &offers)?);
        }
        if self.load.is_none() && self.exchange.is_none() {
            let question =
                "A load that goes on (a fraction of capacity), or messages of a size (64 KiB)";
            match form.ask(question, "0.3", |answer| match load(answer) {
                Ok(load) => Ok(StarterWorkload::Load(load)),
                Err(_) => message(answer)
                    .map(StarterWorkload::Exchange)
                    .map_err(|_| "write a fraction such as 0.3, or a size such as 64 KiB".into()),
            })? {
                StarterWorkload::Load(load) => self.load = Some(load),
                StarterWorkload::Exchange(size) => self.exchange = Some(size),
            }
        }
        if self.pattern.is_none() {
            // Some are defined on some shapes only, and some have no steps for an exchange.
            let offers = components::with_offers(Offers::patterns);
            let offers = self.usable(offers, |starter, name| starter.pattern = name.into());
            self.pattern = Some(form.choose("Traffic", self.usual_pattern(), &offers)?);
        }
        Ok(self.starter())
    }

    /// Returns those that make a scenario together with the values known so far.
    fn usable(&self, mut offers: Vec<Offer>, answer: fn(&mut Starter, &str)) -> Vec<Offer> {
        offers.retain(|offer| {
            let mut starter = self.starter();
            answer(&mut starter, &offer.name);
            read(&starter, "scenario.toml").is_ok()
        });
        offers
    }
}

/// The starter's scenario, with the commands of this program.
fn text(starter: &Starter, path: &str) -> String {
    let command = components::name();
    components::with_offers(|offers| offers.text(starter, (&command, path)))
}

fn exists(path: &str) -> Failure {
    Failure::input(format!(
        "{path} exists, and init never replaces a file: name another, as in flitlab init \
         another.toml"
    ))
}

/// Returns the scenario, or its mistakes in words: the file's lines are not known to the user yet.
fn read(starter: &Starter, path: &str) -> Result<Scenario, Vec<String>> {
    let document = components::parse(path, &text(starter, path));
    let scenario = match starter.workload {
        StarterWorkload::Load(_) => Sweep::read(&document).and_then(|_| Scenario::read(&document)),
        StarterWorkload::Exchange(_) => Scenario::read(&document),
    };
    scenario.map_err(|found| {
        let words = |one: &Diagnostic| {
            let parts = [&one.message, &one.label].into_iter().filter(|text| !text.is_empty());
            parts.chain(&one.help).cloned().collect::<Vec<_>>().join("; ")
        };
        found.iter().map(words).collect()
    })
}

/// Questions and answers.
struct Form<'t, I, O> {
    input: &'t mut I,
    output: &'t mut O,
}

impl<I: BufRead, O: Write> Form<'_, I, O> {
    /// Asks until the answer is good; an empty one is the default.
    fn ask<T>(
        &mut self,
        question: &str,
        default: &str,
        accept: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        loop {
            self.say(&format!("{question} [{default}]: "))?;
            let mut line = String::new();
            let read = self.input.read_line(&mut line);
            let read =
                read.map_err(|cause| Failure::Run(format!("cannot read the answer: {cause}")))?;
            if read == 0 {
                let message = "error: no answer; nothing is written (--defaults asks nothing)";
                return Err(Failure::Input(format!("\n{message}")));
            }
            let answer = line.trim();
            match accept(if answer.is_empty() { default } else { answer }) {
                Ok(value) => return Ok(value),
                Err(problem) => self.say(&format!("  {}\n", problem.replace('\n', "\n  ")))?,
            }
        }
    }

    /// Lists what is offered, and asks until one of it is named.
    fn choose(
        &mut self,
        question: &str,
        default: &str,
        offers: &[Offer],
    ) -> Result<String, Failure> {
        let lines = offers.iter().map(|offer| {
            let doc = offer.doc.trim_start_matches("The ");
            // The first sentence: the file has the rest.
            let doc = doc.split(". ").next().unwrap_or(doc).trim_end_matches('.');
            terminal::fact(&offer.name, doc, 22)
        });
        self.say(&lines.collect::<String>())?;
        let names: Vec<&str> = offers.iter().map(|offer| offer.name.as_str()).collect();
        self.ask(question, default, |answer| match names.contains(&answer) {
            true => Ok(answer.to_owned()),
            false => Err(format!("choose one of {}", names.join(", "))),
        })
    }

    fn say(&mut self, text: &str) -> Result<(), Failure> {
        let said = self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush());
        said.map_err(|cause| Failure::Run(format!("cannot ask: {cause}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn init() -> Init {
        Init {
            file: "a.toml".into(),
            topology: None,
            dimensions: None,
            routing: None,
            pattern: None,
            load: None,
            exchange: None,
            defaults: false,
            json: false,
        }
    }

    fn asked(init: Init, answers: &str) -> (Result<Starter, Failure>, String) {
        let mut said = Vec::new();
        let starter = init.ask(&mut answers.as_bytes(), &mut said);
        (starter, String::from_utf8(said).unwrap())
    }

    #[test]
    fn empty_answers_are_the_defaults() {
        assert_eq!(asked(init(), "\n\n\n\n\n").0.unwrap(), Starter::default());
    }

    #[test]
    fn wrong_answers_are_explained_and_asked_again() {
        let answers =
            "ring\ntorus\nmany\n4x2\nfast\nadaptive\nquick\n64 KiB\ntranspose-3d\ntornado\n";
        let (starter, said) = asked(init(), answers);
        let starter = starter.unwrap();
        assert_eq!((starter.dimensions, starter.routing.as_str()), (vec![4, 2], "adaptive"));
        assert_eq!(starter.workload, StarterWorkload::Exchange("64 KiB".into()));
        assert_eq!(starter.pattern, "tornado", "transpose-3d needs three dimensions");
        for expected in ["such as 8x8x8", "choose one of direction_order", "or a size such as"] {
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn what_an_option_gives_is_not_asked() {
        let given = Init {
            topology: Some("torus".into()),
            dimensions: Some(Sizes(vec![8])),
            routing: Some("angara".into()),
            load: Some(0.1),
            ..init()
        };
        let (starter, said) = asked(given, "\n");
        assert_eq!(starter.unwrap().dimensions, [8]);
        assert_eq!(said.matches("]: ").count(), 1, "{said}");
    }

    #[test]
    fn a_fabric_of_switches_is_asked_neither_for_dimensions_nor_for_a_routing() {
        let (starter, said) = asked(init(), "dragonfly\n\n\n");
        let starter = starter.unwrap();
        assert_eq!(
            (starter.topology.as_str(), starter.routing.as_str()),
            ("dragonfly", "agnostic")
        );
        assert_eq!(said.matches("]: ").count(), 3, "{said}");
    }

    #[test]
    fn an_end_of_input_writes_nothing() {
        assert!(matches!(asked(init(), "torus\n8x8\n").0, Err(Failure::Input(_))));
    }
}
