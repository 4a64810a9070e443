//! Certificates: a gardenlet asks for those of its own name, when the last one is about to expire.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{SeedRestriction, new::New};
use crate::{
    admission::{
        No,
        read::{field, list, text},
    },
    api::csr::{self, NoSeed},
    json::Json,
    rejection::Rejection,
    rules::Rule,
};

const RULE: Rule = Rule::SeedRestrictionCertificates;

impl SeedRestriction {
    pub(super) fn certificate(&self, new: &New<'_, '_>) -> Result<(), No> {
        if new.is_by_extension() {
            return Err(new.refuse(RULE, "extension client may not create CertificateSigningRequests"));
        }
        let spec = field(new.object, "spec")?.unwrap_or(&Json::Null);
        let request = STANDARD.decode(text(spec, "request")?);
        let request = request.map_err(|error| {
            Rejection::bad_request(format!(
                "the object provided is unrecognized: request is not base64: {error}"
            ))
        })?;
        let mut usages = Vec::new();
        for usage in list(spec, "usages")? {
            let usage = usage.as_str();
            usages.push(usage.ok_or_else(|| Rejection::bad_request("a usage is not a text"))?);
        }
        match csr::seed(&request, usages, text(spec, "signerName")?) {
            Ok(seed) => new.owns(RULE, &[Some(&seed)]),
            Err(NoSeed::Unreadable(why)) => Err(Rejection::bad_request(why).by(RULE).into()),
            Err(why) => Err(new.refuse(RULE, format_args!("can only create CSRs for seed clusters: {why}"))),
        }
    }
}
