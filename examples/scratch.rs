use flitlab::engine::*;
use flitlab::routing::{DirectionOrder, HalfRing, Routes};
use flitlab::topology::{Faults, Torus};
use flitlab::traffic::{Kind, Message, Script, Workload};
use flitlab::units::Bytes;
use rand::{RngExt, SeedableRng};
fn main() {
    let load: f64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let end: u64 = std::env::args().nth(2).unwrap().parse::<u64>().unwrap() * 1_000_000;
    let fabric = Torus::new(&[8, 8, 8], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, HalfRing::Balanced).unwrap());
    let p = Parameters { maximum_payload: Bytes(224), ..Parameters::default() };
    let mut r = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let mut m = vec![];
    let interval = (16.0 * 2133.0 / load) as u64;
    for s in 0..512u32 {
        let mut t = r.random_range(0..interval * 2);
        while t < end {
            let mut d = r.random_range(0..511u32);
            if d >= s {
                d += 1
            }
            m.push(Message {
                time: t,
                source: s,
                destination: d,
                bytes: 224,
                kind: Kind::Data,
                tag: 0,
            });
            t += r.random_range(0..interval * 2);
        }
    }
    let mut e = Engine::new(&fabric, &routes, &p, Workload::Script(Script::new(m)), ());
    let t = std::time::Instant::now();
    e.run_until(end);
    let dt = t.elapsed().as_nanos() as f64;
    let c = e.counters();
    println!(
        "load {load} ns/flit-hop {:.2} ns/packet-hop {:.1} ns/event {:.1} events/packet {:.1} digest {} inflight {} accepted {:.3}",
        dt / c.flit_hops as f64,
        dt / c.packet_hops as f64,
        dt / c.events as f64,
        c.events as f64 / c.packets_delivered as f64,
        e.digest(),
        e.packets_under_way(),
        c.flits_delivered as f64 * 2133.0 / 512.0 / end as f64
    );
    println!("memory {:?}", e.memory());
}
