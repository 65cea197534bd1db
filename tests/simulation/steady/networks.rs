//! Verdicts and intervals of networks whose packets choose their ways, up to next to saturation.

use flitlab::report::{PointRow, Status};
use rayon::prelude::*;

use super::coverage::coverage;
use super::{Known, hold, row};
use crate::common::slice::is_in_slice;

/// A Dragonfly whose buffers hold what UGAL and PAR see by, to the next group.
pub(super) const DRAGONFLY: &str = "[topology.dragonfly]\ngroups = 9\ngroup_size = 4\nglobal_cables = 2\nterminals = 2\n\
     cabling = \"absolute\"\n[router]\nflit = \"8 B\"\nmaximum_payload = \"64 B\"\nheader_flits = 0\n\
     buffer = \"512 flits\"\nrouting_latency = \"20 ns\"\ncrossbar_latency = \"20 ns\"\n\
     virtual_channels = 8\n[link]\nrate = \"32 Gb/s\"\nlatency = \"22 ns\"\n[adapter]\n\
     injection_rate = \"32 Gb/s\"\nejection_rate = \"32 Gb/s\"\nsend_overhead = \"0 ns\"\n\
     receive_overhead = \"0 ns\"\ninjection_buffer = \"512 flits\"\n[routing.relation]\n\
     rule = \"ugal\"\n[traffic]\npattern = { group-shift = { by = 1 } }\nload = 0.3\n";

const TREE: &str = "[topology.tree]\narity = 4\nlevels = 3\nterminals = 4\n[routing.relation]\n\
                    rule = \"nearest-ancestor\"\n[traffic]\npattern = \"uniform\"\nload = 0.3\n";

const HYPERX: &str = "[topology.hyperx]\ndimensions = [4, 4]\nterminals = 4\n[routing.relation]\n\
                      rule = \"omniwar\"\n[traffic]\npattern = \"dimension-complement\"\nload = 0.3\n";

const TORUS: &str = "[topology.torus]\ndimensions = [4, 4, 4]\n[routing.outflank]\n[traffic]\n\
                     pattern = \"tornado\"\nload = 0.3\n";

/// A network, by a scenario with some assignments.
struct Network {
    name: &'static str,
    text: &'static str,
    more: &'static [&'static str],
    /// The load that is accepted past saturation, about.
    saturation: f64,
}

const UGAL: Network = Network { name: "UGAL", text: DRAGONFLY, more: &[], saturation: 0.455 };
const PAR: Network = Network { name: "PAR", more: &["routing.relation.rule=par"], ..UGAL };
const NEAREST: Network =
    Network { name: "nearest ancestor", text: TREE, more: &[], saturation: 0.82 };
const OMNIWAR: Network = Network { name: "OmniWAR", text: HYPERX, more: &[], saturation: 0.365 };
const OFR: Network = Network { name: "OFR", text: TORUS, more: &[], saturation: 0.405 };

impl Network {
    /// The assignment of a load that is this part of saturation.
    fn load(&self, part: f64) -> String {
        format!("traffic.load={:.4}", part * self.saturation)
    }
}

#[test]
#[ignore = "long: twenty minutes, 200 replications of twelve points, by slices"]
fn of_two_hundred_intervals_of_each_network_93_in_a_hundred_hold_the_mean() {
    let (mut bad, mut known) = (Vec::new(), Vec::new());
    let networks = [UGAL, NEAREST, OMNIWAR, OFR];
    for (_, network) in networks.into_iter().enumerate().filter(|it| is_in_slice(it.0)) {
        let name = network.name;
        for part in [0.5, 0.85, 0.95] {
            let load = network.load(part);
            let more = [network.more, &[&load]].concat();
            let (share, steady, bias) = coverage(network.text, &more, 200, 1500);
            println!("{name} at {part}: {share:.3} of {steady} hold the mean, bias {bias:+.5}");
            if share < 0.93 {
                bad.push((name, part, share));
            }
            let what = format!(
                "95% intervals that hold the mean, {name} at {part} of saturation, share of 200"
            );
            known.push(Known { what, expected: 0.95, ours: share });
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
    hold("network-coverage", &known);
}

/// The verdict of a run, and of one ten times as long in windows as long.
fn beside_ten_times(text: &str, more: &[&str]) -> [PointRow; 2] {
    let short = row(text, more);
    let windows = short.windows.unwrap();
    let measured = short.simulated_time.unwrap().0 - short.warm_up.unwrap().0;
    let longer = [
        format!("measure.window={} ps", measured / u64::from(windows)),
        format!("measure.minimum_windows={}", 10 * windows),
        format!("measure.maximum_windows={}", 10 * windows),
        format!("measure.warm_up_windows={}", 10 * windows.max(120)),
    ];
    let more: Vec<&str> = more.iter().copied().chain(longer.iter().map(String::as_str)).collect();
    let long = row(text, &more);
    [short, long]
}

#[test]
#[ignore = "long: four minutes, a hundred points and runs ten times as long"]
fn of_a_hundred_points_no_verdict_differs_from_that_of_ten_times_the_time() {
    let networks = [UGAL, PAR, NEAREST, OMNIWAR, OFR];
    let points: Vec<(&Network, f64)> = networks
        .iter()
        .flat_map(|it| (0..20).map(move |step| (it, 0.5 + 0.45 * f64::from(step) / 19.0)))
        .collect();
    let verdicts: Vec<[Status; 2]> = points
        .par_iter()
        .map(|&(network, part)| {
            let load = network.load(part);
            let more = [network.more, &[&load]].concat();
            let verdicts = beside_ten_times(network.text, &more).map(|it| it.status);
            println!("{} {load}: {verdicts:?}", network.name);
            verdicts
        })
        .collect();
    let decided = verdicts.iter().filter(|it| !it.contains(&Status::Undecided));
    assert!(decided.clone().all(|[short, long]| short == long), "{verdicts:?}");
    assert!(decided.clone().count() >= 95, "{verdicts:?}");
    let what = "verdicts of runs ten times as long that are the same, share of 100";
    let ours = decided.count() as f64 / 100.0;
    hold("network-verdicts", &[Known { what: what.to_owned(), expected: 1.0, ours }]);
}
