//! `[measure]`: for how long, and how precisely.

use crate::{
    document::{Auto, Number, Reader, Whole, time},
    measure::{MOST_WINDOWS, Settings},
    narrow::narrow,
};

pub(super) fn read(reader: &mut Reader<'_>) -> Settings {
    let doc = "When a measurement begins and ends. For a steady load only; an [exchange] is \
               measured from its beginning to its end.";
    reader.table("measure", doc, settings)
}

fn settings(reader: &mut Reader<'_>) -> Settings {
    let default = Settings::default();
    let doc = "Length of a window; \"auto\" chooses it from the latency without load, the offered load and the \
         messages.";
    let window = reader.value("window", &Auto(time(1)), default.window, doc);
    let windows = |least| Whole { range: least..=u64::from(MOST_WINDOWS) };
    let mut count = |key, least, default: u32, doc| {
        narrow(reader.value(key, &windows(least), u64::from(default), doc))
    };
    let warm_up_windows =
        count("warm_up_windows", 1, default.warm_up_windows, "Most windows of warm-up.");
    // A confidence interval needs two means.
    let minimum_windows =
        count("minimum_windows", 2, default.minimum_windows, "Fewest windows measured.");
    let maximum_windows =
        count("maximum_windows", 2, default.maximum_windows, "Most windows measured.");
    let fraction = Number { above: 0.0, to: 1.0, inclusive: false };
    let doc = "Half width of the 95% confidence interval of the mean latency, relative to the mean, at \
         which the measurement ends.";
    let precision = reader.value("precision", &fraction, default.precision, doc);
    let doc = "Growth of all that is under way, as a fraction of what is offered, up to which a load may be \
         called steady; each source queue is judged by itself.";
    let growth = reader.value("growth", &fraction, default.growth, doc);
    Settings { window, warm_up_windows, minimum_windows, maximum_windows, precision, growth }
}
