//! Reads one mapping of the file, key by key, and notes what is wrong instead of stopping at it.

use std::{
    cell::RefCell,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Map, Value};

use super::Problem;

/// A mapping, of which keys are taken until [`Section::finish`] complains about the rest.
pub(super) struct Section<'a> {
    path: String,
    keys: Map<String, Value>,
    /// Keys that were asked for, to suggest one for a key that was not.
    known: Vec<&'static str>,
    context: &'a Context<'a>,
}

/// What all sections of a file share.
pub(super) struct Context<'a> {
    /// Where relative paths start.
    pub(super) base: &'a Path,
    pub(super) problems: RefCell<Vec<Problem>>,
    /// The paths of all keys that were looked for, there or not.
    pub(super) asked: RefCell<Vec<String>>,
}

/// Likeness (Jaro–Winkler) from which a name is taken for a slip of another.
const LIKELY: f64 = 0.8;

impl<'a> Context<'a> {
    pub(super) fn new(base: &'a Path) -> Self {
        Self {
            base,
            problems: RefCell::default(),
            asked: RefCell::default(),
        }
    }

    pub(super) fn problem(&self, path: impl Into<String>, message: impl Into<String>, hint: Option<String>) {
        self.problems.borrow_mut().push(Problem {
            path: path.into(),
            message: message.into(),
            hint,
        });
    }
}

impl<'a> Section<'a> {
    pub(super) fn root(value: Value, context: &'a Context<'a>) -> Self {
        Self::new(String::new(), value, context)
    }

    fn new(path: String, value: Value, context: &'a Context<'a>) -> Self {
        let keys = match value {
            Value::Object(keys) => keys,
            Value::Null => Map::new(),
            other => {
                let shown = if path.is_empty() { "the file" } else { &path };
                context.problem(
                    shown,
                    format!("should be a mapping of keys, not {}", describe(&other)),
                    None,
                );
                Map::new()
            }
        };
        Self {
            path,
            keys,
            known: Vec::new(),
            context,
        }
    }

    /// A mapping inside this one; empty if it is absent.
    pub(super) fn section(&mut self, key: &'static str) -> Self {
        let value = self.take(key).unwrap_or(Value::Null);
        Self::new(self.path_of(key), value, self.context)
    }

    /// Mappings in a list; none if it is absent.
    pub(super) fn sections(&mut self, key: &'static str) -> Vec<Self> {
        let items = self.read(key, "a list of mappings", |value| value.as_array().cloned());
        let path = self.path_of(key);
        let items = items.unwrap_or_default().into_iter().enumerate();
        items
            .map(|(index, item)| Self::new(format!("{path}[{index}]"), item, self.context))
            .collect()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    pub(super) fn path_of(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    pub(super) fn problem(&self, key: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.context.problem(self.path_of(key), message, Some(hint.into()));
    }

    pub(super) fn string(&mut self, key: &'static str) -> Option<String> {
        self.read(key, "a string", |value| value.as_str().map(str::to_owned))
    }

    pub(super) fn boolean(&mut self, key: &'static str) -> Option<bool> {
        self.read(key, "true or false", Value::as_bool)
    }

    pub(super) fn number(&mut self, key: &'static str) -> Option<u64> {
        self.read(key, "a whole number", Value::as_u64)
    }

    pub(super) fn strings(&mut self, key: &'static str) -> Option<Vec<String>> {
        self.read(key, "a list of strings", |value| {
            let items = value.as_array()?.iter();
            items.map(|item| item.as_str().map(str::to_owned)).collect()
        })
    }

    pub(super) fn address(&mut self, key: &'static str) -> Option<SocketAddr> {
        self.read(
            key,
            "an IP address and port such as 127.0.0.1:8443 or [::1]:8443",
            |value| value.as_str()?.parse().ok(),
        )
    }

    /// `30s`, `5m`, `500ms`.
    pub(super) fn duration(&mut self, key: &'static str) -> Option<Duration> {
        self.read(key, "a duration such as 30s, 5m or 500ms", |value| {
            let text = value.as_str()?;
            let digits = text.find(|c: char| !c.is_ascii_digit())?;
            let (number, unit) = text.split_at_checked(digits)?;
            let number: u64 = number.parse().ok()?;
            match unit {
                "ms" => Some(Duration::from_millis(number)),
                "s" => Some(Duration::from_secs(number)),
                "m" => number.checked_mul(60).map(Duration::from_secs),
                "h" => number.checked_mul(3600).map(Duration::from_secs),
                _ => None,
            }
        })
    }

    /// One of a few words.
    pub(super) fn choice<T: Clone>(&mut self, key: &'static str, choices: &[(&str, T)]) -> Option<T> {
        let written = self.string(key)?;
        let found = choices.iter().find(|(word, _)| *word == written);
        if found.is_none() {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            let hint = suggestion(&written, &words).unwrap_or_else(|| format!("one of {}", words.join(", ")));
            self.problem(key, format!("{written:?} is not known"), hint);
        }
        found.map(|(_, choice)| choice.clone())
    }

    /// A path, made independent of where the gate is started.
    pub(super) fn resolve(&self, path: &str) -> PathBuf {
        self.context.base.join(path)
    }

    /// A file that has to be there.
    pub(super) fn file(&mut self, key: &'static str) -> Option<PathBuf> {
        let path = self.string(key).map(|path| self.resolve(&path))?;
        if let Err(error) = std::fs::File::open(&path) {
            let hint = "relative paths start at the configuration file; `scopegate certs DIR` makes a development set";
            self.problem(key, format!("cannot read {}: {error}", path.display()), hint);
        }
        Some(path)
    }

    /// Notes that a key is missing, unless something was wrong with it already.
    pub(super) fn require<T>(&self, key: &'static str, value: Option<T>, hint: &str) -> Option<T> {
        let path = self.path_of(key);
        let told = self
            .context
            .problems
            .borrow()
            .iter()
            .any(|problem| problem.path == path);
        if value.is_none() && !told {
            self.problem(key, "is missing", hint);
        }
        value
    }

    /// The keys that nobody asked for and their values, for mappings whose keys are free.
    pub(super) fn rest(mut self) -> Map<String, Value> {
        std::mem::take(&mut self.keys)
    }

    /// Notes every key that means nothing.
    pub(super) fn finish(self) {
        for key in self.keys.keys() {
            let hint = suggestion(key, &self.known).unwrap_or_else(|| format!("known here: {}", self.known.join(", ")));
            self.context
                .problem(self.path_of(key), "is not a known key", Some(hint));
        }
    }

    fn read<T>(&mut self, key: &'static str, wanted: &str, convert: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.take(key)?;
        let converted = convert(&value);
        if converted.is_none() {
            let hint = match value {
                Value::Number(_) if wanted == "a string" => "put it in quotes".to_owned(),
                _ => format!("found {value}"),
            };
            self.problem(key, format!("should be {wanted}, not {}", describe(&value)), hint);
        }
        converted
    }

    fn take(&mut self, key: &'static str) -> Option<Value> {
        self.known.push(key);
        self.context.asked.borrow_mut().push(self.path_of(key));
        self.keys.remove(key).filter(|value| !value.is_null())
    }
}

pub(super) fn suggestion(written: &str, known: &[&str]) -> Option<String> {
    let likeness = |name: &str| strsim::jaro_winkler(&written.to_lowercase(), &name.to_lowercase());
    let best = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > LIKELY).then(|| format!("did you mean {best}?"))
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "this string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
