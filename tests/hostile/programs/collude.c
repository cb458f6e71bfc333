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
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
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

// A file's time of last reading changes when it is read, even by whoever may do no more.
static void times(const char *where, int send) {
    int bits = send ? strlen(word) : atoi(word);
    for (int bit = 0; bit < bits; bit++) {
        struct stat fact;
        char byte;
        int fd = send && word[bit] == '0' ? -1 : open(bit_file(where, bit), O_RDONLY);
        if (send)
            read(fd, &byte, 1);
        else if (fstat(fd, &fact) < 0)
            held("stat");
        else
            word[bit] = fact.st_atime > fact.st_mtime ? '1' : '0';
    }
    if (send)
        stay();
}

// Which pages of a file are in memory: those that somebody has read.
static void pages(const char *where, int send) {
    enum { REGION = 1 << 18 };
    int bits = send ? strlen(word) : atoi(word);
    int fd = open(where, O_RDONLY);
    volatile char *file = mmap(0, bits * REGION, PROT_READ, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED)
        held("mmap");
    madvise((void *)file, bits * REGION, MADV_RANDOM);
    for (int bit = 0; bit < bits; bit++) {
        unsigned char there = 0;
        if (send && word[bit] == '1')
            (void)file[bit * REGION];
        if (!send && mincore((void *)(file + bit * REGION), 1, &there) < 0)
            held("mincore");
        if (!send)
            word[bit] = there & 1 ? '1' : '0';
    }
    if (send)
        stay();
}

// Processes in groups of their own or not: WHERE is the sender's number.
static void groups(const char *where, int send) {
    if (send) {
        for (int bit = 0; word[bit]; bit++)
            if (fork() == 0) {
                if (word[bit] == '1')
                    setpgid(0, 0);
                if (!word[bit + 1])
                    ready();
                pause();
            }
        sleep(30);
        exit(0);
    }
    int sender = atoi(where), bits = atoi(word), bit = 0;
    for (int pid = sender + 1; bit < bits && pid < sender + 20000; pid++)
        if (getsid(pid) == sender)
            word[bit++] = getpgid(pid) == pid ? '1' : '0';
    if (bit == 0)
        held("getsid");
    word[bit] = 0;
}

// Descriptors on their way through sockets are counted by user, and limited for all of a user's.
static int pass_on(int fd, int socket, int number) {
    int copies[250];
    char control[CMSG_SPACE(sizeof copies)] = {0};
    struct iovec byte = {"x", 1};
    struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = CMSG_SPACE(number * sizeof fd)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(number * sizeof fd);
    for (int i = 0; i < number; i++)
        copies[i] = fd;
    memcpy(CMSG_DATA(header), copies, number * sizeof fd);
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void flight(const char *where, int send) {
    int pair[2], passed = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        held("socketpair");
    if (send) {
        if (pass_on(0, pair[0], atoi(word)) < 0)
            held("sendmsg");
        stay();
    }
    // The count may be one above the limit.
    struct rlimit most;
    getrlimit(RLIMIT_NOFILE, &most);
    while (passed < 2000 && pass_on(0, pair[0], 1) > 0)
        passed++;
    snprintf(word, sizeof word, "number %d.", (int)most.rlim_cur + 1 - passed);
}

// The pages of all of a user's pipes are counted too: past a limit new pipes are small.
static void pipes(const char *where, int send) {
    int ends[2], made = 0;
    if (!send) {
        if (pipe(ends) < 0)
            held("pipe");
        printf(fcntl(ends[0], F_GETPIPE_SZ) < 65536 ? "BROKE pipes are small\n"
                                                    : "HELD pipes are as ever\n");
        exit(0);
    }
    for (int process = 0; process < 12; process++) {
        int done[2], kept = 0;
        pipe(done);
        if (fork() == 0) {
            while (kept++ < 110 && pipe(ends) == 0)
                continue;
            write(done[1], "x", 1);
            pause();
        }
        char byte;
        read(done[0], &byte, 1);
    }
    stay();
}

int main(int count, char **argument) {
    static const struct {
        const char *name;
        void (*run)(const char *, int);
    } channels[] = {{"sysv", sysv},   {"queue", queue}, {"keyring", keyring},
                    {"lease", lease}, {"watch", watch}, {"futex", futex},
                    {"times", times}, {"pages", pages}, {"groups", groups},
                    {"flight", flight}, {"pipes", pipes}};
    strncpy(word, argument[4], 63);
    for (int i = 0; i < 11; i++)
        if (!strcmp(argument[1], channels[i].name))
            channels[i].run(argument[2], !strcmp(argument[3], "send"));
    printf("BROKE %s\n", word);
}
