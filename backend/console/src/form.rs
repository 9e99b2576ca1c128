//! Errors of typed values, as codes that a page translates. A form is checked whole: every field's error is told at
//! once.

use serde::Serialize;

use crate::snapshot::Snapshot;

/// One thing wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// The field's name in the form and in JSON.
    pub field: &'static str,
    /// What is wrong, in a word that a page translates.
    pub code: &'static str,
    /// What the translation names: a limit, a character, a line.
    pub args: Vec<(&'static str, String)>,
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.code)?;
        for (name, value) in &self.args {
            write!(f, " {name}={value}")?;
        }
        Ok(())
    }
}

/// All that is wrong with a form, in the order of its fields.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct FieldErrors(pub Vec<FieldError>);

impl FieldErrors {
    pub fn one(field: &'static str, code: &'static str) -> Self {
        let mut errors = Self::default();
        errors.add(field, code);
        errors
    }

    pub fn add(&mut self, field: &'static str, code: &'static str) {
        self.add_with(field, code, Vec::new());
    }

    pub fn add_with(&mut self, field: &'static str, code: &'static str, args: Vec<(&'static str, String)>) {
        self.0.push(FieldError { field, code, args });
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn of<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a FieldError> {
        self.0.iter().filter(move |error| error.field == field)
    }

    /// The value, where nothing is wrong.
    pub(crate) fn or<T>(self, value: Option<T>) -> Result<T, Self> {
        match value {
            Some(value) if self.is_empty() => Ok(value),
            _ => Err(self),
        }
    }
}

impl std::fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

/// The brokers that a form chose, each once.
pub(crate) fn chosen_brokers(chosen: &[String], snapshot: &Snapshot, errors: &mut FieldErrors) -> Vec<String> {
    let mut brokers: Vec<String> = Vec::new();
    for broker in chosen.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if snapshot.broker(broker).is_none() {
            errors.add_with("brokers", "broker-unknown", vec![("broker", broker.to_owned())]);
        } else if !brokers.iter().any(|seen| seen == broker) {
            brokers.push(broker.to_owned());
        }
    }
    if brokers.is_empty() && errors.of("brokers").next().is_none() {
        errors.add("brokers", "brokers-none");
    }
    brokers
}
