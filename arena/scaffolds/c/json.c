#include "json.h"

#include <stdlib.h>
#include <string.h>

static const char *blank(const char *at) { return at + strspn(at, " \t\r\n"); }

/* Past the string, number or word that begins at `at`. */
static const char *past_scalar(const char *at)
{
    if (*at != '"')
        return at + strcspn(at, " \t\r\n,:]}");
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

/* Past the value that begins at `at`, with all that is in it. */
static const char *past(const char *at)
{
    int depth = 0;
    do {
        at = blank(at);
        if (*at == '{' || *at == '[')
            depth++, at++;
        else if (*at == '}' || *at == ']')
            depth--, at++;
        else if (*at == ',' || *at == ':')
            at++;
        else
            at = past_scalar(at);
    } while (depth > 0 && *at);
    return at;
}

const char *json_next(const char *element)
{
    if (!element)
        return NULL;
    element = blank(past(element));
    return *element == ',' ? blank(element + 1) : NULL;
}

const char *json_first(const char *array)
{
    if (!array || *(array = blank(array)) != '[')
        return NULL;
    array = blank(array + 1);
    return *array == ']' ? NULL : array;
}

const char *json_field(const char *object, const char *name)
{
    if (!object || *(object = blank(object)) != '{')
        return NULL;
    object = blank(object + 1);
    while (*object == '"') {
        const char *value = blank(past_scalar(object));
        if (*value != ':')
            return NULL;
        value = blank(value + 1);
        if (json_is(object, name))
            return value;
        object = json_next(value);
        if (!object)
            return NULL;
    }
    return NULL;
}

/* The character of a string at `*at`, which moves on; 0 at its end, '?' for what isn't ASCII. */
static char character(const char **at)
{
    static const char escaped[] = "b\bf\fn\nr\rt\t";
    char c = **at, digits[5] = "";
    if (!c || c == '"')
        return 0;
    ++*at;
    if (c != '\\')
        return c;
    c = **at;
    if (!c)
        return 0;
    ++*at;
    if (c == 'u') {
        strncpy(digits, *at, 4);
        *at += strlen(digits);
        long code = strtol(digits, NULL, 16);
        return code > 0 && code < 128 ? (char)code : '?';
    }
    const char *found = strchr(escaped, c);
    return found ? found[1] : c;
}

bool json_is(const char *value, const char *text)
{
    if (!value || *value++ != '"')
        return false;
    for (; *text; text++)
        if (character(&value) != *text)
            return false;
    return *value == '"';
}

int json_int(const char *value, int otherwise)
{
    return value && *value && strchr("-0123456789", *value) ? atoi(value) : otherwise;
}

void json_copy(const char *value, char *text, size_t size)
{
    char c;
    if (value && *value++ == '"')
        while (size > 1 && (c = character(&value)))
            *text++ = c, size--;
    *text = '\0';
}
