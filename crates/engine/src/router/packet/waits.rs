//! What packets in the buffers of routers wait for: for the search for deadlocks, and for the
//! channel that holds a packet up.

use crate::frame::tick::Tick;
use crate::network::ports::place;
use crate::next_hop::{Routing, escape_bubble};
use crate::packet::{Origin, Packet, chain};
use crate::part::Part;
use crate::router::asks::{Asks, HeadRequests, OutputRequest};
use crate::router::packet::PacketRouters;
use crate::router::packet::cell::with_cells;
use crate::router::{AllParts, Buffer, PacketId, Routers, Waits};
use flitlab_base::narrow::narrow;
use flitlab_model::{Lack, Waiting};
use flitlab_routing::relation::Hop;

type Parts<'a, 'f> = AllParts<'a, 'f, PacketRouters>;

impl Waits for PacketRouters {
    fn buffers(&self) -> usize {
        self.shared.ports.routers.last().map_or(0, |last| {
            (last.first_input as usize + usize::from(last.inputs)) << self.shared.size.shift
        })
    }

    fn waits_for(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Vec<Buffer> {
        // Packets of collective operations wait in no cycle.
        let (_, vc) = place(buffer, parts.routers(part).shared.size.shift);
        if vc >= parts.context.trees.up {
            return Vec::new();
        }
        let requests = Self::requests_of(parts, (part, buffer));
        if let [OutputRequest { output, .. }] = *requests
            && let Some(waits) = Self::responses_in_the_way(parts, (part, buffer), output)
        {
            return waits;
        }
        let waits = requests.into_iter().map(|request| Self::blocked_by(parts, part, request));
        waits.collect::<Option<_>>().unwrap_or_default()
    }

    fn waiting(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Waiting {
        let Part { common, routers, .. } = parts.part(part);
        let head = routers.head_of(buffer);
        let source = common.packets.packets[head as usize].source;
        let (router, _) = routers.shared.ports.router_of(buffer);
        let router = router + parts.context.cut.first_router(part);
        let OutputRequest { output, vc, need } = Self::requests_of(parts, (part, buffer))[0];
        let ends = (source, common.destination(router, head));
        let input_vc = place(buffer, routers.shared.size.shift);
        let limit = parts.context.parameters.responder_resources;
        let lacks = match limit {
            Some(held) if Self::responses_in_the_way(parts, (part, buffer), output).is_some() => {
                Lack::ResponderResource { held: held.into() }
            }
            _ => {
                let room = routers.output(output).room + u32::from(vc);
                Lack::Room { needed: need, free: routers.shared.credits.due(room) }
            }
        };
        parts.named(part, input_vc, ends, output, lacks)
    }

    /// Packets under way to the buffer count. A packet that has been granted its next output is
    /// leaving: its room counts as neither used nor free until its credit is sent, which happens at
    /// the grant.
    fn flits_held(parts: &Parts<'_, '_>, buffer: Buffer) -> u32 {
        // A bad copy at the end of its link uses the room of its original.
        let packets = Self::packets_in(parts, buffer).filter(|(_, origin)| !origin.is_fresh());
        packets.map(|(packet, _)| u32::from(packet.flits)).sum()
    }

    fn room_due(&self, place: u32) -> u32 {
        self.shared.credits.due(place)
    }

    fn flits_kept(&self, output: u32, vc: u8) -> u32 {
        self.shared.links.channel(output).map_or(0, |channel| channel.flits_kept(vc))
    }

    fn waits_in(parts: &Parts<'_, '_>, buffer: Buffer, id: PacketId) -> bool {
        let mut arrived = Self::arrived_in(parts, buffer);
        arrived.any(|(packet, _)| (packet.source, packet.sequence) == id)
    }

    fn held_by(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Option<(u32, Option<Buffer>)> {
        let Part { common, routers, .. } = parts.part(part);
        if common.time(routers.left(buffer)) > parts.clock
            && let Some(output) = routers.sending(buffer)
        {
            // Most packets stay in their virtual channel.
            let (_, vc) = place(buffer, routers.shared.size.shift);
            let request = OutputRequest { output, vc, need: 0 };
            return Some((output, Self::blocker_behind(parts, part, request)));
        }
        let request = *Self::requests_of(parts, (part, buffer)).first()?;
        Some((request.output, Self::blocker_behind(parts, part, request)))
    }
}

impl PacketRouters {
    /// The buffer whose own packets alone can make room for a request.
    fn blocked_by(
        parts: &Parts<'_, '_>,
        part: usize,
        OutputRequest { output, vc, need }: OutputRequest,
    ) -> Option<Buffer> {
        let Part { common, routers, .. } = parts.part(part);
        let state = routers.output(output);
        let due = routers.shared.credits.due(state.room + u32::from(vc));
        let free_at = routers.output_free_at(output);
        if !state.needs_room || common.time(free_at) > parts.clock || due >= need {
            return None;
        }
        let far = parts.far_end(part, output, vc);
        let flits = Self::flits_arrived(parts, far);
        (due + flits == parts.context.parameters.buffer).then_some(far)
    }

    /// The flits of the packets in a buffer that leave it one after the other.
    pub(super) fn flits_arrived(parts: &Parts<'_, '_>, buffer: Buffer) -> u32 {
        // A bad copy leaves its buffer whatever the others do.
        let there = Self::arrived_in(parts, buffer).filter(|(_, origin)| !origin.is_bad());
        there.map(|(packet, _)| u32::from(packet.flits)).sum()
    }

    /// The buffer behind an output, if it keeps a packet from what it asks for there.
    fn blocker_behind(
        parts: &Parts<'_, '_>,
        part: usize,
        OutputRequest { output, vc, need }: OutputRequest,
    ) -> Option<Buffer> {
        let Part { common, routers, .. } = parts.part(part);
        let state = routers.output(output);
        if !state.needs_room {
            return None;
        }
        let far = parts.far_end(part, output, vc);
        let there = Self::arrived_in(parts, far).map(|(packet, _)| u32::from(packet.flits));
        let is_full = 2 * there.sum::<u32>() > parts.context.parameters.buffer;
        let now = common.schedule.tick(parts.clock);
        let room = routers.shared.credits.by(state.room + u32::from(vc), now);
        (is_full || room < need).then_some(far)
    }

    /// The packets in a buffer or under way to it.
    fn packets_in<'a>(
        parts: &Parts<'a, '_>,
        (part, buffer): Buffer,
    ) -> impl Iterator<Item = (&'a Packet, &'a Origin)> + use<'a> {
        let Part { common, routers, .. } = parts.part(part);
        let packets = &common.packets;
        chain(&packets.packets, routers.head_of(buffer))
            .map(|slot| (&packets.packets[slot as usize], &packets.origins[slot as usize]))
    }

    /// The packets in a buffer that could go on.
    fn arrived_in<'a>(
        parts: &Parts<'a, '_>,
        buffer: Buffer,
    ) -> impl Iterator<Item = (&'a Packet, &'a Origin)> {
        let (common, clock) = (&parts.part(buffer.0).common, parts.clock);
        Self::packets_in(parts, buffer).filter(move |it| common.time(it.0.ready) <= clock)
    }

