//! The workloads of a scenario: one with a table of its own, or several at once in `[workloads]`.

use std::cell::Cell;
use std::sync::Arc;

use super::nodes::SEVERAL;
use super::slowdowns::Slowdowns;
use super::{
    Bound, BoundWorkload, Checked, Given, Room, WorkloadKind, WorkloadSpec, present_kinds,
    read_kind,
};
use crate::checks::Checks;
use crate::purpose::Purpose;
use crate::simulation::{SetupError, Simulation};
use crate::{RoutingSpec, Scenario};
use flitlab_base::document::{Diagnostic, Reader, Whole, time};
use flitlab_base::narrow::rounded;
use flitlab_base::registry::Registered;
use flitlab_base::units::{Picoseconds, time_text};
use flitlab_engine::{PacketKind, Parameters, TrafficClass};
use flitlab_fabric::Fabric;
use flitlab_routing::Routes;
use flitlab_traffic::{
    Access, ApplicationSpec, HostOverheads, LoadRates, LoadSpec, MAX_WORKLOADS, MessageSizes,
    Pattern, Placement, Several, Silent, Until, Workload,
};

/// A workload of a scenario.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name in results.
    pub name: String,
    /// Its kind, which is the name of its table.
    pub kind: &'static str,
    /// When it begins.
    pub start: Picoseconds,
    /// When a load creates its last messages; `None` if it goes on, or ends by itself.
    pub end: Option<Picoseconds>,
    /// How its packets travel.
    pub class: TrafficClass,
    /// What it sends.
    pub spec: Arc<dyn WorkloadSpec>,
    /// Its own nodes, listed or allocated; all nodes are its own if there are none.
    pub nodes: Option<Vec<u32>>,
    /// Whether it sends nothing, on a network that is made for it.
    is_silent: bool,
    /// The path of the table in which its table is; empty for the scenario itself.
    path: String,
}

impl Member {
    /// A workload with a table of its own.
    fn alone(kind: &'static str, spec: Arc<dyn WorkloadSpec>) -> Self {
        let (start, class) = (Picoseconds::ZERO, TrafficClass::default());
        let (name, nodes, path) = (kind.into(), None, String::new());
        Self { name, kind, start, end: None, class, spec, nodes, is_silent: false, path }
    }

    /// Whether it comes to an end.
    fn is_finite(&self) -> bool {
        self.end.is_some() || self.spec.is_finite()
    }

    /// The path of a key of its table of `[workloads]`, or of the scenario without one.
    pub fn key(&self, key: &str) -> String {
        match &*self.path {
            "" => key.into(),
            path => format!("{path}.{key}"),
        }
    }

    /// Returns the seed of a workload: that of the scenario, and of several each one's own, so that
    /// they draw other numbers, which do not depend on what runs beside them.
    fn seed(&self, seed: u64) -> u64 {
        if self.path.is_empty() {
            return seed;
        }
        // The hash of Fowler, Noll and Vo.
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, step)
    }
}

/// The workloads of a scenario, by class of their messages.
#[derive(Clone, Debug)]
pub struct Workloads {
    members: Vec<Member>,
    /// What is simulated besides, to know how much they slow each other.
    pub slowdowns: Slowdowns,
}

impl Workloads {
    /// One workload, of this kind.
    pub fn one(kind: &'static str, spec: Arc<dyn WorkloadSpec>) -> Self {
        Self { members: vec![Member::alone(kind, spec)], slowdowns: Slowdowns::Untold }
    }

    /// Returns the workloads, by class of their messages; at least one.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns the classes of their messages; none if there is one workload, whose class is the
    /// default.
    pub fn classes(&self) -> Vec<TrafficClass> {
        let several = self.members.iter().filter(|_| self.are_several());
        several.map(|member| member.class).collect()
    }

    /// Whether there are several, which have names.
    pub fn are_several(&self) -> bool {
        self.members.len() > 1 || !self.members[0].path.is_empty()
    }

    /// The workloads of which those at some places alone send anything. The network is as it is with
    /// all of them, since the others are there as well.
    #[must_use]
    pub fn only_those(&self, places: &[usize]) -> Self {
        let members = self.members.iter().enumerate();
        let members = members.map(|(place, member)| {
            let is_silent = member.is_silent || !places.contains(&place);
            Member { is_silent, ..member.clone() }
        });
        Self { members: members.collect(), slowdowns: Slowdowns::Untold }
    }

