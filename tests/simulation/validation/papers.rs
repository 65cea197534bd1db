//! Values that papers give.

use super::{Row, Section, records, value};

pub fn sections() -> Vec<Section> {
    vec![
        angara_table_2(),
        angara_table_3(),
        angara_figure_6(),
        outflank_table_2(),
        outflank_curves(),
        path_selection(),
        omniwar(),
    ]
}

fn angara_table_2() -> Section {
    let mut rows = Vec::new();
    for record in records("results/angara/table2/table.csv") {
        for (column, meaning) in [
            ("maximum_load", "maximum load"),
            ("minimum_load", "minimum load"),
            ("sigma_4", "sigma(4)"),
            ("hops_maximum", "diameter"),
        ] {
            let published = &record[&format!("published_{column}")];
            if !published.is_empty() {
                let what = format!("{} on {}: {meaning}", record["algorithm"], record["torus"]);
                let ours = value(&record[column]);
                rows.push(Row::new(
                    what,
                    value(published),
                    ours,
                    "flitlab reproduce angara-table2",
                ));
            }
        }
    }
    Section {
        title: "Angara routing tables, Table 2",
        source: "The source is [angara-routing](bibliography.md#angara-routing). The paper\n\
                 leaves the order of vertices open, so loads can differ there. Of 96 readings\n\
                 of bfs this is the nearest: results/angara.",
        rows,
    }
}

/// Gains of tables over BFS's, of whole benchmarks.
fn angara_table_3() -> Section {
    let mut rows = Vec::new();
    for record in records("results/angara/table3/table.csv") {
        let of = |column: &str| record[column].parse::<f64>();
        if record["algorithm"] == "bfs" {
            continue;
        }
        if let (Ok(published), Ok(ours)) = (of("published_gain_over_bfs"), of("gain_over_bfs")) {
            let what = format!(
                "{} under {}: rate over that under BFS",
                record["benchmark"], record["algorithm"]
            );
            let command = "flitlab reproduce angara-table3";
            rows.push(Row::new(what, 1.0 + published, 1.0 + ours, command));
        }
    }
    Section {
        title: "NAS Parallel Benchmarks on Desmos, Table 3",
        source: "The source is [angara-routing](bibliography.md#angara-routing): class C, 128\n\
                 ranks. The ranks' computing rate is set by the published rate under BFS\n\
                 (results/angara).",
        rows,
    }
}

/// Ratios of times, by the names that the gains have in the twin of Desmos.
fn angara_figure_6() -> Section {
    let mut rows = Vec::new();
    for record in records("results/desmos-twin/figures.csv") {
        if record["source"] == "Figure 6" {
            let gain = record["figure"].strip_suffix(", %").expect("a gain");
            let ratio = |column: &str| 1.0 + value(&record[column]) / 100.0;
            rows.push(Row::new(
                format!("{gain}, ratio of times"),
                ratio("published"),
                ratio("ours"),
                "scripts/desmos-twin.sh figures",
            ));
        }
    }
    Section {
        title: "Patterns on Desmos, Figure 6",
        source: "The source is [angara-routing](bibliography.md#angara-routing), section 5.2.\n\
                 The runs are on 32 nodes unless stated otherwise; for 8 nodes the paper says\n\
                 \"approximately the same\". None of these values set a parameter. The paper\n\
                 names the patterns without defining them. The work of its hosts for a message\n\
                 is assumed (results/desmos-twin).",
        rows,
    }
}

