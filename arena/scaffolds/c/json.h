/* A small JSON reader. A value is a pointer to where it begins in the text, NULL where there is
 * none; every function takes NULL, too, so that calls can be nested. Nothing is allocated. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>

const char *json_field(const char *object, const char *name); /* the value of a field */
const char *json_first(const char *array);                    /* an array's first element */
const char *json_next(const char *element);                   /* the one after it */
bool json_is(const char *value, const char *text);            /* is it this string? */
int json_int(const char *value, int otherwise);               /* otherwise: it is no number */
void json_copy(const char *value, char *text, size_t size);   /* a string, cut to fit */

#endif
