//! Simulations that an interrupted reproduction has finished; the next call resumes from them.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use flitlab_base::FileError;
use flitlab_base::document::hexadecimal;
use flitlab_base::text_file::read_text;
use flitlab_base::whole_file::{self, Content};
use flitlab_scenario::RESULTS_VERSION;

/// The folder of what is kept in the folder of a reproduction's results; it is there until these
/// are whole.
const FOLDER: &str = "unfinished";

/// The beginning of every file. Another layout gets another number.
const MAGIC: &str = "flitlab simulated 1";

/// The file in it that says of what it is.
const NAME: &str = "name";

const EXTENSION: &str = "json";

/// Why nothing can be kept in a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeptError {
    /// The folder keeps simulations of another reproduction.
    #[error("{folder} is that of an interrupted `{name}`")]
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
    /// Why something could not be read or written, first of all.
    failure: Mutex<Option<io::Error>>,
}

impl Kept {
    /// Opens the simulations that a folder of results keeps for a reproduction of this name.
    ///
    /// # Errors
    /// If something of another name is kept there, or nothing can be written.
    pub fn open(results: &Path, name: &str) -> Result<Self, KeptError> {
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
            return Err(KeptError::Other { folder: results.into(), name: found });
        }
        Ok(Self { folder, failure: Mutex::default() })
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
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        files.filter(|it| it.path().extension().is_some_and(|it| it == EXTENSION)).count()
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
        let mut hash = Sha256::new();
        hash.update(RESULTS_VERSION.to_le_bytes());
        hash.update(of);
        let hash = hexadecimal(&hash.finalize()[..16]);
        let (path, name) =
            (self.folder.join(&hash).with_extension(EXTENSION), format!("{MAGIC} {hash}"));
        match whole_file::read(&path, &name) {
            Ok(Content::Whole(text)) => {
                if let Ok(found) = serde_json::from_str(&text) {
                    return found;
                }
            }
            Ok(Content::Missing | Content::Damaged) => {}
            Err(cause) => self.fail(cause),
        }
        let text = serde_json::to_string(&compute()).expect("plain data");
        whole_file::write(&path, &name, &text).unwrap_or_else(|cause| self.fail(cause));
        // As it will be read another time.
        serde_json::from_str(&text).expect("what was written can be read")
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
        let kept = Kept::open(&results, "some").unwrap();
        assert_eq!(kept.get("one", || vec![0.1, 2.0 / 3.0]), [0.1, 2.0 / 3.0]);
        assert_eq!(kept.get("other", || vec![1.0]), [1.0]);
        assert!(matches!(Kept::open(&results, "others"), Err(KeptError::Other { .. })));
        let kept = Kept::open(&results, "some").unwrap();
        let again = || -> Vec<f64> { unreachable!("it was kept") };
        assert_eq!(kept.get("one", again), [0.1, 2.0 / 3.0]);
        assert_eq!((kept.count(), fs::read_dir(&kept.folder).unwrap().count()), (2, 3));
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
        fs::remove_dir_all(results).unwrap();
    }
}
