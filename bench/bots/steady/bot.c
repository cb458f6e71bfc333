/* steady: the same amount of work before each answer, for measuring what a decision's time depends on.
 *
 * Like instant it reads no JSON and draws its move from `legal` by the match's `seed`.
 *
 *     bot [turns] [thread | child]
 *
 * `turns` of a loop are worked through before each answer, about a nanosecond each. With the second word a
 * thread, or a child process, computes all the time, whoever's turn it is.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char input[1 << 17];
static uint32_t state;
static volatile uint64_t result;

/* Each turn needs the last one's result, so no compiler and no processor can do two at a time. */
static void work(long turns)
{
    uint64_t last = result;
    while (turns-- > 0)
        last = last * 6364136223846793005 + 1442695040888963407;
    result = last;
}

static void *forever(void *nothing)
{
    for (;;)
        work(1000000);
    return nothing;
}

static int answer(char *line, size_t length)
{
    char out[96], *at, *end, *legal;
    if (!(at = memmem(line, length, "\"turn\":\"", 8)) || !(legal = memrchr(line, '[', length)))
        return 0;
    at += 8;
    end = strchr(at, '"');
    /* Moves lie between each second pair of quotes. */
    int moves = 1;
    for (char *comma = legal; (comma = strchr(comma, ',')); comma++)
        moves++;
    state = state * 1664525 + 1013904223;
    for (int skip = (state >> 8) % moves; skip > 0; skip--)
        legal = strchr(legal + 1, ',');
    char *move = strchr(legal, '"') + 1;
    int size = snprintf(out, sizeof out, "{\"turn\":\"%.*s\",\"move\":\"%.*s\"}\n", (int)(end - at),
                        at, (int)(strchr(move, '"') - move), move);
    return write(1, out, size) < 0;
}

int main(int count, char **words)
{
    size_t held = 0;
    long turns = count > 1 ? atol(words[1]) : 0;
    pthread_t thread;
    if (count > 2 && !strcmp(words[2], "thread") && pthread_create(&thread, NULL, forever, NULL))
        return 1;
    if (count > 2 && !strcmp(words[2], "child") && fork() == 0)
        forever(NULL);
    for (;;) {
        ssize_t got = read(0, input + held, sizeof input - 1 - held);
        if (got <= 0)
            return 0;
        held += got;
        char *line = input, *end;
        while ((end = memchr(line, '\n', input + held - line))) {
            *end = 0;
            if (!strncmp(line, "{\"type\":\"act\"", 13)) {
                work(turns);
                if (answer(line, end - line))
                    return 1;
            } else if (!strncmp(line, "{\"type\":\"hello\"", 15)) {
                if (write(1, "{\"type\":\"ready\"}\n", 17) < 0)
                    return 1;
            } else if (!strncmp(line, "{\"type\":\"match\"", 15)) {
                char *seed = strstr(line, "\"seed\":");
                state = seed ? strtoul(seed + 7, NULL, 10) : 1;
            }
            line = end + 1;
        }
        held = input + held - line;
        memmove(input, line, held);
    }
}
