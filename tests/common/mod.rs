//! What several test files share.

pub mod random_scenario;
