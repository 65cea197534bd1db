//! What is said and drawn of \[outflank\]'s results: its tables beside ours, curves of lifetimes and
//! of shares.

use super::{CaseResult, Limit, PATTERNS, Point, ROUTINGS, TABLE_2, Throughput};
use flitlab_report::figure::{Bars, Figure, Scale, Series, Style, bars_figure, xy_figure_among};

/// The names that colours follow from.
const NAMES: [&str; 3] = [ROUTINGS[0].0, ROUTINGS[1].0, ROUTINGS[2].0];

const OFFERED: (&str, Scale) = ("Offered load (fraction of capacity)", Scale::Linear);

/// How times in the paper's own units follow.
const TABLE_1: &str = "with the rates and latencies of the paper's Table 1 times are four times as long (router.preset = \
                       \"outflank-paper\" has them)";

/// Table 3, 16x16x16: pattern, then of OFR by outflanking nodes, by wraparound nodes and in all, and
/// of POR.
const TABLE_3: [(&str, [f64; 4]); 5] = [
    ("butterfly", [0.31, 0.10, 0.41, 0.35]),
    ("transposition", [0.04, 0.10, 0.14, 0.10]),
    ("3d-transposition", [0.32, 0.20, 0.52, 0.53]),
    ("uniform", [0.06, 0.12, 0.18, 0.13]),
    ("bit-reverse", [0.09, 0.12, 0.21, 0.24]),
];

pub(super) fn throughput_line(it: &Throughput) -> String {
    format!(
        "{:<18}{:<9}{:>4}{:>10.2}{:>11}{:>10}{:>8}\n",
        it.pattern,
        it.routing,
        it.size,
        it.sustained_load,
        it.published_sustained_load.map_or("-".into(), |load| format!("{load:.2}")),
        it.sustained_load_bisected.map_or("-".into(), |load| format!("{load:.3}")),
        it.steady_load.map_or("-".into(), |load| format!("{load:.2}"))
    )
}

pub(super) fn table_2(throughputs: &[Throughput]) -> String {
    let mut text = format!(
        "{:<18}{:<9}{:>4}{:>10}{:>11}{:>10}{:>8}\n",
        "pattern", "routing", "k", "ours", "published", "bisected", "steady"
    );
    let (mut exact, mut near, mut cells) = (0, 0, 0);
    for it in throughputs {
        text += &throughput_line(it);
        if let Some(published) = it.published_sustained_load {
            let apart = (it.sustained_load - published).abs();
            cells += 1;
            exact += u32::from(apart < 0.001);
            near += u32::from(apart < 0.051);
        }
    }
    text + &format!("of {cells} cells {exact} are as published, {near} within 0.05\n")
}

pub(super) fn table_of_limits(limits: &[Limit]) -> String {
    let mut text = format!(
        "one limit of the mean lifetime for the three routings, with which the published loads agree; {TABLE_1}\n{:<18}{:>4}{:>12}{:>12}{:>8}\n",
        "pattern", "k", "from (us)", "below (us)", "cells"
    );
    for it in limits {
        let Limit { pattern, size, from_us, below_us, cells_as_published } = it;
        text += &format!(
            "{pattern:<18}{size:>4}{from_us:>12.4}{below_us:>12.4}{cells_as_published:>8}\n"
        );
    }
    let agree: usize = limits.iter().map(|limit| limit.cells_as_published).sum();
    text + &format!("of {} cells {agree} agree with such limits\n", ROUTINGS.len() * limits.len())
}

/// The four cells of a pattern's row in Table 3, of points that `of` takes from each of its two
/// cases, POR and OFR.
fn shares_of(found: &[CaseResult], pattern: &str, of: fn(&[Point]) -> &[Point]) -> [f64; 4] {
    let mean = |routing: &str, share: fn(&Point) -> f64| {
        let case = found
            .iter()
            .find(|it| (it.throughput.pattern, it.throughput.routing) == (pattern, routing));
        let points = case.map_or(&[][..], |case| of(&case.points));
        points.iter().map(share).sum::<f64>() / points.len() as f64
    };
    let outflanked = mean("OFR", |point| point.derouted_share_outflank);
    let wrapped = mean("OFR", |point| point.derouted_share_wraparound);
    let orthant = mean("POR", |point| point.derouted_share_orthant);
    [outflanked, wrapped, outflanked + wrapped, orthant]
}

