//! A step of training a transformer on many accelerators, of a few numbers: data, tensor, sequence,
//! pipeline and expert parallelism, and their collective operations.
//!
//! Sources: the parallel layers and the count of operations \[megatron\], sequence parallelism
//! \[megatron-sequence\], the order of micro-batches of a pipeline (one forward, one backward)
//! \[pipedream\], experts \[gshard\], sharded optimizers \[zero\].
//!
//! Ranks are counted along tensor parallelism first, then data, then pipeline, as Megatron does; a
//! group of experts is ranks of data parallelism that follow each other.

use super::collective::{self, Algorithm, Call};
use super::communicator::Communicator;
use super::program::{End, Program, Request, of_ranks};
use super::{Generator, Make, algorithm_of};
use crate::application::Schedule;
use flitlab_base::document::{Choice, Flag, Number, Reader, Text, Whole, plain, size};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_base::units::Bytes;

pub(super) const TRAINING: Row<Generator> = Row::new(
    "training",
    "a step of training a transformer, dense or of experts, in parallel by data, tensor, sequence, pipeline and \
     expert.",
    Generator::Reads(read),
);

/// The stream of what runs beside computing.
const BESIDE: u8 = 1;

/// The contexts of communicators; 0 is that of the pipeline's messages.
const TENSOR: u32 = 2;
const DATA: u32 = 3;
const EXPERT: u32 = 4;
const EXPERT_DATA: u32 = 5;

/// How the optimizer's state is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Optimizer {
    /// Each rank has all of it: gradients are all-reduced.
    Replicated,
    /// Each rank has a part: gradients are reduce-scattered, and parameters all-gathered.
    Sharded,
}

/// A model and how it is cut into parts.
#[derive(Clone, Debug)]
struct Training {
    layers: u32,
    hidden: u64,
    /// The width of keys, and of values, of all heads.
    key_value: u64,
    feed_forward: u64,
    sequence: u64,
    /// Sequences of a micro-batch, and micro-batches of a step.
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
    overlap: bool,
    optimizer: Optimizer,
    /// Bytes of an activation, a gradient or a parameter.
    number: u64,
    flops_per_second: f64,
    algorithm: Option<String>,
    segment: Option<u64>,
    steps: u32,
}

fn read(reader: &mut Reader<'_>) -> Option<Make> {
    let whole = |most| Whole { range: 1..=most };
    let layers = reader.required("layers", &whole(1 << 16), "Layers of the model.");
    let width = whole(1 << 24);
    let hidden = reader.required("hidden", &width, "Numbers of a token between layers.");
    let doc = "Numbers of a token inside the feed-forward network, or inside one expert's.";
    let feed_forward = reader.required("feed_forward", &width, doc);
    let doc = "Numbers of a token's keys, and of its values, of all heads: as `hidden` if absent.";
    let key_value = reader.optional("key_value", &width, doc);
    let sequence = reader.required("sequence", &whole(1 << 24), "Tokens of a sequence.");
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
    let doc = "Whether gradients are summed while those of other layers are computed.";
    let overlap = reader.value("overlap", &Flag, true, doc);
    let doc = "Where the optimizer's state is.";
    let choice = Choice::usual("optimizer", "optimizer", "replicated", doc);
    let replicated = "all of it with each copy: gradients are all-reduced.";
    let sharded = "a part with each copy: gradients are reduce-scattered, and parameters all-gathered at the end.";
    let optimizer = reader.choice(
        &choice,
        vec![
            plain("replicated", Optimizer::Replicated, replicated),
            plain("sharded", Optimizer::Sharded, sharded),
        ],
    );
    let doc = "Bytes of an activation, a gradient or a parameter.";
    let number = reader.value("number", &size(1, 16), Bytes(2), doc);
    let rate = Number { above: 0.0, to: 1e18, inclusive: true };
    let doc = "Operations that a rank computes a second.";
    let flops_per_second = reader.required("flops_per_second", &rate, doc);
    let name = Text { what: "a name", example: "double-binary-tree" };
    let doc = "Algorithm of the gradients' and tensors' all-reduces; ring if absent. All else goes around rings, \
               all-to-alls pairwise.";
    let algorithm = reader.optional("algorithm", &name, doc);
    let doc = "The most bytes that an all-reduce in segments sends at once.";
    let segment = reader.optional("segment", &size(1, 1 << 40), doc);
    let steps = reader.value("iterations", &whole(1_000_000), 1, "Steps, one after the other.");
    let training = Training {
        layers: narrow(layers?),
        hidden: hidden?,
        key_value: key_value.or(hidden)?,
        feed_forward: feed_forward?,
        sequence: sequence?,
        micro_batch,
        micro_batches: narrow(micro_batches),
        experts: narrow(experts.unwrap_or(0)),
        chosen: narrow(chosen),
        tensor: narrow(tensor),
        pipeline: narrow(pipeline),
        data: narrow(data),
        expert: narrow(expert),
        sequence_parallel,
        overlap,
        optimizer: optimizer?,
        number: number.0,
        flops_per_second: flops_per_second?,
        algorithm,
        segment: segment.map(|bytes| bytes.0),
        steps: narrow(steps),
    };
    Some(Box::new(move || training.schedule()))
}

