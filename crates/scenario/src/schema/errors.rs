//! `[link.errors]`: how cables err, and how what they damage is sent again.

use super::topology::failures;
use flitlab_base::document::{
    Diagnostic, Kind, Node, Reader, Slot, Value, Whole, flits, out_of_range, time, wrong_type,
};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_engine::{Acknowledgements, Bursts, Feature, LinkErrors, Parameters, Resend, Retry};
use flitlab_fabric::{CableClass, Fabric};

/// The highest rate: with it every fifth of Angara's packets is damaged.
const HIGHEST: f64 = 1e-4;

/// The probability that a bit is damaged.
struct ErrorRate;

impl Kind for ErrorRate {
    type Value = f64;

    fn describe(&self) -> String {
        format!("a number from 0 to {HIGHEST}")
    }

    fn example(&self) -> String {
        "1e-9".into()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<f64, Vec<Diagnostic>> {
        let rate = match &node.value {
            Value::Integer(Some(number)) => *number as f64,
            Value::Float(number, _) => *number,
            _ => return Err(wrong_type(self, slot, node)),
        };
        if (0.0..=HIGHEST).contains(&rate) {
            Ok(rate)
        } else {
            Err(out_of_range(slot, node, &format!("from 0 to {HIGHEST}")))
        }
    }

    fn show(&self, value: &f64) -> String {
        format!("{value:e}")
    }
}

/// The errors of links with these parameters over these classes of cables, of a fabric that is
/// `None` if it is wrong itself.
pub(super) fn read(
    reader: &mut Reader<'_>,
    parameters: &Parameters,
    classes: &[CableClass],
    fabric: impl FnOnce() -> Option<Fabric>,
    seed: u64,
) -> Option<LinkErrors> {
    let doc = "What damages packets on the cables between routers, and how these send again what was damaged (docs/model.md, \
               \"Links that err\"). Links neither err nor acknowledge anything if it is absent.";
    let example = "{ bit_error_rate = 1e-9 }";
    reader.optional_table("errors", example, doc, |reader| {
        let mut errors = LinkErrors { seed, ..LinkErrors::default() };
        let doc = "The probability that a bit is damaged. With 0 links only pay for being able to send again.";
        reader.set("bit_error_rate", &ErrorRate, &mut errors.bit_error_rate, doc);
        let doc = "Stretches of time in which all that a channel carries is damaged.";
        let example = "{ interval = \"1 ms\", length = \"20 ns\" }";
        let bursts = reader.optional_table("bursts", example, doc, |reader| {
            let doc = "Mean time from the beginning of one to that of the next, exponentially distributed.";
            let interval = reader.required("interval", &time(Picoseconds(1_000)), doc);
            let length = reader.required("length", &time(Picoseconds(1)), "How long one lasts.");
            Some(Bursts { interval: interval?, length: length? })
        });
        errors.bursts = bursts.flatten();
        let fabric = fabric();
        let doc = "Cables that err, in both directions, each named by one of its ends; all if absent. The others send \
                   again as well, but need not.";
        let cables = failures::cables(reader, "cables", fabric.as_ref(), doc);
        errors.channels = fabric.filter(|_| !cables.is_empty()).map(|fabric| {
            let mut errs = vec![false; fabric.channel_slots() as usize];
            for channel in cables {
                errs[channel as usize] = true;
                if let Some(opposite) = fabric.opposite(channel) {
                    errs[opposite as usize] = true;
                }
            }
            errs
        });
        let doc = "What becomes of a packet before its checksum is there.";
        let stomp = "it goes on; the last flit of a damaged one is marked, and whoever has it discards it.";
        let retries =
            [("stomp", Retry::Stomp, stomp), ("store", Retry::Store, "it waits for it.")];
        // Where links don't err at all, that is said.
        let kind = &parameters.kind;
        let has_errors = Feature::LinkErrors.refusal(kind).is_none();
        if let (true, Some(why)) = (has_errors, Feature::RetryOfPackets.refusal(kind)) {
            reader.forbid("retry", why, "leave `retry` out");
        } else {
            let retry = reader.one_of("retry", "kind of retry", doc, retries);
            errors.retry = retry.unwrap_or(errors.retry);
        }
        let doc = "What is sent again.";
        let go_back = "the damaged packet, and all that were sent after it.";
        let selective = "the damaged packet alone; others wait for it if they share its virtual channel.";
        let kinds =
            [("go-back-n", Resend::GoBackN, go_back), ("selective", Resend::Selective, selective)];
        let resend = reader.one_of("resend", "kind of sending again", doc, kinds);
        errors.resend = resend.unwrap_or(errors.resend);
        let doc = "What acknowledgements take.";
        let of_flits = "a flit of the cable's other direction, which may be damaged itself.";
        let kinds = [
            ("flits", Acknowledgements::Flits, of_flits),
            ("free", Acknowledgements::Free, "nothing, and none is lost."),
        ];
        let kind = reader.one_of("acknowledgements", "kind of acknowledgement", doc, kinds);
        errors.acknowledgements = kind.unwrap_or(errors.acknowledgements);
        let doc = "Bits of the numbers of packets on a link: of `b` bits, `2^b - 1` packets may be without an acknowledgement, \
                   half of `2^b` with `resend = \"selective\"`. Flits where links are shared flit by flit.";
        reader.set("sequence_bits", &Whole { range: 1..=16 }, &mut errors.sequence_bits, doc);
        let covers = classes.iter().map(|&class| {
            parameters.acknowledged_after(&[class]).0.div_ceil(parameters.flit_time_of(class).0.max(1))
        });
        let covers = covers.max().unwrap_or(0);
        let covers = covers.saturating_add(2 * u64::from(parameters.maximum_packet()));
        let default = narrow::<u32>(covers.min(1 << 24)).max(errors.replay_buffer);
        let note = "288, or more if packets without an acknowledgement need more";
        let doc = "Flits of packets that are not acknowledged yet, for each channel between routers; at least one of the \
                   largest packets, unless links are shared flit by flit.";
        errors.replay_buffer = reader.value_from("replay_buffer", &flits(), default, note, doc);
        let default = (parameters.acknowledged_after(classes) * 2).max(errors.time_out);
        let note = "2 us, or twice what an acknowledgement takes";
        let doc = "Time from a packet's end until it is sent again if no acknowledgement has come, where these take flits.";
        errors.time_out = reader.value_from("time_out", &time(Picoseconds(1)), default, note, doc);
        errors
    })
}
