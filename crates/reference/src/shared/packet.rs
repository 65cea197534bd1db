//! Packets, and the ways on that they have no choice of: the same in both models of links.

use std::collections::BTreeSet;

use flitlab_base::units::Picoseconds;
use flitlab_engine::Parameters;
use flitlab_fabric::Fabric;
use flitlab_routing::{ForwardingTable, Routes, VcAssignment, adaptive::Misroute};

use super::{
    channel::OutputName,
    detours::{Adaptive, Course},
    phased::Progress,
};

/// A packet, from its creation to its delivery, or a copy of it that a link sent again.
#[derive(Clone)]
pub struct Packet {
    pub transfer: usize,
    pub is_response: bool,
    /// Whether it is the last one of its message, request or response.
    pub is_last: bool,
    /// The request channel or the response channel, if it doesn't choose.
    pub channel: u8,
    /// The first virtual channel of its set, if it goes by a table or a path.
    pub first_of_set: usize,
    pub source: u32,
    pub destination: u32,
    pub injection_channel: u8,
    /// The one in which it was sent last on an injection or network channel.
    pub virtual_channel: u8,
    /// Whether it chooses its outputs.
    pub adaptive: bool,
    /// Its course since it was injected, if it chooses its outputs.
    pub course: Option<Course>,
    /// Whether it is yet to decide on a detour, at the router of its source or on the way.
    pub undecided: bool,
    /// The router where it was asked last.
    pub asked_at: Option<u32>,
    pub flits: u32,
    pub payload: u32,
    pub created: Picoseconds,
    /// Set when it is injected, like `injected`.
    pub sequence: u32,
    pub injected: Picoseconds,
    /// Output ports of its route, one a hop; known at the latest when it is injected.
    pub ports: Vec<u16>,
    /// The virtual channel of each hop, if its path says so.
    pub vcs: Vec<usize>,
    /// The dimensions in which its way passes the dateline.
    pub datelines: BTreeSet<u32>,
    /// The fabric's channel that it was given last.
    pub came: Option<u32>,
    /// How far it is since it was injected, if packets pass through phases.
    pub progress: Option<Progress>,
    /// How far it was when it came to the router where it has been asked what it decides.
    pub before: Option<Progress>,
    /// Whether it decides no more at the router where it is.
    pub settled: bool,
    /// How many fallback hops it has taken.
    pub fallbacks: u32,
    /// Network channels that it has been given.
    pub hops: usize,
    /// In the collective subnetwork: the operation and its number in the message, the terminals
    /// whose data it has, and the terminal to which it leaves.
    pub operation: Option<(u32, u32)>,
    pub given: BTreeSet<u32>,
    pub ejected_to: Option<u32>,
}

/// Flits of a packet with so many bytes of payload.
pub fn flits_of(parameters: &Parameters, payload: u64) -> u32 {
    let carrying = payload.div_ceil(parameters.flit.0) as u32;
    (parameters.header_flits + carrying + parameters.checksum_flits).max(1)
}

/// Flits of the largest packet.
pub fn largest(parameters: &Parameters) -> u32 {
    flits_of(parameters, parameters.maximum_payload.0)
}

impl Packet {
    /// A packet from a terminal to a terminal, without any more known of it.
    pub fn new(source: u32, destination: u32) -> Self {
        Self {
            transfer: usize::MAX,
            is_response: false,
            is_last: false,
            channel: 0,
            first_of_set: 0,
            source,
            destination,
            injection_channel: 0,
            virtual_channel: 0,
            adaptive: false,
            course: None,
            undecided: false,
            asked_at: None,
            flits: 0,
            payload: 0,
            created: Picoseconds::ZERO,
            sequence: u32::MAX,
            injected: Picoseconds::NEVER,
            ports: Vec::new(),
            vcs: Vec::new(),
            datelines: BTreeSet::new(),
            came: None,
            progress: None,
            before: None,
            settled: false,
            fallbacks: 0,
            hops: 0,
            operation: None,
            given: BTreeSet::new(),
            ejected_to: None,
        }
    }

    /// The detour that it took.
    pub fn misroute(&self) -> Option<Misroute> {
        let of_course = self.course.as_ref().and_then(|course| course.kind);
        of_course.or(self.progress.as_ref().and_then(Progress::misroute))
    }