    /// The node of each rank of an application, one of a scenario's workloads.
    ///
    /// # Errors
    /// If they have no room; of a scenario that was read, they have.
    ///
    /// # Panics
    /// If it is no application.
    pub fn nodes_of_ranks(&self, place: usize, scenario: &Scenario) -> Result<Vec<u32>, String> {
        let member = &self.members[place];
        let spec = member.spec.downcast_ref::<ApplicationSpec>().expect("it is an application");
        let live = spec.nodes_of(&scenario.network.fabric);
        let seed = member.seed(scenario.seed);
        let nodes = spec.placement.nodes(spec.schedule.ranks(), spec.ranks_per_node, &live, seed);
        nodes.map_err(|error| error.to_string())
    }

    /// The workloads with other nodes for the ranks of some of their applications, by place.
    ///
    /// # Panics
    /// If one is no application.
    pub fn placed<'n>(&self, places: impl Iterator<Item = (usize, &'n Vec<u32>)>) -> Self {
        let mut all = self.clone();
        for (place, nodes) in places {
            let spec = &mut all.members[place].spec;
            let given = spec.downcast_ref::<ApplicationSpec>().expect("it is an application");
            let placement = Placement::Given(nodes.as_slice().into());
            *spec = Arc::new(ApplicationSpec { placement, nodes: None, ..given.clone() });
        }
        all
    }

    /// The workload, if it is the only one.
    fn only(&self) -> Option<&dyn WorkloadSpec> {
        (!self.are_several()).then(|| &*self.members[0].spec)
    }

    /// The workload itself, if it is the only one and of this kind.
    pub fn downcast_ref<S: WorkloadSpec>(&self) -> Option<&S> {
        self.only()?.downcast_ref()
    }

    /// Returns the load if it is the only workload.
    pub fn load(&self) -> Option<&LoadSpec> {
        self.only()?.load()
    }

    /// Returns the workloads at another load, a fraction of the fabric's capacity, if there is one
    /// load and nothing else.
    #[must_use]
    pub fn at_load(&self, fraction: f64) -> Self {
        let mut all = self.clone();
        if let Some(spec) = self.only().and_then(|only| only.at_load(fraction)) {
            all.members[0].spec = spec;
        }
        all
    }

    /// Whether results depend on the seed.
    pub fn draws(&self) -> bool {
        self.members.iter().any(|member| member.spec.draws())
    }

    /// Whether any comes to an end. Otherwise they are measured in a steady state.
    pub fn is_finite(&self) -> bool {
        self.members.iter().any(|member| !member.is_silent && member.is_finite())
    }

    /// Whether messages cross the network.
    pub fn crosses_network(&self) -> bool {
        self.members.iter().any(|member| member.spec.crosses_network())
    }

    /// Whether all go on where messages are lost.
    pub fn bear_losses(&self) -> bool {
        self.members.iter().all(|member| member.spec.bears_losses())
    }

    /// Whether one takes the collective subnetwork.
    pub fn is_collective(&self) -> bool {
        self.members.iter().any(|member| member.spec.is_collective())
    }

    /// Whether nodes read, or send what is answered in other ways.
    pub fn reads(&self) -> bool {
        self.members.iter().any(|member| member.spec.reads())
    }

    /// Whether there are packets on the response channel: responses, unless they share the request
    /// channel, or messages of data that a class puts there.
    pub fn uses_response_channel(&self, parameters: &Parameters) -> bool {
        self.reads() && parameters.message_classes > 1
            || self.members.iter().any(|member| member.class.on_response_channel)
    }

    /// Calls `each` with the class, and with the payload and access of every message whose packets
    /// share virtual channels with those of others.
    pub fn for_each_size(&self, each: &mut dyn FnMut(TrafficClass, u64, Access)) {
        for member in &self.members {
            member.spec.for_each_size(&mut |bytes, access| each(member.class, bytes, access));
        }
    }

    /// Checks the rules between their keys and those of the rest.
    pub(crate) fn check(&self, checks: &mut Checks<'_>, checked: &Checked<'_>) {
        for member in &self.members {
            let seed = member.seed(checked.seed);
            let own = Checked { seed, ..*checked };
            checks.below(&member.path, member.kind, |checks| member.spec.check(checks, &own));
        }
        if self.are_several() {
            self.check_together(checks, checked);
        }
    }

    /// Checks what one network can have at once.
    fn check_together(&self, checks: &mut Checks<'_>, checked: &Checked<'_>) {
        let mut one_only = |is: fn(&dyn WorkloadSpec) -> bool, message: &str, help: &str| {
            let mut such = self.members.iter().filter(|member| is(&*member.spec));
            if let (Some(_), Some(second)) = (such.next(), such.next()) {
                checks.refuse(&[&second.path], message, help);
            }
        };
        one_only(
            |spec| spec.is_collective(),
            "the routers have one collective subnetwork, and two workloads would take it",
            "leave one of them out",
        );
        one_only(
            |spec| spec.has_barriers(),
            "two workloads have barriers, and one can have them at a time",
            "choose another `between_steps` for one of them",
        );
        for member in &self.members {
            if !member.spec.crosses_network() {
                let message = "under LogGOPS there is no network that workloads could share";
                let help = "leave out `network`, or simulate the application alone";
                checks.refuse(&[&format!("{}.{}", member.path, member.kind)], message, help);
            }
            if member.start > Picoseconds::ZERO && !self.is_finite() {
                let message =
                    "loads that go on are measured once all is steady, so none may begin later";
                let help = "leave `start` out, or give one of the loads an `end`; beside what ends loads may begin \
                            at any time";
                checks.refuse(&[&format!("{}.start", member.path)], message, help);
            }
            check_end(member, checks);
            check_class(member, checks, checked);
        }
    }

    /// Binds them to the scenario's fabric, once `room` has said that so many bytes are free.
    ///
    /// # Errors
    /// If one can't be bound.
    pub(crate) fn bind(
        &self,
        scenario: &Scenario,
        room: &Room<'_>,
    ) -> Result<Vec<BoundMember>, SetupError> {
        let taken = Cell::new(0u64);
        let room = |bytes| {
            taken.set(taken.get().saturating_add(bytes));
            room(taken.get())
        };
        let bind = |member: &Member| {
            let own = Scenario { seed: member.seed(scenario.seed), ..scenario.clone() };
            let Bound { pattern, message, workload } = member.spec.bind(&own, &room)?;
            let fabric = &scenario.network.fabric;
            let senders =
                fabric.live_terminals().filter(|&terminal| pattern.rate(terminal) > 0.0).collect();
            let (name, kind) = (member.name.clone(), member.kind);
            Ok(BoundMember {
                name,
                kind,
                start: member.start,
                end: member.end,
                is_finite: member.is_finite(),
                is_silent: member.is_silent,
                pattern,
                message,
                senders,
                has_host_overheads: member.spec.has_host_overheads(),
                workload,
            })
        };
        self.members.iter().map(bind).collect()
    }
}

