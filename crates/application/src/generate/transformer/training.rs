//! A step of training.
//!
//! Sources: the order of micro-batches of a pipeline (one forward, one backward) \[pipedream\],
//! sharded optimizers \[zero\].

use super::{Model, Phases, Place, Work};
use crate::Schedule;
use crate::generate::program::{End, Program, of_ranks};
use crate::generate::{Generator, Make};
use flitlab_base::document::{Choice, Flag, Reader, Whole, plain};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;

pub(in crate::generate) const TRAINING: Row<Generator> = Row::new(
    "training",
    "a step of training a transformer, dense or of experts, in parallel by data, tensor, sequence, pipeline and \
     expert.",
    Generator::Reads(read),
);

/// The stream of what runs beside computing.
const BESIDE: u8 = 1;

const PHASES: Phases =
    Phases { tensor: "tensor parallel", expert: "expert parallel", pipeline: "pipeline parallel" };

const DATA: &str = "data parallel";

/// How the optimizer's state is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Optimizer {
    /// Each rank has all of it: gradients are all-reduced.
    Replicated,
    /// Each rank has a part: gradients are reduce-scattered, and parameters all-gathered.
    Sharded,
}

/// A model and how it is trained.
#[derive(Clone, Debug)]
struct Training {
    model: Model,
    sequence: u64,
    overlap: bool,
    optimizer: Optimizer,
    steps: u32,
}

fn read(reader: &mut Reader<'_>) -> Option<Make> {
    let model = Model::read(reader);
    let whole = |most| Whole { range: 1..=most };
    let sequence = reader.required("sequence", &whole(1 << 24), "Tokens of a sequence.");
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
    let steps = reader.value("iterations", &whole(1_000_000), 1, "Steps, one after the other.");
    let training = Training {
        model: model?,
        sequence: sequence?,
        overlap,
        optimizer: optimizer?,
        steps: narrow(steps),
    };
    Some(Box::new(move |ranks_per_node| training.schedule(ranks_per_node)))
}

impl Training {
    /// Tokens of a micro-batch.
    const fn tokens(&self) -> u64 {
        self.model.micro_batch * self.sequence
    }

    /// What a layer of a micro-batch takes forward: a token looks at half of the others.
    fn work(&self) -> Work {
        self.model.work(self.tokens(), self.sequence as f64 / 2.0)
    }

    fn schedule(&self, ranks_per_node: u32) -> Result<Schedule, String> {
        let ranks = self.model.check(self.sequence)?;
        self.model.check_levels(ranks_per_node, |place| {
            vec![place.tensor, place.data, place.expert, place.expert_data]
        })?;
        of_ranks(ranks, |program, rank| {
            let place = Place::new(&self.model, ranks_per_node, rank);
            let mut rank = Trainer { training: self, place, summed: End::default(), steps: 0 };
            for _ in 0..self.steps {
                if !program.goes_on() {
                    break;
                }
                rank.step(program);
            }
        })
    }
}

/// A rank that trains.
struct Trainer<'a> {
    training: &'a Training,
    place: Place<'a>,
    /// The end of the sums of gradients so far.
    summed: End,
    /// Numbers the steps, so that messages of the pipeline have tags of their own.
    steps: u32,
}

