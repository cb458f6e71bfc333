// A minimal JSON scanner: positions in the line stand for values.
//
// Only what well-formed input needs; a field is looked for at its own level, so that unknown
// fields, whatever they hold, are passed over.
#pragma once
#include <cstdlib>
#include <cstring>

namespace json {

constexpr int NONE = -1000;  // null, or nothing there

inline const char* blank(const char* at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
        at++;
    return at;
}

// Past the string that begins at `at`.
inline const char* past_string(const char* at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

// Past the value that begins at `at`.
inline const char* past(const char* at)
{
    int depth = 0;
    do {
        at = blank(at);
        if (*at == '"') {
            at = past_string(at);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else if (*at == ',' || *at == ':') {
            at++;
        } else {
            while (*at && !std::strchr(" \t\r\n,:]}", *at))
                at++;
        }
    } while (depth > 0 && *at);
    return at;
}

// The value of a field of an object, or null.
inline const char* field(const char* object, const char* name)
{
    size_t length = std::strlen(name);
    const char* at = object ? blank(object) : nullptr;
    if (!at || *at != '{')
        return nullptr;
    at = blank(at + 1);
    while (*at == '"') {
        const char* key = at + 1;
        at = blank(past_string(at));
        if (*at != ':')
            return nullptr;
        at = blank(at + 1);
        if (!std::strncmp(key, name, length) && key[length] == '"')
            return at;
        at = blank(past(at));
        if (*at == ',')
            at = blank(at + 1);
    }
    return nullptr;
}

// The first element of an array, or null.
inline const char* first(const char* array)
{
    if (!array || *array != '[')
        return nullptr;
    array = blank(array + 1);
    return *array == ']' ? nullptr : array;
}

// The element after `at`, or null.
inline const char* next(const char* at)
{
    at = blank(past(at));
    return *at == ',' ? blank(at + 1) : nullptr;
}

inline bool is(const char* value, const char* text)
{
    size_t length = std::strlen(text);
    return value && *value == '"' && !std::strncmp(value + 1, text, length)
           && value[length + 1] == '"';
}

inline int number(const char* value)
{
    return !value || *value == 'n' ? NONE : std::atoi(value);
}

// Up to `most` numbers of an array; how many it has.
inline int numbers(const char* array, int* into, int most)
{
    int count = 0;
    for (const char* at = first(array); at && count < most; at = next(at))
        into[count++] = number(at);
    return count;
}

}  // namespace json
