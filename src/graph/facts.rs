//! What is to be known of an object beside who refers to it.

/// The few fields of an object that a decision reads. An object that is there has its facts, if its kind has any.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Facts {
    CsiDriver {
        /// For whom the driver wants service account tokens; an empty one means the API server.
        token_audiences: Vec<String>,
    },
    Node {
        uid: String,
    },
    PersistentVolumeClaim {
        /// The persistent volume that it is bound to; empty if none.
        volume: String,
    },
    ServiceAccount {
        uid: String,
    },
}
