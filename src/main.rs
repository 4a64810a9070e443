//! The `scopegate` command.

use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

/// A gate lives for months on small pieces of all sizes, made on one thread and given back on another. The C library's allocator
/// takes longer over them and keeps more of what was freed after the first lists (docs/performance.md); musl's, with which the image
/// is built, is slower still.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    scopegate::server::tls::install_crypto();
    scopegate::cli::main()
}
