/* mistake: buffered
 * names: setvbuf
 * run: cc
 */
#include <stdio.h>
#include <string.h>

int main(void) {
    static char line[40000];
    while (fgets(line, sizeof line, stdin))
        if (strstr(line, "\"hello\"")) puts("{\"type\":\"ready\"}");
}
