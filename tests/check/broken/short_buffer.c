/* mistake: turn-missing
 * names: turn
 * run: cc
 */
#include <stdio.h>
#include <string.h>

/* Reads as many bytes as it has room for, and takes them for a line. */
int main(void) {
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"hello\"")) puts("{\"type\":\"ready\"}");
        if (strstr(line, "\"act\"")) puts("{\"move\":\"draw\"}");
        fflush(stdout);
    }
}
