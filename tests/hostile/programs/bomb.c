/* A bomb that doubles: bomb WAY DEPTH makes 2**DEPTH tasks, and ends after 20 s. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void refused(const char *call, int number) {
    dprintf(1, "refused %s %s\n", call, strerror(number));
}

static void *wait_for_end(void *unused) {
    for (;;) pause();
    return unused;
}

static void threads(int depth) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 15);
    for (long i = 1; i < 1L << depth; i++) {
        pthread_t made;
        int number = pthread_create(&made, &small, wait_for_end, NULL);
        if (number) {
            refused("pthread_create", number);
            break;
        }
    }
}

static void forks(int depth) {
    for (int i = 0; i < depth; i++) {
        pid_t pid = fork();
        if (pid < 0) {
            refused("fork", errno);
            break;
        }
        if (pid == 0) alarm(20);
    }
}

/* Each round forks and leaves: nobody who looks at it is ever there when the next one comes. */
static void comets(int depth) {
    time_t end = time(NULL) + 15;
    for (int i = 0; i < depth; i++)
        if (fork() == 0) depth = 0; /* so many comets at a time */
    while (time(NULL) < end) {
        pid_t pid = fork();
        if (pid > 0) _exit(0);
        if (pid == 0 && fork() == 0) setsid(), _exit(0);
    }
    _exit(0);
}

int main(int count, char **words) {
    if (count < 3) return 2;
    int depth = atoi(words[2]);
    alarm(20);
    signal(SIGCHLD, SIG_IGN);
    dprintf(1, "up\n");
    if (!strcmp(words[1], "threads")) threads(depth);
    else if (!strcmp(words[1], "forks")) forks(depth);
    else {
        if (fork() == 0) comets(depth);
    }
    wait_for_end(NULL);
}
