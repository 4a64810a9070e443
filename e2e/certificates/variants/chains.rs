//! What stands between a leaf and its root, or beside it.

use time::Duration;

use super::{
    CA_KEY,
    Expected::{Believed, Refused, Stricter},
    POLICY, Roots, Variant, basic, constraint, variant,
};
use crate::pki::{
    ANY, Entity, KEY_USAGE, NAMES, POLICIES, POLICY_CONSTRAINTS, SERVER, Template, extension, purposes, tlv,
};

const FORMS: &str = "webpki does not judge constraints of this form";

#[rustfmt::skip]
pub(super) fn intermediates(roots: &Roots) -> Vec<Variant> {
    let under = |name, expected, between: Template, leaf: Template| {
        let between = roots.main.sign(between);
        variant(name, expected, &between.sign(leaf), &[&between])
    };
    let row = |name, expected, between| under(name, expected, between, Template::client("user"));
    let ca = || Template::ca("between");
    let bare = || Template::new("between");
    let named = |tag, name: &[u8]| {
        let names = extension(NAMES, false, &tlv(0x30, &[&tlv(tag, &[name])]));
        Template::client("user").with(names)
    };
    let constrained = |critical, form, base: &[u8]| ca().with(constraint(critical, 0xa0, form, base));
    let excluded = |form, base: &[u8]| ca().with(constraint(true, 0xa1, form, base));
    let policy = || extension(POLICIES, false, &tlv(0x30, &[&tlv(0x30, &[&tlv(6, &[&[0x2a, 3]])])]));
    let asked = || extension(POLICY_CONSTRAINTS, true, &[0x30, 3, 0x80, 1, 0]);
    let (hour, minute) = (Duration::HOUR, Duration::MINUTE);
    let user = || Template::client("user");
    let host = || named(0x82, b"a.example.com");
    vec![
        row("intermediate", Believed, ca()),
        row("intermediate that is no CA", Refused, bare().with(basic(false, None))),
        row("intermediate silent about it", Refused, bare()),
        row("expired intermediate", Refused, ca().valid(-hour, -minute)),
        row("intermediate for servers", Refused, ca().with(purposes(&[SERVER]))),
        row("intermediate for anything", Believed, ca().with(purposes(&[ANY]))),
        row("intermediate that may not sign", Refused, ca().with(extension(KEY_USAGE, true, &[3, 2, 7, 0x80]))),
        row("intermediate that may sign", Believed, ca().with(extension(KEY_USAGE, true, &[3, 2, 2, 4]))),
        row("unknown critical extension between", Refused, ca().with(extension(&[0x2a, 3, 4], true, &[]))),
        row("no more levels allowed, none there", Believed, bare().with(basic(true, Some(0)))),
        row("policy asked for between", Refused, ca().with(asked())),
        under("policy asked for and there", Stricter(POLICY), ca().with(asked()).with(policy()), user().with(policy())),
        under("inside a DNS constraint", Believed, constrained(true, 0x82, b"example.com"), host()),
        under("outside a DNS constraint", Refused, constrained(true, 0x82, b"example.org"), host()),
        under("a DNS constraint and no names", Believed, constrained(true, 0x82, b"example.org"), user()),
        under("below a leading dot", Believed, constrained(true, 0x82, b".example.com"), host()),
        under("at a leading dot", Refused, constrained(true, 0x82, b".example.com"), named(0x82, b"example.com")),
        under("letters of another case", Believed, constrained(true, 0x82, b"EXAMPLE.com"), host()),
        under("the end of a label only", Refused, constrained(true, 0x82, b"ple.com"), host()),
        under("any DNS name permitted", Believed, constrained(true, 0x82, b""), host()),
        under("excluded DNS name", Refused, excluded(0x82, b"example.com"), host()),
        under("another DNS name excluded", Believed, excluded(0x82, b"example.org"), host()),
        under("wildcard over an excluded name", Refused, excluded(0x82, b"a.example.com"), named(0x82, b"*.example.com")),
        under("wildcard inside", Believed, constrained(true, 0x82, b"example.com"), named(0x82, b"*.example.com")),
        under("wildcard outside", Refused, constrained(true, 0x82, b"a.example.com"), named(0x82, b"*.example.com")),
        under("dot at the end", Refused, constrained(true, 0x82, b"example.com"), named(0x82, b"a.example.com.")),
        under("inside a subnet", Believed, constrained(true, 0x87, &[10, 0, 0, 0, 255, 0, 0, 0]), named(0x87, &[10, 1, 1, 1])),
        under("outside a subnet", Refused, constrained(true, 0x87, &[10, 0, 0, 0, 255, 0, 0, 0]), named(0x87, &[11, 1, 1, 1])),
        under("subnet with a gap", Refused, constrained(true, 0x87, &[10, 0, 0, 0, 255, 0, 255, 0]), user()),
        under("excluded subnet", Refused, excluded(0x87, &[10, 0, 0, 0, 255, 0, 0, 0]), named(0x87, &[10, 1, 1, 1])),
        under("names outside, constraint not critical", Refused, constrained(false, 0x82, b"example.org"), host()),
        under("critical directory constraint", Refused, constrained(true, 0xa4, &[0x30, 0]), user()),
        under("directory constraint", Stricter(FORMS), constrained(false, 0xa4, &[0x30, 0]), user()),
        under("inside a mail constraint", Stricter(FORMS), constrained(true, 0x81, b"b.com"), named(0x81, b"a@b.com")),
        under("outside a mail constraint", Refused, constrained(true, 0x81, b"b.com"), named(0x81, b"a@c.com")),
        under("bad mailbox under a constraint", Refused, constrained(true, 0x82, b"b.com"), named(0x81, b"@")),
    ]
}

