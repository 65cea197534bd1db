//! What the class of a message's traffic says of its packets (docs/model.md, "Classes of traffic").

use flitlab_engine::{PacketKind, Parameters, REQUEST_CHANNEL, RESPONSE_CHANNEL};
use flitlab_model::workload::{Message, MessageKind};
use flitlab_routing::Routes;

/// Whether packets of a message, or of the response to it, choose their ways where routing is
/// adaptive.
pub fn choose(parameters: &Parameters, message: &Message, is_response: bool) -> bool {
    match parameters.class(message.class).packets {
        PacketKind::Usual => message.kind == MessageKind::Data,
        PacketKind::Adaptive => true,
        PacketKind::AdaptiveResponses => is_response || message.kind == MessageKind::Data,
        PacketKind::Deterministic => false,
    }
}

/// The channel of packets that don't choose: that of requests or that of responses.
pub fn channel(parameters: &Parameters, message: &Message, is_response: bool) -> u8 {
    let is_data = message.kind == MessageKind::Data;
    let is_apart = is_response && parameters.message_classes == 2;
    if is_apart || is_data && parameters.class(message.class).on_response_channel {
        RESPONSE_CHANNEL
    } else {
        REQUEST_CHANNEL
    }
}

/// The number of virtual channels of a set, where packets go by tables or paths.
pub fn set_size(parameters: &Parameters, routes: &Routes) -> usize {
    let several = parameters.classes.iter().any(|class| class.service > 0);
    match routes {
        Routes::Forwarding(table) => table.vc_count().into(),
        Routes::Paths(routes) if several => routes.paths.vcs().into(),
        _ => parameters.virtual_channels.into(),
    }
}

/// The first virtual channel of a message's set.
pub fn first_of_set(parameters: &Parameters, message: &Message, set_size: usize) -> usize {
    usize::from(parameters.class(message.class).service) * set_size
}
