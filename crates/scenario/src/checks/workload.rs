//! Demands of patterns and messages, which most workloads have.

use super::{Checks, PACKET};
use crate::workload::Checked;
use flitlab_base::units::{Bytes, bytes_text};
use flitlab_engine::{MAX_PACKETS, Parameters};
use flitlab_traffic::{Access, Pattern, PatternSpec};

impl Checks<'_> {
    /// Whether messages of this table, `exchange`, have flits, and packets that can be counted.
    pub fn messages(
        &mut self,
        parameters: &Parameters,
        message: Bytes,
        access: Access,
        table: &str,
    ) {
        self.empty_packets(parameters, message, access, table);
        self.countable_packets(parameters, &format!("{table}.message"), message, access, table);
    }

    /// Whether the packets of the largest of the messages of a table can be counted, whose sizes
    /// are `sizes`.
    pub fn packets_of_sizes(
        &mut self,
        parameters: &Parameters,
        largest: Bytes,
        access: Access,
        table: &str,
    ) {
        self.empty_packets(parameters, largest, access, table);
        self.countable_packets(parameters, &format!("{table}.sizes"), largest, access, table);
    }

    /// Whether the packets of the largest message that a file or a schedule has can be counted.
    pub fn packets_of_file(&mut self, parameters: &Parameters, largest: Bytes, key: &str) {
        self.countable_packets(parameters, key, largest, Access::Write, "");
    }

    fn countable_packets(
        &mut self,
        parameters: &Parameters,
        message_key: &str,
        message: Bytes,
        access: Access,
        table: &str,
    ) {
        let request_key = format!("{table}.read.request");
        let mut one = |key: &str, what: &str, size: Bytes| {
            let keys = [key, PACKET[0]];
            let (full, rest) = parameters.packets(size.0);
            let packets = full + u64::from(rest.is_some());
            if packets <= MAX_PACKETS || !self.sound(&keys) {
                return;
            }
            let most = MAX_PACKETS.saturating_mul(parameters.maximum_payload.0);
            let message = format!("a {what} of {} would be {packets} packets", bytes_text(size));
            let help = format!(
                "a message has at most {MAX_PACKETS} packets, each of up to {} (maximum_payload)",
                bytes_text(parameters.maximum_payload)
            );
            self.report(
                &keys,
                message,
                &format!("at most {}", bytes_text(Bytes(most))),
                Some(help),
            );
        };
        one(message_key, "message", message);
        if let Access::Read { request } = access {
            one(&request_key, "read request", request);
        }
    }

    /// Whether a pattern fits the fabric. `needs` is the beginning of the message where it has to
    /// have steps, and has none: "an exchange needs".
    pub fn pattern(
        &mut self,
        pattern: &PatternSpec,
        checked: &Checked<'_>,
        key: &str,
        needs: Option<&str>,
    ) {
        let Some(fabric) = checked.fabric.filter(|_| self.sound(&[key])) else { return };
        match (Pattern::new(pattern, fabric, checked.seed), needs) {
            (Err(error), _) => {
                self.report(&[key, "topology"], error.to_string(), "", None);
            }
            (Ok(bound), Some(needs)) if bound.steps().is_none() => {
                let message =
                    format!("{needs} a pattern with steps, and this one draws its destinations");
                let help = "use for example all-to-all, neighbor, tornado, transpose or pairs";
                self.refuse(&[key], message, help);
            }
            (Ok(_), _) => {}
        }
    }

    fn empty_packets(
        &mut self,
        parameters: &Parameters,
        message: Bytes,
        access: Access,
        table: &str,
    ) {
        let message_key = format!("{table}.message");
        let request_key = format!("{table}.read.request");
        let (message_key, request_key) = (message_key.as_str(), request_key.as_str());
        let (what, key) = match access {
            _ if message.0 == 0 => ("message", message_key),
            Access::Read { request: Bytes(0) } => ("read request", request_key),
            _ => return,
        };
        let keys = [key, PACKET[2], PACKET[3]];
        if self.sound(&keys) && parameters.header_flits + parameters.checksum_flits == 0 {
            let message =
                format!("a {what} of 0 B without header and checksum is a packet of no flits");
            let help = "give it a size, or set `header_flits` to 1";
            self.report(&keys, message, "nothing to send", Some(help.into()));
        }
    }
}
