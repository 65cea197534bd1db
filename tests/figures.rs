//! What figures show, from made-up rows.

use std::fs;

use flitlab::report::figure::{
    Kind, Sheet, Wish, accepted_figure, draw_all, latency_figure, percentile_figure,
};
use flitlab::report::{Label, Measured, Point, Status};

use crate::common::made_up::{
    Folder, channels_of, count, label, longest, polylines, rows, sweep, text_of, texts, three,
    torus_channels, with_details,
};

#[test]
fn a_latency_figure_has_a_line_a_series_and_says_its_units() {
    let svg = latency_figure(&three(), "Uniform traffic").svg(&Sheet::default()).unwrap();
    for text in ["Offered load (fraction of capacity)", "Packet latency (ns)", "Uniform traffic"] {
        assert_eq!(count(&svg, &format!("\n{text}\n")), 1, "{text}");
    }
    for label in ["Direction order", "Single-source shortest path", "Adaptive", "99th percentile"] {
        assert_eq!(count(&svg, &format!("\n{label}\n")), 1, "{label}");
    }
    for colour in ["#00549F", "#E69F00", "#009169"] {
        let lines = polylines(&svg, 22);
        let own: Vec<_> = lines.iter().filter(|line| line.contains(colour)).collect();
        assert_eq!(own.len(), 2, "the curve and its sample in the legend");
    }
    assert!(svg.contains("font-family=\"Liberation Sans, Arial, Helvetica, sans-serif\""));
    assert!(svg.starts_with("<svg width=\"252pt\" height=\""));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn one_saturated_point_does_not_flatten_the_curve() {
    let mut rows = sweep("a", 0.65, 600.0, 0.1);
    let axis = |rows: &[Point]| {
        latency_figure(rows, "").svg(&Sheet::default()).unwrap().contains("\n1000\n")
    };
    assert!(axis(&rows));
    rows[8].measured.packet_latency_mean = Some(9_000_000_000);
    assert!(axis(&rows), "an unsteady point counts for nothing");
    rows[5].measured.packet_latency_p99 = Some(9_000_000_000);
    assert!(axis(&rows), "neither does an extreme tail");
}

#[test]
fn what_is_not_steady_is_not_connected() {
    let rows = sweep("a", 0.65, 600.0, 0.1);
    let svg = latency_figure(&rows, "").svg(&Sheet::default()).unwrap();
    assert_eq!(count(longest(&svg), ","), 6, "six steady points");
    assert!(svg.contains("\nfirst load not steady\n"));
    let svg = accepted_figure(&rows, "").svg(&Sheet::default()).unwrap();
    assert_eq!(count(longest(&svg), ","), 10, "what is accepted goes on past saturation");
}

#[test]
fn only_figures_that_say_something_are_drawn() {
    let folder = Folder::new("some");
    let names = |points: &[Point]| -> Vec<String> {
        let paths = draw_all(&rows(points), folder.file("some"), &Wish::default()).unwrap().written;
        let names = paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
        names.filter(|name| name.ends_with(".svg")).collect()
    };
    let exchange = |series: &str| Point {
        label: label(series, 0),
        measured: Measured {
            status: Status::Completed,
            completion_time: Some(5_000_000),
            ..Measured::default()
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
    assert_eq!(names(&two), ["channels-1.svg", "channels-2.svg"]);
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
    draw_all(&rows(&points), &folder.0, &Wish::titled("Uniform")).unwrap();
    let svg = fs::read_to_string(folder.file("channels.svg")).unwrap();
    assert!(svg.contains("\nUniform, load 0.5\n"), "{svg}");
    assert!(svg.contains("\n\u{2212}k\n") && svg.contains("\nejection\n"));
}

#[test]
fn distributions_compare_series_at_a_load_steady_for_all() {
    let folder = Folder::new("cdf");
    let rows = with_details(three());
    let only = |load| Wish { kinds: vec![Kind::Distribution], load, ..Wish::titled("Uniform") };
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
    let wish = Wish { kinds: vec![Kind::Time], ..Wish::default() };
    draw_all(&with_details(sweep("a", 0.72, 600.0, 0.05)), &folder.0, &wish).unwrap();
    let svg = text_of(&folder, "time.svg");
    for label in
        ["Accepted load", "Flits under way", "Simulated time (µs)", "end of warm-up", "load 0.7"]
    {
        assert!(texts(&svg).contains(&label), "{label}: {:?}", texts(&svg));
    }
    // Four panels of one curve each; utilisation has a second, dashed.
    assert_eq!(polylines(&svg, 22).len(), 4);
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
    let wish = Wish { kinds: vec![Kind::Accepted], ..Wish::default() };
    draw_all(&rows(&points), &folder.0, &wish).unwrap();
    let colours = |name: &str| {
        let svg = text_of(&folder, name);
        ["#00549F", "#E69F00"]
            .map(|colour| polylines(&svg, 22).iter().any(|it| it.contains(colour)))
    };
    assert_eq!(colours("accepted-uniform.svg"), [true, true]);
    assert_eq!(colours("accepted-tornado.svg"), [false, true]);
}

#[test]
fn who_wants_no_title_gets_none_even_where_it_told_figures_apart() {
    let folder = Folder::new("untitled");
    let mut points = sweep("uniform, a", 0.7, 600.0, 0.1);
    points.iter_mut().for_each(|point| point.label.figure = "uniform".into());
    let has_title = |untitled| {
        let wish = Wish { kinds: vec![Kind::Accepted], untitled, ..Wish::titled("4D") };
        draw_all(&rows(&points), &folder.0, &wish).unwrap();
        let svg = text_of(&folder, "accepted-uniform.svg");
        texts(&svg).iter().any(|text| text.contains("uniform") || text.contains("4D"))
    };
    assert!(has_title(false) && !has_title(true));
}

#[test]
fn a_band_shows_the_confidence_interval() {
    let svg = latency_figure(&three(), "").svg(&Sheet::default()).unwrap();
    // One a series, and the legend's sample.
    assert_eq!(count(&svg, "opacity=\"0.22\""), 4);
    assert!(texts(&svg).contains(&"95% confidence interval"));
    let mut rows = three();
    rows.iter_mut().for_each(|point| point.measured.packet_latency_mean_ci95 = None);
    let svg = latency_figure(&rows, "").svg(&Sheet::default()).unwrap();
    assert_eq!(count(&svg, "opacity=\"0.22\""), 0);
}

#[test]
fn percentiles_have_a_curve_each() {
    let svg = percentile_figure(&sweep("a", 0.7, 600.0, 0.1), "").svg(&Sheet::default()).unwrap();
    // Curves and their samples in the legend.
    assert_eq!(polylines(&svg, 22).len(), 8);
    for label in ["median", "95th percentile", "99th percentile", "99.9th percentile"] {
        assert!(texts(&svg).contains(&label), "{label}");
    }
}
