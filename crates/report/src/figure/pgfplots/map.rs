//! Heat maps: squares in the places that they have in the other formats.

use super::super::heat_map::{HeatMap, Layout, note};
use super::super::palette::shade;
use super::super::sheet::Sheet;
use super::latex::{escaped, file, foot, head, number, title};
use super::table::Table;

pub(in super::super) fn of_map(map: &HeatMap, sheet: &Sheet, name: &str) -> (String, String) {
    let layout = Layout::new(map, sheet);
    let (directions, side) = (map.directions(), layout.side);
    let mut table = Table::default();
    table.comments.push(format!("{}: {}", map.scale, note(map, &layout)));
    // In squares, from the upper left corner.
    let mut places: Vec<(f64, f64, f64)> = Vec::new();
    let (mut labels, mut crossed) = (String::new(), String::new());
    for (number_of, direction) in directions.iter().enumerate() {
        let top = number_of as f64 * layout.band();
        for cell in map.cells.iter().filter(|cell| cell.direction == *direction) {
            let (x, y) = layout.place(&cell.coordinates);
            places.push((x / side + 0.5, (top + y) / side + 0.5, cell.value));
        }
        for at in map.without_channel(direction, &layout) {
            let (x, y) = layout.place(&at);
            let (left, high) = (x / side, (top + y) / side);
            crossed += &format!(
                "\\draw[black!50, line width=0.6pt] (axis cs:{},{}) -- (axis cs:{},{});\n",
                number(left),
                number(high + 1.0),
                number(left + 1.0),
                number(high)
            );
        }
        labels += &format!(
            "\\node[anchor=east] at (axis cs:-0.5,{}) {{${direction}$}};\n",
            number((top + layout.band() / 2.0) / side)
        );
    }
    for (across, name) in layout.headings() {
        let across = number(across / side);
        labels += &format!("\\node[anchor=south] at (axis cs:{across},0) {};\n", escaped(&name));
    }
    let coordinates = directions.len() as f64 * layout.band() / side;
    table.column("across".into(), places.iter().map(|place| place.0).collect());
    table.column("down".into(), places.iter().map(|place| place.1).collect());
    table.column("value".into(), places.iter().map(|place| place.2).collect());
    let shades: Vec<String> = (0..=10)
        .map(|step| {
            let (red, green, blue) = shade(f64::from(step) / 10.0);
            format!("rgb255=({red},{green},{blue})")
        })
        .collect();
    let title = title(&map.title);
    let widest = places.iter().map(|place| place.0).fold(1.0, f64::max) + 0.5;
    let mut text = head(name, sheet);
    text += &format!(
        "\\begin{{axis}}[{title}x={side}bp, y={side}bp, y dir=reverse, xmin=0, xmax={}, ymin=0, ymax={},\n  \
         axis lines=none, clip=false, title style={{yshift=1.2em}}, colormap={{flitlab}}{{{}}}, point meta min={}, point meta max={},\n  \
         colorbar horizontal, colorbar style={{height=6bp, at={{(0.5,-0.05)}}, anchor=north, \
         width=110bp, xlabel={}, xticklabel style={{/pgf/number format/fixed}}}}]\n\
         \\addplot[scatter, only marks, mark=square*, mark size={}bp, scatter src=explicit,\n  \
         scatter/use mapped color={{draw=mapped color, fill=mapped color, line width=0pt}}] \
         table[x=across, y=down, meta=value] {};\n",
        number(widest),
        number(coordinates),
        shades.join(" "),
        number(map.range().0),
        number(map.range().1),
        escaped(&map.scale),
        number(side / 2.0),
        file(name)
    );
    text += &crossed;
    text += &labels;
    text += "\\end{axis}\n";
    text += &super::latex::note(Some(&note(map, &layout)));
    (text + foot(), table.text())
}
