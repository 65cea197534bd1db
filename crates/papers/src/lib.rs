//! Published results computed again, beside the numbers as they were printed.
//!
//! | module | what it is for |
//! |---|---|
//! | [`reproduce`] | tables and figures of the papers on Angara, Nue, path selection, OutFlank Routing and detours |
//!
//! `flitlab reproduce` runs them from the command line; docs/validation.md has the numbers.

pub mod reproduce;
