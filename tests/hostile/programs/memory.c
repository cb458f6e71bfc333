/* Take memory in one of many ways, 8 MB at a time, until refused or until `MB` is reached.
 *
 *     memory WAY MB
 *
 * Says "up"; "held N" for memory that can't be seen in the resident set of any process; at the
 * end "done N", or "refused N CALL REASON"; then keeps what it has. Ends by itself after 20 s.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP (8L << 20)

static long goal;
static long held;

static void keep(void) {
    for (;;) pause();
}

static void refused(const char *call) {
    dprintf(1, "refused %ld %s %s\n", held >> 20, call, strerror(errno));
    keep();
}

static void hidden(void) { dprintf(1, "held %ld\n", held >> 20); }

static void done(void) {
    dprintf(1, "done %ld\n", held >> 20);
    keep();
}

static char *map(long size, int prot, int flags, int fd, long offset) {
    char *at = mmap(NULL, size, prot, flags, fd, offset);
    if (at == MAP_FAILED) refused("mmap");
    return at;
}

static void touch(char *at, long size) {
    for (long i = 0; i < size; i += 4096) at[i] = 1;
}

static void look(const char *at, long size) {
    for (long i = 0; i < size; i += 4096) (void)*(volatile const char *)(at + i);
}

static void private_map(int flags) {
    for (; held < goal; held += STEP)
        touch(map(STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0), STEP);
    done();
}

static void heap(void) {
    for (; held < goal; held += STEP) {
        if (sbrk(STEP) == (void *)-1) refused("brk");
        touch((char *)sbrk(0) - STEP, STEP);
    }
    done();
}

/* Mapped without the right to write, which is granted afterwards. */
static void promoted(void) {
    for (; held < goal; held += STEP) {
        char *at = map(STEP, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mprotect(at, STEP, PROT_READ | PROT_WRITE)) refused("mprotect");
        touch(at, STEP);
    }
    done();
}

/* One mapping that grows: its pages count for the stack, not for the data. */
static void grown(void) {
    char *at = map(goal, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_NORESERVE, -1, 0);
    for (; held < goal; held += STEP) touch(at + held, STEP);
    done();
}

static int deeper(int depth) {
    volatile char frame[1 << 16];
    memset((void *)frame, depth, sizeof frame);
    held += sizeof frame;
    return held >= goal ? depth : deeper(depth + 1) + frame[0];
}

static void stack(void) {
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_STACK, &all);
    all.rlim_cur = all.rlim_max;
    if (setrlimit(RLIMIT_STACK, &all)) refused("setrlimit");
    if (!getenv("DEEP")) { /* the place for the stack is laid out at the start of a program */
        setenv("DEEP", "1", 1);
        char text[32];
        snprintf(text, sizeof text, "%ld", goal >> 20);
        execl("/proc/self/exe", "memory", "stack", text, getenv("TOKEN"), NULL);
        refused("exec");
    }
    deeper(0);
    done();
}

/* Dirty pages of a private mapping of a file: a copy of each. */
static void copies(void) {
    int fd = open("/proc/self/exe", O_RDONLY);
    struct stat found;
    if (fd < 0 || fstat(fd, &found)) refused("open");
    long size = found.st_size & ~4095L;
    for (; held < goal; held += size)
        touch(map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0), size);
    done();
}