impl Trainer<'_> {
    /// All micro-batches forward and backward, first as many forward as there are stages behind,
    /// then one backward for each one forward; then the rest of the gradients.
    fn step(&mut self, program: &mut Program) {
        let Model { pipeline, micro_batches, layers, .. } = self.training.model;
        let ahead = (pipeline - self.place.stage - 1).min(micro_batches);
        for number in 0..micro_batches + ahead {
            if number < micro_batches {
                self.forward(program, number);
            }
            if let Some(number) = number.checked_sub(ahead) {
                self.backward(program, number);
            }
        }
        self.place.wait(program);
        let here = program.end_sequence();
        program.begin_sequence(0, &[here, self.summed]);
        if self.training.optimizer == Optimizer::Sharded {
            let layers = u64::from(layers / pipeline);
            self.of_gradients(program, "all-gather", |bytes, size| bytes * layers / size);
        }
        self.steps += 1;
    }

    fn forward(&mut self, program: &mut Program, number: u32) {
        let Model { pipeline, layers, .. } = self.training.model;
        self.receive(program, self.place.stage.checked_sub(1), 2 * number);
        for _ in 0..layers / pipeline {
            self.layer(program, 1.0);
        }
        self.send(program, self.next(), 2 * number);
    }

    /// Twice the operations, and the same exchanges the other way.
    fn backward(&mut self, program: &mut Program, number: u32) {
        let Model { pipeline, layers, micro_batches, .. } = self.training.model;
        self.receive(program, self.next(), 2 * number + 1);
        for _ in 0..layers / pipeline {
            self.layer(program, 2.0);
            if number + 1 == micro_batches {
                self.sum_gradients(program);
            }
        }
        self.send(program, self.place.stage.checked_sub(1), 2 * number + 1);
    }

    fn layer(&mut self, program: &mut Program, times: f64) {
        let work = self.training.work().times(times);
        self.place.layer(program, self.training.tokens(), work, PHASES);
    }

    /// The gradients of a layer, summed over all copies, beside what follows if there is overlap.
    fn sum_gradients(&mut self, program: &mut Program) {
        let Training { overlap, optimizer, .. } = *self.training;
        let here = program.end_sequence();
        let stream = if overlap { BESIDE } else { 0 };
        program.begin_sequence(stream, &[here, self.summed]);
        let name = match optimizer {
            Optimizer::Replicated => "all-reduce",
            Optimizer::Sharded => "reduce-scatter",
        };
        self.of_gradients(program, name, |bytes, _| bytes);
        self.summed = program.end_sequence();
        let goes_on = if overlap { here } else { self.summed };
        program.begin_sequence(0, &[goes_on]);
    }

    /// A collective operation on a layer's parameters of all copies, then one on those of experts;
    /// its bytes are given by those of the parameters and by how many ranks have them.
    fn of_gradients(&mut self, program: &mut Program, name: &str, bytes: impl Fn(u64, u64) -> u64) {
        let Place { model, data, expert_data, .. } = &mut self.place;
        let (dense, experts) = model.parameters();
        for (members, parameters) in [(data, dense), (expert_data, experts)] {
            let bytes = bytes(parameters, members.size.into());
            model.collective(program, DATA, name, members, bytes);
        }
    }

    /// The stage behind.
    fn next(&self) -> Option<u32> {
        Some(self.place.stage + 1).filter(|&stage| stage < self.training.model.pipeline)
    }

    /// The number of a message of the pipeline in all steps.
    fn number(&self, number: u32) -> u32 {
        let each = 2 * self.training.model.micro_batches;
        self.steps.wrapping_mul(each).wrapping_add(number)
    }

    fn receive(&self, program: &mut Program, stage: Option<u32>, number: u32) {
        if let Some(stage) = stage {
            let bytes = self.place.between_stages(self.training.tokens());
            self.place.receive(program, PHASES.pipeline, bytes, stage, self.number(number));
        }
    }

    /// Begins to send; the step's end waits for it.
    fn send(&mut self, program: &mut Program, stage: Option<u32>, number: u32) {
        if let Some(stage) = stage {
            let bytes = self.place.between_stages(self.training.tokens());
            let number = self.number(number);
            self.place.send(program, PHASES.pipeline, bytes, stage, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{model, sent};
    use super::*;
    use crate::check;
    use crate::generate::executor::carry_out;

    fn training(model: Model) -> Training {
        let optimizer = Optimizer::Replicated;
        Training { model, sequence: 32, overlap: true, optimizer, steps: 1 }
    }

    #[test]
    fn each_parallelism_sends_what_its_collective_operations_do() {
        // Activations of a micro-batch, and parameters of a layer, in bytes.
        let activations = 2 * 32 * 64 * 2;
        let attention = 64 * (2 * 64 + 2 * 16) * 2;
        let network = 3 * 64 * 128 * 2;
        let cases: [(Training, Vec<(&str, u64)>); 7] = [
            (training(model()), vec![]),
            (
                training(Model { tensor: 4, ..model() }),
                // Two all-reduces a layer and way, each of 2 (n - 1) times the vector.
                vec![("tensor parallel", 3 * 4 * 2 * 2 * 2 * 3 * activations)],
            ),
            (
                training(Model { tensor: 4, sequence_parallel: true, ..model() }),
                vec![("tensor parallel", 3 * 4 * 2 * 2 * 2 * 3 * activations)],
            ),
            (
                training(Model { pipeline: 2, ..model() }),
                vec![("pipeline parallel", 3 * 2 * activations)],
            ),
            (
                training(Model { data: 4, ..model() }),
                vec![("data parallel", 4 * 2 * 3 * (attention + network))],
            ),
            (
                Training {
                    optimizer: Optimizer::Sharded,
                    ..training(Model { data: 4, ..model() })
                },
                vec![("data parallel", 4 * 2 * 3 * (attention + network))],
            ),
            (
                training(Model { data: 4, experts: 8, expert: 2, ..model() }),
                // Two groups of two copies; each expert is in two copies.
                vec![
                    ("expert parallel", 3 * 4 * 2 * 2 * 4 * activations),
                    ("data parallel", 4 * (2 * 3 * attention + 2 * 2 * 4 * network)),
                ],
            ),
        ];
        for (training, expected) in cases {
            let schedule = training.schedule(1).unwrap();
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
                    let algorithm = match optimizer {
                        Optimizer::Replicated => "double-binary-tree",
                        Optimizer::Sharded => "ring",
                    };
                    let algorithm = Some(algorithm.into());
                    let cut = Model { tensor, pipeline, data, expert, experts, ..model() };
                    let model = Model { micro_batches, sequence_parallel, algorithm, ..cut };
                    let training = Training { overlap, optimizer, steps: 2, ..training(model) };
                    let schedule = training.schedule(1).unwrap();
                    assert_eq!(schedule.ranks(), tensor * pipeline * data);
                    assert_eq!(check(&schedule), [], "{training:?}");
                    let carried = carry_out(&schedule);
                    // No stage computes less than all of its micro-batches, one after the other.
                    let work = training.work();
                    let layers = f64::from(2 * micro_batches * training.model.layers / pipeline);
                    let least = layers * 3.0 * (work.attention + work.feed_forward);
                    assert!(carried.busy as f64 >= least - 1e3, "{training:?}");
                }
            }
        }
    }

    #[test]
    fn gradients_go_between_nodes_once_by_levels() {
        let hierarchical = |data| {
            let model = Model { data, algorithm: Some("hierarchical".into()), ..model() };
            training(model).schedule(4)
        };
        let schedule = hierarchical(16).unwrap();
        assert_eq!(check(&schedule), []);
        let numbers = 0..narrow::<u32>(schedule.operations().len());
        let crosses = numbers.filter_map(|number| {
            let operation = schedule.operation(number);
            let sends = operation.action == crate::Action::Send;
            let crosses = schedule.rank_of(number) / 4 != operation.peer / 4;
            (sends && crosses).then_some(operation.amount)
        });
        let parameters = 64 * (2 * 64 + 2 * 16) + 3 * 64 * 128;
        assert_eq!(crosses.sum::<u64>(), 4 * 2 * 3 * parameters * 2);
        // A single node has one level.
        assert!(hierarchical(4).unwrap_err().contains("hierarchical goes by nodes"));
        assert!(hierarchical(6).unwrap_err().contains("hierarchical goes by nodes"));
    }

    #[test]
    fn what_does_not_divide_is_refused() {
        let refused = |training: Training| training.schedule(1).unwrap_err();
        assert_eq!(
            refused(training(Model { pipeline: 3, ..model() })),
            "`pipeline` is 3, which does not divide `layers`, 4"
        );
        assert_eq!(
            refused(training(Model { data: 4, expert: 2, ..model() })),
            "`expert` divides experts, and the model is dense: give `experts`"
        );
        assert_eq!(
            refused(training(Model { experts: 4, chosen: 5, ..model() })),
            "5 `experts_per_token` are more than 4 experts"
        );
        let unknown = training(Model { algorithm: Some("bush".into()), ..model() });
        assert!(
            refused(unknown).contains("there is no algorithm of a collective operation `bush`")
        );
    }
}
