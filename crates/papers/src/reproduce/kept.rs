//! Simulations that a reproduction has finished: an interrupted one resumes from them, and a finished
//! one leaves them as a [`Record`], from which the same reproduction can be made again when what it
//! makes of them has changed.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cpu_time::ThreadTime;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::record::{Record, Simulated};

use flitlab_base::FileError;
use flitlab_base::document::hexadecimal;
use flitlab_base::text_file::read_text;
use flitlab_base::whole_file::{self, Content};
use flitlab_scenario::RESULTS_VERSION;

/// The folder of what is kept in the folder of a reproduction's results; it is there until these
/// are whole.
const FOLDER: &str = "unfinished";

/// The beginning of every file. Another layout gets another number.
const MAGIC: &str = "flitlab simulated 2";

/// The file in it that says of what it is.
const NAME: &str = "name";

const EXTENSION: &str = "json";

/// Why nothing can be kept in a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeptError {
    /// The folder keeps simulations of another reproduction, or its results.
    #[error("{folder} is that of `{name}`")]
    Other { folder: PathBuf, name: String },
    /// It can't be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The simulations of a reproduction that are finished, a file each. A file's name is the hash of
/// what was simulated, so what is simulated otherwise has another one.
#[derive(Debug)]
pub struct Kept {
    folder: PathBuf,
    /// What an earlier call that was finished has left in the folder of the results.
    record: Option<Record>,
    /// Which commit of flitlab computes.
    commit: String,
    /// The hashes of all that this call has asked for.
    asked: Mutex<BTreeSet<String>>,
    /// Why something could not be read or written, first of all.
    failure: Mutex<Option<io::Error>>,
}

/// The hash of a text that names all that a simulation depends on.
pub(super) fn key_of(of: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(RESULTS_VERSION.to_le_bytes());
    hash.update(of);
    hexadecimal(&hash.finalize()[..16])
}

/// Simulates on this thread, and returns what was found in JSON with the CPU time in seconds.
pub(super) fn simulate<T: Serialize>(compute: impl FnOnce() -> T) -> (String, f64) {
    let started = ThreadTime::now();
    let found = compute();
    let seconds = started.elapsed().as_secs_f64();
    (serde_json::to_string(&found).expect("plain data"), seconds)
}

impl Kept {
    /// Opens the simulations that a folder of results keeps for a reproduction of this name. What is
    /// added was computed by this commit of flitlab, which may be unknown: an empty text.
    ///
    /// # Errors
    /// If something of another name is kept there or was finished there, or nothing can be written.
    pub fn open(results: &Path, name: &str, commit: &str) -> Result<Self, KeptError> {
        let record = Record::read(results)?;
        let of_other = |name| KeptError::Other { folder: results.into(), name };
        if let Some(finished) = record.as_ref().map(Record::command).filter(|it| it != name) {
            return Err(of_other(finished));
        }
        let folder = results.join(FOLDER);
        let named = || -> io::Result<String> {
            fs::create_dir_all(&folder)?;
            match read_text(&folder.join(NAME)) {
                Err(cause) if cause.kind() == ErrorKind::NotFound => {
                    fs::write(folder.join(NAME), name).map(|()| name.to_owned())
                }
                found => found,
            }
        };
        let found = named().map_err(FileError::write(results))?;
        if found != name {
            return Err(of_other(found));
        }
        let (asked, failure) = (Mutex::default(), Mutex::default());
        Ok(Self { folder, record, commit: commit.into(), asked, failure })
    }

    /// Whether a folder of results is that of an interrupted reproduction.
    pub fn is_in(results: &Path) -> bool {
        results.join(FOLDER).is_dir()
    }

