//! Facts of the simulation, one a line, from the scenario and the summary.

use std::path::Path;

use crate::cli::components;
use crate::cli::results::{Results, own_name};
use crate::cli::summary::Expectation;
use flitlab::page::Fact;
use flitlab::scenario::{Document, Setting};
use flitlab::units::short_time_text;

/// Swept values that are listed; of more, the ends.
const LISTED: usize = 8;

/// The folder's own name.
pub(super) fn name(results: &Results) -> String {
    own_name(&results.folder).unwrap_or_else(|| results.name())
}

/// The scenario's title, where no summary says it yet.
pub(super) fn title(results: &Results) -> Option<String> {
    let keys = flitlab::scenario::settings(results.scenario.as_ref()?);
    keys.into_iter().find_map(|(key, value)| match value {
        Setting::One(text) if key == "title" => Some(text),
        _ => None,
    })
}

/// Network, routing, traffic, and what was known before the simulation.
pub(super) fn facts(results: &Results, keys: &[(String, Setting)]) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| Fact { name: name.into(), value }));
    };
    let value = |key: &str| keys.iter().find(|(name, _)| name == key).map(|(_, it)| setting(it));
    let joined = |parts: &[(&str, &str)]| {
        let parts = parts.iter().filter_map(|(key, unit)| Some(value(key)? + unit));
        Some(parts.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty())
    };
    let expected = results.summary.scenario.as_ref();
    fact("network", expected.map(network).or_else(|| value("topology.torus.dimensions")));
    fact("routing", choice(keys, "routing"));
    fact(
        "traffic",
        choice(keys, "traffic.pattern").map(|pattern| {
            let parts = [("traffic.message", " messages"), ("traffic.process", "")];
            [Some(pattern), joined(&parts)].into_iter().flatten().collect::<Vec<_>>().join(", ")
        }),
    );
    let searched = keys.iter().any(|(key, _)| key.starts_with("sweep.saturation"));
    let load = value("traffic.load").filter(|_| choice(keys, "traffic.pattern").is_some());
    let search = || "a search for the highest that is sustained".to_owned();
    fact("offered load", load.map(|load| if searched { search() } else { load }));
    fact(
        "exchange",
        choice(keys, "exchange.pattern").map(|pattern| {
            let parts = [("exchange.message", " messages"), ("exchange.between_steps", "")];
            [Some(pattern), joined(&parts)].into_iter().flatten().collect::<Vec<_>>().join(", ")
        }),
    );
    fact("application", choice(keys, "application.schedule").or_else(|| value("application.file")));
    fact("flows", value("flows.file"));
    let held_up = results
        .summary
        .path_channels
        .iter()
        .map(|row| format!("{} for {}", row.channel, short_time_text(row.held_up)));
    let held_up = held_up.collect::<Vec<_>>().join(", ");
    fact("critical path held up by", Some(held_up).filter(|text| !text.is_empty()));
    let of_kinds = keys.iter().filter_map(|(key, it)| of_cables(key, setting(it)));
    let links = joined(&[("link.rate", ""), ("link.latency", "")]).into_iter().chain(of_kinds);
    let links = links.collect::<Vec<_>>().join(", ");
    fact("links", Some(links).filter(|text| !text.is_empty()));
    fact("seed", value("seed"));
    if let Some(expected) = expected {
        let first = if is_swept(keys) { " (at the first point)" } else { "" };
        fact(
            "load 1",
            expected
                .capacity_payload
                .map(|load| format!("{load:.3} GB/s of payload a node{first}")),
        );
        fact(
            "hops",
            Some(format!(
                "{:.3} in the mean, {} at most{}{first}",
                expected.hops_mean,
                expected.hops_maximum,
                match expected.hops_maximum_with_detours {
                    Some(most) => format!(" without load, {most} with detours"),
                    None if expected.detours_under_load => " without load".into(),
                    None => String::new(),
                }
            )),
        );
        fact(
            "zero-load latency",
            Some(format!(
                "{:.1} ns in the mean, {:.1} ns at most{first}",
                expected.zero_load_latency_mean_ns, expected.zero_load_latency_maximum_ns
            )),
        );
        fact(
            "bound of accepted load",
            expected.throughput_bound_load.map(|bound| {
                let by = expected.bottleneck.as_ref().map(|name| format!(", set by {name}"));
                format!("{bound:.4}{}{first}", by.unwrap_or_default())
            }),
        );
    }
    facts
}

/// The rates or latencies of some kinds of cables, if the key is one that gives them.
fn of_cables(key: &str, value: String) -> Option<String> {
    let mut parts = key.strip_prefix("topology.")?.split('.');
    let (table, name) = (parts.next()?, parts.next()?);
    let by = match (parts.next(), table) {
        (Some(kind), _) => kind,
        (None, "tree" | "xgft") => "by level",
        (None, _) => "by dimension",
    };
    ["rates", "latencies"].contains(&name).then(|| format!("{value} {by}"))
}

fn network(expected: &Expectation) -> String {
    format!("{}, {} nodes, {} channels", expected.fabric, expected.nodes, expected.channels)
}

fn is_swept(keys: &[(String, Setting)]) -> bool {
    keys.iter().any(|(_, value)| matches!(value, Setting::Swept(_)))
}

