//! Rules with phases from outside, through scenarios: in the three kinds of routers, beside built-in
//! ones, and what becomes of rules that are wrong.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flitlab::cli::Program;
use flitlab::document::Reader;
use flitlab::package;
use flitlab::registry::{Registry, Row};
use flitlab::report::PointRow;
use flitlab::routing::phased::{
    At, Bind, Course, Deciding, Drawn, MinimalVcs, PhasedKind, PhasedRule, Queues, Valiant, ViaKind,
};
use flitlab::routing::relation::{Hop, Phases};
use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::Simulation;
use flitlab::topology::{Channel, Fabric};
use flitlab_extension::registry;

type Test = Result<(), Box<dyn Error>>;

/// 9 groups of 4 switches, all joined; each group sends to the next one.
const DRAGONFLY: &str = "[topology.dragonfly]\ngroups = 9\ngroup_size = 4\nglobal_cables = 2\n\
                         terminals = 2\n[traffic]\npattern = 'group-shift'\nload = 0.3\n\
                         message = '256 B'\n";
const HYPERX: &str = "[topology.hyperx]\ndimensions = [4, 4]\nterminals = 2\n[traffic]\n\
                      pattern = 'uniform'\nload = 0.6\nmessage = '256 B'\n";
const MEASURE: &str = "[measure]\nwindow = '1 us'\nwarm_up_windows = 2\nminimum_windows = 6\n\
                       maximum_windows = 6\n";

/// Routers that grant whole packets, that share links flit by flit, and with buffers at outputs.
const ROUTERS: [&str; 3] = [
    "[router]\nvirtual_channels = 6\nbuffer = '160 flits'\n",
    "[router]\nvirtual_channels = 6\nbuffer = '160 flits'\n[link]\nsharing = 'flit'\n",
    "[router]\nvirtual_channels = 6\nbuffer = '160 flits'\noutput_buffer = '64 flits'\n",
];

fn routing(rule: &str) -> String {
    format!("[routing]\nrule = {rule}\n")
}

fn folder(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// What is measured of a scenario on one thread, which has to be the same on two.
fn measure(registry: &Registry, text: &str) -> Result<PointRow, Box<dyn Error>> {
    let document = Document::parse("phased.toml", text).with_registry(registry);
    let scenario = Scenario::read(&document).map_err(|found| found.plain())?;
    let run = |threads| -> Result<_, Box<dyn Error>> {
        Ok(Simulation::new(&scenario)?.on_threads(threads).run(&mut |_| {}).found.measured)
    };
    let (one, two) = (run(1)?, run(2)?);
    assert_eq!(one.digest, two.digest);
    Ok(one)
}

fn refused(registry: &Registry, text: &str) -> String {
    let document = Document::parse("phased.toml", text).with_registry(registry);
    Scenario::read(&document).expect_err("it is wrong").plain()
}

/// The rule of this crate has the candidates, draws and queues of the built-in one, so every packet goes the way that it
/// would go there.
#[test]
fn a_ugal_with_several_candidates_is_the_built_in_one() -> Test {
    let registry = registry()?;
    for network in [DRAGONFLY, HYPERX] {
        let mut seen = Vec::new();
        for router in ROUTERS {
            for candidates in [1, 4] {
                let keys = format!("candidates = {candidates}, threshold = 8");
                let own = routing(&format!("{{ best-of = {{ {keys} }} }}"));
                let built_in = routing(&format!("{{ ugal = {{ {keys}, queues = 'port' }} }}"));
                let both = [own, built_in].map(|routing| {
                    measure(&registry, &[network, router, &routing, MEASURE].concat())
                });
                let [own, built_in] = both;
                let (own, built_in) = (own?, built_in?);
                assert!(own.derouted_at_source > Some(0.0), "{network}{router}");
                assert_eq!(own.digest, built_in.digest, "{network}{router}{keys}");
                seen.push(own.digest);
            }
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 6, "each router and number of candidates gives other results");
    }
    Ok(())
}

/// A file for a Dragonfly: packets of each pair of groups by way of a router of the next group but
/// one, or for a HyperX.
fn table(
    name: &str,
    routers: u32,
    via: impl Fn(u32, u32) -> u32,
) -> Result<String, Box<dyn Error>> {
    let pairs = (0..routers).flat_map(|from| (0..routers).map(move |to| (from, to)));
    let lines = pairs.filter(|(from, to)| from != to);
    let text: String =
        lines.map(|(from, to)| format!("S{from},S{to},S{}\n", via(from, to))).collect();
    let path = folder("table_rule")?.join(name);
    fs::write(&path, text)?;
    Ok(path.display().to_string())
}

#[test]
fn a_rule_looks_at_a_table_of_its_own() -> Test {
    let registry = registry()?;
    let dragonfly = table("dragonfly.csv", 36, |from, to| (from + to) / 2 % 36)?;
    let hyperx = table("hyperx.csv", 16, |from, to| (from * 5 + to * 3) % 16)?;
    for (network, path) in [(DRAGONFLY, dragonfly), (HYPERX, hyperx)] {
        for router in ROUTERS {
            let text = |routing: &str| [network, router, routing, MEASURE].concat();
            let own = text(&routing(&format!("{{ by-table = {{ path = {path:?} }} }}")));
            let own = measure(&registry, &own)?;
            let minimal = measure(&registry, &text(&routing("'minimal-by-hop'")))?;
            assert!(own.hops_mean > minimal.hops_mean, "{router}: some packets take detours");
        }
    }
    Ok(())
}

#[test]
fn mistakes_of_a_table_are_told_with_their_place() -> Test {
    let registry = registry()?;
    let folder = folder("table_mistakes")?;
    let said = |name: &str, text: &str| -> Result<String, Box<dyn Error>> {
        let path = folder.join(name);
        fs::write(&path, text)?;
        let routing = routing(&format!("{{ by-table = {{ path = {path:?} }} }}"));
        Ok(refused(&registry, &[HYPERX, ROUTERS[0], &routing].concat()))
    };
    let short = said("short.csv", "S0,S1,S2\nS1,S2\n")?;
    assert!(short.contains("a line is `from,to,via`") && short.contains("short.csv:2"), "{short}");
    let unknown = said("unknown.csv", "S0,S1,S99\n")?;
    assert!(unknown.contains("the fabric has no router `S99`"), "{unknown}");
    Ok(())
}

/// What is wrong with a rule that is otherwise as UGAL.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    /// All hops are in one virtual channel: packets wait for each other in a circle.
    OneVc,
    /// Packets to one router have no hop at another one.
    Leaky,
    /// Packets have no hop in a phase that they reach on their way.
    LeakyBehind,
    /// It decides on no phase at all.
    Undecided,
    /// It starts in a phase that no packet may start in.
    Start,
    /// It goes by way of what there is none of.
    Via,
    /// Its hops lead into a phase that there is none of.
    Phase,
    /// Packets take more hops than it says.
    Longest,
    /// The way on leads back and forth.
    Onward,
    /// It decides on no phase once [`LATE`] is set.
    Late,
}

