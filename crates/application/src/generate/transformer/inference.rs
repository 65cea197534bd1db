//! Inference: a prompt is read, and tokens are generated one after the other.
//!
//! Reading the prompt (prefill) is bound by computing, generating (decode) by how fast parameters
//! and the keys and values of all tokens so far are read from memory; each layer takes the longer
//! of the two \[roofline\].

use super::{Model, Phases, Place, Work};
use crate::Schedule;
use crate::generate::program::{Program, of_ranks};
use crate::generate::{Generator, Make};
use flitlab_base::document::{Reader, Whole, rate};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_base::units::Rate;

pub(in crate::generate) const INFERENCE: Row<Generator> = Row::new(
    "inference",
    "a transformer, dense or of experts, reads prompts and generates tokens, in parallel by copy, tensor, sequence, \
     pipeline and expert.",
    Generator::Reads(read),
);

const PREFILL: Phases = Phases {
    tensor: "prefill, tensor parallel",
    expert: "prefill, expert parallel",
    pipeline: "prefill, pipeline parallel",
};

const DECODE: Phases = Phases {
    tensor: "decode, tensor parallel",
    expert: "decode, expert parallel",
    pipeline: "decode, pipeline parallel",
};

/// Bytes of a token's number, which goes from the last stage to the first one.
const TOKEN: u64 = 4;

/// A model and what it is asked.
#[derive(Clone, Debug)]
struct Inference {
    model: Model,
    /// Tokens of a sequence that are read, and tokens that are generated.
    prompt: u64,
    generated: u32,
    memory_bandwidth: Rate,
}

fn read(reader: &mut Reader<'_>) -> Option<Make> {
    let model = Model::read(reader);
    let whole = |most| Whole { range: 1..=most };
    let prompt = reader.required("prompt", &whole(1 << 24), "Tokens of a sequence that are read.");
    let doc = "Tokens of a sequence that are generated; the first of them comes of the prompt.";
    let generated = reader.required("generated", &whole(1 << 20), doc);
    let doc = "How fast a rank reads parameters, keys and values from its memory.";
    let memory_bandwidth = reader.required("memory_bandwidth", &rate(), doc);
    let inference = Inference {
        model: model?,
        prompt: prompt?,
        generated: narrow(generated?),
        memory_bandwidth: memory_bandwidth?,
    };
    Some(Box::new(move |ranks_per_node| inference.schedule(ranks_per_node)))
}

impl Inference {
    fn schedule(&self, ranks_per_node: u32) -> Result<Schedule, String> {
        if self.model.sequence_parallel && self.generated > 1 && self.model.tensor > 1 {
            return Err("`sequence_parallel` divides the tokens of a sequence, and they are \
                        generated one by one: leave it out, or let `generated` be 1"
                .into());
        }
        let ranks = self.model.check(self.prompt)?;
        self.model.check_levels(ranks_per_node, |place| vec![place.tensor, place.expert])?;
        of_ranks(ranks, |program, rank| {
            let mut place = Place::new(&self.model, ranks_per_node, rank);
            for token in 0..self.generated {
                if !program.goes_on() {
                    break;
                }
                self.token(&mut place, program, token);
            }
            place.wait(program);
        })
    }

    /// Tokens of a sequence that pass a layer when this one is generated, and those which they look
    /// at on average.
    const fn looks(&self, token: u32) -> (u64, f64) {
        match token {
            0 => (self.prompt, self.prompt as f64 / 2.0),
            _ => (1, (self.prompt + token as u64) as f64),
        }
    }

    /// What a layer of a micro-batch takes when this token is generated.
    fn work(&self, token: u32) -> Work {
        let Model { micro_batch, tensor, number, key_value, experts, expert, .. } = self.model;
        let (tokens, others) = self.looks(token);
        let tokens = micro_batch * tokens;
        let work = self.model.work(tokens, others);
        let nanoseconds =
            |bytes: u64| bytes as f64 / f64::from(tensor) * 8e9 / self.memory_bandwidth.0 as f64;
        // All tokens so far of each sequence.
        let seen = micro_batch * (self.prompt + u64::from(token));
        let network = self.model.network();
        // As many experts as tokens choose, and no more than the rank has: its group's tokens are
        // spread over all experts evenly.
        let (attention, feed_forward) = match experts {
            0 => (self.model.attention(), network),
            _ => {
                let come = tokens * u64::from(self.model.chosen);
                (self.model.attention(), network * come.min((experts / expert).into()))
            }
        };
        let keys_and_values = 2 * seen * key_value;
        Work {
            attention: work.attention.max(nanoseconds((attention + keys_and_values) * number)),
            feed_forward: work.feed_forward.max(nanoseconds(feed_forward * number)),
        }
    }

