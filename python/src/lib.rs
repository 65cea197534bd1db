//! The native half of the Python package `flitlab`: commands called with the interpreter's lock
//! released, and their results as bytes. `python/flitlab` makes Python of it.
//!
//! A crate that brings components of its own makes another native module of the same functions
//! ([`add_to`]), which `flitlab.use` puts in place of this one.

mod arrow;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use flitlab::cli::{self, Ended, Finished, Program, Standing};
use flitlab::registry::Registry;
use flitlab::report::figure::{Figure, Sheet};
use flitlab::report::{self, Values};
use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};

/// How often Python's signals are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// How long an interrupted command may take to end. One that takes longer, since it makes a table,
/// ends without anybody who waits for it.
const PATIENCE: Duration = Duration::from_millis(200);

/// As large as that of a process's first thread.
const STACK: usize = 8 << 20;

#[pymodule]
mod _flitlab {
    #[pymodule_export]
    use super::{Answer, Table, call, main, version};
}

/// What the commands of a native module know besides what is built in.
static REGISTRY: OnceLock<Registry> = OnceLock::new();

/// Makes a native module of another crate one whose commands know the components of this registry.
///
/// The registry is the process's: a native module is loaded once, and Python's functions have no
/// place for one.
///
/// # Errors
/// If the module has one already, or Python can't take a function.
pub fn add_to(module: &Bound<'_, PyModule>, registry: Registry) -> PyResult<()> {
    let twice = |_| PyRuntimeError::new_err("the module has its components already");
    REGISTRY.set(registry).map_err(twice)?;
    module.add_class::<Answer>()?;
    module.add_class::<Table>()?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(call, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)
}

fn registry() -> &'static Registry {
    REGISTRY.get_or_init(Registry::default)
}

/// The version of flitlab.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Does what the command does with these arguments, its name first. Returns the exit code, or ends
/// the process.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let code = cli::main_with(registry(), arguments);
        // Nobody does it at the end of a process that is not Rust's.
        let _ = std::io::stdout().flush();
        code
    })
}

/// Calls a command with these arguments, without its name. `tell` is told how far it is: what is
/// done, of how much (0 if that is not known), and in words.
#[pyfunction]
#[pyo3(signature = (arguments, text=None, tell=None))]
fn call(
    py: Python<'_>,
    arguments: Vec<OsString>,
    text: Option<String>,
    tell: Option<Bound<'_, PyAny>>,
) -> PyResult<Answer> {
    let program = Arc::new(Program::with_registry(registry()));
    let (sender, receiver) = channel();
    let work = {
        let program = Arc::clone(&program);
        move || {
            // Whoever waited for it may have gone.
            let _ = sender.send(program.call(&arguments, text.as_deref()));
        }
    };
    thread::Builder::new().stack_size(STACK).spawn(work)?;
    let work = Work { program, receiver: Mutex::new(receiver) };
    let mut told = Instant::now();
    loop {
        if let Some(ended) = work.wait(py, LOOK_EVERY)? {
            return Ok(Answer::new(&work.program, ended));
        }
        let mut look = || {
            py.check_signals()?;
            let Some(tell) = tell.as_ref().filter(|_| told.elapsed() >= TELL_EVERY) else {
                return Ok(());
            };
            told = Instant::now();
            let Some(Standing { done, of, text }) = work.program.standing() else { return Ok(()) };
            tell.call1((done, of, text)).map(drop)
        };
        if let Err(error) = look() {
            return Err(work.give_up(py, error));
        }
    }
}

/// A command on its thread.
struct Work {
    program: Arc<Program>,
    receiver: Mutex<Receiver<Option<Ended>>>,
}

impl Work {
    /// Waits for the end, for so long.
    fn wait(&self, py: Python<'_>, time: Duration) -> PyResult<Option<Ended>> {
        let receive = || {
            let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
            receiver.recv_timeout(time)
        };
        match py.detach(receive) {
            Ok(Some(ended)) => Ok(Some(ended)),
            Ok(None) => Err(PyKeyboardInterrupt::new_err("interrupted")),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(PyRuntimeError::new_err(
                "flitlab has a mistake of its own: standard error says where",
            )),
        }
    }

    /// Ends the command because of an error. If that is an interruption, it says what is kept.
    fn give_up(&self, py: Python<'_>, error: PyErr) -> PyErr {
        self.program.notes();
        let mut keeps = self.program.interrupt();
        let begun = Instant::now();
        while keeps || begun.elapsed() < PATIENCE {
            match self.wait(py, LOOK_EVERY) {
                // A second one: what would be kept isn't.
                Ok(None) if py.check_signals().is_err() => keeps = self.program.interrupt(),
                Ok(None) => {}
                Ok(Some(_)) | Err(_) => break,
            }
        }
        let notes = self.program.notes();
        if notes.is_empty() || !error.is_instance_of::<PyKeyboardInterrupt>(py) {
            return error;
        }
        PyKeyboardInterrupt::new_err(notes.join("\n"))
    }
}

/// What is made when it is first asked for.
type Lazy<T> = OnceLock<Vec<T>>;

