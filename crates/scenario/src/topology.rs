//! The fabric of a scenario.

use std::fmt;
use std::sync::Arc;

use flitlab_base::units::Rate;
use flitlab_fabric::Places;
use flitlab_fabric::builders::ANY_TABLE;
use flitlab_fabric::netlist::{Adapter, LeftOut, Netlist, Switch};
use flitlab_fabric::{
    CableClass, CableRate, CableSpeed, Fabric, Failures, Faults, TopologyError, Torus,
};

/// The fabric of a scenario, and its failures.
#[derive(Clone, Debug, PartialEq)]
pub enum TopologySpec {
    /// Angara's torus: directions for ports, one terminal a router.
    Torus(Torus, Faults),
    /// Switches and terminals.
    Switched(Arc<SwitchedSpec>),
}

/// A fabric of switches as it is described, and as it is without failures.
#[derive(Clone, Debug)]
pub struct SwitchedSpec {
    pub plan: Plan,
    pub failures: Failures,
    /// Without failures; follows from the plan.
    pub whole: Fabric,
}

/// Where a fabric of switches comes from.
#[derive(Clone, Debug)]
pub enum Plan {
    /// By a builder.
    Built {
        /// Its name without an article: `6x5x5 torus of switches`.
        name: String,
        /// The keys that it was built from, each with its path and value.
        keys: Vec<(String, String)>,
        /// See [`BuilderKind::usual_table`](flitlab_fabric::builders::BuilderKind::usual_table).
        usual_table: fn(u8) -> &'static str,
    },
    Netlist(NetlistFile),
}

/// A netlist that was read from a file.
#[derive(Clone, Debug)]
pub struct NetlistFile {
    /// The file's name, without folders.
    pub name: String,
    /// By router.
    pub switches: Vec<Switch>,
    /// By terminal.
    pub adapters: Vec<Adapter>,
    /// Ports of adapters that are no terminals.
    pub left_out: Vec<LeftOut>,
    /// What a user is to know of the file, a sentence or two each.
    pub notes: Vec<String>,
    /// Of its content and of what is left out of it.
    pub(super) hash: String,
}

impl PartialEq for SwitchedSpec {
    fn eq(&self, other: &Self) -> bool {
        let plans = match (&self.plan, &other.plan) {
            (Plan::Built { keys: one, .. }, Plan::Built { keys: other, .. }) => one == other,
            (Plan::Netlist(one), Plan::Netlist(other)) => one.hash == other.hash,
            _ => false,
        };
        plans && self.failures == other.failures
    }
}

impl TopologySpec {
    /// The fabric, without what has failed.
    ///
    /// # Errors
    /// If two live terminals are left without a path, or as much as is asked can't fail at random.
    pub fn fabric(&self) -> Result<Fabric, TopologyError> {
        match self {
            Self::Torus(torus, faults) => torus.fabric(faults),
            Self::Switched(spec) => spec.failures.apply(&spec.whole),
        }
    }

    /// The algorithm of `[routing.agnostic]` that makes the table where none is named.
    pub(super) fn usual_table(&self, vcs: u8) -> &'static str {
        match self {
            Self::Switched(spec) => match spec.plan {
                Plan::Built { usual_table, .. } => usual_table(vcs),
                Plan::Netlist(_) => ANY_TABLE(vcs),
            },
            Self::Torus(..) => ANY_TABLE(vcs),
        }
    }

    /// The classes that cables are of.
    pub fn cable_classes(&self) -> Vec<CableClass> {
        match self {
            Self::Torus(torus, _) => torus.cable_classes(),
            Self::Switched(spec) => spec.whole.cable_classes().to_vec(),
        }
    }

    /// The rate of the fastest cables, if they have rates in bits a second.
    pub fn fastest_rate(&self) -> Option<Rate> {
        self.cable_classes().iter().find_map(|class| match class.rate {
            CableRate::Share { fastest: CableSpeed::Data(rate), .. } => Some(rate),
            _ => None,
        })
    }

    /// The path of its key `rates` or `latencies`; `None` if cables have none from such a key.
    pub(super) fn cable_key(&self, name: &str) -> Option<String> {
        match self {
            Self::Torus(..) => Some(format!("topology.torus.{name}")),
            Self::Switched(spec) => match &spec.plan {
                Plan::Built { keys, .. } => {
                    let mut paths = keys.iter().map(|key| &key.0);
                    paths.find(|path| path.rsplit('.').next() == Some(name)).cloned()
                }
                Plan::Netlist(_) => None,
            },
        }
    }

    /// What a user is to know of the file that describes it, a sentence or two each.
    pub fn notes(&self) -> &[String] {
        match self {
            Self::Switched(spec) => match &spec.plan {
                Plan::Netlist(file) => &file.notes,
                Plan::Built { .. } => &[],
            },
            Self::Torus(..) => &[],
        }
    }

    /// Returns the names of its nodes.
    pub(super) fn places(&self) -> Places<'_> {
        match self {
            Self::Torus(torus, _) => Places::Torus(torus),
            Self::Switched(spec) => Places::Terminals(&spec.whole),
        }
    }

    /// The torus whose ports are its directions, and what it lacks; `None` for other fabrics.
    pub fn torus(&self) -> Option<(&Torus, &Faults)> {
        match self {
            Self::Torus(torus, faults) => Some((torus, faults)),
            Self::Switched(_) => None,
        }
    }

    /// The fabric with the identifiers that its netlist gives to its parts, else with those that
    /// ibsim would give them. Failed parts keep theirs.
    ///
    /// # Errors
    /// As [`Self::fabric`].
    pub fn netlist(&self) -> Result<Netlist, TopologyError> {
        let fabric = self.fabric()?;
        let whole = match self {
            Self::Torus(torus, _) => Netlist::of(torus.fabric(&Faults::default())?),
            Self::Switched(spec) => match &spec.plan {
                Plan::Built { .. } => Netlist::of(spec.whole.clone()),
                Plan::Netlist(file) => {
                    let (switches, adapters) = (file.switches.clone(), file.adapters.clone());
                    let left_out = file.left_out.clone();
                    return Ok(Netlist { fabric, switches, adapters, left_out, messages: 0 });
                }
            },
        };
        Ok(Netlist { fabric, ..whole })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Built { name, .. } => formatter.write_str(name),
            Self::Netlist(file) => {
                write!(formatter, "{} of {} switches", file.name, file.switches.len())
            }
        }
    }
}
