//! The probability that a packet gets across a channel whose bits err.

use super::{Parameters, Resend};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::CableClass;

/// The effect of errors on the largest packets on a channel between routers that errs, or on flits
/// where links are shared flit by flit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage {
    /// The probability that a transmission is not damaged.
    pub probability: f64,
    /// The approximate share of the channel's rate that is left for packets that get across. The
    /// rest goes into retransmissions, or is lost to waits for acknowledgements.
    pub rate: f64,
}

impl Passage {
    /// The mean number of transmissions until a packet gets across; infinite if it never does.
    pub fn sendings(&self) -> f64 {
        1.0 / self.probability
    }
}

impl Parameters {
    /// The worst passage of the largest packets, or of flits, across channels that err, over cables of these
    /// classes; `None` where links do not err.
    ///
    /// A packet is sound if none of its bits errs, and if no burst lasts at any time of its
    /// transmission: none begins in that time, or by a burst's length before it. If it is damaged,
    /// `resend = "go-back-n"` also loses the packets that are sent until the sender knows
    /// (docs/model.md, "Links that err").
    pub fn passage(&self, cables: &[CableClass]) -> Option<Passage> {
        let errors = self.errors.as_ref()?;
        let flits = f64::from(self.unit_of_retry());
        let bits = flits * 8.0 * self.flit.0 as f64;
        let slowest = cables.iter().map(|&class| self.flit_time_of(class)).max();
        let transmission = flits * slowest.unwrap_or(Picoseconds::ZERO).0 as f64;
        let sound_bits = libm::exp(bits * libm::log1p(-errors.bit_error_rate));
        // The probability that no burst lasts at any time of such a stretch.
        let no_burst = |stretch: f64| {
            errors.bursts.map_or(1.0, |bursts| {
                libm::exp(-(bursts.length.0 as f64 + stretch) / bursts.interval.0 as f64)
            })
        };
        let (most, sent) = self.packets_on_a_link(cables)?;
        let lost = match errors.resend {
            Resend::GoBackN => sent.clamp(1.0, f64::from(most).max(1.0)),
            Resend::Selective => 1.0,
        };
        let of_bits = sound_bits / (sound_bits + (1.0 - sound_bits) * lost);
        let rate = of_bits * no_burst(lost * transmission) * (f64::from(most) / sent).min(1.0);
        Some(Passage { probability: sound_bits * no_burst(transmission), rate })
    }
}
