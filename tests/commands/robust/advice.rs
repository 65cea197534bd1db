//! Every piece of advice works when it is followed: a table of messages, each brought about and
//! obeyed.
//!
//! A row has a scenario and a call that gives a message, a part of what it says to do, and how that
//! is done. Then the same call must succeed.

use crate::common::workplace::Workplace;

/// How advice is followed. What is written or replaced must stand in the message.
enum Follow {
    /// Every `--set KEY=VALUE` of the message goes to the call.
    Sets,
    /// In the scenario the first text becomes the second.
    Replace(&'static str, &'static str),
    /// The text goes below this line.
    Below(&'static str, &'static str),
    /// The text goes to the end of the scenario.
    Append(&'static str),
    /// The lines with this go.
    LeaveOut(&'static str),
    /// Variables of the environment, `NAME="VALUE"`.
    Variable,
}

use Follow::{Append, Below, LeaveOut, Replace, Sets, Variable};

struct Advice {
    name: &'static str,
    scenario: &'static str,
    call: &'static [&'static str],
    /// What the message says.
    says: &'static str,
    follow: Follow,
}

const TORUS: &str = "[topology.torus]\ndimensions = [4, 4]\n";

/// Rows: name, scenario behind a 4x4 torus (unless it brings its own topology), call, what is said,
/// what is done.
const ROWS: &[Advice] = &[
    Advice {
        name: "a required key of a table",
        scenario: "[traffic]\nload = 0.3\n",
        call: &["check", "a.toml"],
        says: "add for example `pattern = \"uniform\"`",
        follow: Below("[traffic]", "pattern = \"uniform\""),
    },
    Advice {
        name: "a required load",
        scenario: "[traffic]\npattern = \"uniform\"\n",
        call: &["check", "a.toml"],
        says: "add for example `load = 0.3`",
        follow: Below("[traffic]", "load = 0.3"),
    },
    Advice {
        name: "no workload",
        scenario: "",
        call: &["check", "a.toml"],
        says: "`pattern = \"uniform\"` and `load = 0.3`",
        follow: Append("[traffic]\npattern = \"uniform\"\nload = 0.3\n"),
    },
    Advice {
        name: "both workloads",
        scenario: "[traffic]\npattern = \"uniform\"\nload = 0.3\n[exchange]\npattern = \"all-to-all\"\n",
        call: &["check", "a.toml"],
        says: "keep one",
        follow: Replace("[exchange]\npattern = \"all-to-all\"\n", ""),
    },
    Advice {
        name: "a misspelt key",
        scenario: "[traffic]\npattern = \"uniform\"\nlod = 0.3\n",
        call: &["check", "a.toml"],
        says: "did you mean `load`?",
        follow: Replace("lod", "load"),
    },
    Advice {
        name: "a rate without quotes",
        scenario: "[traffic]\npattern = \"uniform\"\nload = \"30%\"\n",
        call: &["check", "a.toml"],
        says: "0.3",
        follow: Replace("\"30%\"", "0.3"),
    },
    Advice {
        name: "a load beyond injection",
        scenario: "[traffic]\npattern = \"uniform\"\nload = 50\n",
        call: &["check", "a.toml"],
        says: "so `load` can be at most 1.0665",
        follow: Replace("50", "1.0665"),
    },
    Advice {
        name: "an exchange without steps",
        scenario: "[exchange]\npattern = \"uniform\"\nmessage = \"1 KiB\"\n",
        call: &["check", "a.toml"],
        says: "use for example all-to-all",
        follow: Replace("uniform", "all-to-all"),
    },
    Advice {
        name: "a buffer that is too small",
        scenario: "[traffic]\npattern = \"uniform\"\nload = 0.3\n[router]\nbuffer = \"20 flits\"\n",
        call: &["check", "a.toml"],
        says: "`buffer` must be at least \"36 flits\"",
        follow: Replace("20 flits", "36 flits"),
    },
    Advice {
        name: "too many packets a message",
        scenario: "[exchange]\npattern = \"all-to-all\"\nmessage = \"1024 GiB\"\n",
        call: &["check", "a.toml"],
        says: "at most 1099511627520 B",
        follow: Replace("1024 GiB", "1099511627520 B"),
    },
    Advice {
        name: "minimum windows above maximum",
        scenario: "[traffic]\npattern = \"uniform\"\nload = 0.3\n[measure]\nminimum_windows = 30\nmaximum_windows = 20\n",
        call: &["check", "a.toml"],
        says: "raise `maximum_windows`",
        follow: Replace("maximum_windows = 20", "maximum_windows = 30"),
    },
    Advice {
        name: "--set of nothing",
        scenario: "[traffic]\npattern = \"uniform\"\nload = 0.2\n",
        call: &["check", "a.toml", "--set", "traffic.load"],
        says: "write --set KEY=VALUE, for example --set traffic.load=0.3",
        follow: Sets,
    },
    Advice {
        name: "a second pattern",
        scenario: "[traffic]\npattern = { uniform = { include_self = true } }\nload = 0.3\n",
        call: &["check", "a.toml", "--set", "traffic.pattern.tornado={}"],
        says: "to replace the first one, write --set traffic.pattern=tornado",
        follow: Sets,
    },
    Advice {
        name: "a rule beside a table",
        scenario: "[topology.hyperx]\ndimensions = [2, 2]\nterminals = 2\n[routing.agnostic]\nalgorithm = \"up-down\"\n[traffic]\npattern = \"uniform\"\nload = 0.3\n",
        call: &["check", "a.toml", "--set", "routing.rule=minimal-by-hop"],
        says: "to replace the first one, write --set 'routing={ relation = { rule = \"minimal-by-hop\" } }'",
        follow: Sets,
    },
    Advice {
        name: "no sweep",
        scenario: "[traffic]\npattern = \"uniform\"\nload = 0.3\n",
        call: &["sweep", "a.toml", "--dry-run"],
        says: "add for example [sweep.grid] and below it `traffic.load = [0.1, 0.2, 0.3]`",
        follow: Append("[sweep.grid]\ntraffic.load = [0.1, 0.2, 0.3]\n"),
    },
    Advice {
        name: "a sweep of nothing",
        scenario: "[traffic]\npattern = \"uniform\"\nload = 0.3\n[sweep.grid]\n",
        call: &["sweep", "a.toml", "--dry-run"],
        says: "give [sweep.grid] a key, for example `traffic.load = [0.1, 0.2, 0.3]`",
        follow: Below("[sweep.grid]", "traffic.load = [0.1, 0.2, 0.3]"),
    },
    Advice {
        name: "a swept key that is set",
        scenario: "[traffic]\npattern = \"uniform\"\n[sweep.grid]\ntraffic.load = [0.1]\n",
        call: &["sweep", "a.toml", "--dry-run", "--set", "traffic.load=0.2"],
        says: "set the swept values: --set 'sweep.grid.traffic.load=[0.2]'",
        follow: Sets,
    },
    Advice {
        name: "a load that only the sweep gives",
        scenario: "[traffic]\npattern = \"uniform\"\n[sweep.grid]\ntraffic.load = [0.1]\n",
        call: &["run", "a.toml", "--out", "out", "--set", "measure.window=2 us"],
        says: "give it for one run with --set traffic.load=VALUE",
        follow: Replace("[traffic]\n", "[traffic]\nload = 0.1\n"),
    },
    Advice {
        name: "a fabric for which there is no memory",
        scenario: "[topology.torus]\ndimensions = [64, 64, 16]\n[traffic]\npattern = \"neighbor\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "raise FLITLAB_MEMORY",
        follow: Variable,
    },
    Advice {
        name: "a routing for tori on another fabric",
        scenario: "[topology.hyperx]\ndimensions = [3, 3]\n[routing.direction_order]\n[traffic]\n\
                   pattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "for any fabric there are [routing.agnostic]",
        follow: Replace("[routing.direction_order]", "[routing.agnostic]"),
    },
    Advice {
        name: "a bubble under a forwarding table",
        scenario: "[topology.hyperx]\ndimensions = [3, 3]\n[router]\nbubble = true\n[traffic]\n\
                   pattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "leave `bubble` out",
        follow: LeaveOut("bubble"),
    },
    Advice {
        name: "a table that can deadlock",
        scenario: "[topology.switched_torus]\ndimensions = [6]\n[routing.agnostic]\nalgorithm = \"sssp\"\n\
                   [exchange]\npattern = \"all-to-all\"\nmessage = \"64 B\"\n",
        call: &["check", "a.toml"],
        says: "try --set routing.agnostic.algorithm=nue",
        follow: Sets,
    },
    Advice {
        name: "adaptive worms",
        scenario: "[router]\nswitching = \"wormhole\"\nbuffer = \"4 flits\"\n[adapter]\n\
                   injection_buffer = \"4 flits\"\n[link]\nsharing = \"flit\"\n[routing.adaptive]\n[traffic]\n\
                   pattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "--set link.sharing.flit.virtual_channel_allocation=atomic --set routing.adaptive.escape=dateline",
        follow: Sets,
    },
    Advice {
        name: "adaptive worms in virtual channels that suit no datelines",
        scenario: "[router]\nswitching = \"wormhole\"\nbuffer = \"4 flits\"\n[adapter]\n\
                   injection_buffer = \"4 flits\"\n[link]\nsharing = \"flit\"\n[routing.adaptive]\n\
                   virtual_channels = { adaptive = 3 }\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "--set routing.adaptive.escape=dateline --set routing.adaptive.virtual_channels={}",
        follow: Sets,
    },
    Advice {
        name: "worms without a dateline",
        scenario: "[router]\nswitching = \"wormhole\"\nbuffer = \"4 flits\"\nvirtual_channels = 1\n[adapter]\n\
                   injection_buffer = \"4 flits\"\n[link]\nsharing = \"flit\"\n[traffic]\n\
                   pattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "try --set routing.direction_order.dateline=true --set router.virtual_channels=2",
        follow: Sets,
    },
    Advice {
        name: "worms by a table of sources",
        scenario: "[router]\nswitching = \"wormhole\"\nbuffer = \"4 flits\"\n[adapter]\n\
                   injection_buffer = \"4 flits\"\n[link]\nsharing = \"flit\"\n[routing.angara]\n[traffic]\n\
                   pattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "rings deadlock without it; try --set router.switching=virtual-cut-through",
        follow: Sets,
    },
    Advice {
        name: "no bubble, and room for one",
        scenario: "[router]\nbubble = false\nbuffer = \"36 flits\"\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "the bubble rule is switched off, and rings deadlock without it; try --set router.bubble=true",
        follow: Sets,
    },
    Advice {
        name: "no bubble, and no room for one",
        scenario: "[router]\nbubble = false\nbuffer = \"20 flits\"\n[link]\nsharing = \"flit\"\n[traffic]\n\
                   pattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "nothing keeps rings from deadlock; try --set routing.direction_order.dateline=true",
        follow: Sets,
    },
    Advice {
        name: "adaptive routing without a bubble",
        scenario: "[router]\nbubble = false\n[routing.outflank]\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "try --set router.bubble=true",
        follow: Sets,
    },
    Advice {
        name: "worms that escape",
        scenario: "[router]\nswitching = \"wormhole\"\nbuffer = \"4 flits\"\n[link]\nsharing = \"flit\"\n\
                   [routing.relation]\nrule = \"minimal-nue\"\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "one packet at a time: --set link.sharing.flit.virtual_channel_allocation=atomic",
        follow: Sets,
    },
    Advice {
        name: "a relation that is not proved",
        scenario: "[routing.relation]\nrule = \"minimal\"\nunproved = true\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "try --set routing.rule=up-down",
        follow: Sets,
    },
    Advice {
        name: "an exchange without pattern",
        scenario: "[exchange]\nmessage = \"1 KiB\"\n",
        call: &["check", "a.toml"],
        says: "add for example `pattern = \"all-to-all\"`",
        follow: Below("[exchange]", "pattern = \"all-to-all\""),
    },
    Advice {
        name: "detours on a mesh: another routing",
        scenario: "[topology.torus]\ndimensions = [4, 4]\nopen = [\"x\", \"y\"]\n[routing.pick_orthant]\n[traffic]\n\
                   pattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "nothing but [routing.adaptive] is left of it: write that, or [routing.outflank]",
        follow: Replace("[routing.pick_orthant]", "[routing.outflank]"),
    },
    Advice {
        name: "detours on a mesh: a torus",
        scenario: "[topology.torus]\ndimensions = [4, 4]\nopen = [\"x\", \"y\"]\n[routing.pick_orthant]\n[traffic]\n\
                   pattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "or use a torus",
        follow: LeaveOut("open"),
    },
    Advice {
        name: "a routing by the name of its paper",
        scenario: "[routing.abr]\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "did you mean `adaptive`?",
        follow: Replace("abr", "adaptive"),
    },
    Advice {
        name: "a rule as a routing",
        scenario: "[routing.cqr]\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "write [routing.pick_orthant] and below it `rule = \"cqr\"`",
        follow: Replace("[routing.cqr]", "[routing.pick_orthant]\nrule = \"cqr\""),
    },
    Advice {
        name: "an algorithm as a routing",
        scenario: "[routing.nue]\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "algorithm of [routing.agnostic]: write that and below it `algorithm = \"nue\"`",
        follow: Replace("[routing.nue]", "[routing.agnostic]\nalgorithm = \"nue\""),
    },
    Advice {
        name: "a mesh",
        scenario: "[topology.mesh]\ndimensions = [4, 4]\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "below `dimensions = [4, 4]` write `open = [\"x\", \"y\"]`",
        follow: Replace(
            "[topology.mesh]\ndimensions = [4, 4]",
            "[topology.torus]\ndimensions = [4, 4]\nopen = [\"x\", \"y\"]",
        ),
    },
    Advice {
        name: "sizes in the place of a table",
        scenario: "[topology]\ntorus = [4, 4]\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "write [topology.torus] and below it `dimensions = [4, 4]`",
        follow: Replace("[topology]\ntorus = [4, 4]", "[topology.torus]\ndimensions = [4, 4]"),
    },
    Advice {
        name: "a rule that the proof refuses on a Cascade",
        scenario: "[topology.cascade]\nrows = 2\ncolumns = 3\nglobal_cables = 6\n[routing]\nrule = \"par\"\n\
                   [traffic]\npattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "choose one that can't deadlock on any fabric, such as `rule = \"up-down\"`;",
        follow: Replace("\"par\"", "\"up-down\""),
    },
    Advice {
        name: "a rule that decides again, and that the proof refuses",
        scenario: "[topology.dragonfly]\ngroups = 9\ngroup_size = 4\nglobal_cables = 2\n[router]\nvirtual_channels = 2\n\
                   [routing]\nrule = \"minimal\"\ndecides_again = \"1 us\"\n[traffic]\npattern = \"uniform\"\n\
                   load = 0.1\n",
        call: &["check", "a.toml"],
        says: "such as `rule = \"up-down\"` without `decides_again`;",
        follow: Replace("\"minimal\"\ndecides_again = \"1 us\"\n", "\"up-down\"\n"),
    },
    Advice {
        name: "a rule that can deadlock and is used unproved",
        scenario: "[topology.dragonfly]\ngroups = 9\ngroup_size = 4\nglobal_cables = 2\n[routing]\nrule = \"minimal\"\n\
                   unproved = true\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "try --set routing.rule=up-down",
        follow: Sets,
    },
    Advice {
        name: "a rule of groups on a fabric without any",
        scenario: "[topology.switched_torus]\ndimensions = [8, 8]\n[routing]\nrule = \"par\"\n[traffic]\n\
                   pattern = \"uniform\"\nload = 0.1\n",
        call: &["check", "a.toml"],
        says: "or up-down, which needs one",
        follow: Replace("\"par\"", "\"up-down\""),
    },
    Advice {
        name: "the two ways to say how figures look",
        scenario: "[traffic]\npattern = \"uniform\"\n[sweep]\nfigures = \"traffic.pattern\"\n[sweep.grid]\n\
                   traffic.load = [0.1, 0.2]\ntraffic.pattern = [\"uniform\", \"tornado\"]\n[sweep.figures]\n\
                   width = \"89mm\"\n",
        call: &["check", "a.toml"],
        says: "write there `each = \"traffic.pattern\"`",
        follow: Replace(
            "figures = \"traffic.pattern\"\n[sweep.grid]\n\
             traffic.load = [0.1, 0.2]\ntraffic.pattern = [\"uniform\", \"tornado\"]\n[sweep.figures]\n",
            "[sweep.grid]\ntraffic.load = [0.1, 0.2]\ntraffic.pattern = [\"uniform\", \"tornado\"]\n\
             [sweep.figures]\neach = \"traffic.pattern\"\n",
        ),
    },
];

/// What a message says to set: each `--set KEY=VALUE`, quotes of the shell taken away.
pub fn settings(said: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let lines = said.lines().filter(|line| !line.contains(" | "));
    for rest in lines.flat_map(|line| line.split("--set ").skip(1)) {
        let setting = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.split('\'').next().unwrap(),
            None => rest.split([' ', ',', ';']).next().unwrap(),
        };
        if setting.contains('=')
            && !setting.starts_with("KEY=")
            && !found.iter().any(|it| it == setting)
        {
            found.push(setting.to_owned());
        }
    }
    found
}

