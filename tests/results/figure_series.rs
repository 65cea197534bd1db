//! Series in figures: each has the same colour, marker and dashes in all of them, whichever are
//! shown.

use std::fs;

use flitlab::registry::Row;
use flitlab::report::Point;
use flitlab::report::figure::{
    FigureKind, FigureRequest, FigureStyle, Format, Intervals, LegendPlace, Length, Medium, Scale,
    Sheet, Tail, draw_all,
};

use flitlab::units::Picoseconds;

use crate::common::made_up::{
    Folder, attribute, colours, lines, place_of, rows, sweep, texts, three, with_details,
};
use crate::common::workplace::Workplace;

fn drawn(folder: &Folder, points: &[Point], kind: Row<FigureKind>, look: FigureStyle) -> String {
    let medium = Medium { formats: vec![Format::Svg], ..Medium::default() };
    let over = (kind == FigureKind::SCALING).then(|| "router.buffer".to_owned());
    let wish = FigureRequest { kinds: vec![kind], look, medium, over, ..FigureRequest::default() };
    let written = draw_all(&with_details(points.to_vec()), &folder.0, &wish).unwrap().written;
    fs::read_to_string(&written[0]).unwrap()
}

#[test]
fn a_series_that_is_shown_alone_or_in_another_order_keeps_its_pen() {
    let folder = Folder::new("pens");
    let names: Vec<String> =
        rows(&three()).points.iter().map(|it| it.label.series.clone()).collect();
    let mut names = names;
    names.dedup();
    for kind in [FigureKind::LATENCY, FigureKind::ACCEPTED, FigureKind::DISTRIBUTION] {
        let of = |series: &[&String]| {
            let series = series.iter().map(|name| (*name).clone()).collect();
            drawn(&folder, &three(), kind, FigureStyle { series, ..FigureStyle::default() })
        };
        let all = of(&[]);
        let all = colours(&all);
        assert_eq!(all.len(), 3, "{kind:?}: {all:?}");
        assert_eq!(colours(&of(&[&names[2], &names[0]])), [all[2], all[0]], "{kind:?}");
        if kind != FigureKind::DISTRIBUTION {
            assert_eq!(colours(&of(&[&names[1]])), all[1..2], "{kind:?}");
        }
    }
    // Other names change no colour, either.
    let renamed = vec![(names[1].clone(), "another".to_owned())];
    let look =
        FigureStyle { series: vec![names[1].clone()], names: renamed, ..FigureStyle::default() };
    let all = drawn(&folder, &three(), FigureKind::ACCEPTED, FigureStyle::default());
    assert_eq!(colours(&drawn(&folder, &three(), FigureKind::ACCEPTED, look)), colours(&all)[1..2]);
}

#[test]
fn a_style_holds_in_all_figures_of_a_result_and_by_another_name() {
    let folder = Folder::new("styles");
    let mut points = Vec::new();
    for (size, routing, capacity) in
        [("4", "ABR", 0.6), ("4", "POR", 0.5), ("8", "ABR", 0.55), ("8", "POR", 0.45)]
    {
        let mut own = sweep(&format!("buffer {size}, {routing}"), capacity, 600.0, 0.1);
        for point in &mut own {
            point.label.settings = vec![("router.buffer".into(), size.into())];
        }
        points.extend(own);
    }
    let style = |name: &str| (name.to_owned(), "#010203 square dashed".parse().unwrap());
    let colour = "#010203";
    for (kind, name) in [
        (FigureKind::SCALING, "POR"),
        (FigureKind::SATURATION, "POR"),
        (FigureKind::LATENCY, "buffer 8, POR"),
        (FigureKind::ACCEPTED, "buffer 8, POR"),
    ] {
        let plain = drawn(&folder, &points, kind, FigureStyle::default());
        let look = FigureStyle { styles: vec![style(name)], ..FigureStyle::default() };
        let styled = drawn(&folder, &points, kind, look);
        assert!(!plain.contains(colour) && styled.contains(colour), "{kind:?}");
    }
    let names = vec![("POR".to_owned(), "in order".to_owned())];
    for name in ["POR", "in order"] {
        let look = FigureStyle {
            styles: vec![style(name)],
            names: names.clone(),
            ..FigureStyle::default()
        };
        assert!(drawn(&folder, &points, FigureKind::SCALING, look).contains(colour), "{name}");
    }
}

