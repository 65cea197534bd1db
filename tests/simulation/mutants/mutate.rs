//! Small damage to text files, each at random: lines and words changed, dropped, swapped, repeated.

use rand::{RngExt, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

/// A file's lines.
pub struct Lines(pub Vec<String>);

impl Lines {
    pub fn of(text: &str) -> Self {
        Self(text.lines().map(str::to_owned).collect())
    }

    pub fn text(&self) -> String {
        self.0.join("\n") + "\n"
    }

    /// A line that is of a kind, if there is one.
    pub fn any(&self, random: &mut ChaCha8Rng, is: impl Fn(&str) -> bool) -> Option<usize> {
        let places: Vec<usize> = (0..self.0.len()).filter(|&at| is(&self.0[at])).collect();
        places.choose(random).copied()
    }

    pub fn drop(&mut self, random: &mut ChaCha8Rng, is: impl Fn(&str) -> bool) {
        if let Some(at) = self.any(random, is) {
            self.0.remove(at);
        }
    }

    /// Writes a line a second time, behind another one of its kind.
    pub fn repeat(&mut self, random: &mut ChaCha8Rng, is: impl Fn(&str) -> bool) {
        let (from, behind) = (self.any(random, &is), self.any(random, &is));
        if let (Some(from), Some(behind)) = (from, behind) {
            self.0.insert(behind + 1, self.0[from].clone());
        }
    }

    /// Sets a word of a line.
    pub fn set(&mut self, at: usize, word: usize, value: &str) {
        let mut words: Vec<&str> = self.0[at].split_whitespace().collect();
        if let Some(place) = words.get_mut(word) {
            *place = value;
            self.0[at] = words.join(" ");
        }
    }

    pub fn word(&self, at: usize, word: usize) -> String {
        self.0[at].split_whitespace().nth(word).unwrap_or_default().to_owned()
    }

    /// Changes a word of a line to a value, or to that of another line.
    pub fn change(
        &mut self,
        random: &mut ChaCha8Rng,
        word: usize,
        values: &[String],
        is: impl Fn(&str) -> bool,
    ) {
        let Some(at) = self.any(random, &is) else { return };
        let other = self.any(random, &is).map(|other| self.word(other, word));
        let value = if values.is_empty() || random.random_range(0..3) == 0 {
            other
        } else {
            values.choose(random).cloned()
        };
        self.set(at, word, &value.unwrap_or_default());
    }

    /// Swaps a word of two lines.
    pub fn swap(&mut self, random: &mut ChaCha8Rng, word: usize, is: impl Fn(&str) -> bool) {
        let (one, other) = (self.any(random, &is), self.any(random, &is));
        if let (Some(one), Some(other)) = (one, other) {
            let (here, there) = (self.word(one, word), self.word(other, word));
            self.set(one, word, &there);
            self.set(other, word, &here);
        }
    }

    /// The block that begins with a line of a kind and ends before the next one.
    fn block(&self, start: usize, is: impl Fn(&str) -> bool) -> std::ops::Range<usize> {
        let length = self.0[start + 1..].iter().position(|line| is(line));
        start..length.map_or(self.0.len(), |length| start + 1 + length)
    }

    pub fn drop_block(&mut self, random: &mut ChaCha8Rng, is: impl Fn(&str) -> bool) {
        if let Some(start) = self.any(random, &is) {
            let block = self.block(start, is);
            self.0.drain(block);
        }
    }

    pub fn repeat_block(&mut self, random: &mut ChaCha8Rng, is: impl Fn(&str) -> bool) {
        if let Some(start) = self.any(random, &is) {
            let block = self.0[self.block(start, is)].to_vec();
            self.0.extend(block);
        }
    }

    /// Moves a block to the end, which changes nothing.
    pub fn move_block(&mut self, random: &mut ChaCha8Rng, is: impl Fn(&str) -> bool) {
        if let Some(start) = self.any(random, &is) {
            let block = self.block(start, is);
            let block: Vec<String> = self.0.drain(block).collect();
            self.0.extend(block);
        }
    }
}

pub fn strings<T: ToString>(values: impl IntoIterator<Item = T>) -> Vec<String> {
    values.into_iter().map(|value| value.to_string()).collect()
}

/// One mutation of a file of Angara's routes.
pub fn routes(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let is_row = |line: &str| line.starts_with('(');
    let names = ["x", "y", "z"];
    let dimensions = lines.word(2, 0).matches(',').count().max(1);
    let dimensions = dimensions.max(lines.0[1].split_whitespace().count().saturating_sub(1)).min(3);
    let steps = |sign: &str| {
        let steps = names[..dimensions].iter().map(|name| format!("{sign}{name}"));
        steps.chain([".".to_owned()]).collect::<Vec<_>>()
    };
    let all: Vec<String> = [steps("+"), steps("-")].concat();
    match random.random_range(0..20) {
        0 => {
            let two = [all.choose(random).unwrap().clone(), all.choose(random).unwrap().clone()];
            lines.change(random, 3, &[two.concat()], is_row);
        }
        1 => lines.change(random, 3, &all, is_row),
        2 => lines.change(random, 2, &all, is_row),
        3 => lines.change(random, 4, &all, is_row),
        4 => lines.drop(random, is_row),
        5 => lines.repeat(random, is_row),
        6 => lines.swap(random, 3, is_row),
        7 => lines.swap(random, 1, is_row),
        8 => lines.change(random, 0, &[], is_row),
        9 | 10 => {
            let node = lines.any(random, is_row).map(|at| lines.word(at, 0)).unwrap_or_default();
            let line = match random.random_range(0..4) {
                0 => format!("failed-node {node}"),
                1 => format!("open {}", names[..dimensions].choose(random).unwrap()),
                _ => format!("failed-cable {node} {}", all.choose(random).unwrap()),
            };
            lines.0.insert(2, line);
        }
        11 => lines.drop(random, |line| line.starts_with("failed") || line.starts_with("open")),
        12 => {
            let is_torus = |line: &str| line.starts_with("torus");
            let word = random.random_range(1..=dimensions);
            lines.change(random, word, &strings(2..6), is_torus);
        }
        13 => {
            if let Some(at) = lines.any(random, |line| line.starts_with("nodes (")) {
                let cut = lines.0[at].rfind(' ').unwrap();
                lines.0[at].truncate(cut);
            }
        }
        _ => {
            let rows = *[1, 1, 4, 20, 200].choose(random).unwrap();
            for _ in 0..rows {
                lead_otherwise(lines, random, is_row);
            }
        }
    }
}

/// Gives a pair another header that leads to its destination, by any first and last steps and
/// either way round.
fn lead_otherwise(lines: &mut Lines, random: &mut ChaCha8Rng, is_row: impl Fn(&str) -> bool) {
    let Some(at) = lines.any(random, is_row) else { return };
    let torus = lines.0.iter().find(|line| line.starts_with("torus")).cloned().unwrap_or_default();
    let sizes: Vec<i64> =
        torus.split_whitespace().skip(1).filter_map(|it| it.parse().ok()).collect();
    let node = |text: String| -> Vec<i64> {
        let inside = text.trim_matches(|letter| letter == '(' || letter == ')');
        inside.split(',').filter_map(|it| it.parse().ok()).collect()
    };
    let (mut from, mut to) = (node(lines.word(at, 0)), node(lines.word(at, 1)));
    if from.len() != sizes.len() || to.len() != sizes.len() || sizes.contains(&0) {
        return;
    }
    let names = ["x", "y", "z"];
    let mut step = |place: &mut Vec<i64>, sign: &str| {
        if random.random_range(0..3) > 0 {
            return ".".to_owned();
        }
        let dimension = random.random_range(0..sizes.len());
        place[dimension] = (place[dimension] + 1) % sizes[dimension];
        format!("{sign}{}", names[dimension])
    };
    let (first, last) = (step(&mut from, "+"), step(&mut to, "-"));
    let (mut plus, mut minus) = (String::new(), String::new());
    for (dimension, name) in names.iter().enumerate().take(sizes.len()) {
        if from[dimension] != to[dimension] {
            if random.random_range(0..2) == 0 {
                plus += &format!("+{name}");
            } else {
                minus += &format!("-{name}");
            }
        }
    }
    let directions = plus + &minus;
    lines.set(at, 2, &first);
    lines.set(at, 3, if directions.is_empty() { "." } else { &directions });
    lines.set(at, 4, &last);
}

/// One mutation of switches' forwarding tables.
pub fn tables(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let is_entry = |line: &str| line.starts_with("0x") && line.contains("Channel");
    let is_head = |line: &str| line.starts_with("Unicast");
    let ports = strings(["001", "002", "001", "002", "003", "004", "255", "000"]);
    match random.random_range(0..20) {
        0..=6 => lines.change(random, 1, &ports, is_entry),
        7 | 8 => lines.swap(random, 1, is_entry),
        9 => lines.change(random, 0, &strings(["0x0000", "0xc000", "0x0100"]), is_entry),
        10 => {
            let word = *[0, 6].choose(random).unwrap();
            lines.swap(random, word, is_entry);
        }
        11 | 12 => lines.drop(random, is_entry),
        13 => lines.repeat(random, is_entry),
        14 => lines.repeat_block(random, is_head),
        15 => match random.random_range(0..3) {
            0 => lines.drop(random, is_head),
            1 => lines.change(random, 8, &[], is_head),
            _ => lines.drop_block(random, is_head),
        },
        16 => lines.move_block(random, is_head),
        _ => {
            // Towards one destination the switches' first two cables give way to one of them:
            // packets go round.
            let Some(at) = lines.any(random, is_entry) else { return };
            let (lid, port) = (lines.word(at, 0), ports[random.random_range(0..2)].clone());
            for at in 0..lines.0.len() {
                let is_one = is_entry(&lines.0[at]) && lines.word(at, 0) == lid;
                if is_one && ports[..2].contains(&lines.word(at, 1)) {
                    lines.set(at, 1, &port);
                }
            }
        }
    }
}

/// One mutation of switches' maps from service levels to lanes.
pub fn map(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let is_row = |line: &str| line.starts_with(|letter: char| letter.is_ascii_digit());
    let is_head = |line: &str| line.starts_with("Switch");
    // Behind two ports and a colon.
    let level = 3 + random.random_range(0..4);
    let lanes = strings([0, 1, 2, 15, 15]);
    match random.random_range(0..20) {
        0 => lines.change(random, level, &lanes, is_row),
        1..=7 => {
            // For all packets to a port, whence they come.
            if let Some(at) = lines.any(random, is_row) {
                let (output, lane) = (lines.word(at, 1), lanes.choose(random).unwrap().clone());
                let start = (0..at).rev().find(|&at| is_head(&lines.0[at])).unwrap_or(0);
                for at in start + 1..lines.0.len() {
                    if is_head(&lines.0[at]) {
                        break;
                    }
                    if is_row(&lines.0[at]) && lines.word(at, 1) == output {
                        lines.set(at, level, &lane);
                    }
                }
            }
        }
        8..=12 => {
            // For one service level, everywhere.
            let lane = lanes.choose(random).unwrap().clone();
            for at in 0..lines.0.len() {
                if is_row(&lines.0[at]) {
                    lines.set(at, level, &lane);
                }
            }
        }
        13 => lines.change(random, level, &strings(["16", "255", "x"]), is_row),
        14 => lines.drop(random, is_row),
        15 => lines.repeat(random, is_row),
        16 => {
            let word = random.random_range(0..2);
            lines.change(random, word, &strings(0..6), is_row);
        }
        17 => lines.drop_block(random, is_head),
        18 => lines.repeat_block(random, is_head),
        _ => lines.move_block(random, is_head),
    }
}

/// One mutation of paths' service levels.
pub fn paths(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let is_row = |line: &str| !line.starts_with('#');
    let levels = strings(0..4);
    match random.random_range(0..16) {
        0..=3 => lines.change(random, 2, &levels, is_row),
        4 | 5 => {
            let level = levels.choose(random).unwrap().clone();
            for at in 0..lines.0.len() {
                if is_row(&lines.0[at]) && random.random_range(0..2) == 0 {
                    lines.set(at, 2, &level);
                }
            }
        }
        6 => lines.change(random, 2, &strings(["15", "16", "-1"]), is_row),
        7 => lines.swap(random, 0, is_row),
        8 => lines.change(random, 1, &strings(["0", "700", "3"]), is_row),
        9 => lines.swap(random, 2, is_row),
        10 => lines.repeat(random, is_row),
        11 => lines.move_block(random, is_row),
        12 => {
            let keep = random.random_range(0..=lines.0.len());
            lines.0.truncate(keep);
        }
        _ => (0..random.random_range(1..20)).for_each(|_| lines.drop(random, is_row)),
    }
}

/// One mutation of a netlist.
pub fn netlist(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let is_port = |line: &str| line.starts_with('[');
    let is_guid = |line: &str| line.contains("guid");
    let ports = strings(["0", "1", "2", "3", "4", "9"]);
    let Some(at) = lines.any(random, is_port) else { return };
    match random.random_range(0..12) {
        0 | 1 => {
            // A number in brackets.
            let open: Vec<usize> = lines.0[at].match_indices('[').map(|(place, _)| place).collect();
            let open = *open.choose(random).unwrap();
            let close = open + lines.0[at][open..].find(']').unwrap();
            lines.0[at].replace_range(open + 1..close, ports.choose(random).unwrap());
        }
        2 | 3 => {
            // Two cables change their far ends, so that a table no longer fits.
            let other = lines.any(random, is_port).unwrap();
            let far = |line: &str| -> (usize, String) {
                let start = line.find('"').unwrap();
                let end = line[start..].find(']').map_or(line.len(), |end| start + end + 1);
                (start, line[start..end].to_owned())
            };
            let (here, there) = (far(&lines.0[at]), far(&lines.0[other]));
            lines.0[at].replace_range(here.0..here.0 + here.1.len(), &there.1);
            if other != at {
                lines.0[other].replace_range(there.0..there.0 + there.1.len(), &here.1);
            }
        }
        4 | 5 => lines.drop(random, is_port),
        6 => lines.repeat(random, is_port),
        7 => lines.swap(random, 0, is_guid),
        8 => lines.change(random, 0, &[], is_guid),
        9 => lines.move_block(random, str::is_empty),
        10 => lines.drop_block(random, str::is_empty),
        _ => {
            let (from, to) = (["lid 1 ", "lid 2 ", "(2000"], ["lid 2 ", "lid 0 ", "(1000"]);
            let change = random.random_range(0..3);
            lines.0[at] = lines.0[at].replace(from[change], to[change]);
        }
    }
}