/// Set when a rule with [`Wrong::Late`] has been read.
static LATE: AtomicBool = AtomicBool::new(false);

#[derive(Debug)]
struct Mutant {
    valiant: Valiant,
    wrong: Wrong,
}

fn mutant(wrong: Wrong) -> Option<Bind> {
    Some(Arc::new(move |fabric, parameters| {
        let valiant = Valiant::deciding(fabric, ViaKind::Auto, MinimalVcs::Shared, parameters)?;
        Ok(Arc::new(Mutant { valiant, wrong }))
    }))
}

impl PhasedRule for Mutant {
    fn start(&self, ends: (u32, u32), _: Drawn) -> Course {
        match self.wrong {
            Wrong::Start if ends.0 == 3 => Course::straight(200),
            _ => Course::straight(Valiant::DECIDES),
        }
    }

    fn decide(&self, packet: &Deciding<'_>, _: &mut dyn Queues) -> Course {
        match (self.wrong, self.valiant.draw(packet, 0)) {
            (Wrong::Undecided, _) => packet.course,
            (Wrong::Late, _) if LATE.load(Ordering::Relaxed) => packet.course,
            (Wrong::Via, Some(detour)) => Course { via: 10_000, ..detour },
            (_, Some(detour)) => detour,
            (_, None) => self.valiant.minimal(packet),
        }
    }

    fn phases(&self) -> Phases {
        self.valiant.deciding_phases()
    }

    fn hops(&self, fabric: &Fabric, at: At, hops: &mut Vec<Hop>) {
        self.valiant.hops(fabric, at, hops);
        match self.wrong {
            Wrong::OneVc => hops.iter_mut().for_each(|hop| hop.vc = 0),
            Wrong::Leaky if (at.router, at.target) == (2, 9) => hops.clear(),
            Wrong::LeakyBehind if at.phase == 2 => hops.clear(),
            Wrong::Phase => hops.iter_mut().for_each(|hop| hop.phase = 99),
            _ => {}
        }
    }

    fn longest(&self) -> u32 {
        match self.wrong {
            Wrong::Longest => 1,
            _ => self.valiant.longest(),
        }
    }

    fn onward(&self, fabric: &Fabric, router: u32, destination: u32) -> Channel {
        match self.wrong {
            Wrong::Onward => fabric.outputs(router).start,
            _ => self.valiant.onward(fabric, router, destination),
        }
    }

    fn steps(&self) -> String {
        self.valiant.steps()
    }
}

