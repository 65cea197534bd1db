//! What networks carry under several routings, over the load: the form of the papers on Dragonfly,
//! Slim Fly and HyperX. A reproduction is a table of data, networks with their panels; here it is
//! simulated, drawn, and put beside what the papers and closed forms say.
//!
//! Runs are too short to show of every source that its queue does not grow. So a load counts as
//! carried if it is steady, or undecided with nearly all accepted that is offered.

use std::fmt::Write;

use serde::Serialize;

use super::ideal_routers::IdealRouters;
use super::{Extent, Flawed, Progress, Reproduction, all, json};
use flitlab_base::narrow::narrow;
use flitlab_report::figure::{Figure, accepted_figure_among, latency_figure_among};
use flitlab_report::{Label, Point, PointRow, Status, rows_text};
use flitlab_scenario::simulation::Simulation;
use flitlab_scenario::{Document, Scenario};

/// The share of the offered load that is accepted at least where an undecided one is carried.
const CARRIED: f64 = 0.98;

/// A network under some kinds of traffic.
pub(super) struct Network {
    /// In tables and names of figures.
    pub name: &'static str,
    /// In titles, with its size.
    pub title: &'static str,
    /// Its line of a scenario, in `topology`.
    pub topology: &'static str,
    pub vcs: u8,
    /// Of all packets, in flits.
    pub packet: u32,
    /// The length of a window in ns, and how many are ignored and measured.
    pub windows: (u32, u32, u32),
    pub panels: &'static [Panel],
}

/// The rules under one kind of traffic: two figures.
pub(super) struct Panel {
    /// In tables and names of figures.
    pub name: &'static str,
    /// In titles.
    pub title: &'static str,
    /// The value of `traffic.pattern`.
    pub pattern: &'static str,
    pub rules: &'static [Rule],
    /// Offered loads, in flits a flit time and terminal, ascending. Of those that are not carried
    /// a rule has two, and the last one.
    pub loads: &'static [f64],
    pub claims: &'static [Claim],
}

/// A routing.
#[derive(Debug)]
pub(super) struct Rule {
    pub name: &'static str,
    /// The value of `routing.relation.rule`.
    pub written: &'static str,
    /// Of a virtual channel, in flits.
    pub buffer: u32,
}

/// What a paper or a closed form says about a rule in a panel.
pub(super) struct Claim {
    pub rule: &'static str,
    pub of: Of,
    pub says: Says,
    /// Who says so, and what else is to be known.
    pub remark: &'static str,
}

