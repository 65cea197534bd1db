//! What all plain engines have in common: a simulation's instants, terminals and packets, their ways
//! by each routing, failures, and the joining of channels.

pub mod adapter;
mod atomics;
pub mod channel;
pub mod choosing;
pub mod classes;
mod deciding;
pub mod detours;
pub mod failure;
mod failures;
pub mod links;
pub mod network;
pub mod operations;
pub mod packet;
pub mod phased;
pub mod simulation;
pub mod terminal;
mod tree;
mod ways;
