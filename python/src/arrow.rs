//! Tables by Arrow's C stream interface: the memory of one batch, which the reader releases.
//!
//! The structures are those of the specification
//! (<https://arrow.apache.org/docs/format/CStreamInterface.html>). Whole numbers are `int64`,
//! numbers `float64`, texts `large_utf8`. A field's metadata has its unit and its meaning.

#![allow(unsafe_code, reason = "an interface of C: the reader releases what it was given")]

use std::any::Any;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use flitlab::narrow::narrow;
use flitlab::report::{NamedColumn, Table, Values};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Of a field: it may have missing values.
const NULLABLE: i64 = 2;

#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

// SAFETY: what it points to is an `Arc` of plain data, and is used by whoever has the stream.
unsafe impl Send for ArrowArrayStream {}

impl Drop for ArrowArrayStream {
    /// A reader that has moved it away has cleared `release`.
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is the function of this structure, which has not been released.
            unsafe { release(self) };
        }
    }
}

/// What a stream still has to give.
struct Source {
    table: Arc<Table>,
    is_given: bool,
}

/// What an array owns.
struct Owned<C> {
    /// The buffers' memory, or a schema's texts.
    _memory: Vec<Box<dyn Any>>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut C>,
}

/// The capsule of a table.
pub(crate) fn stream(py: Python<'_>, table: Arc<Table>) -> PyResult<Bound<'_, PyCapsule>> {
    let source = Box::new(Source { table, is_given: false });
    let stream = ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(source).cast(),
    };
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: a stream that is not released has its source, and `out` is room for a schema.
    unsafe {
        let source = &*(*stream).private_data.cast::<Source>();
        out.write(whole_schema(&source.table));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `get_schema`; nobody else has the source.
    unsafe {
        let source = &mut *(*stream).private_data.cast::<Source>();
        let is_over = std::mem::replace(&mut source.is_given, true);
        out.write(if is_over { no_array() } else { whole_array(&source.table) });
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the source was made by `stream`, and is dropped once: `release` is cleared.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Source>()));
        (*stream).release = None;
    }
}

/// A text that ends with a zero, as it has none inside.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).expect("it has no zeros")
}

/// Keys and values as a field's metadata.
fn metadata(pairs: &[(&str, &str)]) -> Vec<u8> {
    let number = |number: usize| i32::try_from(number).expect("texts are short").to_ne_bytes();
    let mut bytes = number(pairs.len()).to_vec();
    for text in pairs.iter().flat_map(|&(key, value)| [key, value]) {
        bytes.extend(number(text.len()));
        bytes.extend(text.as_bytes());
    }
    bytes
}

fn schema(
    format: &str,
    name: &str,
    pairs: &[(&str, &str)],
    below: Vec<ArrowSchema>,
) -> ArrowSchema {
    let (format, name, pairs) = (c_text(format), c_text(name), metadata(pairs));
    let (format_at, name_at, pairs_at) = (format.as_ptr(), name.as_ptr(), pairs.as_ptr().cast());
    let children = below.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let memory: Vec<Box<dyn Any>> = vec![Box::new(format), Box::new(name), Box::new(pairs)];
    let owned = Owned::<ArrowSchema> { _memory: memory, buffers: Vec::new(), children };
    let owned = Box::into_raw(Box::new(owned));
    // SAFETY: it was just made; its lists are not changed until it is dropped.
    let children = unsafe { &mut (*owned).children };
    ArrowSchema {
        format: format_at,
        name: name_at,
        metadata: pairs_at,
        flags: NULLABLE,
        n_children: narrow(children.len()),
        children: children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_schema),
        private_data: owned.cast(),
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: children and what is owned were made by `schema`, and are dropped once.
    unsafe {
        let owned = Box::from_raw((*schema).private_data.cast::<Owned<ArrowSchema>>());
        for &child in &owned.children {
            // A reader may have taken a child for itself.
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*schema).release = None;
    }
}

fn whole_schema(table: &Table) -> ArrowSchema {
    let field = |column: &NamedColumn| {
        let format = match column.values {
            Values::Counts(_) => "l",
            Values::Numbers(_) => "g",
            Values::Texts(_) => "U",
        };
        let pairs = [("unit", column.unit), ("meaning", column.meaning.as_str())];
        schema(format, &column.name, &pairs, Vec::new())
    };
    ArrowSchema { flags: 0, ..schema("+s", "", &[], table.columns.iter().map(field).collect()) }
}

/// What says that there is none any more.
fn no_array() -> ArrowArray {
    ArrowArray {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: null_mut(),
        children: null_mut(),
        dictionary: null_mut(),
        release: None,
        private_data: null_mut(),
    }
}

fn array(
    (length, missing): (usize, usize),
    memory: Vec<Box<dyn Any>>,
    buffers: Vec<*const c_void>,
    below: Vec<ArrowArray>,
) -> ArrowArray {
    let children = below.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let owned = Box::into_raw(Box::new(Owned::<ArrowArray> { _memory: memory, buffers, children }));
    // SAFETY: as in `schema`.
    let (buffers, children) = unsafe { (&mut (*owned).buffers, &mut (*owned).children) };
    ArrowArray {
        length: narrow(length),
        null_count: narrow(missing),
        n_buffers: narrow(buffers.len()),
        n_children: narrow(children.len()),
        buffers: buffers.as_mut_ptr(),
        children: children.as_mut_ptr(),
        release: Some(release_array),
        private_data: owned.cast(),
        ..no_array()
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as in `release_schema`.
    unsafe {
        let owned = Box::from_raw((*array).private_data.cast::<Owned<ArrowArray>>());
        for &child in &owned.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*array).release = None;
    }
}

fn whole_array(table: &Table) -> ArrowArray {
    let columns = table.columns.iter().map(|column| match &column.values {
        Values::Counts(values) => numbers(values),
        Values::Numbers(values) => numbers(values),
        Values::Texts(values) => texts(values),
    });
    array((table.rows, 0), Vec::new(), vec![null()], columns.collect())
}

/// A bit for each value, set if it is there.
fn validity<T>(values: &[Option<T>]) -> Vec<u8> {
    let bits = |some: &[Option<T>]| {
        let bit = |(place, value): (usize, &Option<T>)| u8::from(value.is_some()) << place;
        some.iter().enumerate().map(bit).sum()
    };
    values.chunks(8).map(bits).collect()
}

/// A column of these buffers behind its validity.
fn column<T>(
    values: &[Option<T>],
    mut memory: Vec<Box<dyn Any>>,
    at: &[*const c_void],
) -> ArrowArray {
    let missing = values.iter().filter(|value| value.is_none()).count();
    let validity = validity(values);
    let buffers = [&[validity.as_ptr().cast()], at].concat();
    memory.push(Box::new(validity));
    array((values.len(), missing), memory, buffers, Vec::new())
}

fn numbers<T: Copy + Default + 'static>(values: &[Option<T>]) -> ArrowArray {
    let plain: Vec<T> = values.iter().map(|value| value.unwrap_or_default()).collect();
    let at = plain.as_ptr().cast();
    column(values, vec![Box::new(plain)], &[at])
}

fn texts(values: &[Option<String>]) -> ArrowArray {
    let mut letters: Vec<u8> = Vec::new();
    let mut ends = vec![0i64];
    for text in values {
        letters.extend(text.as_deref().unwrap_or_default().as_bytes());
        ends.push(narrow(letters.len()));
    }
    let at = [ends.as_ptr().cast(), letters.as_ptr().cast()];
    column(values, vec![Box::new(ends), Box::new(letters)], &at)
}
