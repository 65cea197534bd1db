//! Rates of cables in a netlist.
//!
//! `ibnetdiscover` writes lanes and speed after a port's line, such as `4xEDR`. In ibsim's own form
//! `w=` gives the lanes. `s=` and `e=` give the speeds that the port is enabled for, as bits:
//!
//! - `s=1`, `2` and `4` are SDR, DDR and QDR (`s=0` is QDR as well);
//! - `e=1`, `2`, `4` and `8` are FDR, EDR, HDR and NDR;
//! - other numbers after `s=` are a lane's Gb/s, such as `s=25.78`.
//!
//! The defaults are 4 lanes and SDR, as in ibsim. If the two ends of a cable differ, the lesser
//! value holds.

use std::fmt::Write as _;

use crate::{CableClass, CableRate, CableSpeed, Fabric, LaneRate, LaneSpeed};

/// Lanes and speed as one end of a cable states them; `None` where it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stated {
    lanes: Option<u8>,
    speed: Option<LaneSpeed>,
}

/// The rate of cables without any statement, as in ibsim.
const USUAL: LaneRate = LaneRate { lanes: 4, speed: LaneSpeed::Sdr };

const WIDTHS: [u8; 5] = [1, 2, 4, 8, 12];

/// Relative difference up to which a number is taken for a speed's rate: it is often cut to few
/// digits.
const NEAR: f64 = 0.01;

impl Stated {
    /// Reads the text after the two ends in a port's line.
    ///
    /// # Errors
    /// If a width or a speed does not exist.
    pub fn read(rest: &str) -> Result<Self, String> {
        let (options, comment) = rest.split_once('#').unwrap_or((rest, ""));
        let mut stated = Self::default();
        for word in options.split_whitespace() {
            match word.split_once('=') {
                Some(("w", value)) => stated.lanes = Some(lanes(value)?),
                Some(("s", value)) => stated.speed = stated.speed.max(Some(speed(value)?)),
                Some(("e", value)) => stated.speed = stated.speed.max(extended(value)?),
                _ => {}
            }
        }
        let behind = comment.rsplit('"').next().unwrap_or_default();
        let discovered = behind.split_whitespace().find_map(|word| {
            let (width, speed) = word.split_once('x')?;
            Some((lanes(width).ok()?, LaneSpeed::named(speed)?))
        });
        if let Some((lanes, speed)) = discovered {
            stated = Self { lanes: Some(lanes), speed: Some(speed) };
        }
        Ok(stated)
    }

    /// The rate that both ends give together; `None` if neither states anything.
    pub fn of_cable(self, other: Self) -> Option<LaneRate> {
        let lanes = [self.lanes, other.lanes].into_iter().flatten().min();
        let speed = [self.speed, other.speed].into_iter().flatten().min();
        (lanes.is_some() || speed.is_some()).then(|| LaneRate {
            lanes: lanes.unwrap_or(USUAL.lanes),
            speed: speed.unwrap_or(USUAL.speed),
        })
    }
}

fn lanes(value: &str) -> Result<u8, String> {
    let lanes = value.parse().ok().filter(|lanes| WIDTHS.contains(lanes));
    lanes.ok_or_else(|| format!("w={value} is no width: cables have 1, 2, 4, 8 or 12 lanes"))
}

fn speed(value: &str) -> Result<LaneSpeed, String> {
    let by_bits = match value.parse() {
        Ok(1) => Some(LaneSpeed::Sdr),
        Ok(2 | 3) => Some(LaneSpeed::Ddr),
        Ok(0 | 4..=7) => Some(LaneSpeed::Qdr),
        Ok(_) | Err(_) => None,
    };
    let by_rate = || {
        let rate = value.parse::<f64>().ok()? * 1e9;
        let near = |other: u64| (rate - other as f64).abs() <= NEAR * other as f64;
        let all = || LaneSpeed::ALL.iter();
        let found = all().find(|it| near(it.2)).or_else(|| all().find(|it| near(it.3)));
        found.map(|it| it.0)
    };
    by_bits.or_else(by_rate).ok_or_else(|| {
        format!("s={value} is no speed: write ibsim's 1 (SDR), 2 (DDR) or 4 (QDR), or a lane's Gb/s such as 25.78")
    })
}

/// The speed of an extended number; `None` for 0.
fn extended(value: &str) -> Result<Option<LaneSpeed>, String> {
    match value.parse() {
        Ok(0) => Ok(None),
        Ok(1) => Ok(Some(LaneSpeed::Fdr)),
        Ok(2 | 3) => Ok(Some(LaneSpeed::Edr)),
        Ok(4..=7) => Ok(Some(LaneSpeed::Hdr)),
        Ok(8..=15) => Ok(Some(LaneSpeed::Ndr)),
        Ok(_) | Err(_) => {
            let message =
                "is no extended speed: write ibsim's 1 (FDR), 2 (EDR), 4 (HDR) or 8 (NDR)";
            Err(format!("e={value} {message}"))
        }
    }
}

