//! Rows of a point's workloads, where it has several.

use super::Simulation;
use super::rows::{whole, with_latencies};
use crate::workload::{Ended, Hangs, Share};
use flitlab_base::units::Picoseconds;
use flitlab_engine::Engine;
use flitlab_engine::measure::{ClassSummary, Collector, Span};
use flitlab_report::{Explained, PointResult, PointRow, Status, WorkloadRow};

impl Simulation {
    /// Rows of all workloads, which are loads that were measured for so long, in this state.
    pub(super) fn rows_of_loads(
        &self,
        status: Status,
        classes: &[ClassSummary],
        measured: Picoseconds,
    ) -> Vec<WorkloadRow> {
        let shares = self.shares().zip(classes);
        let row = |(share, own)| row_of(share, self.row_of_load(share, status, own, measured));
        shares.map(row).collect()
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
        for (share, own) in self.shares().zip(classes) {
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
        let row = PointRow {
            status: Status::Completed,
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
        if result.explained != Explained::default() {
            if found.explained == Explained::default() {
                found.explained = result.explained;
            } else {
                let text = "where its time went is told of the first application only".to_owned();
                found.warnings.push(named(text));
            }
        }
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
    WorkloadRow { name: member.name.clone(), kind: member.kind.into(), measured }
}
