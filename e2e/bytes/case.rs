//! One request, or several, as they are written.

/// Bytes for one connection. Where they say [`ID`], the identifier of their audit event is put.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) class: &'static str,
    pub(super) http2: bool,
    /// The client says behind them that nothing more comes.
    pub(super) ends: bool,
    pub(super) bytes: Vec<u8>,
    /// The same without the fragment behind its target, of which the gate learns nothing: what is to be made of it.
    pub(super) read: Option<Vec<u8>>,
    /// docs/differences.md tells that kube-apiserver refuses it, and the gate does not.
    pub(super) meant: bool,
}

/// As long as what [`id`] makes.
pub(super) const ID: &str = "bytes-????";

/// The pieces of a request over HTTP/1.1.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: Vec<u8>,
    pub(super) target: Vec<u8>,
    pub(super) version: &'static str,
    /// Header lines behind Host and Audit-ID, as they stand.
    pub(super) lines: Vec<Vec<u8>>,
    pub(super) body: Vec<u8>,
}

pub(super) fn id(number: usize) -> String {
    // Four characters for any number of requests.
    let digits = |number: usize| char::from_digit(u32::try_from(number % 36).unwrap(), 36).unwrap();
    let places = [36 * 36 * 36, 36 * 36, 36, 1].map(|place| digits(number / place));
    format!("bytes-{}", String::from_iter(places))
}

impl Request {
    pub(super) fn new(method: &str, target: impl AsRef<[u8]>) -> Self {
        Self {
            method: method.as_bytes().to_vec(),
            target: target.as_ref().to_vec(),
            version: "HTTP/1.1",
            lines: Vec::new(),
            body: Vec::new(),
        }
    }

    pub(super) fn line(mut self, line: impl AsRef<[u8]>) -> Self {
        self.lines.push(line.as_ref().to_vec());
        self
    }

    /// With a body and its length.
    pub(super) fn body(self, body: impl AsRef<[u8]>) -> Self {
        let mut request = self.line(format!("Content-Length: {}", body.as_ref().len()));
        request.body = body.as_ref().to_vec();
        request
    }

    pub(super) fn case(&self, class: &'static str) -> Case {
        let first = [&self.method, &b" "[..], &self.target, b" ", self.version.as_bytes()].concat();
        let mut bytes = [
            &first,
            &b"\r\nHost: localhost\r\nAudit-ID: "[..],
            ID.as_bytes(),
            b"\r\n",
        ]
        .concat();
        for line in &self.lines {
            bytes.extend_from_slice(line);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        Case::of(class, bytes)
    }
}

impl Case {
    pub(super) fn of(class: &'static str, bytes: impl AsRef<[u8]>) -> Self {
        Self {
            class,
            http2: false,
            ends: false,
            bytes: bytes.as_ref().to_vec(),
            read: without_fragment(bytes.as_ref()),
            meant: false,
        }
    }

    pub(super) fn get(class: &'static str, target: impl AsRef<[u8]>) -> Self {
        Request::new("GET", target).case(class)
    }

    pub(super) fn ending(mut self) -> Self {
        self.ends = true;
        self
    }

    /// What a server is sent that would read more of it than the gate.
    pub(super) fn as_read(&self) -> Self {
        let mut case = self.clone();
        if let Some(read) = case.read.take() {
            case.bytes = read;
        }
        case
    }

    /// What is written if the audit event is to have this identifier.
    pub(super) fn with(&self, id: &str) -> Vec<u8> {
        let (from, to) = (ID.as_bytes(), id.as_bytes());
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut rest = self.bytes.as_slice();
        while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
            bytes.extend_from_slice(&rest[..at]);
            bytes.extend_from_slice(to);
            rest = &rest[at + from.len()..];
        }
        bytes.extend_from_slice(rest);
        bytes
    }

    /// For a message: not too much of it.
    pub(super) fn shown(&self) -> String {
        let most = self.bytes.len().min(600);
        format!("{}: {}", self.class, self.bytes[..most].escape_ascii())
    }
}

/// Of HTTP/1.1; nothing if there is no fragment.
fn without_fragment(bytes: &[u8]) -> Option<Vec<u8>> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let target = line.iter().position(|byte| *byte == b' ')? + 1;
    let ends = line[target..].iter().position(|byte| b" \r".contains(byte))? + target;
    let fragment = line[target..ends].iter().position(|byte| *byte == b'#')? + target;
    Some([&bytes[..fragment], &bytes[ends..]].concat())
}
