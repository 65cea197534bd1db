use super::schedule;
use flitlab_application::loggops::{Dialect, LogGops, simulate};

/// Returns the complaint about these ranks, which both dialects of LogGOPS must share; messages
/// of more than 100 bytes wait for their receipts.
fn told(ranks: &[&str]) -> Vec<String> {
    let schedule = schedule(ranks);
    let [one, other] = [Dialect::Classic, Dialect::Atlahs].map(|dialect| {
        let parameters = LogGops { dialect, eager_limit: 100, ..LogGops::CLASSIC };
        simulate(&schedule, &parameters).unwrap_err().describe(&schedule)
    });
    assert_eq!(one, other);
    one.lines().map(String::from).collect()
}

#[test]
fn what_was_never_sent_or_has_no_receipt_is_told_so() {
    assert_eq!(
        told(&["a: recv 8b from 1 tag 3", ""]),
        ["`a` of rank 0 (receive 8 B from rank 1, tag 3) waits for a message that nobody sends"]
    );
    assert_eq!(
        told(&["", "s: send 8b to 0"]),
        [
            "`s` of rank 1 (send 8 B to rank 0, tag 0) was never received: there is no receive for it"
        ]
    );
}

#[test]
fn a_message_with_another_tag_or_of_another_rank_is_named() {
    assert_eq!(
        told(&["a: recv 8b from 1 tag 3", "s: send 8b to 0 tag 4"]),
        [
            "`a` of rank 0 (receive 8 B from rank 1, tag 3) waits for a message that nobody sends; \
             `s` of rank 1 (send 8 B to rank 0, tag 4) is another",
            "`s` of rank 1 (send 8 B to rank 0, tag 4) was never received: \
             `a` of rank 0 (receive 8 B from rank 1, tag 3) is for another"
        ]
    );
    let told = told(&["a: recv 8b from 1 tag 3", "", "s: send 8b to 0 tag 3"]);
    assert!(told[0].ends_with("`s` of rank 2 (send 8 B to rank 0, tag 3) is another"), "{told:?}");
}

#[test]
fn a_message_that_another_receive_took_is_named_with_that() {
    // The first receive has the tag: it is there twice, with more receives than messages.
    let lines = told(&["a: recv 8b from 1\nb: recv 8b from 1\nb requires a", "s: send 8b to 0"]);
    assert_eq!(
        lines,
        [
            "`b` of rank 0 (receive 8 B from rank 1, tag 0) waits for `s` of rank 1 (send 8 B to rank 0, tag 0), \
          which `a` of rank 0 (receive 8 B from rank 1, tag 0) took"
        ]
    );
}

#[test]
fn who_waits_for_a_rank_that_is_stuck_itself_is_told_behind_the_cause() {
    let lines = told(&[
        "a: recv 8b from 1 tag 9\nb: send 8b to 2\nb requires a",
        "",
        "c: recv 8b from 0\nd: send 8b to 3\nd requires c",
        "e: recv 8b from 2\nf: calc 5\nf requires e",
    ]);
    assert_eq!(
        lines,
        [
            "`a` of rank 0 (receive 8 B from rank 1, tag 9) waits for a message that nobody sends",
            "`c` of rank 2 (receive 8 B from rank 0, tag 0) waits for `b` of rank 0 (send 8 B to rank 2, tag 0), \
             which was never begun",
            "`e` of rank 3 (receive 8 B from rank 2, tag 0) waits for `d` of rank 2 (send 8 B to rank 3, tag 0), \
             which was never begun",
            "3 operations that wait for these were never begun",
        ]
    );
}

#[test]
fn a_cycle_is_told_from_its_least_operation_on() {
    // Each of three ranks sends a large message to the next one before it receives.
    let rank = |next: u32, before: u32| {
        format!("s: send 1000b to {next}\nr: recv 1000b from {before}\nr requires s")
    };
    let lines = told(&[&rank(1, 2), &rank(2, 0), &rank(0, 1)]);
    assert_eq!(
        lines,
        [
            "each of these waits for the next one, and the last for the first:",
            "  `s` of rank 0 (send 1000 B to rank 1, tag 0) was never received",
            "  `r` of rank 1 (receive 1000 B from rank 0, tag 0) was never begun",
            "  `s` of rank 1 (send 1000 B to rank 2, tag 0) was never received",
            "  `r` of rank 2 (receive 1000 B from rank 1, tag 0) was never begun",
            "  `s` of rank 2 (send 1000 B to rank 0, tag 0) was never received",
            "  `r` of rank 0 (receive 1000 B from rank 2, tag 0) was never begun",
            "3 operations that wait for these were never begun",
        ]
    );
    // Receives before sends wait for each other, too.
    let rank = |other: u32| format!("r: recv 8b from {other}\ns: send 8b to {other}\ns requires r");
    let lines = told(&[&rank(1), &rank(0)]);
    assert_eq!(
        lines[1..3],
        [
            "  `r` of rank 0 (receive 8 B from rank 1, tag 0) got no message",
            "  `s` of rank 1 (send 8 B to rank 0, tag 0) was never begun",
        ]
    );
}