    /// The requests of the head of a buffer; none if it does not ask yet.
    fn requests_of(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Vec<OutputRequest> {
        let Part { common, routers, .. } = parts.part(part);
        let (number, layout) = routers.shared.ports.router_of(buffer);
        let size = routers.shared.size;
        let own = (buffer - (layout.first_input << size.shift)) as usize;
        // A head that has come since the router's last visit asks later than now.
        let asked = with_cells!(&routers.cells, cells => {
            let cell = &cells[number as usize];
            let asks = common.time(cell.ask[own]) <= parts.clock;
            asks.then(|| Some((cell.head[own], cell.request(own, size.words)?))).flatten()
        });
        let Some((slot, (output, out_vc, need))) = asked else { return Vec::new() };
        let packet = &common.packets.packets[slot as usize];
        let place_of_choice = number as usize * size.buffers + own;
        let choices = &routers.shared.adaptive_state.choices;
        let asks = choices.get(place_of_choice).copied().unwrap_or_default();
        let (input, vc_here) = place(buffer, size.shift);
        let bubble = match asks {
            Asks::One | Asks::Hops(_) => 0,
            Asks::Torus { escape, .. } => {
                let came = (routers.input(narrow::<u32>(input)).ring_output, vc_here);
                let in_ring = routers.output(layout.first_output + u32::from(escape)).in_ring;
                escape_bubble(common.context.bubble, came, (escape, out_vc), in_ring)
            }
        };
        let head = HeadRequests {
            first_output: layout.first_output,
            asks,
            output,
            vcs: 1 << out_vc,
            need,
            flits: packet.flits,
            of_escape: packet.flits + bubble,
        };
        let mut requests = head.list(common);
        if let (Asks::Hops(list), Routing::Relation(relation)) = (asks, &common.routing) {
            // A packet takes no fallback while another hop has room for it, though an injection
            // bubble may keep it from that hop.
            let hops = relation.hops_of_list(list);
            let fits = |(hop, request): (&Hop, &OutputRequest)| {
                let room = routers.output(request.output).room + u32::from(request.vc);
                let need = common.context.need_by(hop, packet.flits, packet.flits);
                !hop.is_fallback() && routers.shared.credits.due(room) >= need.into()
            };
            if hops.iter().zip(&requests).any(fits) {
                let mut hops = hops.iter();
                requests.retain(|_| hops.next().is_some_and(|hop| !hop.is_fallback()));
            }
        }
        requests
    }

    /// The first packet in a buffer, by the buffer's number in the part.
    pub(super) fn head_of(&self, buffer: u32) -> u32 {
        let (number, layout) = self.shared.ports.router_of(buffer);
        self.first_in(number, buffer - (layout.first_input << self.shared.size.shift))
    }

    /// Time at which the last flit of the latest packet has left that was sent from a buffer.
    fn left(&self, buffer: u32) -> Tick {
        let (number, layout) = self.shared.ports.router_of(buffer);
        let own = (buffer - (layout.first_input << self.shared.size.shift)) as usize;
        with_cells!(&self.cells, cells => cells[number as usize].left[own])
    }

    /// The output by which the latest packet of a buffer leaves.
    fn sending(&self, buffer: u32) -> Option<u32> {
        let (number, layout) = self.shared.ports.router_of(buffer);
        let own = (buffer - (layout.first_input << self.shared.size.shift)) as usize;
        let output = with_cells!(&self.cells, cells => {
            let cell = &cells[number as usize];
            let mut busy: Vec<u32> = (0..u32::from(layout.outputs)).collect();
            busy.retain(|&output| cell.free_at[output as usize] == cell.left[own]);
            let behind = |&output: &u32| usize::from(cell.pointer[output as usize]) != own + 1;
            busy.into_iter().min_by_key(behind)
        });
        Some(layout.first_output + output?)
    }
}
