//! `[results]`: what is kept of what was measured.

use crate::executor::KeptChannels;
use flitlab_base::document::{Diagnostic, Kind, Node, Reader, Slot, Value, Whole, wrong_type};
use flitlab_base::narrow::narrow;

pub(super) fn read(reader: &mut Reader<'_>) -> KeptChannels {
    let doc = "What is kept of what was measured.";
    reader.table("results", doc, |reader| {
        let doc = "The rows of channels.csv for each point. A study of many points has a million of them, \
                   which take minutes to write and more to read. \"groups\" is the mean and the most of the \
                   channels of each direction of a torus, level of a tree, or group of a fabric.";
        reader.value("channels", &Channels, KeptChannels::All, doc)
    })
}

/// All channels, groups, none, or a number of them.
struct Channels;

impl Channels {
    const COUNT: Whole = Whole { range: 1..=100_000 };
    const WORDS: [(&str, KeptChannels); 3] = [
        ("all", KeptChannels::All),
        ("groups", KeptChannels::Groups),
        ("none", KeptChannels::None),
    ];
}

impl Kind for Channels {
    type Value = KeptChannels;

    fn describe(&self) -> String {
        format!(
            "\"all\", \"groups\", \"none\", or, for the busiest ones, {}",
            Self::COUNT.describe()
        )
    }

    fn example(&self) -> String {
        "100".into()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<KeptChannels, Vec<Diagnostic>> {
        match &node.value {
            Value::Integer(_) | Value::Float(..) => {
                Self::COUNT.parse(slot, node).map(|count| KeptChannels::Busiest(narrow(count)))
            }
            Value::Text(text) => {
                let word = Self::WORDS.into_iter().find(|(word, _)| word == text);
                word.map(|(_, kept)| kept).ok_or_else(|| wrong_type(self, slot, node))
            }
            _ => Err(wrong_type(self, slot, node)),
        }
    }

    fn show(&self, value: &KeptChannels) -> String {
        match value {
            KeptChannels::Busiest(count) => count.to_string(),
            other => {
                let word = Self::WORDS.into_iter().find(|(_, kept)| kept == other);
                format!("\"{}\"", word.expect("a word for each but a number").0)
            }
        }
    }
}
