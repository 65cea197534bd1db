//! The parts of the page put into one text.

use flitlab_base::printable::escaped;
use serde::Serialize;

const PAGE: &str = include_str!("../assets/page.html");
const STYLE: &str = include_str!("../assets/page.css");

/// The script, by subject; what a part uses is in those above it.
const SCRIPT: [&str; 12] = [
    include_str!("../assets/elements.js"),
    include_str!("../assets/results.js"),
    include_str!("../assets/table.js"),
    include_str!("../assets/scale.js"),
    include_str!("../assets/chart.js"),
    include_str!("../assets/bars.js"),
    include_str!("../assets/torus.js"),
    include_str!("../assets/matrix.js"),
    include_str!("../assets/pairs.js"),
    include_str!("../assets/timeline.js"),
    include_str!("../assets/phases.js"),
    include_str!("../assets/page.js"),
];

/// Fills the template. Its marks are `{{title}}`, `{{style}}`, `{{data}}` and `{{script}}`; what is
/// put in is not looked at again, so a title may hold a mark.
pub(super) fn fill(title: &str, data: &impl Serialize) -> String {
    let mut text = String::new();
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (mark, after) = after.split_once("}}").expect("the template's marks are closed");
        text.push_str(before);
        match mark {
            "title" => text.push_str(&escaped(title)),
            "style" => text.push_str(STYLE),
            "data" => text.push_str(&json(data)),
            "script" => text.push_str(&SCRIPT.join("\n")),
            _ => unreachable!("the template has no other marks"),
        }
        rest = after;
    }
    text + rest
}

/// JSON that can stand in a script element: with no `<` in it, nothing ends the element or begins a
/// comment.
fn json(data: &impl Serialize) -> String {
    let text = serde_json::to_string(data).expect("plain data");
    // Outside of texts JSON has none of these.
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
