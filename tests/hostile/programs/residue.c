// What a program that is gone has left in memory: one reads pages of FILE, a STRIDE apart, for the
// bits of a word that are 1; later another finds out which of them need the disk.
//
//     residue FILE STRIDE send WORD
//     residue FILE STRIDE faults BITS     by its own major page faults
//     residue FILE STRIDE time BITS       by how long a read of one byte takes
//     residue FILE STRIDE blocks BITS     by the blocks that it has had read
//
// Likewise with names beside FILE that don't exist, KEY in them, which the kernel remembers too:
//
//     residue FILE KEY seek WORD
//     residue FILE KEY names BITS         by how long it takes to be told that there is none
//
// The last line is "word 0110…", or "HELD" with what was refused.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DISK_NS = 25000 };  // a page that is there takes 1 µs, one of the fastest disks 50

static void held(const char *what) {
    printf("HELD %s: %s\n", what, strerror(errno));
    exit(0);
}

static long used(const char *how) {
    struct rusage usage;
    struct timespec now;
    if (!strcmp(how, "time")) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000000L + now.tv_nsec;
    }
    getrusage(RUSAGE_SELF, &usage);
    return !strcmp(how, "blocks") ? usage.ru_inblock : usage.ru_majflt;
}

static int by_size(const void *one, const void *other) {
    return (*(long *)one > *(long *)other) - (*(long *)one < *(long *)other);
}

// What was looked for before is found missing three times as fast.
static void names(char **words, int send, int bits, char *word) {
    long *took = calloc(bits, sizeof *took), *sorted = calloc(bits, sizeof *sorted);
    char path[4096];
    struct stat none;
    for (int bit = 0; bit < bits; bit++) {
        snprintf(path, sizeof path, "%s-%s-%d", words[1], words[2], bit);
        long before = used("time");
        if (!send || word[bit] == '1')
            stat(path, &none);
        sorted[bit] = took[bit] = used("time") - before;
    }
    qsort(sorted, bits, sizeof *sorted, by_size);
    for (int bit = 0; bit < bits && !send; bit++)
        word[bit] = took[bit] < sorted[bits / 2] ? '1' : '0';
    printf("word %s\n", word);
}

int main(int count, char **words) {
    if (count != 5)
        return 2;
    long stride = atol(words[2]);
    const char *how = words[3];
    int seek = !strcmp(how, "seek"), send = seek || !strcmp(how, "send"), bits = send ? strlen(words[4]) : atoi(words[4]);
    char *word = send ? words[4] : calloc(bits + 1, 1), byte;
    if (seek || !strcmp(how, "names")) {
        names(words, send, bits, word);
        return 0;
    }
    int fd = open(words[1], O_RDONLY);
    if (fd < 0)
        held("open");
    volatile char *file = mmap(0, bits * stride, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED)
        held("mmap");
    madvise((void *)file, bits * stride, MADV_RANDOM);
    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    for (int bit = 0; bit < bits; bit++) {
        if (send) {
            if (word[bit] == '1')
                (void)file[bit * stride];
            continue;
        }
        long before = used(how);
        if (!strcmp(how, "faults"))
            (void)file[bit * stride];
        else if (pread(fd, &byte, 1, bit * stride) != 1)
            held("pread");
        word[bit] = used(how) - before > (strcmp(how, "time") ? 0 : DISK_NS) ? '0' : '1';
    }
    printf("word %s\n", word);
    return 0;
}
