/* Burn time: spin COUNT processes at it, each for 20 s at most. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count < 2) return 2;
    for (int i = 1; i < atoi(words[1]); i++)
        if (fork() == 0) break;
    alarm(20);
    if (write(1, "up\n", 3) != 3) return 1;
    for (volatile unsigned long turn = 0;; turn++) {
    }
}
