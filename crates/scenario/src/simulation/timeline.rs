//! A timeline of applications as Chrome's trace events, which Perfetto (ui.perfetto.dev) opens.
//!
//! An application is a process, each stream of a rank a thread of it, and what a stream does a
//! slice. Arrows lead from the sending of a message to its receipt. A thread of its own has the
//! critical path. The format is the JSON array format of "Trace Event Format" (Google, 2016), with
//! times in microseconds.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flitlab_application::{Action, Schedule};
use flitlab_base::FileError;
use flitlab_base::units::Picoseconds;
use flitlab_measure::Explanation;
use flitlab_traffic::{Job, JobKind, LegKind, Records};

/// Writes the timeline of the applications of a simulation to a file.
#[derive(Clone, Debug)]
pub struct TimelineLog(Arc<Mutex<Writing>>);

#[derive(Debug)]
struct Writing {
    path: PathBuf,
    file: BufWriter<File>,
    /// Whether it has an event.
    begun: bool,
    /// The number of the next application, from 1 on.
    next: u32,
    /// The number of the next message.
    message: u64,
    failed: Option<FileError>,
}

impl TimelineLog {
    /// Begins a new file.
    ///
    /// # Errors
    /// If the file is there, or can't be written.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        let file = File::create_new(path).map_err(FileError::write(path))?;
        let file = BufWriter::new(file);
        let writing =
            Writing { path: path.into(), file, begun: false, next: 1, message: 0, failed: None };
        Ok(Self(Arc::new(Mutex::new(writing))))
    }

    /// Adds an application of this name, which began at a time, and what it did, in its own time.
    /// What can't be written is told at the end.
    pub(crate) fn add(
        &self,
        (name, start): (&str, Picoseconds),
        schedule: &Schedule,
        records: &Records,
        explanation: &Explanation,
    ) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if log.failed.is_none() {
            let written = log.write((name, start), schedule, records, explanation);
            log.failed = written.err().map(FileError::write(&log.path));
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// What kept it from being written.
    pub fn finish(&self) -> Result<(), FileError> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failed) = log.failed.take() {
            return Err(failed);
        }
        let end = if log.begun { "\n]\n" } else { "[]\n" };
        let ended = log.file.write_all(end.as_bytes()).and_then(|()| log.file.flush());
        ended.map_err(FileError::write(&log.path))
    }
}

/// A text as JSON.
fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// A time in microseconds, to the picosecond.
fn us(time: Picoseconds) -> String {
    format!("{}.{:06}", time.0 / 1_000_000, time.0 % 1_000_000)
}

impl Writing {
    /// Writes an event, given without its braces.
    fn event(&mut self, event: &str) -> std::io::Result<()> {
        let before = if std::mem::replace(&mut self.begun, true) { ",\n" } else { "[\n" };
        write!(self.file, "{before}{{{event}}}")
    }

    /// Names a process or one of its threads.
    fn name(&mut self, what: &str, process: u32, thread: u32, name: &str) -> std::io::Result<()> {
        self.event(&format!(
            "\"ph\":\"M\",\"name\":\"{what}_name\",\"pid\":{process},\"tid\":{thread},\
             \"args\":{{\"name\":{}}}",
            json(name)
        ))
    }

    fn write(
        &mut self,
        (name, start): (&str, Picoseconds),
        schedule: &Schedule,
        records: &Records,
        explanation: &Explanation,
    ) -> std::io::Result<()> {
        let process = self.next;
        self.next += 1;
        self.name("process", process, 0, name)?;
        self.name("thread", process, 0, "critical path")?;
        // By rank: the thread of its first stream.
        let mut threads = Vec::new();
        let mut next = 1;
        for rank in 0..schedule.ranks() {
            threads.push(next);
            let streams = schedule.of_rank(rank).map(|it| schedule.operation(it).stream);
            for stream in 0..=streams.max().unwrap_or(0) {
                let name = match stream {
                    0 => format!("rank {rank}"),
                    _ => format!("rank {rank}, stream {stream}"),
                };
                self.name("thread", process, next, &name)?;
                next += 1;
            }
        }
        for stretch in &explanation.path {
            let (from, until) = (start + stretch.start, stretch.end - stretch.start);
            self.event(&format!(
                "\"ph\":\"X\",\"name\":\"{}\",\"cat\":\"path\",\"pid\":{process},\"tid\":0,\
                 \"ts\":{},\"dur\":{},\"args\":{{\"rank\":{},\"operation\":{}}}",
                stretch.spent.name(),
                us(from),
                us(until),
                stretch.rank,
                json(&schedule.describe(stretch.operation))
            ))?;
        }
        let thread_of = |operation: u32| {
            let stream = u32::from(schedule.operation(operation).stream);
            threads[schedule.rank_of(operation) as usize] + stream
        };
        let mut begun = vec![None; schedule.operations().len()];
        let mut taken = vec![None; schedule.operations().len()];
        for job in &records.jobs {
            match job.kind {
                JobKind::Begin => begun[job.operation as usize] = Some(job.start),
                JobKind::Take => taken[job.cause as usize] = Some((job.operation, job.start)),
                JobKind::Answer | JobKind::Go => {}
            }
            if job.end > job.start {
                self.job(job, (process, thread_of(job.operation)), start, schedule)?;
            }
        }
        let carries = |kind| matches!(kind, LegKind::Eager | LegKind::Data);
        for leg in records.legs.iter().filter(|leg| carries(leg.kind)) {
            let send = leg.operation as usize;
            let (Some(sent), Some((receipt, received))) = (begun[send], taken[send]) else {
                continue;
            };
            let ends = [
                ("s", "", thread_of(leg.operation), sent),
                ("f", ",\"bp\":\"e\"", thread_of(receipt), received),
            ];
            self.message += 1;
            for (kind, binding, thread, time) in ends {
                self.event(&format!(
                    "\"ph\":\"{kind}\",\"name\":\"message\",\"cat\":\"message\",\"id\":{}{binding},\
                     \"pid\":{process},\"tid\":{thread},\"ts\":{}",
                    self.message,
                    us(start + time)
                ))?;
            }
        }
        Ok(())
    }

    /// Writes what a stream did.
    fn job(
        &mut self,
        job: &Job,
        (process, thread): (u32, u32),
        start: Picoseconds,
        schedule: &Schedule,
    ) -> std::io::Result<()> {
        let action = match (job.kind, schedule.operation(job.operation).action) {
            (JobKind::Begin, Action::Compute) => "compute",
            (JobKind::Begin, Action::Send) => "send",
            (JobKind::Begin, Action::Remote(remote)) => remote.name(),
            (JobKind::Begin | JobKind::Take, _) => "receive",
            (JobKind::Answer, _) => "answer",
            (JobKind::Go, _) => "send after an answer",
        };
        let phase = schedule.phase(job.operation);
        let name = phase.map_or_else(|| action.into(), |phase| format!("{phase}: {action}"));
        let (from, long) = (us(start + job.start), us(job.end - job.start));
        self.event(&format!(
            "\"ph\":\"X\",\"name\":{},\"cat\":{},\"pid\":{process},\"tid\":{thread},\"ts\":{from},\
             \"dur\":{long},\"args\":{{\"operation\":{}}}",
            json(&name),
            json(phase.unwrap_or(action)),
            json(&schedule.describe(job.operation))
        ))
    }
}