pub(super) fn table_3(found: &[CaseResult]) -> String {
    type Of = fn(&[Point]) -> &[Point];
    let ways: [(&str, Of); 2] = [
        ("mean over load 0.10 and the highest loads sustained", |points| points),
        ("load 0.10", |points| &points[..1]),
    ];
    let size = found[0].throughput.size;
    let mut text = format!("shares of derouted packets on {}\n", found[0].points[0].torus);
    let compared = size == 16;
    if !compared {
        text += "a sample: Table 3 is of 16x16x16, so its values are not beside these\n";
    }
    for (way, of) in ways {
        text += &format!(
            "\n{way}{}\n{:<18}{:>14}{:>14}{:>14}{:>14}\n",
            if compared { ", and published" } else { "" },
            "pattern",
            "OFR outflank",
            "OFR around",
            "OFR in all",
            "POR"
        );
        let (mut equal, mut cells, mut apart) = (0, 0, 0.0f64);
        for (pattern, published) in TABLE_3 {
            text += &format!("{pattern:<18}");
            for (ours, published) in shares_of(found, pattern, of).into_iter().zip(published) {
                let cell = match compared {
                    true => format!("{ours:.3} {published:.2}"),
                    false => format!("{ours:.3}"),
                };
                text += &format!("{cell:>14}");
                cells += 1;
                equal += u32::from(format!("{ours:.2}") == format!("{published:.2}"));
                apart = apart.max((ours - published).abs());
            }
            text.push('\n');
        }
        if compared {
            text += &format!(
                "of {cells} cells {equal} are as published to two digits; none is apart by more than {apart:.3}\n"
            );
        }
    }
    text
}

