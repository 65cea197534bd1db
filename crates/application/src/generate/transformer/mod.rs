//! Transformers on many accelerators, of a few numbers: data, tensor, sequence, pipeline and expert
//! parallelism, and their collective operations.
//!
//! Sources: the parallel layers and the count of operations \[megatron\], sequence parallelism
//! \[megatron-sequence\], experts \[gshard\].
//!
//! Ranks are counted along tensor parallelism first, then data, then pipeline, as Megatron does; a
//! group of experts is ranks of data parallelism that follow each other.

mod inference;
mod training;

pub(super) use inference::INFERENCE;
pub(super) use training::TRAINING;

use super::collective::{self, Call, HIERARCHICAL, one_level};
use super::communicator::Communicator;
use super::program::{Program, Request};
use super::{MAX_CHANNELS, unknown};
use flitlab_base::document::{Flag, Number, Reader, Text, Whole, size};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Bytes;

/// The contexts of communicators; 0 is that of the pipeline's messages.
const TENSOR: u32 = 2;
const DATA: u32 = 3;
const EXPERT: u32 = 4;
const EXPERT_DATA: u32 = 5;

/// A model and how it is cut into parts.
#[derive(Clone, Debug)]
struct Model {
    layers: u32,
    hidden: u64,
    /// The width of keys, and of values, of all heads.
    key_value: u64,
    feed_forward: u64,
    /// Sequences of a micro-batch, and micro-batches.
    micro_batch: u64,
    micro_batches: u32,
    /// Experts of a layer, of which a token goes to so many; none of a dense model.
    experts: u32,
    chosen: u32,
    tensor: u32,
    pipeline: u32,
    data: u32,
    expert: u32,
    sequence_parallel: bool,
    /// Bytes of an activation, a gradient or a parameter.
    number: u64,
    flops_per_second: f64,
    algorithm: Option<String>,
    segment: Option<u64>,
    channels: u32,
}

/// What a rank computes of a layer, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Work {
    attention: f64,
    feed_forward: f64,
}

impl Work {
    fn times(self, count: f64) -> Self {
        Self { attention: count * self.attention, feed_forward: count * self.feed_forward }
    }
}

/// The phases that what a layer sends belongs to.
#[derive(Clone, Copy, Debug)]
struct Phases {
    tensor: &'static str,
    expert: &'static str,
    pipeline: &'static str,
}

