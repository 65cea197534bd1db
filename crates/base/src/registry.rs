//! Components that scenarios choose by name, and the registry that has all of them.
//!
//! A traffic pattern, an algorithm for tables, the builder of a topology: each such component is a
//! [`Row`]. The row has its name, its description for the reference page, and what reads its keys.
//! Rows that are built in stand in the list of their kind ([`Component::built_in`]). Another crate
//! adds its own to a [`Registry`], and they are read, checked, swept and documented as those are.

use std::any::Any;
use std::fmt;
use std::ops::Deref;

/// A kind of component, such as traffic patterns. The type has what rows of this kind need besides
/// a name and a description.
pub trait Component: Copy + Send + Sync + 'static {
    /// A component of this kind in messages, without an article: `pattern`.
    const NOUN: &'static str;

    /// Names that no component of this kind can have, since they mean something else where it is
    /// named.
    const RESERVED: &'static [&'static str] = &[];

    /// Returns the rows that are built in, in the order in which they are offered.
    fn built_in() -> &'static [Row<Self>];

    /// Whether a built-in component of another kind has the name, where scenarios name both kinds by
    /// one key.
    fn is_taken(_name: &str) -> bool {
        false
    }

    /// Returns the built-in row of this name.
    fn named(name: &str) -> Option<&'static Row<Self>> {
        Self::built_in().iter().find(|row| row.name == name)
    }
}

/// A component with its name. Names of a kind differ, and so tell whether two rows are equal.
#[derive(Clone, Copy)]
pub struct Row<C> {
    /// The name in scenarios and on the command line: small letters, digits, `-` and `_`.
    pub name: &'static str,
    /// The meaning in a sentence that ends in a full stop, for the reference page and `flitlab
    /// init`.
    pub doc: &'static str,
    /// Names in papers and other simulators. A user who writes one of them is told the name above.
    pub known_as: &'static [&'static str],
    /// All that depends on the kind.
    pub component: C,
}

impl<C: Copy> Row<C> {
    /// A component that has no other names.
    pub const fn new(name: &'static str, doc: &'static str, component: C) -> Self {
        Self { name, doc, known_as: &[], component }
    }

    /// Returns the row with these names by which papers and other simulators know it.
    #[must_use]
    pub const fn known_as(self, known_as: &'static [&'static str]) -> Self {
        Self { known_as, ..self }
    }
}

impl<C> Deref for Row<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.component
    }
}

impl<C> PartialEq for Row<C> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<C> fmt::Debug for Row<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

/// The crate that a component from outside belongs to; made by [`package!`](crate::package).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// The crate's name.
    pub name: &'static str,
    /// Its version, as in its `Cargo.toml`.
    pub version: &'static str,
}

impl fmt::Display for Package {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name, self.version)
    }
}

/// The [`Package`] of the crate in which this is written, as cargo knows it.
#[macro_export]
macro_rules! package {
    () => {
        $crate::registry::Package {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        }
    };
}

/// A row of a registry, with the crate that it comes from if it is not built in.
pub struct Registered<C: 'static> {
    /// The name, the description and the component.
    pub row: &'static Row<C>,
    /// The crate that added the row.
    pub package: Option<Package>,
}

impl<C> Clone for Registered<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Registered<C> {}

impl<C> Deref for Registered<C> {
    type Target = Row<C>;

    fn deref(&self) -> &Row<C> {
        self.row
    }
}

/// All components that scenarios can name: those that are built in, and what was added.
///
/// ```
/// use flitlab_base::package;
/// use flitlab_base::registry::{Component, Registry, Row};
///
/// #[derive(Clone, Copy)]
/// struct Shape(u32);
///
/// impl Component for Shape {
///     const NOUN: &'static str = "shape";
///
///     fn built_in() -> &'static [Row<Self>] {
///         static SHAPES: [Row<Shape>; 1] = [Row::new("square", "four equal sides.", Shape(4))];
///         &SHAPES
///     }
/// }
///
/// static PENTAGON: Row<Shape> = Row::new("pentagon", "five equal sides.", Shape(5));
///
/// let registry = Registry::default().with(package!(), &PENTAGON)?;
/// let sides: Vec<u32> = registry.rows::<Shape>().map(|shape| shape.0).collect();
/// assert_eq!(sides, [4, 5]);
/// assert!(registry.with(package!(), &PENTAGON).is_err());
/// # Ok::<(), flitlab_base::registry::Refused>(())
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    added: Vec<Added>,
}

