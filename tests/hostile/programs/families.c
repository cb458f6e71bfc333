// Which address families give a socket of whatever type, other than local ones?
#include <stdio.h>
#include <sys/socket.h>

int main(void) {
    int found = 0;
    for (int family = 0; family < 46; family++)
        for (int type = 1; type <= 6; type++)
            if (family != AF_UNIX && socket(family, type, 0) >= 0) {
                printf(found++ ? " %d/%d" : "BROKE family/type %d/%d", family, type);
            }
    puts(found ? "" : "HELD local sockets alone");
}
