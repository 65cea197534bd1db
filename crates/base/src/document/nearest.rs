//! The name that somebody may have meant.

/// The name that is most like `written`; `None` if none is near enough.
pub fn nearest<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let plain = |text: &str| text.to_lowercase().replace(['_', ' ', '.'], "-");
    let written = plain(written);
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&written, &plain(name)), name))
        .filter(|&(distance, name)| {
            let prefix = written.len() >= 3 && plain(name).starts_with(&written);
            distance <= 1 + written.len().min(name.len()) / 4 || prefix
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["rate", "latency", "buffer", "bit-reverse"];
        assert_eq!(nearest("latncy", names), Some("latency"));
        assert_eq!(nearest("Bit_Reverse", names), Some("bit-reverse"));
        assert_eq!(nearest("buf", names), Some("buffer"));
        assert_eq!(nearest("speed", names), None);
        assert_eq!(nearest("x", names), None);
    }
}
