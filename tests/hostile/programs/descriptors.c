/* Open files without end: descriptors WAY COUNT. Says "done N" or "refused N CALL REASON". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int held;

static void end(const char *word, const char *call) {
    dprintf(1, "%s %d %s %s\n", word, held, call, strerror(errno));
    for (;;) pause();
}

int main(int count, char **words) {
    if (count < 3) return 2;
    const char *way = words[1];
    int goal = atoi(words[2]), ends[2];
    alarm(20);
    dprintf(1, "up\n");
    struct rlimit all;
    getrlimit(RLIMIT_NOFILE, &all);
    all.rlim_cur = all.rlim_max;
    setrlimit(RLIMIT_NOFILE, &all);
    if (!strcmp(way, "raised")) {
        all.rlim_cur = all.rlim_max = goal + 16;
        if (setrlimit(RLIMIT_NOFILE, &all)) end("refused", "setrlimit");
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends)) end("refused", "socketpair");
    for (; held < goal; held++) {
        int fd = open("/dev/null", O_RDONLY);
        if (fd < 0) end("refused", "open");
        if (strcmp(way, "flight")) continue;
        /* What is on its way through a socket is in nobody's table. */
        char room[CMSG_SPACE(sizeof fd)] = {0}, letter = 'x';
        struct iovec byte = {&letter, 1};
        struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1,
                                 .msg_control = room, .msg_controllen = sizeof room};
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
        if (sendmsg(ends[0], &message, 0) != 1) {
            if (errno != EAGAIN) end("refused", "sendmsg");
            if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends))
                end("refused", "socketpair");
            held--;
        }
        close(fd);
    }
    end("done", way);
}
