//! Rates and latencies of cables that differ from one another.
//!
//! A fabric is built before the parameters of its links are known. So the class of a cable says
//! what fraction of `link.rate` it has, which is the rate of the fastest cables. Both channels of a
//! cable are of one class.

use std::fmt;

use super::fabric::Channel;
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Picoseconds, Rate, rate_text};

/// Most classes of cables that a fabric can have.
const MAX_CLASSES: usize = 80;

/// A class of cables: their rate and latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CableClass {
    /// Data rate of each direction, by itself or as a share of `link.rate`.
    pub rate: CableRate,
    /// Latency of each direction; `None` for `link.latency`.
    pub latency: Option<Picoseconds>,
}

/// The rate of a cable, relative to `link.rate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CableRate {
    /// The rate is `link.rate`.
    #[default]
    Link,
    /// The rate is `link.rate` times the ratio of two speeds: the cable's and the fastest cables'.
    Share {
        /// Speed of the cable itself.
        cable: CableSpeed,
        /// Speed of the fastest cables of the fabric; never below `cable`.
        fastest: CableSpeed,
    },
}

impl CableRate {
    /// The rate of each direction, if `link` is the rate of the fastest cables.
    pub fn of(self, link: Rate) -> Rate {
        match self {
            Self::Link => link,
            Self::Share { cable, fastest } => {
                let (own, most) = (u128::from(cable.data().0), u128::from(fastest.data().0));
                let rate = (u128::from(link.0) * own + most / 2) / most;
                Rate(u64::try_from(rate.max(1)).expect("no faster than the fastest"))
            }
        }
    }

    /// A load scaled by [`slowness`](Self::slowness), rounded up.
    pub fn slowed(self, load: u64) -> u64 {
        match self {
            Self::Link => load,
            Self::Share { cable, fastest } => {
                let (own, most) = (u128::from(cable.data().0), u128::from(fastest.data().0));
                narrow((u128::from(load) * most).div_ceil(own))
            }
        }
    }

    /// Time of a flit on the cable as a multiple of that on the fabric's fastest cables; at least
    /// 1.
    pub fn slowness(self) -> f64 {
        match self {
            Self::Link => 1.0,
            Self::Share { cable, fastest } => fastest.data().0 as f64 / cable.data().0 as f64,
        }
    }
}

/// The speed of a cable by itself, independent of `link.rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CableSpeed {
    /// InfiniBand lanes of known speed.
    Lanes(LaneRate),
    /// A data rate, where the cable is not InfiniBand's.
    Data(Rate),
}

impl CableSpeed {
    /// Data rate of each direction.
    pub fn data(self) -> Rate {
        match self {
            Self::Lanes(lanes) => lanes.data(),
            Self::Data(rate) => rate,
        }
    }
}

impl fmt::Display for CableSpeed {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lanes(lanes) => lanes.fmt(to),
            Self::Data(rate) => to.write_str(&rate_text(*rate)),
        }
    }
}

/// The speed of one lane of an InfiniBand cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaneSpeed {
    /// Single data rate: 2 Gb/s of data.
    Sdr,
    /// Double data rate: 4 Gb/s of data.
    Ddr,
    /// Quad data rate: 8 Gb/s of data.
    Qdr,
    /// Fourteen data rate at the signals of 10 Gb/s Ethernet: 10 Gb/s of data.
    Fdr10,
    /// Fourteen data rate: 13.64 Gb/s of data.
    Fdr,
    /// Enhanced data rate: 25 Gb/s of data.
    Edr,
    /// High data rate: 50 Gb/s of data.
    Hdr,
    /// Next data rate: 100 Gb/s of data.
    Ndr,
    /// Extreme data rate: 200 Gb/s of data.
    Xdr,
}

