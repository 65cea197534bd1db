//! `[results]`: what is kept of what was measured.

use crate::simulation::{Kept, KeptChannels};
use flitlab_base::document::{
    Diagnostic, Flag, Kind, Node, Reader, Slot, Value, Whole, wrong_type,
};
use flitlab_base::narrow::narrow;
use flitlab_report::Packing;

/// The key of the rows of channels.
pub(crate) const CHANNELS: &str = "results.channels";

pub(super) fn read(reader: &mut Reader<'_>) -> Kept {
    let doc = "What is kept of what was measured.";
    reader.table("results", doc, |reader| {
        let doc = "The rows of channels.csv for each point. A study of many points has a million of them, \
                   which take minutes to write and more to read. \"groups\" is the mean and the most of the \
                   channels of each direction of a torus, level of a tree, or group of a fabric. That is the \
                   default, too, of a sweep's points with more than 1000 channels between routers.";
        let channels = reader.value("channels", &Channels, KeptChannels::All, doc);
        let doc = "Whether channels.csv is compressed, as channels.csv.gz: a tenth of the bytes. flitlab, pandas and R \
                   read it as it is.";
        let compressed = reader.value("compressed", &Flag, false, doc);
        Kept { channels, packing: if compressed { Packing::Gzip } else { Packing::Plain } }
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
