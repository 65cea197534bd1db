//! Ranks over time: a filled rectangle for each run.

use super::super::sheet::Sheet;
use super::super::space_time::{SpaceTime, colour};
use super::latex::{colour_name, definitions, escaped, foot, head, number, title};
use super::table::Table;

pub(in super::super) fn of_space_time(
    figure: &SpaceTime,
    sheet: &Sheet,
    name: &str,
) -> (String, String) {
    let mut table = Table::default();
    let kinds: Vec<&str> = figure.legend.keys.iter().map(|key| key.1.as_str()).collect();
    table.comments.push(format!("kinds, from 0: {}", kinds.join(", ")));
    let runs = || figure.rows.iter().flat_map(|row| row.runs.iter().map(move |run| (row, run)));
    let kind = |spent: &str| kinds.iter().position(|kind| *kind == spent).unwrap_or(0) as f64;
    table.column("rank".into(), runs().map(|it| f64::from(it.0.first_rank)).collect());
    table.column("from".into(), runs().map(|it| it.1.0).collect());
    table.column("to".into(), runs().map(|it| it.1.1).collect());
    table.column("kind".into(), runs().map(|it| kind(it.1.2.name())).collect());
    let last = figure.rows.last().map_or(0, |row| row.last_rank) + 1;
    let mut text = head(name, sheet);
    text += &definitions(runs().map(|it| colour(it.1.2)));
    text += &format!(
        "\\begin{{axis}}[{}width={}bp, height=210bp, xmin=0, xmax={}, ymin=0, ymax={last}, y dir=reverse,\n  \
         xlabel={}, ylabel={{Rank}}, axis on top, legend style={{draw=none, at={{(0.5,-0.3)}}, anchor=north}},\n  \
         legend columns=2, legend cell align=left]\n",
        title(&figure.title),
        number(sheet.width()),
        number(figure.axis.high),
        escaped(&figure.axis.title)
    );
    for (row, &(from, to, spent)) in runs() {
        text += &format!(
            "\\fill[{}] (axis cs:{},{}) rectangle (axis cs:{},{});\n",
            colour_name(colour(spent)),
            number(from),
            row.first_rank,
            number(to),
            row.last_rank + 1
        );
    }
    for spent in flitlab_model::Spent::ALL {
        if kinds.contains(&spent.name()) {
            text += &format!(
                "\\addlegendimage{{area legend, fill={0}, draw={0}}}\\addlegendentry{{{1}}}\n",
                colour_name(colour(spent)),
                spent.name()
            );
        }
    }
    text += "\\end{axis}\n";
    (text + foot(), table.text())
}
