//! The verbs on objects: get, list, create, update, patch, delete and evict. Which one a request
//! is follows from its method and route; what an object may look like is hardly checked.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use serde_json::{Value, json};

use super::{
    Body,
    answer::{Refusal, deleted, json_response},
    kinds::Kind,
    object::{now, set_meta, text, uid},
    prepare::{identify, media_type, patched, settle, typed},
    reviews,
    routes::{Query, Route, Target},
    select::Cover,
    store::{Key, Store},
    watch,
};
use crate::caller::User;

/// One request, routed and read.
pub(super) struct Call<'a> {
    pub(super) store: &'a Arc<Store>,
    pub(super) user: &'a User,
    pub(super) route: Route,
    pub(super) query: Query,
    pub(super) content_type: Option<&'a str>,
    pub(super) body: Bytes,
}

/// Puts an object into the store as it comes, with its own uid where it has one.
pub(super) fn seed(store: &Store, mut object: Value) -> Result<(), Refusal> {
    let (version, named) = (text(&object, "/apiVersion"), text(&object, "/kind"));
    let kind = Kind::named(version, named).filter(|kind| !kind.is_review());
    let Some(kind) = kind else {
        let message = format!("{version} {named:?}: not a kind the stand-in holds");
        return Err(Refusal::bad_request(message));
    };
    let namespace = match text(&object, "/metadata/namespace") {
        _ if !kind.namespaced() => "",
        "" => "default",
        namespace => namespace,
    };
    let namespace = namespace.to_owned();
    for (field, value) in [("uid", uid()), ("creationTimestamp", now())] {
        if text(&object, &format!("/metadata/{field}")).is_empty() {
            set_meta(&mut object, field, value);
        }
    }
    let key = identify(kind, namespace, &mut object)?;
    store.create(key, object).map(drop)
}

impl Call<'_> {
    pub(super) fn answer(&self, method: &Method) -> Result<Response<Body>, Refusal> {
        let kind = self.route.kind;
        if method != Method::GET && self.query.get("dryRun").is_some() {
            return Err(no_dry_run());
        }
        match (method, &self.route.target) {
            (&Method::POST, Target::Collection) if kind.is_review() => self.review(),
            _ if kind.is_review() => Err(Refusal::not_allowed()),
            (&Method::GET, Target::Collection) => self.list(),
            (&Method::POST, Target::Collection) => self.create(),
            (&Method::POST, Target::Subresource(key, "eviction")) => self.delete(key, StatusCode::CREATED),
            (_, Target::Subresource(_, "eviction")) => Err(Refusal::not_allowed()),
            (&Method::GET, Target::Object(key) | Target::Subresource(key, _)) => {
                Ok(json_response(StatusCode::OK, &*self.store.get(key)?))
            }
            (&Method::PUT, Target::Object(key) | Target::Subresource(key, _)) => {
                let new = self.object()?;
                self.update(key, |_| Ok(new))
            }
            (&Method::PATCH, Target::Object(key) | Target::Subresource(key, _)) => {
                self.update(key, |old| patched(kind, self.content_type, &self.body, old))
            }
            (&Method::DELETE, Target::Object(key)) => self.delete(key, StatusCode::OK),
            _ => Err(Refusal::not_allowed()),
        }
    }

    fn review(&self) -> Result<Response<Body>, Refusal> {
        let mut review = match self.json() {
            // kubectl sends reviews as protobuf, and no answer depends on what is in them.
            Err(refusal) if refusal.code == StatusCode::UNSUPPORTED_MEDIA_TYPE => json!({}),
            read => read?,
        };
        typed(self.route.kind, &mut review)?;
        let review = reviews::review(self.route.kind, self.user, review);
        Ok(json_response(StatusCode::CREATED, &review))
    }

    fn list(&self) -> Result<Response<Body>, Refusal> {
        let cover = Cover::new(&self.route, &self.query)?;
        if self.query.flag("watch") == Some(true) {
            return watch::open(self.store, cover, &self.query);
        }
        let (items, revision) = self.store.list(|key, object| cover.covers(key, object));
        let list = json!({
            "kind": format!("{}List", cover.kind.kind),
            "apiVersion": cover.kind.api_version(),
            "metadata": { "resourceVersion": revision.to_string() },
            "items": items.iter().map(AsRef::as_ref).collect::<Vec<&Value>>(),
        });
        Ok(json_response(StatusCode::OK, &list))
    }

    fn create(&self) -> Result<Response<Body>, Refusal> {
        let Route { kind, namespace, .. } = &self.route;
        if kind.namespaced() != namespace.is_some() {
            return Err(Refusal::not_allowed());
        }
        let mut object = self.object()?;
        let uid = uid();
        let prefix = text(&object, "/metadata/generateName");
        if text(&object, "/metadata/name").is_empty() && !prefix.is_empty() {
            let tail: String = uid.chars().take(5).collect();
            let name = format!("{prefix}{tail}");
            set_meta(&mut object, "name", name);
        }
        set_meta(&mut object, "uid", uid);
        set_meta(&mut object, "creationTimestamp", now());
        if kind.kind == "CertificateSigningRequest" {
            sign_for(self.user, &mut object);
        }
        let key = identify(kind, namespace.clone().unwrap_or_default(), &mut object)?;
        let created = self.store.create(key, object)?;
        Ok(json_response(StatusCode::CREATED, &created))
    }

    fn update(
        &self,
        key: &Key,
        change: impl FnOnce(&Value) -> Result<Value, Refusal>,
    ) -> Result<Response<Body>, Refusal> {
        let whole = matches!(self.route.target, Target::Object(_));
        let updated = self.store.update(key, |old| settle(key, whole, old, change(old)?))?;
        Ok(json_response(StatusCode::OK, &updated))
    }

    fn delete(&self, key: &Key, code: StatusCode) -> Result<Response<Body>, Refusal> {
        if !self.body.is_empty() {
            // A delete says in its body that it is only a rehearsal, an eviction one level down.
            let options = self.json()?;
            let dry = |pointer| options.pointer(pointer).is_some_and(|dry| !dry.is_null());
            if dry("/dryRun") || dry("/deleteOptions/dryRun") {
                return Err(no_dry_run());
            }
        }
        let last = self.store.delete(key)?;
        let uid = text(&last, "/metadata/uid");
        Ok(json_response(code, &deleted(key, uid)))
    }

    /// The body as an object of the route's kind.
    fn object(&self) -> Result<Value, Refusal> {
        let mut object = self.json()?;
        typed(self.route.kind, &mut object)?;
        Ok(object)
    }

    fn json(&self) -> Result<Value, Refusal> {
        let sent = media_type(self.content_type.unwrap_or("application/json"));
        if sent != "application/json" {
            let message = format!("the stand-in reads application/json only, not {sent}");
            return Err(Refusal::media_type(message));
        }
        serde_json::from_slice(&self.body)
            .map_err(|error| Refusal::bad_request(format!("the body is not JSON: {error}")))
    }
}

/// Writes into a certificate signing request who has made it, whatever it says itself.
fn sign_for(user: &User, request: &mut Value) {
    if let Some(spec) = request.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("username".to_owned(), json!(user.name));
        spec.insert("groups".to_owned(), json!(user.groups));
    }
}

fn no_dry_run() -> Refusal {
    Refusal::bad_request("the stand-in does no dry runs")
}
