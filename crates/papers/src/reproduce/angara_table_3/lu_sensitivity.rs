//! What LU would need to gain by a table.
//!
//! The paper explains LU's gain by the latency of small messages between neighbours. Here they never
//! wait for each other, so LU gains nothing. Each parameter that could slow them down, or make them
//! wait, is moved by itself, most of them tenfold; slow links also with ranks at other places.

use serde::Serialize;

use super::{ALGORITHMS, Extent, Progress, Published, all, completion, scenario};
use flitlab_report::figure::{Bars, Figure, PUBLISHED, bars_figure};

/// Time steps that are simulated.
const STEPS: u32 = 2;

/// The tables whose gains are published.
const TABLES: [&str; 3] = ["bfs", "genetic", "sssp"];

/// What is assumed otherwise.
pub(super) struct Moved {
    what: &'static str,
    /// How many times as fast a rank computes.
    computes: f64,
    keys: &'static [&'static str],
}

const IN_TURN: &str = "application.placement=round-robin";
const AT_RANDOM: &str = "application.placement=random";
const SLOW: &str = "link.rate=3 Gb/s";

static MOVED: [Moved; 20] = {
    const fn by(what: &'static str, keys: &'static [&'static str]) -> Moved {
        Moved { what, computes: 1.0, keys }
    }
    [
        by("as assumed", &[]),
        // A hop takes 105 ns; buffers cover the round trip of credits in either case.
        by("a hop takes 1,050 ns", &["link.latency=1015 ns", "router.buffer=1440 flits"]),
        // 340 ns a message at either end, and nothing a byte.
        by(
            "hosts take 3,400 ns",
            &["adapter.send_overhead=3400 ns", "adapter.receive_overhead=3400 ns"],
        ),
        by(
            "hosts take 34,000 ns",
            &["adapter.send_overhead=34 us", "adapter.receive_overhead=34 us"],
        ),
        by("hosts take 1 ns a byte", &["application.overhead_per_byte=1.0"]),
        by("5,000 ns between messages", &["application.gap=5 us"]),
        by("all messages ask first", &["application.eager_limit=64 B"]),
        by("no message asks first", &["application.eager_limit=2 MiB"]),
        by("an injection channel", &["adapter.injection_channels=1"]),
        by("half the buffers", &["router.buffer=72 flits"]),
        by("packets of 64 B", &["router.maximum_payload=64 B"]),
        by("ranks in turn", &[IN_TURN]),
        by("ranks at random", &[AT_RANDOM]),
        by("links of 30 Gb/s", &["link.rate=30 Gb/s"]),
        by("links of 10 Gb/s", &["link.rate=10 Gb/s"]),
        by("links of 3 Gb/s", &[SLOW]),
        Moved { what: "ranks compute 10 times as fast", computes: 10.0, keys: &[] },
        Moved { what: "ranks compute 100 times as fast", computes: 100.0, keys: &[] },
        by("ranks in turn, links of 3 Gb/s", &[IN_TURN, SLOW]),
        by("ranks at random, links of 3 Gb/s", &[AT_RANDOM, SLOW]),
    ]
};

/// How many of them a quick run takes.
const QUICK: usize = 2;

#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    moved: &'static str,
    algorithm: &'static str,
    completion_us: f64,
    gain_over_bfs: f64,
}

