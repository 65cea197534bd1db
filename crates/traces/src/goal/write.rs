//! GOAL text out.

use std::fmt::{self, Display};
use std::io::{self, Write};

use super::line::word_of;
use flitlab_application::{ANY, Action, Operation, RemoteOperation, Schedule, Until};

/// Writes a schedule: rank by rank its operations, then what they wait for, in the order in which
/// they are woken.
pub(super) fn text(schedule: &Schedule, output: &mut impl Write) -> io::Result<()> {
    writeln!(output, "num_ranks {}", schedule.ranks())?;
    for rank in 0..schedule.ranks() {
        let numbers = schedule.of_rank(rank);
        let prefix = unused_prefix(schedule, rank);
        writeln!(output, "\nrank {rank} {{")?;
        let name = |number: u32| Name { schedule, number, first: numbers.start, prefix: &prefix };
        for number in numbers.clone() {
            let alone = schedule.waits(number) == 0 && schedule.dependants(number).len() == 0;
            if !alone || schedule.label(number).is_some() {
                write!(output, "{}: ", name(number))?;
            }
            operation(schedule.operation(number), output)?;
        }
        for number in numbers.clone() {
            for (dependant, until) in schedule.dependants(number) {
                let word = if until == Until::Done { "requires" } else { "irequires" };
                writeln!(output, "{} {word} {}", name(dependant), name(number))?;
            }
        }
        writeln!(output, "}}")?;
    }
    output.flush()
}

fn operation(operation: &Operation, output: &mut impl Write) -> io::Result<()> {
    let Operation { amount, peer, tag, action, stream, adapter, phase: _ } = *operation;
    match action {
        Action::Compute => write!(output, "calc {amount}")?,
        Action::Send => write!(output, "send {amount}b to {}", Number(peer))?,
        Action::Receive => write!(output, "recv {amount}b from {}", Number(peer))?,
        Action::Remote(remote) => {
            let to = if remote == RemoteOperation::Get { "from" } else { "to" };
            write!(output, "{} {amount}b {to} {peer}", word_of(remote))?;
        }
    }
    let computes = action == Action::Compute;
    if tag != 0 && !computes {
        write!(output, " tag {}", Number(tag))?;
    }
    if stream != 0 {
        write!(output, " cpu {stream}")?;
    }
    if adapter != 0 && !computes {
        write!(output, " nic {adapter}")?;
    }
    writeln!(output)
}

/// A rank or a tag; any is -1.
struct Number(u32);

impl Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ANY => formatter.write_str("-1"),
            number => Display::fmt(&number, formatter),
        }
    }
}

/// The name of an operation: its label, or its place in the rank.
struct Name<'s> {
    schedule: &'s Schedule,
    number: u32,
    first: u32,
    prefix: &'s str,
}

impl Display for Name<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.schedule.label(self.number) {
            Some(label) => formatter.write_str(label),
            None => write!(formatter, "{}{}", self.prefix, self.number - self.first + 1),
        }
    }
}

/// `l`, or what else no label of the rank has before a number.
fn unused_prefix(schedule: &Schedule, rank: u32) -> String {
    let labels = || schedule.of_rank(rank).filter_map(|number| schedule.label(number));
    let mut prefix = String::from("l");
    if schedule.of_rank(rank).all(|number| schedule.label(number).is_some()) {
        return prefix;
    }
    let numbered = |label: &str, prefix: &str| {
        let rest = label.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    while labels().any(|label| numbered(label, &prefix)) {
        prefix.push('_');
    }
    prefix
}
