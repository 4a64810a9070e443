//! In which form a client wants to read a Status, worked out as kube-apiserver does.

/// How a Status is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Format {
    Json,
    /// JSON for people: over several lines.
    Pretty,
    Protobuf,
}

/// What decides it.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'a> {
    pub accept: &'a str,
    pub user_agent: &'a str,
    /// Whether the query has `pretty`, and what it says.
    pub pretty: Option<&'a str>,
}

impl Format {
    /// A Status is written in any case: what the client cannot take is JSON.
    pub(super) fn of(wishes: Wishes<'_>) -> Self {
        let mut clauses: Vec<(f32, &str)> = wishes.accept.split(',').map(quality).collect();
        // Equally good ones stay in the client's order.
        clauses.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let mut formats = clauses.iter().filter_map(|(_, clause)| understood(clause));
        let format = match wishes.accept.trim() {
            "" => Self::Json,
            _ => formats.next().unwrap_or(Self::Pretty),
        };
        match format {
            Self::Json if wants_pretty(wishes) => Self::Pretty,
            format => format,
        }
    }
}

/// Programs that people read the output of get it pretty unless they say otherwise.
fn wants_pretty(wishes: Wishes<'_>) -> bool {
    match wishes.pretty {
        Some(pretty) => matches!(pretty, "1" | "t" | "T" | "true" | "TRUE" | "True"),
        None => ["curl", "Wget"]
            .iter()
            .any(|program| wishes.user_agent.starts_with(program)),
    }
}

/// A clause of `Accept` and how much it is wanted.
fn quality(clause: &str) -> (f32, &str) {
    let q = parameters(clause).find_map(|(key, value)| (key == "q").then_some(value));
    let q = q.map_or(1.0, |q| q.parse().unwrap_or(1.0));
    (q, clause)
}

/// The form a clause asks for, if there is one. A wish to have it transformed (into a table, say) is none for a Status.
fn understood(clause: &str) -> Option<Format> {
    if parameters(clause).any(|(key, _)| matches!(key, "as" | "g" | "v")) {
        return None;
    }
    match clause.split(';').next().unwrap_or_default().trim() {
        "application/json" | "application/*" | "*/*" => Some(Format::Json),
        "application/vnd.kubernetes.protobuf" => Some(Format::Protobuf),
        _ => None,
    }
}

fn parameters(clause: &str) -> impl Iterator<Item = (&str, &str)> {
    let parameters = clause.split(';').skip(1);
    parameters
        .filter_map(|parameter| parameter.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    // As kube-apiserver 1.36 answers, YAML apart.
    #[test_case("" => Format::Json; "nothing")]
    #[test_case("*/*" => Format::Json; "anything")]
    #[test_case("application/*" => Format::Json; "any application")]
    #[test_case("application/json" => Format::Json; "json")]
    #[test_case("application/vnd.kubernetes.protobuf" => Format::Protobuf; "protobuf")]
    #[test_case("application/vnd.kubernetes.protobuf, application/json" => Format::Protobuf; "first of two")]
    #[test_case("application/json;q=0.5, application/vnd.kubernetes.protobuf;q=0.4" => Format::Json; "by quality")]
    #[test_case("application/json;q=0,application/vnd.kubernetes.protobuf;q=0.1" => Format::Protobuf; "by quality, later")]
    #[test_case("application/vnd.kubernetes.protobuf;q=0" => Format::Protobuf; "hardly wanted")]
    #[test_case("application/vnd.kubernetes.protobuf;stream=watch" => Format::Protobuf; "of a watch")]
    #[test_case("application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json" => Format::Json; "no table")]
    #[test_case("application/json;as=Table;v=v1;g=meta.k8s.io" => Format::Pretty; "only a table")]
    #[test_case("APPLICATION/VND.KUBERNETES.PROTOBUF" => Format::Pretty; "case matters")]
    #[test_case("text/plain" => Format::Pretty; "something else")]
    #[test_case("bogus" => Format::Pretty; "nonsense")]
    fn accept(accept: &str) -> Format {
        let (user_agent, pretty) = ("kubelet/v1.36", None);
        Format::of(Wishes {
            accept,
            user_agent,
            pretty,
        })
    }

    #[test_case("curl/8.1", None => Format::Pretty; "curl")]
    #[test_case("curl/8.1", Some("false") => Format::Json; "curl, not pretty")]
    #[test_case("kubelet/v1.36", Some("true") => Format::Pretty; "pretty")]
    #[test_case("kubelet/v1.36", Some("1") => Format::Pretty; "one is true")]
    #[test_case("kubelet/v1.36", Some("") => Format::Json; "pretty says nothing")]
    fn pretty(user_agent: &str, pretty: Option<&str>) -> Format {
        let accept = "application/json";
        Format::of(Wishes {
            accept,
            user_agent,
            pretty,
        })
    }
}
