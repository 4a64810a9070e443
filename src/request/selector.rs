//! Selectors: which objects of a collection a request is about.
//!
//! kube-apiserver hands authorizers the terms of both selectors, and what it cannot parse as no terms at all.

mod fields;
mod labels;

use std::fmt;

use super::Query;

/// What a list, watch or deletecollection is narrowed to: the AND of all terms.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selectors {
    /// Sorted as kube-apiserver sorts them, by their text.
    pub fields: Vec<FieldRequirement>,
    /// Sorted by key.
    pub labels: Vec<LabelRequirement>,
}

/// One term of a field selector.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FieldRequirement {
    pub field: String,
    pub operator: FieldOperator,
    pub value: String,
}

/// `=` and `==` are the same in a field selector.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FieldOperator {
    Equals,
    NotEquals,
}

/// One term of a label selector.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LabelRequirement {
    pub key: String,
    pub operator: LabelOperator,
    /// Sorted and each once; none for [`LabelOperator::Exists`] and [`LabelOperator::DoesNotExist`].
    pub values: Vec<String>,
}

/// kube-apiserver tells `=` from `==`, and so do the reviews it sends to others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LabelOperator {
    DoesNotExist,
    DoubleEquals,
    Equals,
    Exists,
    GreaterThan,
    In,
    LessThan,
    NotEquals,
    NotIn,
}

impl Selectors {
    /// The selectors of a query, and whether both of them could be parsed.
    pub(super) fn read(query: &Query) -> (Self, bool) {
        let fields = fields::parse(query.get("fieldSelector").unwrap_or_default());
        let labels = labels::parse(query.get("labelSelector").unwrap_or_default());
        let sound = fields.is_some() && labels.is_some();
        let selectors = Self {
            fields: fields.unwrap_or_default(),
            labels: labels.unwrap_or_default(),
        };
        (selectors, sound)
    }

    /// Whether a term wants the field to have exactly this value. Other terms can only narrow it further.
    pub fn require(&self, field: &str, value: &str) -> bool {
        self.exact(field).any(|exact| exact == value)
    }

    /// The object name the field selector pins: its first exact `metadata.name`, if that can be a path segment.
    pub(super) fn pinned_name(&self) -> Option<&str> {
        let name = self.exact("metadata.name").next()?;
        let segment = !matches!(name, "" | "." | "..") && !name.contains(['/', '%']);
        segment.then_some(name)
    }

    fn exact(&self, field: &str) -> impl Iterator<Item = &str> {
        self.fields
            .iter()
            .filter(move |term| term.operator == FieldOperator::Equals && term.field == field)
            .map(|term| term.value.as_str())
    }
}

impl FieldOperator {
    /// As kube-apiserver writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equals => "=",
            Self::NotEquals => "!=",
        }
    }
}

/// As it can be written in a query.
impl fmt::Display for FieldRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.field, self.operator.as_str(), self.value)
    }
}

/// As it can be written in a query.
impl fmt::Display for LabelRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, values) = (&self.key, self.values.join(","));
        match self.operator {
            LabelOperator::DoesNotExist => write!(f, "!{key}"),
            LabelOperator::Exists => f.write_str(key),
            LabelOperator::GreaterThan => write!(f, "{key}>{values}"),
            LabelOperator::LessThan => write!(f, "{key}<{values}"),
            LabelOperator::In | LabelOperator::NotIn => write!(f, "{key} {} ({values})", self.operator.as_str()),
            operator => write!(f, "{key}{}{values}", operator.as_str()),
        }
    }
}

impl LabelOperator {
    /// As kube-apiserver writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DoesNotExist => "!",
            Self::DoubleEquals => "==",
            Self::Equals => "=",
            Self::Exists => "exists",
            Self::GreaterThan => "gt",
            Self::In => "in",
            Self::LessThan => "lt",
            Self::NotEquals => "!=",
            Self::NotIn => "notin",
        }
    }
}

#[cfg(test)]
mod tests;
