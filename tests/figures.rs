//! Result files and figures, from made-up rows.

use std::fs;
use std::path::PathBuf;

use flitlab::engine::ChannelKind;
use flitlab::report::figure::{
    Figure, Format, Kind, Length, Medium, Sheet, Wish, accepted_figure, channel_figure,
    channel_heat_map, completion_figure, draw_all, latency_figure, percentile_figure,
    tail_latency_figure,
};
use flitlab::report::{
    ChannelRow, LatencyRow, PointRow, ReportError, ResultRows, RowWriter, Status, WindowPhase,
    WindowRow, read_channels, read_points,
};

/// A folder of its own for a test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("flitlab-figures-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A sweep like one of a queueing network that saturates at `capacity`: latency grows as
/// 1 / (capacity - load).
fn sweep(series: &str, capacity: f64, zero_load: f64, step: f64) -> Vec<PointRow> {
    let count = (1.0 / step).round() as u32;
    (1..=count)
        .map(|number| {
            let load = f64::from(number) * step;
            let steady = load < capacity - 1e-9;
            let wait = if steady { 60.0 * load / (capacity - load) } else { 40_000.0 };
            let picoseconds = |latency: f64| Some((latency * 1000.0).round() as u64);
            PointRow {
                series: series.into(),
                point: number - 1,
                seed: 1,
                status: if steady { Status::Steady } else { Status::NotSteady },
                offered_load: Some(load),
                offered_payload: Some(load * 6.4),
                accepted_load: Some(if steady { load } else { capacity * 0.97 }),
                accepted_payload: Some(load.min(capacity) * 6.4),
                accepted_minimum_source: Some(load.min(capacity) * 6.0),
                jain_fairness: Some(0.999_987),
                packets: 123_456,
                packet_latency_mean: picoseconds(zero_load + wait),
                packet_latency_mean_ci95: picoseconds(2.0 + wait * 0.02),
                packet_latency_p50: picoseconds(zero_load + wait * 0.7),
                packet_latency_p95: picoseconds(zero_load * 1.2 + wait * 2.2),
                packet_latency_p99: picoseconds(zero_load * 1.3 + wait * 3.1),
                packet_latency_p999: picoseconds(zero_load * 1.4 + wait * 4.7),
                packet_latency_max: picoseconds(zero_load * 1.5 + wait * 7.0),
                network_latency_mean: picoseconds(zero_load + wait / 2.0),
                hops_mean: Some(4.033_333),
                simulated_time: Some(2_345_678_901),
                warm_up: Some(345_678_000),
                windows: 17,
                events: 98_765_432,
                digest: Some(0x0123_4567_89ab_cdef),
                ..PointRow::default()
            }
        })
        .collect()
}

/// Channels of a 4D torus, busier along x, and of its terminals.
fn torus_channels(series: &str, point: u32) -> Vec<ChannelRow> {
    let directions = ["+x", "+y", "+z", "+k", "-x", "-y", "-z", "-k"];
    let mut rows = Vec::new();
    for node in 0..64u32 {
        let place = format!("({},{},{},0)", node % 4, node / 4 % 4, node / 16);
        for (number, direction) in directions.iter().enumerate() {
            rows.push(ChannelRow {
                series: series.into(),
                point,
                channel: format!("{place} {direction}"),
                utilisation: 0.62 - 0.09 * (number % 4) as f64 + f64::from(node * 37 % 64) * 0.003,
                stalled_no_credit: 0.125,
                flits: 4711,
                flits_vc0: 4711,
                ..ChannelRow::default()
            });
        }
        for (kind, name) in
            [(ChannelKind::Injection, "injection"), (ChannelKind::Ejection, "ejection")]
        {
            rows.push(ChannelRow {
                series: series.into(),
                point,
                channel: format!("{place} {name}"),
                kind,
                utilisation: 0.31 + f64::from(node % 5) * 0.004,
                ..ChannelRow::default()
            });
        }
    }
    rows
}

fn three() -> Vec<PointRow> {
    [
        sweep("Direction order", 0.72, 610.0, 0.05),
        sweep("Single-source shortest path", 0.83, 590.0, 0.05),
        sweep("Adaptive", 0.93, 640.0, 0.05),
    ]
    .concat()
}

