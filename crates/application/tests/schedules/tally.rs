use super::schedule;
use flitlab_application::{Share, Tally};

#[test]
fn messages_are_counted_by_size_and_by_rank() {
    let tally = Tally::new(&schedule(&[
        "a: send 64b to 1\nb: send 65b to 1\nsend 5000000b to 1\ncalc 7\nb requires a",
        "recv 64b from 0\nput 300b to 0\nadd 8b to 0",
    ]));
    assert_eq!((tally.operations, tally.dependencies, tally.bytes), (7, 1, 5_000_129));
    assert_eq!((tally.sends, tally.receives, tally.computations), (3, 1, 1));
    assert_eq!((tally.one_sided, tally.one_sided_bytes), (2, 308));
    let sizes: Vec<_> =
        tally.sizes.iter().map(|it| (it.from_bytes, it.to_bytes, it.messages)).collect();
    assert_eq!(sizes, [(0, Some(64), 1), (65, Some(1024), 1), (4 << 20 | 1, None, 1)]);
    assert_eq!(tally.messages_sent, Share { least: 0, mean: 1.5, most: 3 });
    assert_eq!(tally.compute_ns.mean, 3.5);
}
