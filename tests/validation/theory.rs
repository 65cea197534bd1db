//! Values that queueing theory and statistics give; `steady` holds flitlab's to them.

use super::{Row, Section, records, value};

pub fn sections() -> Vec<Section> {
    vec![
        section(
            "A queue at an ejection channel",
            "31 nodes that send to one are a queue M/D/1: waiting in the mean is rho / (2 (1 - rho)) packet times \
             (Pollaczek and Khinchine; L. Kleinrock, \"Queueing Systems\", volume 1, section 5.6).",
            "md1",
            "cargo test md1 -- --ignored",
        ),
        section(
            "Switches with input queues",
            "What a switch with one queue an input passes under full uniform load (M. Karol, M. Hluchyj, S. \
             Morgan, \"Input versus output queueing on a space-division packet switch\", IEEE Transactions on \
             Communications 35, 1987, table I).",
            "switches",
            "cargo test switches_with -- --ignored",
        ),
        section(
            "Switches that share links flit by flit",
            "Packets of one flit under full uniform load: one queue an input, as above, and a queue an input and output \
             under iSLIP, which has no head of line that blocks others (N. McKeown, IEEE/ACM Transactions on Networking \
             7, 1999).",
            "flit-switches",
            "cargo test flit_switches -- --ignored",
        ),
        section(
            "Confidence intervals",
            "95 of a hundred 95% intervals are to hold the mean of a run without end; that mean is taken from \
             eight runs of 5,000 windows. 93 to 97 are accepted.",
            "coverage",
            "cargo test coverage -- --ignored",
        ),
        section(
            "Confidence intervals near saturation",
            "The same of one queue, a source's, whose mean wait has a closed form: Geo/D/1, rho (D - 1) / (2 (1 - rho)) \
             slots (H. Takagi, \"Queueing Analysis\", volume 3, section 1.1), with a message of D = 33 slots.",
            "queue-coverage",
            "cargo test one_queue -- --ignored",
        ),
        adaptive_failures(),
    ]
}

/// Adaptive routing with failed cables.
fn adaptive_failures() -> Section {
    let mut rows = Vec::new();
    for record in records("results/angara-adaptive-failures/points.csv") {
        if record["traffic.load"] == "0.2" && record["status"] == "steady" {
            rows.push(Row::new(
                format!("{}: accepted load", record["series"]),
                value(&record["offered_load"]),
                value(&record["accepted_load"]),
                "flitlab sweep scenarios/studies/angara-adaptive-failures.toml",
            ));
        }
    }
    Section {
        title: "Adaptive routing with failed cables",
        source: "In a steady state all that is offered is accepted, whatever has failed: load 0.2 on a 6x6x6 torus. Messages \
                 are created at random, so it is met nearly.",
        rows,
    }
}

fn section(
    title: &'static str,
    source: &'static str,
    file: &str,
    command: &'static str,
) -> Section {
    let records = records(&format!("results/theory/{file}.csv"));
    let row = |record: &std::collections::BTreeMap<String, String>| {
        Row::new(
            record["what"].as_str(),
            value(&record["expected"]),
            value(&record["flitlab"]),
            command,
        )
    };
    Section { title, source, rows: records.iter().map(row).collect() }
}