/// Returns the names of a choice, such as a pattern, with its algorithm and its keys that vary.
fn choice(keys: &[(String, Setting)], key: &str) -> Option<String> {
    let plain = |text: &str| text.replace('_', " ");
    if let Some((_, value)) = keys.iter().find(|(name, _)| name == key) {
        return Some(plain(&setting(value)));
    }
    let below = || {
        keys.iter()
            .filter_map(|(name, value)| Some((name.strip_prefix(key)?.strip_prefix('.')?, value)))
    };
    let (first, _) = below().next()?;
    let chosen = first.split('.').next().unwrap_or(first);
    let told = |name: &str, value: &Setting| {
        matches!(value, Setting::Swept(_)) || name.ends_with(".algorithm")
    };
    // A rule with keys stands in their names.
    let rule = below().find_map(|(name, value)| {
        let rest = name.strip_prefix(chosen)?.strip_prefix(".rule")?;
        let Some(keys) = rest.strip_prefix('.') else {
            let is_one = matches!(value, Setting::One(_));
            return is_one.then(|| format!("rule {}", setting(value)));
        };
        Some(format!("rule {}", keys.split('.').next().unwrap_or(keys)))
    });
    let varied = below().filter(|(name, value)| told(name, value)).map(|(name, value)| {
        let last = name.rsplit('.').next().unwrap_or(name);
        format!("{} {}", plain(last), setting(value))
    });
    let mut parts: Vec<String> = std::iter::once(plain(chosen)).chain(rule).chain(varied).collect();
    let by_series = |name: &str| {
        name.strip_prefix("sweep.series.").is_some_and(|rest| rest.contains(&format!(".{key}")))
    };
    if keys.iter().any(|(name, _)| by_series(name)) {
        parts.push("others as the series say".into());
    }
    Some(parts.join(", "))
}

/// A value, or the values of a sweep in short.
pub(super) fn setting(setting: &Setting) -> String {
    match setting {
        Setting::One(text) => words(text),
        Setting::Swept(texts) => {
            let texts: Vec<String> = texts.iter().map(|text| words(text)).collect();
            match &texts[..] {
                [first, second, .., last] if texts.len() > LISTED => {
                    format!("{first}, {second}, ... {last} ({} values)", texts.len())
                }
                all => all.join(", "),
            }
        }
    }
}

/// The name of a file whose whole path is given: a page that is sent does not say where files were.
fn without_folder(text: &str) -> &str {
    let path = Path::new(text);
    path.file_name().filter(|_| path.is_absolute()).and_then(|it| it.to_str()).unwrap_or(text)
}

/// A scenario's text with the names of files in place of whole paths.
pub(super) fn without_folders(text: &str) -> String {
    let parts = text.split('"').enumerate();
    let parts = parts.map(|(at, part)| if at % 2 == 1 { without_folder(part) } else { part });
    parts.collect::<Vec<_>>().join("\"")
}

/// A value without the signs of TOML, if it is a choice with its keys.
fn words(text: &str) -> String {
    if !text.starts_with('{') {
        return without_folder(text).to_owned();
    }
    let words = text.replace(['{', '}', '=', '"', '\''], " ");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The commands that give the results again, from the scenario as it is on the page.
pub(super) fn commands(document: &Document, results: &Results) -> Vec<String> {
    let command = if document.has_sweep() { "sweep" } else { "run" };
    let own = components::name();
    vec![format!("{own} {command} scenario.toml --out {}", quoted(&name(results)))]
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    shlex::try_quote(word).expect("names and paths have no zero bytes").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab::scenario::settings;

    #[test]
    fn a_choice_is_named_with_its_algorithm_and_what_varies() {
        let routing = |text| choice(&settings(&Document::parse("a.toml", text)), "routing");
        assert_eq!(
            routing("[routing.direction_order]\nhalf_ring = 'balanced'"),
            Some("direction order".into())
        );
        assert_eq!(
            routing(
                "[routing.angara]\nalgorithm = 'bfs'\n[sweep]\ngrid.routing.angara.algorithm = ['bfs', 'sssp']"
            ),
            Some("angara, algorithm bfs, sssp".into())
        );
        let rule = "[routing.relation]\nrule = 'ugal'\nlanes = 4";
        assert_eq!(routing(rule), Some("relation, rule ugal".into()));
        let with_keys = "[routing.relation]\nrule = { par = { threshold = 8 } }";
        assert_eq!(routing(with_keys), Some("relation, rule par".into()));
        let swept = "[routing.relation]\n[sweep.grid]\nrouting.relation.rule = ['ugal', 'par']";
        assert_eq!(routing(swept), Some("relation, rule ugal, par".into()));
        let swept = "[routing.adaptive]\n[sweep.grid]\nrouting = [{ adaptive = {} }, { pick_orthant = {} }]";
        assert_eq!(routing(swept), Some("adaptive, pick orthant".into()));
        let series = "[routing.adaptive]\n[sweep.series]\nOFR = { routing.outflank.steps = 1 }";
        assert_eq!(routing(series), Some("adaptive, others as the series say".into()));
        assert_eq!(routing("seed = 1"), None);
    }

    #[test]
    fn words_for_a_shell_are_quoted_if_need_be() {
        assert_eq!(quoted("results/a-1.html"), "results/a-1.html");
        assert_eq!(quoted("it's"), "\"it's\"");
        assert_eq!(quoted(""), "''");
    }
}
