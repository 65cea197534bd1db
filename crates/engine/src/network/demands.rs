//! What routes need of the network before there is one: virtual channels, room, memory.

use crate::by_class::ByClass;
use crate::network::vc_map::VcMap;
use crate::packet::message::Purpose;
use flitlab_base::narrow::fitted;
use flitlab_fabric::Fabric;
use flitlab_model::workload::{MAX_WORKLOADS, Workload};
use flitlab_model::{
    DOWN_CHANNEL, MAX_VIRTUAL_CHANNELS, PacketKind, Parameters, REQUEST_CHANNEL, RESPONSE_CHANNEL,
    TrafficClass, UP_CHANNEL,
};
use flitlab_routing::{AdaptiveChannels, EscapeRule, Routes};

/// Whether routers choose among several outputs for a packet.
pub fn is_adaptive(routes: &Routes) -> bool {
    matches!(routes, Routes::Adaptive(_) | Routes::Relation(_))
}

/// Whether packets of a relation are granted outputs as those of a table: wherever one is, it has one
/// hop. Packets that share links flit by flit have a choice by the model's rules all the same.
pub(crate) fn has_single_hops(routes: &Routes, parameters: &Parameters) -> bool {
    let Routes::Relation(routes) = routes else { return false };
    let relation = &routes.relation;
    // What has failed on the way could leave others a choice; it is refused with phases.
    !parameters.kind.grants_flits()
        && relation.phases().is_some()
        && !routes.decides()
        && routes.injection_bubble == 0
        && (0..relation.lists()).all(|list| match relation.hops_of_list(list) {
            [] => true,
            [hop] => !hop.is_fallback(),
            _ => false,
        })
}

/// Whether sources write whole routes into packets.
pub(crate) fn is_by_source(routes: &Routes) -> bool {
    matches!(routes, Routes::DirectionOrder(_) | Routes::Table(_))
}

/// Whether sources take several paths or routes to a router in turn.
pub(crate) fn takes_turns(routes: &Routes) -> bool {
    match routes {
        Routes::Paths(paths) => paths.in_turn() && paths.paths.has_choice(),
        Routes::Table(table) => table.has_several(),
        _ => false,
    }
}

/// Bytes for the state of sources, besides that for random numbers: the turns of their paths.
pub(crate) fn memory_of_sources(routes: &Routes, fabric: &Fabric) -> u64 {
    u64::from(takes_turns(routes)) * u64::from(fabric.terminals()) * u64::from(fabric.routers())
}

/// By class: whether it has messages of data, and whether it has reads or others that are answered.
pub(crate) type KindsByClass = ByClass<(bool, bool)>;

/// The kinds of messages of each class of a workload.
pub(crate) fn kinds_by_class(workload: &dyn Workload) -> KindsByClass {
    ByClass::new(|class| workload.kinds_of(class))
}

/// A set of virtual channels of packets that go by a table or by paths of their sources.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VcSet {
    /// The number that is added to the virtual channels of the routes.
    pub first: u8,
    pub width: u8,
}

/// The virtual channels that packets use, without those of collective operations.
pub(crate) struct VcDemand {
    /// The numbers of the virtual channels, a bit each.
    pub used: u16,
    /// By class, then [`Purpose`]: the virtual channel on which sources inject, where neither a
    /// table nor the destination decides.
    pub injected_on: ByClass<[u8; Purpose::COUNT]>,
    /// By class: its set of virtual channels.
    pub sets: ByClass<VcSet>,
    /// Whether links that are shared flit by flit have virtual channels for responses alone.
    pub is_split: bool,
}

impl VcDemand {
    /// The demand of classes with these kinds of messages.
    ///
    /// * Links that are shared flit by flit use all virtual channels, and so do buffers at outputs;
    ///   packets of collective operations, if there are any, have two of them for themselves.
    /// * A forwarding table uses its own, in one set or several, and so do paths; `later` are the
    ///   routes that replace them after failures.
    ///
    /// # Panics
    /// If the routes can't carry a class of traffic as it asks for.
    pub(crate) fn new(
        routes: &Routes,
        later: &[&Routes],
        parameters: &Parameters,
        kinds: &KindsByClass,
        collective: bool,
    ) -> Self {
        let all = parameters.virtual_channels;
        let is_left = |vc: &u8| !collective || ![UP_CHANNEL, DOWN_CHANNEL].contains(vc);
        let shared: Vec<u8> = (0..all).filter(is_left).collect();
        let first = |count: u8| fitted!((1_u32 << count) - 1, u16);
        let classes = || (0..).map(|number| parameters.class(number)).zip(kinds.iter());
        let width = set_width(routes, later, parameters);
        check_classes(routes, width, parameters);
        let is_split = parameters.kind.grants_flits()
            && is_by_source(routes)
            && classes().any(|(class, &(data, answered))| {
                answered && parameters.message_classes > 1 || data && class.on_response_channel
            });
        let mut injected_on = ByClass::<[u8; Purpose::COUNT]>::default();
        let mut sets = ByClass::<VcSet>::default();
        let (mut of_purposes, mut of_sets) = (0, 0);
        for (number, (class, &(data, answered))) in (0..).zip(classes()) {
            sets[number] = VcSet { first: class.service * width, width };
            if data || answered {
                of_sets |= first(width) << sets[number].first;
            }
            for (purpose, exists) in Purpose::ALL.into_iter().zip([data, answered, answered]) {
                let injection = Injection::new(routes, parameters, (number, purpose));
                injected_on[number][purpose as usize] = match injection {
                    Injection::Deterministic(channel) if is_split => {
                        channel * shared[shared.len() / 2]
                    }
                    _ => injection.channel(routes),
                };
                if exists {
                    of_purposes |= injection.vcs(routes);
                }
            }
        }
        let used = match routes {
            // At ejection channels packets take any.
            _ if !parameters.kind.sends_from_inputs() => first(all),
            Routes::Forwarding(_) | Routes::Paths(_) => of_sets,
            Routes::Relation(_) => first(all),
            _ => of_purposes,
        };
        // There has to be one. Acknowledgements of links are counted in it, too.
        let counts = match used == 0 || parameters.errors.is_some() {
            true => Injection::Deterministic(REQUEST_CHANNEL).vcs(routes),
            false => 0,
        };
        Self { used: used | counts, injected_on, sets, is_split }
    }
}

