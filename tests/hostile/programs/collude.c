// Tells a word from one sandbox to another by what the kernel keeps for all alike.
//   collude CHANNEL WHERE send WORD      collude CHANNEL WHERE receive BITS
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_US 1000

static char word[64];

static void held(const char *what) {
    printf("HELD %s: %s\n", what, strerror(errno));
    exit(0);
}

static void ready(void) {
    puts("ready");
    fflush(stdout);
}

static void stay(void) {
    ready();
    sleep(30);
    exit(0);
}

static const char *bit_file(const char *folder, int bit) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/bit%d", folder, bit);
    return path;
}

// System V shared memory: WHERE is a hexadecimal number, the key.
static void sysv(const char *where, int send) {
    int id = shmget(strtoul(where, 0, 16), 64, send ? IPC_CREAT | 0666 : 0666);
    char *shared = id < 0 ? (void *)-1 : shmat(id, 0, send ? 0 : SHM_RDONLY);
    if (shared == (void *)-1)
        held("shm");
    if (send) {
        strcpy(shared, word);
        stay();
    }
    strncpy(word, shared, 63);
    shmctl(id, IPC_RMID, 0);
}

// A POSIX message queue: WHERE is its name.
static void queue(const char *where, int send) {
    char name[256];
    snprintf(name, sizeof name, "/arena-collude-%s", where);
    struct mq_attr small = {.mq_maxmsg = 1, .mq_msgsize = 63};
    mqd_t found = send ? mq_open(name, O_CREAT | O_WRONLY, 0666, &small)
                       : mq_open(name, O_RDONLY | O_NONBLOCK);
    if (found < 0)
        held("mq_open");
    if (send) {
        mq_send(found, word, strlen(word), 0);
        stay();
    }
    if (mq_receive(found, word, 63, 0) < 0)
        held("mq_receive");
    mq_unlink(name);
}

// The keyring of the user, which outlives every process: WHERE is the name of the key.
static void keyring(const char *where, int send) {
    enum { USER_KEYRING = -4, UNLINK = 9, SEARCH = 10, READ = 11, TIMEOUT = 15 };
    if (send) {
        int key = syscall(SYS_add_key, "user", where, word, strlen(word), USER_KEYRING);
        if (key < 0)
            held("add_key");
        syscall(SYS_keyctl, TIMEOUT, key, 20);
        stay();
    }
    int key = syscall(SYS_keyctl, SEARCH, USER_KEYRING, "user", where, 0);
    if (key < 0 || syscall(SYS_keyctl, READ, key, word, 63) < 0)
        held("keyctl");
    syscall(SYS_keyctl, UNLINK, key, USER_KEYRING);
}

// A lease on a file lets its holder know, and an opener feel, that the other is there.
static void lease(const char *where, int send) {
    int bits = send ? strlen(word) : atoi(word);
    signal(SIGIO, SIG_IGN);
    for (int bit = 0; bit < bits; bit++) {
        int fd = send && word[bit] == '0' ? 0 : open(bit_file(where, bit), O_RDONLY | O_NONBLOCK);
        if (send && word[bit] == '1' && fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
            held("lease");
        if (!send)
            word[bit] = fd < 0 && errno == EWOULDBLOCK ? '1' : '0';
    }
    if (send)
        stay();
}

// Watching who opens the system's own files.
static void watch(const char *where, int send) {
    int bits = send ? strlen(word) : atoi(word), seen[64] = {0};
    if (send) {
        ready();
        for (;; usleep(PERIOD_US))
            for (int bit = 0; bit < bits; bit++)
                if (word[bit] == '1')
                    close(open(bit_file(where, bit), O_RDONLY));
    }
    int fd = inotify_init1(IN_NONBLOCK);
    if (fd < 0)
        held("inotify");
    for (int bit = 0; bit < bits; bit++) {
        int number = inotify_add_watch(fd, bit_file(where, bit), IN_OPEN | IN_CLOSE);
        if (number < 0)
            held("inotify_add_watch");
        seen[bit] = -number;
    }
    usleep(300000);
    struct inotify_event events[512];
    for (ssize_t size; (size = read(fd, events, sizeof events)) > 0;)
        for (int at = 0; at < size / (ssize_t)sizeof *events; at++)
            for (int bit = 0; bit < bits; bit++)
                if (abs(seen[bit]) == events[at].wd)
                    seen[bit] = abs(seen[bit]);
    for (int bit = 0; bit < bits; bit++)
        word[bit] = seen[bit] > 0 ? '1' : '0';
}

// A futex in a file that both can only read: who sleeps there can be woken by the other.
static void futex(const char *where, int send) {
    int bits = send ? strlen(word) : atoi(word);
    int fd = open(where, O_RDONLY);
    int *page = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        held("mmap");
    if (send) {
        ready();
        for (;; usleep(PERIOD_US))
            for (int bit = 0; bit < bits; bit++)
                if (word[bit] == '1')
                    syscall(SYS_futex, page + bit, FUTEX_WAKE, 99, 0, 0, 0);
    }
    for (int bit = 0; bit < bits; bit++) {
        struct timespec patience = {.tv_nsec = 100000000};
        int woken = syscall(SYS_futex, page + bit, FUTEX_WAIT, page[bit], &patience, 0, 0);
        if (woken < 0 && errno != ETIMEDOUT)
            held("futex");
        word[bit] = woken == 0 ? '1' : '0';
    }
}

int main(int count, char **argument) {
    static const struct {
        const char *name;
        void (*run)(const char *, int);
    } channels[] = {{"sysv", sysv},   {"queue", queue}, {"keyring", keyring},
                    {"lease", lease}, {"watch", watch}, {"futex", futex}};
    strncpy(word, argument[4], 63);
    for (int i = 0; i < 6; i++)
        if (!strcmp(argument[1], channels[i].name))
            channels[i].run(argument[2], !strcmp(argument[3], "send"));
    printf("BROKE %s\n", word);
}
