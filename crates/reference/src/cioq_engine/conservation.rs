//! What must hold at any instant: no space is lost, made up or used twice, at either side of a
//! crossbar.

use std::collections::BTreeSet;

use super::{Simulator, network::Output};

impl Simulator<'_> {
    /// Panics if, for a buffer, what is free, taken, used and on its way doesn't add up, or if more
    /// packets cross than may.
    pub fn check_conservation(&self) {
        for number in 0..self.channels.len() {
            (0..self.virtual_channels()).for_each(|vc| self.check_input_buffer(number, vc));
        }
        let speedup = self.parameters.crossbar_speedup as usize;
        assert!(self.channels.iter().all(|channel| channel.crossing() <= speedup));
        for router in 0..self.routers.len() {
            for (place, output) in self.routers[router].outputs.iter().enumerate() {
                let crossing = self.crossing_to(router, place);
                let to: BTreeSet<_> = crossing.iter().map(|it| it.virtual_channel).collect();
                assert!(crossing.len() <= speedup);
                assert_eq!(to.len(), crossing.len(), "one packet crosses to a buffer at a time");
                for vc in 0..self.virtual_channels() {
                    let own = crossing.iter().find(|it| it.virtual_channel == vc);
                    self.check_output_buffer(output, vc, own.map_or(0, |it| it.left()));
                }
            }
        }
    }

    fn check_input_buffer(&self, number: usize, vc: usize) {
        let channel = &self.channels[number];
        if channel.ends_in_sink() {
            return;
        }
        let buffer = &channel.buffers[vc];
        let used = buffer.flits.len() as u32 + buffer.leaving.departed;
        assert!(used <= channel.capacity, "a buffer overflows");
        let coming = channel.flits.iter().filter(|flit| flit.content.virtual_channel == vc);
        let returning = channel.returning.iter().filter(|credit| credit.content == vc);
        let moving = (coming.count() + returning.count()) as u32;
        let all = channel.credits[vc] + self.unsent(number, vc) + moving + used;
        assert_eq!(all, channel.capacity, "space at inputs is conserved");
    }

    /// Flits that have still to start of a packet that is being sent in a virtual channel.
    fn unsent(&self, channel: usize, vc: usize) -> u32 {
        let sending = self.channels[channel].sending.as_ref();
        sending.filter(|it| it.virtual_channel == vc).map_or(0, |sending| sending.left())
    }

    /// With so many flits that have still to cross of a packet that does.
    fn check_output_buffer(&self, output: &Output, vc: usize, uncrossed: u32) {
        let buffer = &output.buffers[vc];
        let there = buffer.flits.len() as u32;
        let taken = uncrossed + buffer.coming.len() as u32 + there;
        assert!(there + buffer.leaving.departed <= self.parameters.behind_crossbar());
        assert_eq!(
            buffer.room + taken + buffer.leaving.departed,
            self.parameters.behind_crossbar(),
            "space at outputs is conserved"
        );
        let channel = &self.channels[output.channel];
        let away = if channel.ends_in_sink() { 0 } else { channel.capacity - channel.credits[vc] };
        let waiting = taken - self.unsent(output.channel, vc);
        assert_eq!(buffer.queued.len() as u32, waiting + away, "each flit is in a queue once");
    }

    /// Panics if anything is left anywhere.
    pub fn check_empty(&self) {
        self.check_conservation();
        for channel in &self.channels {
            assert!(channel.sending.is_none() && channel.flits.is_empty());
            assert!(channel.credits.iter().all(|&credits| credits == channel.capacity));
            assert!(channel.returning.is_empty() && channel.crossing() == 0);
            let mut buffers = channel.buffers.iter();
            assert!(buffers.all(|buffer| buffer.flits.is_empty() && buffer.leaving.is_idle()));
        }
        let outputs = self.routers.iter().flat_map(|router| &router.outputs);
        for buffer in outputs.flat_map(|output| &output.buffers) {
            assert_eq!(buffer.room, self.parameters.behind_crossbar());
            assert!(buffer.queued.is_empty() && buffer.leaving.is_idle());
        }
    }
}
