//! What figures show, from made-up rows.

use std::fs;

use flitlab::registry::Row;
use flitlab::report::figure::{
    FigureKind, FigureRequest, FigureStyle, Format, Intervals, LegendPlace, LoadsIn, Medium, Scale,
    Sheet, Tail, TimeUnit, accepted_figure, draw_all, latency_figure, percentile_figure,
};
use flitlab::report::{Label, Point, PointRow, Status, WindowRow, WorkloadRow};
use flitlab::units::Picoseconds;

use crate::common::made_up::{
    Folder, bands, channels_of, colours, count, curves, label, longest, place_of, rows, strokes,
    sweep, text_of, texts, three, torus_channels, with_details, workloads,
};

#[test]
fn a_latency_figure_has_a_line_a_series_and_says_its_units() {
    let svg = latency_figure(&three(), "Uniform traffic").svg(&Sheet::default());
    for text in ["Offered load (fraction of capacity)", "Packet latency (ns)", "Uniform traffic"] {
        assert_eq!(count(&svg, &format!(">{text}<")), 1, "{text}");
    }
    for label in ["Direction order", "Single-source shortest path", "Adaptive", "99th percentile"] {
        assert_eq!(count(&svg, &format!(">{label}<")), 1, "{label}");
    }
    let mut drawn: Vec<&str> = curves(&svg).iter().map(|curve| curve.colour).collect();
    assert_eq!(drawn, colours(&svg), "a curve a colour");
    drawn.dedup();
    assert_eq!(drawn.len(), 3, "a colour a series");
    assert!(svg.contains("font-family=\"Liberation Sans, Arial, Helvetica, sans-serif\""));
    assert!(svg.starts_with("<svg width=\"252pt\" height=\""));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn one_saturated_point_does_not_flatten_the_curve() {
    let mut rows = sweep("a", 0.65, 600.0, 0.1);
    let axis = |rows: &[Point]| latency_figure(rows, "").svg(&Sheet::default()).contains(">1000<");
    assert!(axis(&rows));
    rows[8].measured.packet_latency_mean = Some(Picoseconds(9_000_000_000));
    assert!(axis(&rows), "an unsteady point counts for nothing");
    rows[5].measured.packet_latency_p99 = Some(Picoseconds(9_000_000_000));
    assert!(axis(&rows), "neither does an extreme tail");
}

#[test]
fn what_is_not_steady_is_not_connected() {
    let rows = sweep("a", 0.65, 600.0, 0.1);
    let svg = latency_figure(&rows, "").svg(&Sheet::default());
    assert_eq!(longest(&svg).len(), 6, "six steady points");
    assert!(svg.contains(">first load not steady<"));
    let svg = accepted_figure(&rows, "").svg(&Sheet::default());
    assert_eq!(longest(&svg).len(), 10, "what is accepted goes on past saturation");
}

#[test]
fn only_figures_that_say_something_are_drawn() {
    let folder = Folder::new("some");
    let names = |points: &[Point]| -> Vec<String> {
        let paths = draw_all(&rows(points), folder.file("some"), &FigureRequest::default())
            .unwrap()
            .written;
        let names = paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
        names.filter(|name| name.ends_with(".svg")).collect()
    };
    let exchange = |series: &str| Point {
        label: label(series, 0),
        measured: PointRow {
            status: Status::Completed,
            completion_time: Some(Picoseconds(5_000_000)),
            ..PointRow::default()
        },
        ..Point::default()
    };
    assert!(names(&[]).is_empty());
    assert!(names(&sweep("a", 0.5, 600.0, 1.0)).is_empty());
    assert!(names(&[exchange("a")]).is_empty());
    assert_eq!(names(&[exchange("a"), exchange("b")]), ["completion.svg"]);
    assert_eq!(names(&sweep("a", 0.05, 600.0, 0.1)), ["accepted.svg"], "nothing is steady");
    assert_eq!(names(&[channels_of("a")]), ["channels.svg", "channel-map.svg"]);
    let two = [channels_of("a"), channels_of("b")];
    assert_eq!(names(&two), ["channels-a.svg", "channels-b.svg"]);
    let several = Point { workloads: workloads(), ..exchange("a") };
    assert_eq!(names(&[several]), ["workloads.svg"]);
    let one = sweep("a", 0.7, 600.0, 0.1);
    assert_eq!(names(&one), ["latency.svg", "percentiles.svg", "accepted.svg"]);
    let mut many: Vec<Point> =
        (0..5).flat_map(|number| sweep(&format!("{number}"), 0.7, 600.0, 0.1)).collect();
    let several = ["latency.svg", "latency-p99.svg", "accepted.svg", "saturation.svg"];
    assert_eq!(names(&many), several);
    many.iter_mut().for_each(|point| point.channels = torus_channels());
    assert_eq!(names(&many), several, "five more figures of channels help nobody");
}

#[test]
fn channels_are_shown_at_the_highest_steady_load() {
    let folder = Folder::new("highest");
    let mut points = sweep("a", 0.65, 600.0, 0.1);
    for at in [2, 4, 8] {
        points[at].channels = torus_channels();
    }
    draw_all(&rows(&points), &folder.0, &FigureRequest::titled("Uniform")).unwrap();
    let svg = fs::read_to_string(folder.file("channels.svg")).unwrap();
    assert!(svg.contains(">Uniform, load 0.5<"), "{svg}");
    assert!(svg.contains(">\u{2212}k<") && svg.contains(">ejection<"));
}

#[test]
fn the_workloads_of_a_point_have_their_latencies_side_by_side() {
    let folder = Folder::new("workloads_figure");
    let mut points = sweep("a", 0.65, 600.0, 0.1);
    points.iter_mut().for_each(|point| point.workloads = workloads());
    points[5].workloads[0].measured.packet_latency_mean_ci95 = Some(Picoseconds(20_000));
    // A workload that has received nothing has no latency to show.
    points[5].workloads.push(WorkloadRow { name: "idle".into(), ..WorkloadRow::default() });
    let only = |look| FigureRequest {
        kinds: vec![FigureKind::WORKLOADS],
        look,
        medium: Medium { formats: vec![Format::Svg, Format::Pgfplots], ..Medium::default() },
        ..FigureRequest::titled("Two workloads")
    };
    draw_all(&rows(&points), &folder.0, &only(FigureStyle::default())).unwrap();
    let svg = text_of(&folder, "workloads.svg");
    let all = texts(&svg);
    for text in [
        "Two workloads, load 0.6",
        "Packet latency (ns)",
        "background",
        "halo",
        "mean",
        "99th percentile",
        "95% confidence interval",
    ] {
        assert_eq!(all.iter().filter(|own| **own == text).count(), 1, "{text}: {all:?}");
    }
    assert!(!all.contains(&"idle"), "{all:?}");
    // The mean and the percentile of the load; of the exchange the mean alone is known.
    let table = text_of(&folder, "workloads.dat");
    let lines: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
    let names = "place-1 value-1 below-1 above-1 place-2 value-2 place-3 value-3";
    assert_eq!(lines[0], names, "{table}");
    assert!(lines[1].contains(" 700.125 20 20 ") && lines[1].contains(" 1200 "), "{table}");
    assert!(lines[1].ends_with(" 900") && lines.len() == 2, "{table}");

    let look = FigureStyle {
        percentile: Tail::Nothing,
        intervals: Intervals::Nothing,
        unit: Some(TimeUnit::Microseconds),
        ..FigureStyle::default()
    };
    draw_all(&rows(&points), &folder.0, &only(look)).unwrap();
    let svg = text_of(&folder, "workloads.svg");
    let all = texts(&svg);
    assert!(all.contains(&"Packet latency (\u{b5}s)"), "{all:?}");
    assert!(!all.contains(&"99th percentile") && !all.contains(&"95% confidence interval"));
}

#[test]
fn distributions_compare_series_at_a_load_steady_for_all() {
    let folder = Folder::new("cdf");
    let rows = with_details(three());
    let only = |load| FigureRequest {
        kinds: vec![FigureKind::DISTRIBUTION],
        load,
        ..FigureRequest::titled("Uniform")
    };
    draw_all(&rows, &folder.0, &only(None)).unwrap();
    let svg = text_of(&folder, "cdf.svg");
    // The weakest saturates at 0.72.
    assert!(texts(&svg).contains(&"Uniform, load 0.7"), "{:?}", texts(&svg));
    for label in ["Share of packets", "Direction order", "Adaptive"] {
        assert!(texts(&svg).contains(&label), "{label}");
    }
    draw_all(&rows, &folder.0, &only(Some(0.32))).unwrap();
    assert!(texts(&text_of(&folder, "cdf.svg")).contains(&"Uniform, load 0.3"));

    let single = with_details(sweep("a", 0.72, 600.0, 0.05));
    draw_all(&single, &folder.0, &only(None)).unwrap();
    let svg = text_of(&folder, "cdf.svg");
    for label in ["a, load 0.05", "a, load 0.7"] {
        assert!(texts(&svg).contains(&label), "{:?}", texts(&svg));
    }
}

#[test]
fn windows_are_shown_over_time_with_the_end_of_the_warm_up() {
    let folder = Folder::new("time");
    let wish = FigureRequest { kinds: vec![FigureKind::TIME], ..FigureRequest::default() };
    draw_all(&with_details(sweep("a", 0.72, 600.0, 0.05)), &folder.0, &wish).unwrap();
    let svg = text_of(&folder, "time.svg");
    for label in
        ["Accepted load", "Flits under way", "Simulated time (µs)", "end of warm-up", "load 0.7"]
    {
        assert!(texts(&svg).contains(&label), "{label}: {:?}", texts(&svg));
    }
    // Four panels of one curve each; utilisation has a second, dashed.
    assert_eq!(curves(&svg).len(), 4);
}

#[test]
fn several_workloads_have_a_curve_each_over_time_and_marks_of_their_start_and_end() {
    let folder = Folder::new("time-of-workloads");
    let mut point = sweep("a", 0.72, 600.0, 0.05).remove(0);
    let us = |time: u64| Picoseconds(time * 1_000_000);
    let row = |name: &str, window: u64| WindowRow {
        workload: Some(name.to_owned()).filter(|name| !name.is_empty()),
        start: us(window * 10),
        end: us(window * 10 + 10),
        accepted_load: Some(0.2),
        packet_latency_mean: (name != "burst" || window == 2).then_some(us(1)),
        packet_latency_p99: (name != "burst").then_some(us(3)),
        flits_under_way: Some(if name == "burst" && window != 2 { 0 } else { 50 }),
        utilisation_mean: name.is_empty().then_some(0.3),
        utilisation_fullest: name.is_empty().then_some(0.9),
        ..WindowRow::default()
    };
    let names = ["", "load", "burst"];
    point.windows = (0..5).flat_map(|window| names.map(|name| row(name, window))).collect();
    let workload = |name: &str, start, completion_time| WorkloadRow {
        name: name.into(),
        start: Some(us(start)),
        measured: PointRow { completion_time, ..PointRow::default() },
        ..WorkloadRow::default()
    };
    point.workloads = vec![workload("load", 0, None), workload("burst", 20, Some(us(8)))];
    let wish = FigureRequest { kinds: vec![FigureKind::TIME], ..FigureRequest::default() };
    draw_all(&rows(&[point]), &folder.0, &wish).unwrap();
    let svg = text_of(&folder, "time.svg");
    let labels = ["load", "burst", "mean", "99th percentile", "fullest channel of the window"];
    for label in labels.into_iter().chain(["start of a workload", "end of a workload"]) {
        assert!(texts(&svg).contains(&label), "{label}: {:?}", texts(&svg));
    }
    for label in ["all workloads", "end of warm-up", "offered load"] {
        assert!(!texts(&svg).contains(&label), "{label}");
    }
}

#[test]
fn a_series_has_one_colour_in_all_figures() {
    let folder = Folder::new("colours");
    let figure = |name: &str, series: &[&str]| -> Vec<Point> {
        let curve = |series: &&str| sweep(&format!("{name}, {series}"), 0.7, 600.0, 0.1);
        let of_figure =
            |point: Point| Point { label: Label { figure: name.into(), ..point.label }, ..point };
        series.iter().flat_map(curve).map(of_figure).collect()
    };
    let points = [figure("uniform", &["ABR", "POR"]), figure("tornado", &["POR"])].concat();
    let wish = FigureRequest { kinds: vec![FigureKind::ACCEPTED], ..FigureRequest::default() };
    draw_all(&rows(&points), &folder.0, &wish).unwrap();
    let [uniform, tornado] =
        ["accepted-uniform.svg", "accepted-tornado.svg"].map(|name| text_of(&folder, name));
    assert_eq!(colours(&uniform).len(), 2);
    assert_eq!(colours(&tornado), colours(&uniform)[1..], "POR");
}

#[test]
fn who_wants_no_title_gets_none_even_where_it_told_figures_apart() {
    let folder = Folder::new("untitled");
    let mut points = sweep("uniform, a", 0.7, 600.0, 0.1);
    points.iter_mut().for_each(|point| point.label.figure = "uniform".into());
    let has_title = |untitled| {
        let wish = FigureRequest {
            kinds: vec![FigureKind::ACCEPTED],
            untitled,
            ..FigureRequest::titled("4D")
        };
        draw_all(&rows(&points), &folder.0, &wish).unwrap();
        let svg = text_of(&folder, "accepted-uniform.svg");
        texts(&svg).iter().any(|text| text.contains("uniform") || text.contains("4D"))
    };
    assert!(has_title(false) && !has_title(true));
}

#[test]
fn a_band_shows_the_confidence_interval() {
    let svg = latency_figure(&three(), "").svg(&Sheet::default());
    assert!(colours(&svg).iter().all(|colour| bands(&svg).contains(colour)), "one a series");
    assert!(texts(&svg).contains(&"95% confidence interval"));
    let mut rows = three();
    rows.iter_mut().for_each(|point| point.measured.packet_latency_mean_ci95 = None);
    let svg = latency_figure(&rows, "").svg(&Sheet::default());
    assert!(bands(&svg).is_empty());
}

#[test]
fn percentiles_have_a_curve_each() {
    let svg = percentile_figure(&sweep("a", 0.7, 600.0, 0.1), "").svg(&Sheet::default());
    assert_eq!((curves(&svg).len(), colours(&svg).len()), (4, 4));
    for label in ["median", "95th percentile", "99th percentile", "99.9th percentile"] {
        assert!(texts(&svg).contains(&label), "{label}");
    }
}

/// Draws what rows say in a look, as SVG.
fn looked(
    folder: &Folder,
    points: &[Point],
    kinds: &[Row<FigureKind>],
    look: FigureStyle,
) -> Vec<String> {
    let medium = Medium { formats: vec![Format::Svg], ..Medium::default() };
    let wish = FigureRequest { kinds: kinds.to_vec(), look, medium, ..FigureRequest::default() };
    let written = draw_all(&rows(points), &folder.0, &wish).unwrap().written;
    written.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn axes_have_the_limits_the_scale_and_the_unit_that_are_asked_for() {
    let folder = Folder::new("limits");
    let drawn = |look| looked(&folder, &three(), &[FigureKind::LATENCY], look).remove(0);
    let log = FigureStyle {
        x: "0:0.6".parse().unwrap(),
        y: "200ns:20us".parse().unwrap(),
        y_scale: Some(Scale::Logarithmic),
        unit: Some(TimeUnit::Nanoseconds),
        ..FigureStyle::default()
    };
    let svg = drawn(log.clone());
    for label in ["0.6", "200", "2000", "20000", "Packet latency (ns)"] {
        assert!(texts(&svg).contains(&label), "{label}: {:?}", texts(&svg));
    }
    assert!(!texts(&svg).contains(&"0.8"), "{:?}", texts(&svg));
    let svg = drawn(FigureStyle { unit: Some(TimeUnit::Microseconds), ..log.clone() });
    assert!(texts(&svg).contains(&"Packet latency (\u{b5}s)") && texts(&svg).contains(&"0.2"));
    // A curve is cut off at the limit on the right.
    let ends = |svg: &str| {
        let places = strokes(svg).into_iter().flat_map(|line| line.places);
        places.map(|place| place.0).fold(0.0, f64::max)
    };
    assert!((ends(&drawn(log)) / ends(&drawn(FigureStyle::default())) - 1.0).abs() < 0.2);
    // Loads are never logarithmic, and limits in time are not for them.
    let accepted = |look| looked(&folder, &three(), &[FigureKind::ACCEPTED], look).remove(0);
    let time = FigureStyle {
        y: "200ns:20us".parse().unwrap(),
        y_scale: Some(Scale::Logarithmic),
        ..FigureStyle::default()
    };
    assert_eq!(accepted(time), accepted(FigureStyle::default()));
}

#[test]
fn loads_are_payload_where_that_is_asked_for_or_capacities_differ() {
    let folder = Folder::new("payload");
    let axis = |points: &[Point], loads| {
        let look = FigureStyle { loads, ..FigureStyle::default() };
        let svg = looked(&folder, points, &[FigureKind::ACCEPTED], look).remove(0);
        texts(&svg).contains(&"Offered payload (GB/s per sending node)")
    };
    let mut points = three();
    assert!(!axis(&points, LoadsIn::Usual) && axis(&points, LoadsIn::Payload));
    for (number, point) in points.iter_mut().enumerate() {
        point.measured.capacity = Some(if number < 20 { 8.0 } else { 4.0 });
    }
    assert!(axis(&points, LoadsIn::Usual), "one axis can't be fractions of two capacities");
}

#[test]
fn series_are_chosen_ordered_and_renamed() {
    let folder = Folder::new("chosen");
    let names = |series: &[&str], names: &[(&str, &str)]| -> Vec<String> {
        let look = FigureStyle {
            series: series.iter().map(|&name| name.to_owned()).collect(),
            names: names.iter().map(|&(old, new)| (old.to_owned(), new.to_owned())).collect(),
            ..FigureStyle::default()
        };
        let svg = looked(&folder, &three(), &[FigureKind::ACCEPTED], look).remove(0);
        let known = ["Adaptive", "Direction order", "Single-source shortest path", "DOR"];
        let found = texts(&svg).into_iter().filter(|text| known.contains(text));
        found.map(str::to_owned).collect()
    };
    assert_eq!(names(&["Adaptive", "Direction order"], &[]), ["Adaptive", "Direction order"]);
    let renamed = names(&[], &[("Direction order", "DOR")]);
    assert_eq!(renamed, ["DOR", "Single-source shortest path", "Adaptive"]);
}

#[test]
fn a_legend_is_where_it_is_wanted_and_intervals_are_whiskers_or_bands() {
    let folder = Folder::new("legend");
    let drawn = |legend, intervals| {
        let look = FigureStyle { legend, intervals, ..FigureStyle::default() };
        looked(&folder, &three(), &[FigureKind::LATENCY], look).remove(0)
    };
    let place = |svg: &str| place_of(svg, "Adaptive");
    let (below, right) = (LegendPlace::Below, LegendPlace::Right);
    let svg = drawn(right, Intervals::Whiskers);
    assert!(place(&svg).0 > 125.0 && place(&svg).1 < 100.0, "{:?}", place(&svg));
    assert!(bands(&svg).is_empty());
    assert!(place(&drawn(below, Intervals::Bands)).1 > 150.0);
    let corner = place(&drawn(LegendPlace::TopLeft, Intervals::Bands));
    assert!(corner.0 < 125.0 && corner.1 < 100.0, "{corner:?}");
    let nowhere = drawn(LegendPlace::Nowhere, Intervals::Nothing);
    assert!(!texts(&nowhere).contains(&"Adaptive"));
    let interval = "95% confidence interval";
    assert!(!texts(&drawn(below, Intervals::Nothing)).contains(&interval));
    assert!(texts(&svg).contains(&interval));
}

#[test]
fn figures_become_panels_with_the_same_axes() {
    let folder = Folder::new("panels");
    let of = |figure: &str, capacity| {
        let mut points = sweep(&format!("{figure}, ABR"), capacity, 600.0, 0.1);
        points.iter_mut().for_each(|point| point.label.figure = figure.into());
        points
    };
    let points = [of("uniform", 0.7), of("tornado", 0.4)].concat();
    let look = FigureStyle { panels: true, ..FigureStyle::default() };
    let svgs = looked(&folder, &points, &[FigureKind::LATENCY, FigureKind::ACCEPTED], look);
    let [svg] = &svgs[..] else { panic!("one figure") };
    for text in ["uniform", "tornado", "Offered load (fraction of capacity)", "ABR, mean"] {
        assert_eq!(texts(svg).iter().filter(|it| **it == text).count(), 1, "{text}");
    }
    // Two rows of two panels; ticks of y axes have labels on the left only.
    assert_eq!(count(svg, ">0.6<"), 2 + 1, "{:?}", texts(svg));
    assert!(folder.file("panels.svg").exists() && !folder.file("latency-uniform.svg").exists());
}

#[test]
fn lines_have_dashes_before_colours_repeat() {
    let folder = Folder::new("many");
    let many = |count: u32| -> String {
        let of = |number: u32| {
            let capacity = 0.5 + f64::from(number) * 0.02;
            sweep(&format!("series {number}"), capacity, 600.0 + f64::from(number) * 9.0, 0.1)
        };
        let points: Vec<Point> = (0..count).flat_map(of).collect();
        looked(&folder, &points, &[FigureKind::ACCEPTED], FigureStyle::default()).remove(0)
    };
    let (seven, eight) = (many(7), many(8));
    assert_eq!((curves(&seven).len(), colours(&seven).len()), (7, 7));
    assert_eq!(colours(&eight), colours(&seven));
    let first = colours(&eight)[0];
    let pieces = |svg: &str| strokes(svg).iter().filter(|line| line.colour == first).count();
    assert!(pieces(&eight) > pieces(&seven) + 10, "the eighth is dashed: {}", pieces(&eight));
}

#[test]
fn maps_of_one_study_have_one_scale() {
    let folder = Folder::new("scale");
    let mut busy = channels_of("busy");
    let mut idle = channels_of("idle");
    for row in &mut idle.channels {
        row.utilisation /= 10.0;
    }
    busy.label.point = 1;
    let svgs = looked(&folder, &[busy, idle], &[FigureKind::CHANNEL_MAP], FigureStyle::default());
    let scale = |svg: &str| -> Vec<String> {
        let numbers = texts(svg).into_iter().filter(|text| text.parse::<f64>().is_ok());
        numbers.map(str::to_owned).collect()
    };
    assert_eq!(scale(&svgs[0]), scale(&svgs[1]));
}
