//! The `scopegate` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    scopegate::server::tls::install_crypto();
    scopegate::cli::main()
}