/// What a rank does in a step, but for where it is.
struct Costs {
    /// Nanoseconds of the attention, and of the feed-forward network, of a layer forward.
    attention: f64,
    feed_forward: f64,
    /// Bytes of a micro-batch's activations between layers.
    activations: u64,
    /// Bytes of a rank's parameters of a layer: those that all copies have, and those of experts.
    dense: u64,
    of_experts: u64,
    /// Bytes from a rank to another one of its group of experts.
    to_expert: u64,
}

impl Training {
    fn check(&self) -> Result<u32, String> {
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
            divides("tensor", self.sequence, self.tensor, "`sequence`")?;
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
        let ranks = u64::from(self.tensor) * u64::from(self.pipeline) * u64::from(self.data);
        match u32::try_from(ranks) {
            Ok(ranks) if ranks <= super::MAX_RANKS => Ok(ranks),
            _ => Err(format!("{ranks} ranks are too many: {} at the most", super::MAX_RANKS)),
        }
    }

    fn costs(&self) -> Costs {
        let Self { hidden, key_value, feed_forward, sequence, number, .. } = *self;
        let tensor = u64::from(self.tensor);
        let tokens = self.micro_batch * sequence;
        // Queries and the output, keys and values; gate, up and down.
        let attention = hidden * (2 * hidden + 2 * key_value);
        let network = 3 * hidden * feed_forward;
        let nanoseconds = |operations: f64| {
            operations * tokens as f64 / tensor as f64 / self.flops_per_second * 1e9
        };
        // Two operations for each parameter and token; a token looks at half of the others, at
        // scores and at values.
        let looks = 2.0 * sequence as f64 * hidden as f64;
        let chosen = if self.experts == 0 { 1 } else { u64::from(self.chosen) };
        let activations = tokens * hidden * number;
        let experts = u64::from(self.experts / self.expert);
        let dense = if self.experts == 0 { attention + network } else { attention };
        let own = if self.sequence_parallel { tensor } else { 1 };
        Costs {
            attention: nanoseconds(2.0 * attention as f64 + looks),
            feed_forward: nanoseconds(2.0 * (network * chosen) as f64),
            activations,
            dense: dense * number / tensor,
            of_experts: experts * network * number / tensor,
            to_expert: activations * chosen / own / u64::from(self.expert),
        }
    }

    fn schedule(&self) -> Result<Schedule, String> {
        let ranks = self.check()?;
        let all_reduce = collective::named("all-reduce").expect("it is one of them");
        let name = Some(self.algorithm.as_deref().unwrap_or("ring"));
        // A library's choice depends on bytes; that it is known is all that is looked at here.
        algorithm_of(all_reduce, name, 2, 1)?;
        let costs = self.costs();
        of_ranks(ranks, |program, rank| {
            let mut ranks = RankOf::new(self, &costs, rank);
            for _ in 0..self.steps {
                if !program.goes_on() {
                    break;
                }
                ranks.step(program);
            }
        })
    }
}

/// A rank and its groups.
struct RankOf<'a> {
    training: &'a Training,
    costs: &'a Costs,
    rank: u32,
    stage: u32,
    tensor: Communicator<'static>,
    data: Communicator<'static>,
    expert: Communicator<'static>,
    /// The ranks with the same experts.
    expert_data: Communicator<'static>,
    /// The end of the sums of gradients so far.
    summed: End,
    /// Messages to other stages that were begun.
    sent: Vec<Request>,
    /// Numbers the steps, so that messages of the pipeline have tags of their own.
    steps: u32,
}

