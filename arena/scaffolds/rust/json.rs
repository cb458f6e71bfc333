//! A small JSON reader: `Json::parse(line)?`, then `value["field"][0].int()`.
//!
//! A field or an element that isn't there is null, so that look-ups can be chained.

use std::ops::Index;

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
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let value = reader.value()?;
        match reader.peek() {
            None => Ok(value),
            Some(_) => reader.fail(),
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
        match self {
            Json::Object(fields) => fields.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
        .unwrap_or(&Json::Null)
    }
}

impl Index<usize> for Json {
    type Output = Json;
    fn index(&self, index: usize) -> &Json {
        self.list().get(index).unwrap_or(&Json::Null)
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn fail<T>(&self) -> Result<T, String> {
        Err(format!("this is no JSON at byte {}", self.at))
    }

    /// The next byte that isn't white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.text.get(self.at) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.peek() != Some(byte) {
            return self.fail();
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self) -> Result<Json, String> {
        match self.peek() {
            Some(b'{') => {
                let mut fields = Vec::new();
                self.each(b'}', |reader| {
                    let name = reader.string()?;
                    reader.expect(b':')?;
                    fields.push((name, reader.value()?));
                    Ok(())
                })?;
                Ok(Json::Object(fields))
            }
            Some(b'[') => {
                let mut items = Vec::new();
                self.each(b']', |reader| {
                    items.push(reader.value()?);
                    Ok(())
                })?;
                Ok(Json::List(items))
            }
            Some(b'"') => self.string().map(Json::Text),
            _ => self.word(),
        }
    }

    /// What stands between brackets, with commas between.
    fn each<F>(&mut self, end: u8, mut item: F) -> Result<(), String>
    where
        F: FnMut(&mut Self) -> Result<(), String>,
    {
        self.at += 1;
        if self.peek() == Some(end) {
            return self.expect(end);
        }
        loop {
            item(self)?;
            if self.peek() == Some(end) {
                return self.expect(end);
            }
            self.expect(b',')?;
        }
    }

    /// A number, true, false or null.
    fn word(&mut self) -> Result<Json, String> {
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|byte| b" \t\r\n,]}".contains(byte)).unwrap_or(rest.len());
        let word = std::str::from_utf8(&rest[..end]).unwrap_or("");
        let value = match word {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            "null" => Json::Null,
            _ => match word.parse() {
                Ok(number) => Json::Number(number),
                Err(_) => return self.fail(),
            },
        };
        self.at += end;
        Ok(value)
    }

    fn string(&mut self) -> Result<String, String> {
        let mut bytes = Vec::new();
        self.expect(b'"')?;
        loop {
            let byte = self.next()?;
            match byte {
                b'"' => return String::from_utf8(bytes).or_else(|_| self.fail()),
                b'\\' => match self.next()? {
                    b'b' => bytes.push(8),
                    b'f' => bytes.push(12),
                    b'n' => bytes.push(b'\n'),
                    b'r' => bytes.push(b'\r'),
                    b't' => bytes.push(b'\t'),
                    b'u' => {
                        let letter = self.unicode()?;
                        bytes.extend(letter.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    same => bytes.push(same), // the quote, the slashes
                },
                _ => bytes.push(byte),
            }
        }
    }

    fn next(&mut self) -> Result<u8, String> {
        match self.text.get(self.at) {
            Some(byte) => {
                self.at += 1;
                Ok(*byte)
            }
            None => self.fail(),
        }
    }

    /// What the digits after \u mean; where they are half of a pair, its other half follows.
    fn unicode(&mut self) -> Result<char, String> {
        let mut code = self.digits()?;
        if (0xD800..0xDC00).contains(&code) && self.text[self.at..].starts_with(b"\\u") {
            self.at += 2;
            code = 0x10000 + ((code - 0xD800) << 10) + (self.digits()? & 0x3FF);
        }
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn digits(&mut self) -> Result<u32, String> {
        let four = self.text.get(self.at..self.at + 4).and_then(|four| std::str::from_utf8(four).ok());
        match four.and_then(|four| u32::from_str_radix(four, 16).ok()) {
            Some(code) => {
                self.at += 4;
                Ok(code)
            }
            None => self.fail(),
        }
    }
}