    /// All micro-batches through the stage's layers for one token of each sequence.
    fn token(&self, place: &mut Place<'_>, program: &mut Program, token: u32) {
        let Model { pipeline, layers, micro_batch, micro_batches, .. } = self.model;
        let phases = if token == 0 { PREFILL } else { DECODE };
        let work = self.work(token);
        let tokens = micro_batch * self.looks(token).0;
        let between = place.between_stages(tokens);
        let chosen = micro_batch * TOKEN;
        let last = pipeline - 1;
        for batch in 0..micro_batches {
            let number = token.wrapping_mul(micro_batches).wrapping_add(batch);
            match place.stage.checked_sub(1) {
                Some(before) => place.receive(program, phases.pipeline, between, before, number),
                // What the last stage chose is what the first one goes on with.
                None if token > 0 && last > 0 => {
                    let before = number.wrapping_sub(micro_batches);
                    place.receive(program, phases.pipeline, chosen, last, before);
                }
                None => {}
            }
            for _ in 0..layers / pipeline {
                place.layer(program, tokens, work, phases);
            }
            if place.stage < last {
                let next = place.stage + 1;
                place.send(program, phases.pipeline, between, next, number);
            } else if last > 0 && token + 1 < self.generated {
                place.send(program, DECODE.pipeline, chosen, 0, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{model, sent};
    use super::*;
    use crate::check;
    use crate::generate::executor::carry_out;

    fn inference(model: Model) -> Inference {
        // 1 GB/s: 1 ns a byte.
        let memory_bandwidth = Rate(8_000_000_000);
        Inference { model, prompt: 32, generated: 4, memory_bandwidth }
    }

    #[test]
    fn each_parallelism_sends_what_its_collective_operations_do() {
        let prompt = 2 * 32 * 64 * 2;
        let one = 2 * 64 * 2;
        let cases: [(Model, Vec<(&str, u64)>); 4] = [
            (model(), vec![]),
            (
                // Two all-reduces a layer, each of 2 (n - 1) times the vector; 3 micro-batches.
                Model { tensor: 4, ..model() },
                vec![
                    ("prefill, tensor parallel", 3 * 4 * 2 * 2 * 3 * prompt),
                    ("decode, tensor parallel", 3 * 3 * 4 * 2 * 2 * 3 * one),
                ],
            ),
            (
                // Tokens come back but for the last one.
                Model { pipeline: 2, ..model() },
                vec![
                    ("prefill, pipeline parallel", 3 * prompt),
                    ("decode, pipeline parallel", 3 * 3 * (one + 2 * TOKEN)),
                ],
            ),
            (
                // Two tokens' experts of a micro-batch, half of them with the other rank.
                Model { data: 4, experts: 8, expert: 2, ..model() },
                vec![
                    ("prefill, expert parallel", 3 * 4 * 2 * 4 * prompt),
                    ("decode, expert parallel", 3 * 3 * 4 * 2 * 4 * one),
                ],
            ),
        ];
        for (model, expected) in cases {
            let schedule = inference(model.clone()).schedule(1).unwrap();
            assert_eq!(check(&schedule), [], "{model:?}");
            let found = sent(&schedule);
            let found: Vec<(&str, u64)> = found.iter().map(|it| (&*it.0, it.1)).collect();
            assert_eq!(found, expected, "{model:?}");
        }
    }

    #[test]
    fn a_prompt_is_bound_by_computing_and_a_token_by_memory() {
        let at = inference(Model { flops_per_second: 1e12, ..model() });
        let (attention, network) = (64 * (2 * 64 + 2 * 16), 3 * 64 * 128);
        // Of two sequences with 32 tokens each, or 35, keys and values of 16 numbers.
        assert_eq!(at.work(0).attention, f64::from(2 * attention + 2 * 2 * 32 * 2 * 16));
        assert_eq!(at.work(3).attention, f64::from(2 * attention + 2 * 2 * 35 * 2 * 16));
        assert_eq!(at.work(3).feed_forward, f64::from(2 * network));
        let operations = f64::from(2 * 32 * (2 * attention + 2 * 32 * 64));
        let slow = inference(Model { flops_per_second: 1e9, ..model() });
        assert_eq!(slow.work(0).attention, operations);
        assert_eq!(slow.work(3).attention, f64::from(2 * (2 * attention + 4 * 35 * 64)));
        assert_eq!(slow.work(0).feed_forward, f64::from(2 * 32 * 2 * network));
        // A rank of experts reads those that are chosen, and no more than it has.
        let experts = |micro_batch| {
            let model = Model { experts: 16, expert: 2, data: 2, micro_batch, ..model() };
            inference(Model { flops_per_second: 1e15, ..model }).work(1).feed_forward
        };
        assert_eq!(experts(1), f64::from(2 * 2 * network));
        assert_eq!(experts(100), f64::from(2 * 8 * network));
    }

    #[test]
    fn every_combination_comes_to_its_end() {
        for (tensor, pipeline, data, expert) in
            [(1, 1, 1, 1), (2, 2, 2, 1), (1, 4, 2, 2), (2, 1, 4, 2), (1, 2, 4, 4)]
        {
            for (micro_batches, generated) in [(1, 1), (1, 3), (3, 5), (8, 2)] {
                for algorithm in ["ring", "hierarchical", "tree"] {
                    // Nodes of two divide the group of four experts alone.
                    if algorithm == "hierarchical" && (tensor, expert) != (1, 4) {
                        continue;
                    }
                    let experts = if expert > 1 { 8 } else { 0 };
                    let algorithm = Some(algorithm.into());
                    let cut = Model { tensor, pipeline, data, expert, experts, ..model() };
                    let model = Model { micro_batches, algorithm, channels: 2, ..cut };
                    let at = Inference { generated, ..inference(model) };
                    let schedule = at.schedule(2).unwrap();
                    assert_eq!(check(&schedule), [], "{at:?}");
                    let carried = carry_out(&schedule);
                    // The tokens of a sequence come one after the other, through all stages.
                    let work = (0..generated).map(|token| at.work(token));
                    let least: f64 = work.map(|it| 4.0 * (it.attention + it.feed_forward)).sum();
                    assert!(carried.busy as f64 >= least - 1e3, "{at:?}");
                }
            }
        }
    }

    #[test]
    fn tokens_that_are_generated_one_by_one_are_not_divided() {
        let model = Model { tensor: 2, sequence_parallel: true, ..model() };
        let refused = inference(model.clone()).schedule(1).unwrap_err();
        assert!(refused.contains("generated one by one"), "{refused}");
        let prompt = Inference { generated: 1, ..inference(model) };
        assert_eq!(check(&prompt.schedule(1).unwrap()), []);
    }
}