    /// The port and the virtual channel in which a router sends it on by its forwarding table;
    /// `None` at the destination's own router, and if there is no such table.
    pub fn looked_up(&self, fabric: &Fabric, routes: &Routes, router: u32) -> Option<(u16, usize)> {
        let Routes::Forwarding(table) = routes else { return None };
        if fabric.terminal_router(self.destination) == Some(router) {
            return None;
        }
        let port = table.port(router, self.destination).expect("every pair is routed");
        let input = self.came.map(|channel| {
            let back = fabric.opposite(channel).expect("it is a cable's");
            (back - fabric.outputs(router).start) as u16
        });
        let vc = self.vc_of(table, fabric, router, (input, port));
        Some((port, self.first_of_set + usize::from(vc)))
    }

    /// The virtual channel that a table has for a packet at a router, by the input port through
    /// which it came and the output.
    fn vc_of(
        &self,
        table: &ForwardingTable,
        fabric: &Fabric,
        router: u32,
        (input, output): (Option<u16>, u16),
    ) -> u8 {
        // Virtual channels are kept by destination, then router.
        let row = self.destination as usize * fabric.routers() as usize;
        match table.vc_assignment() {
            VcAssignment::One => 0,
            VcAssignment::ByDestination(vcs) => vcs[self.destination as usize],
            VcAssignment::ByPair(vcs) => {
                let source = fabric.terminal_router(self.source).expect("it is live");
                vcs[row + source as usize]
            }
            VcAssignment::ByHop(vcs) => vcs[row + router as usize],
            VcAssignment::ByServiceLevel(levels) => {
                let level = levels.level(self.source, self.destination);
                levels.vc(router, input, output, level)
            }
        }
    }

    /// The output that it needs at the router where its header is unless it chooses, and its
    /// virtual channel if a forwarding table or its path gives it one.
    pub fn next_output(
        &self,
        fabric: &Fabric,
        routes: &Routes,
        adaptive: Option<&Adaptive<'_>>,
        parameters: &Parameters,
        router: u32,
    ) -> (OutputName, Option<usize>) {
        let (mut port, vc) = self.looked_up(fabric, routes, router).unzip();
        let end = fabric.terminal_router(self.destination);
        if let (Some(adaptive), Some(end)) = (adaptive, end)
            && end != router
        {
            port = adaptive.table_port(router, end).or(port);
        }
        if !self.adaptive && port.is_none() {
            port = self.ports.get(self.hops).copied();
        }
        let name = match port {
            Some(port) => OutputName::Port(port),
            None => OutputName::Ejection {
                terminal: self.destination,
                number: u32::from(self.injection_channel) % parameters.ejection_channels,
            },
        };
        (name, vc.or_else(|| self.vcs.get(self.hops).copied()))
    }

    /// The lowest virtual channel of a packet without a choice where others choose.
    pub fn lowest_channel(&self, adaptive: Option<&Adaptive<'_>>) -> usize {
        let paired = adaptive.is_some_and(Adaptive::has_dateline);
        usize::from(self.channel) * if paired { 2 } else { 1 }
    }

    /// Whether its way passes the dateline of the ring, if there is one, to which a torus's port
    /// leads.
    pub fn passes_dateline(&self, fabric: &Fabric, port: u16) -> bool {
        let dimensions = fabric.torus().expect("a torus").dimensions();
        self.datelines.contains(&((usize::from(port) % dimensions) as u32))
    }

    /// The virtual channel that it takes behind a port if it goes in direction order and rings have
    /// datelines.
    pub fn dateline_vc(
        &self,
        fabric: &Fabric,
        routes: &Routes,
        port: u16,
        on_ring: bool,
    ) -> Option<usize> {
        let Routes::DirectionOrder(order) = routes else { return None };
        let class = usize::from(on_ring && self.passes_dateline(fabric, port));
        order.rules().dateline.then_some(2 * usize::from(self.channel) + class)
    }

    /// Notes that it has been given the channel behind a router's port, in a virtual channel.
    pub fn go_on(&mut self, fabric: &Fabric, router: u32, port: u16, virtual_channel: usize) {
        let channel = fabric.outputs(router).start + u32::from(port);
        let next = fabric.target(channel).expect("it is live");
        let destination = fabric.terminal_router(self.destination).expect("it is live");
        self.hops += 1;
        self.came = Some(channel);
        self.virtual_channel = virtual_channel as u8;
        if let Some(course) = &mut self.course
            && next == course.to
            && next != destination
        {
            course.to = destination;
        }
    }
}