/// Whether a workload that has an `end` is a load, and has time to send anything.
fn check_end(member: &Member, checks: &mut Checks<'_>) {
    let Some(end) = member.end else { return };
    let key = format!("{}.end", member.path);
    if member.spec.is_finite() {
        let message = format!("[{}.{}] ends when all is done", member.path, member.kind);
        checks.refuse(&[&key], &message, "leave `end` out: it is for [traffic]");
    } else if end <= member.start {
        let [start, end] = [member.start, end].map(time_text);
        let message = format!("the load ends at {end}, and begins at {start}");
        let help = "`end` is a time of the simulation, as `start` is: let it be later";
        checks.refuse(&[&key, &format!("{}.start", member.path)], &message, help);
    }
}

/// What a routing can do of what a class asks for.
fn check_class(member: &Member, checks: &mut Checks<'_>, checked: &Checked<'_>) {
    let (Some(routing), class) = (checked.routing, member.class) else { return };
    let key = |key: &str| format!("{}.{key}", member.path);
    let on_torus = matches!(routing, RoutingSpec::Adaptive(..));
    let by_table = matches!(routing, RoutingSpec::Agnostic { .. } | RoutingSpec::OpenSm(_))
        || matches!(routing, RoutingSpec::Relation(spec) if spec.selection.is_some());
    if class.on_response_channel && routing.is_of_any_fabric() {
        let message = "this routing has no channel for requests and another one for responses";
        let help = "leave `packets` out; where packets go by tables, `service` parts workloads";
        checks.refuse(&[&key("packets"), "routing"], message, help);
    } else if class.packets != PacketKind::Usual && !class.on_response_channel && !on_torus {
        let message = "only adaptive routing on a torus has an adaptive channel beside others";
        let help = "leave `packets` out, or choose an adaptive routing ([routing.adaptive])";
        checks.refuse(&[&key("packets"), "routing"], message, help);
    }
    if class.service > 0 && !by_table {
        let message = "only packets that go by a table can have virtual channels of a service";
        let help = "leave `service` out, or choose the routing in [routing.agnostic]";
        checks.refuse(&[&key("service"), "routing"], message, help);
    }
    let has = checked.parameters.virtual_channels;
    if let Some(each) = routing.vcs().filter(|_| by_table) {
        let needs = u32::from(each) * (u32::from(class.service) + 1);
        if needs > has.into() {
            let message = format!(
                "service {} needs {needs} virtual channels, {each} for each service, and the routers have {has}",
                class.service
            );
            let help = match has / (class.service + 1) {
                0 => "lower `service`, or give routers more `virtual_channels`".into(),
                room => format!(
                    "with `lanes = {room}` in the routing's table there is room; or lower `service`, or give routers more \
                     `virtual_channels`"
                ),
            };
            checks.refuse(&[&key("service"), "router.virtual_channels"], message, help);
        }
    }
}

