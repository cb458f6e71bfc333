/* Fill a disk: disk WAY MB PACE, in the working directory, resting PACE ms after each MB, so that
 * a slow disk and a fast one tell the same. Says "up", then "done N" or "refused N CALL REASON".
 *
 * What the disk holds is counted from outside as well; "held N" is said for what can't be.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP (1L << 20)

static long goal, held, pace;
static char block[STEP];

static void keep(void) {
    for (;;) pause();
}

static void done(void) {
    dprintf(1, "done %ld\n", held >> 20);
    keep();
}

static void refused(const char *call) {
    dprintf(1, "refused %ld %s %s\n", held >> 20, call, strerror(errno));
    keep();
}

/* One more has been taken: a MB, or a thousandth of it, which stands for a file. */
static void took(long size) {
    long before = held;
    held += size;
    if (held / (STEP / 16) != before / (STEP / 16)) usleep(1000 * pace * (size < STEP ? 1 : 16) / 16);
}

static int make(long number) {
    char name[64];
    snprintf(name, sizeof name, "f%ld", number);
    int fd = open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) refused("open");
    return fd;
}

static void fill(int fd, long size) {
    for (long put = 0; put < size; put += STEP) {
        if (write(fd, block, STEP) != STEP) refused("write");
        took(STEP);
        dprintf(1, "held %ld\n", held >> 20);
    }
}

int main(int count, char **words) {
    if (count < 4) return 2;
    const char *way = words[1];
    goal = atol(words[2]) << 20;
    pace = atol(words[3]);
    alarm(20);
    signal(SIGXFSZ, SIG_IGN);
    memset(block, 'x', sizeof block);
    dprintf(1, "up\n");
    if (!strcmp(way, "one")) {
        fill(make(0), goal);
    } else if (!strcmp(way, "many")) {
        for (long i = 0; held < goal; i++) {
            int fd = make(i);
            fill(fd, 4 * STEP);
            close(fd);
        }
    } else if (!strcmp(way, "deep")) {
        for (long i = 0; held < goal; i++) {
            if (mkdir("d", 0700) || chdir("d")) refused("mkdir");
            int fd = make(i);
            fill(fd, 4 * STEP);
            close(fd);
        }
    } else if (!strcmp(way, "hidden")) {
        /* In a folder that nobody may read. */
        if (mkdir("hidden", 0300) || chdir("hidden")) refused("mkdir");
        for (long i = 0; held < goal; i++) {
            int fd = make(i);
            fill(fd, 4 * STEP);
            close(fd);
        }
    } else if (!strcmp(way, "unlinked")) {
        for (long i = 0; held < goal; i++) {
            int fd = make(i);
            char name[64];
            snprintf(name, sizeof name, "f%ld", i);
            if (unlink(name)) refused("unlink");
            fill(fd, 4 * STEP);
        }
    } else if (!strcmp(way, "mapped")) {
        /* No name and no descriptor: only a mapping keeps it. */
        for (long i = 0; held < goal; i++) {
            int fd = make(i);
            char name[64];
            snprintf(name, sizeof name, "f%ld", i);
            if (unlink(name)) refused("unlink");
            fill(fd, 4 * STEP);
            if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) refused("mmap");
            close(fd);
        }
    } else if (!strcmp(way, "flight")) {
        /* No name, no descriptor, no mapping: on its way through a socket. */
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) refused("socketpair");
        for (long i = 0; held < goal; i++) {
            int fd = make(i);
            char name[64];
            snprintf(name, sizeof name, "f%ld", i);
            if (unlink(name)) refused("unlink");
            fill(fd, 4 * STEP);
            char room[CMSG_SPACE(sizeof fd)] = {0};
            struct iovec byte = {block, 1};
            struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1,
                                     .msg_control = room, .msg_controllen = sizeof room};
            struct cmsghdr *head = CMSG_FIRSTHDR(&message);
            head->cmsg_level = SOL_SOCKET;
            head->cmsg_type = SCM_RIGHTS;
            head->cmsg_len = CMSG_LEN(sizeof fd);
            memcpy(CMSG_DATA(head), &fd, sizeof fd);
            if (sendmsg(ends[0], &message, 0) != 1) refused("sendmsg");
            close(fd);
        }
    } else if (!strcmp(way, "reserved")) {
        for (long i = 0; held < goal; i++) {
            int fd = make(i);
            if (posix_fallocate(fd, 0, 4 * STEP)) refused("fallocate");
            close(fd);
            for (int i = 0; i < 4; i++) took(STEP);
        }
    } else if (!strcmp(way, "sparse")) {
        /* Takes no room, until somebody copies it. */
        if (ftruncate(make(0), goal)) refused("ftruncate");
        held = goal;
    } else if (!strcmp(way, "files") || !strcmp(way, "folders")) {
        /* MB counts thousands of entries here: what a file system can run out of. */
        char name[64];
        for (long i = 0; i < goal >> 10; i++, took(1 << 10)) {
            snprintf(name, sizeof name, "e%ld", i);
            int failed = *(way + 1) == 'i' ? mknod(name, S_IFREG | 0600, 0) : mkdir(name, 0700);
            if (failed) refused("mknod");
        }
    } else if (!strcmp(way, "links")) {
        int fd = make(0);
        fill(fd, STEP);
        char name[64];
        for (long i = 0; i < goal >> 10; i++, took(1 << 10)) {
            snprintf(name, sizeof name, "l%ld", i);
            if (link("f0", name)) refused("link");
        }
    } else {
        return 2;
    }
    done();
}
