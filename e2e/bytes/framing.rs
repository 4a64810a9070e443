//! Odd ways to say where a body ends.

use super::case::{Case, Request};

pub(super) const REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
pub(super) const REVIEW: &str = r#"{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}"#;

/// What stands behind the other header lines, body and all. `LEN` is the length of a good body in decimal, `HEX` the same in
/// hexadecimal, and `BODY` is the body.
const FRAMINGS: &[&str] = &[
    "Content-Length: LEN\r\n\r\nBODY",
    "Content-Length:LEN\r\n\r\nBODY",
    "Content-Length: LEN \r\n\r\nBODY",
    "content-length: LEN\r\n\r\nBODY",
    "Content-Length: 0LEN\r\n\r\nBODY",
    "Content-Length: +LEN\r\n\r\nBODY",
    "Content-Length: -1\r\n\r\nBODY",
    "Content-Length: 0xHEX\r\n\r\nBODY",
    "Content-Length: LEN.0\r\n\r\nBODY",
    "Content-Length: LEN, LEN\r\n\r\nBODY",
    "Content-Length: LEN\r\nContent-Length: LEN\r\n\r\nBODY",
    "Content-Length: LEN\r\nContent-Length: 0\r\n\r\nBODY",
    "Content-Length: 0\r\nContent-Length: LEN\r\n\r\nBODY",
    "Content-Length:\r\n\r\nBODY",
    "Content-Length: x\r\n\r\nBODY",
    "Content-Length: 99999999999999999999\r\n\r\nBODY",
    "Content-Length: LEN\r\n x\r\n\r\nBODY",
    "Content-Length : LEN\r\n\r\nBODY",
    "Content_Length: LEN\r\n\r\nBODY",
    "\r\nBODY",
    "Transfer-Encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "transfer-encoding: CHUNKED\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding:chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked \r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: \tchunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: \"chunked\"\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked, chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: identity\r\nContent-Length: LEN\r\n\r\nBODY",
    "Transfer-Encoding: identity, chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: gzip, chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked, gzip\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: xchunked\r\nContent-Length: LEN\r\n\r\nBODY",
    "Transfer-Encoding: x\r\nContent-Length: LEN\r\n\r\nBODY",
    "Transfer-Encoding:\r\nContent-Length: LEN\r\n\r\nBODY",
    "Transfer-Encoding: chunked;a=b\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding\u{b}: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer_Encoding: chunked\r\nContent-Length: LEN\r\n\r\nBODY",
    "Content-Length: LEN\r\nTransfer-Encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: LEN\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nHEX;a=b\r\nBODY\r\n0;c\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nHEX;a=\"\r\n\"\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nHEX \r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n HEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n0xHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n+HEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n000HEX\r\nBODY\r\n000\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n0000000000000000000HEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nHEX\nBODY\n0\n\n",
    "Transfer-Encoding: chunked\r\n\r\nHEX\rBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nHEX\r\nBODY0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nHEX\r\nBODYxx0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nzz\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n-1\r\nBODY\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\nX-Remote-User: admin\r\nX: y\r\n\r\n",
    "Trailer: Impersonate-User\r\nTransfer-Encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\nImpersonate-User: admin\r\n\r\n",
    "Trailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\nContent-Length: 5\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\nbad trailer\r\n\r\n",
    "Expect: 100-continue\r\nContent-Length: LEN\r\n\r\nBODY",
    "Expect: 100-Continue\r\nTransfer-Encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Expect: x\r\nContent-Length: LEN\r\n\r\nBODY",
    "Connection: Content-Length\r\nContent-Length: LEN\r\n\r\nBODY",
    "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    "Connection: close, Content-Type\r\nContent-Length: LEN\r\n\r\nBODY",
];

/// The same, and the client ends before what it has announced.
const BROKEN: &[&str] = &[
    "Content-Length: 1LEN\r\n\r\nBODY",
    "Content-Length: LEN\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nHEX\r\nBODY\r\n",
    "Transfer-Encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n",
    "Transfer-Encoding: chunked\r\n\r\nHEX0\r\nBODY\r\n",
    "Transfer-Encoding: chunked\r\n\r\n",
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = FRAMINGS.iter().map(|framing| framed(framing)).collect();
    cases.extend(BROKEN.iter().map(|framing| framed(framing).ending()));
    for framing in [FRAMINGS[0], FRAMINGS[19], FRAMINGS[20]] {
        let mut case = framed(framing);
        let text = String::from_utf8(case.bytes).unwrap();
        case.bytes = text.replacen("HTTP/1.1", "HTTP/1.0", 1).into_bytes();
        cases.push(case);
    }
    cases
}

/// A good review, framed like this.
pub(super) fn framed(framing: &str) -> Case {
    let (decimal, hexadecimal) = (REVIEW.len().to_string(), format!("{:x}", REVIEW.len()));
    let behind = framing
        .replace("LEN", &decimal)
        .replace("HEX", &hexadecimal)
        .replace("BODY", REVIEW);
    let request = Request::new("POST", REVIEWS).line("Content-Type: application/json");
    let mut case = request.case("framing");
    case.bytes.truncate(case.bytes.len() - 2);
    case.bytes.extend_from_slice(behind.as_bytes());
    case
}

pub(super) fn framing(random: &mut crate::random::Random) -> &'static str {
    random.pick(FRAMINGS)
}
