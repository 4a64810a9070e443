//! What a node would write: its body, read once, in whatever form it came.

use std::{cell::RefCell, sync::Arc};

use http::{HeaderValue, header::CONTENT_TYPE};

use super::{
    No,
    kinds::{Endpoint, version},
    notes::{MirrorPod, Notes},
    sent::Sent,
};
use crate::{
    api::{Verb, names},
    caller::User,
    json::{Json, Malformed},
    patch::{self, Patch},
    protobuf,
    rejection::{Details, Rejection},
    request::{Head, ResourceRequest},
    rules::{Mode, Modes, Rule},
};

/// One write of a node.
#[derive(Debug)]
pub struct Write<'a> {
    pub node: &'a str,
    pub user: &'a Arc<User>,
    pub operation: Operation,
    pub request: &'a ResourceRequest,
    pub content: Content<'a>,
    pub(super) head: &'a Head,
    /// What is sent there; nothing where no rule wants to know.
    pub(super) endpoint: Option<Endpoint<'a>>,
    /// Whether somebody has made JSON of it if it was YAML.
    is_json_by_now: bool,
    modes: Modes,
    notes: RefCell<Notes>,
}

/// Who writes, and how its writes are judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer<'a> {
    pub(super) node: &'a str,
    pub(super) user: &'a Arc<User>,
    pub(super) modes: Modes,
}

/// What admission plugins call an operation; a patch is an update.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    Create,
    Update,
    Delete,
    DeleteCollection,
}

/// The body of a write.
#[derive(Debug)]
pub enum Content<'a> {
    Nothing,
    Object(Sent<'a>),
    Patch(Patch<'a>),
    /// Server-side apply.
    Apply(Json<'a>),
}

const NAMESPACED: &[&str] = &[
    "backupentries",
    "bastions",
    "configmaps",
    "events",
    "gardenlets",
    "internalsecrets",
    "leases",
    "podcertificaterequests",
    "pods",
    "secrets",
    "serviceaccounts",
    "shootstates",
];
const PATCHES: &[(&str, patch::Type)] = &[
    ("application/json-patch+json", patch::Type::Json),
    ("application/merge-patch+json", patch::Type::Merge),
    ("application/strategic-merge-patch+json", patch::Type::Strategic),
];

impl Operation {
    /// Nothing if the verb changes nothing, or is not one that admission plugins see.
    pub fn of(verb: &Verb) -> Option<Self> {
        Some(match verb {
            Verb::Create => Self::Create,
            Verb::Update | Verb::Patch => Self::Update,
            Verb::Delete => Self::Delete,
            Verb::DeleteCollection => Self::DeleteCollection,
            _ => return None,
        })
    }

    /// As Kubernetes writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete | Self::DeleteCollection => "DELETE",
        }
    }
}

impl<'a> Write<'a> {
    /// A write whose body nobody wants to look at.
    pub(super) fn unread(
        Writer { node, user, modes }: Writer<'a>,
        operation: Operation,
        (head, request): (&'a Head, &'a ResourceRequest),
    ) -> Result<Self, Rejection> {
        if is_nowhere(operation, request) {
            return Err(Rejection::method_not_allowed());
        }
        Ok(Self {
            node,
            user,
            operation,
            request,
            content: Content::Nothing,
            head,
            endpoint: Endpoint::of(request),
            is_json_by_now: false,
            modes,
            notes: RefCell::default(),
        })
    }

    /// Reads the body. What has no meaning, or more than one, is refused.
    pub(super) fn read(
        writer: Writer<'a>,
        operation: Operation,
        (head, request): (&'a Head, &'a ResourceRequest),
        body: &'a [u8],
    ) -> Result<Self, Rejection> {
        let mut write = Self::unread(writer, operation, (head, request))?;
        write.read_body(body)?;
        Ok(write)
    }

    /// Reads the body of a write to an endpoint that need not be in the table of those that nodes write to. What was YAML is JSON
    /// by now.
    pub(super) fn read_at(
        writer: Writer<'a>,
        operation: Operation,
        (head, request): (&'a Head, &'a ResourceRequest),
        endpoint: Endpoint<'a>,
        body: &'a [u8],
    ) -> Result<Self, Rejection> {
        let mut write = Self::unread(writer, operation, (head, request))?;
        write.endpoint = Some(endpoint);
        write.is_json_by_now = true;
        write.read_body(body)?;
        Ok(write)
    }

