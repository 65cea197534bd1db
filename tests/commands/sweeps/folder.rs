//! Folders of results, byte by byte.

use std::fs;
use std::path::PathBuf;

use crate::common::workplace::Workplace;

impl Workplace {
    /// Finished points of a sweep.
    pub fn points(&self, folder: &str) -> usize {
        let entries = fs::read_dir(self.0.join(folder).join("points")).into_iter().flatten();
        entries.flatten().filter(|entry| entry.path().extension() == Some("point".as_ref())).count()
    }

    /// All files of a folder, those of folders in it too, with their contents.
    pub fn content(&self, folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let root = self.0.join(folder);
        let mut files = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let content = fs::read(&path).unwrap();
                    files.push((path.strip_prefix(&root).unwrap().into(), content));
                }
            }
        }
        files.sort();
        files
    }

    /// Asserts that two folders have the same files, byte for byte.
    pub fn assert_same(&self, one: &str, other: &str) {
        let (one, other) = (self.content(one), self.content(other));
        let names = |files: &[(PathBuf, Vec<u8>)]| {
            files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&one), names(&other));
        for ((path, one), (_, other)) in one.iter().zip(&other) {
            assert!(one == other, "{} differs", path.display());
        }
    }
}
