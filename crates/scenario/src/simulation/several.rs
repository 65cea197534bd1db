//! A point of several workloads: its loads together, the stretch of time that is measured, and a row
//! for each workload.

use std::time::Instant;

use cpu_time::ThreadTime;

use super::rows::{whole, with_latencies};
use super::run::Unwaited;
use super::setup::Simulation;
use crate::workload::{Ended, Hangs, Share};
use flitlab_base::units::Picoseconds;
use flitlab_engine::Engine;
use flitlab_measure::{ClassSummary, Collector, Span, Stream, Watch, end_of, has_ended};
use flitlab_report::{PointResult, PointRow, Status, WorkloadRow};
use flitlab_traffic::LoadRates;

impl Simulation {
    /// The rates of all loads together; `None` if there is none.
    pub fn load(&self) -> Option<LoadRates> {
        if let Some(only) = self.only() {
            return only.load();
        }
        let senders = self.senders().len() as f64;
        let loads = self.shares().filter_map(|share| {
            let part = share.senders().len() as f64 / senders;
            Some((share.load()?, part))
        });
        loads.fold(None, |all, (load, part)| {
            let none = LoadRates {
                fraction: 0.0,
                payload: 0.0,
                flits: 0.0,
                messages: 0.0,
                random: false,
                highest_fraction: f64::INFINITY,
                cycle: Picoseconds::ZERO,
            };
            let all = all.unwrap_or(none);
            Some(LoadRates {
                cycle: all.cycle.max(load.cycle),
                // Loads of which each has a share of the whole are not raised together.
                highest_fraction: f64::INFINITY,
                fraction: all.fraction + load.fraction * part,
                payload: all.payload + load.payload * part,
                flits: all.flits + load.flits * part,
                messages: all.messages + load.messages * part,
                random: all.random | load.random,
            })
        })
    }

