//! flitlab simulates high-performance interconnects flit by flit.

pub mod cli;
pub mod engine;
pub mod measure;
pub mod report;
pub mod routing;
pub mod scenario;
pub mod sweep;
pub mod topology;
pub mod traffic;
pub mod units;
