//! The crossbar: which packets at the heads of buffers at inputs may cross to which buffers at
//! outputs, and their flits.

use flitlab_base::units::Picoseconds;
use flitlab_engine::Arbitration;

use crate::shared::{
    channel::{ChannelKind, Moving, OutputName, arrived},
    choosing,
    network::Place,
};

use super::{
    Simulator,
    deciding::Way,
    network::{Crossing, Flit, OutputBuffer},
    passage::{Passage, paced},
};

/// What a head asks for at an instant.
#[derive(Clone, Copy)]
struct Request {
    input_vc: usize,
    place: Place,
    packet: usize,
    way: Way,
}

impl Simulator<'_> {
    /// Takes a router's requests and grants them, output by output.
    pub fn grant_crossings(&mut self, router: usize, now: Picoseconds) {
        let requests = self.requests(router, now);
        let outputs = self.routers[router].outputs.len();
        let start = self.own.pointers[router];
        for output in (0..outputs).map(|step| (start + step) % outputs) {
            let own = requests.iter().filter(|request| request.way.output == output);
            for request in self.in_turn(router, output, own.copied().collect(), now) {
                if self.may_cross(router, &request) {
                    self.grant(router, &request, now);
                } else {
                    let again = now + self.flit_time(router, output);
                    let Place { channel, virtual_channel } = request.place;
                    self.channels[channel].buffers[virtual_channel].again = again;
                    self.due.insert(again);
                }
            }
        }
    }

    /// The flit time of the channel behind an output.
    fn flit_time(&self, router: usize, output: usize) -> Picoseconds {
        self.channels[self.routers[router].outputs[output].channel].flit_time
    }

    /// The requests of this instant, in the order of input virtual channels.
    fn requests(&self, router: usize, now: Picoseconds) -> Vec<Request> {
        let requests = self.places(router).enumerate().filter_map(|(input_vc, place)| {
            let packet = self.asking(place, now)?;
            let channel = &self.channels[place.channel];
            let may = channel.buffers[place.virtual_channel].again <= now
                && channel.crossing() < self.speedup();
            let way = may.then(|| self.wish(router, place, packet, now))??;
            Some(Request { input_vc, place, packet, way })
        });
        requests.collect()
    }

    fn speedup(&self) -> usize {
        self.parameters.crossbar_speedup as usize
    }

    /// The open hop that a head likes best.
    fn wish(&self, router: usize, place: Place, packet: usize, now: Picoseconds) -> Option<Way> {
        let ways = self.ways(router, place, packet);
        let outputs = &self.routers[router].outputs;
        let flits = self.packets[packet].flits;
        let buffer = |way: &Way| &outputs[way.output].buffers[way.virtual_channel];
        let has_room = |way: &Way| flits <= buffer(way).room;
        let others_have_room = ways.iter().any(|way| !way.is_fallback && has_room(way));
        let open = ways.iter().copied().filter(|way| {
            way.is_fallback != others_have_room && has_room(way) && self.is_free(router, way)
        });
        choosing::most_preferred(self.routes, open, |way| {
            let buffers = &outputs[way.output].buffers;
            choosing::Seen {
                waits: buffers.iter().map(|buffer| buffer.queue(now)).collect(),
                taken: buffers.iter().map(|buffer| buffer.taken).collect(),
                virtual_channel: way.virtual_channel,
                // The less is queued, the more credits there would be.
                credits: u32::MAX - buffer(way).queue(now),
            }
        })
    }

    /// The packets that cross to an output, by virtual channel.
    pub fn crossing_to(&self, router: usize, output: usize) -> Vec<&Passage> {
        let buffers = self.routers[router].inputs.iter();
        let buffers = buffers.flat_map(|&input| &self.channels[input].buffers);
        let crossings = buffers.filter_map(|buffer| buffer.crossing.as_ref());
        let there = crossings.filter(|crossing| crossing.output == output);
        there.map(|crossing| &crossing.passage).collect()
    }

    /// Whether one more packet can cross to an output, and to a virtual channel of it.
    fn is_free(&self, router: usize, way: &Way) -> bool {
        let crossing = self.crossing_to(router, way.output);
        crossing.len() < self.speedup()
            && crossing.iter().all(|it| it.virtual_channel != way.virtual_channel)
    }

    /// Whether a request can be granted, after those that have been.
    fn may_cross(&self, router: usize, request: &Request) -> bool {
        self.is_free(router, &request.way)
            && self.channels[request.place.channel].crossing() < self.speedup()
    }

    /// An output's requests in the order in which it takes them.
    fn in_turn(
        &self,
        router: usize,
        output: usize,
        mut requests: Vec<Request>,
        now: Picoseconds,
    ) -> Vec<Request> {
        let pointer = self.routers[router].outputs[output].pointer;
        let cyclic = |request: &Request| (request.input_vc < pointer, request.input_vc);
        match self.parameters.arbitration {
            Arbitration::RoundRobin | Arbitration::OldestFirst | Arbitration::Weighted => {
                requests.sort_by_key(cyclic);
            }
            Arbitration::Random => {
                let name = self.routers[router].outputs[output].name;
                let number = name.number(self.fabric, self.parameters);
                let all = self.virtual_channels();
                let drawn = |input_vc| (input_vc / all, input_vc % all);
                requests.sort_by_key(|it| choosing::lot(now, router, number, drawn(it.input_vc)));
            }
            Arbitration::TransitFirst => {
                let is_new = |request: &Request| {
                    self.channels[request.place.channel].kind == ChannelKind::Injection
                };
                requests.sort_by_key(|request| (is_new(request), cyclic(request)));
            }
        }
        requests
    }

    /// Lets a packet cross, whose header does so at once.
    fn grant(&mut self, router: usize, request: &Request, now: Picoseconds) {
        let &Request { input_vc, place, packet: number, way } = request;
        let flit_time = self.flit_time(router, way.output);
        let (_, ready) = self.ready(place).expect("it asks");
        let packet = &mut self.packets[number];
        packet.fallbacks += u32::from(way.is_fallback);
        packet.settled = false;
        let flits = packet.flits;
        let at = &mut self.routers[router];
        self.own.pointers[router] = (way.output + 1) % at.outputs.len();
        let input_vcs = at.inputs.len() * usize::from(self.parameters.virtual_channels);
        let output = &mut at.outputs[way.output];
        output.pointer = (input_vc + 1) % input_vcs;
        output.waited += now - ready;
        if let OutputName::Port(port) = output.name {
            packet.go_on(self.fabric, router as u32, port, way.virtual_channel);
            if let Some(phased) = &self.terminals.phased {
                phased.take(packet, router as u32, (port, way.virtual_channel));
            }
        }
        let there = self.own.there.get_mut(&number).expect("it has been injected");
        let crosses = paced(there, now, flit_time);
        let passage = Passage::new(number, way.virtual_channel, &crosses, flit_time);
        let behind = self.parameters.crossbar_latency;
        there.iter_mut().zip(crosses).for_each(|(there, crosses)| *there = crosses + behind);
        let OutputBuffer { room, queued, taken, .. } = &mut output.buffers[way.virtual_channel];
        *taken = now;
        *room -= flits;
        queued.extend(passage.counted());
        let buffer = &mut self.channels[place.channel].buffers[place.virtual_channel];
        self.due.extend(buffer.leaving.plan(&passage));
        buffer.crossing = Some(Crossing { output: way.output, passage });
    }

    /// Lets the next flit of each packet that crosses go, if the flit before has had its time and
    /// the flit is here.
    pub fn cross(&mut self, router: usize, now: Picoseconds) {
        for Place { channel, virtual_channel } in self.places(router) {
            let buffer = &mut self.channels[channel].buffers[virtual_channel];
            let Some(Crossing { output, passage }) = &mut buffer.crossing else { continue };
            let output = &mut self.routers[router].outputs[*output];
            let to = passage.virtual_channel;
            let (packet, index) = (passage.packet, passage.gone);
            let is_next = |flit: &Flit| (flit.packet, flit.index) == (packet, index);
            let is_here = buffer.flits.front().is_some_and(|(_, flit)| is_next(flit));
            assert!(is_here || index > 0, "a packet crosses when its header is there");
            if !is_here || !passage.is_due(now) {
                continue;
            }
            passage.go(now);
            buffer.flits.pop_front();
            buffer.leaving.departed += 1;
            let crossed = now + self.parameters.crossbar_latency;
            let content = Flit { packet, index, virtual_channel: to };
            output.buffers[to].coming.push_back(Moving { arrives: crossed, content });
            self.due.extend([now + passage.flit_time, crossed]);
        }
    }

    /// Puts the flits that have crossed into the buffers at outputs.
    pub fn receive_crossed(&mut self, router: usize, now: Picoseconds) {
        for buffer in self.routers[router].outputs.iter_mut().flat_map(|it| &mut it.buffers) {
            while let Some(flit) = arrived(&mut buffer.coming, now) {
                if flit.index == 0 {
                    buffer.headers.push_back(now);
                }
                buffer.flits.push_back(flit);
            }
        }
    }

    /// Ends the crossings and frees the channels whose last flit has had its time.
    pub fn end_passages(&mut self, now: Picoseconds) {
        for channel in &mut self.channels {
            channel.sending.take_if(|sending| sending.is_over(now));
            for buffer in &mut channel.buffers {
                buffer.crossing.take_if(|crossing| crossing.passage.is_over(now));
            }
        }
    }
}