/* Each child holds a part that is below what one process may have. */
static void forked(int shared_first) {
    long part = goal / 8;
    char *at = NULL;
    if (shared_first) {
        at = map(part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        touch(at, part);
    }
    for (int i = 0; i < 8; i++) {
        pid_t pid = fork();
        if (pid < 0) refused("fork");
        if (pid == 0) {
            if (!at) at = map(part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            touch(at, part);
            keep();
        }
        held += part;
    }
    usleep(500000); /* the last ones are still at it */
    done();
}

/* Shared pages stay when nobody maps them into its own tables any more. */
static void shared(int fd, int prot, int away) {
    int flags = MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0);
    for (; held < goal; hidden()) {
        char *at = map(STEP, prot, flags, fd, 0);
        if (prot & PROT_WRITE) touch(at, STEP);
        else look(at, STEP);
        if (away && madvise(at, STEP, MADV_DONTNEED)) refused("madvise");
        held += STEP;
    }
    done();
}

static void zero(int prot) {
    int fd = open("/dev/zero", O_RDWR); /* read-only, a shared mapping would be a private one */
    if (fd < 0) refused("open");
    shared(fd, prot, 1);
}

/* The child that keeps the mapping has never touched it; the one that has is gone. */
static void orphaned(void) {
    for (; held < goal; hidden()) {
        char *at = map(STEP, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        pid_t pid = fork();
        if (pid < 0) refused("fork");
        if (pid == 0) {
            touch(at, STEP);
            _exit(0);
        }
        waitpid(pid, NULL, 0);
        held += STEP;
    }
    done();
}

static void memfd(void) {
    static char block[STEP];
    int fd = memfd_create("m", 0);
    if (fd < 0) refused("memfd_create");
    for (; held < goal; hidden()) {
        if (write(fd, block, STEP) != STEP) refused("write");
        held += STEP;
    }
    done();
}

static void sysv(void) {
    for (; held < goal; hidden()) {
        int id = shmget(IPC_PRIVATE, STEP, IPC_CREAT | 0600);
        if (id < 0) refused("shmget");
        char *at = shmat(id, NULL, 0);
        if (at == (char *)-1) refused("shmat");
        shmctl(id, IPC_RMID, NULL); /* it stays as long as it is attached, and not longer */
        touch(at, STEP);
        madvise(at, STEP, MADV_DONTNEED);
        held += STEP;
    }
    done();
}

/* A page of tables for each 2 MB of addresses in which the one page of zeros is read. */
static void tables(void) {
    long span = 2L << 20, region = 64L << 30;
    while (held < goal) {
        char *at = map(region, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        madvise(at, region, MADV_NOHUGEPAGE);
        for (long i = 0; i < region && held < goal; i += span, held += 4096) look(at + i, 1);
        hidden();
    }
    done();
}

/* Never read, in the buffers of sockets; one process for each thousand descriptors. */
static void sockets(int kind) {
    static char block[1 << 16];
    int room = 64 << 20, next[2];
    for (;;) {
        int ends[2];
        while (socketpair(AF_UNIX, kind | SOCK_NONBLOCK, 0, ends) == 0) {
            for (int side = 0; side < 2; side++) {
                setsockopt(ends[side], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
                ssize_t put;
                while ((put = write(ends[side], block, sizeof block)) > 0) held += put;
            }
            if (held >= goal) done();
            if (held % STEP < (1 << 20)) hidden();
        }
        if (errno != EMFILE) refused("socketpair");
        hidden();
        if (pipe(next) == 0) close(next[0]), close(next[1]);
        pid_t pid = fork();
        if (pid < 0) refused("fork");
        if (pid > 0) keep();
        closefrom(3); /* the parent keeps them; this one begins anew */
    }
}

static void pipes(void) {
    static char block[1 << 20];
    for (;;) {
        int ends[2];
        while (pipe2(ends, O_NONBLOCK) == 0) {
            fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
            ssize_t put;
            while ((put = write(ends[1], block, sizeof block)) > 0) held += put;
            if (held >= goal) done();
            if (held % STEP < (1 << 20)) hidden();
        }
        if (errno != EMFILE) refused("pipe");
        hidden();
        pid_t pid = fork();
        if (pid < 0) refused("fork");
        if (pid > 0) keep();
        closefrom(3);
    }
}

/* One small piece of each huge page stays in a pipe: the whole of it stays in memory. */
static void pinned(void) {
    long huge = 2L << 20;
    int ends[2] = {-1, -1};
    for (long count = 0; held < goal; count++) {
        if (count % 16 == 0 && pipe2(ends, O_NONBLOCK)) refused("pipe");
        char *at = map(2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char *page = (char *)(((uintptr_t)at + huge - 1) & ~(huge - 1));
        madvise(page, huge, MADV_HUGEPAGE);
        touch(page, huge);
        struct iovec piece = {page, 4096};
        if (vmsplice(ends[1], &piece, 1, 0) != 4096) refused("vmsplice");
        munmap(at, 2 * huge);
        held += huge;
        hidden();
    }
    done();
}

/* Files in the scratch space, and file by file what the file system needs for an empty one. */
static void scratch(int empty) {
    static char block[1 << 20];
    const char *place = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    char name[256];
    for (long i = 0; held < goal; i++) {
        snprintf(name, sizeof name, "%s/f%ld", place, i);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        if (fd < 0) refused("open");
        if (empty) {
            held += 1024; /* an inode and a directory entry */
        } else {
            ssize_t put = write(fd, block, sizeof block);
            if (put < 0) refused("write");
            held += put;
        }
        close(fd);
        if (i % 1024 == 0) hidden();
    }
    done();
}

int main(int count, char **words) {
    if (count < 3) return 2;
    const char *way = words[1];
    goal = atol(words[2]) << 20;
    alarm(20);
    dprintf(1, "up\n");
    /* Who can't be looked into must be judged by what can be seen. */
    if (getenv("VEILED")) prctl(PR_SET_DUMPABLE, 0);
    int rw = PROT_READ | PROT_WRITE;
    if (!strcmp(way, "touch")) private_map(0);
    if (!strcmp(way, "heap")) heap();
    if (!strcmp(way, "promoted")) promoted();
    if (!strcmp(way, "grown")) grown();
    if (!strcmp(way, "stack")) stack();
    if (!strcmp(way, "copies")) copies();
    if (!strcmp(way, "fork")) forked(0);
    if (!strcmp(way, "fork-copies")) forked(1);
    if (!strcmp(way, "shared")) shared(-1, rw, 0);
    if (!strcmp(way, "shared-away")) shared(-1, rw, 1);
    if (!strcmp(way, "shared-read")) shared(-1, PROT_READ, 1);
    if (!strcmp(way, "shared-orphaned")) orphaned();
    if (!strcmp(way, "zero")) zero(rw);
    if (!strcmp(way, "zero-read")) zero(PROT_READ);
    if (!strcmp(way, "memfd")) memfd();
    if (!strcmp(way, "sysv")) sysv();
    if (!strcmp(way, "tables")) tables();
    if (!strcmp(way, "sockets")) sockets(SOCK_STREAM);
    if (!strcmp(way, "datagrams")) sockets(SOCK_DGRAM);
    if (!strcmp(way, "pipes")) pipes();
    if (!strcmp(way, "pinned")) pinned();
    if (!strcmp(way, "scratch")) scratch(0);
    if (!strcmp(way, "scratch-empty")) scratch(1);
    return 2;
}
