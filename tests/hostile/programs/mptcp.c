// Connects by Multipath TCP, which some filters of plain TCP don't know.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <unistd.h>

int main(int count, char **argument) {
    char said[100] = "";
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(atoi(argument[1]))};
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 262);
    if (fd < 0 || connect(fd, (struct sockaddr *)&there, sizeof there) < 0)
        printf("HELD %s\n", strerror(errno));
    else if (read(fd, said, 99) > 0)
        printf("BROKE %s", said);
    else
        printf("HELD nothing was said\n");
}
