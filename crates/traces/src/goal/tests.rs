//! GOAL files that are right survive being written; wrong ones are refused with their line or byte.

use flitlab_base::narrow::narrow;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use flitlab_application::{
    ANY, Action, Operation, RemoteOperation, ScheduleBuilder, ScheduleError, Until,
};

const LOGGOPSIM: [(&str, u32, usize); 3] = [
    (include_str!("../../../../tests/goal/bcast_binomial_32.goal"), 32, 62),
    (include_str!("../../../../tests/goal/dissemination_16.goal"), 16, 128),
    (include_str!("../../../../tests/goal/reduce_binomial_8_1024.goal"), 8, 14),
];

fn read_bytes(mut bytes: &[u8]) -> Result<Schedule, Diagnostics> {
    read_from("x.goal", &mut bytes)
}

fn written(schedule: &Schedule, form: Form) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(schedule, form, &mut bytes).unwrap();
    bytes
}

/// Returns the complaint about a text with these lines after `num_ranks 2`.
fn complaint(lines: &str) -> String {
    let text = format!("num_ranks 2\n{lines}");
    read_bytes(text.as_bytes()).map(drop).expect_err(lines).plain()
}

/// The names of operations, which binary files do not have, left out.
fn without_labels(schedule: &Schedule) -> Schedule {
    let mut builder = ScheduleBuilder::new();
    for rank in 0..schedule.ranks() {
        let numbers = schedule.of_rank(rank);
        for number in numbers.clone() {
            builder.add(*schedule.operation(number)).unwrap();
        }
        for number in numbers.clone() {
            for (dependant, until) in schedule.dependants(number) {
                builder.wait(dependant - numbers.start, until, number - numbers.start);
            }
        }
        builder.end_rank().unwrap();
    }
    builder.finish()
}

fn assert_survives(schedule: &Schedule) {
    let text = written(schedule, Form::Text);
    let again = read_bytes(&text).unwrap();
    assert_eq!(without_labels(&again), without_labels(schedule));
    for number in 0..narrow::<u32>(schedule.operations().len()) {
        assert!(schedule.label(number).is_none() || schedule.label(number) == again.label(number));
    }
    assert_eq!(written(&again, Form::Text), text);
    if let Some(why) = refusal(schedule, Form::Binary) {
        let error = write(schedule, Form::Binary, &mut Vec::new()).unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::InvalidInput, why));
        return;
    }
    let binary = written(schedule, Form::Binary);
    let again = read_bytes(&binary).unwrap();
    assert_eq!(again, without_labels(schedule));
    assert_eq!(written(&again, Form::Binary), binary);
}

/// Ranks with operations of all kinds, each of which may wait for some that come before it; half of
/// the schedules have one-sided ones.
fn random_schedule(random: &mut impl Rng) -> Schedule {
    let mut builder = ScheduleBuilder::new();
    let ranks = random.random_range(1..6);
    let kinds = random.random_range(4..6);
    for _ in 0..ranks {
        for place in 0..random.random_range(0..12u32) {
            let bits = random.random_range(0..64);
            let amount = random.random_range(0..=u64::MAX >> bits);
            let peer = random.random_range(0..ranks);
            let tag = random.random_range(0..ANY);
            let tag = [0, ANY, tag][random.random_range(0..3)];
            let mut operation = match random.random_range(0..kinds) {
                4 => {
                    let kind = RemoteOperation::ALL[random.random_range(0..5)];
                    let (least, most) = kind.sizes().into_inner();
                    Operation::remote(kind, random.random_range(least..=most), peer)
                }
                0 => Operation::send(amount, peer, tag),
                1 => Operation::receive(amount, peer, tag),
                2 => Operation::receive(amount, ANY, tag),
                // However many of them there are, their times can be told together.
                _ => Operation::compute(amount >> 14),
            };
            operation.stream = random.random_range(0..=255) * u8::from(random.random_bool(0.3));
            if operation.action != Action::Compute && random.random_bool(0.3) {
                operation.adapter = random.random();
            }
            builder.add(operation).unwrap();
            match random.random_range(0..4) {
                0 => builder.label(&format!("l{place}")),
                1 => builder.label(&format!("op_{place}x")),
                _ => {}
            }
            for other in 0..place {
                if random.random_bool(0.2) {
                    let until = if random.random_bool(0.7) { Until::Done } else { Until::Begun };
                    builder.wait(place, until, other);
                }
            }
        }
        builder.end_rank().unwrap();
    }
    builder.finish()
}

