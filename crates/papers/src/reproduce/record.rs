//! What a finished reproduction has simulated, in a file beside its tables. With it the tables can be
//! made again without simulating, and any part of the simulations be repeated and compared.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::kept::{key_of, simulate};
use flitlab_base::FileError;

/// The file of a record in a folder of results.
const RECORD: &str = "simulated.json.gz";

/// The file beside it with what the reproduction prints.
pub const PRINTED: &str = "printed.txt";

/// Fields whose names begin so are times of the machine, which another call finds otherwise.
const TIMES: [&str; 2] = ["seconds", "cpu_seconds"];

/// Whether a field or column is a time that the machine took, which is not the same twice.
pub fn is_machine_time(name: &str) -> bool {
    TIMES.iter().any(|time| name.starts_with(time))
}

/// All that a reproduction has simulated.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The reproduction's name.
    pub reproduced: String,
    pub quick: bool,
    /// The version of flitlab that made it.
    pub flitlab: String,
    /// What its simulations compute; [`RESULTS_VERSION`](flitlab_scenario::RESULTS_VERSION) then.
    pub results_version: u32,
    /// By the hash of all that a simulation depends on.
    pub simulated: BTreeMap<String, Simulated>,
}

/// A simulation of a reproduction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Simulated {
    /// CPU time, in seconds.
    pub seconds: f64,
    /// The commit of flitlab that computed it; empty if it is not known.
    pub commit: String,
    /// What was found, in JSON.
    pub found: Box<RawValue>,
}

impl Record {
    /// Reads the record in a folder of results; `None` if it has none.
    ///
    /// # Errors
    /// If it can't be read, or is none.
    pub fn read(results: &Path) -> Result<Option<Self>, FileError> {
        let path = results.join(RECORD);
        let read = || -> io::Result<Option<Self>> {
            let file = match File::open(&path) {
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
                opened => opened?,
            };
            let text = io::read_to_string(GzDecoder::new(BufReader::new(file)))?;
            Ok(Some(serde_json::from_str(&text)?))
        };
        read().map_err(FileError::read(path.clone()))
    }

    /// Writes it into a folder of results. The same record gives the same bytes.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write(&self, results: &Path) -> Result<(), FileError> {
        let path = results.join(RECORD);
        let write = || -> io::Result<()> {
            let mut packed =
                GzEncoder::new(BufWriter::new(File::create(&path)?), Compression::best());
            serde_json::to_writer(&mut packed, self)?;
            packed.finish()?.into_inner()?.sync_all()
        };
        write().map_err(FileError::write(path.clone()))
    }

    /// Whether a folder of results has the record of a finished reproduction.
    pub fn is_in(results: &Path) -> bool {
        results.join(RECORD).is_file()
    }

    /// The command that makes it.
    pub fn command(&self) -> String {
        let quick = if self.quick { " --quick" } else { "" };
        format!("flitlab reproduce {}{quick}", self.reproduced)
    }

    /// CPU time of all simulations, in seconds.
    pub fn seconds(&self) -> f64 {
        self.simulated.values().map(|it| it.seconds).sum()
    }
}

/// A record whose simulations are taken for done, but for some that are repeated and compared.
#[derive(Debug)]
pub struct Replay {
    record: Record,
    /// The hashes of those that are repeated.
    chosen: HashSet<String>,
    seen: Mutex<Seen>,
}

/// What a replay has found.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Simulations that were asked for.
    asked: HashSet<String>,
    /// Those that were repeated with equal results, and how long they took, in seconds.
    equal: Vec<(String, f64)>,
    pub different: Vec<Different>,
    /// What was asked for and is not in the record.
    pub missing: Vec<String>,
}

/// A simulation that finds something else than the record has.
#[derive(Clone, Debug)]
pub struct Different {
    /// What was simulated.
    pub of: String,
    /// Where in the result, and what was and what is there.
    pub place: String,
    pub was: String,
    pub is: String,
}

impl Replay {
    pub fn new(record: Record, chosen: HashSet<String>) -> Self {
        Self { record, chosen, seen: Mutex::default() }
    }

    /// Takes the simulations that were repeated with equal results since the last call, by their
    /// hashes, with the CPU time that they took, in seconds.
    pub fn take_equal(&self) -> Vec<(String, f64)> {
        std::mem::take(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner).equal)
    }

    /// What else it has found, with how many simulations of the record nobody asked for.
    pub fn finish(self) -> (Seen, usize) {
        let seen = self.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unasked = self.record.simulated.keys().filter(|key| !seen.asked.contains(*key)).count();
        (seen, unasked)
    }

    pub(super) fn get<T>(&self, of: &str, compute: impl FnOnce() -> T) -> T
    where
        T: Serialize + DeserializeOwned,
    {
        let key = key_of(of);
        let seen = || self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.record.simulated.get(&key);
        let again = known.is_none() || self.chosen.contains(&key);
        let again = again.then(|| simulate(compute));
        let mut seen = seen();
        // Several rows may ask for the same.
        let first = seen.asked.insert(key.clone());
        let text = match (known, again) {
            (Some(known), None) => known.found.get().to_owned(),
            (None, None) => unreachable!("it is computed"),
            (None, Some((text, _))) => {
                seen.missing.push(of.to_owned());
                text
            }
            (Some(known), Some((text, seconds))) => {
                match difference(known.found.get(), &text) {
                    None if first => seen.equal.push((key, seconds)),
                    None => {}
                    Some((place, was, is)) => {
                        seen.different.push(Different { of: of.to_owned(), place, was, is });
                    }
                }
                known.found.get().to_owned()
            }
        };
        drop(seen);
        serde_json::from_str(&text).unwrap_or_else(|cause| {
            panic!("the record has another kind of result for this simulation: {cause}")
        })
    }
}