fn whole(scenario: &str) -> String {
    if scenario.contains("[topology") { scenario.into() } else { format!("{TORUS}{scenario}") }
}

#[test]
fn every_piece_of_advice_works_when_it_is_followed() {
    let place = Workplace::new("robust_advice");
    for Advice { name, scenario, call, says, follow } in ROWS {
        let text = whole(scenario);
        place.write("a.toml", &text);
        let little =
            if matches!(follow, Variable) { &[("FLITLAB_MEMORY", "8 MiB")][..] } else { &[] };
        let (code, said) = place.soon(call, little);
        assert!(code == 2 || code == 4, "{name}: {code} {said}");
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(says), "{name}: {said}");
        let mut call: Vec<String> = call.iter().map(|&word| word.to_owned()).collect();
        let mut variables = Vec::new();
        match follow {
            Sets => {
                // What was set wrongly is set rightly.
                if let Some(at) = call.iter().position(|word| word == "--set") {
                    call.drain(at..at + 2);
                }
                let sets = settings(&said);
                assert!(!sets.is_empty(), "{name}: {said}");
                sets.into_iter().for_each(|set| call.extend(["--set".into(), set]));
            }
            Replace(old, new) => {
                assert!(text.contains(old), "{name}");
                place.write("a.toml", &text.replace(old, new));
            }
            Below(line, added) => {
                place.write("a.toml", &text.replacen(line, &format!("{line}\n{added}"), 1));
            }
            Append(added) => place.write("a.toml", &format!("{text}{added}")),
            LeaveOut(part) => {
                let kept = text.lines().filter(|line| !line.contains(part));
                place.write("a.toml", &kept.map(|line| format!("{line}\n")).collect::<String>());
            }
            Variable => variables.push(("FLITLAB_MEMORY", "1 GiB")),
        }
        let call: Vec<&str> = call.iter().map(String::as_str).collect();
        let (code, said) = place.soon(&call, &variables);
        assert_eq!(code, 0, "{name}, followed: {said}");
    }
}