/// The numbers of the virtual channels between routers that packets take whose routing goes by their
/// purpose, ascending, in a network in which all of a router's are theirs: those of requests, of
/// responses, and of packets that choose on a torus; and those of collective operations. Links that are
/// shared flit by flit have these for the packets of [adaptive](Routes::Adaptive) routing alone.
pub fn virtual_channels_taken(
    routes: &Routes,
    parameters: &Parameters,
    workload: &dyn Workload,
) -> Vec<u8> {
    let kinds = kinds_by_class(workload);
    let of_classes = (0..).zip(kinds.iter()).flat_map(|(number, &(data, answered))| {
        let exists = [data, answered, answered];
        let purposes = Purpose::ALL.into_iter().zip(exists).filter(|it| it.1);
        purposes.map(move |(purpose, _)| (number, purpose))
    });
    let vcs = of_classes.map(|it| Injection::new(routes, parameters, it).vcs(routes));
    let collective = match workload.collectives() {
        Some(_) => 1 << UP_CHANNEL | 1 << DOWN_CHANNEL,
        None => 0,
    };
    let taken = vcs.fold(collective, |all, own| all | own);
    (0..MAX_VIRTUAL_CHANNELS).filter(|vc| taken >> vc & 1 == 1).collect()
}

/// The channel on which sources inject packets of a class, where routing decides by their purpose.
#[derive(Clone, Copy)]
enum Injection {
    /// The adaptive channel.
    Adaptive,
    /// The request channel or the response channel, which the packets keep.
    Deterministic(u8),
}

impl Injection {
    fn new(routes: &Routes, parameters: &Parameters, (class, purpose): (u8, Purpose)) -> Self {
        let class = parameters.class(class);
        let chooses = class.is_adaptive(purpose == Purpose::Data, purpose == Purpose::Response);
        if chooses && matches!(routes, Routes::Adaptive(_)) {
            return Self::Adaptive;
        }
        let is_response = match purpose {
            Purpose::Data => class.on_response_channel,
            Purpose::Request => false,
            Purpose::Response => parameters.message_classes > 1,
        };
        Self::Deterministic(if is_response { RESPONSE_CHANNEL } else { REQUEST_CHANNEL })
    }

    /// The number of the virtual channel.
    fn channel(self, routes: &Routes) -> u8 {
        match (self, routes) {
            (Self::Adaptive, Routes::Adaptive(adaptive)) => adaptive.rules().channels.adaptive,
            // Class 1 of a dateline has the virtual channel behind that of class 0.
            (Self::Deterministic(channel), Routes::DirectionOrder(order))
                if order.has_dateline() =>
            {
                2 * channel
            }
            (Self::Deterministic(channel), Routes::Adaptive(adaptive)) => {
                channel * adaptive.rules().escape.width()
            }
            (Self::Deterministic(channel), _) => channel,
            (Self::Adaptive, _) => unreachable!("the routing has no adaptive channel"),
        }
    }

    /// The virtual channels of packets that are injected there, a bit each.
    fn vcs(self, routes: &Routes) -> u16 {
        let own = 1 << self.channel(routes);
        match (self, routes) {
            (_, Routes::Adaptive(adaptive)) => {
                let rules = adaptive.rules();
                let classes = (1 << rules.escape.width()) - 1;
                if let Self::Deterministic(_) = self {
                    return own * classes;
                }
                let AdaptiveChannels { escape, escape_to_intermediate, .. } = rules.channels;
                let round = u16::from(rules.non_minimal.goes_via_intermediate());
                own | classes << escape | (round * classes) << escape_to_intermediate
            }
            (_, Routes::DirectionOrder(order)) if order.has_dateline() && order.has_rings => {
                own | own << 1
            }
            _ => own,
        }
    }
}