#[test]
fn what_is_read_can_be_written_and_read_again() {
    for (text, ranks, messages) in LOGGOPSIM {
        let schedule = read_bytes(text.as_bytes()).unwrap();
        let sends = schedule.operations().filter(|it| it.action == Action::Send);
        assert_eq!((schedule.ranks(), 2 * sends.count()), (ranks, messages));
        assert_survives(&schedule);
    }
    for seed in 0..500 {
        assert_survives(&random_schedule(&mut ChaCha8Rng::seed_from_u64(seed)));
    }
}

#[test]
fn all_of_the_grammar_is_read() {
    let text = "\u{feff}// a comment\r\nnum_ranks 2 /* of\n two lines */\r\n\nrank 0 {\r\n\
                l1: send 8b to 1\n  l2 :send 18446744073709551615 b to 0 tag -1 cpu 255 nic 3 // to itself\n\
                recv 8b from -1 tag 7 nic 2\nl3: calc 100 cpu 1\nl3 requires l1\nl1 irequires l2\n}\n\
                rank 1 { calc 5\n}";
    let schedule = read_bytes(text.as_bytes()).unwrap();
    let expected = [
        Operation::send(8, 1, 0),
        Operation { stream: 255, adapter: 3, ..Operation::send(u64::MAX, 0, ANY) },
        Operation { adapter: 2, ..Operation::receive(8, ANY, 7) },
        Operation { stream: 1, ..Operation::compute(100) },
        Operation::compute(5),
    ];
    assert!(schedule.operations().eq(&expected));
    assert_eq!([0, 2].map(|number| schedule.label(number)), [Some("l1"), None]);
    assert_eq!(schedule.dependants(0).collect::<Vec<_>>(), [(3, Until::Done)]);
    assert_eq!(schedule.dependants(1).collect::<Vec<_>>(), [(0, Until::Begun)]);
}

#[test]
fn one_sided_operations_are_read_and_their_words_are_still_labels() {
    let text = "num_ranks 2\nrank 0 {\nput: put 8b to 1\nget 300b from 0 cpu 2 nic 1\nadd :add 8b to 1\n\
                l: xor 64b to 1\ncswap: cswap 16 b to 1 cpu 1\nadd requires put\ncswap irequires add\n}\n\
                rank 1 {\n}\n";
    let schedule = read_bytes(text.as_bytes()).unwrap();
    let expected = [
        Operation::remote(RemoteOperation::Put, 8, 1),
        Operation { stream: 2, adapter: 1, ..Operation::remote(RemoteOperation::Get, 300, 0) },
        Operation::remote(RemoteOperation::Add, 8, 1),
        Operation::remote(RemoteOperation::Xor, 64, 1),
        Operation { stream: 1, ..Operation::remote(RemoteOperation::CompareAndSwap, 16, 1) },
    ];
    assert!(schedule.operations().eq(&expected));
    assert_eq!(schedule.dependants(2).collect::<Vec<_>>(), [(4, Until::Begun)]);
    assert_survives(&schedule);
    let why = refusal(&schedule, Form::Binary).unwrap();
    assert!(why.contains("`put` of rank 0 (put 8 B to rank 1)") && why.contains("text"), "{why}");
    let mut builder = ScheduleBuilder::new();
    let operation = RemoteOperation::Add;
    let large = builder.add(Operation::remote(operation, 65, 0));
    assert_eq!(large, Err(ScheduleError::RemoteSize { operation }));
}

#[test]
fn a_mistake_is_shown_with_its_line_and_a_way_out() {
    let text = "rank 0 {\nl1: calc 5\nfirst: calc 6\nl1 requires frist\n}\nrank 1 {\n}\n";
    let expected = "\
error: no operation of this rank above has the label `frist`
 --> x.goal:5:13
  |
5 | l1 requires frist
  |             ^^^^^ did you mean `first`?";
    assert_eq!(complaint(text), expected);
}

