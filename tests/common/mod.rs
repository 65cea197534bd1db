//! What several test programs share.

#![allow(dead_code, reason = "not every program needs everything")]

pub mod browser;
pub mod made_up;
pub mod slice;
pub mod workplace;
