// Changes what is known about a file of its own user, without writing into it.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <linux/fs.h>
#include <unistd.h>

int main(int count, char **argument) {
    const char *how = argument[1], *path = argument[2];
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    int fd = open(path, O_RDONLY), result = -1, flags = 0;
    if (!strcmp(how, "chmod"))
        result = chmod(path, 0666) && fchmod(fd, 0666) &&
                 syscall(452, AT_FDCWD, path, 0666, 0);  // fchmodat2
    else if (!strcmp(how, "chown"))
        result = chown(path, getuid(), -1) && fchown(fd, getuid(), -1) &&
                 fchownat(fd, "", getuid(), -1, AT_EMPTY_PATH);
    else if (!strcmp(how, "times"))
        result = utimensat(AT_FDCWD, path, times, 0) && futimens(fd, times);
    else if (!strcmp(how, "xattr"))
        result = setxattr(path, "user.arena", "x", 1, 0) &&
                 fsetxattr(fd, "user.arena", "x", 1, 0);
    else if (!strcmp(how, "flags"))
        result = ioctl(fd, FS_IOC_GETFLAGS, &flags) ||
                 (flags ^= FS_NODUMP_FL, ioctl(fd, FS_IOC_SETFLAGS, &flags));
    printf(result ? "HELD %s\n" : "BROKE %s\n", result ? strerror(errno) : how);
}
