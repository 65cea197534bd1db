//! Text of `flitlab check` about cables: how many there are, and how they differ.

use flitlab::engine::Parameters;
use flitlab::scenario::ANGARA;
use flitlab::simulation::Simulation;
use flitlab::topology::{CableClass, CableRate, CableSpeed, Fabric, LaneRate};
use flitlab::units::{counted, rate_text, time_text};

/// Cables of an Angara adapter, and of one with its extension card: \[angara-routing\], section 2.
const OF_AN_ADAPTER: usize = 6;
const WITH_ITS_CARD: usize = 8;

/// How many channels and cables are between routers; on Angara's tori also how many a node has, and
/// what that takes.
pub(super) fn counts(simulation: &Simulation) -> String {
    let (fabric, scenario) = (simulation.fabric(), simulation.scenario());
    let channels = fabric.channels();
    let text = format!("{channels} between routers, by {}", counted(channels / 2, "cable"));
    if scenario.preset != ANGARA || scenario.network.torus().is_none() {
        return text;
    }
    let of_router = |router| fabric.neighbors(router).count();
    let most = (0..fabric.routers()).map(of_router).max().unwrap_or(0);
    let takes = if most <= OF_AN_ADAPTER {
        format!("an Angara adapter has {OF_AN_ADAPTER}")
    } else if most <= WITH_ITS_CARD {
        format!(
            "an Angara adapter has {OF_AN_ADAPTER}, and {WITH_ITS_CARD} with its extension card, \
             which this takes"
        )
    } else {
        format!(
            "more than the {WITH_ITS_CARD} of an Angara adapter with its extension card: no such \
             machine is built"
        )
    };
    format!("{text}; at most {most} a node: {takes}")
}

/// How many cables have which rate and latency; `None` if all have `link.rate` and nothing says
/// otherwise.
pub(super) fn text(fabric: &Fabric, parameters: &Parameters) -> Option<String> {
    let classes = fabric.cable_classes();
    let switches = count(classes.len(), fabric.cables().map(|cable| fabric.cable_class(cable)));
    let terminals = fabric.live_terminals().map(|terminal| fabric.terminal_class(terminal));
    let terminals = count(classes.len(), terminals);
    let is_netlist = classes.iter().any(|class| lanes(*class).is_some());
    let mixed = |counts: &[usize]| counts.iter().filter(|&&count| count > 0).count() > 1;
    let mut parts = Vec::new();
    if mixed(&switches) || switches.iter().zip(classes).any(|(&it, class)| it > 0 && is_slow(class))
    {
        let of_class = |class| {
            let (rate, latency) = (parameters.rate_of(class), parameters.latency_of(class));
            format!("{}, {}", rate_text(rate), time_text(latency))
        };
        parts.push(format!("between routers: {}", listed(&switches, classes, of_class)));
    }
    let slow_adapter = |(&count, class): (&usize, &CableClass)| count > 0 && is_slow(class);
    if is_netlist && terminals.iter().zip(classes).any(slow_adapter) {
        let of_class = |class| {
            let rates = [parameters.injection_rate_of(class), parameters.ejection_rate_of(class)];
            let [injection, ejection] = rates.map(rate_text);
            if injection == ejection {
                injection
            } else {
                format!("{injection} in, {ejection} out")
            }
        };
        parts.push(format!("of adapters: {}", listed(&terminals, classes, of_class)));
    }
    if let Some(scale) = scale(classes, parameters, !parts.is_empty()) {
        parts.push(scale);
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn is_slow(class: &CableClass) -> bool {
    class.rate.slowness() > 1.0 || class.latency.is_some()
}

fn lanes(class: CableClass) -> Option<(LaneRate, LaneRate)> {
    match class.rate {
        CableRate::Share {
            cable: CableSpeed::Lanes(cable),
            fastest: CableSpeed::Lanes(fastest),
        } => Some((cable, fastest)),
        _ => None,
    }
}

fn count(classes: usize, of: impl Iterator<Item = u8>) -> Vec<usize> {
    let mut counts = vec![0; classes];
    of.for_each(|class| counts[usize::from(class)] += 1);
    counts
}

/// The classes that there are, the most frequent first.
fn listed(
    counts: &[usize],
    classes: &[CableClass],
    figures: impl Fn(CableClass) -> String,
) -> String {
    let mut found: Vec<(usize, CableClass)> =
        counts.iter().copied().zip(classes.iter().copied()).filter(|it| it.0 > 0).collect();
    found.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
    let one = |&(count, class): &(usize, CableClass)| match lanes(class) {
        Some((cable, _)) => format!("{count} of {cable} ({})", figures(class)),
        None => format!("{count} of {}", figures(class)),
    };
    found.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Explains `link.rate` where a netlist names its cables and their rate is another one, or some are
/// slower.
fn scale(classes: &[CableClass], parameters: &Parameters, mixed: bool) -> Option<String> {
    let (_, fastest) = classes.iter().find_map(|&class| lanes(class))?;
    let (link, data) = (rate_text(parameters.link_rate), rate_text(fastest.data()));
    // ibsim, and netlists that flitlab wrote, name this for cables of unknown kind.
    let is_usual = fastest.to_string() == "4xSDR";
    if link == data || is_usual {
        return mixed.then(|| format!("link.rate, {link}, is that of {fastest}, the fastest"));
    }
    Some(format!(
        "link.rate, {link}, stands for {fastest}, the fastest, which carry {data}: for that write link.rate = \"{data}\", and \
         the adapter's rates"
    ))
}
