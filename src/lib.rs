//! flitlab simulates high-performance interconnects flit by flit.

pub mod engine;
pub mod measure;
pub mod routing;
pub mod scenario;
pub mod topology;
pub mod traffic;
pub mod units;