impl<'a> RankOf<'a> {
    fn new(training: &'a Training, costs: &'a Costs, rank: u32) -> Self {
        let Training { tensor, data, expert, .. } = *training;
        let (in_tensor, rest) = (rank % tensor, rank / tensor);
        let (copy, stage) = (rest % data, rest / data);
        let at = |in_tensor: u32, copy: u32| in_tensor + tensor * (copy + data * stage);
        let group = copy / expert * expert;
        let of = |members: Vec<u32>, place, context| Communicator::of(members, place, context);
        Self {
            training,
            costs,
            rank,
            stage,
            tensor: of((0..tensor).map(|other| at(other, copy)).collect(), in_tensor, TENSOR),
            data: of((0..data).map(|other| at(in_tensor, other)).collect(), copy, DATA),
            expert: of(
                (group..group + expert).map(|other| at(in_tensor, other)).collect(),
                copy - group,
                EXPERT,
            ),
            expert_data: of(
                (copy % expert..data)
                    .step_by(expert as usize)
                    .map(|it| at(in_tensor, it))
                    .collect(),
                copy / expert,
                EXPERT_DATA,
            ),
            summed: End::default(),
            sent: Vec::new(),
            steps: 0,
        }
    }

    /// All micro-batches forward and backward, first as many forward as there are stages behind,
    /// then one backward for each one forward; then the rest of the gradients.
    fn step(&mut self, program: &mut Program) {
        let Training { pipeline, micro_batches, .. } = *self.training;
        let ahead = (pipeline - self.stage - 1).min(micro_batches);
        for number in 0..micro_batches + ahead {
            if number < micro_batches {
                self.forward(program, number);
            }
            if let Some(number) = number.checked_sub(ahead) {
                self.backward(program, number);
            }
        }
        let sent = std::mem::take(&mut self.sent);
        program.wait(&sent);
        let here = program.end_sequence();
        program.begin_sequence(0, &[here, self.summed]);
        if self.training.optimizer == Optimizer::Sharded {
            let layers = u64::from(self.training.layers / pipeline);
            let Self { costs, data, expert_data, .. } = self;
            for (members, bytes) in [(data, costs.dense), (expert_data, costs.of_experts)] {
                let part = bytes * layers / u64::from(members.size);
                ring(program, "data parallel", "all-gather", members, part);
            }
        }
        self.steps += 1;
    }

    fn forward(&mut self, program: &mut Program, number: u32) {
        self.receive(program, self.stage.checked_sub(1), 2 * number);
        for _ in 0..self.training.layers / self.training.pipeline {
            self.layer(program, 1.0);
        }
        self.send(program, self.stage + 1, 2 * number);
    }

    /// Twice the operations, and the same exchanges the other way.
    fn backward(&mut self, program: &mut Program, number: u32) {
        let Training { pipeline, layers, micro_batches, .. } = *self.training;
        let behind = Some(self.stage + 1).filter(|&stage| stage < pipeline);
        self.receive(program, behind, 2 * number + 1);
        for _ in 0..layers / pipeline {
            self.layer(program, 2.0);
            if number + 1 == micro_batches {
                self.sum_gradients(program);
            }
        }
        if let Some(before) = self.stage.checked_sub(1) {
            self.send(program, before, 2 * number + 1);
        }
    }

    /// A layer of a micro-batch.
    fn layer(&mut self, program: &mut Program, times: f64) {
        let Self { training, costs, tensor, expert, .. } = self;
        Self::gather(training, costs, program, tensor);
        program.compute(times * costs.attention);
        Self::reduce(training, costs, program, tensor);
        if training.experts > 0 && training.expert > 1 {
            exchange(program, expert, costs.to_expert);
            program.compute(times * costs.feed_forward);
            exchange(program, expert, costs.to_expert);
            if !training.sequence_parallel {
                Self::reduce(training, costs, program, tensor);
            }
            return;
        }
        Self::gather(training, costs, program, tensor);
        program.compute(times * costs.feed_forward);
        Self::reduce(training, costs, program, tensor);
    }

    /// Before a matrix that is divided: all tokens, if each rank has some.
    fn gather(
        training: &Training,
        costs: &Costs,
        program: &mut Program,
        tensor: &mut Communicator<'_>,
    ) {
        if training.sequence_parallel {
            let part = costs.activations / u64::from(tensor.size);
            ring(program, "tensor parallel", "all-gather", tensor, part);
        }
    }

    /// Behind a matrix that is divided: the sum of what each rank has.
    fn reduce(
        training: &Training,
        costs: &Costs,
        program: &mut Program,
        tensor: &mut Communicator<'_>,
    ) {
        match training.sequence_parallel {
            true => {
                let bytes = costs.activations;
                ring(program, "tensor parallel", "reduce-scatter", tensor, bytes);
            }
            false => sum(training, program, "tensor parallel", tensor, costs.activations),
        }
    }