#[test]
fn styles_are_keys_of_a_sweep_and_options_of_plot() {
    let place = Workplace::new("series_styles");
    place.write(
        "a.toml",
        "[topology.torus]\ndimensions = [4, 4]\n[traffic]\npattern = \"uniform\"\n[measure]\n\
         precision = 0.2\n[sweep.grid]\nrouting = [{ direction_order = {} }, { adaptive = {} }]\n\
         traffic.load = [0.1, 0.2]\n[sweep.figures.styles]\nadaptive = \"#654321 diamond dotted\"\n",
    );
    place.run(&["sweep", "a.toml", "--out", "a"]);
    let style = "styles = { \"adaptive\" = \"#654321 diamond dotted\" }";
    assert!(place.read("a/scenario.toml").contains(style), "{}", place.read("a/scenario.toml"));
    assert!(colours(&place.read("a/accepted.svg")).contains(&"#654321"));
    let plot = |more: &[&str]| {
        let call = ["plot", "a", "--only", "accepted", "--format", "svg", "--out", "b"];
        place.fail(&[&call, more].concat())
    };
    assert_eq!(plot(&["--style", "adaptive=#123456", "--series", "adaptive"]).0, 0);
    let svg = place.read("b/accepted.svg");
    assert_eq!(colours(&svg), ["#123456"]);
    let (code, errors) = plot(&["--style", "adaptiv=blue"]);
    assert!(code == 2 && errors.contains("there is no series `adaptiv`"), "{errors}");
    let (code, errors) = plot(&["--style", "adaptive=huge"]);
    assert!(code == 2 && errors.contains("`huge` is no colour (blue, orange"), "{errors}");
}

#[test]
fn the_percentile_beside_the_mean_can_be_chosen_or_left_out_and_has_markers() {
    let folder = Folder::new("percentile");
    let of = |percentile| {
        let look = FigureStyle { percentile, ..FigureStyle::default() };
        drawn(&folder, &three(), FigureKind::LATENCY, look)
    };
    let (ninety_nine, none) = (of(Tail::P99), of(Tail::Nothing));
    assert!(texts(&of(Tail::P95)).contains(&"95th percentile"));
    assert!(texts(&ninety_nine).contains(&"99th percentile"));
    assert!(texts(&none).iter().all(|text| !text.contains("percentile")));
    assert!(texts(&none).contains(&"Mean packet latency (ns)"), "{:?}", texts(&none));
    // The second series has squares on the line of the mean alone, and small points on the other.
    let shapes = |svg: &str, shape: &str| {
        let fill = format!("fill=\"{}\"", colours(svg)[1]);
        svg.lines().filter(|it| it.starts_with(shape) && it.contains(&fill)).count()
    };
    let squares = [&ninety_nine, &none].map(|svg| shapes(svg, "<polygon"));
    let points = [&ninety_nine, &none].map(|svg| shapes(svg, "<circle"));
    assert!(squares[0] == squares[1] && points[0] > points[1] + 1, "{squares:?} {points:?}");

    let place = Workplace::new("series_percentile");
    place.write(
        "a.toml",
        "[topology.torus]\ndimensions = [4, 4]\n[traffic]\npattern = \"uniform\"\n[measure]\n\
         precision = 0.2\n[sweep.grid]\ntraffic.load = [0.1, 0.2]\n[sweep.figures]\npercentile = \"none\"\n\
         font_size = \"10pt\"\nformat = [\"svg\"]\ntitle = \"\"\n",
    );
    place.run(&["sweep", "a.toml", "--out", "a"]);
    let svg = place.read("a/latency.svg");
    assert!(!svg.contains("99th percentile") && svg.contains("font-size=\"10\""), "{svg}");
    assert!(!place.0.join("a/latency.pdf").exists() && !texts(&svg).contains(&"a"), "{svg}");
    let drawn =
        place.run(&["plot", "a", "--only", "latency", "--percentile", "95", "--title", "T"]);
    assert_eq!(drawn, "a/latency.svg\n");
    let svg = place.read("a/latency.svg");
    assert!(texts(&svg).contains(&"95th percentile") && texts(&svg).contains(&"T"), "{svg}");
    assert!(place.run(&["plot", "a", "--only", "latency", "--format", "pdf"]).ends_with(".pdf\n"));
}

/// Centres of the markers of an SVG that are hollow circles: white discs.
fn hollow_circles(svg: &str) -> Vec<(f64, f64)> {
    let number = |shape: &str, name: &str| attribute(shape, name).parse::<f64>().unwrap();
    let white = svg
        .lines()
        .filter(|it| it.starts_with("<circle") && it.contains("#FFFFFF") && number(it, "r") < 1.75);
    white.map(|shape| (number(shape, "cx"), number(shape, "cy"))).collect()
}