/// Reads the workloads that a scenario has. All tables are asked for, so that a misspelt header is
/// told the right name.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    given: &mut Given<'_>,
    purpose: Purpose,
) -> Option<Workloads> {
    let kinds: Vec<Registered<WorkloadKind>> = given.registry.rows().collect();
    let present = present_kinds(reader, &kinds);
    if let (Some(first), Some(place)) = (present.first(), reader.place(SEVERAL)) {
        let message = format!("a scenario has [{SEVERAL}], or a workload of its own: [{first}]");
        let help = format!("move [{first}] into a table of [{SEVERAL}]: [{SEVERAL}.NAME.{first}]");
        reader.problems.push(Diagnostic::new(&place, message).help(help));
    }
    let has_several = reader.has(SEVERAL);
    let alone = super::read_one(reader, given, &kinds, purpose, has_several);
    let doc = "Several workloads at once: in each [workloads.NAME] the keys that follow, and the table of one workload, \
               such as [workloads.NAME.traffic] with the keys of [traffic].";
    let mut seen: Vec<Member> = Vec::new();
    let members = reader.named_tables(SEVERAL, doc, |reader, name| {
        let before = given.parameters.clone();
        let member = member(reader, name, given)?;
        if let Some(first) = seen.iter().find(|first| first.kind == member.kind) {
            check_parameters(reader, given.parameters != &before, first, &member);
        }
        seen.push(member.clone());
        Some(member)
    });
    if !has_several {
        let members: Vec<_> =
            alone.into_iter().map(|(kind, spec)| Member::alone(kind, spec)).collect();
        return (!members.is_empty())
            .then_some(Workloads { members, slowdowns: Slowdowns::Untold });
    }
    if let (true, Some(place)) = (members.len() > MAX_WORKLOADS, reader.place(SEVERAL)) {
        let message = format!("{} workloads are too many", members.len());
        let help = format!("a scenario has at most {MAX_WORKLOADS} at once");
        reader.problems.push(Diagnostic::new(&place, message).help(help));
        return None;
    }
    if let (true, Some(place)) = (members.is_empty(), reader.place(SEVERAL)) {
        let message = format!("[{SEVERAL}] has no workload");
        let help = format!("add for example [{SEVERAL}.background.traffic]");
        reader.problems.push(Diagnostic::new(&place, message).help(help));
    }
    let members: Option<Vec<Member>> = members.into_iter().collect();
    members
        .filter(|members| !members.is_empty())
        .map(|members| Workloads { members, slowdowns: Slowdowns::Untold })
}