    /// Why not all could be kept, if it could not.
    #[must_use]
    pub fn failure(&self) -> Option<io::Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// How many simulations are kept.
    pub fn count(&self) -> usize {
        self.files().count()
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        files.map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == EXTENSION))
    }

    /// Returns all that is kept, as the record of a reproduction that is finished. What an earlier
    /// version left has no use any more.
    pub fn record(&self, reproduced: &str, quick: bool, flitlab: &str) -> Record {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |key: &String| Some((key.clone(), self.find(key)?));
        Record {
            reproduced: reproduced.into(),
            quick,
            flitlab: flitlab.into(),
            results_version: RESULTS_VERSION,
            simulated: asked.iter().filter_map(of).collect(),
        }
    }

    /// Takes away what is kept: the results are whole, or nothing is finished.
    ///
    /// # Errors
    /// If it can't be removed.
    pub fn clear(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.folder)
    }

    /// Returns the value kept under the text `of`, which names all that it depends on. If there is
    /// none, computes the value and keeps it.
    pub(super) fn get<T>(&self, of: &str, compute: impl FnOnce() -> T) -> T
    where
        T: Serialize + DeserializeOwned,
    {
        let key = key_of(of);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        let found = self.find(&key).and_then(|it| serde_json::from_str(it.found.get()).ok());
        found.unwrap_or_else(|| {
            let (text, seconds) = simulate(compute);
            let found = RawValue::from_string(text).expect("this is JSON");
            let simulated = Simulated { seconds, commit: self.commit.clone(), found };
            let (path, name) = self.place(&key);
            let content = serde_json::to_string(&simulated).expect("plain data");
            whole_file::write(&path, &name, &content).unwrap_or_else(|cause| self.fail(cause));
            // As it will be read another time.
            serde_json::from_str(simulated.found.get()).expect("what was written can be read")
        })
    }

    /// The file of a simulation, and the name in it.
    fn place(&self, key: &str) -> (PathBuf, String) {
        (self.folder.join(key).with_extension(EXTENSION), format!("{MAGIC} {key}"))
    }

    /// The simulation of this hash; `None` if it is not kept, or its file is damaged.
    fn find(&self, key: &str) -> Option<Simulated> {
        if let Some(found) = self.record.as_ref().and_then(|it| it.simulated.get(key)) {
            return Some(found.clone());
        }
        let (path, name) = self.place(key);
        match whole_file::read(&path, &name) {
            Ok(Content::Whole(text)) => serde_json::from_str(&text).ok(),
            Ok(Content::Missing | Content::Damaged) => None,
            Err(cause) => {
                self.fail(cause);
                None
            }
        }
    }

    fn fail(&self, cause: io::Error) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_not_computed_again_unless_it_is_damaged() {
        let results = std::env::temp_dir().join(format!("flitlab-kept-{}", std::process::id()));
        let _ = fs::remove_dir_all(&results);
        assert!(!Kept::is_in(&results));
        let kept = Kept::open(&results, "some", "abc").unwrap();
        assert_eq!(kept.get("one", || vec![0.1, 2.0 / 3.0]), [0.1, 2.0 / 3.0]);
        assert_eq!(kept.get("other", || vec![1.0]), [1.0]);
        assert!(matches!(Kept::open(&results, "others", "abc"), Err(KeptError::Other { .. })));
        let kept = Kept::open(&results, "some", "abc").unwrap();
        let again = || -> Vec<f64> { unreachable!("it was kept") };
        assert_eq!(kept.get("one", again), [0.1, 2.0 / 3.0]);
        assert_eq!((kept.count(), fs::read_dir(&kept.folder).unwrap().count()), (2, 3));
        // What this call has not asked for is no part of what it made.
        let record = kept.record("some", false, "0.1");
        assert_eq!(record.simulated.keys().collect::<Vec<_>>(), [&key_of("one")]);
        assert_eq!(record.simulated[&key_of("one")].found.get(), "[0.1,0.6666666666666666]");
        for entry in fs::read_dir(results.join(FOLDER)).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(NAME) {
                continue;
            }
            let mut content = fs::read(&path).unwrap();
            let middle = content.len() / 2;
            content[middle] ^= 1;
            fs::write(&path, content).unwrap();
        }
        assert_eq!(kept.get("one", || vec![3.0]), [3.0]);
        assert_eq!(kept.get("other", || vec![4.0]), [4.0]);
        assert!(kept.failure().is_none() && Kept::is_in(&results));
        fs::remove_dir_all(results.join(FOLDER)).unwrap();
        assert_eq!(
            kept.get("one", || vec![5.0]),
            [5.0],
            "a folder that is gone costs nothing but time"
        );
        assert!(kept.failure().is_some());
        fs::create_dir(results.join(FOLDER)).unwrap();
        kept.clear().unwrap();
        assert!(!Kept::is_in(&results));
        // What is finished is not computed again either.
        Record { reproduced: "some".into(), ..record }.write(&results).unwrap();
        assert!(matches!(Kept::open(&results, "some", ""), Err(KeptError::Other { .. })));
        let finished = Kept::open(&results, "flitlab reproduce some", "abc").unwrap();
        assert_eq!(finished.get("one", again), [0.1, 2.0 / 3.0]);
        assert_eq!(finished.get("another", || vec![6.0]), [6.0]);
        assert_eq!(finished.record("some", false, "0.2").simulated.len(), 2);
        fs::remove_dir_all(results).unwrap();
    }
}