impl Model {
    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let whole = |most| Whole { range: 1..=most };
        let layers = reader.required("layers", &whole(1 << 16), "Layers of the model.");
        let width = whole(1 << 24);
        let hidden = reader.required("hidden", &width, "Numbers of a token between layers.");
        let doc = "Numbers of a token inside the feed-forward network, or inside one expert's.";
        let feed_forward = reader.required("feed_forward", &width, doc);
        let doc =
            "Numbers of a token's keys, and of its values, of all heads: as `hidden` if absent.";
        let key_value = reader.optional("key_value", &width, doc);
        let doc = "Sequences of a micro-batch.";
        let micro_batch = reader.value("micro_batch", &whole(1 << 20), 1, doc);
        let doc = "Micro-batches of a step, one after the other.";
        let micro_batches = reader.value("micro_batches", &whole(1 << 20), 1, doc);
        let count = whole(1 << 20);
        let doc = "Experts of a layer; a dense model if absent.";
        let experts = reader.optional("experts", &count, doc);
        let doc = "Experts that each token goes to.";
        let chosen = reader.value("experts_per_token", &count, 2, doc);
        let doc = "Ranks among which each layer's matrices are divided.";
        let tensor = reader.value("tensor", &count, 1, doc);
        let doc = "Stages of the pipeline, each of which has as many layers.";
        let pipeline = reader.value("pipeline", &count, 1, doc);
        let doc = "Copies of the model, each of which has data of its own.";
        let data = reader.value("data", &count, 1, doc);
        let doc = "Copies among which a layer's experts are divided.";
        let expert = reader.value("expert", &count, 1, doc);
        let doc = "Whether the ranks of tensor parallelism divide the tokens between matrices: a reduce-scatter and an \
                   all-gather for each all-reduce.";
        let sequence_parallel = reader.value("sequence_parallel", &Flag, false, doc);
        let doc = "Bytes of an activation, a gradient or a parameter.";
        let number = reader.value("number", &size(1, 16), Bytes(2), doc);
        let rate = Number { above: 0.0, to: 1e18, inclusive: true };
        let doc = "Operations that a rank computes a second.";
        let flops_per_second = reader.required("flops_per_second", &rate, doc);
        let name = Text { what: "a name", example: "double-binary-tree" };
        let doc = "Algorithm of the collective operations that have it; the others go around rings, all-to-alls \
                   pairwise, and so do all if absent.";
        let algorithm = reader.optional("algorithm", &name, doc);
        let doc = "The most bytes that rings and trees send at once.";
        let segment = reader.optional("segment", &size(1, 1 << 40), doc);
        let doc = "Parts of a vector that are dealt with beside each other, as NCCL's channels; not of all-to-alls.";
        let channels = reader.value("channels", &whole(MAX_CHANNELS.into()), 1, doc);
        Some(Self {
            layers: narrow(layers?),
            hidden: hidden?,
            key_value: key_value.or(hidden)?,
            feed_forward: feed_forward?,
            micro_batch,
            micro_batches: narrow(micro_batches),
            experts: narrow(experts.unwrap_or(0)),
            chosen: narrow(chosen),
            tensor: narrow(tensor),
            pipeline: narrow(pipeline),
            data: narrow(data),
            expert: narrow(expert),
            sequence_parallel,
            number: number.0,
            flops_per_second: flops_per_second?,
            algorithm,
            segment: segment.map(|bytes| bytes.0),
            channels: narrow(channels),
        })
    }

    /// How many ranks there are, or why the model can't be cut so; `sequence` is how many tokens
    /// sequence parallelism divides.
    fn check(&self, sequence: u64) -> Result<u32, String> {
        let divides = |what: &str, whole: u64, parts: u32, of: &str| {
            if whole.is_multiple_of(u64::from(parts)) {
                return Ok(());
            }
            Err(format!("`{what}` is {parts}, which does not divide {of}, {whole}"))
        };
        divides("pipeline", self.layers.into(), self.pipeline, "`layers`")?;
        divides("tensor", self.hidden, self.tensor, "`hidden`")?;
        divides("tensor", self.key_value, self.tensor, "`key_value`")?;
        divides("tensor", self.feed_forward, self.tensor, "`feed_forward`")?;
        if self.sequence_parallel {
            divides("tensor", sequence, self.tensor, "the tokens of a sequence")?;
        }
        divides("expert", self.data.into(), self.expert, "`data`")?;
        if self.experts == 0 && self.expert > 1 {
            return Err("`expert` divides experts, and the model is dense: give `experts`".into());
        }
        if self.experts > 0 {
            divides("expert", self.experts.into(), self.expert, "`experts`")?;
            if self.chosen > self.experts {
                let (chosen, experts) = (self.chosen, self.experts);
                return Err(format!(
                    "{chosen} `experts_per_token` are more than {experts} experts"
                ));
            }
        }
        if let Some(name) = self.algorithm.as_deref() {
            let used = ["all-reduce", "all-gather", "reduce-scatter", "all-to-all"];
            let names: Vec<&str> =
                used.into_iter().filter_map(collective::named).flat_map(|it| it.names()).collect();
            if !names.contains(&name) {
                return Err(unknown(
                    "algorithm of a collective operation",
                    name,
                    names.into_iter(),
                ));
            }
        }
        let ranks = u64::from(self.tensor) * u64::from(self.pipeline) * u64::from(self.data);
        match u32::try_from(ranks) {
            Ok(ranks) if ranks <= super::MAX_RANKS => Ok(ranks),
            _ => Err(format!("{ranks} ranks are too many: {} at the most", super::MAX_RANKS)),
        }
    }

    /// Refuses an algorithm that goes by nodes where none of the groups that communicate has
    /// several ranks in each of several nodes.
    fn check_levels(
        &self,
        ranks_per_node: u32,
        groups: fn(Place<'_>) -> Vec<Communicator<'static>>,
    ) -> Result<(), String> {
        let place = Place::new(self, ranks_per_node, 0);
        match self.algorithm.as_deref() {
            Some(HIERARCHICAL) if groups(place).iter().all(|it| it.levels().is_none()) => {
                Err(one_level(ranks_per_node, "no group of ranks has"))
            }
            _ => Ok(()),
        }
    }

    /// Parameters of a layer's attention: queries and the output, keys and values.
    const fn attention(&self) -> u64 {
        self.hidden * (2 * self.hidden + 2 * self.key_value)
    }

    /// Parameters of a layer's feed-forward network, or of one expert's: gate, up and down.
    const fn network(&self) -> u64 {
        3 * self.hidden * self.feed_forward
    }

    /// Bytes of the parameters of a layer that all copies have, and of the experts that a rank has,
    /// a rank's part of each.
    fn parameters(&self) -> (u64, u64) {
        let dense = self.attention() + if self.experts == 0 { self.network() } else { 0 };
        let experts = u64::from(self.experts / self.expert) * self.network();
        let bytes = |parameters: u64| parameters * self.number / u64::from(self.tensor);
        (bytes(dense), bytes(experts))
    }

    /// What so many tokens of a micro-batch take that look at so many others each, on average: two
    /// operations for each parameter, and four for each number of a token that is looked at, at
    /// its key and its value.
    fn work(&self, tokens: u64, others: f64) -> Work {
        let nanoseconds = |operations: f64| {
            operations * tokens as f64 / f64::from(self.tensor) / self.flops_per_second * 1e9
        };
        let networks = if self.experts == 0 { 1 } else { u64::from(self.chosen) };
        let looks = 4.0 * others * self.hidden as f64;
        Work {
            attention: nanoseconds(2.0 * self.attention() as f64 + looks),
            feed_forward: nanoseconds(2.0 * (self.network() * networks) as f64),
        }
    }

    /// Bytes of the activations of so many tokens between layers.
    const fn activations(&self, tokens: u64) -> u64 {
        tokens * self.hidden * self.number
    }
}

