//! Series in figures: each has the same colour, marker and dashes in all of them, whichever are shown.

use std::fs;

use flitlab::report::Point;
use flitlab::report::figure::{Format, Kind, Look, Medium, Wish, draw_all};

use crate::common::made_up::{Folder, polylines, rows, sweep, three, with_details};
use crate::common::workplace::Workplace;

/// Colours of the curves of series, in the order of an SVG, each once.
fn colours(svg: &str) -> Vec<String> {
    let mut colours: Vec<String> = Vec::new();
    for line in polylines(svg, 22) {
        let colour = line.split("stroke=\"").nth(1).unwrap().split('"').next().unwrap();
        if !colours.iter().any(|known| known == colour) {
            colours.push(colour.to_owned());
        }
    }
    colours
}

fn drawn(folder: &Folder, points: &[Point], kind: Kind, look: Look) -> String {
    let medium = Medium { formats: vec![Format::Svg], ..Medium::default() };
    let wish = Wish { kinds: vec![kind], look, medium, ..Wish::default() };
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
    for kind in [Kind::Latency, Kind::Accepted, Kind::Distribution] {
        let of = |series: &[&String]| {
            let series = series.iter().map(|name| (*name).clone()).collect();
            colours(&drawn(&folder, &three(), kind, Look { series, ..Look::default() }))
        };
        let all = of(&[]);
        assert_eq!(all.len(), 3, "{kind:?}: {all:?}");
        assert_eq!(of(&[&names[2], &names[0]]), [all[2].clone(), all[0].clone()], "{kind:?}");
        if kind != Kind::Distribution {
            assert_eq!(of(&[&names[1]]), all[1..2], "{kind:?}");
        }
    }
    // Other names change no colour, either.
    let renamed = vec![(names[1].clone(), "another".to_owned())];
    let look = Look { series: vec![names[1].clone()], names: renamed, ..Look::default() };
    let all = colours(&drawn(&folder, &three(), Kind::Accepted, Look::default()));
    assert_eq!(colours(&drawn(&folder, &three(), Kind::Accepted, look)), all[1..2]);
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
        (Kind::Scaling, "POR"),
        (Kind::Saturation, "POR"),
        (Kind::Latency, "buffer 8, POR"),
        (Kind::Accepted, "buffer 8, POR"),
    ] {
        let plain = drawn(&folder, &points, kind, Look::default());
        let look = Look { styles: vec![style(name)], ..Look::default() };
        let styled = drawn(&folder, &points, kind, look);
        assert!(!plain.contains(colour) && styled.contains(colour), "{kind:?}");
    }
    let names = vec![("POR".to_owned(), "in order".to_owned())];
    for name in ["POR", "in order"] {
        let look = Look { styles: vec![style(name)], names: names.clone(), ..Look::default() };
        assert!(drawn(&folder, &points, Kind::Scaling, look).contains(colour), "{name}");
    }
}

#[test]
fn styles_are_keys_of_a_sweep_and_options_of_plot() {
    let place = Workplace::new("series_styles");
    place.write(
        "a.toml",
        "[topology.torus]\ndimensions = [4, 4]\n[traffic]\npattern = \"uniform\"\n[measure]\n\
         precision = 0.2\n[sweep.grid]\nrouting = [{ direction_order = {} }, { adaptive = {} }]\n\
         traffic.load = [0.1, 0.2]\n[sweep.figures.styles]\nadaptive = \"vermilion diamond dotted\"\n",
    );
    place.run(&["sweep", "a.toml", "--out", "a"]);
    let style = "styles = { \"adaptive\" = \"vermilion diamond dotted\" }";
    assert!(place.read("a/scenario.toml").contains(style), "{}", place.read("a/scenario.toml"));
    assert!(place.read("a/accepted.svg").contains("#BE4600"));
    let plot = |more: &[&str]| {
        let call = ["plot", "a", "--only", "accepted", "--format", "svg", "--out", "b"];
        place.fail(&[&call, more].concat())
    };
    assert_eq!(plot(&["--style", "adaptive=#123456", "--series", "adaptive"]).0, 0);
    let svg = place.read("b/accepted.svg");
    assert!(svg.contains("#123456") && !svg.contains("#BE4600"), "{svg}");
    let (code, errors) = plot(&["--style", "adaptiv=blue"]);
    assert!(code == 2 && errors.contains("there is no series `adaptiv`"), "{errors}");
    let (code, errors) = plot(&["--style", "adaptive=huge"]);
    assert!(code == 2 && errors.contains("`huge` is no colour (blue, orange"), "{errors}");
}