fn outflank_table_2() -> Section {
    let command = "flitlab reproduce outflank-table2";
    let row = |record: std::collections::BTreeMap<String, String>| {
        let [pattern, routing, size] = ["pattern", "routing", "size"].map(|it| &record[it]);
        Row::new(
            format!("{pattern} under {routing}, k = {size}"),
            value(&record["published_sustained_load"]),
            value(&record["sustained_load"]),
            command,
        )
    };
    let with_a_limit = |record: std::collections::BTreeMap<String, String>| {
        let [pattern, size] = ["pattern", "size"].map(|it| &record[it]);
        let cells = value(&record["cells_as_published"]);
        Row::new(format!("{pattern}, k = {size}: loads with one limit"), 3.0, cells, command)
    };
    let limits = records("results/outflank/table2/limits.csv").into_iter().map(with_a_limit);
    let loads = records("results/outflank/table2/throughput.csv").into_iter().map(row);
    Section {
        title: "OutFlank Routing, Table 2: highest sustained load",
        source: "The source is [outflank](bibliography.md#outflank); results/outflank has the\n\
                 reasons for deviations. A load counts as sustained up to 1.25 times the mean\n\
                 lifetime at 0.10. This criterion is ours. The rows of limits assume one\n\
                 lifetime in microseconds as the limit, the same for the three routings. They\n\
                 count how many of the three published loads then agree with ours.",
        rows: loads.chain(limits).collect(),
    }
}

fn outflank_curves() -> Section {
    let row = |record: std::collections::BTreeMap<String, String>| {
        let [pattern, routing, load] = ["pattern", "routing", "offered_load"].map(|it| &record[it]);
        Row::new(
            format!("{pattern} under {routing} at {load}, us"),
            value(&record["published_mean_lifetime_us"]),
            value(&record["mean_lifetime_us"]),
            "flitlab reproduce outflank-fig4 --quick",
        )
    };
    Section {
        title: "OutFlank Routing, Figure 4: mean lifetime of packets on 8x8x8",
        source: "The source are the result files of the author of\n\
                 [outflank](bibliography.md#outflank). All times are a quarter of those in the\n\
                 paper's Table 1.",
        rows: records("results/outflank/fig4-quick/points.csv").into_iter().map(row).collect(),
    }
}

/// How evenly selections spread paths, on a hundred networks.
fn path_selection() -> Section {
    let mut rows = Vec::new();
    for table in ["table2", "table3"] {
        for record in records(&format!("results/path-selection/{table}/table.csv")) {
            let of = |column: &str| record[column].as_str();
            if of("reading") == "routes, lowest first" && !of("published").is_empty() {
                let (links, vcs) = (of("links"), of("lanes"));
                let plural = if vcs == "1" { "" } else { "s" };
                let what = format!(
                    "{} of {}, {vcs} virtual channel{plural}, {links} links: deviation",
                    of("selection"),
                    of("routing")
                );
                let (published, ours) = (value(of("published")), value(of("deviation")));
                let command = format!("flitlab reproduce path-selection-{table}");
                rows.push(Row::new(what, published, ours, &command));
            }
        }
    }
    Section {
        title: "Path selection on 16 switches, Tables 2 and 3: deviation of the paths across a channel",
        source: "The source is [path-selection](bibliography.md#path-selection). The paper's\n\
                 ten networks are not known: our values are means over a hundred. All ports\n\
                 linked make 32 links. It is a guess that 30 links come nearer\n\
                 (results/path-selection).",
        rows,
    }
}

/// What the abstract says of two routings of HyperX networks.
fn omniwar() -> Section {
    let mut rows = Vec::new();
    for record in records("results/hyperx-omniwar/claims.csv") {
        if record["remark"].starts_with("the abstract") {
            let [network, traffic, rule, what] =
                ["network", "traffic", "rule", "what"].map(|it| &record[it]);
            let what = format!("{network}, {traffic}, {rule}: {what}");
            let (said, ours) = (value(&record["said"]), value(&record["ours"]));
            rows.push(Row::new(what, said, ours, "flitlab reproduce hyperx-omniwar"));
        }
    }
    Section {
        title: "DimWAR and OmniWAR, abstract",
        source: "The source is [hyperx-adaptive](bibliography.md#hyperx-adaptive), of which we\n\
                 have the abstract: \"as much as 4x with synthetic traffic\" over prior work, of\n\
                 which it names none. That minimal routing under the complement is meant is our\n\
                 reading of it. The runs are short. [papers/fabrics.md](papers/fabrics.md) has\n\
                 what is compared without a number.",
        rows,
    }
}
