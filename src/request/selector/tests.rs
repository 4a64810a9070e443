use test_case::test_case;

use super::*;

/// The terms as they would be written, or `malformed`.
fn fields(selector: &str) -> String {
    let Some(terms) = fields::parse(selector) else {
        return "malformed".to_owned();
    };
    let term = |term: &FieldRequirement| format!("{}{}{:?}", term.field, term.operator.as_str(), term.value);
    terms.iter().map(term).collect::<Vec<_>>().join(" ")
}

/// The same for labels.
fn labels(selector: &str) -> String {
    let Some(terms) = labels::parse(selector) else {
        return "malformed".to_owned();
    };
    let term = |term: &LabelRequirement| match term.values.as_slice() {
        [] => format!("{} {}", term.key, term.operator.as_str()),
        values => format!("{} {} {values:?}", term.key, term.operator.as_str()),
    };
    terms.iter().map(term).collect::<Vec<_>>().join("; ")
}

#[test_case("" => ""; "empty")]
#[test_case("," => ""; "a comma")]
#[test_case(",,a=b,," => r#"a="b""#; "empty terms")]
#[test_case("a=b" => r#"a="b""#)]
#[test_case("a==b" => r#"a="b""#)]
#[test_case("a!=b" => r#"a!="b""#)]
#[test_case("a=" => r#"a="""#; "empty value")]
#[test_case("=b" => r#"="b""#; "empty field")]
#[test_case("=" => ""; "neither field nor value")]
#[test_case("!=" => ""; "neither field nor value, negated")]
#[test_case("==,a=b,=" => r#"a="b""#; "neither field nor value among others")]
#[test_case("a===b" => "malformed"; "a third equals sign")]
#[test_case("a!==b" => "malformed"; "an equals sign behind not equals")]
#[test_case("a=!b" => r#"a="!b""#; "the first operator counts")]
#[test_case("a=!=b" => "malformed"; "a bare equals sign")]
#[test_case("a!b=c" => r#"a!b="c""#; "a lone exclamation mark is part of the field")]
#[test_case("a<b" => "malformed"; "no operator")]
#[test_case("a=b,c" => "malformed"; "one term without operator")]
#[test_case(" a = b " => r#" a =" b ""#; "nothing is trimmed")]
#[test_case("z=1,a=2" => r#"a="2" z="1""#; "sorted")]
#[test_case("a=b,a!=b" => r#"a!="b" a="b""#; "sorted by text")]
#[test_case(r"a=b\,c" => r#"a="b,c""#; "escaped comma")]
#[test_case(r"a=b\=c" => r#"a="b=c""#; "escaped equals sign")]
#[test_case(r"a=b\\" => r#"a="b\\""#; "escaped backslash")]
#[test_case(r"a=b\\,c=d" => r#"a="b\\" c="d""#; "a comma behind an escaped backslash")]
#[test_case(r"a=b\c" => "malformed"; "unknown escape")]
#[test_case(r"a=b\" => "malformed"; "backslash at the end")]
#[test_case(r"a\,b=c" => r#"a\,b="c""#; "no escapes in a field, but no split either")]
#[test_case(r"a\=b" => r#"a\="b""#; "no escapes in front of an operator")]
#[test_case("ключ=знач" => r#"ключ="знач""#; "not ASCII")]
fn field_selectors(selector: &str) -> String {
    fields(selector)
}