macro_rules! mutants {
    ($($row:ident $name:literal $wrong:ident)*) => {
        $(static $row: Row<PhasedKind> = Row::new(
            $name,
            "a rule with a mistake.",
            PhasedKind { misroutes: &[], read: |_: &mut Reader<'_>| mutant(Wrong::$wrong) },
        );)*

        fn mutants() -> Registry {
            let registry = Registry::default();
            $(let registry = registry.with(package!(), &$row).unwrap();)*
            registry
        }
    };
}

mutants! {
    ONE_VC "one-vc" OneVc
    LEAKY "leaky" Leaky
    LEAKY_BEHIND "leaky-behind" LeakyBehind
    UNDECIDED "undecided" Undecided
    START "start" Start
    VIA "via" Via
    PHASE "phase" Phase
    LONGEST "longest" Longest
    ONWARD "onward" Onward
    LATE_RULE "late" Late
}

#[test]
fn a_rule_that_can_deadlock_is_refused_by_the_proof() {
    for network in [DRAGONFLY, HYPERX] {
        let said = refused(&mutants(), &[network, ROUTERS[0], &routing("'one-vc'")].concat());
        assert!(
            said.contains("the relation of rule `one-vc` is refused: packets can deadlock"),
            "{said}"
        );
        let help = "help: correct the code of the rule (docs/extending.md); or choose one that can't deadlock on any fabric, \
                    such as `rule = \"up-down\"`;";
        assert!(said.contains(help), "{said}");
        let followed = [network, ROUTERS[0], &routing("\"up-down\"")].concat();
        let document = Document::parse("phased.toml", &followed).with_registry(&mutants());
        assert!(Scenario::read(&document).is_ok());
    }
}

/// One message with the rule, the router, the destination and the way out; `check` ends with 2.
#[test]
fn a_rule_that_leaves_a_packet_without_a_hop_is_named_with_the_place() -> Test {
    let folder = folder("leaky")?;
    let path = folder.join("leaky.toml");
    fs::write(&path, [HYPERX, ROUTERS[0], &routing("'leaky'")].concat())?;
    for command in ["check", "run"] {
        let program = Arc::new(Program::with_registry(&mutants()));
        let words = [OsString::from(command), path.clone().into()];
        let ended = program.call(&words, None).ok_or("it was interrupted")?;
        assert_eq!(ended.code, 2, "{}", ended.text);
        for part in [
            "the relation of rule `leaky` is refused: packets to S9 that come to S2",
            "have nowhere to go in phase 1\n",
            "leaky.toml:12",
            "help: correct the code of the rule",
        ] {
            assert!(ended.text.contains(part), "{part}: {}", ended.text);
        }
        assert_eq!(ended.text.matches("error: ").count(), 1, "{}", ended.text);
        // The page shows this message.
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/extending.md");
        let said = ended.text.replace(&format!("{}/", folder.display()), "");
        assert!(fs::read_to_string(page)?.contains(said.trim_end()), "{said}");
    }
    Ok(())
}

#[test]
fn a_phase_without_hops_is_named_though_packets_start_in_another_one() {
    for network in [DRAGONFLY, HYPERX] {
        let text = [network, ROUTERS[0], &routing("'leaky-behind'")].concat();
        let said = refused(&mutants(), &text);
        assert!(said.contains("have nowhere to go in phase 2\n"), "{said}");
    }
}

#[test]
fn what_contradicts_the_phases_of_a_rule_is_found_before_it_is_simulated() {
    for (rule, expected) in [
        (
            "undecided",
            "rule `undecided`: `decide` returns phase 0 at S0, of packets from S0 to S1: `phases` allows",
        ),
        (
            "start",
            "rule `start`: `start` returns phase 200 at S3, of packets from S3 to S0: `phases` allows 0 there",
        ),
        ("via", "rule `via`: `decide` returns via 10000 at S0"),
        ("phase", "into phase 99: the phases are 0 to"),
        ("longest", "rule `longest`: `longest` returns 1, and a packet from S0 to"),
        ("onward", "rule `onward`: `onward` does not lead from S0 to"),
    ] {
        let said =
            refused(&mutants(), &[HYPERX, ROUTERS[0], &routing(&format!("'{rule}'"))].concat());
        assert!(said.contains(expected), "{rule}: {said}");
        assert!(said.contains("help: correct the code of the rule"), "{said}");
    }
}

/// What no packet showed that was tried out ends the simulation, with the same words.
#[test]
#[should_panic(expected = "contradicts its phases: `decide` returns phase 0 at router ")]
fn what_contradicts_the_phases_later_ends_the_simulation() {
    let text = [HYPERX, ROUTERS[0], &routing("'late'"), MEASURE].concat();
    let document = Document::parse("late.toml", &text).with_registry(&mutants());
    let scenario = Scenario::read(&document).unwrap();
    let simulation = Simulation::new(&scenario).unwrap();
    LATE.store(true, Ordering::Relaxed);
    simulation.run(&mut |_| {});
}
