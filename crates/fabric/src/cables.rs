//! Rates and latencies of cables that differ from one another.
//!
//! A fabric is built before the parameters of its links are known. So the class of a cable says
//! what fraction of `link.rate` it has, which is the rate of the fastest cables. Both channels of a
//! cable are of one class.

use std::fmt;

use super::fabric::Channel;
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Picoseconds, Rate, rate_text};

/// The most classes that a fabric can have.
const MOST_CLASSES: usize = 80;

/// A rate and a latency that cables can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CableClass {
    /// Data rate of each direction, by itself or as a share of `link.rate`.
    pub rate: CableRate,
    /// In place of `link.latency`, if it is given.
    pub latency: Option<Picoseconds>,
}

/// The rate of a cable beside `link.rate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CableRate {
    /// It is `link.rate`.
    #[default]
    Link,
    /// It is to `link.rate` as that of the cable is to that of the fabric's fastest cables.
    Share {
        /// Speed of the cable itself.
        cable: CableSpeed,
        /// Speed of the fastest cables of the fabric; never below `cable`.
        fastest: CableSpeed,
    },
}

impl CableRate {
    /// The rate in each direction where that of links is `link`.
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

    /// A load that counts as many times as it takes longer than on the fastest cables, rounded up.
    pub fn slowed(self, load: u64) -> u64 {
        match self {
            Self::Link => load,
            Self::Share { cable, fastest } => {
                let (own, most) = (u128::from(cable.data().0), u128::from(fastest.data().0));
                narrow((u128::from(load) * most).div_ceil(own))
            }
        }
    }

    /// How many times as long something takes as on the fabric's fastest cables; 1 at least.
    pub fn slowness(self) -> f64 {
        match self {
            Self::Link => 1.0,
            Self::Share { cable, fastest } => fastest.data().0 as f64 / cable.data().0 as f64,
        }
    }
}

/// The rate of a cable by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CableSpeed {
    /// InfiniBand lanes of known speed.
    Lanes(LaneRate),
    /// A data rate, where the cable is none of InfiniBand.
    Data(Rate),
}

impl CableSpeed {
    /// The data that it carries in each direction.
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

/// How fast a lane of an InfiniBand cable is.
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
    /// All, the slowest first: the name, signals in b/s, and data in b/s, which 8b/10b coding makes
    /// 4/5 of the signals, 64b/66b coding 32/33, and from HDR on forward error correction with
    /// coding 16/17.
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

    /// The one of this name.
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
    /// The data that it carries in each direction.
    pub fn data(self) -> Rate {
        Rate(u64::from(self.lanes) * LaneSpeed::ALL[self.speed as usize].3)
    }
}

impl fmt::Display for LaneRate {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}x{}", self.lanes, LaneSpeed::ALL[self.speed as usize].1)
    }
}

/// Which class each channel and each terminal has.
#[derive(Clone, Debug)]
pub(super) struct Cables {
    /// One at least.
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
    /// Those of these channels and terminals.
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
        assert!(classes.len() <= MOST_CLASSES, "{} classes of cables", classes.len());
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
