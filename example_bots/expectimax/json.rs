//! A reader for JSON: what well-formed lines need, and `None` for the rest.

use std::str;

pub enum Value {
    Null,
    Bool,
    Number(i32),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

/// What a missing field is read as.
const NOTHING: &Value = &Value::Null;

impl Value {
    pub fn field(&self, name: &str) -> &Value {
        match self {
            Value::Object(fields) => fields
                .iter()
                .find(|(key, _)| key == name)
                .map_or(NOTHING, |(_, value)| value),
            _ => NOTHING,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            _ => "",
        }
    }

    pub fn number(&self) -> Option<i32> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub fn list(&self) -> &[Value] {
        match self {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The numbers of a list; what is `null` in it is `None`.
    pub fn numbers(&self) -> impl Iterator<Item = Option<i32>> + '_ {
        self.list().iter().map(Value::number)
    }
}

pub fn parse(line: &[u8]) -> Option<Value> {
    Reader { rest: line }.value()
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Takes `byte`, and the white space before it, if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        self.rest = self.rest.trim_ascii_start();
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    /// Takes bytes for as long as they belong to a number or a word.
    fn word(&mut self) -> &'a str {
        let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let length = self.rest.iter().take_while(|byte| belongs(byte)).count();
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        str::from_utf8(word).unwrap_or("")
    }

    fn value(&mut self) -> Option<Value> {
        if self.take(b'"') {
            return self.string().map(Value::Text);
        }
        if self.take(b'[') {
            return self.items(b']', Self::value).map(Value::List);
        }
        if self.take(b'{') {
            return self.items(b'}', Self::member).map(Value::Object);
        }
        match self.word() {
            "null" => Some(Value::Null),
            "true" | "false" => Some(Value::Bool),
            number => number
                .parse::<f64>()
                .ok()
                .map(|number| Value::Number(number as i32)),
        }
    }

    fn member(&mut self) -> Option<(String, Value)> {
        if !self.take(b'"') {
            return None;
        }
        let name = self.string()?;
        if !self.take(b':') {
            return None;
        }
        Some((name, self.value()?))
    }

    /// What stands, separated by commas, before `end`.
    fn items<T>(&mut self, end: u8, one: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        if self.take(end) {
            return Some(items);
        }
        loop {
            items.push(one(self)?);
            if self.take(end) {
                return Some(items);
            }
            if !self.take(b',') {
                return None;
            }
        }
    }

    /// A string after its first quote. Escapes are kept as they stand: what this bot reads (types,
    /// phases, turn ids) has none, and what it copies is copied raw.
    fn string(&mut self) -> Option<String> {
        let mut end = 0;
        while *self.rest.get(end)? != b'"' {
            end += if self.rest[end] == b'\\' { 2 } else { 1 };
        }
        let text = String::from_utf8_lossy(&self.rest[..end]).into_owned();
        self.rest = &self.rest[end + 1..];
        Some(text)
    }
}