#[rustfmt::skip]
pub(super) fn chains(roots: &Roots) -> Vec<Variant> {
    let user = || Template::client("user");
    let named = |name: &str| {
        let names = tlv(0x30, &[&tlv(0x82, &[name.as_bytes()])]);
        user().with(extension(NAMES, false, &names))
    };
    let between = roots.main.sign(Template::ca("between"));
    let below = between.sign(Template::ca("below"));
    let ending = roots.main.sign(Template::new("ending").with(basic(true, Some(0))));
    let too_deep = ending.sign(Template::ca("too deep"));
    let of_short = roots.short.sign(Template::ca("of short"));
    let stranger = Template::ca("stranger").self_signed();
    let good = roots.main.sign(user());
    let unrelated: Vec<Entity> = (0..5).map(|_| Template::ca("unrelated").self_signed()).collect();
    let many: Vec<&Entity> = unrelated.iter().chain([&between]).collect();
    let namesakes: Vec<Entity> = (0..4).map(|_| roots.main.sign(Template::ca("between"))).collect();
    let crowd: Vec<&Entity> = namesakes.iter().chain([&between]).collect();
    let [old, new, rekeyed] = &roots.renewed;
    let mut forged = good.clone();
    *forged.der.last_mut().unwrap() ^= 1;
    let mut longer = good.clone();
    longer.der.push(0);
    let odd = Template {
        serial: vec![0x80],
        ..Template::ca("odd")
    };
    vec![
        variant("two intermediates", Believed, &below.sign(user()), &[&below, &between]),
        variant("intermediates in any order", Believed, &below.sign(user()), &[&between, &below]),
        variant("missing intermediate", Refused, &between.sign(user()), &[]),
        variant("more levels than an intermediate allows", Refused, &too_deep.sign(user()), &[&too_deep, &ending]),
        variant("more levels than the root allows", Refused, &of_short.sign(user()), &[&of_short]),
        variant("as many levels as the root allows", Believed, &roots.short.sign(user()), &[]),
        variant("of a stranger", Refused, &stranger.sign(user()), &[&stranger]),
        variant("inside the root's constraint", Believed, &roots.constrained.sign(named("a.example.com")), &[]),
        variant("outside the root's constraint", Refused, &roots.constrained.sign(named("a.example.org")), &[]),
        variant("of an expired CA", Refused, &roots.expired.sign(user()), &[]),
        variant("self-signed", Refused, &user().self_signed(), &[]),
        variant("self-signed in the name of the CA", Refused, &Template::client("main").self_signed(), &[]),
        variant("of another CA of that name", Refused, &Template::ca("main").self_signed().sign(user()), &[]),
        variant("the root itself", Stricter(CA_KEY), &roots.main, &[]),
        variant("the root sent along", Believed, &good, &[&roots.main]),
        variant("itself sent along", Believed, &good, &[&good]),
        variant("one unrelated certificate", Believed, &good, &[&stranger]),
        variant("five unrelated certificates", Believed, &between.sign(user()), &many),
        variant("four namesakes", Stricter("a search that long is not needed"), &between.sign(user()), &crowd),
        variant("a certificate that Go does not parse", Refused, &good, &[&odd.self_signed()]),
        variant("of a renewed CA, old", Believed, &old.sign(user()), &[]),
        variant("of a renewed CA, new", Believed, &new.sign(user()), &[]),
        variant("of a renewed CA, another key", Believed, &rekeyed.sign(user()), &[]),
        variant("forged signature", Refused, &forged, &[]),
        variant("a byte behind", Refused, &longer, &[]),
    ]
}