#[derive(Clone, Copy)]
struct Added {
    name: &'static str,
    package: Package,
    row: &'static (dyn Any + Send + Sync),
}

/// Why a row can't be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Another component of this kind has the name, or is known by it.
    #[error("there are two {noun}s called `{name}`: give yours another name")]
    Taken {
        /// The kind of component.
        noun: &'static str,
        /// The name in question.
        name: &'static str,
    },
    /// The name means something else where such a component is named.
    #[error("`{name}` means something else in scenarios: give your {noun} another name")]
    Reserved {
        /// The kind of component.
        noun: &'static str,
        /// The name in question.
        name: &'static str,
    },
    /// The name can't be written in scenarios as it is.
    #[error(
        "`{name}` can't be the name of a {noun}: names consist of small letters, digits, `-` and `_`"
    )]
    Spelling {
        /// The kind of component.
        noun: &'static str,
        /// The name in question.
        name: &'static str,
    },
}

impl Registry {
    /// Returns the registry with a row of the crate `package`.
    ///
    /// # Errors
    /// If the name is taken, or is not one.
    pub fn with<C: Component>(
        mut self,
        package: Package,
        row: &'static Row<C>,
    ) -> Result<Self, Refused> {
        let (noun, name) = (C::NOUN, row.name);
        let allowed = |c| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_');
        if name.is_empty() || !name.chars().all(allowed) {
            return Err(Refused::Spelling { noun, name });
        }
        if C::RESERVED.contains(&name) {
            return Err(Refused::Reserved { noun, name });
        }
        let is_own = |row: Registered<C>| row.name == name || row.known_as.contains(&name);
        if self.rows::<C>().any(is_own) || C::is_taken(name) {
            return Err(Refused::Taken { noun, name });
        }
        self.added.push(Added { name, package, row });
        Ok(self)
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty()
    }

    /// The crates that rows come from, each once, in the order in which they were added.
    pub fn packages(&self) -> Vec<Package> {
        let mut packages: Vec<Package> = Vec::new();
        for Added { package, .. } in &self.added {
            if !packages.contains(package) {
                packages.push(*package);
            }
        }
        packages
    }

    /// Returns all rows of a kind: those that are built in, then others in the order in which they
    /// were added.
    pub fn rows<C: Component>(&self) -> impl Iterator<Item = Registered<C>> + '_ {
        let built_in = C::built_in().iter().map(|row| Registered { row, package: None });
        let added = self.added.iter().filter_map(|added| {
            let row = added.row.downcast_ref()?;
            Some(Registered { row, package: Some(added.package) })
        });
        built_in.chain(added)
    }
}

impl fmt::Debug for Registry {
    /// Lists what was added.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let added = self.added.iter().map(|added| (added.name, added.package));
        formatter.debug_map().entries(added).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Shape;

    impl Component for Shape {
        const NOUN: &'static str = "shape";

        fn built_in() -> &'static [Row<Self>] {
            static SHAPES: [Row<Shape>; 1] =
                [Row::new("square", "four sides.", Shape).known_as(&["tetragon"])];
            &SHAPES
        }
    }

    #[test]
    fn a_name_that_is_taken_or_is_none_is_refused() {
        static ROWS: [Row<Shape>; 4] = [
            Row::new("square", "five sides.", Shape),
            Row::new("tetragon", "five sides.", Shape),
            Row::new("a.b", "five sides.", Shape),
            Row::new("", "five sides.", Shape),
        ];
        for (row, said) in ROWS.iter().zip([
            "there are two shapes called `square`: give yours another name",
            "there are two shapes called `tetragon`: give yours another name",
            "`a.b` can't be the name of a shape: names consist of small letters, digits, `-` and `_`",
            "`` can't be the name of a shape: names consist of small letters, digits, `-` and `_`",
        ]) {
            let refused = Registry::default().with(crate::package!(), row).unwrap_err();
            assert_eq!(refused.to_string(), said);
        }
    }

    #[test]
    fn kinds_of_equal_names_keep_apart() {
        static SQUARE: Row<Colour> = Row::new("square", "a colour.", Colour);
        #[derive(Clone, Copy)]
        struct Colour;
        impl Component for Colour {
            const NOUN: &'static str = "colour";
            fn built_in() -> &'static [Row<Self>] {
                &[]
            }
        }
        let registry = Registry::default().with(crate::package!(), &SQUARE).unwrap();
        assert_eq!(registry.rows::<Shape>().count(), 1);
        let colour = registry.rows::<Colour>().next().unwrap();
        assert_eq!((colour.name, colour.package), ("square", Some(crate::package!())));
    }
}
