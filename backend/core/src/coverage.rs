//! What could be read and what could not. *Unknown is not zero*: a value that was not read carries its reason.

use serde::{Serialize, Serializer};

use crate::time::Millis;

/// Why something is not known. No `Display`: pages say it in their reader's language, and whoever wants English says so.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Nobody asked yet.
    NotReadYet,
    /// A rate needs two readings.
    OneReading,
    /// Offsets went back between two readings: the topic was made anew, or the broker restored.
    WentBack,
    /// The group has no offset on a queue that has messages.
    NeverCommitted,
    /// A broker that was there is listed by no name server any more.
    NotListed,
    /// The broker answers and does not tell this figure.
    NotTold,
    /// No broker of this cluster has the address.
    NoSuchAddress,
    NoNameServer(String),
    Unreachable {
        address: String,
        detail: String,
    },
    TimedOut {
        address: String,
        millis: u64,
    },
    NoSuchBroker(String),
    NotThere(String),
    NotPermitted {
        address: String,
        remark: String,
    },
    /// The broker answered with an error of its own.
    Answered {
        address: String,
        code: i32,
        remark: String,
    },
    /// The topic has no read permission there.
    NotReadable(String),
    /// A broker tells no more than its newest so many at once; there may be older ones.
    NewestOnly {
        messages: usize,
    },
    /// More than one look-up asks for: `asked` of `all` were.
    LeftOut {
        asked: usize,
        all: usize,
    },
    /// In the words of whoever said it.
    Said(String),
}

impl Why {
    /// For the API, the command line and logs.
    pub fn english(&self) -> String {
        match self {
            Self::NotReadYet => "not read yet".to_owned(),
            Self::OneReading => "one reading so far".to_owned(),
            Self::WentBack => "the offsets went back".to_owned(),
            Self::NeverCommitted => "the group has committed no offset here".to_owned(),
            Self::NotListed => "no name server lists it any more".to_owned(),
            Self::NotTold => "the broker does not say".to_owned(),
            Self::NoSuchAddress => "no broker of this cluster has this address".to_owned(),
            Self::NoNameServer(detail) => format!("no name server answered ({detail})"),
            Self::Unreachable { address, detail } => format!("{address} is unreachable: {detail}"),
            Self::TimedOut { address, millis } => format!("{address} did not answer within {millis} ms"),
            Self::NoSuchBroker(name) => format!("no broker {name} in this cluster"),
            Self::NotThere(what) => format!("{what} is not there"),
            Self::NotPermitted { address, remark } => format!("{address} refused: {remark}"),
            Self::Answered { address, code, remark } => format!("{address} answered with code {code}: {remark}"),
            Self::NotReadable(topic) => format!("topic {topic} may not be read there"),
            Self::NewestOnly { messages } => {
                format!("it tells its newest {messages} at once, there may be older ones")
            }
            Self::LeftOut { asked, all } => format!("{asked} of {all} were asked, the rest is left out"),
            Self::Said(text) => text.clone(),
        }
    }
}

impl Serialize for Why {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.english())
    }
}

impl From<&Why> for Why {
    fn from(why: &Why) -> Self {
        why.clone()
    }
}

impl From<String> for Why {
    fn from(text: String) -> Self {
        Self::Said(text)
    }
}

impl From<&str> for Why {
    fn from(text: &str) -> Self {
        Self::Said(text.to_owned())
    }
}

/// A value that was read, or the reason why it was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Known<T> {
    Known(T),
    Unknown(Why),
}

impl<T> Known<T> {
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Self::Known(value) => Known::Known(f(value)),
            Self::Unknown(why) => Known::Unknown(why),
        }
    }
}

impl<T, E: Into<Why>> From<Result<T, E>> for Known<T> {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(value) => Self::Known(value),
            Err(error) => Self::Unknown(error.into()),
        }
    }
}

/// One thing that was asked and did not answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Missed {
    /// What was asked: a broker's name, a queue, a segment.
    pub what: String,
    /// Why it did not answer.
    pub why: Why,
}

/// How much of what should have answered did, and how old the answer is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Coverage {
    /// How many were asked.
    pub asked: usize,
    /// How many answered.
    pub answered: usize,
    /// Those that did not.
    pub missed: Vec<Missed>,
    /// When the oldest part of the answer was read.
    pub as_of: Option<Millis>,
}

impl Coverage {
    pub fn complete(&self) -> bool {
        self.missed.is_empty() && self.answered == self.asked
    }

    pub fn answer(&mut self) {
        self.asked += 1;
        self.answered += 1;
    }

    pub fn miss(&mut self, what: impl Into<String>, why: impl Into<Why>) {
        self.asked += 1;
        self.missed.push(Missed { what: what.into(), why: why.into() });
    }
}