#[test]
fn loads_that_are_not_steady_are_in_one_row_above_the_frame() {
    let folder = Folder::new("row");
    // Series of one shape that all saturate at one load.
    let points: Vec<Point> =
        ["a", "b", "c"].iter().flat_map(|it| sweep(it, 0.65, 600.0, 0.1)).collect();
    let styles = ["a", "b", "c"].map(|it| (it.to_owned(), "circle".parse().unwrap())).to_vec();
    let look = FigureStyle { styles, percentile: Tail::Nothing, ..FigureStyle::default() };
    let svg = drawn(&folder, &points, FigureKind::LATENCY, look);
    let frame = lines(&svg).into_iter().filter(|line| line.width < 1.0);
    let top = frame.flat_map(|line| line.places).map(|place| place.1).fold(f64::MAX, f64::min);
    let mut row = hollow_circles(&svg);
    row.retain(|(_, y)| *y < top);
    row.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    row.dedup();
    assert_eq!(row.len(), 3, "{row:?} above {top}");
    assert!(row.iter().all(|(_, y)| *y == row[0].1), "{row:?}");
    assert!(row.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 5.0), "{row:?}");
}

fn patterns(names: &[&str]) -> Vec<Point> {
    let of = |(number, name): (usize, &&str)| {
        let mut points = sweep(&format!("{name}, ABR"), 0.4 + number as f64 * 0.1, 600.0, 0.1);
        points.iter_mut().for_each(|point| point.label.figure = (*name).to_owned());
        points
    };
    names.iter().enumerate().flat_map(of).collect()
}

#[test]
fn panels_of_a_narrow_sheet_wrap_and_no_title_is_cut() {
    let folder = Folder::new("wrap");
    let names = ["uniform", "matrix file halo-exchange.csv", "tornado", "bit complement"];
    let of = |count: usize, width: f64| {
        let sheet = Sheet::new(Length(width), Length(8.0)).unwrap();
        let medium = Medium { formats: vec![Format::Svg], sheet };
        let look = FigureStyle { panels: true, ..FigureStyle::default() };
        let kinds = vec![FigureKind::LATENCY, FigureKind::ACCEPTED];
        let wish = FigureRequest { kinds, look, medium, ..FigureRequest::default() };
        let written =
            draw_all(&rows(&patterns(&names[..count])), &folder.0, &wish).unwrap().written;
        assert_eq!(written.len(), 1);
        fs::read_to_string(&written[0]).unwrap()
    };
    // How often labels of the y axis and titles of it are written: once a row.
    let titles =
        |svg: &str| texts(svg).iter().filter(|it| it.starts_with("Packet latency")).count();
    for (count, width, rows) in [(4, 252.0, 2), (3, 252.0, 2), (2, 252.0, 1), (4, 504.0, 1)] {
        let svg = of(count, width);
        assert_eq!(titles(&svg), rows, "{count} at {width}");
        let whole = texts(&svg).join(" ");
        assert!(!whole.contains('\u{2026}'), "{count} at {width}: {whole}");
        assert!(names[..count].iter().all(|name| whole.contains(name)), "{whole}");
    }
}

#[test]
fn a_legend_in_the_best_corner_covers_no_curve_and_is_below_where_none_is_free() {
    let folder = Folder::new("best");
    let at = |points: &[Point], kind, legend| {
        let svg = drawn(&folder, points, kind, FigureStyle { legend, ..FigureStyle::default() });
        place_of(&svg, "Adaptive")
    };
    // Latency is low at low loads: the upper left corner is free.
    let best = at(&three(), FigureKind::ACCEPTED, LegendPlace::Best);
    let below = at(&three(), FigureKind::ACCEPTED, LegendPlace::Below);
    assert!(best.1 < below.1 - 25.0 && best.0 < 150.0, "{best:?} {below:?}");
    // Curves everywhere.
    let mut everywhere = three();
    for (number, point) in everywhere.iter_mut().enumerate() {
        let high = if number % 2 == 0 { 0.95 } else { 0.03 };
        point.measured.accepted_load = Some(high);
    }
    assert_eq!(
        at(&everywhere, FigureKind::ACCEPTED, LegendPlace::Best).1,
        at(&everywhere, FigureKind::ACCEPTED, LegendPlace::Below).1
    );
}

