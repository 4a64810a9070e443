//! Selectors, read a second time.

/// Field or key, operator, values.
pub type Term = (String, &'static str, Vec<String>);

pub(crate) fn fields(selector: &str) -> Option<Vec<Term>> {
    // Commas behind a backslash do not separate.
    let mut parts = vec![String::new()];
    let mut chars = selector.chars();
    while let Some(c) = chars.next() {
        if c == ',' {
            parts.push(String::new());
            continue;
        }
        let part = parts.last_mut()?;
        part.push(c);
        if c == '\\' {
            part.extend(chars.next());
        }
    }
    parts.sort();
    let mut terms = Vec::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let at = part.find('=')?;
        let (field, operator) = match part[..at].strip_suffix('!') {
            Some(field) => (field, "!="),
            None => (&part[..at], "="),
        };
        let value = match part[at + 1..].strip_prefix('=') {
            Some(rest) if operator == "=" => rest,
            _ => &part[at + 1..],
        };
        let mut plain = String::new();
        let mut chars = value.chars();
        while let Some(c) = chars.next() {
            match (c, chars.as_str().chars().next()) {
                ('\\', Some(next @ ('\\' | ',' | '='))) => {
                    plain.push(next);
                    chars.next();
                }
                ('\\' | ',' | '=', _) => return None,
                _ => plain.push(c),
            }
        }
        if !field.is_empty() || !plain.is_empty() {
            terms.push((field.to_owned(), operator, vec![plain]));
        }
    }
    Some(terms)
}

pub(crate) fn labels(selector: &str) -> Option<Vec<Term>> {
    let tokens = tokens(selector);
    let token = |at: usize| tokens.get(at).map(String::as_str).unwrap_or_default();
    let is_word = |at: usize| !token(at).is_empty() && !token(at).starts_with(special);
    let mut terms: Vec<Term> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !terms.is_empty() {
            if token(at) != "," {
                return None;
            }
            at += 1;
        }
        let absent = token(at) == "!";
        at += usize::from(absent);
        if !is_word(at) || !is_key(token(at)) {
            return None;
        }
        let key = token(at).to_owned();
        at += 1;
        if absent || matches!(token(at), "" | ",") {
            terms.push((key, if absent { "!" } else { "exists" }, Vec::new()));
            continue;
        }
        let operator = match token(at) {
            "=" => "=",
            "==" => "==",
            "!=" => "!=",
            ">" => "gt",
            "<" => "lt",
            "in" => "in",
            "notin" => "notin",
            _ => return None,
        };
        at += 1;
        let mut values = Vec::new();
        if operator == "in" || operator == "notin" {
            let end = at + tokens.get(at..)?.iter().position(|token| token == ")")?;
            if token(at) != "(" {
                return None;
            }
            for value in tokens.get(at + 1..end)?.split(|token| token == ",") {
                values.push(match value {
                    [] => String::new(),
                    [value] if !value.starts_with(special) => value.clone(),
                    _ => return None,
                });
            }
            at = end + 1;
        } else if is_word(at) {
            values.push(token(at).to_owned());
            at += 1;
        } else if matches!(token(at), "" | ",") {
            values.push(String::new());
        } else {
            return None;
        }
        values.sort();
        values.dedup();
        let number = !matches!(operator, "gt" | "lt") || values[0].parse::<i64>().is_ok();
        if !number || !values.iter().all(|value| value.is_empty() || is_name(value)) {
            return None;
        }
        terms.push((key, operator, values));
    }
    terms.sort_by(|a, b| a.0.cmp(&b.0));
    Some(terms)
}

fn special(c: char) -> bool {
    "=!(),><".contains(c)
}

fn tokens(selector: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    // Whether the next character may still belong to the last token.
    let mut open = false;
    for c in selector.chars() {
        let last = tokens.last().map(String::as_str).unwrap_or_default();
        let joins = match c {
            ' ' | '\t' | '\r' | '\n' => {
                open = false;
                continue;
            }
            '=' => last == "=" || last == "!",
            _ => !special(c) && !last.starts_with(special),
        };
        match tokens.last_mut() {
            Some(last) if open && joins => last.push(c),
            _ => tokens.push(c.to_string()),
        }
        open = true;
    }
    tokens
}

fn is_key(key: &str) -> bool {
    let parts: Vec<&str> = key.split('/').collect();
    match parts.as_slice() {
        [name] => is_name(name),
        [prefix, name] => {
            let part = |part: &str| {
                let letters = part.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-'));
                letters && !part.is_empty() && !part.starts_with('-') && !part.ends_with('-')
            };
            prefix.len() <= 253 && prefix.split('.').all(part) && is_name(name)
        }
        _ => false,
    }
}

fn is_name(name: &str) -> bool {
    let edge = ['-', '_', '.'];
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || edge.contains(&c));
    letters && !name.is_empty() && name.len() <= 63 && !name.starts_with(edge) && !name.ends_with(edge)
}