/// A rank and its groups.
struct Place<'a> {
    model: &'a Model,
    rank: u32,
    stage: u32,
    tensor: Communicator<'static>,
    data: Communicator<'static>,
    expert: Communicator<'static>,
    /// The ranks with the same experts.
    expert_data: Communicator<'static>,
    /// Messages to other stages that were begun.
    sent: Vec<Request>,
}

impl<'a> Place<'a> {
    fn new(model: &'a Model, ranks_per_node: u32, rank: u32) -> Self {
        let Model { tensor, data, expert, .. } = *model;
        let (in_tensor, rest) = (rank % tensor, rank / tensor);
        let (copy, stage) = (rest % data, rest / data);
        let at = |in_tensor: u32, copy: u32| in_tensor + tensor * (copy + data * stage);
        let group = copy / expert * expert;
        let of = |members: Vec<u32>, place, context| {
            Communicator::of(members, place, context).in_nodes_of(ranks_per_node)
        };
        let same_experts = (copy % expert..data).step_by(expert as usize);
        let copies = |copies: std::ops::Range<u32>| copies.map(|it| at(in_tensor, it)).collect();
        Self {
            model,
            rank,
            stage,
            tensor: of((0..tensor).map(|other| at(other, copy)).collect(), in_tensor, TENSOR),
            data: of(copies(0..data), copy, DATA),
            expert: of(copies(group..group + expert), copy - group, EXPERT),
            expert_data: of(
                same_experts.map(|it| at(in_tensor, it)).collect(),
                copy / expert,
                EXPERT_DATA,
            ),
            sent: Vec::new(),
        }
    }

