/* What a C program may ask of an ordinary machine: threads, locks, signals, children, pipes. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile sig_atomic_t alarms;
static int turns;

static void *take_turns(void *mine) {
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&lock);
        while (turns % 4 != *(int *)mine) pthread_cond_wait(&changed, &lock);
        turns++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *wait_forever(void *none) { pause(); return none; }
static void on_signal(int number) { (void)number; alarms++; }

#define MUST(what) if (!(what)) { printf("failed: %s: %s\n", #what, strerror(errno)); return 1; }

int main(void) {
    pthread_t threads[4], idle;
    int numbers[4] = {0, 1, 2, 3}, ends[2], status;
    for (int i = 0; i < 4; i++) MUST(!pthread_create(&threads[i], NULL, take_turns, &numbers[i]));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    MUST(turns == 4000);
    MUST(!pthread_create(&idle, NULL, wait_forever, NULL));
    MUST(!pthread_cancel(idle));
    MUST(!pthread_join(idle, NULL));
    signal(SIGUSR1, on_signal);
    MUST(!raise(SIGUSR1));
    MUST(!kill(getpid(), SIGUSR1));
    MUST(!kill(0, 0));
    MUST(!sigqueue(getpid(), SIGUSR1, (union sigval){0}));
    MUST(alarms == 3);
    MUST(!pipe(ends));
    pid_t child;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    MUST(!posix_spawnp(&child, "echo", &actions, NULL, (char *[]){"echo", "child", NULL}, environ));
    MUST(waitpid(child, &status, 0) == child && status == 0);
    char text[7] = "";
    MUST(read(ends[0], text, 6) == 6 && !strcmp(text, "child\n"));
    if ((child = fork()) == 0) abort();
    MUST(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    int poller = epoll_create1(EPOLL_CLOEXEC), event = eventfd(1, EFD_CLOEXEC);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct itimerspec soon = {.it_value.tv_nsec = 1};
    struct epoll_event wanted = {.events = EPOLLIN}, got[2];
    MUST(!timerfd_settime(timer, 0, &soon, NULL));
    MUST(!epoll_ctl(poller, EPOLL_CTL_ADD, event, &wanted));
    MUST(!epoll_ctl(poller, EPOLL_CTL_ADD, timer, &wanted));
    MUST(epoll_wait(poller, got, 2, 5000) >= 1);
    size_t size = 8 << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(memory != MAP_FAILED);
    memset(memory, 1, size);
    MUST(!madvise(memory, size, MADV_DONTNEED));
    sem_t counter;
    MUST(!sem_init(&counter, 0, 1));
    MUST(!sem_wait(&counter));
    printf("all well\n");
    return 0;
}
