//! The kinds of events.

/// What happens at an instant. Numbers are indices into the engine's arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A packet joins its buffer: its header is there and has been routed. Input port and output are
    /// the packet's; they are here so that all three can be fetched at a time.
    Ready { packet: u32, input: u32, output: u32, virtual_channel: u8 },
    /// The packet before this one, the head of a buffer, has left.
    Ask { packet: u32, input: u32, virtual_channel: u8 },
    /// Something that packets wait for at a channel's sender may have happened.
    Wake { channel: u32 },
    /// A packet's last flit is at the sink.
    Deliver { packet: u32 },
    /// A terminal creates its next messages.
    Create { terminal: u32 },
    /// A message enters its source queue at a terminal.
    Enqueue { terminal: u32, message: u32 },
    /// A terminal's message has left, or its read's response has been received.
    Sent { terminal: u32 },
    /// A terminal has received a message with this tag, the host's overhead included.
    Receive { terminal: u32, tag: u32 },
}