    /// A layer that so many tokens pass, which takes so much work.
    fn layer(&mut self, program: &mut Program, tokens: u64, work: Work, phases: Phases) {
        let Self { model, tensor, expert, .. } = self;
        let activations = model.activations(tokens);
        let divided = model.sequence_parallel;
        // Before a matrix that is divided: all tokens, if each rank has some.
        let gather = |program: &mut Program, tensor: &mut Communicator<'_>| {
            if divided {
                let part = activations / u64::from(tensor.size);
                model.collective(program, phases.tensor, "all-gather", tensor, part);
            }
        };
        // Behind it: the sum of what each rank has.
        let reduce = |program: &mut Program, tensor: &mut Communicator<'_>| {
            let name = if divided { "reduce-scatter" } else { "all-reduce" };
            model.collective(program, phases.tensor, name, tensor, activations);
        };
        gather(program, tensor);
        program.compute(work.attention);
        reduce(program, tensor);
        if model.experts > 0 && model.expert > 1 {
            let own = if divided { u64::from(model.tensor) } else { 1 };
            let chosen = u64::from(model.chosen);
            let each = activations * chosen / own / u64::from(model.expert);
            model.collective(program, phases.expert, "all-to-all", expert, each);
            program.compute(work.feed_forward);
            model.collective(program, phases.expert, "all-to-all", expert, each);
            if !divided {
                reduce(program, tensor);
            }
            return;
        }
        gather(program, tensor);
        program.compute(work.feed_forward);
        reduce(program, tensor);
    }

    /// Bytes of the activations of so many tokens, or of their gradients, between stages.
    fn between_stages(&self, tokens: u64) -> u64 {
        let parts = if self.model.sequence_parallel { self.model.tensor } else { 1 };
        self.model.activations(tokens) / u64::from(parts)
    }

    /// The rank of another stage with the same place in it.
    fn in_stage(&self, stage: u32) -> u32 {
        let each = self.model.tensor * self.model.data;
        self.rank % each + stage * each
    }

    /// Waits for a message of another stage; its number tells it apart from others that may be
    /// under way.
    fn receive(&self, program: &mut Program, phase: &str, bytes: u64, stage: u32, number: u32) {
        let (from, tag) = (self.in_stage(stage), number & MESSAGES);
        program.in_phase(phase, |program| program.receive(bytes, from, tag));
    }

    /// Begins to send to another stage.
    fn send(&mut self, program: &mut Program, phase: &str, bytes: u64, stage: u32, number: u32) {
        let (to, tag) = (self.in_stage(stage), number & MESSAGES);
        program.in_phase(phase, |program| self.sent.push(program.begin_send(bytes, to, tag)));
    }

    /// Waits until all that was sent to other stages is there.
    fn wait(&mut self, program: &mut Program) {
        program.wait(&std::mem::take(&mut self.sent));
    }
}

/// The numbers of messages between stages, as tags.
const MESSAGES: u32 = (1 << 24) - 1;

impl Model {
    /// A collective operation, by the algorithm that was asked for if it has it.
    fn collective(
        &self,
        program: &mut Program,
        phase: &str,
        name: &str,
        members: &mut Communicator<'_>,
        bytes: u64,
    ) {
        if bytes == 0 || members.size == 1 {
            return;
        }
        let collective = collective::named(name).expect("it is one of them");
        let (usual, channels) = match name {
            "all-to-all" => ("pairwise", 1),
            _ => ("ring", self.channels),
        };
        let asked = self.algorithm.as_deref();
        let algorithm = asked
            .and_then(|name| collective.algorithm(name, members.size, bytes))
            .or_else(|| collective.algorithm(usual, members.size, bytes));
        let call = Call { segment: self.segment, channels, ..Call::of(bytes) };
        let algorithm = algorithm.expect("it has the usual one");
        program.in_phase(phase, |program| algorithm.run(program, members, &call));
    }
}

#[cfg(test)]
mod tests {
    use super::Model;
    use crate::{Action, Schedule};
    use flitlab_base::narrow::narrow;

    pub(super) fn model() -> Model {
        Model {
            layers: 4,
            hidden: 64,
            key_value: 16,
            feed_forward: 128,
            micro_batch: 2,
            micro_batches: 3,
            experts: 0,
            chosen: 2,
            tensor: 1,
            pipeline: 1,
            data: 1,
            expert: 1,
            sequence_parallel: false,
            number: 2,
            flops_per_second: 1e9,
            algorithm: None,
            segment: None,
            channels: 1,
        }
    }

    /// Bytes that all ranks send in each phase.
    pub(super) fn sent(schedule: &Schedule) -> Vec<(String, u64)> {
        let phases = schedule.phases().iter().map(|phase| {
            let numbers = 0..narrow::<u32>(schedule.operations().len());
            let of = numbers.filter(|&it| schedule.phase(it) == Some(phase));
            let sends = of.filter(|&it| schedule.operation(it).action == Action::Send);
            (phase.clone(), sends.map(|it| schedule.operation(it).amount).sum())
        });
        phases.collect()
    }
}
