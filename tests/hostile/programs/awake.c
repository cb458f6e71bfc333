/* Burn time, and have timers of the kernel's send SIGCONT for the next second and a half, always. */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { TIMERS = 50, APART_MS = 30 };

int main(void) {
    timer_t timers[TIMERS];
    struct sigevent wake = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
    for (int i = 0; i < TIMERS; i++)
        if (timer_create(CLOCK_MONOTONIC, &wake, &timers[i])) {
            puts("refused");
            return 1;
        }
    alarm(60);
    if (write(1, "up\n", 3) != 3) return 1;
    for (;;) {
        for (int i = 0; i < TIMERS; i++) {
            long at = (i + 1L) * APART_MS * 1000000L;
            struct itimerspec once = {.it_value = {at / 1000000000L, at % 1000000000L}};
            timer_settime(timers[i], 0, &once, NULL);
        }
        for (volatile unsigned turn = 0; turn < 1000000; turn++) {
        }
    }
}
