//! The kinds of events, packed into eight bytes each.

use super::calendar::Packed;

/// What happens at an instant. Numbers are indices into the engine's arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A packet may ask for its next output.
    Ready { packet: u32 },
    /// The last flit of the packet that a channel sends has left.
    Release { channel: u32 },
    /// Credits come back to a channel's sender.
    Credit { channel: u32, virtual_channel: u8, flits: u16 },
    /// A packet's last flit is at the sink.
    Deliver { packet: u32 },
    /// A terminal creates its next messages.
    Create { terminal: u32 },
    /// A message enters its source queue.
    Enqueue { message: u32 },
    /// A message has been received, the host's overhead included.
    Receive { message: u32 },
}

const READY: u64 = 0;
const RELEASE: u64 = 1;
const CREDIT: u64 = 2;
const DELIVER: u64 = 3;
const CREATE: u64 = 4;
const ENQUEUE: u64 = 5;

impl Event {
    /// Index in the low half; flits, virtual channel and kind in the high one.
    #[inline]
    pub(super) fn pack(self) -> Packed {
        let (kind, index, extra) = match self {
            Self::Ready { packet } => (READY, packet, 0),
            Self::Release { channel } => (RELEASE, channel, 0),
            Self::Credit { channel, virtual_channel, flits } => {
                (CREDIT, channel, u64::from(virtual_channel) << 16 | u64::from(flits))
            }
            Self::Deliver { packet } => (DELIVER, packet, 0),
            Self::Create { terminal } => (CREATE, terminal, 0),
            Self::Enqueue { message } => (ENQUEUE, message, 0),
            Self::Receive { message } => (ENQUEUE + 1, message, 0),
        };
        kind << 56 | extra << 32 | u64::from(index)
    }

    #[inline]
    pub(super) fn unpack(packed: Packed) -> Self {
        let index = packed as u32;
        match packed >> 56 {
            READY => Self::Ready { packet: index },
            RELEASE => Self::Release { channel: index },
            CREDIT => Self::Credit {
                channel: index,
                virtual_channel: (packed >> 48) as u8,
                flits: (packed >> 32) as u16,
            },
            DELIVER => Self::Deliver { packet: index },
            CREATE => Self::Create { terminal: index },
            ENQUEUE => Self::Enqueue { message: index },
            _ => Self::Receive { message: index },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_packing() {
        let credit = Event::Credit { channel: u32::MAX - 1, virtual_channel: 4, flits: u16::MAX };
        let others = [
            Event::Ready { packet: 7 },
            Event::Release { channel: 1 << 31 },
            Event::Deliver { packet: 0 },
            Event::Create { terminal: 3 },
            Event::Enqueue { message: 9 },
            Event::Receive { message: u32::MAX },
        ];
        for event in others.into_iter().chain([credit]) {
            assert_eq!(Event::unpack(event.pack()), event);
        }
    }
}
