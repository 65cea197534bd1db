//! Demands of links that err.

use super::{Checks, PACKET};
use crate::schema::Draft;
use flitlab_base::units::time_text;
use flitlab_engine::{Acknowledgements, MAX_HOP_TIME};
use flitlab_fabric::Fabric;

impl Checks<'_> {
    /// The rules between keys of links that err; `packets`: whether their sizes are known.
    pub(super) fn errors(&mut self, draft: &Draft, packets: bool, fabric: Option<&Fabric>) {
        let parameters = &draft.parameters;
        let Some(errors) = &parameters.errors else { return };
        if packets && errors.replay_buffer < parameters.unit_of_retry() {
            let message = format!(
                "the largest packet has {} flits, and the replay buffer {}",
                parameters.maximum_packet(),
                errors.replay_buffer
            );
            let keys: Vec<&str> = ["link.errors.replay_buffer"].into_iter().chain(PACKET).collect();
            self.refuse(&keys, message, "raise `replay_buffer`");
        }
        if errors.acknowledgements == Acknowledgements::Free {
            return;
        }
        let keys = [
            "link.errors.time_out",
            "link.latency",
            "link.rate",
            "router.crossbar_latency",
            "router.maximum_payload",
        ];
        let least = parameters.acknowledged_after(&draft.cable_classes());
        if packets && errors.time_out < least {
            let message = format!(
                "`time_out` is {}, and an acknowledgement may take {} without any being lost",
                time_text(errors.time_out),
                time_text(least)
            );
            let help = format!("make it \"{}\" at least", time_text(least));
            self.refuse(&keys, message, help);
        }
        if errors.time_out > MAX_HOP_TIME {
            let message = format!(
                "`time_out` is {}, and {} is the most",
                time_text(errors.time_out),
                time_text(MAX_HOP_TIME)
            );
            self.refuse(&keys, message, "shorten `time_out`");
        }
        let Some(fabric) = fabric else { return };
        let one_way =
            |&channel: &u32| fabric.target(channel).is_some() && fabric.opposite(channel).is_none();
        if let Some(channel) = (0..fabric.channel_slots()).find(one_way) {
            let message = format!(
                "acknowledgements of {} have no way back: its cable has one direction",
                fabric.channel_name(channel)
            );
            let help = "write `acknowledgements = \"free\"`";
            self.refuse(
                &["link.errors.acknowledgements", "link.errors", "topology"],
                message,
                help,
            );
        }
    }
}
