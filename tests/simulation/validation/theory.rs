//! Values that queueing theory and statistics give; `steady` holds flitlab's to them.

use super::{Row, Section, records, value};

pub fn sections() -> Vec<Section> {
    vec![
        section(
            "A queue at an ejection channel",
            "31 nodes that send to one are a queue M/D/1. The mean wait is rho / (2 (1 -\n\
             rho)) packet times (Pollaczek and Khinchine;\n\
             [kleinrock](bibliography.md#kleinrock), section 5.6).",
            "md1",
            "cargo test md1 -- --ignored",
        ),
        section(
            "Switches with input queues",
            "The expected value is the throughput of a switch with one queue an input,\n\
             under full uniform load ([input-queueing](bibliography.md#input-queueing),\n\
             table I).",
            "switches",
            "cargo test switches_with -- --ignored",
        ),
        section(
            "Switches that share links flit by flit",
            "Packets have one flit, under full uniform load. There are two cases: one queue\n\
             an input, as above; and a queue for each input and output under iSLIP\n\
             ([islip](bibliography.md#islip)). In the second case no head of a queue blocks\n\
             other packets.",
            "flit-switches",
            "cargo test flit_switches -- --ignored",
        ),
        section(
            "Confidence intervals",
            "Of a hundred 95% intervals, 95 should hold the mean of a run without end. That\n\
             mean is taken from eight runs of 5,000 windows. 93 to 97 are accepted.",
            "coverage",
            "cargo test coverage -- --ignored",
        ),
        section(
            "Confidence intervals of networks whose packets choose their ways",
            "As above, of 200 seeds each, with eight runs of 1,500 windows. At least 93 of a\n\
             hundred are accepted.",
            "network-coverage",
            "cargo test intervals_of_each_network -- --ignored",
        ),
        section(
            "Verdicts",
            "Steady or not, of a hundred points from half to 0.95 of saturation: UGAL and PAR\n\
             on a Dragonfly, a fat tree, OmniWAR on a HyperX, OFR on a torus. Each is held\n\
             against a run ten times as long. What differs may be undecided, in five at most.",
            "network-verdicts",
            "cargo test of_a_hundred_points -- --ignored",
        ),
        section(
            "Confidence intervals near saturation",
            "These are the intervals of one queue, a source's, whose mean wait has a closed\n\
             form. It is Geo/D/1: rho (D - 1) / (2 (1 - rho)) slots, with a message of D =\n\
             33 slots ([takagi](bibliography.md#takagi), section 1.1).",
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
        source: "In a steady state all offered flits are accepted, whatever has failed. The\n\
                 load is 0.2 on a 6x6x6 torus. Messages are created at random, so the accepted\n\
                 load meets it nearly.",
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
