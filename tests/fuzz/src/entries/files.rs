//! A folder for what flitlab reads from files.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes with its thread.
pub struct Folder(PathBuf);

impl Folder {
    /// The same folder at each call.
    pub fn of_this_thread() -> Rc<Self> {
        thread_local!(static FOLDER: OnceCell<Rc<Folder>> = const { OnceCell::new() });
        FOLDER.with(|folder| folder.get_or_init(|| Rc::new(Self::new())).clone())
    }

    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("flitlab-fuzz-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    pub fn root(&self) -> &Path {
        &self.0
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Replaces a file.
    pub fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).expect("a temporary file");
    }

    pub fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.path(name));
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
