// Gets at another process: traces it, reads its memory, takes its open files.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char found[32];

static int trace(pid_t pid, char *address) {
    if (ptrace(PTRACE_SEIZE, pid, 0, 0) < 0)
        return -1;
    ptrace(PTRACE_INTERRUPT, pid, 0, 0);
    waitpid(pid, 0, __WALL);
    for (int at = 0; at < 24; at += sizeof(long)) {
        long word = ptrace(PTRACE_PEEKDATA, pid, address + at, 0);
        memcpy(found + at, &word, sizeof word);
    }
    return ptrace(PTRACE_DETACH, pid, 0, 0);
}

static int child(void) {
    pid_t pid = fork();
    if (!pid) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) == 0)
            raise(SIGSTOP);
        _exit(errno);
    }
    int status;
    waitpid(pid, &status, 0);
    if (!WIFSTOPPED(status)) {
        errno = WEXITSTATUS(status);
        return -1;
    }
    strcpy(found, "a child is traced");
    return kill(pid, SIGKILL);
}

static int readv_from(pid_t pid, void *address) {
    struct iovec here = {found, 24}, there = {address, 24};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == 24 ? 0 : -1;
}

static int take(pid_t pid, int number) {
    int handle = syscall(SYS_pidfd_open, pid, 0);
    int fd = handle < 0 ? -1 : syscall(438, handle, number, 0);
    return fd < 0 ? -1 : pread(fd, found, 24, 0) == 24 ? 0 : -1;
}

int main(int count, char **argument) {
    const char *how = argument[1];
    pid_t pid = count > 2 ? atoi(argument[2]) : 0;
    unsigned long what = count > 3 ? strtoul(argument[3], 0, 10) : 0;
    int result = !strcmp(how, "trace")   ? trace(pid, (char *)what)
                 : !strcmp(how, "child") ? child()
                 : !strcmp(how, "read")  ? readv_from(pid, (void *)what)
                                         : take(pid, what);
    printf(result ? "HELD %s\n" : "BROKE %s\n", result ? strerror(errno) : found);
}