/// Two workloads of one kind can't differ in what they say of the routers or adapters that both
/// have.
fn check_parameters(reader: &mut Reader<'_>, differ: bool, first: &Member, second: &Member) {
    if let (true, Some(place)) = (differ, reader.place(second.kind)) {
        let [first, second] = [first, second].map(|it| format!("[{}.{}]", it.path, it.kind));
        let message =
            format!("{second} changes routers or adapters, which are those of {first} as well");
        let help = format!("write in {first} what is to hold for both, and leave it out here");
        reader.problems.push(Diagnostic::new(&place, message).help(help));
    }
}

/// Reads a table of `[workloads]`.
fn member(reader: &mut Reader<'_>, name: &str, given: &mut Given<'_>) -> Option<Member> {
    let path = reader.scope.path.clone();
    let doc = "When it begins; what it says of times counts from then on.";
    let start = reader.value("start", &time(Picoseconds::ZERO), Picoseconds::ZERO, doc);
    let doc = "When a load stops creating messages, in the time of the simulation; then the workload is over \
               when all of them have been received. Without it a load goes on.";
    let end = reader.optional("end", &time(Picoseconds(1)), doc);
    let nodes = given.allocator.read(reader, given.places);
    given.nodes.clone_from(&nodes);
    let doc = "How its packets travel where requests, responses and adaptive packets differ.";
    let usual = "adaptive data where routing is, all others deterministic.";
    let adaptive = "all adaptive, requests and responses as well.";
    let responses = "data and responses adaptive, requests and puts in direction order on 0.";
    let deterministic = "all in direction order, on 0, and responses on 1.";
    let response = "the same with messages of data on 1, which responses take.";
    let packets = reader.one_of(
        "packets",
        "kind of packets",
        doc,
        [
            ("usual", (PacketKind::Usual, false), usual),
            ("adaptive", (PacketKind::Adaptive, false), adaptive),
            ("adaptive-responses", (PacketKind::AdaptiveResponses, false), responses),
            ("deterministic", (PacketKind::Deterministic, false), deterministic),
            ("response", (PacketKind::Deterministic, true), response),
        ],
    );
    let doc =
        "Where packets go by tables, their set of virtual channels; two sets share no buffers.";
    let mut service = 0u8;
    reader.set("service", &Whole { range: 0..=15 }, &mut service, doc);
    if reader.is_documenting() {
        return None;
    }
    let kinds: Vec<Registered<WorkloadKind>> = given.registry.rows().collect();
    let present = present_kinds(reader, &kinds);
    if present.len() != 1 {
        let names: Vec<String> = kinds.iter().map(|kind| kind.name.to_owned()).collect();
        let message = match present[..] {
            [] => format!("[{path}] has no workload"),
            [first, second, ..] => {
                format!("[{path}] has one workload, not {first} and {second}")
            }
            [_] => unreachable!("one is right"),
        };
        let help = format!("add [{path}.KIND], of {}", names.join(", "));
        let help = if present.is_empty() {
            help
        } else {
            format!("give the second one a table of its own: [{SEVERAL}.NAME]")
        };
        if let Some(place) = reader.scope.place.clone() {
            reader.problems.push(Diagnostic::new(&place, message).help(help));
        }
    }
    let mut found = None;
    for kind in &kinds {
        if !present.contains(&kind.name) {
            reader.ignore(kind.name);
            continue;
        }
        found = read_kind(reader, given, kind).map(|spec| (kind.name, spec)).or(found);
    }
    if let (Some(_), Some((kind, _))) = (given.nodes.take(), &found) {
        let message = format!("[{path}.{kind}] says itself which nodes take part");
        let help = "leave `nodes` out";
        if let Some(place) = reader.place("nodes") {
            reader.problems.push(Diagnostic::new(&place, message).help(help));
        }
    }
    let (packets, on_response_channel) = packets?;
    let class = TrafficClass { packets, on_response_channel, service };
    let ((kind, spec), name) = (found?, name.to_owned());
    Some(Member { name, kind, start, end, class, spec, nodes, is_silent: false, path })
}

