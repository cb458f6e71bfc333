/* Threads, mutexes, thread-local storage, fork, pipes, poll, timers, a large heap, a deep stack. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int mine;
static int all;
static volatile sig_atomic_t ticks;

static void *work(void *unused) {
    for (int i = 0; i < 10000; i++) {
        pthread_mutex_lock(&lock);
        all++, mine++;
        pthread_mutex_unlock(&lock);
    }
    assert(mine == 10000);
    return unused;
}

static void tick(int number) { ticks += number == SIGALRM; }

static int depth(int n) {
    volatile char frame[512];
    frame[0] = 1;
    return n == 0 ? 0 : frame[0] + depth(n - 1);
}

int main(void) {
    pthread_t made[16];
    for (int i = 0; i < 16; i++) assert(pthread_create(&made[i], NULL, work, NULL) == 0);
    for (int i = 0; i < 16; i++) assert(pthread_join(made[i], NULL) == 0);
    assert(all == 160000);

    size_t size = 200u << 20; /* of 512 */
    char *heap = malloc(size);
    assert(heap);
    memset(heap, 1, size);
    free(heap);
    assert(depth(8000) == 8000);

    char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(code != MAP_FAILED && mprotect(code, 4096, PROT_READ | PROT_EXEC) == 0);
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert(fd >= 0 && mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
    assert(madvise(code, 4096, MADV_DONTNEED) == 0);

    for (int i = 0; i < 40; i++) {
        int ends[2];
        assert(pipe2(ends, O_CLOEXEC) == 0);
        pid_t pid = fork();
        assert(pid >= 0);
        if (pid == 0) _exit(write(ends[1], "x", 1) == 1 ? 7 : 1);
        struct pollfd wanted = {ends[0], POLLIN, 0};
        assert(poll(&wanted, 1, 10000) == 1);
        int status;
        assert(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
        close(ends[0]), close(ends[1]);
    }
    int pair[2];
    assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    assert(send(pair[0], "x", 1, 0) == 1);
    int many = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    assert(epoll_ctl(many, EPOLL_CTL_ADD, pair[1], &event) == 0);
    assert(epoll_wait(many, &event, 1, 1000) == 1);
    assert(eventfd(0, EFD_CLOEXEC) >= 0);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
    unsigned long fired;
    assert(timerfd_settime(timer, 0, &soon, NULL) == 0 && read(timer, &fired, 8) == 8);
    sem_t unnamed;
    assert(sem_init(&unnamed, 0, 1) == 0 && sem_wait(&unnamed) == 0);

    struct sigaction action = {.sa_handler = tick};
    assert(sigaction(SIGALRM, &action, NULL) == 0);
    timer_t own;
    struct sigevent told = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    assert(timer_create(CLOCK_MONOTONIC, &told, &own) == 0);
    assert(timer_settime(own, 0, &soon, NULL) == 0);
    while (!ticks) usleep(1000);
    struct rusage used;
    assert(getrusage(RUSAGE_SELF, &used) == 0);
    char noise[16];
    assert(getrandom(noise, sizeof noise, 0) == sizeof noise);
    puts("OK");
}
