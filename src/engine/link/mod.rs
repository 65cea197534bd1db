//! Links that err, and send again what was damaged (docs/model.md, "Links that err").

mod errors;

pub use errors::{Acknowledgements, Bursts, LinkErrors, Resend, Retry};
