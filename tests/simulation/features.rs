//! What `check` says of each feature in each kind of router, held against the table of features.

use flitlab::engine::{FEATURES, Feature, FlitSharing, RouterKind, Support};
use flitlab::scenario::{Document, Scenario};

const TORUS: &str = "[topology.torus]\ndimensions = [4, 4]\n\
                     [traffic]\npattern = \"uniform\"\nload = 0.1\n";
const DRAGONFLY: &str = "[topology.dragonfly]\ngroups = 3\ngroup_size = 2\nglobal_cables = 1\n\
                         [traffic]\npattern = \"uniform\"\nload = 0.1\n";
const COLLECTIVE: &str = "[topology.torus]\ndimensions = [4, 4]\n\
                          [collective]\noperation = \"all-reduce\"\nmessage = \"256 B\"\nrounds = 2\n";
const APPLICATION: &str = "[topology.torus]\ndimensions = [4, 4]\n\
                           [application]\nschedule = { all-reduce = { ranks = 8, bytes = \"4 KiB\" } }\n";

const ERRORS: &str = "link.errors={ bit_error_rate = 1e-9 }";
const FAILURE: &str = "interruption={ time = \"5 us\", new_tables_after = \"1 us\", \
                       random_failures = { cables = 1 } }";

/// A scenario that asks for a feature, and the settings that do; `None` if no key does.
fn asking(feature: Feature) -> Option<(&'static str, &'static [&'static str])> {
    let settings: &[&str] = match feature {
        Feature::StallTimes => return None,
        Feature::Collectives => return Some((COLLECTIVE, &[])),
        Feature::CutThroughHosts => {
            return Some((APPLICATION, &["application.host_adapter={ cut_through = true }"]));
        }
        Feature::Bubble => &["router.bubble=true"],
        Feature::AdaptiveOnTori => &["routing.adaptive={}"],
        Feature::AnyFabric => &["routing.agnostic={}"],
        Feature::RingsOfRelations => &["routing.relation.rule=bubble-colouring"],
        Feature::InjectionBubble => {
            &["routing.relation.rule=up-down", "routing.relation.injection_bubble=1"]
        }
        Feature::DecidingAgain => {
            &["routing.relation.rule=ugal", "routing.relation.decides_again=20 ns"]
        }
        Feature::DecidingUntilRoom => &[
            "routing.relation.rule=ugal",
            "routing.relation.decides_again=20 ns",
            "routing.relation.decides_until=room",
        ],
        Feature::HeldCredits => {
            return Some((DRAGONFLY, &["routing.relation.rule.ugal.credits=delayed"]));
        }
        Feature::LinkErrors => &[ERRORS],
        Feature::RetryOfPackets => &["link.errors={ bit_error_rate = 1e-9, retry = \"store\" }"],
        Feature::Failures => &[FAILURE],
        Feature::FailuresOfErringLinks => &[FAILURE, ERRORS],
        Feature::Lifetime => &["router.head_of_queue_lifetime=100 us"],
        Feature::ResponderResources => &["traffic.read={}", "adapter.responder_resources=4"],
        Feature::StallTimesOfErringLinks => &[ERRORS, "link.sharing.flit.stall_times=true"],
        Feature::Wormhole => &["router.switching=wormhole"],
        Feature::AgeOrWeight => &["router.arbitration=oldest-first"],
    };
    Some((TORUS, settings))
}

/// The kinds of routers of the engine, each with the settings that choose it.
fn kinds() -> [(RouterKind, &'static [&'static str]); 3] {
    [
        (RouterKind::WholePackets, &[]),
        (RouterKind::OutputBuffers(300), &["router.output_buffer=300 flits"]),
        (
            RouterKind::SharedLinks(FlitSharing::default()),
            &["link.sharing.flit.output_buffer=32", "router.buffer=300 flits"],
        ),
    ]
}

#[test]
fn check_refuses_what_the_table_says_and_accepts_the_rest() {
    let (mut refused, mut accepted) = (0, 0);
    for row in FEATURES {
        let Some((base, asks)) = asking(row.feature) else { continue };
        for (kind, chooses) in kinds() {
            // Stall times are asked for by a key of links shared flit by flit.
            let counts = row.feature == Feature::StallTimesOfErringLinks;
            if counts && !kind.grants_flits() {
                continue;
            }
            let mut document = Document::parse("features.toml", base);
            chooses.iter().chain(asks).for_each(|setting| document.set(setting));
            let about = format!("{:?} in {kind:?}", row.feature);
            match (Scenario::read(&document), row.support(&kind)) {
                (Ok(scenario), Support::Yes | Support::Absent) => {
                    let same = std::mem::discriminant(&scenario.parameters.kind);
                    assert_eq!(same, std::mem::discriminant(&kind), "{about}");
                    accepted += 1;
                }
                (Err(mistakes), Support::No(why)) => {
                    let said: Vec<&str> = mistakes.iter().map(|it| &*it.message).collect();
                    assert!(said.contains(&why), "{about}: {said:?}");
                    refused += 1;
                }
                (Ok(_), Support::No(why)) => panic!("{about}: accepted, though {why}"),
                (Err(mistakes), _) => panic!("{about}: refused: {mistakes}"),
            }
        }
    }
    assert!(refused >= 20 && accepted >= 25, "{refused} refused, {accepted} accepted");
}

/// The paper's router takes its own keys alone: each other feature is refused, for whatever reason
/// comes first.
#[test]
fn output_queues_refuse_what_they_lack() {
    for row in FEATURES {
        let Some((base, asks)) = asking(row.feature) else { continue };
        let mut document = Document::parse("features.toml", base);
        let chooses = ["router.preset=outflank-paper", "traffic.message=48 KiB"];
        let is_load = base == TORUS || base == DRAGONFLY;
        chooses[..if is_load { 2 } else { 1 }].iter().chain(asks).for_each(|it| document.set(it));
        let read = Scenario::read(&document);
        let about =
            format!("{:?}: {:?}", row.feature, read.as_ref().err().map(ToString::to_string));
        assert_eq!(read.is_ok(), !matches!(row.output_queues, Support::No(_)), "{about}");
    }
}
