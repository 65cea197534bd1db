//! Where a sweep is computed, and what a job array is asked to have.

use clap::{Args, ValueEnum};

use super::super::Failure;
use flitlab::scenario::{SlurmSettings, check_sbatch_option, check_slurm_name};
use flitlab::units::{Bytes, ClockTime, parse_bytes, parse_clock_time};

/// The executor of the points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Executor {
    /// this machine's cores
    #[default]
    Local,
    /// a job array of Slurm; then come `flitlab sweep status` and `collect`
    Slurm,
}

/// What a job array is asked to have.
#[derive(Clone, Debug, Args)]
#[command(
    next_help_heading = "Tasks of Slurm (if not given: as in [sweep.slurm], as the last time, or up to the cluster)"
)]
pub(super) struct SlurmOptions {
    /// Partition that they run in
    #[arg(long, value_name = "NAME", value_parser = slurm_name)]
    partition: Option<String>,
    /// Most time of a task, such as 2h, 90min or 02:00:00
    #[arg(long, value_name = "TIME", value_parser = parse_clock_time)]
    time: Option<ClockTime>,
    /// Most memory of a task, such as 4GB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<Bytes>,
    /// Points, or searches for saturation, that a task computes one after the other; 1 if never
    /// given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    points_per_task: Option<u32>,
    /// Account that their time is charged to
    #[arg(long, value_name = "NAME", value_parser = slurm_name)]
    account: Option<String>,
    /// Quality of service that they have
    #[arg(long, value_name = "NAME", value_parser = slurm_name)]
    qos: Option<String>,
    /// Write the job script and submit nothing; what submits it is said
    #[arg(long)]
    pub(super) no_submit: bool,
    /// Another option of sbatch, such as --option=--exclusive; may be given several times
    #[arg(long = "option", value_name = "OPTION", allow_hyphen_values = true, value_parser = sbatch_option)]
    options: Vec<String>,
}

fn slurm_name(text: &str) -> Result<String, String> {
    check_slurm_name(text).map(|()| text.to_owned())
}

fn sbatch_option(text: &str) -> Result<String, String> {
    check_sbatch_option(text).map(|()| text.to_owned())
}

impl SlurmOptions {
    pub(super) fn settings(&self) -> SlurmSettings {
        let Self { partition, time, memory, points_per_task, account, qos, options, .. } =
            self.clone();
        let points_per_task = points_per_task.map(|points| points as usize);
        let options = (!options.is_empty()).then_some(options);
        SlurmSettings { partition, time, memory, points_per_task, account, qos, options }
    }

    /// # Errors
    /// If any is given, though the sweep runs on this machine.
    pub(super) fn refuse(&self) -> Result<(), Failure> {
        if self.settings() == SlurmSettings::default() && !self.no_submit {
            return Ok(());
        }
        Err(Failure::input(
            "partition, time, memory and the like are for Slurm: add --executor slurm",
        ))
    }
}
