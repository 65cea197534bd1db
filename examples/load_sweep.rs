//! A load swept: the mean latency of packets over the offered load, drawn with plotters.
//!
//!     cargo run --release --example load_sweep [FILE.svg]
//!
//! `flitlab sweep` writes tables and figures of a sweep by itself. This is for charts of one's own:
//! a simulation returns all its measurements as numbers, and any library draws them.

use std::error::Error;

use flitlab::report::Status;
use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::Simulation;
use plotters::prelude::*;

/// A mean latency in nanoseconds by offered load, which is a fraction of the fabric's capacity.
pub struct Curve {
    pub pattern: &'static str,
    pub points: Vec<(f64, f64)>,
}

/// Sweeps the load of a pattern on a torus of 4x4 nodes, as long as the fabric carries it.
pub fn sweep(pattern: &'static str, loads: &[f64]) -> Result<Curve, Box<dyn Error>> {
    let text = format!(
        "
        topology.torus.dimensions = [4, 4]
        traffic = {{ pattern = '{pattern}', load = 0.1 }}
        "
    );
    let scenario = Scenario::read(&Document::parse("load_sweep.toml", &text))?;
    let mut points = Vec::new();
    for &load in loads {
        let found = Simulation::new(&scenario.at_load(load))?.run(&mut |_| {}).found;
        // Past saturation queues grow for ever, and a latency says only how long was simulated.
        if found.measured.status != Status::Steady {
            break;
        }
        let latency = found.measured.packet_latency_mean.ok_or("no packet has arrived")?;
        points.push((load, latency.0 as f64 / 1_000.0));
    }
    Ok(Curve { pattern, points })
}

/// Draws the curves into an SVG file, which is returned as text.
pub fn draw(curves: &[Curve]) -> Result<String, Box<dyn Error>> {
    // Colours that the colour-blind can tell apart.
    let colours = [RGBColor(0, 114, 178), RGBColor(213, 94, 0)];
    let latencies = curves.iter().flat_map(|curve| &curve.points).map(|&(_, latency)| latency);
    let highest = latencies.fold(0.0, f64::max);

    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (640, 400)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption("Latency on a 4x4 torus", ("sans-serif", 20))
        .margin(15)
        .x_label_area_size(45)
        .y_label_area_size(60)
        .build_cartesian_2d(0.0..0.6, 0.0..1.1 * highest)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("offered load (fraction of capacity)")
        .y_desc("mean packet latency (ns)")
        .draw()?;
    for (curve, colour) in curves.iter().zip(colours.iter().cycle()) {
        let points = || curve.points.iter().copied();
        chart
            .draw_series(LineSeries::new(points(), colour.stroke_width(2)))?
            .label(curve.pattern)
            .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        chart.draw_series(points().map(|at| Circle::new(at, 3, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    area.present()?;
    drop((chart, area));
    Ok(svg)
}

fn main() -> Result<(), Box<dyn Error>> {
    let loads: Vec<f64> = (1..=12).map(|twentieths| f64::from(twentieths) / 20.0).collect();
    let curves = [sweep("uniform", &loads)?, sweep("transpose", &loads)?];
    for Curve { pattern, points } in &curves {
        for (load, latency) in points {
            println!("{pattern:>9}  load {load:.2}  mean latency {latency:.1} ns");
        }
    }
    let path = std::env::args_os().nth(1).unwrap_or_else(|| "load_sweep.svg".into());
    std::fs::write(&path, draw(&curves)?)?;
    println!("drawn into {}", path.display());
    Ok(())
}
