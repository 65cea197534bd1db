//! What ranks did over time, with the shortest stretches put together, so that a long run takes no
//! more room than a short one.

use flitlab_base::units::Picoseconds;
use flitlab_model::{Bar, Spent, Times};

/// There are no fewer bars than this for each rank, or there are none.
const LEAST_OF_A_RANK: usize = 8;

/// The bars of ranks. A bar that is shorter than a limit takes in its neighbour in the same rank if
/// that is shorter, too. The limit is zero at first, and doubles as often as there are too many.
#[derive(Debug)]
pub(super) struct Bars {
    bars: Vec<Bar>,
    /// By bar: the time that its operation took, which is the longest of them.
    longest: Vec<Picoseconds>,
    most: usize,
    limit: Picoseconds,
    end: Picoseconds,
}

impl Bars {
    /// At most so many bars of so many ranks, which end at a time; none at all if there are too
    /// many ranks for that.
    pub(super) fn new(ranks: u32, most: usize, end: Picoseconds) -> Self {
        let most = if ranks as usize * LEAST_OF_A_RANK <= most { most } else { 0 };
        Self { bars: Vec::new(), longest: Vec::new(), most, limit: Picoseconds::ZERO, end }
    }

    /// Adds what a rank did next. Ranks come one after the other.
    pub(super) fn add(
        &mut self,
        (rank, operation): (u32, u32),
        start: Picoseconds,
        end: Picoseconds,
        spent: Spent,
    ) {
        if self.most == 0 {
            return;
        }
        let mut times = Times::default();
        times[spent as usize] = end - start;
        let bar = Bar { rank, start, end, operation, pieces: 1, times };
        self.put(bar, end - start);
        if self.bars.len() >= 2 * self.most {
            self.shorten();
        }
    }

    /// Adds a bar, or lets the last one take it in.
    fn put(&mut self, bar: Bar, longest: Picoseconds) {
        if let Some((last, own)) = self.bars.last_mut().zip(self.longest.last_mut()) {
            let is_short = |bar: &Bar| bar.end - bar.start < self.limit;
            let follows = (last.rank, last.end) == (bar.rank, bar.start);
            if follows && is_short(last) && is_short(&bar) {
                last.end = bar.end;
                last.pieces = last.pieces.saturating_add(bar.pieces);
                last.times.iter_mut().zip(bar.times).for_each(|(time, more)| *time += more);
                if longest > *own {
                    (last.operation, *own) = (bar.operation, longest);
                }
                return;
            }
        }
        self.bars.push(bar);
        self.longest.push(longest);
    }

    /// Doubles the limit until there are no more bars than there may be.
    fn shorten(&mut self) {
        while self.bars.len() > self.most && self.limit <= self.end {
            self.limit = (self.limit * 2).max(Picoseconds(1 + self.end.0 / (1 << 20)));
            let bars = std::mem::take(&mut self.bars);
            let longest = std::mem::take(&mut self.longest);
            bars.into_iter().zip(longest).for_each(|(bar, longest)| self.put(bar, longest));
        }
    }

    /// The bars, at most as many as there may be.
    pub(super) fn finish(mut self) -> Vec<Bar> {
        self.shorten();
        self.bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand pieces of a rank, each a picosecond longer than the one before it.
    fn bars(most: usize) -> Vec<Bar> {
        let end = Picoseconds((1..=1000).sum());
        let mut bars = Bars::new(2, most, end);
        for rank in 0..2 {
            let mut start = Picoseconds::ZERO;
            for operation in 0..1000 {
                let (end, spent) = (
                    start + Picoseconds(u64::from(operation) + 1),
                    Spent::ALL[operation as usize % 6],
                );
                bars.add((rank, operation), start, end, spent);
                start = end;
            }
        }
        bars.finish()
    }

    #[test]
    fn short_bars_are_put_together_and_no_time_is_lost() {
        let all = bars(2000);
        assert_eq!((all.len(), all.iter().map(|bar| bar.pieces).max()), (2000, Some(1)));
        let times = |bars: &[Bar], rank| {
            let mut times = Times::default();
            for bar in bars.iter().filter(|bar| bar.rank == rank) {
                times.iter_mut().zip(bar.times).for_each(|(time, more)| *time += more);
            }
            times
        };
        for most in [16, 100, 500] {
            let some = bars(most);
            assert!(some.len() <= most && some.len() * 8 > most, "{} of {most}", some.len());
            assert_eq!(some.iter().map(|bar| bar.pieces).sum::<u32>(), 2000);
            for rank in 0..2 {
                assert_eq!(times(&some, rank), times(&all, rank));
            }
            for pair in some.windows(2).filter(|pair| pair[0].rank == pair[1].rank) {
                assert_eq!(pair[0].end, pair[1].start);
            }
            for bar in &some {
                // The last piece is the longest.
                let last = all.iter().rfind(|it| it.rank == bar.rank && it.end == bar.end);
                assert_eq!(last.map(|it| it.operation), Some(bar.operation));
                assert_eq!(bar.times.iter().copied().sum::<Picoseconds>(), bar.end - bar.start);
            }
        }
        assert_eq!(bars(15), []);
    }
}
