//! Those of the tests' helpers that the targets need.

#[path = "../../common/agreement.rs"]
pub mod agreement;
#[path = "../../common/random_relation.rs"]
pub mod random_relation;
#[path = "../../common/random_scenario.rs"]
pub mod random_scenario;