/// Number of virtual channels of a set: those that a table or paths need, or all.
fn set_width(routes: &Routes, later: &[&Routes], parameters: &Parameters) -> u8 {
    let all = parameters.virtual_channels;
    let has_sets = parameters.classes.iter().any(|class| class.service > 0);
    let width = |routes: &Routes| match routes {
        Routes::Forwarding(table) => table.vc_count().min(all),
        Routes::Paths(routes) if has_sets => routes.paths.vcs(),
        _ => all,
    };
    later.iter().copied().map(width).fold(width(routes), u8::max)
}

/// Checks that routes can carry all classes of traffic as they ask for.
///
/// # Panics
/// If they can't.
fn check_classes(routes: &Routes, width: u8, parameters: &Parameters) {
    let classes = parameters.classes.len();
    assert!(classes <= MAX_WORKLOADS, "{classes} classes of traffic, of {MAX_WORKLOADS}");
    let is_torus = matches!(routes, Routes::Adaptive(_));
    let has_sets = matches!(routes, Routes::Forwarding(_) | Routes::Paths(_));
    for (number, class) in parameters.classes.iter().enumerate() {
        let TrafficClass { packets, on_response_channel, service } = *class;
        assert!(
            is_torus || !matches!(packets, PacketKind::Adaptive | PacketKind::AdaptiveResponses),
            "class {number} has adaptive packets, and routing is not adaptive on a torus"
        );
        assert!(
            !on_response_channel || is_torus || is_by_source(routes),
            "class {number} has data on the response channel, and the routing has none"
        );
        assert!(
            service == 0 || has_sets,
            "class {number} has service {service}, and the routing has one set of virtual channels"
        );
        let needed = (u32::from(service) + 1) * u32::from(width);
        assert!(
            needed <= parameters.virtual_channels.into(),
            "class {number} needs {needed} virtual channels"
        );
    }
}

/// Checks that no packets keep to the adaptive channel, where other packets choose.
///
/// # Panics
/// If some do.
pub(crate) fn check_adaptive_channel(
    routes: &Routes,
    parameters: &Parameters,
    kinds: &KindsByClass,
) {
    let Routes::Adaptive(adaptive) = routes else { return };
    let adaptive = adaptive.rules().channels.adaptive;
    for (number, &(data, answered)) in (0..).zip(kinds.iter()) {
        for (purpose, exists) in Purpose::ALL.into_iter().zip([data, answered, answered]) {
            let injection = Injection::new(routes, parameters, (number, purpose));
            assert!(
                !exists || !matches!(injection, Injection::Deterministic(it) if it == adaptive),
                "deterministic packets of class {number} are on the adaptive channel {adaptive}"
            );
        }
    }
}

/// The maximum number of virtual channels of a channel, of `all`, that the packets of a source use:
/// in the network, and at injection.
pub fn max_vcs_of_source(routes: &Routes, all: u32) -> [u32; 2] {
    match routes {
        Routes::Forwarding(table) => [u32::from(table.vc_count()).min(all).max(1); 2],
        Routes::Relation(routes) => [all, all.min(routes.injection_vcs.into())],
        Routes::Paths(_) | Routes::Adaptive(_) => [all; 2],
        Routes::DirectionOrder(order) if order.has_dateline() => [2, 1],
        Routes::DirectionOrder(_) | Routes::Table(_) => [1; 2],
    }
}

/// Whether every packet keeps the bubble rule where it enters a ring.
pub fn keeps_bubble_always(routes: &Routes) -> bool {
    match routes {
        Routes::DirectionOrder(order) => !order.has_dateline(),
        Routes::Table(_) => true,
        _ => false,
    }
}

/// Whether packets may keep the bubble rule. An escape by a table closes no ring, and datelines
/// open those of an escape.
pub(crate) fn may_keep_bubble(routes: &Routes) -> bool {
    !matches!(
        routes, Routes::Adaptive(adaptive)
            if adaptive.has_table() || adaptive.rules().escape == EscapeRule::Dateline
    )
}

/// The packets for which an adaptively routed packet must leave room where it is injected.
pub(crate) fn injection_bubble(routes: &Routes) -> u8 {
    match routes {
        Routes::Adaptive(adaptive) => adaptive.rules().injection_bubble,
        Routes::Relation(routes) => routes.injection_bubble,
        _ => 0,
    }
}

/// The indices of the virtual channels of adaptively routed packets on a torus.
pub(crate) fn adaptive_channels(routes: &Routes, vc_map: &VcMap) -> AdaptiveChannels {
    let Routes::Adaptive(adaptive) = routes else { return AdaptiveChannels::default() };
    let AdaptiveChannels { adaptive, escape, escape_to_intermediate } = adaptive.rules().channels;
    AdaptiveChannels {
        adaptive: vc_map.index(adaptive),
        escape: vc_map.index(escape),
        escape_to_intermediate: vc_map.index(escape_to_intermediate),
    }
}
