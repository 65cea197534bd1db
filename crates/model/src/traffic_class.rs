//! Classes of traffic: what messages of different workloads may have of their own in one network.

/// The channels that packets take where routing is adaptive on a torus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacketKind {
    /// Messages of data are adaptive. Requests, responses, puts and acknowledgements are
    /// deterministic.
    #[default]
    Usual,
    /// All packets are injected on the adaptive channel, and choose among its outputs.
    Adaptive,
    /// Messages of data, responses and acknowledgements are adaptive. Requests and puts are
    /// deterministic.
    AdaptiveResponses,
    /// All packets take direction order, on the request or the response channel.
    Deterministic,
}

/// How the messages of a class travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficClass {
    /// The channels of its packets where routing is adaptive on a torus.
    pub packets: PacketKind,
    /// Whether deterministic messages of data travel on the response channel. Otherwise they do on
    /// the request channel.
    pub on_response_channel: bool,
    /// Where packets go by forwarding tables or by paths of their sources: which set of virtual
    /// channels they take, from 0. Each set has as many as the routes need.
    pub service: u8,
}

impl TrafficClass {
    /// Whether packets are adaptive where routing is, by whether their message is data, which
    /// nobody answers, or a response.
    pub fn is_adaptive(self, is_data: bool, is_response: bool) -> bool {
        match self.packets {
            PacketKind::Usual => is_data,
            PacketKind::Adaptive => true,
            PacketKind::AdaptiveResponses => is_data || is_response,
            PacketKind::Deterministic => false,
        }
    }
}
