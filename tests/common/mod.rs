//! What several test files share.

pub mod agreement;
pub mod browser;
pub mod by_hand;
pub mod made_up;
pub mod message;
pub mod random_cables;
pub mod random_errors;
pub mod random_flit_scenario;
pub mod random_relation;
pub mod random_scenario;
pub mod wait_cycle;
pub mod workplace;
