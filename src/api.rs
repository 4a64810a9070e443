//! Kubernetes words that every other module shares: verbs, resources and well-known names.
//!
//! Rank 0 of the module order: imports nothing of ours.

pub mod accounts;
pub mod csr;
pub mod dns;
pub mod garden;
pub mod names;
pub mod pods;
mod printable;
mod quote;
mod resource;
mod verb;

pub use printable::printable;
pub use quote::quote;
pub use resource::GroupResource;
pub use verb::Verb;

/// In lower case, two digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// At most so many characters of a text that a client chose; `…` stands for what is left out.
pub fn clip(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
