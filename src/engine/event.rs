//! The kinds of events, packed into eight bytes each.

use super::calendar::Packed;

/// What happens at an instant. Numbers are indices into the engine's arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A packet joins its buffer: its header is there and has been routed.
    Ready { packet: u32 },
    /// The packet before the head of a buffer has left.
    Ask { input: u32, virtual_channel: u8 },
    /// Something that packets wait for at a channel's sender may have happened.
    Wake { channel: u32 },
    /// A packet's last flit is at the sink.
    Deliver { packet: u32 },
    /// A terminal creates its next messages.
    Create { terminal: u32 },
    /// A message enters its source queue.
    Enqueue { message: u32 },
    /// A terminal's message has left.
    Sent { terminal: u32 },
    /// A message has been received, the host's overhead included.
    Receive { message: u32 },
}

impl Event {
    /// Index in the low half; kind and virtual channel in the high one.
    #[inline]
    pub(super) fn pack(self) -> Packed {
        let (kind, virtual_channel, index) = match self {
            Self::Ready { packet } => (0, 0, packet),
            Self::Ask { input, virtual_channel } => (1, virtual_channel, input),
            Self::Wake { channel } => (2, 0, channel),
            Self::Deliver { packet } => (3, 0, packet),
            Self::Create { terminal } => (4, 0, terminal),
            Self::Enqueue { message } => (5, 0, message),
            Self::Sent { terminal } => (6, 0, terminal),
            Self::Receive { message } => (7, 0, message),
        };
        u64::from(virtual_channel) << 40 | kind << 32 | u64::from(index)
    }

    #[inline]
    pub(super) fn unpack(packed: Packed) -> Self {
        let index = packed as u32;
        match (packed >> 32) as u8 {
            0 => Self::Ready { packet: index },
            1 => Self::Ask { input: index, virtual_channel: (packed >> 40) as u8 },
            2 => Self::Wake { channel: index },
            3 => Self::Deliver { packet: index },
            4 => Self::Create { terminal: index },
            5 => Self::Enqueue { message: index },
            6 => Self::Sent { terminal: index },
            _ => Self::Receive { message: index },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_packing() {
        let events = [
            Event::Ready { packet: 7 },
            Event::Ask { input: u32::MAX - 1, virtual_channel: 4 },
            Event::Wake { channel: 1 << 31 },
            Event::Deliver { packet: 0 },
            Event::Create { terminal: 3 },
            Event::Enqueue { message: 9 },
            Event::Sent { terminal: 1 },
            Event::Receive { message: u32::MAX },
        ];
        for event in events {
            assert_eq!(Event::unpack(event.pack()), event);
        }
    }
}