/// The first place at which two results in JSON differ, times of the machine aside, and what each
/// has there.
fn difference(was: &str, is: &str) -> Option<(String, String, String)> {
    if was == is {
        return None;
    }
    let read = |text| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
    first_difference("", &read(was), &read(is))
}

fn first_difference(at: &str, was: &Value, is: &Value) -> Option<(String, String, String)> {
    let within = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            let names: std::collections::BTreeSet<&String> = was.keys().chain(is.keys()).collect();
            names.into_iter().filter(|name| !is_machine_time(name)).find_map(|name| {
                let of = |from: &serde_json::Map<String, Value>| {
                    from.get(name).cloned().unwrap_or(Value::Null)
                };
                first_difference(&within(name), &of(was), &of(is))
            })
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            let pairs = was.iter().zip(is).enumerate();
            pairs.into_iter().find_map(|(place, (was, is))| {
                first_difference(&within(&place.to_string()), was, is)
            })
        }
        _ => (was != is).then(|| (at.to_owned(), was.to_string(), is.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(found: &[(&str, &str)]) -> Record {
        let simulated = found.iter().map(|(of, found)| {
            let found = RawValue::from_string((*found).to_owned()).unwrap();
            (key_of(of), Simulated { seconds: 1.5, commit: "abc".into(), found })
        });
        Record {
            reproduced: "some".into(),
            quick: true,
            flitlab: "0".into(),
            results_version: 1,
            simulated: simulated.collect(),
        }
    }

    #[test]
    fn what_is_not_chosen_is_taken_for_done_and_what_is_chosen_is_compared() {
        let record = record(&[("one", "[1.5,2]"), ("two", "7"), ("left", "0")]);
        assert!((record.seconds() - 4.5).abs() < 1e-9);
        let replay = Replay::new(record, HashSet::from([key_of("two")]));
        let done = || -> Vec<f64> { unreachable!("the record has it") };
        assert_eq!(replay.get("one", done), [1.5, 2.0]);
        assert_eq!(replay.get("two", || 8), 7, "tables are made of what the record has");
        assert_eq!(replay.get("new", || 9), 9);
        let (seen, unasked) = replay.finish();
        assert_eq!(
            (seen.equal.len(), unasked, seen.missing.clone()),
            (0, 1, vec!["new".to_owned()])
        );
        let [Different { of, was, is, .. }] = &seen.different[..] else { panic!("{seen:?}") };
        assert_eq!((of.as_str(), was.as_str(), is.as_str()), ("two", "7", "8"));
    }

    #[test]
    fn an_equal_result_is_equal_in_all_but_times_of_the_machine() {
        let was = r#"{"load":[1,{"mean":2.5}],"seconds_bfs":1.0,"cpu_seconds":3.0}"#;
        assert_eq!(difference(was, was), None);
        assert_eq!(difference(was, &was.replace("1.0", "1.1").replace("3.0", "2.0")), None);
        let place = difference(was, &was.replace("2.5", "2.6")).unwrap();
        assert_eq!(place, ("load.1.mean".into(), "2.5".into(), "2.6".into()));
        assert!(difference("[1,2]", "[1,2,3]").is_some());
        assert!(difference(r#"{"a":1}"#, r#"{"a":1,"b":2}"#).is_some());
        assert!(difference("1e300", "1.0000000000000002e300").is_some(), "to the last bit");
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let folder = std::env::temp_dir().join(format!("flitlab-record-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert!(Record::read(&folder).unwrap().is_none());
        let wide = (u128::MAX / 3).to_string();
        record(&[("one", &wide), ("two", "0.1")]).write(&folder).unwrap();
        let bytes = std::fs::read(folder.join(RECORD)).unwrap();
        let found = Record::read(&folder).unwrap().unwrap();
        assert_eq!(found.simulated[&key_of("one")].found.get(), wide);
        found.write(&folder).unwrap();
        assert_eq!(std::fs::read(folder.join(RECORD)).unwrap(), bytes);
        let replay = Replay::new(found, HashSet::new());
        assert_eq!(replay.get("one", || 0u128), u128::MAX / 3);
        std::fs::write(folder.join(RECORD), "no record").unwrap();
        assert!(Record::read(&folder).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