#[test_case("" => ""; "empty")]
#[test_case(" \t\r\n" => ""; "space")]
#[test_case("\u{a0}" => "malformed"; "other space")]
#[test_case("a" => "a exists")]
#[test_case("!a" => "a !")]
#[test_case(" ! a " => "a !"; "space inside")]
#[test_case("!!a" => "malformed"; "not not")]
#[test_case("!a=b" => "malformed"; "not with a value")]
#[test_case("!a in (b)" => "malformed"; "not with a set")]
#[test_case("!" => "malformed"; "not nothing")]
#[test_case("a=b" => r#"a = ["b"]"#)]
#[test_case("a==b" => r#"a == ["b"]"#)]
#[test_case("a!=b" => r#"a != ["b"]"#)]
#[test_case("a = b" => r#"a = ["b"]"#; "space around the operator")]
#[test_case("a= =b" => "malformed"; "space inside the operator")]
#[test_case("a===b" => "malformed"; "three equals signs")]
#[test_case("a=" => r#"a = [""]"#; "no value")]
#[test_case("a=,b" => r#"a = [""]; b exists"#; "no value before a comma")]
#[test_case("a=b c" => "malformed"; "two values")]
#[test_case("a=(b)" => "malformed"; "a set where one value goes")]
#[test_case("a!" => "malformed"; "not behind")]
#[test_case("=b" => "malformed"; "no key")]
#[test_case("a b" => "malformed"; "two keys")]
#[test_case("a>5" => r#"a gt ["5"]"#)]
#[test_case("a<007" => r#"a lt ["007"]"#)]
#[test_case("a>" => "malformed"; "more than nothing")]
#[test_case("a>-5" => "malformed"; "a negative number is no label value")]
#[test_case("a>x" => "malformed"; "more than a word")]
#[test_case("a>0x10" => "malformed"; "decimal only")]
#[test_case("a>1_0" => "malformed"; "no digit separators")]
#[test_case("a>9223372036854775807" => r#"a gt ["9223372036854775807"]"#; "the largest number")]
#[test_case("a>9223372036854775808" => "malformed"; "one more")]
#[test_case("a>=5" => "malformed"; "no such operator")]
#[test_case("a in (b)" => r#"a in ["b"]"#)]
#[test_case("a in(c,b,c)" => r#"a in ["b", "c"]"#; "sorted and each once")]
#[test_case("a notin (b)" => r#"a notin ["b"]"#)]
#[test_case("a in ()" => r#"a in [""]"#; "empty set")]
#[test_case("a in (,)" => r#"a in [""]"#; "a comma")]
#[test_case("a in (,b)" => r#"a in ["", "b"]"#; "nothing in front")]
#[test_case("a in (b,)" => r#"a in ["", "b"]"#; "nothing behind")]
#[test_case("a in (b,,c)" => r#"a in ["", "b", "c"]"#; "nothing between")]
#[test_case("a in (b" => "malformed"; "no end")]
#[test_case("a in b" => "malformed"; "no set")]
#[test_case("a in (b c)" => "malformed"; "no comma")]
#[test_case("a in (b=c)" => "malformed"; "operator inside")]
#[test_case("a in ((b))" => "malformed"; "nested")]
#[test_case("a in" => "malformed"; "set missing")]
#[test_case("a IN (b)" => "malformed"; "operators are in lower case")]
#[test_case("in" => "in exists"; "in as a key")]
#[test_case("in in (in,notin)" => r#"in in ["in", "notin"]"#; "in everywhere")]
#[test_case("notin=in" => r#"notin = ["in"]"#; "notin as a key")]
#[test_case("a," => "malformed"; "comma at the end")]
#[test_case(",a" => "malformed"; "comma in front")]
#[test_case("a,,b" => "malformed"; "two commas")]
#[test_case("b,a" => "a exists; b exists"; "sorted by key")]
#[test_case("a=2,a=1,!a" => r#"a = ["2"]; a = ["1"]; a !"#; "the same key in order of appearance")]
#[test_case("example.com/a=b" => r#"example.com/a = ["b"]"#; "prefix")]
#[test_case("Example.com/a" => "malformed"; "prefix in upper case")]
#[test_case("/a" => "malformed"; "empty prefix")]
#[test_case("a/" => "malformed"; "empty name")]
#[test_case("a/b/c" => "malformed"; "two prefixes")]
#[test_case("a..b/c" => "malformed"; "empty part of a prefix")]
#[test_case("a.-b/c" => "malformed"; "dash at an edge of a part")]
#[test_case("A_b.C-d" => "A_b.C-d exists"; "all a name can have")]
#[test_case("-a" => "malformed"; "dash in front")]
#[test_case("a_" => "malformed"; "underscore at the end")]
#[test_case("a=b/c" => "malformed"; "slash in a value")]
#[test_case("a=.b" => "malformed"; "dot in front of a value")]
#[test_case("ä" => "malformed"; "not ASCII")]
#[test_case("a=ä" => "malformed"; "value not ASCII")]
fn label_selectors(selector: &str) -> String {
    labels(selector)
}

#[test_case("a", 63, "" => true; "longest name")]
#[test_case("a", 64, "" => false; "longer name")]
#[test_case("x=", 63, "" => true; "longest value")]
#[test_case("x=", 64, "" => false; "longer value")]
#[test_case("", 253, "/x" => true; "longest prefix")]
#[test_case("", 254, "/x" => false; "longer prefix")]
fn lengths(before: &str, length: usize, behind: &str) -> bool {
    // The name itself counts.
    let fill = length - usize::from(before == "a");
    labels(&format!("{before}{}{behind}", "b".repeat(fill))) != "malformed"
}

#[test_case("spec.nodeName=n1" => true; "alone")]
#[test_case("spec.nodeName==n1,status.phase!=Failed" => true; "among others")]
#[test_case("spec.nodeName=n2,spec.nodeName=n1" => true; "beside a contradiction")]
#[test_case("spec.nodeName!=n1" => false; "not equal")]
#[test_case("spec.nodeName=n2" => false; "another value")]
#[test_case("spec.nodename=n1" => false; "another field")]
#[test_case(" spec.nodeName=n1" => false; "a field with a space")]
#[test_case("spec.nodeName=n1,x" => false; "malformed")]
#[test_case("" => false; "none")]
fn exact_terms(selector: &str) -> bool {
    let fields = fields::parse(selector).unwrap_or_default();
    let selectors = Selectors {
        fields,
        ..Selectors::default()
    };
    selectors.require("spec.nodeName", "n1")
}

/// As long as a head can be: none of it may take quadratic time.
#[test]
fn long_selectors_are_read_at_once() {
    let long = 64 * 1024;
    for text in ["a=b,", "a,", "(", "!", "a in (a,", "a ", "=", "\\", ","] {
        let selector = text.repeat(long / text.len());
        fields(&selector);
        labels(&selector);
    }
    labels(&format!("a in ({})", "a,".repeat(long)));
}
