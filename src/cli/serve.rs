//! `scopegate serve`: load, build, run.

use std::{path::Path, process::ExitCode};

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};
use tracing::info;

use crate::{app, config::Config, observe::log};

pub(super) fn run(path: &Path) -> anyhow::Result<ExitCode> {
    let config = Config::load(path)?;
    let (level, _guard) = log::start(&config.log)?;
    let runtime = super::runtime()?;
    let served = runtime.block_on(async {
        let version = env!("CARGO_PKG_VERSION");
        info!(version, config = %path.display(), kubernetes = %config.kubernetes_version, "starting");
        let shutdown = shutdown_signal()?;
        let bound = app::build(config, level).await?;
        info!(serving = %bound.serving_address(), admin = %bound.admin_address(), "listening");
        bound.run(shutdown).await;
        anyhow::Ok(())
    });
    // Whatever still runs in the background has had its time.
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

/// Resolves at the first SIGTERM or SIGINT. Registered at once, so that none is missed while the gate is being built;
/// the second ends the process.
pub(super) fn shutdown_signal() -> anyhow::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let mut next = async move || {
        tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        }
    };
    Ok(async move {
        let signal = next().await;
        info!(signal, "stopping");
        tokio::spawn(async move {
            let signal = next().await;
            info!(signal, "second signal, ending at once");
            std::process::exit(1);
        });
    })
}
