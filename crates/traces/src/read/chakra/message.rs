//! The messages of Chakra's schema 1.0.0 (`schema/protobuf/et_def.proto`), as far as they are read.

use std::io::{BufRead, Read};

use prost::Message;

/// What a file begins with.
#[derive(Clone, PartialEq, Message)]
pub(super) struct GlobalMetadata {
    #[prost(string, tag = "1")]
    pub version: String,
}

/// A node of a rank's graph.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Node {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub control_dependencies: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data_dependencies: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    #[prost(message, optional, tag = "8")]
    pub inputs: Option<Tensors>,
    #[prost(message, repeated, tag = "10")]
    pub attributes: Vec<Attribute>,
}

/// What a node takes in.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Tensors {
    #[prost(string, tag = "1")]
    pub values: String,
}

/// A value with a name, of whichever type it was written.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(double, optional, tag = "3")]
    pub(super) double: Option<f64>,
    #[prost(float, optional, tag = "5")]
    pub(super) float: Option<f32>,
    #[prost(int32, optional, tag = "7")]
    pub(super) int32: Option<i32>,
    #[prost(int64, optional, tag = "9")]
    pub(super) int64: Option<i64>,
    #[prost(uint32, optional, tag = "11")]
    pub(super) uint32: Option<u32>,
    #[prost(uint64, optional, tag = "13")]
    pub(super) uint64: Option<u64>,
    #[prost(sint32, optional, tag = "15")]
    pub(super) sint32: Option<i32>,
    #[prost(sint64, optional, tag = "17")]
    pub(super) sint64: Option<i64>,
    #[prost(fixed32, optional, tag = "19")]
    pub(super) fixed32: Option<u32>,
    #[prost(fixed64, optional, tag = "21")]
    pub(super) fixed64: Option<u64>,
    #[prost(sfixed32, optional, tag = "23")]
    pub(super) sfixed32: Option<i32>,
    #[prost(sfixed64, optional, tag = "25")]
    pub(super) sfixed64: Option<i64>,
    #[prost(bool, optional, tag = "27")]
    pub(super) boolean: Option<bool>,
    #[prost(message, optional, tag = "28")]
    pub(super) booleans: Option<Booleans>,
    #[prost(string, optional, tag = "29")]
    pub(super) text: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Booleans {
    #[prost(bool, repeated, tag = "1")]
    values: Vec<bool>,
}

impl Attribute {
    /// The value as a whole number.
    fn whole(&self) -> Option<i128> {
        let signed = [
            self.int32.map(i64::from),
            self.int64,
            self.sint32.map(i64::from),
            self.sint64,
            self.sfixed32.map(i64::from),
            self.sfixed64,
        ];
        let unsigned =
            [self.uint32.map(u64::from), self.uint64, self.fixed32.map(u64::from), self.fixed64];
        let real = [self.double, self.float.map(f64::from)];
        let signed = signed.into_iter().flatten().map(i128::from).next();
        let unsigned = unsigned.into_iter().flatten().map(i128::from).next();
        let real = real.into_iter().flatten().find_map(flitlab_base::narrow::try_rounded);
        let boolean = self.boolean.map(i128::from);
        let text = self.text.as_ref().and_then(|text| text.parse().ok());
        signed.or(unsigned).or(real).or(boolean).or(text)
    }
}

impl Node {
    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|it| it.name == name)
    }

    /// The whole number that an attribute has; `None` if it is not there.
    ///
    /// # Errors
    /// If it has something else, in words.
    pub(super) fn number(&self, name: &str) -> Result<Option<i128>, String> {
        let Some(attribute) = self.attribute(name) else { return Ok(None) };
        let number = attribute.whole().map(Some);
        number.ok_or_else(|| format!("its `{name}` is no whole number"))
    }

    /// The text of an attribute, or its number as text; `None` if it is not there.
    ///
    /// # Errors
    /// If it has something else, in words.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, String> {
        let Some(attribute) = self.attribute(name) else { return Ok(None) };
        match (&attribute.text, attribute.whole()) {
            (Some(text), _) => Ok(Some(text.clone())),
            (None, Some(number)) => Ok(Some(number.to_string())),
            (None, None) => Err(format!("its `{name}` is neither a text nor a number")),
        }
    }

    /// The names of its attributes.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().map(|attribute| attribute.name.as_str())
    }

    /// Whether a list of truths is there and has one that is false.
    ///
    /// # Errors
    /// If it has something else, in words.
    pub(super) fn leaves_out(&self, name: &str) -> Result<bool, String> {
        let Some(attribute) = self.attribute(name) else { return Ok(false) };
        let list = attribute.booleans.as_ref().map(|list| list.values.contains(&false));
        list.ok_or_else(|| format!("its `{name}` is no list of truths"))
    }
}

/// A message that can't be read, and where it begins.
pub(super) struct Broken {
    pub byte: u64,
    pub why: String,
}

/// The messages of a file, each behind its length.
pub(super) struct Messages<R> {
    input: R,
    /// Where the next one begins.
    byte: u64,
    buffer: Vec<u8>,
}

/// The longest message.
const LONGEST: u64 = 1 << 28;

impl<R: BufRead> Messages<R> {
    pub(super) fn of(input: R) -> Self {
        Self { input, byte: 0, buffer: Vec::new() }
    }

    /// The next message; `None` behind the last.
    pub(super) fn next<M: Message + Default>(&mut self) -> Result<Option<M>, Broken> {
        let byte = self.byte;
        let broken = |why: &str| Broken { byte, why: why.into() };
        let failed = |error: std::io::Error| Broken { byte, why: error.to_string() };
        let mut length = 0;
        for shift in (0..).step_by(7) {
            let mut one = [0];
            if self.input.read(&mut one).map_err(failed)? == 0 {
                return if shift == 0 {
                    Ok(None)
                } else {
                    Err(broken("the file ends in a length"))
                };
            }
            self.byte += 1;
            length |= u64::from(one[0] & 127) << shift;
            if one[0] < 128 {
                break;
            }
            if shift > 28 {
                return Err(broken("this is no length"));
            }
        }
        if length > LONGEST {
            return Err(broken(&format!("a message of {length} bytes is too long")));
        }
        self.buffer.clear();
        let read = (&mut self.input).take(length).read_to_end(&mut self.buffer);
        if (read.map_err(failed)? as u64) < length {
            return Err(broken(&format!("the file ends in a message of {length} bytes")));
        }
        self.byte += length;
        let message = M::decode(&*self.buffer);
        message.map(Some).map_err(|error| broken(&format!("this is no such message: {error}")))
    }
}
