//! Routers whose channels alone are a bottleneck, as part of a scenario.

use std::fmt;

/// Each virtual channel may pass a flit at a time, and flits wait behind the crossbar. A flit of 16 B
/// takes 1 ns, and so does a cable.
pub(super) struct IdealRouters {
    pub vcs: u32,
    /// Flits of the largest packet.
    pub packet: u32,
    /// Flits of a virtual channel's buffer, and of that behind an output.
    pub buffer: u32,
    pub behind: u32,
}

impl fmt::Display for IdealRouters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { vcs, packet, buffer, behind } = self;
        let payload = 16 * packet;
        write!(
            formatter,
            r#"
            [router]
            virtual_channels = {vcs}
            flit = "16 B"
            header_flits = 0
            checksum_flits = 0
            maximum_payload = "{payload} B"
            buffer = "{buffer} flits"
            routing_latency = "0 ns"
            crossbar_latency = "0 ns"
            crossbar_speedup = {vcs}
            arbitration = "random"

            [link]
            rate = "128 Gb/s"
            latency = "1 ns"
            sharing.flit.output_buffer = {behind}

            [adapter]
            injection_channels = 1
            injection_rate = "128 Gb/s"
            injection_latency = "1 ns"
            injection_buffer = "{buffer} flits"
            ejection_channels = 1
            ejection_rate = "128 Gb/s"
            ejection_latency = "1 ns"
            send_overhead = "0 ns"
            receive_overhead = "0 ns"
            "#
        )
    }
}