    /// The gradients of a layer, summed over all copies, beside what follows if there is overlap.
    fn sum_gradients(&mut self, program: &mut Program) {
        let here = program.end_sequence();
        let stream = if self.training.overlap { BESIDE } else { 0 };
        program.begin_sequence(stream, &[here, self.summed]);
        let Self { training, costs, data, expert_data, .. } = self;
        for (members, bytes) in [(data, costs.dense), (expert_data, costs.of_experts)] {
            match training.optimizer {
                Optimizer::Replicated => sum(training, program, "data parallel", members, bytes),
                Optimizer::Sharded => {
                    ring(program, "data parallel", "reduce-scatter", members, bytes);
                }
            }
        }
        self.summed = program.end_sequence();
        let goes_on = if self.training.overlap { here } else { self.summed };
        program.begin_sequence(0, &[goes_on]);
    }

    /// Bytes of activations, or of their gradients, between stages.
    fn between_stages(&self) -> u64 {
        match self.training.sequence_parallel {
            true => self.costs.activations / u64::from(self.training.tensor),
            false => self.costs.activations,
        }
    }

    /// The rank of another stage with the same place in it.
    fn in_stage(&self, stage: u32) -> u32 {
        let each = self.training.tensor * self.training.data;
        self.rank % each + stage * each
    }

    /// The tag of a message of the pipeline, which is its number in all steps.
    fn tag(&self, number: u32) -> u32 {
        let each = 2 * self.training.micro_batches;
        self.steps.wrapping_mul(each).wrapping_add(number) & ((1 << 24) - 1)
    }

    fn receive(&self, program: &mut Program, stage: Option<u32>, number: u32) {
        let Some(stage) = stage else { return };
        let (bytes, from, tag) = (self.between_stages(), self.in_stage(stage), self.tag(number));
        program.in_phase("pipeline parallel", |program| program.receive(bytes, from, tag));
    }

    /// Begins to send; the step's end waits for it.
    fn send(&mut self, program: &mut Program, stage: u32, number: u32) {
        if stage >= self.training.pipeline {
            return;
        }
        let (bytes, to, tag) = (self.between_stages(), self.in_stage(stage), self.tag(number));
        program.in_phase("pipeline parallel", |program| {
            self.sent.push(program.begin_send(bytes, to, tag));
        });
    }
}

/// An all-reduce by the algorithm that was asked for.
fn sum(
    training: &Training,
    program: &mut Program,
    phase: &str,
    members: &mut Communicator<'_>,
    bytes: u64,
) {
    let all_reduce = collective::named("all-reduce").expect("it is one of them");
    let name = training.algorithm.as_deref().unwrap_or("ring");
    let algorithm = all_reduce.algorithm(name, members.size, bytes).expect("it is known");
    run(program, phase, algorithm, members, &Call { segment: training.segment, ..Call::of(bytes) });
}

/// A collective operation around a ring.
fn ring(
    program: &mut Program,
    phase: &str,
    name: &str,
    members: &mut Communicator<'_>,
    bytes: u64,
) {
    let collective = collective::named(name).expect("it is one of them");
    let algorithm = collective.algorithm("ring", members.size, bytes).expect("it has a ring");
    run(program, phase, algorithm, members, &Call::of(bytes));
}

/// Tokens to the experts that they go to, or back.
fn exchange(program: &mut Program, members: &mut Communicator<'_>, bytes: u64) {
    let collective = collective::named("all-to-all").expect("it is one of them");
    let algorithm = collective.algorithm("pairwise", members.size, bytes).expect("it is there");
    run(program, "expert parallel", algorithm, members, &Call::of(bytes));
}

