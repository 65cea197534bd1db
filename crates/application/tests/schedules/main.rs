//! What is said of whole schedules, which are written here as GOAL files.

mod check;
mod stuck;
mod tally;

use flitlab_application::Schedule;
use flitlab_traces::goal;

/// The schedule in which each rank has these lines of a GOAL file.
fn schedule(ranks: &[&str]) -> Schedule {
    let mut text = format!("num_ranks {}\n", ranks.len());
    for (rank, lines) in ranks.iter().enumerate() {
        text += &format!("rank {rank} {{\n{lines}\n}}\n");
    }
    goal::read_from("x.goal", &mut text.as_bytes()).unwrap()
}
