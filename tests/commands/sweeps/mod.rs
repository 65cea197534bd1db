//! Sweeps: what can be written, how they end, and how they go on.

#[cfg(target_os = "linux")]
mod campaign;
pub mod curves;
mod dry_run;
mod folder;
#[cfg(unix)]
mod interrupted;
#[cfg(unix)]
mod killed;
#[cfg(unix)]
pub mod ongoing;
mod resumed;
mod written;

/// A sweep of 2 series with 4 loads each.
const SMALL: &str = "\
[topology.torus]
dimensions = [4, 4]

[traffic]
pattern = \"uniform\"

[measure]
window = \"2 us\"
maximum_windows = 12

[sweep.grid]
traffic.pattern = [\"uniform\", \"tornado\"]
traffic.load = [0.1, 0.2, 0.3, 0.4]
";

/// The same with points that take long enough to be ended between them.
#[cfg(unix)]
fn slow() -> String {
    SMALL.replace("maximum_windows = 12", "minimum_windows = 300\nmaximum_windows = 300")
}