/// A figure of a rule.
#[derive(Clone, Copy)]
pub(super) enum Of {
    /// The most that is accepted at any load.
    Highest,
    /// That beside another rule's.
    HighestOver(&'static str),
    /// The highest load that is carried.
    Carried,
    /// The mean latency beside another rule's, at a load.
    LatencyOver(&'static str, f64),
}

#[derive(Clone, Copy)]
pub(super) enum Says {
    Equal(f64),
    AtMost(f64),
    AtLeast(f64),
}

/// A simulated load.
#[derive(Clone, Debug, Serialize)]
struct Row {
    network: &'static str,
    traffic: &'static str,
    rule: &'static str,
    buffer_flits: u32,
    offered_load: f64,
    accepted_load: Option<f64>,
    carried: bool,
    state: &'static str,
    packet_latency_mean_ns: Option<f64>,
    packet_latency_mean_ci95_ns: Option<f64>,
    packet_latency_p99_ns: Option<f64>,
    hops_mean: Option<f64>,
    digest: String,
}

/// A claim beside ours.
#[derive(Clone, Debug, Serialize)]
struct ClaimRow {
    network: &'static str,
    traffic: &'static str,
    rule: &'static str,
    what: String,
    said: String,
    ours: Option<f64>,
    /// From the value that is said.
    difference_percent: Option<f64>,
    remark: &'static str,
}

/// A rule in a panel of a network.
struct Case {
    network: &'static Network,
    panel: &'static Panel,
    rule: &'static Rule,
}

struct Found {
    rows: Vec<Row>,
    points: Vec<Point>,
}

/// The panels of networks, of which a quick run takes the first one.
pub(super) fn load_curves(
    networks: &'static [Network],
    extent: Extent<'_>,
    progress: Progress<'_>,
) -> Result<Reproduction, Flawed> {
    let networks = if extent.quick { &networks[..1] } else { networks };
    let mut cases: Vec<Case> = Vec::new();
    // The longest first.
    for network in networks.iter().rev() {
        for panel in network.panels {
            cases.extend(panel.rules.iter().map(|rule| Case { network, panel, rule }));
        }
    }
    let note = |found: &Result<Found, Flawed>| found.as_ref().map_or(String::new(), line);
    let found = all(&cases, extent, |case| curve(case, extent), note, progress);
    let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (mut rows, mut claims, mut figures) = (Vec::new(), Vec::new(), Vec::new());
    for network in networks {
        for panel in network.panels {
            let own = cases.iter().zip(&found);
            let own = own.filter(|(case, _)| std::ptr::eq(case.panel, panel));
            let own: Vec<&Found> = own.map(|(_, found)| found).collect();
            let of_panel: Vec<Row> = own.iter().flat_map(|found| found.rows.clone()).collect();
            let beside =
                panel.claims.iter().map(|claim| put_beside(network, panel, claim, &of_panel));
            claims.extend(beside);
            rows.extend(of_panel);
            let points: Vec<Point> = own.iter().flat_map(|found| found.points.clone()).collect();
            figures.extend(drawn(network, panel, &points));
        }
    }
    Ok(Reproduction {
        text: text(&rows, &claims),
        tables: vec![("claims", rows_text(&claims)), ("points", rows_text(&rows))],
        figures,
        json: serde_json::json!({ "claims": json(&claims), "points": json(&rows) }),
    })
}

fn scenario(case: &Case) -> String {
    let Case { network, panel, rule } = *case;
    let Network { topology, vcs, packet, windows: (window, warm_up, measured), .. } = *network;
    let (pattern, written, buffer) = (panel.pattern, rule.written, rule.buffer);
    let routers = IdealRouters { vcs: vcs.into(), packet, buffer, behind: 16 * packet.max(2) };
    format!(
        r#"
        topology.{topology}
        routing.relation.rule = {written}
        {routers}
        [traffic]
        pattern = {pattern}
        load = 1.0

        [measure]
        window = "{window} ns"
        warm_up_windows = {warm_up}
        minimum_windows = {measured}
        maximum_windows = {measured}
        order = false
        "#
    )
}

/// Simulates loads upwards until two are not carried, then the highest.
fn curve(case: &Case, extent: Extent<'_>) -> Result<Found, Flawed> {
    let Case { network, panel, rule } = *case;
    let of_case =
        |error: String| format!("{}, {}, {}: {error}", network.name, panel.name, rule.name);
    let text = scenario(case);
    let document = Document::parse(network.name, &text);
    let scenario = Scenario::read(&document).map_err(|error| of_case(error.to_string()))?;
    let mut found = Found { rows: Vec::new(), points: Vec::new() };
    let mut behind = 0;
    for (place, &load) in panel.loads.iter().enumerate() {
        if behind >= 2 && place + 1 < panel.loads.len() {
            continue;
        }
        let simulate = || {
            let simulation = Simulation::new(&scenario.at_load(load));
            simulation.map(|it| it.run(&mut |_| {}).found.measured).map_err(|it| it.to_string())
        };
        let measured: Result<PointRow, String> =
            extent.simulated(&format!("{text}at load {load}"), simulate);
        let measured = measured.map_err(of_case)?;
        if measured.status == Status::Deadlock {
            return Err(of_case(format!("a deadlock at load {load}")));
        }
        let row = row(case, load, &measured);
        behind += u32::from(!row.carried);
        // As figures show it: the mean alone, whose interval is wide where packets are few.
        let measured = PointRow {
            status: if row.carried { Status::Steady } else { measured.status },
            packet_latency_mean_ci95: None,
            packet_latency_p99: None,
            ..measured
        };
        found.rows.push(row);
        let label = Label {
            series: rule.name.into(),
            seed: scenario.seed,
            point: narrow(place),
            ..Label::default()
        };
        found.points.push(Point { label, measured, ..Point::default() });
    }
    Ok(found)
}

fn row(case: &Case, load: f64, measured: &PointRow) -> Row {
    let Case { network, panel, rule } = *case;
    let ns = |time: flitlab_base::units::Picoseconds| time.0 as f64 / 1e3;
    Row {
        network: network.name,
        traffic: panel.name,
        rule: rule.name,
        buffer_flits: rule.buffer,
        offered_load: load,
        accepted_load: measured.accepted_load,
        carried: is_carried(load, measured),
        state: measured.status.name(),
        packet_latency_mean_ns: measured.packet_latency_mean.map(ns),
        packet_latency_mean_ci95_ns: measured.packet_latency_mean_ci95.map(ns),
        packet_latency_p99_ns: measured.packet_latency_p99.map(ns),
        hops_mean: measured.hops_mean,
        digest: format!("{:016x}", measured.digest.unwrap_or_default()),
    }
}

fn is_carried(load: f64, measured: &PointRow) -> bool {
    let nearly_all = measured.accepted_load.is_some_and(|accepted| accepted >= CARRIED * load);
    measured.status == Status::Steady || measured.status == Status::Undecided && nearly_all
}

/// The most that a rule accepts at any load, of the rows of a panel.
fn highest(rows: &[Row], rule: &str) -> Option<f64> {
    let own = rows.iter().filter(|row| row.rule == rule);
    own.filter_map(|row| row.accepted_load).reduce(f64::max)
}

/// The mean latency of a rule at a load, if it is carried.
fn latency(rows: &[Row], rule: &str, load: f64) -> Option<f64> {
    let mut own = rows.iter().filter(|row| row.rule == rule && row.carried);
    own.find(|row| (row.offered_load - load).abs() < 1e-9)?.packet_latency_mean_ns
}

fn put_beside(
    network: &'static Network,
    panel: &'static Panel,
    claim: &'static Claim,
    rows: &[Row],
) -> ClaimRow {
    let (what, ours) = match claim.of {
        Of::Highest => ("highest accepted load".into(), highest(rows, claim.rule)),
        Of::HighestOver(other) => {
            let ours = highest(rows, claim.rule).zip(highest(rows, other));
            (format!("highest accepted load over {other}'s"), ours.map(|(own, other)| own / other))
        }
        Of::Carried => {
            let own = rows.iter().filter(|row| row.rule == claim.rule && row.carried);
            let ours = own.map(|row| row.offered_load).reduce(f64::max);
            ("highest load carried".into(), ours)
        }
        Of::LatencyOver(other, load) => {
            let ours = latency(rows, claim.rule, load).zip(latency(rows, other, load));
            let what = format!("mean latency over {other}'s at load {load}");
            (what, ours.map(|(own, other)| own / other))
        }
    };
    let (said, value) = match claim.says {
        Says::Equal(value) => (format!("{value:.3}"), Some(value)),
        Says::AtMost(value) => (format!("at most {value:.3}"), Some(value)),
        Says::AtLeast(value) => (format!("at least {value:.3}"), Some(value)),
    };
    ClaimRow {
        network: network.name,
        traffic: panel.name,
        rule: claim.rule,
        what,
        said,
        ours,
        difference_percent: ours.zip(value).map(|(ours, said)| 100.0 * (ours / said - 1.0)),
        remark: claim.remark,
    }
}

/// Latency and accepted load over the offered one.
fn drawn(network: &Network, panel: &Panel, points: &[Point]) -> [(String, Figure); 2] {
    let mut names: Vec<&str> = Vec::new();
    for rule in network.panels.iter().flat_map(|panel| panel.rules) {
        if !names.contains(&rule.name) {
            names.push(rule.name);
        }
    }
    let title = format!("{}, {}", network.title, panel.title);
    // Latency has no more to show where no rule carries the load.
    let offered = |point: &Point| point.measured.offered_load.unwrap_or(0.0);
    let carried = points.iter().filter(|point| point.measured.status == Status::Steady);
    let most = carried.map(offered).fold(0.0, f64::max);
    let below: Vec<Point> = points.iter().filter(|it| offered(it) <= most).cloned().collect();
    let name = |what: &str| format!("{what}-{}-{}", network.name, panel.name);
    [
        (name("latency"), latency_figure_among(&names, &below, &title)),
        (name("accepted"), accepted_figure_among(&names, points, &title)),
    ]
}

fn line(found: &Found) -> String {
    let Some(row) = found.rows.first() else { return String::new() };
    let highest = highest(&found.rows, row.rule).unwrap_or(0.0);
    format!("{:<18}{:<20}{:<24}{highest:.3}", row.network, row.traffic, row.rule)
}

fn text(rows: &[Row], claims: &[ClaimRow]) -> String {
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.3}"));
    let mut text = format!(
        "{:<18}{:<20}{:<24}{:>9}{:>14}{:>12}\n",
        "network", "traffic", "rule", "highest", "latency (ns)", "at load"
    );
    let same = |one: &Row, other: &Row| {
        (one.network, one.traffic, one.rule) == (other.network, other.traffic, other.rule)
    };
    for own in rows.chunk_by(same) {
        let carried = own.iter().rfind(|row| row.carried);
        let latency = number(carried.and_then(|row| row.packet_latency_mean_ns));
        let load = number(carried.map(|row| row.offered_load));
        let Row { network, traffic, rule, .. } = own[0];
        let most = number(highest(own, rule));
        let _ =
            writeln!(text, "{network:<18}{traffic:<20}{rule:<24}{most:>9}{latency:>14}{load:>12}");
    }
    for claim in claims {
        let ClaimRow { network, traffic, rule, what, said, remark, .. } = claim;
        let ours = number(claim.ours);
        let difference = claim.difference_percent.map(|it| format!(" ({it:+.1}%)"));
        let difference = difference.unwrap_or_default();
        let _ = writeln!(
            text,
            "\n{network}, {traffic}, {rule}: {what}\n    said: {said}; ours: {ours}{difference}; {remark}"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{dragonfly_ugal, hyperx_omniwar, slim_fly};
    use super::*;

    fn networks() -> impl Iterator<Item = &'static Network> {
        let all = [&dragonfly_ugal::NETWORKS, &slim_fly::NETWORKS, &hyperx_omniwar::NETWORKS];
        all.into_iter().flatten()
    }

    #[test]
    fn claims_are_about_rules_and_loads_of_their_panel() {
        for network in networks() {
            for panel in network.panels {
                assert!(panel.loads.is_sorted() && panel.loads.len() > 3, "{}", panel.name);
                let has = |name: &str| panel.rules.iter().any(|rule| rule.name == name);
                for claim in panel.claims {
                    let known = match claim.of {
                        Of::Highest | Of::Carried => has(claim.rule),
                        Of::HighestOver(other) => has(claim.rule) && has(other),
                        Of::LatencyOver(other, load) => {
                            has(claim.rule) && has(other) && panel.loads.contains(&load)
                        }
                    };
                    assert!(known, "{} {} {}", network.name, panel.name, claim.rule);
                }
            }
        }
    }

    #[test]
    fn the_small_networks_have_the_terminals_of_their_titles_and_every_rule_is_proved() {
        for network in networks().step_by(2) {
            for panel in network.panels {
                for rule in panel.rules {
                    let text = scenario(&Case { network, panel, rule });
                    let scenario = Scenario::read(&Document::parse(network.name, &text)).unwrap();
                    let terminals = network.name.rsplit('-').next().unwrap();
                    assert_eq!(scenario.network.fabric.terminals().to_string(), terminals);
                }
            }
        }
    }

    #[test]
    fn a_claim_is_put_beside_the_highest_load_or_a_steady_one() {
        static RULES: [Rule; 2] = [
            Rule { name: "one", written: "", buffer: 1 },
            Rule { name: "other", written: "", buffer: 1 },
        ];
        static NETWORK: Network = Network {
            name: "net",
            title: "",
            topology: "",
            vcs: 1,
            packet: 1,
            windows: (1, 1, 1),
            panels: &[Panel {
                name: "some",
                title: "",
                pattern: "",
                rules: &RULES,
                loads: &[0.1, 0.2],
                claims: &[
                    Claim { rule: "one", of: Of::Highest, says: Says::Equal(0.2), remark: "" },
                    Claim {
                        rule: "one",
                        of: Of::HighestOver("other"),
                        says: Says::AtMost(0.5),
                        remark: "",
                    },
                    Claim {
                        rule: "one",
                        of: Of::LatencyOver("other", 0.1),
                        says: Says::AtLeast(1.0),
                        remark: "",
                    },
                    Claim {
                        rule: "one",
                        of: Of::LatencyOver("other", 0.2),
                        says: Says::AtLeast(1.0),
                        remark: "",
                    },
                    Claim { rule: "one", of: Of::Carried, says: Says::Equal(0.1), remark: "" },
                ],
            }],
        };
        let panel = &NETWORK.panels[0];
        let row = |rule: usize, load: f64, accepted: f64, latency: u64, status: Status| {
            let measured = PointRow {
                status,
                accepted_load: Some(accepted),
                packet_latency_mean: Some(flitlab_base::units::Picoseconds(latency * 1000)),
                ..PointRow::default()
            };
            row(&Case { network: &NETWORK, panel, rule: &RULES[rule] }, load, &measured)
        };
        let rows = [
            row(0, 0.1, 0.15, 30, Status::Steady),
            row(0, 0.2, 0.1, 90, Status::Undecided),
            row(1, 0.1, 0.099, 20, Status::Undecided),
            row(1, 0.2, 0.2, 20, Status::Steady),
        ];
        let beside = |at: usize| put_beside(&NETWORK, panel, &panel.claims[at], &rows);
        let near = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 1e-9;
        assert!(near(beside(0).ours, 0.15) && near(beside(0).difference_percent, -25.0));
        assert!(near(beside(1).ours, 0.75) && near(beside(1).difference_percent, 50.0));
        assert!(near(beside(2).ours, 1.5) && near(beside(2).difference_percent, 50.0));
        assert!(near(beside(4).ours, 0.1) && near(beside(4).difference_percent, 0.0));
        assert_eq!((beside(3).ours, beside(3).said.as_str()), (None, "at least 1.000"));
    }
}