#[test]
fn every_mistake_has_its_message() {
    let rest = "}\nrank 1 {\n}\n";
    let of_rank = |lines: &str| complaint(&format!("rank 0 {{\n{lines}\n{rest}"));
    for (line, message) in [
        ("send 8b to 2", "there is no rank 2"),
        ("send 8b to -1", "only `recv` can be from any rank"),
        ("send 8b from 1", "`to` is missing behind the size"),
        ("send 8 to 1", "`b` is missing behind the size"),
        ("send 8b to", "a rank is a whole number"),
        ("sned 8b to 1", "did you mean `send`?"),
        ("l1: sned 8b to 1", "did you mean `send`?"),
        ("l1: l2", "behind a label stands `send`, `recv`, `calc`, `put`"),
        ("put 8b to 2", "there is no rank 2"),
        ("put 8b to -1", "a one-sided operation is upon the memory of one rank"),
        ("put 8b from 1", "`to` is missing behind the size"),
        ("get 8b to 1", "`from` is missing behind the size"),
        ("xor 8b to 1 tag 7", "one-sided operations have no tag"),
        ("add 65b to 1", "`add` is of 1 to 64 bytes"),
        ("cswap 0b to 1", "`cswap` is of 1 to 64 bytes"),
        ("put 1073741825b to 1", "`put` is of 0 to 1073741824 bytes"),
        ("cswp 8b to 1", "did you mean `cswap`?"),
        ("send 18446744073709551616b to 1", "a size in bytes is too large"),
        ("recv 1b from 0 tag 4294967295", "4294967294 at the most"),
        ("recv 1b from 0 tag -2", "a tag can't be negative"),
        ("recv 1b from 0 cpu 256", "255 at the most"),
        ("recv 1b from 0 nic 1 cpu 1", "come in this order"),
        ("recv 1b from 0 tga 1", "did you mean `tag`?"),
        ("calc -5", "a time in nanoseconds can't be negative"),
        ("calc 5 nic 1", "`calc` takes `cpu` alone"),
        ("calc 5 calc 6", "a statement ends with its line"),
        ("l1: calc 5\nl1: calc 6", "the label `l1` is taken in this rank"),
        ("l1: calc 5\nl1 requires", "the label that is required is missing"),
        ("l1: calc 5\nl1 requires zzzz", "no operation of this rank above has the label `zzzz`"),
        ("l1: calc 5\nl2: calc 6\nl1 requires l2\nl2 requires l1", "`l1` requires `l2`"),
        ("7: calc 5", "no statement begins like this"),
        ("num_ranks 2", "`num_ranks` stands once, before all ranks"),
        ("rank 1 {", "rank 1 begins before rank 0 has ended"),
        ("caf\u{e9}", "`caf` is no statement"),
    ] {
        let found = of_rank(line);
        assert!(found.contains(message), "{line}\n{found}");
    }
    for (text, message) in [
        ("", "ranks 0 to 1 are missing"),
        ("rank 0 {\n}\n", "rank 1 is missing"),
        ("rank 1 {\n}\n", "rank 1 stands where rank 0 has to"),
        ("rank 0 {\n}\nrank 0 {\n}\n", "rank 0 stands where rank 1 has to"),
        ("rank 5 {\n}\n", "num_ranks is 2: 0 to 1"),
        ("rank 0\n{\n", "`{` is missing behind the rank"),
        ("rank 0 {\n}\nrank 1 {\n", "the end of the file comes before that of rank 1"),
        ("rank 0 {\n}\n}\n", "no rank is open that this brace could close"),
        ("calc 5\n", "this stands in no rank"),
        ("/* for ever", "the end of the file comes before that of a comment"),
    ] {
        let found = complaint(text);
        assert!(found.contains(message), "{text}\n{found}");
    }
    for (bytes, message) in [
        (&b""[..], "there is no schedule in this file"),
        (b"rank 0 {\n}\n", "the number of ranks is not known"),
        (b"num_ranks 0\n", "a schedule has at least one rank"),
        (b"num_ranks 4294967295\n", "4294967294 at the most"),
        (b"num_ranks 1\nrank 0 {\n\xff\n}", "this line is no text"),
        (&[b'x'; 100_000], "a line has 65536 bytes at the most"),
    ] {
        let found = read_bytes(bytes).map(drop).unwrap_err().plain();
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn mistakes_are_told_together_up_to_twenty() {
    let lines = "sned 8b to 1\n".repeat(25);
    let text = format!("num_ranks 1\nrank 0 {{\n{lines}}}\n");
    let found = read_bytes(text.as_bytes()).map(drop).unwrap_err();
    assert_eq!(found.count(), 20);
    assert!(found.plain().contains("and 5 more lines of this file are wrong"), "{found}");
}

#[test]
fn a_message_that_is_wrong_keeps_its_label() {
    let found =
        complaint("rank 0 {\nl1: send 8b to nobody\nl2: calc 1\nl2 requires l1\n}\nrank 1 {\n}");
    assert!(found.contains("a rank is a whole number"), "{found}");
    assert!(!found.contains("no operation"), "{found}");
}

/// Two ranks, a message, and a computation that waits for it.
fn small_binary() -> Vec<u8> {
    let text = "num_ranks 2\nrank 0 {\na: send 8b to 1\nb: calc 5\nb requires a\n}\nrank 1 {\nrecv 8b from 0\n}\n";
    written(&read_bytes(text.as_bytes()).unwrap(), Form::Binary)
}

#[test]
fn the_binary_layout_is_that_of_loggopsim() {
    let bytes = small_binary();
    // Cookie, header, two rows; rank 0: counts, a root, two operations, a dependant; rank 1:
    // counts, a root, one.
    assert_eq!(bytes.len(), 8 + 6 + 2 * 16 + (8 + 4 + 2 * 39 + 4) + (8 + 4 + 39));
    assert_eq!(bytes[..14], [0x7f, 0x10, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0]);
    // Rank 0 begins behind header and table, counted from behind the cookie.
    assert_eq!(bytes[14..30], [38, 0, 0, 0, 0, 0, 0, 0, 132, 0, 0, 0, 0, 0, 0, 0]);
    let send = [0, 0, 0, 0, 1, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(bytes[58..81], send);
    assert_eq!(bytes[81..97], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
}

#[test]
fn a_binary_that_is_cut_off_or_contradicts_itself_is_refused_with_the_byte() {
    let bytes = small_binary();
    for length in 8..bytes.len() {
        let found = read_bytes(&bytes[..length]).map(drop).expect_err("it is cut off").plain();
        assert!(found.contains(&format!("at byte {length} the file ends")), "{found}");
    }
    let changed = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        read_bytes(&bytes).map(drop).expect_err("it is changed").plain()
    };
    for (at, value, message) in [
        (1, 9, "no GOAL"),
        (8, 0, "stands 0 as the number of ranks"),
        (14, 37, "is said to begin within what comes before it"),
        (22, 30, "is said to end before it begins"),
        (29, 255, "the file ends within rank 0"),
        (46, 200, "do not fit in 94 bytes"),
        (54, 1, "operation 1 is said to wait for nothing, or twice"),
        (58, 1, "an operation waits for 1 others, and 0 name it"),
        (62, 4, "4 is no kind of operation"),
        (63, 2, "there is no rank 2"),
        (81, 9, "more dependants are named than are listed"),
        (85, 1, "more dependants are named than are listed"),
        (136, 2, "operation 2 of 2 is named"),
        (136, 0, "others"),
    ] {
        let found = changed(at, value);
        let is_text = at == 1;
        assert!(is_text || found.contains(message), "{at}: {found}");
    }
    let mut far = bytes.clone();
    far[21] = 1;
    far[29] = 2;
    let found = read_bytes(&far).map(drop).unwrap_err().plain();
    assert!(found.contains("the file ends; a rank should begin at byte"), "{found}");
    let mut destroyed = bytes.clone();
    destroyed[..8].copy_from_slice(&DESTROYED.to_le_bytes());
    let found = read_bytes(&destroyed).map(drop).unwrap_err().plain();
    assert!(found.contains("was destroyed by a run of LogGOPSim with --save-mem"), "{found}");
}

#[test]
fn no_change_of_a_binary_makes_reading_it_fail_without_words() {
    let bytes = small_binary();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..20_000 {
        let mut bytes = bytes.clone();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(8..bytes.len());
            bytes[at] = random.random();
        }
        match read_bytes(&bytes) {
            Ok(schedule) => assert_survives(&schedule),
            Err(found) => assert!(found.plain().contains("at byte"), "{found}"),
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let found = read(Path::new("no/such.goal")).map(drop).unwrap_err().plain();
    assert_eq!(found, "error: can't read no/such.goal: there is no such file");
}
