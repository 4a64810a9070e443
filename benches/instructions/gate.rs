//! A gate under callgrind: all of it, as `scopegate serve` runs it, but for the number of threads.

use std::{
    io::{BufRead as _, Write as _, stdin, stdout},
    path::Path,
    thread,
    time::Duration,
};

use anyhow::Result;
use scopegate::{app, config::Config, observe::log};

use super::{
    mark,
    valgrind::{MARK, MARKED},
};

/// How this program calls itself for it.
pub(super) const WORD: &str = "--count-gate";

/// Serves by the configuration in a folder until it is killed. Prints its address when it is ready.
pub(super) fn run(folder: &Path) -> Result<()> {
    let config = Config::load(&folder.join("gate.yaml"))?;
    let (level, _guard) = log::start(&config.log)?;
    // One thread: how often others are woken, and steal from each other, differs from run to run.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let gate = app::build(config, level).await?;
        let (address, ready) = (gate.serving_address(), gate.ready());
        tokio::spawn(async move {
            while !ready.is_ready() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            println!("{address}");
            thread::spawn(listen);
        });
        gate.run(std::future::pending()).await;
        Ok(())
    })
}

/// Marks whenever it is told to.
fn listen() {
    for line in stdin().lock().lines().map_while(Result::ok) {
        if line == MARK {
            mark();
            println!("{MARKED}");
            let _ = stdout().flush();
        }
    }
}