#[test]
fn latex_has_plain_labels_no_caps_without_whiskers_and_the_note() {
    let folder = Folder::new("latex-labels");
    let tex = |points: &[Point], kind: Row<FigureKind>, look: FigureStyle, name: &str| {
        let medium = Medium { formats: vec![Format::Pgfplots], ..Medium::default() };
        let wish = FigureRequest { kinds: vec![kind], look, medium, ..FigureRequest::default() };
        draw_all(&rows(points), &folder.0, &wish).unwrap();
        fs::read_to_string(folder.file(name)).unwrap()
    };
    let log = FigureStyle { y_scale: Some(Scale::Logarithmic), ..FigureStyle::default() };
    let text = tex(&three(), FigureKind::LATENCY, log, "latency.tex");
    assert!(text.contains("ymode=log, ytick={500,1000,"), "{text}");
    assert!(text.contains("yticklabels={{500},{1000}"), "{text}");
    // One series never saturates: its bar has no whisker, and the note says so.
    let points = [sweep("a", 0.5, 600.0, 0.1), sweep("b", 2.0, 600.0, 0.1)].concat();
    let text = tex(&points, FigureKind::SATURATION, FigureStyle::default(), "saturation.tex");
    let plots: Vec<&str> = text.lines().filter(|line| line.starts_with("\\addplot[xbar")).collect();
    assert_eq!(plots.len(), 2, "{text}");
    assert_eq!(plots.iter().filter(|plot| plot.contains("error bars")).count(), 1, "{text}");
    assert!(
        text.contains(
            "(current bounding box.south) {Without a whisker: sustained at every load tried.}"
        ),
        "{text}"
    );
    // Marks above the frame are shifted, and no data.
    let points: Vec<Point> = ["a", "b"].iter().flat_map(|it| sweep(it, 0.65, 600.0, 0.1)).collect();
    let text = tex(&points, FigureKind::LATENCY, FigureStyle::default(), "latency.tex");
    assert!(
        text.contains("xshift=-3bp, yshift=4.5bp") && text.contains("xshift=3bp, yshift=4.5bp"),
        "{text}"
    );
}

#[test]
fn axes_end_at_a_tick_and_are_no_longer_than_their_data() {
    let folder = Folder::new("ends");
    let points = [sweep("a", 0.45, 600.0, 0.1), sweep("b", 0.65, 600.0, 0.1)].concat();
    let svg = drawn(&folder, &points, FigureKind::SATURATION, FigureStyle::default());
    assert!(texts(&svg).contains(&"0.8"), "{:?}", texts(&svg));
    let mut near = sweep("a", 0.9, 600.0, 0.1);
    for (number, point) in near.iter_mut().enumerate() {
        point.measured.packet_latency_mean = Some(Picoseconds(410_000 + number as u64 * 15_000));
    }
    let look = FigureStyle {
        y_scale: Some(Scale::Logarithmic),
        percentile: Tail::Nothing,
        intervals: Intervals::Nothing,
        ..FigureStyle::default()
    };
    let svg = drawn(&folder, &near, FigureKind::LATENCY, look);
    let labels: Vec<f64> =
        texts(&svg).iter().filter_map(|it| it.parse().ok()).filter(|it| *it > 2.0).collect();
    assert!(labels.len() > 1 && labels.iter().all(|it| (400.0..=600.0).contains(it)), "{labels:?}");
}

#[test]
fn results_without_a_figure_in_common_are_told_the_way_into_one() {
    let place = Workplace::new("series_common");
    let sweep = |pattern: &str, out: &str, figures: &str| {
        let text = format!(
            "[topology.torus]\ndimensions = [4, 4]\n[measure]\nprecision = 0.2\n[sweep.grid]\n\
             traffic.pattern = [\"{pattern}\"]\ntraffic.load = [0.1, 0.2]\n[sweep.figures]\n\
             each = \"traffic.pattern\"\n{figures}"
        );
        place.write("a.toml", &text);
        place.run(&["sweep", "a.toml", "--out", out]);
    };
    sweep("uniform", "a", "unit = \"us\"\n");
    sweep("transpose", "b", "");
    let plot = ["plot", "a", "b", "--only", "latency", "--format", "svg", "--out", "both"];
    let (code, errors) = place.fail(&plot);
    assert_eq!(code, 2);
    let way = "to have them in one figure, add --name 'transpose=same' --name 'uniform=same'";
    assert!(errors.contains(way), "{errors}");
    let words = shlex::split(way.split("add ").nth(1).unwrap()).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (code, errors) = place.fail(&[&plot[..], &words].concat());
    assert_eq!(code, 0, "{errors}");
    // The keys of the first result that has some hold.
    let svg = place.read("both/latency-same.svg");
    assert!(texts(&svg).contains(&"Packet latency (\u{b5}s)"), "{:?}", texts(&svg));
    assert!(texts(&svg).contains(&"a") && texts(&svg).contains(&"b"));
}
