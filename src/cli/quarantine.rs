//! `scopegate quarantine`: hold a node back, let it go, or see who is held.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anyhow::{Context as _, bail};
use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::gate::{Gate, GateArgs};
use crate::{
    identity::x509,
    observe::admin::{Changed, Hold, Quarantined},
    quarantine::{Mode, Target},
};

/// Whom to hold, how and for how long.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  scopegate quarantine                                          who is in quarantine
  scopegate quarantine node-a --reason 'ticket 4711'            node-a may do nothing any more
  scopegate quarantine node-a --mode HeartbeatOnly --for 2h     it stays Ready, and can do nothing else
  scopegate quarantine --certificate stolen.crt                 whoever has that certificate's key
  scopegate quarantine node-a --lift                            back to normal")]
pub(super) struct Quarantine {
    /// The node, by its name or its user (system:node:…); whoever has a token that is bound to it is held too
    #[arg(group = "whom")]
    node: Option<String>,
    /// Instead of a node: the serial number of a client certificate, in hexadecimal, as openssl x509 -serial prints it
    #[arg(long, value_name = "HEX", group = "whom")]
    serial: Option<String>,
    /// Instead of a node: a public key of client certificates, as the SHA-256 of its SubjectPublicKeyInfo in hexadecimal
    #[arg(long, value_name = "SHA256", group = "whom")]
    public_key: Option<String>,
    /// The same, from a certificate in a PEM file
    #[arg(long, value_name = "FILE", group = "whom")]
    certificate: Option<PathBuf>,
    /// What is left to it: nothing; its lease and the status of its Node; or reading
    #[arg(long, value_enum, value_name = "MODE", default_value_t, requires = "whom")]
    mode: Left,
    /// For how long, e.g. 30m, 2h, 7d [default: until it is lifted]
    #[arg(long = "for", value_name = "TIME", value_parser = duration, requires = "whom")]
    time: Option<Duration>,
    /// Why, for other operators; the one that is held does not see it
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        requires = "whom"
    )]
    reason: String,
    /// Let it go
    #[arg(long, requires = "whom", conflicts_with_all = ["mode", "time", "reason"])]
    lift: bool,
    #[command(flatten)]
    gate: GateArgs,
    /// How to print who is held
    #[arg(short, long, value_enum, default_value_t)]
    output: super::Output,
}

#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Left {
    #[default]
    #[value(name = "Deny")]
    Deny,
    #[value(name = "HeartbeatOnly")]
    HeartbeatOnly,
    #[value(name = "ReadOnly")]
    ReadOnly,
}

impl Quarantine {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let public_key = match &self.certificate {
            Some(file) => Some(public_key(file).with_context(|| format!("cannot use {}", file.display()))?),
            None => self.public_key.clone(),
        };
        let (node, serial, key) = (self.node.as_deref(), self.serial.as_deref(), public_key.as_deref());
        if node.or(serial).or(key).is_none() {
            let held: Quarantined = self.gate.open()?.ask("/quarantine", "")?;
            self.output.print(&held)?;
            return Ok(ExitCode::SUCCESS);
        }
        let target = match Target::read(node, serial, key) {
            Ok(target) => target,
            Err(invalid) => return Ok(super::misused(&invalid)),
        };
        let gate = self.gate.open()?;
        let changed = if self.lift {
            lift(gate, &target)?
        } else {
            let hold = Hold {
                node: self.node,
                serial: self.serial,
                public_key,
                mode: Some(match self.mode {
                    Left::Deny => Mode::Deny,
                    Left::HeartbeatOnly => Mode::HeartbeatOnly,
                    Left::ReadOnly => Mode::ReadOnly,
                }),
                seconds: self.time.map(|time| time.as_secs().try_into()).transpose()?,
                reason: self.reason,
            };
            gate.change(Method::PUT, "/quarantine", serde_json::to_string(&hold)?)?
        };
        self.output.print(&changed)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn lift(gate: Gate, target: &Target) -> anyhow::Result<Changed> {
    let (key, value) = target.written();
    let value = utf8_percent_encode(&value, NON_ALPHANUMERIC);
    gate.change(Method::DELETE, &format!("/quarantine?{key}={value}"), String::new())
}

fn public_key(file: &PathBuf) -> anyhow::Result<String> {
    let der = CertificateDer::from_pem_file(file)?;
    let (_, parsed) = X509Certificate::from_der(&der)?;
    let (_, digest) = Target::PublicKey(x509::certificate(&parsed).public_key).written();
    Ok(digest)
}

fn duration(text: &str) -> anyhow::Result<Duration> {
    let Some((number, unit)) = text.len().checked_sub(1).and_then(|last| text.split_at_checked(last)) else {
        bail!("like 30m, 2h or 7d");
    };
    let factor = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => bail!("like 30m, 2h or 7d"),
    };
    let number: u64 = number.parse().context("like 30m, 2h or 7d")?;
    match number.checked_mul(factor) {
        Some(seconds) if (1..=u64::from(u32::MAX)).contains(&seconds) => Ok(Duration::from_secs(seconds)),
        _ => bail!("more than no time, and not for ever"),
    }
}
