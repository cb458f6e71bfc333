// A small JSON reader: Json::parse(line), then value["field"][0].number().
//
// A field or an element that isn't there is null, so that look-ups can be chained. What is no JSON
// throws std::runtime_error.
#pragma once

#include <cctype>
#include <cstdlib>
#include <cstring>
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
        if (peek() == '{') {
            json.kind_ = Kind::list;
            for (++at_; more(json.items_.empty(), '}');) {
                json.names_.push_back(string());
                expect(':');
                json.items_.push_back(value());
            }
        } else if (peek() == '[') {
            json.kind_ = Kind::list;
            for (++at_; more(json.items_.empty(), ']');)
                json.items_.push_back(value());
        } else if (peek() == '"') {
            json.kind_ = Kind::text;
            json.text_ = string();
        } else {
            word(json);
        }
        return json;
    }
    // The next character that isn't white space; '\0' at the end.
    char peek()
    {
        at_ += std::strspn(at_, " \t\r\n");
        return *at_;
    }
    [[noreturn]] static void fail() { throw std::runtime_error("this is no JSON"); }

private:
    void expect(char c)
    {
        if (peek() != c)
            fail();
        ++at_;
    }
    // Whether another element follows; passes the bracket or the comma.
    bool more(bool first, char end)
    {
        if (peek() == end) {
            ++at_;
            return false;
        }
        if (!first)
            expect(',');
        return true;
    }
    // A number, true, false or null.
    void word(Json &json)
    {
        const std::string word(at_, std::strcspn(at_, " \t\r\n,]}"));
        char *end;
        at_ += word.size();
        if (word == "null")
            return;
        json.kind_ = Kind::number;
        json.number_ = word == "true" ? 1 : word == "false" ? 0 : std::strtod(word.c_str(), &end);
        if (word.empty() || (word != "true" && word != "false" && *end != '\0'))
            fail();
    }
    std::string string()
    {
        std::string text;
        for (expect('"'); *at_ != '"'; ++at_) {
            if (*at_ == '\\')
                escaped(text);
            else if (*at_ != '\0')
                text += *at_;
            else
                fail();
        }
        ++at_;
        return text;
    }
    void escaped(std::string &text)
    {
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
    // The four digits after \u, and where they are half of a pair, its other half: as UTF-8.
    void unicode(std::string &text)
    {
        unsigned code = digits();
        if (code >= 0xD800 && code < 0xDC00 && at_[1] == '\\' && at_[2] == 'u') {
            at_ += 2;
            code = 0x10000 + ((code - 0xD800) << 10) + (digits() & 0x3FF);
        }
        const int tails = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        const unsigned marks[] = {0, 0xC0, 0xE0, 0xF0};
        text += static_cast<char>(marks[tails] | (code >> (6 * tails)));
        for (int tail = tails - 1; tail >= 0; --tail)
            text += static_cast<char>(0x80 | ((code >> (6 * tail)) & 0x3F));
    }
    unsigned digits()
    {
        unsigned code = 0;
        for (int i = 0; i < 4; ++i) {
            if (!std::isxdigit(static_cast<unsigned char>(*++at_)))
                fail();
            code = code * 16 + (*at_ <= '9' ? *at_ - '0' : (*at_ | 32) - 'a' + 10);
        }
        return code;
    }

    const char *at_;
};

inline Json Json::parse(const std::string &text)
{
    Reader reader(text);
    Json json = reader.value();
    if (reader.peek() != '\0')
        reader.fail();
    return json;
}
