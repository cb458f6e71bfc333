// A small JSON reader: Json::parse(line), then value["field"][0].number().
//
// A field or an element that isn't there is null, so that look-ups can be chained. What is no JSON
// throws std::runtime_error.
#pragma once

#include <cctype>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

class Json {
public:
    static Json parse(const std::string &text);

    const Json &operator[](std::string_view name) const
    {
        for (std::size_t i = 0; i < names_.size(); ++i)
            if (names_[i] == name)
                return items_[i];
        return nothing();
    }
    const Json &operator[](std::size_t index) const
    {
        return index < items_.size() ? items_[index] : nothing();
    }
    const std::vector<Json> &items() const { return items_; } // of an array
    bool is_null() const { return kind_ == Kind::null; }
    int number() const { return static_cast<int>(number_); } // 1 of true, 0 of what is no number
    const std::string &text() const { return text_; }

private:
    enum class Kind { null, number, text, list };
    class Reader;

    static const Json &nothing()
    {
        static const Json null;
        return null;
    }

    Kind kind_ = Kind::null;
    double number_ = 0;
    std::string text_;
    std::vector<std::string> names_; // of an object's fields; empty in an array
    std::vector<Json> items_;        // an object's values, an array's elements
};

class Json::Reader {
public:
    explicit Reader(const std::string &text) : at_(text.c_str()) {}

    Json value()
    {
        Json json;
        switch (blank()) {
        case '{':
        case '[': list(json); break;
        case '"': json.kind_ = Kind::text; json.text_ = string(); break;
        case 't': word("true"); json.kind_ = Kind::number; json.number_ = 1; break;
        case 'f': word("false"); json.kind_ = Kind::number; break;
        case 'n': word("null"); break;
        default: {
            char *end;
            json.kind_ = Kind::number;
            json.number_ = std::strtod(at_, &end);
            if (end == at_)
                fail();
            at_ = end;
        }
        }
        return json;
    }
    void end()
    {
        if (blank() != '\0')
            fail();
    }

private:
    [[noreturn]] static void fail() { throw std::runtime_error("this is no JSON"); }

    // The next character that isn't white space.
    char blank()
    {
        while (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')
            ++at_;
        return *at_;
    }
    void expect(char c)
    {
        if (blank() != c)
            fail();
        ++at_;
    }
    void word(const char *text)
    {
        for (; *text; ++text, ++at_)
            if (*at_ != *text)
                fail();
    }
    void list(Json &json)
    {
        const char end = *at_++ == '{' ? '}' : ']';
        json.kind_ = Kind::list;
        if (blank() == end) {
            ++at_;
            return;
        }
        for (;;) {
            if (end == '}') {
                if (blank() != '"')
                    fail();
                json.names_.push_back(string());
                expect(':');
            }
            json.items_.push_back(value());
            if (blank() == end) {
                ++at_;
                return;
            }
            expect(',');
        }
    }
    std::string string()
    {
        std::string text;
        for (++at_; *at_ != '"'; ++at_) {
            if (*at_ == '\0')
                fail();
            if (*at_ != '\\') {
                text += *at_;
                continue;
            }
            switch (*++at_) {
            case 'b': text += '\b'; break;
            case 'f': text += '\f'; break;
            case 'n': text += '\n'; break;
            case 'r': text += '\r'; break;
            case 't': text += '\t'; break;
            case 'u': unicode(text); break;
            case '\0': fail();
            default: text += *at_; // the quote, the slashes
            }
        }
        ++at_;
        return text;
    }
    // The four digits after \u, and where they are half of a pair, its other half: as UTF-8.
    void unicode(std::string &text)
    {
        unsigned long code = digits();
        if (code >= 0xD800 && code < 0xDC00 && at_[1] == '\\' && at_[2] == 'u') {
            at_ += 2;
            code = 0x10000 + ((code - 0xD800) << 10) + ((digits() - 0xDC00) & 0x3FF);
        }
        const auto tail = [&](int shift) {
            text += static_cast<char>(0x80 | ((code >> shift) & 0x3F));
        };
        if (code < 0x80) {
            text += static_cast<char>(code);
        } else if (code < 0x800) {
            text += static_cast<char>(0xC0 | (code >> 6));
            tail(0);
        } else if (code < 0x10000) {
            text += static_cast<char>(0xE0 | (code >> 12));
            tail(6), tail(0);
        } else {
            text += static_cast<char>(0xF0 | (code >> 18));
            tail(12), tail(6), tail(0);
        }
    }
    unsigned long digits()
    {
        unsigned long code = 0;
        for (int i = 0; i < 4; ++i) {
            const char digit = *++at_;
            if (!std::isxdigit(static_cast<unsigned char>(digit)))
                fail();
            code = code * 16 + (digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10);
        }
        return code;
    }

    const char *at_;
};

inline Json Json::parse(const std::string &text)
{
    Reader reader(text);
    Json json = reader.value();
    reader.end();
    return json;
}
