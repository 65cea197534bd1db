//! What packets in the buffers of routers wait for: for the search for deadlocks, and for the
//! channel that holds a packet up.

use crate::frame::tick::Tick;
use crate::network::ports::place;
use crate::next_hop::{Routing, escape_bubble};
use crate::part::Part;
use crate::router::asks::{Asks, HeadRequests, OutputRequest};
use crate::router::blocked::Blocked;
use crate::router::packet::PacketRouters;
use crate::router::packet::cell::with_cells;
use crate::router::{AllParts, Buffer, Routers};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_routing::relation::Hop;

type Parts<'a, 'f> = AllParts<'a, 'f, PacketRouters>;

impl Blocked for PacketRouters {
    fn first_packet(&self, buffer: u32) -> u32 {
        let (number, layout) = self.shared.ports.router_of(buffer);
        self.first_in(number, buffer - (layout.first_input << self.shared.size.shift))
    }

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

    fn free_for(&self, OutputRequest { output, vc, .. }: OutputRequest) -> u32 {
        self.shared.credits.due(self.output(output).room + u32::from(vc))
    }

    fn needed_beyond(
        Part { common, routers, .. }: &Part<'_, Self>,
        OutputRequest { output, need, .. }: OutputRequest,
        clock: Picoseconds,
    ) -> Option<u32> {
        (common.time(routers.output_free_at(output)) <= clock).then_some(need)
    }

    fn lacks_room_beyond(
        Part { common, routers, .. }: &Part<'_, Self>,
        OutputRequest { output, vc, need }: OutputRequest,
        clock: Picoseconds,
    ) -> bool {
        let place = routers.output(output).room + u32::from(vc);
        routers.shared.credits.by(place, common.schedule.tick(clock)) < need
    }

    fn lacks_resource(parts: &Parts<'_, '_>, buffer: Buffer, output: u32) -> Option<Vec<Buffer>> {
        Self::responses_in_the_way(parts, buffer, output)
    }

    fn leaving(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Option<OutputRequest> {
        let Part { common, routers, .. } = parts.part(part);
        if common.time(routers.left(buffer)) <= parts.clock {
            return None;
        }
        // Most packets stay in their virtual channel.
        let (_, vc) = place(buffer, routers.shared.size.shift);
        Some(OutputRequest { output: routers.sending(buffer)?, vc, need: 0 })
    }
}

impl PacketRouters {
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