fn rows(points: &[PointRow], channels: &[ChannelRow]) -> ResultRows {
    ResultRows { points: points.into(), channels: channels.into(), ..ResultRows::default() }
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

fn polylines(svg: &str, width: u32) -> Vec<&str> {
    let width = format!("stroke-width=\"{width}\"");
    svg.lines().filter(|line| line.starts_with("<polyline") && line.contains(&width)).collect()
}

#[test]
fn rows_come_back_as_written() {
    let folder = Folder::new("round-trip");
    let mut rows = sweep("4x4, \"short\" routes", 0.7, 600.123, 0.1);
    rows.push(PointRow {
        series: "all to all".into(),
        status: Status::Completed,
        completion_time: Some(1_234_567),
        bandwidth: Some(4.25),
        ..PointRow::default()
    });
    rows.push(PointRow { status: Status::Deadlock, ..PointRow::default() });
    for row in &mut rows {
        for load in [&mut row.offered_load, &mut row.offered_payload, &mut row.accepted_load]
            .into_iter()
            .chain([&mut row.accepted_payload, &mut row.accepted_minimum_source])
        {
            *load = load.map(|load| (load * 1e6).round() / 1e6);
        }
    }
    let path = folder.file("points.csv");
    let mut writer = RowWriter::create(&path).unwrap();
    for row in &rows {
        writer.write(row).unwrap();
    }
    let read = read_points(&path).unwrap();
    assert_eq!(read.rows, rows);
    assert_eq!(read.incomplete_line, None);

    let channels = torus_channels("a", 3);
    let path = folder.file("channels.csv");
    let mut writer = RowWriter::create(&path).unwrap();
    for row in &channels {
        writer.write(row).unwrap();
    }
    let read = read_channels(&path).unwrap().rows;
    assert_eq!(read.len(), channels.len());
    assert!(read.iter().zip(&channels).all(|(read, row)| read.channel == row.channel
        && (read.utilisation - row.utilisation).abs() <= 5e-7));
}

#[test]
fn cells_are_plain_decimals_and_headers_carry_units() {
    let folder = Folder::new("cells");
    let path = folder.file("points.csv");
    let mut writer = RowWriter::create(&path).unwrap();
    writer
        .write(&PointRow {
            series: "two\nlines".into(),
            seed: 7,
            status: Status::NotSteady,
            offered_load: Some(0.1 + 0.2),
            accepted_load: Some(f64::NAN),
            packet_latency_mean: Some(1_234_567),
            packet_latency_p50: Some(200_000),
            completion_time: Some(1_500_001),
            digest: Some(0xabc),
            ..PointRow::default()
        })
        .unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let (header, row) = text.trim_end().split_once('\n').unwrap();
    let cells: std::collections::BTreeMap<&str, &str> =
        header.split(',').zip(row.split(',')).collect();
    for (column, cell) in [
        ("series", "\"two lines\""),
        ("status", "not steady"),
        ("offered_load", "0.3"),
        ("accepted_load", ""),
        ("packet_latency_mean_ns", "1234.567"),
        ("packet_latency_p50_ns", "200"),
        ("packet_latency_p999_ns", ""),
        ("completion_time_us", "1.500001"),
        ("offered_payload_GB_per_s_per_node", ""),
        ("accepted_minimum_source_GB_per_s", ""),
        ("bandwidth_GB_per_s_per_node", ""),
        ("digest", "0000000000000abc"),
    ] {
        assert_eq!(cells.get(column), Some(&cell), "{column}");
    }
}

#[test]
fn a_row_cut_short_is_left_out_and_replaced() {
    let folder = Folder::new("cut");
    let path = folder.file("points.csv");
    let rows = sweep("a", 0.7, 600.0, 0.25);
    let mut writer = RowWriter::create(&path).unwrap();
    writer.write(&rows[0]).unwrap();
    writer.write(&rows[1]).unwrap();
    drop(writer);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 30]).unwrap();

    let read = read_points(&path).unwrap();
    assert_eq!((read.rows.len(), read.incomplete_line), (1, Some(3)));

    let mut writer = RowWriter::resume(&path).unwrap();
    writer.write(&rows[1]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), whole);

    // Cut in the header.
    fs::write(&path, &whole[..30]).unwrap();
    let mut writer = RowWriter::resume(&path).unwrap();
    writer.write(&rows[0]).unwrap();
    writer.write(&rows[1]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn a_foreign_file_is_neither_read_nor_continued() {
    let folder = Folder::new("foreign");
    let path = folder.file("points.csv");
    fs::write(&path, "name,load\nx,1\nno line break").unwrap();
    let error = RowWriter::<PointRow>::resume(&path).unwrap_err();
    assert!(matches!(error, ReportError::Columns { .. }), "{error}");
    assert!(RowWriter::<PointRow>::create(&path).is_err(), "an existing file is kept");
    assert_eq!(fs::read_to_string(&path).unwrap(), "name,load\nx,1\nno line break");
    let error = read_points(&path).unwrap_err().to_string();
    assert!(error.contains("points.csv: no columns series, figure, point"), "{error}");

    fs::write(&path, "").unwrap();
    assert!(read_points(&path).is_err());
    assert!(RowWriter::<PointRow>::resume(&path).is_ok());
    assert_eq!(read_points(&path).unwrap().rows, []);
}

#[test]
fn a_wrong_cell_is_named_by_file_line_and_column() {
    let folder = Folder::new("wrong");
    let path = folder.file("points.csv");
    let mut writer = RowWriter::create(&path).unwrap();
    for row in sweep("a", 0.7, 600.0, 0.5) {
        writer.write(&row).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    for (good, bad, expected) in [
        (",123456,", ",many,", ":2: column packets: "),
        (",not steady,", ",unsteady,", ":3: column status: "),
        (",17,", ",-17,", ":2: column windows: "),
        (",0.5,", ",NaN,", ":2: column offered_load: "),
        ("0123456789abcdef", "123", ":2: column digest: "),
    ] {
        fs::write(&path, text.replacen(good, bad, 1)).unwrap();
        let error = read_points(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("points.csv{expected}")), "{error}");
    }
    fs::write(&path, text.replacen(",17,", ",", 1)).unwrap();
    let error = read_points(&path).unwrap_err().to_string();
    assert!(error.contains("cells where the header has"), "{error}");
}

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
fn positions_are_finer_than_a_point() {
    let svg = latency_figure(&sweep("a", 0.9, 600.0, 0.01), "").svg(&Sheet::default()).unwrap();
    assert!(svg.contains("viewBox=\"0 0 5040 "));
    let curve = longest(&svg);
    let units: Vec<i32> =
        curve.split(' ').filter_map(|pair| pair.split_once(',')?.1.parse().ok()).collect();
    assert!(units.len() > 80, "{curve}");
    let whole = units.iter().filter(|&&unit| unit % 20 == 0).count();
    assert!(whole < units.len() / 4, "{whole} of {} points on whole points", units.len());
}

/// The curve with the most points.
fn longest(svg: &str) -> &str {
    polylines(svg, 22).into_iter().max_by_key(|line| count(line, ",")).unwrap()
}

#[test]
fn one_saturated_point_does_not_flatten_the_curve() {
    let mut rows = sweep("a", 0.65, 600.0, 0.1);
    let axis = |rows: &[PointRow]| {
        latency_figure(rows, "").svg(&Sheet::default()).unwrap().contains("\n1000\n")
    };
    assert!(axis(&rows));
    rows[8].packet_latency_mean = Some(9_000_000_000);
    assert!(axis(&rows), "an unsteady point counts for nothing");
    rows[5].packet_latency_p99 = Some(9_000_000_000);
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
fn figures_are_the_same_each_time() {
    let folder = Folder::new("same");
    let channels = torus_channels("Adaptive", 5);
    let rows = ResultRows { points: three(), channels, ..ResultRows::default() };
    let mut wish = Wish::titled("A");
    wish.medium.formats = Format::ALL.to_vec();
    let once = draw_all(&rows, folder.file("1"), &wish).unwrap().written;
    let twice = draw_all(&rows, folder.file("2"), &wish).unwrap().written;
    // Five figures, each as SVG, PDF, PNG, LaTeX and data; and the document.
    assert_eq!(once.len(), 5 * 5 + 1, "{once:?}");
    for (once, twice) in once.iter().zip(&twice) {
        assert_eq!(fs::read(once).unwrap(), fs::read(twice).unwrap(), "{}", once.display());
    }
}

#[test]
fn only_figures_that_say_something_are_drawn() {
    let folder = Folder::new("some");
    let names = |points: &[PointRow], channels: &[ChannelRow]| -> Vec<String> {
        let rows = rows(points, channels);
        let paths = draw_all(&rows, folder.file("some"), &Wish::default()).unwrap().written;
        let names = paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
        names.filter(|name| name.ends_with(".svg")).collect()
    };
    let exchange = |series: &str| PointRow {
        series: series.into(),
        status: Status::Completed,
        completion_time: Some(5_000_000),
        ..PointRow::default()
    };
    assert!(names(&[], &[]).is_empty());
    assert!(names(&sweep("a", 0.5, 600.0, 1.0), &[]).is_empty());
    assert!(names(&[exchange("a")], &[]).is_empty());
    assert_eq!(names(&[exchange("a"), exchange("b")], &[]), ["completion.svg"]);
    assert_eq!(names(&sweep("a", 0.05, 600.0, 0.1), &[]), ["accepted.svg"], "nothing is steady");
    assert_eq!(names(&[], &torus_channels("a", 0)), ["channels.svg", "channel-map.svg"]);
    let two = [torus_channels("a", 0), torus_channels("b", 0)].concat();
    assert_eq!(names(&[], &two), ["channels-1.svg", "channels-2.svg"]);
    let one = sweep("a", 0.7, 600.0, 0.1);
    assert_eq!(names(&one, &[]), ["latency.svg", "percentiles.svg", "accepted.svg"]);
    let many: Vec<PointRow> =
        (0..5).flat_map(|number| sweep(&format!("{number}"), 0.7, 600.0, 0.1)).collect();
    let several = ["latency.svg", "latency-p99.svg", "accepted.svg", "saturation.svg"];
    assert_eq!(names(&many, &[]), several);
    let channels: Vec<ChannelRow> =
        (0..5).flat_map(|number| torus_channels(&format!("{number}"), 0)).collect();
    assert_eq!(names(&many, &channels), several, "five more figures of channels help nobody");
}

#[test]
fn channels_are_shown_at_the_highest_steady_load() {
    let folder = Folder::new("highest");
    let points = sweep("a", 0.65, 600.0, 0.1);
    let channels =
        [torus_channels("a", 2), torus_channels("a", 4), torus_channels("a", 8)].concat();
    draw_all(&rows(&points, &channels), &folder.0, &Wish::titled("Uniform")).unwrap();
    let svg = fs::read_to_string(folder.file("channels.svg")).unwrap();
    assert!(svg.contains("\nUniform, load 0.5\n"), "{svg}");
    assert!(svg.contains("\n\u{2212}k\n") && svg.contains("\nejection\n"));
}

#[test]
fn odd_data_gives_figures_all_the_same() {
    let folder = Folder::new("odd");
    let one = sweep("one", 0.5, 600.0, 1.0);
    let unsteady = sweep("none", 0.01, 600.0, 0.1);
    let mut same = sweep("same", 2.0, 600.0, 0.1);
    same.iter_mut().for_each(|row| row.offered_load = Some(0.4));
    let mut zero = sweep("zero", 2.0, 0.0, 0.1);
    for row in &mut zero {
        row.offered_load = Some(0.0);
        row.packet_latency_mean = Some(0);
        row.packet_latency_p99 = None;
        row.accepted_load = Some(0.0);
    }
    let mut strange = sweep("strange", 0.8, 600.0, 0.1);
    strange[0].offered_load = Some(f64::NAN);
    strange[1].offered_load = Some(-1.0);
    strange[2].accepted_load = Some(f64::INFINITY);
    strange[3].packet_latency_mean = Some(u64::MAX);
    strange[4].packet_latency_mean = None;
    strange[5].status = Status::Deadlock;
    let many: Vec<PointRow> = (0..30)
        .flat_map(|number| {
            let label = format!("A label <{number}> & that \"goes\" on and on and on, {number}");
            sweep(&label, 0.5 + f64::from(number) * 0.01, 600.0, 0.05)
        })
        .collect();
    let label = "w".repeat(3000);
    let long = sweep(&label, 0.7, 600.0, 0.1);
    let cases = [vec![], one, unsteady, same, zero, strange, many, long];
    for (number, rows) in cases.iter().enumerate() {
        for figure in [
            latency_figure,
            tail_latency_figure,
            percentile_figure,
            accepted_figure,
            completion_figure,
        ] {
            drawn(&figure(rows, &label), number);
        }
        draw_all(&self::rows(rows, &[]), folder.file("all"), &Wish::default()).unwrap();
    }
    let odd = ChannelRow {
        channel: label,
        utilisation: f64::NAN,
        stalled_bubble: f64::INFINITY,
        ..ChannelRow::default()
    };
    for rows in [vec![], vec![odd.clone()], vec![ChannelRow { utilisation: 0.0, ..odd }]] {
        drawn(&channel_figure(&rows, ""), 99);
        drawn(&channel_heat_map(&rows, ""), 99);
    }
}

/// At a usual and at extreme sizes.
fn drawn(figure: &Figure, case: usize) {
    let extreme = |width, font| Sheet::new(Length(width), Length(font)).unwrap();
    for sheet in [Sheet::default(), extreme(72.0, 24.0), extreme(700.0, 4.0)] {
        let svg = figure.svg(&sheet).unwrap();
        assert!(svg.trim_end().ends_with("</svg>"), "case {case}");
        assert!(!svg.contains("NaN"), "case {case}");
        if sheet == Sheet::default() {
            figure.png(&sheet).unwrap();
        }
        let pdf = figure.pdf(&sheet).unwrap();
        assert!(!String::from_utf8_lossy(&pdf).contains("NaN"), "case {case}");
        let (text, table) = figure.pgfplots(&sheet, "figure");
        assert!(!text.contains("nan") && !text.contains("inf"), "case {case}: {text}");
        assert!(!table.contains("inf"), "case {case}: {table}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let folder = Folder::new("unwritable");
    let figure = latency_figure(&[], "");
    let result = figure.write_to(&folder.file("missing"), "latency", &Medium::default());
    let error = result.unwrap_err().to_string();
    assert!(error.contains("missing/latency.svg"), "{error}");
    let error = read_points(folder.file("none.csv")).unwrap_err().to_string();
    assert!(error.starts_with("can't read ") && error.contains("none.csv"), "{error}");
}

/// The distribution of latencies and the windows of each steady point.
fn with_details(points: Vec<PointRow>) -> ResultRows {
    let mut rows = ResultRows { points, ..ResultRows::default() };
    for point in &rows.points {
        let mean = point.packet_latency_mean.unwrap_or(0);
        rows.latencies.extend((0..=50).map(|step| LatencyRow {
            series: point.series.clone(),
            point: point.point,
            packet_latency: mean / 2 + mean * step / 50,
            share: step as f64 / 50.0,
        }));
        rows.windows.extend((0..12).map(|window| WindowRow {
            series: point.series.clone(),
            point: point.point,
            phase: if window < 4 { WindowPhase::WarmUp } else { WindowPhase::Measured },
            start: window * 10_000_000,
            end: (window + 1) * 10_000_000,
            accepted_load: point.accepted_load,
            packet_latency_mean: Some(mean + window * 1000),
            flits_under_way: 5000 + window * 10,
            utilisation_mean: Some(0.3),
            utilisation_busiest: Some(0.5),
        }));
    }
    rows
}

/// The texts of an SVG.
fn texts(svg: &str) -> Vec<&str> {
    let lines: Vec<&str> = svg.lines().collect();
    let text = |pair: &[&'_ str]| pair[0].starts_with("<text");
    lines.windows(2).filter(|pair| text(pair)).map(|pair| pair[1]).collect()
}

fn svg_of(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.file(name)).unwrap()
}

#[test]
fn distributions_compare_series_at_a_load_steady_for_all() {
    let folder = Folder::new("cdf");
    let rows = with_details(three());
    let only = |load| Wish { kinds: vec![Kind::Distribution], load, ..Wish::titled("Uniform") };
    draw_all(&rows, &folder.0, &only(None)).unwrap();
    let svg = svg_of(&folder, "cdf.svg");
    // The weakest saturates at 0.72.
    assert!(texts(&svg).contains(&"Uniform, load 0.7"), "{:?}", texts(&svg));
    for label in ["Share of packets", "Direction order", "Adaptive"] {
        assert!(texts(&svg).contains(&label), "{label}");
    }
    draw_all(&rows, &folder.0, &only(Some(0.32))).unwrap();
    assert!(texts(&svg_of(&folder, "cdf.svg")).contains(&"Uniform, load 0.3"));

    let single = with_details(sweep("a", 0.72, 600.0, 0.05));
    draw_all(&single, &folder.0, &only(None)).unwrap();
    let svg = svg_of(&folder, "cdf.svg");
    for label in ["a, load 0.05", "a, load 0.7"] {
        assert!(texts(&svg).contains(&label), "{:?}", texts(&svg));
    }
}

#[test]
fn windows_are_shown_over_time_with_the_end_of_the_warm_up() {
    let folder = Folder::new("time");
    let wish = Wish { kinds: vec![Kind::Time], ..Wish::default() };
    draw_all(&with_details(sweep("a", 0.72, 600.0, 0.05)), &folder.0, &wish).unwrap();
    let svg = svg_of(&folder, "time.svg");
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
    let figure = |name: &str, series: &[&str]| -> Vec<PointRow> {
        let rows = series.iter().flat_map(|series| sweep(series, 0.7, 600.0, 0.1));
        rows.map(|row| PointRow {
            series: format!("{name}, {}", row.series),
            figure: name.into(),
            ..row
        })
        .collect()
    };
    let points = [figure("uniform", &["ABR", "POR"]), figure("tornado", &["POR"])].concat();
    let wish = Wish { kinds: vec![Kind::Accepted], ..Wish::default() };
    draw_all(&rows(&points, &[]), &folder.0, &wish).unwrap();
    let colours = |name: &str| {
        let svg = svg_of(&folder, name);
        ["#00549F", "#E69F00"]
            .map(|colour| polylines(&svg, 22).iter().any(|it| it.contains(colour)))
    };
    assert_eq!(colours("accepted-uniform.svg"), [true, true]);
    assert_eq!(colours("accepted-tornado.svg"), [false, true]);
}

#[test]
fn a_band_shows_the_confidence_interval() {
    let svg = latency_figure(&three(), "").svg(&Sheet::default()).unwrap();
    // One a series, and the legend's sample.
    assert_eq!(count(&svg, "opacity=\"0.22\""), 4);
    assert!(texts(&svg).contains(&"95% confidence interval"));
    let mut rows = three();
    rows.iter_mut().for_each(|row| row.packet_latency_mean_ci95 = None);
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

#[test]
fn pages_have_the_width_asked_for_and_fonts_embedded() {
    let figure = latency_figure(&three(), "Uniform traffic");
    for (width, points) in [("3.5in", "252"), ("89mm", "252.2"), ("7in", "504"), ("240pt", "240")] {
        let sheet = Sheet::new(width.parse().unwrap(), Length(8.0)).unwrap();
        let svg = figure.svg(&sheet).unwrap();
        assert!(svg.starts_with(&format!("<svg width=\"{points}")), "{}", &svg[..60]);
        let pdf = figure.pdf(&sheet).unwrap();
        let text = String::from_utf8_lossy(&pdf);
        assert!(text.contains(&format!("/MediaBox [0 0 {points}")), "{width}");
        // Type 0 with TrueType outlines in the file, and a way back from glyphs to letters.
        for part in ["/FontFile2", "/ToUnicode", "/BaseFont /FLITLB+LiberationSans", "/Identity-H"]
        {
            assert!(text.contains(part), "{part}");
        }
        assert!(pdf.len() < 40_000, "{} bytes", pdf.len());
        let png = figure.png(&sheet).unwrap();
        let width = u32::from_be_bytes(png[16..20].try_into().unwrap());
        let inches: f64 = points.parse::<f64>().unwrap() / 72.0;
        assert!((f64::from(width) / 300.0 - inches).abs() < 0.01, "{width} pixels");
    }
}

#[test]
fn letters_follow_the_font_size_and_stay_on_the_sheet() {
    let figure = accepted_figure(&three(), "A title that is a little longer than others are");
    for (width, font) in [(252.0, 6.0), (252.0, 12.0), (144.0, 8.0), (504.0, 10.0)] {
        let svg = figure.svg(&Sheet::new(Length(width), Length(font)).unwrap()).unwrap();
        let sizes = svg.split("font-size=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        let sizes: Vec<f64> = sizes.map(|size| size.parse().unwrap()).collect();
        let has = |size: f64| sizes.iter().any(|other| (other - size * 20.0).abs() < 1.0);
        assert!(has(font) && has(font * 0.875) && has(font * 1.0625), "{font}: {sizes:?}");
        for line in svg.lines().filter(|line| line.starts_with("<polyline")) {
            let points = line.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
            for pair in points.split_whitespace() {
                let across: f64 = pair.split(',').next().unwrap().parse().unwrap();
                assert!((0.0..=width * 20.0).contains(&across), "{width}: {pair}");
            }
        }
    }
}

#[test]
fn tables_for_latex_hold_the_data() {
    let rows = sweep("a & b", 0.65, 600.0, 0.1);
    let (text, table) = latency_figure(&rows, "50% of it").pgfplots(&Sheet::default(), "latency");
    assert!(text.contains("50\\% of it") && text.contains("a \\& b, mean"), "{text}");
    assert!(text.contains("{\\flitlabfolder latency.dat}"));
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<&str> = lines.next().unwrap().split(' ').collect();
    assert_eq!(header, ["x1", "p991", "x2", "mean2", "low2", "high2"]);
    let cells: Vec<f64> =
        lines.next().unwrap().split(' ').map(|cell| cell.parse().unwrap()).collect();
    let mean = rows[0].packet_latency_mean.unwrap() as f64 / 1000.0;
    assert!((cells[2] - 0.1).abs() < 1e-9 && (cells[3] - mean).abs() < 1e-3, "{cells:?}");
    assert!(cells[4] < cells[3] && cells[3] < cells[5]);
    assert_eq!(lines.count(), 5, "six steady points");
}

#[test]
fn latex_that_somebody_has_changed_is_kept() {
    let folder = Folder::new("kept");
    let medium = Medium { formats: vec![Format::Pgfplots], ..Medium::default() };
    let wish = Wish { kinds: vec![Kind::Accepted], medium, ..Wish::titled("A") };
    let rows = rows(&three(), &[]);
    let files = draw_all(&rows, &folder.0, &wish).unwrap();
    assert_eq!((files.written.len(), files.kept.len()), (3, 0));
    assert_eq!(draw_all(&rows, &folder.0, &wish).unwrap(), files, "the same again");
    fs::write(folder.file("accepted.tex"), "mine").unwrap();
    let files = draw_all(&rows, &folder.0, &wish).unwrap();
    assert_eq!(files.kept, [folder.file("accepted.tex")]);
    assert_eq!(svg_of(&folder, "accepted.tex"), "mine");
}

/// Compiles all kinds of figures with LaTeX, where there is one.
#[test]
fn latex_compiles() {
    use std::process::Command;
    let has = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        output.is_ok_and(|output| output.status.success())
    };
    if !has("pdflatex", &["--version"]) || !has("kpsewhich", &["pgfplots.sty"]) {
        println!("skipped: there is no pdflatex with pgfplots");
        return;
    }
    let folder = Folder::new("latex");
    let mut rows =
        with_details([three(), sweep("100% & x_1 {<#>} ^~\\", 0.5, 600.0, 0.1)].concat());
    rows.channels = torus_channels("Adaptive", 5);
    rows.points[3].status = Status::Deadlock;
    for (number, row) in rows.points.iter_mut().enumerate() {
        row.settings = format!("router.buffer = {}", number % 4 + 1);
    }
    let wish = Wish {
        kinds: Kind::ALL.into_iter().filter(|kind| *kind != Kind::Completion).collect(),
        medium: Medium { formats: vec![Format::Pgfplots], ..Medium::default() },
        over: Some("router.buffer".into()),
        ..Wish::titled("4D torus, 50 % & more")
    };
    let files = draw_all(&rows, &folder.0, &wish).unwrap();
    assert!(files.written.len() > 2 * 10, "{files:?}");
    let output = Command::new("pdflatex")
        .args(["-interaction=nonstopmode", "-halt-on-error", "figures.tex"])
        .current_dir(&folder.0)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
