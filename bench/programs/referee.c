/* A referee in C without rules: the floor for what a referee over pipes can cost.
 *
 *     referee CONVERSATION TIMES BOT [ARGUMENT...]
 *
 * Replays a recorded conversation of a two-seat event with two processes of BOT: each line of the
 * file is a seat's digit and the line that this seat is sent. After a question (an `act`), and after
 * the first line of each, it waits for a line. It does what nobody can leave out: non-blocking
 * pipes, epoll, a deadline for each decision that covers the write and the read, whole lines. It
 * knows no rule, reads no JSON and keeps nothing. The first replay warms up. Prints wall and own CPU
 * time a decision in microseconds. Whoever starts it says on which core.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SEATS = 2, MOVE_MS = 1000, START_MS = 10000 };

struct seat {
    int in, out;
    size_t held;
    double deadline; /* 0: nothing is wanted */
    char line[1 << 16];
};

struct line {
    char *text;
    size_t bytes;
    int seat, wants;
};

static struct seat seats[SEATS];
static int epoll;

static double clock_us(clockid_t which)
{
    struct timespec at;
    clock_gettime(which, &at);
    return at.tv_sec * 1e6 + at.tv_nsec / 1e3;
}

static void die(const char *why)
{
    fprintf(stderr, "referee: %s\n", why);
    exit(1);
}

static void start(int number, char **bot)
{
    struct seat *seat = &seats[number];
    int there[2], back[2];
    if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
        die("no pipes");
    if (fork() == 0) {
        dup2(there[0], 0);
        dup2(back[1], 1);
        execv(bot[0], bot);
        _exit(127);
    }
    close(there[0]);
    close(back[1]);
    seat->in = there[1];
    seat->out = back[0];
    fcntl(seat->in, F_SETFL, O_NONBLOCK);
    fcntl(seat->out, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    epoll_ctl(epoll, EPOLL_CTL_ADD, seat->out, &event);
}

/* Milliseconds to the nearest deadline of all seats. */
static int left(void)
{
    double nearest = 0;
    for (int each = 0; each < SEATS; each++)
        if (seats[each].deadline && (!nearest || seats[each].deadline < nearest))
            nearest = seats[each].deadline;
    double ms = (nearest - clock_us(CLOCK_MONOTONIC)) / 1e3;
    return ms < 0 ? 0 : (int)ms + 1;
}

/* Read what has come; a whole line settles what the seat was asked. */
static void hear(struct seat *seat)
{
    ssize_t got = read(seat->out, seat->line + seat->held, sizeof seat->line - seat->held);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0)
        die("a bot has gone");
    seat->held += got;
    char *end = memchr(seat->line, '\n', seat->held);
    if (!end) {
        if (seat->held == sizeof seat->line)
            die("a line is too long");
        return;
    }
    if (clock_us(CLOCK_MONOTONIC) > seat->deadline)
        die("an answer is late");
    seat->held -= end + 1 - seat->line;
    memmove(seat->line, end + 1, seat->held);
    seat->deadline = 0;
}

static void say(struct line *line, int limit_ms)
{
    struct seat *seat = &seats[line->seat];
    if (line->wants)
        seat->deadline = clock_us(CLOCK_MONOTONIC) + limit_ms * 1e3;
    if (write(seat->in, line->text, line->bytes) != (ssize_t)line->bytes)
        die("a bot doesn't read");
    while (seat->deadline) {
        struct epoll_event events[SEATS];
        int ready = epoll_wait(epoll, events, SEATS, left());
        if (ready == 0)
            die("no answer in time");
        for (int each = 0; each < ready; each++)
            hear(&seats[events[each].data.u32]);
    }
}

int main(int count, char **words)
{
    if (count < 4)
        die("CONVERSATION TIMES BOT [ARGUMENT...]");
    signal(SIGPIPE, SIG_IGN);
    FILE *file = fopen(words[1], "rb");
    struct stat about;
    if (!file || fstat(fileno(file), &about))
        die("no conversation");
    char *text = malloc(about.st_size + 1), *at = text, *last = text + about.st_size;
    if (fread(text, 1, about.st_size, file) != (size_t)about.st_size)
        die("the conversation can't be read");
    long times = atol(words[2]), lines = 0, decisions = 0;
    for (char *each = text; each < last; each++)
        lines += *each == '\n';
    struct line *said = calloc(lines, sizeof *said);
    for (long each = 0; each < lines; each++) {
        char *end = memchr(at, '\n', last - at);
        said[each].seat = *at - '0';
        said[each].text = at + 1;
        said[each].bytes = end - at;
        said[each].wants = !strncmp(at + 1, "{\"type\":\"act\"", 13);
        decisions += said[each].wants;
        at = end + 1;
    }
    epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int each = 0; each < SEATS; each++)
        start(each, words + 3);
    for (int each = 0; each < SEATS; each++) {
        said[each].wants = 1;
        say(&said[each], START_MS);
    }
    double wall = 0, used = 0;
    for (long time = -1; time < times; time++) {
        if (time == 0) {
            wall = clock_us(CLOCK_MONOTONIC);
            used = clock_us(CLOCK_PROCESS_CPUTIME_ID);
        }
        for (long each = SEATS; each < lines; each++)
            say(&said[each], MOVE_MS);
    }
    wall = clock_us(CLOCK_MONOTONIC) - wall;
    used = clock_us(CLOCK_PROCESS_CPUTIME_ID) - used;
    printf("{\"wall_us\":%.4f,\"cpu_us\":%.4f,\"decisions\":%ld}\n", wall / decisions / times,
           used / decisions / times, decisions);
    return 0;
}