/// All of them, or those of a quick run.
pub(super) fn moved(extent: Extent<'_>) -> &'static [Moved] {
    if extent.quick { &MOVED[..QUICK] } else { &MOVED }
}

/// LU under each table with one parameter moved after the other; ranks compute at this rate.
pub(super) fn rows(rate: f64, extent: Extent<'_>, progress: Progress<'_>) -> Vec<Row> {
    let of = |moved: &Moved| {
        let time = |algorithm| {
            let scenario = scenario("lu", STEPS, algorithm, rate * moved.computes);
            completion(&scenario, moved.keys, extent)
        };
        let times = TABLES.map(time);
        let row = |(algorithm, time): (&'static str, f64)| Row {
            moved: moved.what,
            algorithm,
            completion_us: time * 1e6,
            gain_over_bfs: times[0] / time - 1.0,
        };
        TABLES.into_iter().zip(times).map(row).collect::<Vec<_>>()
    };
    let note = |rows: &Vec<Row>| match &rows[..] {
        [.., sssp] => format!("lu, {}: sssp {:+.2}%", sssp.moved, 100.0 * sssp.gain_over_bfs),
        [] => String::new(),
    };
    all(moved(extent), extent, of, note, progress).into_iter().flatten().collect()
}

/// The gains of each, and with which of them SSSP gains at least what is published.
pub(super) fn text(rows: &[Row], published: &Published) -> String {
    let mut text = format!("LU, gain over BFS{:>26}{:>9}\n", "genetic", "sssp");
    let line = |what: &str, gains: [f64; 2]| {
        // What rounds to none has no sign.
        let percent = |gain: f64| format!("{:>+8.2}%", (1e4 * gain).round() / 100.0 + 0.0);
        format!("  {what:<33}{}{}\n", percent(gains[0]), percent(gains[1]))
    };
    let [bfs, genetic, sssp] = published.rates;
    let wanted = sssp / bfs - 1.0;
    text += &line(PUBLISHED, [genetic / bfs - 1.0, wanted]);
    let mut enough = Vec::new();
    for of_moved in rows.chunks(TABLES.len()) {
        let [bfs, genetic, sssp] = of_moved else { continue };
        text += &line(bfs.moved, [genetic.gain_over_bfs, sssp.gain_over_bfs]);
        if sssp.gain_over_bfs >= wanted {
            enough.push(bfs.moved);
        }
    }
    text + &match enough[..] {
        [] => "with none of these SSSP gains what is published\n".into(),
        _ => format!("SSSP gains what is published, or more, with: {}\n", enough.join("; ")),
    }
}

/// The gains of each beside the published ones.
pub(super) fn figure(rows: &[Row], published: &Published) -> Figure {
    let mut bars = Vec::new();
    for (algorithm, rate) in TABLES.into_iter().zip(published.rates).skip(1) {
        let gain = 100.0 * (rate / published.rates[0] - 1.0);
        bars.push(Bars {
            label: format!("{algorithm}, {PUBLISHED}"),
            published: true,
            values: vec![(PUBLISHED.into(), gain, None)],
        });
    }
    for algorithm in TABLES.into_iter().skip(1) {
        let of = rows.iter().filter(|row| row.algorithm == algorithm);
        let values = of.map(|row| (row.moved.into(), 100.0 * row.gain_over_bfs, None)).collect();
        bars.push(Bars { label: algorithm.into(), published: false, values });
    }
    let title = "4x2x2x2 torus (Desmos), LU, class C, 128 ranks, one parameter moved";
    bars_figure(&ALGORITHMS, title, "Rate above that under BFS's table (%)", &bars, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;
    use crate::reproduce::angara_table_3::TABLE_3;

    #[test]
    fn the_text_names_what_makes_lu_gain_enough_and_nothing_else() {
        let row = |moved, gains: [f64; 2]| {
            let row = |(algorithm, gain_over_bfs)| Row {
                moved,
                algorithm,
                completion_us: 1.0,
                gain_over_bfs,
            };
            TABLES.into_iter().zip([0.0, gains[0], gains[1]]).map(row).collect::<Vec<_>>()
        };
        let text = |rows: &[Vec<Row>]| text(&rows.concat(), &TABLE_3[0]);
        let none = [row("one", [0.02, 0.0]), row("two", [-0.02, 0.011])];
        assert!(text(&none).ends_with("with none of these SSSP gains what is published\n"));
        let some = [row("one", [0.0, 0.012]), row("two", [0.0, -0.02])];
        assert!(text(&some).ends_with("or more, with: one\n"), "{}", text(&some));
    }

    #[test]
    fn lu_gains_nothing_as_assumed_nor_with_slower_hops() {
        let rows = rows(3.6e9, SAMPLE, &mut |_, _, _| {});
        assert_eq!(rows.len(), QUICK * TABLES.len());
        assert!(rows.iter().all(|row| row.gain_over_bfs.abs() < 1e-3), "{rows:?}");
    }
}
