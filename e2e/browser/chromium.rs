//! Chromium without a window, told what to do over a pair of pipes.

use std::{
    collections::VecDeque,
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::gate::PATIENCE;

/// A browser with one page open. It is killed when this is dropped.
pub(super) struct Chromium {
    child: Child,
    input: ChildStdin,
    output: Receiver<Value>,
    last: u64,
    session: Option<String>,
    events: VecDeque<Value>,
    _profile: TempDir,
}

/// `SCOPEGATE_CHROMIUM`, or whichever there is. Without any, the test is skipped, which may be a failure.
fn program() -> Option<PathBuf> {
    let named = std::env::var_os("SCOPEGATE_CHROMIUM").map(PathBuf::from);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut there = std::env::split_paths(&folders)
        .flat_map(|folder| ["chromium", "chromium-browser", "google-chrome"].map(|name| folder.join(name)))
        .filter(|path| path.is_file());
    let found = named.or_else(|| there.next());
    if found.is_none() {
        let required = std::env::var("SCOPEGATE_E2E").is_ok_and(|value| value == "required");
        assert!(!required, "Chromium is required and could not be had");
        eprintln!("SKIPPED: no Chromium, so nobody has looked at the pages of the admin port");
    }
    found
}

/// Between two looks at a page that loads itself anew.
const PAUSE: Duration = Duration::from_millis(50);

impl Chromium {
    /// Nothing where there is no browser. Scripts do not run in its pages.
    pub(super) fn start() -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        // It reads from descriptor 3 and writes to 4.
        command.args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"]);
        command.arg(program()?).arg("--remote-debugging-pipe");
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command.args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ]);
        command.args(["--no-first-run", "--disable-background-networking", "--hide-scrollbars"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, output) = channel();
        let messages = BufReader::new(child.stdout.take().unwrap()).split(0);
        std::thread::spawn(move || {
            for message in messages.map_while(Result::ok) {
                let _ = sender.send(serde_json::from_slice(&message).unwrap());
            }
        });
        let mut browser = Self {
            input: child.stdin.take().unwrap(),
            child,
            output,
            last: 0,
            session: None,
            events: VecDeque::new(),
            _profile: profile,
        };
        let page = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": page["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.call("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
        Some(browser)
    }

    /// As large as the screen of some device.
    pub(super) fn resize(&mut self, width: u32, height: u32, scale: f64) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 500});
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    pub(super) fn open(&mut self, url: &str) {
        self.forget_loads();
        let opened = self.call("Page.navigate", &json!({"url": url}));
        assert_eq!(opened["errorText"], Value::Null, "{url}");
        self.loaded();
    }

    /// Does something that leads to another page, in the words of a script.
    pub(super) fn leave(&mut self, script: &str) {
        self.forget_loads();
        self.look(script);
        self.loaded();
    }

    /// Of pages that were here before.
    fn forget_loads(&mut self) {
        self.events.retain(|event| event["method"] != "Page.loadEventFired");
    }

    /// Waits until a page is there.
    pub(super) fn loaded(&mut self) {
        loop {
            let at = self
                .events
                .iter()
                .position(|event| event["method"] == "Page.loadEventFired");
            if let Some(at) = at {
                self.events.remove(at);
                return;
            }
            let event = self.receive();
            self.events.push_back(event);
        }
    }

    /// What an expression comes to in the page; that is nothing the page could do itself.
    pub(super) fn look(&mut self, script: &str) -> Value {
        let asked = json!({"expression": script, "returnByValue": true});
        let told = loop {
            match self.ask("Runtime.evaluate", &asked) {
                Ok(told) => break told,
                // A page that loads itself anew is between two states of itself for a moment.
                Err(error) if is_between_pages(&error) => std::thread::sleep(PAUSE),
                Err(error) => panic!("{script}: {error}"),
            }
        };
        assert_eq!(told["exceptionDetails"], Value::Null, "{script}");
        told["result"]["value"].clone()
    }

    pub(super) fn texts(&mut self, selector: &str) -> Vec<String> {
        let script = format!("[...document.querySelectorAll({selector:?})].map(found => found.textContent)");
        serde_json::from_value(self.look(&script)).unwrap()
    }

    pub(super) fn screenshot(&mut self) -> Vec<u8> {
        let told = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        STANDARD.decode(told["data"].as_str().unwrap()).unwrap()
    }

    /// What has happened since it was asked last.
    pub(super) fn events(&mut self) -> Vec<Value> {
        // Whatever was on its way when this is answered is here.
        self.look("0");
        self.events.drain(..).collect()
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        let answer = self.ask(method, parameters);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Result<Value, Value> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut message = message.to_string().into_bytes();
        message.push(0);
        self.input.write_all(&message).unwrap();
        loop {
            let mut answer = self.receive();
            if answer["id"] == self.last {
                return match answer["error"].take() {
                    Value::Null => Ok(answer["result"].take()),
                    error => Err(error),
                };
            }
            self.events.push_back(answer);
        }
    }

    fn receive(&mut self) -> Value {
        let message = self.output.recv_timeout(PATIENCE);
        message.expect("the browser says nothing")
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_between_pages(error: &Value) -> bool {
    let message = error["message"].as_str().unwrap_or_default();
    message.contains("context") || message.contains("navigated")
}