    fn read_body(&mut self, body: &'a [u8]) -> Result<(), Rejection> {
        let (head, request) = (self.head, self.request);
        self.content = match head.info().verb {
            Verb::Patch => self.patch(body)?,
            Verb::Delete | Verb::DeleteCollection if body.is_empty() => Content::Nothing,
            Verb::Delete | Verb::DeleteCollection => {
                let sent = Sent::read(
                    (head.headers(), false),
                    body,
                    Some(&protobuf::DELETE_OPTIONS),
                    "DeleteOptions",
                )?;
                sent.is_kind("DeleteOptions")?;
                let (own, version) = (version(&request.resource, &request.version), sent.version()?);
                if !["", "v1", "meta.k8s.io/v1", &own].contains(&version) {
                    return Err(Rejection::bad_request(format!(
                        "DeleteOptions of version {version:?} are not taken"
                    )));
                }
                Content::Object(sent)
            }
            _ => match self.endpoint {
                Some(endpoint) => Content::Object(self.object(&endpoint, body)?),
                None => Content::Nothing,
            },
        };
        Ok(())
    }

    fn object(&self, endpoint: &Endpoint<'_>, body: &'a [u8]) -> Result<Sent<'a>, Rejection> {
        let sent = Sent::read(
            (self.head.headers(), self.is_json_by_now),
            body,
            endpoint.message,
            endpoint.kind,
        )?;
        sent.is_kind(endpoint.kind)?;
        let version = sent.version()?;
        if !version.is_empty() && !endpoint.takes(version, self.request) {
            let expected = endpoint.version(self.request);
            return Err(Rejection::bad_request(format!(
                "the API version in the data ({version}) does not match the expected API version ({expected})"
            )));
        }
        self.is_at_home(&sent.json, self.operation == Operation::Update)?;
        Ok(sent)
    }

    fn patch(&self, body: &'a [u8]) -> Result<Content<'a>, Rejection> {
        let content_type = self.head.headers().get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
        // kube-apiserver compares these as they stand.
        let media_type = content_type.split(';').next().unwrap_or_default();
        if media_type == names::APPLY_PATCH {
            let applied = Json::parse(body).map_err(|Malformed(why)| {
                Rejection::bad_request(format!(
                    "error decoding YAML: this gate takes applied objects as JSON only: {why}"
                ))
            })?;
            return Ok(Content::Apply(applied));
        }
        let known = PATCHES.iter().find(|(name, _)| *name == media_type);
        let Some((_, kind)) = known else {
            return Err(unsupported_patch());
        };
        Ok(Content::Patch(Patch::read(*kind, body).map_err(rejected)?))
    }

    /// Whether an object is named as the URL has it.
    pub(super) fn is_at_home(&self, object: &Json<'_>, named: bool) -> Result<(), Rejection> {
        let (name, namespace) = (metadata_text(object, "name")?, metadata_text(object, "namespace")?);
        let request = self.request;
        // Where a kind has no namespaces, what the object says of one is dropped.
        if !request.namespace.is_empty() && !namespace.is_empty() && namespace != request.namespace {
            return Err(Rejection::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        if named && name != request.name {
            return Err(Rejection::bad_request(match name {
                "" => format!(
                    "the name of the object ({} based on URL) was undeterminable: name must be provided",
                    request.name
                ),
                name => format!(
                    "the name of the object ({name}) does not match the name on the URL ({})",
                    request.name
                ),
            }));
        }
        Ok(())
    }

    /// The object that was sent whole.
    pub fn sent(&self) -> Result<&Json<'a>, Rejection> {
        match &self.content {
            Content::Object(sent) => Ok(&sent.json),
            _ => Err(Rejection::bad_request("the request has no object")),
        }
    }

    /// The same, judged by other rules.
    pub(super) fn judged_by(&mut self, modes: Modes) {
        self.modes = modes;
    }

    /// How a rule is set.
    pub fn mode(&self, rule: Rule) -> Mode {
        self.modes.of(rule)
    }

    /// Whether anybody wants to know what a rule says. What nobody wants to know is neither looked up nor asked for.
    pub fn minds(&self, rule: Rule) -> bool {
        self.mode(rule) != Mode::Off
    }

    /// A rule is against the write: 403, as admission plugins word it. If the rule is not enforced, that is noted, and what
    /// stands behind it goes on to be judged.
    pub fn refuse(&self, rule: Rule, why: impl std::fmt::Display) -> Result<(), No> {
        let resource = &self.request.resource;
        let name = self.name();
        let message = format!("{resource} {} is forbidden: {why}", crate::api::quote(name));
        self.refuse_with(rule, Rejection::forbidden(message, Details::of(resource, name)))
    }

    /// The same, with something else than a 403.
    pub fn refuse_with(&self, rule: Rule, rejection: Rejection) -> Result<(), No> {
        match self.mode(rule) {
            Mode::Enforce => Err(No::refused(rejection.by(rule))),
            Mode::Off => Ok(()),
            mode => {
                self.notes.borrow_mut().found(rule, mode, &rejection.message);
                Ok(())
            }
        }
    }

    /// It creates this mirror pod.
    pub(super) fn mirrors(&self, pod: MirrorPod) {
        self.notes.borrow_mut().mirror_pod = Some(Box::new(pod));
    }

    pub(super) fn notes(&mut self) -> &mut Notes {
        self.notes.get_mut()
    }

    pub(super) fn into_notes(self) -> Notes {
        self.notes.into_inner()
    }

    /// What a refusal calls the object.
    fn name(&self) -> &str {
        let sent = match &self.content {
            Content::Object(sent) if self.operation == Operation::Create => Some(&sent.json),
            _ => None,
        };
        let of_sent = |key| sent.and_then(|json| json.at(&["metadata", key])).and_then(Json::as_str);
        let names = [
            Some(self.request.name.as_str()),
            of_sent("name"),
            of_sent("generateName"),
        ];
        let mut names = names.into_iter().flatten().filter(|name| !name.is_empty());
        names.next().unwrap_or("Unknown")
    }
}

/// Whether Kubernetes has no such place: objects are created in a collection, in a namespace if they have one, and changed by name.
fn is_nowhere(operation: Operation, request: &ResourceRequest) -> bool {
    let is_named = !request.name.is_empty();
    let creates = operation == Operation::Create && request.subresource.is_empty();
    let is_namespaced = NAMESPACED.contains(&request.resource.resource.as_str());
    if creates && is_namespaced && request.namespace.is_empty() {
        return true;
    }
    operation != Operation::DeleteCollection && is_named == creates
}

/// Whether a patch is made to what is there. Any other is an applied object, in whatever form, or nothing that is known here.
pub(super) fn is_plain_patch(content_type: Option<&HeaderValue>) -> bool {
    let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default();
    PATCHES.iter().any(|(name, _)| *name == media_type)
}

/// Server-side apply is not among them.
pub(super) fn unsupported_patch() -> Rejection {
    Rejection::unsupported_media_type(&PATCHES.iter().map(|(name, _)| *name).collect::<Vec<_>>())
}

pub(super) fn rejected(error: patch::Error) -> Rejection {
    match error {
        patch::Error::Malformed(why) => Rejection::bad_request(why),
        patch::Error::Rejected(why) => Rejection::unprocessable(why),
        patch::Error::Untyped(why) => Rejection::untyped(why),
        patch::Error::TooLarge(why) => Rejection::entity_too_large(why),
    }
}

/// A text of the metadata, empty if it is not there.
pub(super) fn metadata_text<'j>(object: &'j Json<'_>, key: &str) -> Result<&'j str, Rejection> {
    let metadata = match object.get("metadata") {
        None | Some(Json::Null) => return Ok(""),
        Some(metadata @ Json::Object(_)) => metadata,
        Some(_) => return Err(Rejection::bad_request("metadata is not an object")),
    };
    match metadata.get(key) {
        None | Some(Json::Null) => Ok(""),
        Some(Json::String(text)) => Ok(text),
        Some(_) => Err(Rejection::bad_request(format!("metadata.{key} is not a text"))),
    }
}
