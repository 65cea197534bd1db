//! A real browser without a window. It is told what to do in the DevTools protocol, over two pipes
//! that it inherits: no network, no port.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long the browser may take for one answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Chromium's names.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A browser with one page.
pub struct Browser {
    process: Child,
    input: ChildStdin,
    answers: Receiver<Value>,
    profile: PathBuf,
    /// The page's.
    session: Value,
    asked: u64,
    /// What the page's console has said that is no good: exceptions, errors, warnings.
    pub complaints: Vec<String>,
}

impl Browser {
    /// `None` if there is no Chromium on this machine.
    pub fn start(profile: &Path) -> Option<Self> {
        let there = |name: &&&str| {
            let version = Command::new(name).arg("--version").output();
            version.is_ok_and(|output| output.status.success())
        };
        let name = NAMES.iter().find(there)?;
        let profile = profile.to_path_buf();
        fs::create_dir_all(&profile).unwrap();
        // What the shell has as standard input and output are the browser's descriptors 3 and 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh", name])
            .args(["--headless=new", "--disable-gpu", "--remote-debugging-pipe"])
            // There is no sandbox for root; the one page that is opened is ours.
            .args(["--no-sandbox", "--no-first-run", "--disable-background-networking"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let (sender, answers) = channel();
        thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let (session, complaints) = (Value::Null, Vec::new());
        let mut browser = Self { process, input, answers, profile, session, asked: 0, complaints };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session = browser.ask("Target.attachToTarget", target)["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method of the protocol and waits for its result.
    pub fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": parameters });
        if self.session.is_string() {
            message["sessionId"] = self.session.clone();
        }
        self.input.write_all(message.to_string().as_bytes()).unwrap();
        self.input.write_all(&[0]).unwrap();
        loop {
            let answer = self.answers.recv_timeout(PATIENCE).expect("the browser answers");
            if answer["id"] == self.asked {
                assert_eq!(answer["error"], Value::Null, "{method}");
                return answer["result"].clone();
            }
            self.listen(&answer);
        }
    }

    fn listen(&mut self, event: &Value) {
        let parameters = &event["params"];
        let bad = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Log.entryAdded") => parameters["entry"]["level"] != "verbose",
            Some("Runtime.consoleAPICalled") => parameters["type"] != "log",
            _ => false,
        };
        if bad {
            self.complaints.push(parameters.to_string());
        }
    }

    /// Opens a file in a window of this size and waits until its script has run.
    pub fn open(&mut self, page: &Path, (width, height): (u32, u32)) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let address = format!("file://{}", page.canonicalize().unwrap().display());
        self.ask("Page.navigate", json!({ "url": address }));
        self.wait_for("document.readyState === 'complete'");
        // The charts take their size from the page after it is laid out.
        self.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
        );
    }

    /// What an expression is on the page; a promise is awaited.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let call = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let result = self.ask("Runtime.evaluate", call);
        assert_eq!(result["exceptionDetails"], Value::Null, "{expression}");
        result["result"]["value"].clone()
    }

    pub fn wait_for(&mut self, condition: &str) {
        let start = Instant::now();
        while self.evaluate(condition) != true {
            assert!(start.elapsed() < PATIENCE, "never: {condition}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The middle of the first element that a selector finds, scrolled into view.
    pub fn middle(&mut self, selector: &str) -> (f64, f64) {
        let place = self.evaluate(&format!(
            "(() => {{ const found = document.querySelector({selector:?}); \
             found.scrollIntoView({{ block: 'center' }}); const box = found.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
    }

    /// A mouse event, such as `mouseMoved`, at a place in the window.
    pub fn mouse(&mut self, kind: &str, (x, y): (f64, f64), more: Value) {
        let mut event = json!({ "type": kind, "x": x, "y": y });
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        self.ask("Input.dispatchMouseEvent", event);
    }

    pub fn press(&mut self, place: (f64, f64), clicks: u32) {
        let button = json!({ "button": "left", "buttons": 1, "clickCount": clicks });
        self.mouse("mousePressed", place, button);
    }

    pub fn release(&mut self, place: (f64, f64), clicks: u32) {
        self.mouse("mouseReleased", place, json!({ "button": "left", "clickCount": clicks }));
    }

    /// A click with the mouse on the first element that a selector finds.
    pub fn click(&mut self, selector: &str) {
        let place = self.middle(selector);
        self.mouse("mouseMoved", place, json!({}));
        self.press(place, 1);
        self.release(place, 1);
    }

    /// A key, such as `Enter`.
    pub fn key(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { "" };
        self.ask("Input.dispatchKeyEvent", json!({ "type": "keyDown", "key": key, "text": text }));
        self.ask("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}