/// By how much OFR sustains more than ABR and POR on the large torus, of published loads and of
/// ours by both criteria: what the abstract of \[outflank\] says. Those by a limit are of the
/// patterns for which there is one that the three routings have in common.
pub(super) fn gains(throughputs: &[Throughput], limits: &[Limit]) -> String {
    let of = |pattern: &str, routing: &str| {
        throughputs.iter().find(|it| (it.pattern, it.routing, it.size) == (pattern, routing, 16))
    };
    let common = |it: &Throughput| {
        let limit = limits.iter().find(|limit| (limit.pattern, limit.size) == (it.pattern, 16))?;
        it.published_sustained_load.filter(|_| limit.cells_as_published == ROUTINGS.len())
    };
    let mut text = String::new();
    type Of<'f> = &'f dyn Fn(&Throughput) -> Option<f64>;
    let ways: [(&str, Of<'_>); 3] = [
        ("ours by 1.25 times the lifetime at 0.10", &|it| Some(it.sustained_load)),
        ("ours by one limit of the lifetime", &common),
        ("published", &|it| it.published_sustained_load),
    ];
    for other in ["ABR", "POR"] {
        for (way, load) in ways {
            let gain = |(pattern, _): &(&str, _)| {
                let [one, other] =
                    ["OFR", other].map(|routing| of(pattern, routing).and_then(load));
                Some(100.0 * (one? / other? - 1.0))
            };
            let gains: Vec<f64> = TABLE_2.iter().filter_map(gain).collect();
            if let (Some(low), Some(high)) =
                (gains.iter().copied().reduce(f64::min), gains.iter().copied().reduce(f64::max))
            {
                text += &format!("OFR over {other}, k = 16, {way}: {low:+.0}% to {high:+.0}%\n");
            }
        }
    }
    text
}

pub(super) fn lifetimes(found: &[CaseResult]) -> String {
    let mut text = format!(
        "mean lifetime in us up to the sustained load, and how far it is from the published one; {TABLE_1}\n\
         {:<18}{:<9}{:>6}{:>12}{:>12}{:>10}\n",
        "pattern", "routing", "load", "ours", "published", "apart"
    );
    let (mut compared, mut near) = (0, 0);
    for point in found.iter().flat_map(|found| &found.points) {
        let apart =
            point.published_mean_lifetime_us.map(|it| 100.0 * (point.mean_lifetime_us / it - 1.0));
        let shown = |value: Option<f64>| value.map_or("-".into(), |it| format!("{it:.6}"));
        text += &format!(
            "{:<18}{:<9}{:>6.2}{:>12.6}{:>12}{:>10}\n",
            point.pattern,
            point.routing,
            point.offered_load,
            point.mean_lifetime_us,
            shown(point.published_mean_lifetime_us),
            apart.map_or("-".into(), |apart| format!("{apart:+.3}%"))
        );
        if let Some(apart) = apart {
            compared += 1;
            near += u32::from(apart.abs() <= 3.0);
        }
    }
    match compared {
        0 => text + "no values of these curves were published\n",
        _ => text + &format!("of {compared} published points {near} are within 3%\n"),
    }
}

pub(super) fn shares(found: &[CaseResult]) -> String {
    let mut text = format!(
        "share of derouted packets, butterfly on {}\n{:<9}{:>6}{:>10}{:>12}{:>10}\n",
        found[0].points[0].torus, "routing", "load", "outflank", "wraparound", "orthant"
    );
    for point in found.iter().flat_map(|found| &found.points) {
        text += &format!(
            "{:<9}{:>6.2}{:>9.1}%{:>11.1}%{:>9.1}%\n",
            point.routing,
            point.offered_load,
            100.0 * point.derouted_share_outflank,
            100.0 * point.derouted_share_wraparound,
            100.0 * point.derouted_share_orthant
        );
    }
    text
}

pub(super) fn lifetime_figures(found: &[CaseResult]) -> Vec<(String, Figure)> {
    PATTERNS
        .iter()
        .map(|(pattern, ..)| {
            let of = found.iter().filter(|found| found.throughput.pattern == *pattern);
            let series: Vec<Series> = of.clone().flat_map(curves).collect();
            let y = ("Mean packet lifetime (\u{b5}s)", Scale::Linear);
            let torus = of.map(|found| found.points[0].torus.as_str()).next().unwrap_or_default();
            let title = format!("{torus} torus, {pattern}");
            ((*pattern).to_owned(), xy_figure_among(&NAMES, &title, OFFERED, y, &series))
        })
        .collect()
}

/// A routing's lifetimes up to the highest sustained load, and the published ones at these loads.
fn curves(found: &CaseResult) -> Vec<Series> {
    let routing = found.throughput.routing;
    let ours = found.points.iter().map(|point| (point.offered_load, point.mean_lifetime_us));
    let published = found
        .points
        .iter()
        .filter_map(|point| Some((point.offered_load, point.published_mean_lifetime_us?)));
    let published: Vec<(f64, f64)> = published.collect();
    let mut curves =
        vec![Series { label: routing.into(), style: Style::Curve, points: ours.collect() }];
    if !published.is_empty() {
        let label = format!("{routing}, published");
        curves.push(Series { label, style: Style::Published, points: published });
    }
    curves
}

/// For each size of Table 2 the sustained loads beside the published ones.
pub(super) fn throughput_figures(throughputs: &[Throughput]) -> Vec<(String, Figure)> {
    let mut sizes: Vec<u32> = throughputs.iter().map(|it| it.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let bars = |size: u32, routing: &str, published: bool| {
        let value = |it: &Throughput| {
            let load = if published { it.published_sustained_load? } else { it.sustained_load };
            Some((it.pattern.to_owned(), load, None))
        };
        let of = throughputs.iter().filter(|it| (it.size, it.routing) == (size, routing));
        let label = if published { format!("{routing}, published") } else { routing.to_owned() };
        Bars { label, published, values: of.filter_map(value).collect() }
    };
    let figure = |size: u32| {
        let series: Vec<Bars> = NAMES
            .iter()
            .flat_map(|name| [false, true].map(|published| bars(size, name, published)))
            .filter(|bars| !bars.values.is_empty())
            .collect();
        let title = format!("{size}x{size}x{size} torus, highest sustained loads");
        let note = if size == 8 { "transposition: 8x8x16" } else { "" };
        let axis = "Highest sustained load (fraction of capacity)";
        (format!("sustained-{size}"), bars_figure(&NAMES, &title, axis, &series, note))
    };
    sizes.into_iter().map(figure).collect()
}

pub(super) fn share_figure(found: &[CaseResult]) -> (String, Figure) {
    let mut series = Vec::new();
    type Share = fn(&Point) -> f64;
    let shares: [(&str, &str, Share); 3] = [
        ("OFR", "OFR, outflank", |point| point.derouted_share_outflank),
        ("OFR", "OFR, wraparound", |point| point.derouted_share_wraparound),
        ("POR", "POR", |point| point.derouted_share_orthant),
    ];
    for (routing, label, share) in shares {
        for found in found.iter().filter(|found| found.throughput.routing == routing) {
            let points =
                found.points.iter().map(|point| (point.offered_load, 100.0 * share(point)));
            let style = Style::Curve;
            series.push(Series { label: label.into(), style, points: points.collect() });
        }
    }
    let y = ("Derouted packets (%)", Scale::Linear);
    let title = format!("{} torus, butterfly", found[0].points[0].torus);
    ("derouted".into(), xy_figure_among(&NAMES, &title, OFFERED, y, &series))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_report::figure::Sheet;

    fn case(routing: &'static str, published: Option<f64>) -> CaseResult {
        let point = |offered_load| Point {
            pattern: "uniform",
            routing,
            torus: "8x8x8".into(),
            offered_load,
            mean_lifetime_us: 4.0,
            published_mean_lifetime_us: published,
            mean_hops: 1.0,
            derouted_share_outflank: 0.0,
            derouted_share_wraparound: 0.0,
            derouted_share_orthant: 0.0,
            packets: 1,
            digest: String::new(),
        };
        let throughput = Throughput {
            pattern: "uniform",
            routing,
            size: 8,
            sustained_load: 0.5,
            published_sustained_load: published.map(|_| 0.6),
            sustained_load_bisected: None,
            steady_load: None,
        };
        CaseResult { points: [0.1, 0.2].map(point).into(), throughput, lifetimes: None }
    }

    /// How often the colour of OFR, the third name, is drawn.
    fn of_third_colour(svg: &str) -> usize {
        svg.matches("#009169").count()
    }

    #[test]
    fn published_lifetimes_and_loads_are_drawn_in_the_colour_of_their_routing() {
        let svg = |found: &[CaseResult]| {
            let figures = lifetime_figures(found);
            figures.iter().find(|it| it.0 == "uniform").unwrap().1.svg(&Sheet::default())
        };
        let (with, without) = (svg(&[case("OFR", Some(4.1))]), svg(&[case("OFR", None)]));
        assert!(with.contains(">OFR, published<") && with.contains(">8x8x8 torus, uniform<"));
        assert!(!without.contains("published"));
        // Outlines of two points and of the legend's sample.
        assert_eq!(of_third_colour(&with), of_third_colour(&without) + 3);
        let both = svg(&[case("ABR", None), case("OFR", None)]);
        assert_eq!(of_third_colour(&both), of_third_colour(&without));
        let bars = |published| {
            let [(name, figure)] = &throughput_figures(&[case("OFR", published).throughput])[..]
            else {
                panic!("one size")
            };
            assert_eq!(name, "sustained-8");
            figure.svg(&Sheet::default())
        };
        let (with, without) = (bars(Some(4.1)), bars(None));
        assert_eq!(of_third_colour(&with), of_third_colour(&without) + 2);
        assert!(with.contains(">OFR, published<") && !without.contains("published"));
    }

    #[test]
    fn the_published_gains_are_those_of_the_abstract() {
        let of = |(pattern, loads): &(&'static str, [[f64; 2]; 3])| {
            ROUTINGS
                .iter()
                .zip(*loads)
                .map(|((routing, _), loads)| Throughput {
                    pattern,
                    routing,
                    size: 16,
                    sustained_load: loads[1],
                    published_sustained_load: Some(loads[1]),
                    sustained_load_bisected: None,
                    steady_load: None,
                })
                .collect::<Vec<_>>()
        };
        let limit = |cells_as_published| {
            let of = move |&(pattern, _): &(&'static str, _)| Limit {
                pattern,
                size: 16,
                from_us: 1.0,
                below_us: 2.0,
                cells_as_published,
            };
            TABLE_2.iter().map(of).collect::<Vec<_>>()
        };
        let throughputs = TABLE_2.iter().flat_map(of).collect::<Vec<_>>();
        let text = gains(&throughputs, &limit(3));
        let by_limit = "OFR over ABR, k = 16, ours by one limit of the lifetime: +14% to +114%";
        assert!(text.contains(by_limit), "{text}");
        assert!(!gains(&throughputs, &limit(2)).contains("one limit"), "where there is none");
        assert!(text.contains("OFR over ABR, k = 16, published: +14% to +114%"), "{text}");
        assert!(text.contains("OFR over POR, k = 16, published: -13% to +36%"), "{text}");
        assert_eq!(gains(&[], &[]), "");
    }
}