/// What a command has said and found.
#[pyclass(frozen)]
struct Answer {
    /// The exit code of the command.
    #[pyo3(get)]
    code: u8,
    /// What it says of an error; empty if there is none.
    #[pyo3(get)]
    error: String,
    /// Notes and warnings.
    #[pyo3(get)]
    notes: Vec<String>,
    /// What it prints for people.
    #[pyo3(get)]
    text: String,
    /// What it prints with `--json`.
    #[pyo3(get)]
    json: Option<String>,
    tables: Lazy<Arc<report::Table>>,
    figures: Lazy<(String, Figure)>,
    result: Option<Finished>,
}

impl Answer {
    fn new(program: &Program, ended: Ended) -> Self {
        let cli::Answer { text, json, result, tables, figures } = program.answer();
        let (mut own_tables, mut own_figures) = (Lazy::new(), Lazy::new());
        if result.is_none() {
            own_tables = tables.into_iter().map(Arc::new).collect::<Vec<_>>().into();
            own_figures = figures.into();
        }
        Self {
            code: ended.code,
            error: ended.text,
            notes: program.notes(),
            text,
            json,
            tables: own_tables,
            figures: own_figures,
            result,
        }
    }

    fn all_tables(&self) -> &[Arc<report::Table>] {
        self.tables.get_or_init(|| {
            let result = self.result.iter();
            result.flat_map(Finished::tables).map(Arc::new).collect()
        })
    }

    fn all_figures(&self) -> &[(String, Figure)] {
        self.figures.get_or_init(|| self.result.iter().flat_map(Finished::figures).collect())
    }
}

#[pymethods]
impl Answer {
    /// Whether it is a result of a run or a sweep.
    #[getter]
    fn has_result(&self) -> bool {
        self.result.is_some()
    }

    /// The scenario of a result, every value written out.
    #[getter]
    fn scenario(&self) -> Option<&str> {
        Some(&self.result.as_ref()?.scenario)
    }

    /// The folder of its files.
    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.result.as_ref()?.folder.clone()
    }

    #[getter]
    fn tables(&self) -> Vec<Table> {
        self.all_tables().iter().map(|table| Table(Arc::clone(table))).collect()
    }

    /// The names of the figures.
    #[getter]
    fn figures(&self) -> Vec<&str> {
        self.all_figures().iter().map(|(name, _)| name.as_str()).collect()
    }

    /// A figure as a file of this format: `svg`, `pdf` or `png`.
    fn figure<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        format: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let figure = self.all_figures().iter().find(|figure| figure.0 == name);
        let (_, figure) = figure.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        let sheet = Sheet::default();
        let file = py.detach(|| match format {
            "svg" => Ok(Ok(figure.svg(&sheet).into_bytes())),
            "pdf" => Ok(figure.pdf(&sheet)),
            "png" => Ok(figure.png(&sheet)),
            _ => Err(PyValueError::new_err(format!("`{format}` is not svg, pdf or png"))),
        })?;
        let file = file.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &file))
    }

    /// Writes a result into an empty folder.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let Some(result) = &self.result else { return Ok(()) };
        py.detach(|| result.save(&folder)).map_err(PyOSError::new_err)
    }
}

/// A result file in columns.
#[pyclass(frozen)]
struct Table(Arc<report::Table>);

#[pymethods]
impl Table {
    #[getter]
    fn name(&self) -> &str {
        self.0.name
    }

    /// Name, unit and meaning of each column.
    #[getter]
    fn columns(&self) -> Vec<(&str, &str, &str)> {
        let columns = self.0.columns.iter();
        columns.map(|it| (it.name.as_str(), it.unit, it.meaning.as_str())).collect()
    }

    fn __len__(&self) -> usize {
        self.0.rows
    }

    /// The type of a column for NumPy, `int64`, `float64` or `object`, and its values: numbers as
    /// bytes, texts as a list. Missing values are NaN, which whole numbers become fractions for, or
    /// None.
    fn values<'py>(
        &self,
        py: Python<'py>,
        column: &str,
    ) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
        let column = self.0.columns.iter().find(|it| it.name == column);
        let column = column.ok_or_else(|| PyKeyError::new_err("there is no such column"))?;
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes).into_any();
        let numbers = |numbers: &mut dyn Iterator<Item = Option<f64>>| {
            let numbers = numbers.map(|number| number.unwrap_or(f64::NAN));
            bytes(&numbers.flat_map(f64::to_ne_bytes).collect::<Vec<u8>>())
        };
        Ok(match &column.values {
            Values::Texts(texts) => ("object", PyList::new(py, texts)?.into_any()),
            Values::Numbers(values) => ("float64", numbers(&mut values.iter().copied())),
            Values::Counts(counts) => {
                let whole: Option<Vec<[u8; 8]>> =
                    counts.iter().map(|count| count.map(i64::to_ne_bytes)).collect();
                match whole {
                    Some(whole) => ("int64", bytes(whole.as_flattened())),
                    None => {
                        let fractions = counts.iter().map(|count| count.map(|count| count as f64));
                        ("float64", numbers(&mut { fractions }))
                    }
                }
            }
        })
    }

    /// The table as a stream of Arrow, which pandas, Polars, PyArrow and others read.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Other types than its own would be conversions, which a producer need not do.
        drop(requested_schema);
        arrow::stream(py, Arc::clone(&self.0))
    }
}
