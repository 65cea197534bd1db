//! `flitlab sweep`: a scenario to sweep, or what comes after a sweep was submitted to Slurm.

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};

use super::super::Failure;
use super::Sweep;
use super::collect::Collect;
use super::status::Status;
use super::submit::Resubmit;
use super::task::Task;

/// `sweep SCENARIO ...`, or `sweep status FOLDER` and its like.
#[derive(Debug)]
pub(in super::super) struct SweepCommand(Step);

#[derive(Debug)]
enum Step {
    Begin(Sweep),
    Later(Later),
}

#[derive(Debug, Subcommand)]
enum Later {
    Status(Status),
    Collect(Collect),
    Resubmit(Resubmit),
    #[command(hide = true)]
    Task(Task),
}

impl SweepCommand {
    /// As a program calls it.
    pub(in super::super) fn for_a_program(&mut self, text: Option<&str>) {
        if let Step::Begin(sweep) = &mut self.0 {
            sweep.for_a_program(text);
        }
    }

    pub(in super::super) fn execute(self) -> Result<(), Failure> {
        match self.0 {
            Step::Begin(sweep) => sweep.execute(),
            Step::Later(Later::Status(status)) => status.execute(),
            Step::Later(Later::Collect(collect)) => collect.execute(),
            Step::Later(Later::Resubmit(resubmit)) => resubmit.execute(),
            Step::Later(Later::Task(task)) => task.execute(),
        }
    }
}

// By hand: derived, an optional set of arguments with sets in it is never there.
impl FromArgMatches for SweepCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let step = match matches.subcommand() {
            Some(_) => Step::Later(Later::from_arg_matches(matches)?),
            None => Step::Begin(Sweep::from_arg_matches(matches)?),
        };
        Ok(Self(step))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for SweepCommand {
    fn augment_args(command: Command) -> Command {
        Later::augment_subcommands(Sweep::augment_args(command))
            .subcommand_required(false)
            .arg_required_else_help(false)
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true)
            .disable_help_subcommand(true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
