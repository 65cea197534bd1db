use super::schedule;
use flitlab_application::{Unmatched, check};

/// Returns the findings, one a line.
fn found(ranks: &[&str]) -> Vec<String> {
    let schedule = schedule(ranks);
    let line = |it: &Unmatched| format!("{} x {}", it.count, schedule.describe(it.example));
    check(&schedule).iter().map(line).collect()
}

#[test]
fn what_matches_is_not_reported() {
    for ranks in [
        &["send 8b to 1 tag 3\nsend 8b to 0\nrecv 8b from 0", "recv 8b from 0 tag 3"][..],
        &["send 8b to 1 tag 3\nsend 8b to 1", "recv 8b from -1\nrecv 8b from 0 tag -1"],
        &["send 8b to 1 tag -1", "recv 8b from 0 tag 7"],
        &["calc 5", ""],
        &["put 8b to 1\nget 8b from 1", ""],
    ] {
        assert_eq!(found(ranks), [""; 0], "{ranks:?}");
    }
}

#[test]
fn what_is_left_over_in_any_order_is_reported() {
    assert_eq!(
        found(&["a: send 8b to 1 tag 3\nb: send 8b to 1 tag 3", "recv 8b from 0 tag 3"]),
        ["1 x `b` of rank 0 (send 8 B to rank 1, tag 3)"]
    );
    assert_eq!(
        found(&["send 8b to 0", "recv 8b from 0 tag 1"]),
        [
            "1 x operation 1 of rank 0 (send 8 B to rank 0, tag 0)",
            "1 x operation 1 of rank 1 (receive 8 B from rank 0, tag 1)"
        ]
    );
    // Wildcards excuse what they could meet, and no more.
    assert_eq!(
        found(&[
            "send 8b to 1\nsend 8b to 1\nsend 8b to 1",
            "recv 8b from -1\nrecv 8b from -1 tag 9"
        ]),
        [
            "2 x operation 3 of rank 0 (send 8 B to rank 1, tag 0)",
            "1 x operation 2 of rank 1 (receive 8 B from any rank, tag 9)"
        ]
    );
    assert_eq!(
        found(&["send 8b to 1", "recv 8b from -1\nrecv 8b from -1"]),
        ["1 x operation 2 of rank 1 (receive 8 B from any rank, tag 0)"]
    );
}