    /// The workloads as streams of messages, which are weighted by what they offer where all are
    /// loads.
    pub(super) fn streams(&self) -> Vec<Stream<'_>> {
        let whole = self.load().filter(|_| !self.scenario().workload.is_finite());
        let streams = self.shares().map(|share| {
            let (own, (sizes, access)) = (share.load(), &share.member().message);
            let weight = own.zip(whole).map_or(1.0, |(own, whole)| own.flits / whole.flits);
            let (pattern, senders) = (share.pattern(), share.senders());
            let class = share.class();
            Stream { pattern, senders, sizes, access: *access, class, weight }
        });
        streams.collect()
    }

    /// Returns the stretch of time that is measured where loads go on beside what comes to an end:
    /// from its beginning until its end, which is known when all has been simulated once before.
    /// `None` also if it does not come to its end.
    ///
    /// # Errors
    /// If the end can't be waited for: the engine as it is by then.
    pub(super) fn span(&self, watch: &mut Watch<'_>) -> Result<Option<Span>, Box<Unwaited<'_>>> {
        if self.only().is_some() || self.load().is_none() {
            return Ok(None);
        }
        let finite = || self.shares().filter(|share| share.member().is_finite);
        let workload = self.workload();
        let messages = workload.messages();
        let mut engine = self.engine_without_logs(workload, None);
        let classes: Vec<u8> = finite().map(Share::class).collect();
        let memory = engine.memory();
        let built = (ThreadTime::now(), Instant::now());
        let end = match end_of(&mut engine, &classes, messages, watch.progress) {
            Ok(end) => end,
            Err(why) => return Err(Box::new(Unwaited { why, engine, memory, built })),
        };
        let start = finite().map(Share::begins).min();
        Ok(start.zip(end))
    }

    /// Rows of all workloads of a simulation that has not come to its end, if there are several. Those
    /// that have are completed; the others have the status of the simulation. What was measured of
    /// them is told where it was measured for so long in a network that goes on.
    pub(super) fn rows_of_unfinished(
        &self,
        engine: &Engine<'_, Collector>,
        status: Status,
        classes: &[ClassSummary],
        measured: Option<Picoseconds>,
        found: &mut PointResult,
    ) {
        if self.only().is_some() {
            return;
        }
        for share in self.shares() {
            let own = &classes[usize::from(share.class())];
            let ended = share.member().is_finite && has_ended(engine, share.class());
            // What hangs says so here.
            let completed = ended.then(|| self.row_of_finite(share, engine, own, found).ok());
            let row = completed.flatten().unwrap_or_else(|| match measured {
                Some(_) if share.member().is_finite => {
                    self.with_class(PointRow { status, ..PointRow::default() }, share, own)
                }
                Some(measured) => self.row_of_load(share, status, own, measured),
                None => self.row_without_results(share, status),
            });
            found.workloads.push(row_of(share, row));
        }
    }

    /// Rows of all workloads, which are loads in a network that does not go on.
    pub(super) fn rows_without_results(&self, status: Status) -> Vec<WorkloadRow> {
        let row = |share| row_of(share, self.row_without_results(share, status));
        self.shares().filter(|_| self.only().is_none()).map(row).collect()
    }

    /// The row of a workload in this state, of which nothing can be told but what it offers.
    fn row_without_results(&self, share: Share<'_>, status: Status) -> PointRow {
        let load = share.load();
        PointRow {
            status,
            nodes: u32::try_from(share.senders().len()).ok(),
            offered_load: load.map(|load| load.fraction),
            offered_payload: load.map(|load| load.payload / 1e9),
            ..PointRow::default()
        }
    }

    /// Rows of all workloads, which are loads that were measured for so long, in this state.
    pub(super) fn rows_of_loads(
        &self,
        status: Status,
        classes: &[ClassSummary],
        measured: Picoseconds,
    ) -> Vec<WorkloadRow> {
        let row = |share: Share<'_>| {
            let own = &classes[usize::from(share.class())];
            row_of(share, self.row_of_load(share, status, own, measured))
        };
        self.shares().map(row).collect()
    }

    /// Adds the rows of the workloads, of which some came to their end and the others are loads
    /// that went on beside them for this span; and what the row of the point says of the end.
    ///
    /// # Errors
    /// Why one of them hangs, if it did not come to its end.
    pub(super) fn finish_several(
        &self,
        engine: &Engine<'_, Collector>,
        classes: &[ClassSummary],
        span: Option<Span>,
        found: &mut PointResult,
    ) -> Result<(), Hangs> {
        let measured = span.map_or(Picoseconds::ZERO, |(start, end)| end - start);
        let mut ends: Vec<(Share<'_>, PointRow)> = Vec::new();
        for share in self.shares() {
            let own = &classes[usize::from(share.class())];
            let row = if share.member().is_finite {
                let row = self.row_of_finite(share, engine, own, found)?;
                ends.push((share, row.clone()));
                row
            } else {
                self.row_of_load(share, Status::Completed, own, measured)
            };
            found.workloads.push(row_of(share, row));
        }
        let row = &mut found.measured;
        if let Some((start, end)) = span {
            (row.warm_up, row.simulated_time) = (Some(start), Some(end));
            row.bandwidth = None;
        }
        let begin = ends.iter().map(|(share, _)| share.begins()).min();
        let end =
            |(share, row): &(Share<'_>, PointRow)| Some(share.begins() + row.completion_time?);
        let end = ends.iter().filter_map(end).max();
        row.completion_time = begin.zip(end).map(|(begin, end)| end - begin);
        if let [(_, only)] = &ends[..] {
            (row.completion_time, row.bandwidth) = (only.completion_time, only.bandwidth);
        }
        Ok(())
    }

    fn row_of_load(
        &self,
        share: Share<'_>,
        status: Status,
        own: &ClassSummary,
        measured: Picoseconds,
    ) -> PointRow {
        let load = share.load();
        let senders = share.senders().len().max(1) as f64;
        let time = measured.max(Picoseconds(1)).0 as f64;
        let flit_time = share.parameters().link_flit_time().0 as f64;
        let flits = own.flits as f64 * flit_time / time / senders;
        let row = PointRow {
            status,
            offered_load: load.map(|load| load.fraction),
            offered_payload: load.map(|load| load.payload / 1e9),
            accepted_load: Some(flits / self.fabric().capacity()),
            // Bytes a picosecond are TB/s.
            accepted_payload: Some(own.payload as f64 / time / senders * 1e3),
            ..PointRow::default()
        };
        self.with_class(row, share, own)
    }

    fn row_of_finite(
        &self,
        share: Share<'_>,
        engine: &Engine<'_, Collector>,
        own: &ClassSummary,
        found: &mut PointResult,
    ) -> Result<PointRow, Hangs> {
        let completion = own.latest_completion.saturating_sub(share.begins());
        let time = completion.max(Picoseconds(1)).0 as f64;
        let each = own.payload as f64 / share.senders().len().max(1) as f64;
        let flits = own.flits as f64 / share.senders().len().max(1) as f64;
        let flit_time = share.parameters().link_flit_time().0 as f64;
        let accepted = flits * flit_time / time / self.fabric().capacity();
        let load = share.offers();
        let row = PointRow {
            status: Status::Completed,
            offered_load: load.map(|load| load.fraction),
            offered_payload: load.map(|load| load.payload / 1e9),
            accepted_load: load.map(|_| accepted),
            completion_time: Some(completion),
            bandwidth: Some(each / time * 1e3),
            ..PointRow::default()
        };
        let measured = self.with_class(row, share, own);
        let mut result = PointResult { measured, ..PointResult::default() };
        let messages = own.message_latency.map_or(0, |latency| latency.count);
        let ended = Ended { share, engine, completion, messages };
        let named = |text: String| format!("{}: {text}", share.member().name);
        share.member().workload.finish(&ended, &mut result).map_err(
            |Hangs { time, warning }| {
                let time = share.member().start + time;
                Hangs { time, warning: named(warning) }
            },
        )?;
        found.warnings.extend(result.warnings.into_iter().map(named));
        if !result.explained.flows.is_empty() && !found.explained.flows.is_empty() {
            let text = "flows.csv has the flows of the first trace only".to_owned();
            found.warnings.push(named(text));
        }
        found.explained.add(&share.member().name, share.member().start, result.explained);
        Ok(result.measured)
    }

    /// Fills in what is told of every class.
    fn with_class(&self, row: PointRow, share: Share<'_>, own: &ClassSummary) -> PointRow {
        let row = PointRow {
            nodes: u32::try_from(share.senders().len()).ok(),
            network_latency_mean: own.network_latency.map(whole),
            hops_mean: own.hops,
            ..with_latencies(row, own.packet_latency, own.message_latency)
        };
        self.with_derouted(row, own.derouted)
    }
}

fn row_of(share: Share<'_>, measured: PointRow) -> WorkloadRow {
    let member = share.member();
    let (name, kind) = (member.name.clone(), member.kind.into());
    let start = Some(share.begins());
    WorkloadRow { name, kind, start, measured, ..WorkloadRow::default() }
}
