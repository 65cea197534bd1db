//! Why an application does not come to its end.

use std::fmt;

use super::schedule::Schedule;
use crate::units::Picoseconds;

/// Operations that can't go on: nothing is left that could free them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stuck {
    /// When the last stream was free.
    pub time: Picoseconds,
    /// Receipts that were begun and got no message.
    pub receipts: Vec<u32>,
    /// Messages that were sent and never received.
    pub messages: Vec<u32>,
    /// How many operations were never begun.
    pub not_begun: u64,
}

impl Stuck {
    /// One line for each operation that hangs, the first few of each kind.
    pub fn describe(&self, schedule: &Schedule) -> String {
        const MOST: usize = 8;
        let mut lines = Vec::new();
        let mut say = |operations: &[u32], what: &str| {
            for &number in operations.iter().take(MOST) {
                lines.push(format!("{} {what}", schedule.describe(number)));
            }
            if operations.len() > MOST {
                lines.push(format!("... and {} more", operations.len() - MOST));
            }
        };
        say(&self.receipts, "waits for a message that nobody sends");
        say(&self.messages, "was never received");
        if self.not_begun > 0 {
            lines.push(format!(
                "{} operations that wait for these were never begun",
                self.not_begun
            ));
        }
        lines.join("\n")
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} receipts without a message, {} messages without a receipt, {} operations never begun",
            self.receipts.len(),
            self.messages.len(),
            self.not_begun
        )
    }
}

impl std::error::Error for Stuck {}