impl LaneSpeed {
    /// All speeds, the slowest first: the name, signals in b/s, and data in b/s. Data are 4/5 of
    /// the signals with 8b/10b coding and 32/33 with 64b/66b coding. From HDR on, forward error
    /// correction and coding leave 16/17.
    pub(super) const ALL: [(Self, &str, u64, u64); 9] = [
        (Self::Sdr, "SDR", 2_500_000_000, 2_000_000_000),
        (Self::Ddr, "DDR", 5_000_000_000, 4_000_000_000),
        (Self::Qdr, "QDR", 10_000_000_000, 8_000_000_000),
        (Self::Fdr10, "FDR10", 10_312_500_000, 10_000_000_000),
        (Self::Fdr, "FDR", 14_062_500_000, 13_636_363_636),
        (Self::Edr, "EDR", 25_781_250_000, 25_000_000_000),
        (Self::Hdr, "HDR", 53_125_000_000, 50_000_000_000),
        (Self::Ndr, "NDR", 106_250_000_000, 100_000_000_000),
        (Self::Xdr, "XDR", 212_500_000_000, 200_000_000_000),
    ];

    /// The speed of this name; `None` if there is none.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|it| it.1 == name).map(|it| it.0)
    }
}

/// Lanes of an InfiniBand cable and their speed, such as `4xEDR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneRate {
    /// Lanes side by side: 1, 2, 4, 8 or 12.
    pub lanes: u8,
    /// Speed of each lane.
    pub speed: LaneSpeed,
}

impl LaneRate {
    /// Data rate of each direction.
    pub fn data(self) -> Rate {
        Rate(u64::from(self.lanes) * LaneSpeed::ALL[self.speed as usize].3)
    }
}

impl fmt::Display for LaneRate {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}x{}", self.lanes, LaneSpeed::ALL[self.speed as usize].1)
    }
}

/// The class of cables on which a terminal is where its cable is of no kind: adapters have rates of
/// their own, which no cable lowers.
pub(super) fn usual(classes: &[CableClass]) -> CableClass {
    let fastest = classes.iter().find(|class| class.rate.slowness() == 1.0);
    *fastest.unwrap_or(&classes[0])
}

/// The class of each channel and each terminal.
#[derive(Clone, Debug)]
pub(super) struct Cables {
    /// The classes; at least one.
    classes: Vec<CableClass>,
    /// By channel; empty if there is one class only.
    of_channel: Vec<u8>,
    /// By terminal; empty if there is one class only.
    of_terminal: Vec<u8>,
}

impl Default for Cables {
    fn default() -> Self {
        Self { classes: vec![CableClass::default()], of_channel: vec![], of_terminal: vec![] }
    }
}

impl Cables {
    /// The classes of these channels and terminals.
    ///
    /// # Panics
    /// If there are more than 80 classes.
    pub fn new(
        of_channel: impl Iterator<Item = CableClass>,
        of_terminal: impl Iterator<Item = CableClass>,
    ) -> Self {
        let mut classes: Vec<CableClass> = Vec::new();
        let mut number = |class: CableClass| -> u8 {
            let known = classes.iter().position(|it| *it == class);
            narrow(known.unwrap_or_else(|| {
                classes.push(class);
                classes.len() - 1
            }))
        };
        let of_channel: Vec<u8> = of_channel.map(&mut number).collect();
        let of_terminal: Vec<u8> = of_terminal.map(&mut number).collect();
        assert!(classes.len() <= MAX_CLASSES, "{} classes of cables", classes.len());
        match classes.len() {
            0 => Self::default(),
            1 => Self { classes, of_channel: Vec::new(), of_terminal: Vec::new() },
            _ => Self { classes, of_channel, of_terminal },
        }
    }

    pub fn classes(&self) -> &[CableClass] {
        &self.classes
    }

    pub fn of_channel(&self, channel: Channel) -> u8 {
        self.of_channel.get(channel as usize).copied().unwrap_or(0)
    }

    pub fn of_terminal(&self, terminal: u32) -> u8 {
        self.of_terminal.get(terminal as usize).copied().unwrap_or(0)
    }
}