fn run(
    program: &mut Program,
    phase: &str,
    algorithm: &Algorithm,
    members: &mut Communicator<'_>,
    call: &Call,
) {
    if call.bytes > 0 && members.size > 1 {
        program.in_phase(phase, |program| algorithm.run(program, members, call));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::generate::executor::carry_out;
    use crate::application::{Action, check};

    fn model() -> Training {
        Training {
            layers: 4,
            hidden: 64,
            key_value: 16,
            feed_forward: 128,
            sequence: 32,
            micro_batch: 2,
            micro_batches: 3,
            experts: 0,
            chosen: 2,
            tensor: 1,
            pipeline: 1,
            data: 1,
            expert: 1,
            sequence_parallel: false,
            overlap: true,
            optimizer: Optimizer::Replicated,
            number: 2,
            flops_per_second: 1e9,
            algorithm: None,
            segment: None,
            steps: 1,
        }
    }

    /// Bytes that all ranks send in each phase.
    fn sent(schedule: &Schedule) -> Vec<(String, u64)> {
        let phases = schedule.phases().iter().map(|phase| {
            let numbers = 0..narrow::<u32>(schedule.operations().len());
            let of = numbers.filter(|&it| schedule.phase(it) == Some(phase));
            let sends = of.filter(|&it| schedule.operation(it).action == Action::Send);
            (phase.clone(), sends.map(|it| schedule.operation(it).amount).sum())
        });
        phases.collect()
    }

    #[test]
    fn each_parallelism_sends_what_its_collective_operations_do() {
        // Activations of a micro-batch, and parameters of a layer, in bytes.
        let activations = 2 * 32 * 64 * 2;
        let attention = 64 * (2 * 64 + 2 * 16) * 2;
        let network = 3 * 64 * 128 * 2;
        let cases: [(Training, Vec<(&str, u64)>); 7] = [
            (model(), vec![]),
            (
                Training { tensor: 4, ..model() },
                // Two all-reduces a layer and way, each of 2 (n - 1) times the vector.
                vec![("tensor parallel", 3 * 4 * 2 * 2 * 2 * 3 * activations)],
            ),
            (
                Training { tensor: 4, sequence_parallel: true, ..model() },
                vec![("tensor parallel", 3 * 4 * 2 * 2 * 2 * 3 * activations)],
            ),
            (Training { pipeline: 2, ..model() }, vec![("pipeline parallel", 3 * 2 * activations)]),
            (
                Training { data: 4, ..model() },
                vec![("data parallel", 4 * 2 * 3 * (attention + network))],
            ),
            (
                Training { data: 4, optimizer: Optimizer::Sharded, ..model() },
                vec![("data parallel", 4 * 2 * 3 * (attention + network))],
            ),
            (
                Training { data: 4, experts: 8, expert: 2, ..model() },
                // Two groups of two copies; each expert is in two copies.
                vec![
                    ("expert parallel", 3 * 4 * 2 * 2 * 4 * activations),
                    ("data parallel", 4 * (2 * 3 * attention + 2 * 2 * 4 * network)),
                ],
            ),
        ];
        for (training, expected) in cases {
            let schedule = training.schedule().unwrap();
            assert_eq!(check(&schedule), [], "{training:?}");
            let found = sent(&schedule);
            let found: Vec<(&str, u64)> = found.iter().map(|it| (&*it.0, it.1)).collect();
            assert_eq!(found, expected, "{training:?}");
        }
    }

    #[test]
    fn every_combination_comes_to_its_end() {
        for (tensor, pipeline, data, expert) in
            [(2, 2, 2, 1), (1, 4, 2, 2), (2, 1, 4, 2), (4, 2, 1, 1), (2, 4, 4, 4)]
        {
            for (micro_batches, sequence_parallel, overlap) in
                [(1, true, true), (3, false, false), (8, true, false), (5, false, true)]
            {
                for optimizer in [Optimizer::Replicated, Optimizer::Sharded] {
                    let experts = if expert > 1 { 8 } else { 0 };
                    let training = Training {
                        tensor,
                        pipeline,
                        data,
                        expert,
                        experts,
                        micro_batches,
                        sequence_parallel,
                        overlap,
                        optimizer,
                        steps: 2,
                        algorithm: Some("double-binary-tree".into()),
                        ..model()
                    };
                    let schedule = training.schedule().unwrap();
                    assert_eq!(schedule.ranks(), tensor * pipeline * data);
                    assert_eq!(check(&schedule), [], "{training:?}");
                    let carried = carry_out(&schedule);
                    // No stage computes less than all of its micro-batches, one after the other.
                    let costs = training.costs();
                    let layers = f64::from(2 * micro_batches * training.layers / pipeline);
                    let least = layers * 3.0 * (costs.attention + costs.feed_forward);
                    assert!(carried.busy as f64 >= least - 1e3, "{training:?}");
                }
            }
        }
    }

    #[test]
    fn what_does_not_divide_is_refused() {
        let refused = |training: Training| training.schedule().unwrap_err();
        assert_eq!(
            refused(Training { pipeline: 3, ..model() }),
            "`pipeline` is 3, which does not divide `layers`, 4"
        );
        assert_eq!(
            refused(Training { data: 4, expert: 2, ..model() }),
            "`expert` divides experts, and the model is dense: give `experts`"
        );
        assert_eq!(
            refused(Training { experts: 4, chosen: 5, ..model() }),
            "5 `experts_per_token` are more than 4 experts"
        );
        let unknown = Training { algorithm: Some("tree".into()), ..model() };
        assert!(refused(unknown).contains("there is no algorithm of all-reduce `tree`"));
    }
}
