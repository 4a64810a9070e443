//! `scopegate demo`: everything in one process, then it stays up to be tried.

use std::{process::ExitCode, time::Duration};

use anstyle::Style;
use tokio::sync::oneshot;

use super::serve;
use crate::{
    app,
    config::Config,
    demo::{
        cluster,
        site::{FRONT_PROXY, Site},
        walk,
    },
    observe::log,
};

/// Needs nothing but this binary. The API server is a stand-in, in memory and without any authorization of its own:
/// whatever is refused is refused by the gate.
#[derive(Debug, clap::Args)]
pub(super) struct Demo {
    /// End after the walk instead of staying up
    #[arg(long)]
    once: bool,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

impl Demo {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        super::runtime()?.block_on(self.demonstrate())?;
        Ok(ExitCode::SUCCESS)
    }

    async fn demonstrate(&self) -> anyhow::Result<()> {
        let shutdown = serve::shutdown_signal()?;
        let site = Site::start().await?;
        let path = site.configuration(FRONT_PROXY, "audit: {path: audit.log}\nlog: {level: warn}\n")?;
        let config = Config::load(&path)?;
        let (level, _guard) = log::start(&config.log)?;
        let gate = app::build(config, level).await?;
        let (serving, admin) = (gate.serving_address(), gate.admin_address());
        for user in cluster::NODES.iter().chain(&["nobody"]) {
            site.kubeconfig(user, serving)?;
        }
        let ready = gate.ready();
        let (stop, stopped) = oneshot::channel::<()>();
        let gate = tokio::spawn(gate.run(async { drop(stopped.await) }));
        while !ready.is_ready() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }

        anstream::println!("{BOLD}scopegate demo{BOLD:#}");
        anstream::println!(
            "  upstream  https://{} {DIM}a stand-in API server; it allows everything{DIM:#}",
            site.upstream.address
        );
        anstream::println!("  gate      https://{serving} {DIM}in front of it{DIM:#}");
        let walked = walk::walk(&site).await;
        if walked.is_ok() && !self.once {
            let dir = site.dir().display();
            anstream::println!("\n{BOLD}Now you{BOLD:#} {DIM}(Ctrl-C ends the demo and removes its folder){DIM:#}\n");
            for node in cluster::NODES {
                anstream::println!(
                    "  curl --cacert {dir}/server-ca.crt --cert {dir}/{node}.crt --key {dir}/{node}.key https://{serving}/version"
                );
                anstream::println!("  kubectl --kubeconfig {dir}/{node}.kubeconfig get --raw /version");
                anstream::println!("  kubectl --kubeconfig {dir}/{node}.kubeconfig auth whoami");
                anstream::println!(
                    "  kubectl --kubeconfig {dir}/{node}.kubeconfig get pods -A --field-selector spec.nodeName={node}"
                );
                anstream::println!(
                    "  kubectl --kubeconfig {dir}/{node}.kubeconfig get secret secret-of-web-on-node-a\n"
                );
            }
            let scopegate = std::env::current_exe().unwrap_or_else(|_| "scopegate".into());
            anstream::println!("  {} check --config {dir}/gate.yaml", scopegate.display());
            anstream::println!(
                "  {} why node-a get secret secret-of-web-on-node-b --admin http://{admin}",
                scopegate.display()
            );
            anstream::println!(
                "  {} quarantine node-a --reason demo --admin http://{admin} --token-file {dir}/admin.token",
                scopegate.display()
            );
            anstream::println!("  tail -f {dir}/audit.log");
            anstream::println!(
                "  http://{admin}/debug/resource-dependency-graph  {DIM}the page to try, in a browser: the graph, why, refusals{DIM:#}"
            );
            anstream::println!(
                "  curl http://{admin}/            {DIM}probes, metrics, log level, why, quarantine{DIM:#}"
            );
            shutdown.await;
        }
        drop(stop);
        gate.await?;
        walked
    }
}
