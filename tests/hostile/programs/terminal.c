// Types into a terminal of the user, who would then have given the command.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(int count, char **argument) {
    const char *places[] = {argument[1], "/dev/tty", "/proc/self/fd/0", "/proc/self/fd/2"};
    const char *why = "no terminal";
    if (getsid(0) != getpid())
        setsid();
    for (int i = 0; i < 4; i++) {
        int fd = open(places[i], O_RDWR | O_NONBLOCK);
        if (fd >= 0 && isatty(fd)) {
            ioctl(fd, TIOCSCTTY, 0);
            if (ioctl(fd, TIOCSTI, "x") == 0) {
                puts("BROKE typed a letter");
                return 0;
            }
            why = strerror(errno);
        }
    }
    printf("HELD %s\n", why);
}
