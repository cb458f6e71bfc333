/* Two programs in ping-pong over pipes on one core: the unit of this bench.
 *
 *     pingpong EXCHANGES REQUEST_BYTES ANSWER_BYTES
 *
 * The asker writes a request and waits for the answer, the answerer the other way round; both block
 * in read(). Prints the wall time of an exchange and the CPU time of the asker's side, in
 * microseconds. Whoever starts it says on which core.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1e6 + at.tv_nsec / 1e3;
}

static double cpu(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return at.tv_sec * 1e6 + at.tv_nsec / 1e3;
}

/* Read exactly so many bytes; 0 at the end of the input. */
static int take(int fd, char *to, size_t bytes)
{
    while (bytes > 0) {
        ssize_t got = read(fd, to, bytes);
        if (got <= 0)
            return 0;
        to += got;
        bytes -= got;
    }
    return 1;
}

int main(int count, char **words)
{
    static char request[1 << 16], answer[1 << 16];
    int there[2], back[2];
    long exchanges = count > 1 ? atol(words[1]) : 100000;
    size_t asked = count > 2 ? atol(words[2]) : 400, answered = count > 3 ? atol(words[3]) : 40;
    if (asked > sizeof request || answered > sizeof answer || pipe(there) || pipe(back))
        return 1;
    if (fork() == 0) {
        close(there[1]);
        close(back[0]);
        while (take(there[0], request, asked))
            if (write(back[1], answer, answered) < 0)
                return 1;
        return 0;
    }
    close(there[0]);
    close(back[1]);
    for (int warm = 0; warm < 1000; warm++)
        if (write(there[1], request, asked) < 0 || !take(back[0], answer, answered))
            return 1;
    double wall = now(), used = cpu();
    for (long done = 0; done < exchanges; done++)
        if (write(there[1], request, asked) < 0 || !take(back[0], answer, answered))
            return 1;
    wall = now() - wall;
    used = cpu() - used;
    close(there[1]);
    wait(NULL);
    printf("{\"wall_us\":%.4f,\"cpu_us\":%.4f}\n", wall / exchanges, used / exchanges);
    return 0;
}
