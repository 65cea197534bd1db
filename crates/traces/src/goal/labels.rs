//! The labels of one rank, and the places of their operations.

use std::collections::HashMap;

/// How much larger than twice the number of operations the number of a numbered label may be.
const SPARE: usize = 1024;

/// Labels by name. Those that programs make up, `l1`, `l2` and so on, are found by their number.
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// By number: a place, counted from 1; 0 where there is none.
    numbered: Vec<u32>,
    others: HashMap<Box<str>, u32>,
}

/// The number of a label such as `l7`.
fn number(label: &str) -> Option<usize> {
    let digits = label.strip_prefix('l')?;
    let plain = (1..=9).contains(&digits.len()) && !digits.starts_with('0');
    if plain { digits.parse().ok() } else { None }
}

impl Labels {
    /// The place of an operation.
    pub(super) fn get(&self, label: &str) -> Option<u32> {
        let place = number(label).and_then(|number| self.numbered.get(number));
        match place {
            Some(&place @ 1..) => Some(place - 1),
            _ => self.others.get(label).copied(),
        }
    }

    /// Takes a label that is not there yet.
    pub(super) fn insert(&mut self, label: &str, place: u32) {
        let most = 2 * place as usize + SPARE;
        match number(label).filter(|&number| number < most) {
            Some(number) => {
                if self.numbered.len() <= number {
                    self.numbered.resize(number + 1, 0);
                }
                self.numbered[number] = place + 1;
            }
            None => {
                self.others.insert(label.into(), place);
            }
        }
    }

    /// Forgets them all.
    pub(super) fn clear(&mut self) {
        self.numbered.clear();
        self.others.clear();
    }

    /// Returns at most `most` labels, in an order of their own that is always the same.
    pub(super) fn some(&self, most: usize) -> Vec<String> {
        let numbered = (0..self.numbered.len()).filter(|&number| self.numbered[number] > 0);
        let mut names: Vec<String> =
            numbered.take(most).map(|number| format!("l{number}")).collect();
        let mut others: Vec<&str> = self.others.keys().map(|label| &**label).collect();
        others.sort_unstable();
        names.extend(others.into_iter().take(most).map(str::to_owned));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_whatever_they_look_like() {
        let mut labels = Labels::default();
        let names = ["l1", "l01", "l1030", "l999999999", "l9999999999", "l", "l1x", "send_1", "l0"];
        for (place, name) in (0..).zip(names) {
            assert_eq!(labels.get(name), None);
            labels.insert(name, place);
        }
        for (place, name) in (0..).zip(names) {
            assert_eq!(labels.get(name), Some(place), "{name}");
        }
        assert_eq!(labels.get("l2"), None);
        // Its number was too large when it came; it is not taken again once it would not be.
        labels.insert("l5000", 3);
        assert_eq!(labels.get("l5000"), Some(3));
        // Labels found by number come first.
        assert_eq!(labels.some(2)[0], "l1");
        assert!(labels.some(100).len() == names.len() + 1 && labels.some(2).len() == 3);
        labels.clear();
        assert!(names.iter().all(|name| labels.get(name).is_none()));
    }
}
