//! A small JSON reader: `Json::parse(line)?`, then `value["field"][0].int()`.
//!
//! A field or an element that isn't there is null, so that look-ups can be chained.

use std::iter::Peekable;
use std::ops::Index;
use std::str::Chars;

#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader(text.chars().peekable());
        let value = reader.value();
        match reader.peek() {
            None => value,
            Some(_) => value.and(wrong()),
        }
    }

    /// A whole number; `None` for anything else.
    pub fn int(&self) -> Option<i32> {
        match self {
            Json::Number(number) => Some(*number as i32),
            _ => None,
        }
    }

    /// A string; empty for anything else.
    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            _ => "",
        }
    }

    /// An array's elements; none for anything else.
    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }
}

impl Index<&str> for Json {
    type Output = Json;
    fn index(&self, name: &str) -> &Json {
        let fields: &[(String, Json)] = match self {
            Json::Object(fields) => fields,
            _ => &[],
        };
        let found = fields.iter().find(|(key, _)| key == name);
        found.map_or(&Json::Null, |(_, value)| value)
    }
}

impl Index<usize> for Json {
    type Output = Json;
    fn index(&self, index: usize) -> &Json {
        self.list().get(index).unwrap_or(&Json::Null)
    }
}

fn wrong<T>() -> Result<T, String> {
    Err("this is no JSON".to_string())
}

struct Reader<'a>(Peekable<Chars<'a>>);

impl Reader<'_> {
    /// The next character that isn't white space.
    fn peek(&mut self) -> Option<char> {
        while self.0.next_if(|c| " \t\r\n".contains(*c)).is_some() {}
        self.0.peek().copied()
    }

    fn next(&mut self) -> Result<char, String> {
        self.0.next().map_or_else(wrong, Ok)
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        match self.peek() == Some(c) {
            true => self.next().map(|_| ()),
            false => wrong(),
        }
    }

    /// Whether another element follows; passes the bracket or the comma.
    fn more(&mut self, first: bool, end: char) -> Result<bool, String> {
        if self.peek() == Some(end) {
            return self.expect(end).map(|()| false);
        }
        if !first {
            self.expect(',')?;
        }
        Ok(true)
    }

    fn value(&mut self) -> Result<Json, String> {
        match self.peek() {
            Some('{') => {
                let mut fields = Vec::new();
                self.expect('{')?;
                while self.more(fields.is_empty(), '}')? {
                    let name = self.string()?;
                    self.expect(':')?;
                    fields.push((name, self.value()?));
                }
                Ok(Json::Object(fields))
            }
            Some('[') => {
                let mut items = Vec::new();
                self.expect('[')?;
                while self.more(items.is_empty(), ']')? {
                    items.push(self.value()?);
                }
                Ok(Json::List(items))
            }
            Some('"') => self.string().map(Json::Text),
            _ => self.word(),
        }
    }

    /// A number, true, false or null.
    fn word(&mut self) -> Result<Json, String> {
        let mut word = String::new();
        while let Some(c) = self.0.next_if(|c| !" \t\r\n,]}".contains(*c)) {
            word.push(c);
        }
        match word.as_str() {
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            "null" => Ok(Json::Null),
            _ => word.parse().map(Json::Number).or_else(|_| wrong()),
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let mut text = String::new();
        self.expect('"')?;
        loop {
            text.push(match self.next()? {
                '"' => return Ok(text),
                '\\' => match self.next()? {
                    'b' => '\x08',
                    'f' => '\x0c',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'u' => self.unicode()?,
                    same => same, // the quote, the slashes
                },
                c => c,
            });
        }
    }

    /// What the digits after \u mean. The first half of a pair takes the other one along.
    fn unicode(&mut self) -> Result<char, String> {
        let mut code = self.digits()?;
        let mut ahead = self.0.clone();
        let pair = (ahead.next(), ahead.next()) == (Some('\\'), Some('u'));
        if pair && (0xD800..0xDC00).contains(&code) {
            self.0 = ahead;
            code = 0x10000 + ((code - 0xD800) << 10) + (self.digits()? & 0x3FF);
        }
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn digits(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            code = code * 16 + self.next()?.to_digit(16).map_or_else(wrong, Ok)?;
        }
        Ok(code)
    }
}
