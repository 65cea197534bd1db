//! Figures as files: sizes, formats, odd data.

use std::fs;

use flitlab::report::figure::{
    FIGURES, Figure, FigureKind, FigureRequest, Format, Length, Medium, Sheet, accepted_figure,
    channel_figure, channel_heat_map, completion_figure, draw_all, latency_figure,
    percentile_figure, tail_latency_figure,
};
use flitlab::report::{ChannelRow, Labels, Point, PointRow, Status, read};
use flitlab::units::Picoseconds;

use crate::common::made_up::{
    Folder, lines, longest, rows, sweep, text_of, three, torus_channels, with_details, workloads,
};

#[test]
fn positions_are_finer_than_a_point() {
    let svg = latency_figure(&sweep("a", 0.9, 600.0, 0.01), "").svg(&Sheet::default());
    assert!(svg.contains("viewBox=\"0 0 252 "));
    let curve = longest(&svg);
    assert!(curve.len() > 80, "{curve:?}");
    let whole = curve.iter().filter(|place| place.1.fract() == 0.0).count();
    assert!(whole < curve.len() / 4, "{whole} of {} places on whole points", curve.len());
}

#[test]
fn figures_are_the_same_each_time() {
    let folder = Folder::new("same");
    let mut rows = rows(&three());
    rows.points.last_mut().unwrap().channels = torus_channels();
    let mut wish = FigureRequest::titled("A");
    wish.medium.formats = Format::NAMES.map(|(format, _)| format).to_vec();
    let once = draw_all(&rows, folder.file("1"), &wish).unwrap().written;
    let twice = draw_all(&rows, folder.file("2"), &wish).unwrap().written;
    // Five figures, each as SVG, PDF, PNG, LaTeX and data; and the document.
    assert_eq!(once.len(), 5 * 5 + 1, "{once:?}");
    for (once, twice) in once.iter().zip(&twice) {
        assert_eq!(fs::read(once).unwrap(), fs::read(twice).unwrap(), "{}", once.display());
    }
}

#[test]
fn odd_data_gives_figures_all_the_same() {
    let folder = Folder::new("odd");
    let one = sweep("one", 0.5, 600.0, 1.0);
    let unsteady = sweep("none", 0.01, 600.0, 0.1);
    let mut same = sweep("same", 2.0, 600.0, 0.1);
    same.iter_mut().for_each(|point| point.measured.offered_load = Some(0.4));
    let mut zero = sweep("zero", 2.0, 0.0, 0.1);
    for Point { measured: row, .. } in &mut zero {
        row.offered_load = Some(0.0);
        row.packet_latency_mean = Some(Picoseconds::ZERO);
        row.packet_latency_p99 = None;
        row.accepted_load = Some(0.0);
    }
    let mut strange = sweep("strange", 0.8, 600.0, 0.1);
    strange[0].measured.offered_load = Some(f64::NAN);
    strange[1].measured.offered_load = Some(-1.0);
    strange[2].measured.accepted_load = Some(f64::INFINITY);
    strange[3].measured.packet_latency_mean = Some(Picoseconds::NEVER);
    strange[4].measured.packet_latency_mean = None;
    strange[5].measured.status = Status::Deadlock;
    let many: Vec<Point> = (0..30)
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
        draw_all(&self::rows(rows), folder.file("all"), &FigureRequest::default()).unwrap();
    }
    let odd = ChannelRow {
        channel: label,
        utilisation: f64::NAN,
        stalled_bubble: Some(f64::INFINITY),
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
        let svg = figure.svg(&sheet);
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
    let error = read::<PointRow>(&folder.file("none.csv"), &Labels::None).unwrap_err().to_string();
    assert!(error.starts_with("can't read ") && error.contains("none.csv"), "{error}");
}

#[test]
fn pages_have_the_width_asked_for_and_fonts_embedded() {
    let figure = latency_figure(&three(), "Uniform traffic");
    for (width, points) in [("3.5in", "252"), ("89mm", "252.2"), ("7in", "504"), ("240pt", "240")] {
        let sheet = Sheet::new(width.parse().unwrap(), Length(8.0)).unwrap();
        let svg = figure.svg(&sheet);
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
        let svg = figure.svg(&Sheet::new(Length(width), Length(font)).unwrap());
        let sizes = svg.split("font-size=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        let sizes: Vec<f64> = sizes.map(|size| size.parse().unwrap()).collect();
        let has = |size: f64| sizes.iter().any(|other| (other - size).abs() < 0.05);
        assert!(has(font) && has(font * 0.875) && has(font * 1.0625), "{font}: {sizes:?}");
        for (across, _) in lines(&svg).into_iter().flat_map(|line| line.places) {
            assert!((0.0..=width).contains(&across), "{width}: {across}");
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
    assert_eq!(header, ["x-1", "p99-1", "x-2", "mean-2", "low-2", "high-2"]);
    let cells: Vec<f64> =
        lines.next().unwrap().split(' ').map(|cell| cell.parse().unwrap()).collect();
    let mean = rows[0].measured.packet_latency_mean.unwrap().0 as f64 / 1000.0;
    assert!((cells[2] - 0.1).abs() < 1e-9 && (cells[3] - mean).abs() < 1e-3, "{cells:?}");
    assert!(cells[4] < cells[3] && cells[3] < cells[5]);
    assert_eq!(lines.count(), 5, "six steady points");
}

#[test]
fn latex_that_somebody_has_changed_is_kept() {
    let folder = Folder::new("kept");
    let medium = Medium { formats: vec![Format::Pgfplots], ..Medium::default() };
    let wish =
        FigureRequest { kinds: vec![FigureKind::ACCEPTED], medium, ..FigureRequest::titled("A") };
    let rows = rows(&three());
    let files = draw_all(&rows, &folder.0, &wish).unwrap();
    assert_eq!((files.written.len(), files.kept.len()), (3, 0));
    assert_eq!(draw_all(&rows, &folder.0, &wish).unwrap(), files, "the same again");
    // Other data has other axes: what nobody has touched is written anew.
    let other = FigureRequest { title: "B".into(), ..wish.clone() };
    assert_eq!(draw_all(&rows, &folder.0, &other).unwrap().kept.len(), 0);
    let mine = text_of(&folder, "accepted.tex").replace("axis lines=left", "axis lines=box");
    fs::write(folder.file("accepted.tex"), &mine).unwrap();
    let files = draw_all(&rows, &folder.0, &wish).unwrap();
    assert_eq!(files.kept, [folder.file("accepted.tex")]);
    assert_eq!(text_of(&folder, "accepted.tex"), mine);
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
    rows.points[45].channels = torus_channels();
    rows.points[45].workloads = workloads();
    rows.points[3].measured.status = Status::Deadlock;
    for (number, point) in rows.points.iter_mut().enumerate() {
        point.label.settings = vec![("router.buffer".into(), (number % 4 + 1).to_string())];
    }
    let wish = FigureRequest {
        kinds: FIGURES.into_iter().filter(|kind| *kind != FigureKind::COMPLETION).collect(),
        medium: Medium { formats: vec![Format::Pgfplots], ..Medium::default() },
        over: Some("router.buffer".into()),
        ..FigureRequest::titled("4D torus, 50 % & more")
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
