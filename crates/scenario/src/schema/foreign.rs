//! Files of other programs at keys: named where they are not what the key takes.

use std::path::Path;

use flitlab_base::document::{InputFile, Reader};
use flitlab_traces::formats::{Beginning, FileKind, refusal};

/// Takes the value that was read from a file, as [`InputFile::take`]. If it could not be read since
/// the file is of another format, that is reported at the key, in place of the mistake in a line.
pub(super) fn take<T>(
    file: &InputFile,
    reader: &mut Reader<'_>,
    wanted: FileKind,
    read: Result<T, (usize, String)>,
) -> Option<T> {
    if read.is_err() {
        let name = file.name();
        let beginning = Beginning::new(Path::new(&name), file.text.as_bytes());
        if let Some(refusal) = refusal(&beginning, &name, wanted) {
            file.refuse(reader, &refusal.message, &refusal.help);
            return None;
        }
    }
    file.take(reader, read)
}