/// The fabric with these rates of cables, by channel and by terminal. Cables without a rate get the
/// usual one. If no cable has a rate, the fabric stays as it is.
pub(super) fn with_rates(
    fabric: Fabric,
    of_channel: &[Option<LaneRate>],
    of_terminal: &[Option<LaneRate>],
) -> Fabric {
    let stated = of_channel.iter().chain(of_terminal);
    if stated.clone().all(Option::is_none) {
        return fabric;
    }
    let rates = stated.map(|rate| rate.unwrap_or(USUAL));
    let fastest = rates.max_by_key(|rate| rate.data()).unwrap_or(USUAL);
    let class = |rate: Option<LaneRate>| CableClass {
        rate: CableRate::Share {
            cable: CableSpeed::Lanes(rate.unwrap_or(USUAL)),
            fastest: CableSpeed::Lanes(fastest),
        },
        latency: None,
    };
    fabric.with_cables(
        |channel| class(of_channel[channel as usize]),
        |terminal| class(of_terminal[terminal as usize]),
    )
}

/// The rate to write for a cable; the usual one if it has none in lanes.
pub(super) fn written(rate: CableRate) -> LaneRate {
    match rate {
        CableRate::Share { cable: CableSpeed::Lanes(rate), .. } => rate,
        CableRate::Share { .. } | CableRate::Link => USUAL,
    }
}

/// A line for the head of a netlist that can't express the rates of its cables.
pub(super) fn remark(fabric: &Fabric) -> &'static str {
    let is_sayable = |class: &CableClass| {
        let rate = class.rate;
        let has_lanes = matches!(rate, CableRate::Share { cable: CableSpeed::Lanes(_), .. });
        class.latency.is_none() && (has_lanes || rate == CableRate::Link)
    };
    if fabric.cable_classes().iter().all(is_sayable) {
        ""
    } else {
        "# The cables' rates and latencies are not in this file.\n"
    }
}

/// The options that give a rate in ibsim's form, after the ends of a port's line.
pub(super) fn options(rate: CableRate) -> String {
    let LaneRate { lanes, speed } = written(rate);
    let mut text = String::new();
    if lanes != USUAL.lanes {
        write!(text, "\tw={lanes}").expect("a string");
    }
    text += match speed {
        LaneSpeed::Sdr => "",
        LaneSpeed::Ddr => "\ts=2",
        LaneSpeed::Qdr => "\ts=4",
        LaneSpeed::Fdr10 => "\ts=10.3125",
        LaneSpeed::Fdr => "\te=1",
        LaneSpeed::Edr => "\te=2",
        LaneSpeed::Hdr => "\te=4",
        LaneSpeed::Ndr => "\te=8",
        LaneSpeed::Xdr => "\ts=212.5",
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(rest: &str) -> Option<String> {
        let stated = Stated::read(rest).unwrap();
        stated.of_cable(Stated::default()).map(|rate| rate.to_string())
    }

    #[test]
    fn widths_and_speeds_are_read_as_ibnetdiscover_and_ibsim_write_them() {
        for (rest, read) in [
            ("\t\t# \"right\" lid 8 4xEDR", "4xEDR"),
            (" # lid 1 lmc 0 \"a 12xSDR node\" lid 7 1xSDR", "1xSDR"),
            ("# \"S\" lid 3 2xHDR", "2xHDR"),
            ("# \"S\" lid 3 4xFDR10", "4xFDR10"),
            (" w=1", "1xSDR"),
            ("w=12 s=4", "12xQDR"),
            ("w=4 s=25.78", "4xEDR"),
            ("s=7", "4xQDR"),
            ("s=0", "4xQDR"),
            ("s=2.5", "4xSDR"),
            ("s=5.0", "4xDDR"),
            ("s=10", "4xQDR"),
            ("s=14.06", "4xFDR"),
            ("s=50", "4xHDR"),
            ("s=7 e=2", "4xEDR"),
            ("e=15 w=2", "2xNDR"),
        ] {
            assert_eq!(rate(rest).as_deref(), Some(read), "{rest}");
        }
        for rest in ["", "# \"S\" lid 3", "# \"4xEDR\" lid 3", "speed=3", "# \"S\" 4xNEW 3xSDR"] {
            assert_eq!(rate(rest), None, "{rest}");
        }
        for wrong in ["w=3", "w=", "w=x", "s=13", "s=-1", "s=fast", "e=16", "s=nan"] {
            let message = Stated::read(wrong).unwrap_err();
            assert!(message.starts_with(wrong), "{message}");
        }
    }

    #[test]
    fn the_ends_of_a_cable_agree_on_the_lesser_width_and_speed() {
        let end = |rest| Stated::read(rest).unwrap();
        let both = |one, other| end(one).of_cable(end(other)).map(|rate| rate.to_string());
        assert_eq!(both("w=4 s=4", "w=1").as_deref(), Some("1xQDR"));
        assert_eq!(both("# \"S\" lid 1 4xEDR", "# \"S\" lid 2 12xDDR").as_deref(), Some("4xDDR"));
        assert_eq!(both("", "s=2").as_deref(), Some("4xDDR"));
        assert_eq!(both("", ""), None);
    }

    #[test]
    fn what_is_written_for_a_rate_is_read_as_the_same() {
        for lanes in WIDTHS {
            for (speed, ..) in LaneSpeed::ALL {
                let cable = LaneRate { lanes, speed };
                let speed = CableSpeed::Lanes(cable);
                let text = options(CableRate::Share { cable: speed, fastest: speed });
                let read = Stated::read(&text).unwrap().of_cable(Stated::default());
                assert_eq!(read.unwrap_or(USUAL), cable, "{text}");
            }
        }
    }
}