/// A workload bound to its fabric, with what all kinds have.
#[derive(Debug)]
pub struct BoundMember {
    /// Its name in results.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// When it begins.
    pub start: Picoseconds,
    /// When a load stops creating messages; `None` if it goes on, or ends by itself.
    pub end: Option<Picoseconds>,
    /// Whether it comes to an end.
    pub is_finite: bool,
    /// Whether it sends nothing, on a network that is made for it.
    pub(crate) is_silent: bool,
    /// The pattern of sources and destinations.
    pub pattern: Pattern,
    /// The bytes of messages, and how they are sent.
    pub message: (MessageSizes, Access),
    /// The terminals that send something, ascending.
    pub senders: Vec<u32>,
    /// Whether its hosts have overheads of their own, so that adapters are to have none.
    pub has_host_overheads: bool,
    /// All that differs from kind to kind.
    pub workload: Box<dyn BoundWorkload>,
}

/// A workload's share of a simulation: the workload, and the network that it is simulated on.
#[derive(Clone, Copy, Debug)]
pub struct Share<'a> {
    simulation: &'a Simulation,
    /// The class of its messages.
    class: u8,
}

impl<'a> Share<'a> {
    pub(crate) fn new(simulation: &'a Simulation, class: u8) -> Self {
        Self { simulation, class }
    }

    /// Returns the whole simulation.
    pub fn simulation(self) -> &'a Simulation {
        self.simulation
    }

    /// Returns the class of its messages, which is 0 if there is no other workload.
    pub fn class(self) -> u8 {
        self.class
    }

    /// Returns what all kinds of workload have.
    pub fn member(self) -> &'a BoundMember {
        &self.simulation.bound[usize::from(self.class)]
    }

    /// Returns the fabric.
    pub fn fabric(self) -> &'a Fabric {
        self.simulation.fabric()
    }

    /// Returns the routes.
    pub fn routes(self) -> &'a Routes {
        self.simulation.routes()
    }

    /// Returns the parameters of routers, links and adapters.
    pub fn parameters(self) -> &'a Parameters {
        &self.simulation.scenario().parameters
    }

    /// Returns the pattern of sources and destinations.
    pub fn pattern(self) -> &'a Pattern {
        &self.member().pattern
    }

    /// Returns the terminals that send something, ascending.
    pub fn senders(self) -> &'a [u32] {
        &self.member().senders
    }

    /// Returns the rates of its load that goes on; `None` if it has none.
    pub fn load(self) -> Option<LoadRates> {
        self.offers().filter(|_| !self.member().is_finite)
    }

    /// Returns the rates of its load, which may end; `None` if it has none.
    pub fn offers(self) -> Option<LoadRates> {
        self.member().workload.load()
    }

    /// Returns for how long its load lasts; `None` if it is none that ends.
    pub fn lasts(self) -> Option<Picoseconds> {
        Some(self.member().end? - self.member().start)
    }

    /// Returns when it begins.
    pub fn begins(self) -> Picoseconds {
        self.member().start + self.member().workload.begins()
    }

    /// Returns the workload from its beginning.
    pub fn workload(self) -> Box<dyn Workload> {
        let workload = self.member().workload.workload(self);
        let (Some(time), Some(rates)) = (self.lasts(), self.offers()) else { return workload };
        let flit_times = time.0 as f64 / self.parameters().link_flit_time().0 as f64;
        let messages = rates.messages * flit_times * self.senders().len() as f64;
        Box::new(Until::new(workload, time, rounded(messages)))
    }
}

/// The workloads of a simulation from their beginning, as the engine takes them.
pub(crate) fn whole(simulation: &Simulation) -> Box<dyn Workload> {
    let shares = (0..).take(simulation.bound.len()).map(|class| Share::new(simulation, class));
    let members = shares.map(|share| {
        let workload = match share.workload() {
            workload if share.member().is_silent => Box::new(Silent::new(workload)),
            workload => workload,
        };
        (workload, share.member().start)
    });
    let mut members: Vec<_> = members.collect();
    if !simulation.scenario().workload.are_several() {
        return members.swap_remove(0).0;
    }
    let several = Several::new(members, simulation.fabric().terminals());
    if simulation.bound.iter().all(|member| !member.has_host_overheads) {
        return Box::new(several);
    }
    let Parameters { send_overhead, receive_overhead, .. } = simulation.scenario().parameters;
    let of_adapters = HostOverheads { send: send_overhead, receive: receive_overhead };
    let overheads = simulation.bound.iter().map(|member| {
        if member.has_host_overheads { HostOverheads::default() } else { of_adapters }
    });
    Box::new(several.with_overheads(overheads.collect()))
}
