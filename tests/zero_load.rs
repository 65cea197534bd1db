use flitlab::engine::{Parameters, run_script};
use flitlab::routing::{DirectionOrder, HalfRing, Routes};
use flitlab::topology::{Faults, Torus};
use flitlab::traffic::{Kind, Message, Script};

#[test]
fn ping() {
    let fabric = Torus::new(&[4, 2, 2, 2], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, HalfRing::Plus).unwrap());
    let m = Message { time: 0, source: 0, destination: 1, bytes: 8, kind: Kind::Data, tag: 0 };
    let (log, digest) =
        run_script(&fabric, &routes, &Parameters::default(), Script::new(vec![m])).unwrap();
    println!("{log:?} {digest}");
    panic!();
}
