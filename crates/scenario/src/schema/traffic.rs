//! `[traffic]`: a load that goes on; and which of the workloads there is.

use super::{
    application, collective, exchange,
    pattern::{self, Sender, Senders},
    remote_memory,
};
use crate::{Purpose, WorkloadSpec, load::Load};
use flitlab_base::document::{Choice, Diagnostic, Flag, Reader, Whole, plain, size, with_keys};
use flitlab_base::units::Bytes;
use flitlab_engine::Parameters;
use flitlab_workload::traffic::{Access, CollectiveSpec, LoadSpec, Process};

/// The largest message: far beyond use, and small enough for sums of 64 bits.
pub(super) const LARGEST_MESSAGE: u64 = 1 << 40;

/// Requests are counted in 32 bits.
pub(super) const LARGEST_REQUEST: u64 = 1 << 30;

pub(super) fn read(
    reader: &mut Reader<'_>,
    senders: Senders<'_>,
    parameters: &mut Parameters,
    purpose: Purpose,
) -> Option<WorkloadSpec> {
    const WORKLOADS: [&str; 5] =
        ["traffic", "exchange", "application", "collective", "remote_memory"];
    let present: Vec<&str> = WORKLOADS.into_iter().filter(|name| reader.has(name)).collect();
    // A load may go on beside collective operations.
    if let [_, .., last] = present[..]
        && present != ["traffic", "collective"]
        && let Some(place) = reader.place(last)
    {
        let names: Vec<String> = present.iter().map(|name| format!("[{name}]")).collect();
        let message = format!("a scenario has one workload, not {}", names.join(" and "));
        reader.problems.push(Diagnostic::new(&place, message).help(
            "[traffic] goes on for ever at a load, the others end; keep one, or [collective] with [traffic] beside it",
        ));
    }
    if present.is_empty() && !reader.is_documenting() && purpose != Purpose::Routes {
        let misspelt = WORKLOADS.into_iter().any(|name| reader.has_misspelt(name));
        if let (false, Some(place)) = (misspelt, reader.scope.place.clone()) {
            reader.problems.push(
                Diagnostic::new(&place, "the scenario has neither [traffic] nor [exchange] nor [application] nor [collective] nor [remote_memory]")
                    .help(
                        "add [traffic] for a load that goes on, with for example \
                         `pattern = \"uniform\"` and `load = 0.3`; [exchange] for a finite workload; \
                         [application] for what ranks do; [collective] for what routers do with trees; or [remote_memory] \
                         for puts, gets and atomic operations",
                    ),
            );
        }
    }
    let doc = "Traffic that goes on for ever at an offered load. A scenario has this, [exchange] or [application]; \
               or it goes on beside [collective].";
    let load_spec = workload(reader, "traffic", doc, |reader| load(reader, senders, parameters));
    let doc = "A finite workload: every node sends a message to each of its partners. A \
               scenario has this, [traffic] or [application].";
    let exchange_spec = workload(reader, "exchange", doc, |reader| exchange::read(reader, senders));
    let doc = "An application: what each of its ranks sends, receives and computes, as docs/model.md says under \
               \"Applications\". A scenario has this, [traffic] or [exchange].";
    let application_spec = workload(reader, "application", doc, |reader| {
        application::read(reader, senders, parameters)
    });
    let doc = "Operations of the collective subnetwork: routers combine and replicate packets along trees, as \
               docs/model.md says under \"Collective subnetwork\". [traffic] may go on beside them.";
    let collective_spec =
        workload(reader, "collective", doc, |reader| collective::read(reader, senders.places));
    let collective_spec = collective_spec.map(|(spec, unit)| {
        parameters.collective = unit;
        WorkloadSpec::Collective(CollectiveSpec { load: load_spec.clone(), ..spec })
    });
    let doc = "Remote memory operations: puts, gets and atomic operations, one after the other or many at a time, as \
               docs/model.md says under \"Remote memory operations\".";
    let remote_memory_spec = workload(reader, "remote_memory", doc, |reader| {
        remote_memory::read(reader, senders, parameters)
    });
    collective_spec.or(load_spec
        .map(WorkloadSpec::Load)
        .or(exchange_spec.map(WorkloadSpec::Exchange))
        .or(application_spec.map(WorkloadSpec::Application))
        .or(remote_memory_spec.map(WorkloadSpec::RemoteMemory)))
}

/// The table of a workload, if it is written. All are asked for, so that a misspelt header is told
/// the right name.
fn workload<T>(
    reader: &mut Reader<'_>,
    name: &'static str,
    doc: &'static str,
    read: impl FnOnce(&mut Reader<'_>) -> Option<T>,
) -> Option<T> {
    if !reader.is_documenting() && !reader.has(name) {
        reader.ignore(name);
        return None;
    }
    reader.table(name, doc, read)
}

fn load(
    reader: &mut Reader<'_>,
    senders: Senders<'_>,
    parameters: &Parameters,
) -> Option<LoadSpec> {
    let pattern = pattern::read(reader, Sender::Load, senders);
    let doc = "How much a node sends: a fraction of the fabric's capacity, all flits counted (0.3); or payload \
         (\"3 GB/s\"). The capacity of [topology.torus] is what saturates its bisection under uniform \
         traffic; of other fabrics it is the rate of a cable.";
    let load = reader.required("load", &Load, doc);
    let process = process(reader);
    let message = match process {
        Some((_, Some(packets))) => {
            reader.forbid(
                "message",
                "a burst has no `message`: its packets are its size",
                "leave `message` out, or choose another `process`",
            );
            Bytes(packets * parameters.maximum_payload.0)
        }
        _ => reader.value_from(
            "message",
            &size(0, LARGEST_MESSAGE),
            parameters.maximum_payload,
            "as router.maximum_payload",
            "Size of a message; longer ones than router.maximum_payload are cut into packets.",
        ),
    };
    let access = access(reader);
    Some(LoadSpec { pattern: pattern?, process: process?.0, load: load?, message, access })
}

/// The process, and the packets of a burst.
fn process(reader: &mut Reader<'_>) -> Option<(Process, Option<u64>)> {
    let doc = "When messages are created.";
    let choice = Choice::usual("process", "process", "bernoulli", doc);
    let bernoulli = "in each flit time of a cable a message with the same probability.";
    let periodic = "at equal intervals.";
    let burst = "as \"bernoulli\", but messages of many packets, all of the largest size.";
    reader.choice(
        &choice,
        vec![
            plain("bernoulli", (Process::Bernoulli, None), bernoulli),
            with_keys("periodic", periodic, |reader| {
                let doc = "Whether all nodes start together; otherwise each at a random time.";
                let in_step = reader.value("in_step", &Flag, false, doc);
                Some((Process::Periodic { in_step }, None))
            }),
            with_keys("burst", burst, |reader| {
                let kind = Whole { range: 1..=1_000_000 };
                let packets = reader.required("packets", &kind, "Packets of a burst.")?;
                Some((Process::Bernoulli, Some(packets)))
            }),
        ],
    )
}

/// `read`, of both workloads.
pub(super) fn access(reader: &mut Reader<'_>) -> Access {
    let doc = "Makes every message a read: a request goes to the partner, which answers with the \
               message.";
    let request = reader.optional_table("read", "{ request = \"16 B\" }", doc, |reader| {
        let doc = "Payload of the request.";
        reader.value("request", &size(0, LARGEST_REQUEST), Bytes(16), doc)
    });
    request.map_or(Access::Write, |request| Access::Read { request })
}
