// Lets signals pend until the kernel has no room for more of the same user's.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **argument) {
    if (!strcmp(argument[1], "receive")) {
        puts("BROKE as many signals pend as may");
        return 0;
    }
    union sigval nothing = {0};
    sigset_t queued;
    sigemptyset(&queued);
    sigaddset(&queued, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &queued, 0);
    for (int made = 0; made < 500000 && sigqueue(getpid(), SIGRTMIN, nothing) == 0; made++)
        continue;
    puts("ready");
    fflush(stdout);
    sleep(30);
}
