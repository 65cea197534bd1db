//! \[path-selection\], section 2: the time of selecting paths, which for traffic balancing is said to
//! be `O(n^2 diameter)`. Over irregular networks of the paper's kind with ever more switches, under
//! Up*/Down* with one virtual channel, beside the number of switches squared times the diameter.

use std::fmt::Write;

use cpu_time::ThreadTime;
use serde::{Deserialize, Serialize};

use super::nue_runtime::slope;
use super::path_selection::{NAMES, irregular, selections, up_down};
use super::tori::on_one_thread;
use super::{Extent, Flawed, Progress, Reproduction, all};
use flitlab_fabric::fewest_hops;
use flitlab_report::figure::{Scale, Series, Style, xy_figure_among};
use flitlab_tables::path_selection::SelectionParameters;

/// Numbers of switches.
const SWITCHES: [u32; 7] = [16, 24, 32, 48, 64, 96, 128];
const QUICK: usize = 3;

/// Times of a selection on a network; the least of several.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Row {
    switches: u32,
    diameter: u32,
    #[serde(skip_deserializing)]
    selection: &'static str,
    /// The number of switches squared, times the diameter.
    claimed: u64,
    cpu_seconds: f64,
}

/// All selections on all networks.
///
/// # Errors
/// If the relation is wrong.
pub fn path_selection_runtime(
    extent: Extent<'_>,
    progress: Progress<'_>,
) -> Result<Reproduction, Flawed> {
    let switches = &SWITCHES[..if extent.quick { QUICK } else { SWITCHES.len() }];
    let names: Vec<&'static str> = selections().map(|it| it.name).collect();
    let of_network = |&switches| names.iter().map(move |&name| (switches, name));
    let jobs: Vec<(u32, &str)> = switches.iter().flat_map(of_network).collect();
    let work = |&(switches, name): &(u32, &'static str)| -> Result<Row, Flawed> {
        let job = format!("{name} on {switches} switches");
        let row = on_one_thread(|| extent.simulated(&job, || row(switches, name)))?;
        Ok(Row { selection: name, ..row })
    };
    let rows = all(&jobs, extent, work, |_| String::new(), progress);
    let rows = rows.into_iter().collect::<Result<Vec<Row>, _>>()?;
    let of = |name: &str| -> Vec<(f64, f64)> {
        let own = rows.iter().filter(|row| row.selection == name);
        own.map(|row| (row.claimed as f64, row.cpu_seconds)).collect()
    };
    let mut text = format!("CPU time in ms\n{:<20}", "switches, diameter");
    for row in rows.iter().step_by(names.len()) {
        let _ = write!(text, "{:>9}", format!("{}, {}", row.switches, row.diameter));
    }
    text += "    power of n^2 diameter\n";
    for name in &names {
        let _ = write!(text, "{name:<20}");
        of(name).iter().for_each(|(_, time)| _ = write!(text, "{:>9.2}", 1e3 * time));
        let _ = writeln!(text, "{:>12.2}", slope(&of(name)));
    }
    let curve =
        |&name: &&'static str| Series { label: name.into(), style: Style::Curve, points: of(name) };
    let series: Vec<Series> = names.iter().map(curve).collect();
    let x = ("Switches squared, times the diameter", Scale::Logarithmic);
    let y = ("CPU time (s)", Scale::Logarithmic);
    let figure = xy_figure_among(&NAMES, "Irregular networks, Up*/Down*", x, y, &series);
    Ok(Reproduction::of_rows("times", &rows, text, vec![("times".into(), figure)]))
}

fn row(switches: u32, name: &str) -> Result<Row, Flawed> {
    let fabric = irregular(switches, 1).fabric().map_err(|error| error.to_string())?;
    let relation = up_down(&fabric)?;
    let selection = selections().find(|it| it.name == name).expect("it is one of them");
    let mut seconds = f64::INFINITY;
    for _ in 0..3 {
        let started = ThreadTime::now();
        let made = selection.paths(&fabric, &relation, SelectionParameters::default());
        made.map_err(|none| none.to_string())?;
        seconds = seconds.min(started.elapsed().as_secs_f64());
    }
    let all = 0..fabric.terminals();
    let pairs = all.clone().flat_map(|from| all.clone().map(move |to| (from, to)));
    let diameter = fewest_hops(&fabric, &pairs.collect::<Vec<_>>()).into_iter().max().unwrap_or(0);
    let claimed = u64::from(switches * switches * diameter);
    Ok(Row { switches, diameter, selection: "", claimed, cpu_seconds: seconds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;

    #[test]
    fn every_selection_is_timed_on_every_network() {
        let found = path_selection_runtime(SAMPLE, &mut |_, _, _| {}).unwrap();
        let rows = found.json.as_array().unwrap();
        assert_eq!(rows.len(), QUICK * selections().count());
        for row in rows {
            let [switches, diameter, claimed] =
                ["switches", "diameter", "claimed"].map(|key| row[key].as_u64().unwrap());
            assert_eq!(claimed, switches * switches * diameter);
            assert!(diameter > 1 && row["cpu_seconds"].as_f64().unwrap() > 0.0, "{row}");
        }
        assert!(found.text.contains("traffic-balancing"), "{}", found.text);
    }
}
