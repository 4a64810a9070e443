//! The command line: what was typed, and which command it is.

mod certs;
mod check;
mod demo;
mod gate;
mod log;
mod quarantine;
mod recommend;
mod report;
mod rules;
mod serve;
mod why;

use std::{fmt::Display, path::PathBuf, process::ExitCode};

use clap::{CommandFactory as _, Parser, Subcommand};
use serde::Serialize;

/// An authorizing reverse proxy in front of kube-apiserver.
///
/// scopegate terminates TLS, knows each kubelet by its client certificate, reads the request itself, decides, and forwards
/// what is permitted, as that kubelet. What is refused never reaches the API server.
///
/// To see it work, run `scopegate demo`. To run it, write a configuration (config/example.yaml explains every key), try
/// it with `scopegate check`, then start it with `scopegate serve`.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 done, 1 refused or failed, 2 wrong usage."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the gate until SIGTERM or SIGINT
    ///
    /// On the first signal the gate stops accepting, lets running requests finish (serving.drainTimeout at most) and
    /// exits with 0. A second signal ends it at once.
    Serve {
        /// The configuration file
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// Try a configuration without serving: files, certificates, upstream, permissions
    ///
    /// Prints what works, what is missing and what will be enforced. Nothing upstream is changed: writes are dry runs.
    Check {
        /// The configuration file
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// Write a development PKI: CAs, a serving pair, a front-proxy pair and node pairs
    Certs(certs::Certs),
    /// Run the gate before an embedded stand-in API server and walk through some requests
    Demo(demo::Demo),
    /// Explain one decision: may this node or seed do this, and why or why not
    ///
    /// Asks a running gate on its admin port or, with --objects, answers from a file of objects. It is the same code that
    /// judges requests, with the same rules. Nothing is sent to the API server, and what that would say to a request which
    /// the gate allows is another question.
    ///
    /// Exits with 0 if the request is allowed, or left to upstream, and with 1 if it is refused, not known, or could not be asked
    /// about.
    Why(why::Why),
    /// List the nodes and seeds that can read an object, and what gives each of them the right
    ///
    /// For secrets, configmaps, serviceaccounts, pods, volumes and their claims, for shoots and what belongs to them, and whatever
    /// else nodes and seeds may read because it is theirs. Exits with 0 if any of them can, or it is left to upstream, and with 1 if
    /// none can or it could not be asked.
    WhoCan(why::WhoCan),
    /// List every rule with its mode: what is refused, what is only recorded, and what each rule says
    Rules(rules::Rules),
    /// Summarise an audit log: what rules that are not enforced yet would have refused
    ///
    /// By rule, node, object and over time, and what was refused beside it. For rules in mode Warn or Audit and for rules.dryRun,
    /// before they are enforced; docs/rollout.md has the steps.
    ///
    /// Exits with 0 if nothing would have been refused, and with 1 if something would, or if there is no event to tell from.
    Report(report::Report),
    /// Print the configuration that allows what static pods use, from an audit log
    ///
    /// Labels, annotations, finalizers, owners and namespaces of the mirror pods that nodes have created, for the section
    /// podRestriction, so that NodeRestrictionPods can be turned on. What only one node uses is shown but not allowed.
    Recommend(recommend::Recommend),
    /// Hold a node back at once, whatever it may do otherwise; let it go; or list who is held
    ///
    /// Tells a running gate on its admin port. What is said is in force at once at that gate, ends the watches and sessions that
    /// it leaves no right to, and is kept where the section quarantine of the configuration says, from where other replicas have
    /// it within seconds. docs/quarantine.md explains the modes.
    ///
    /// Exits with 0 if it was done and kept, and with 1 if not.
    Quarantine(quarantine::Quarantine),
    /// Print a completion script for a shell
    ///
    /// For example: scopegate completions bash > /etc/bash_completion.d/scopegate
    Completions { shell: clap_complete::Shell },
}

/// Runs the command and turns its end into an exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Serve { config } => serve::run(&config),
        Command::Check { config } => check::run(&config),
        Command::Certs(certs) => certs.run(),
        Command::Demo(demo) => demo.run(),
        Command::Why(why) => why.run(),
        Command::WhoCan(who_can) => who_can.run(),
        Command::Rules(rules) => rules.run(),
        Command::Report(report) => report.run(),
        Command::Recommend(recommend) => recommend.run(),
        Command::Quarantine(quarantine) => quarantine.run(),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "scopegate", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    };
    result.unwrap_or_else(|error| {
        anstream::eprintln!("scopegate: {error:#}");
        ExitCode::FAILURE
    })
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Output {
    Json,
    #[default]
    Text,
}

/// As clap has it.
const USAGE: u8 = 2;

impl Output {
    fn print(self, answer: &(impl Display + Serialize)) -> anyhow::Result<()> {
        match self {
            Self::Json => anstream::println!("{}", serde_json::to_string_pretty(answer)?),
            Self::Text => anstream::print!("{answer}"),
        }
        Ok(())
    }
}

/// What was typed has no meaning.
fn misused(unclear: &impl Display) -> ExitCode {
    anstream::eprintln!("scopegate: {unclear}");
    ExitCode::from(USAGE)
}

/// The runtime every command that does I/O uses.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
