#include "platform.h"

#include <errno.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

/* Rename a log that is full. Whoever holds its lock and still finds it under its name is the one to do so: two that rolled
 * would throw away what the first had set aside. */
static void roll(const char *name, int fd, ino_t inode)
{
    char aside[4096 + 2];
    struct stat st;
    size_t len = strlen(name);
    memcpy(aside, name, len), memcpy(aside + len, ".1", 3);
    if (!flock(fd, LOCK_EX | LOCK_NB) && !stat(name, &st) && st.st_ino == inode)
        rename(name, aside);
}

/* End a line that a full disk once cut short, so that it takes no other with it; then ours, in one write(). */
static void write_line(int fd, off_t size, Line *line)
{
    char last = '\n';
    struct stat st;
    for (int tries = 0; tries < 2 && size > 0; tries++) {
        /* a look may fall into the middle of another writer's line: only what stays so is torn */
        struct timespec settle = {0, 2000000};
        if (pread(fd, &last, 1, size - 1) != 1 || last == '\n')
            break;
        if (!tries) {
            nanosleep(&settle, NULL);
            size = fstat(fd, &st) ? 0 : st.st_size;
        }
    }
    if (last != '\n' && line->len < line->room) {
        memmove(line->at + 1, line->at, line->len++);
        line->at[0] = '\n';
    }
    ssize_t written = write(fd, line->at, line->len);
    (void)written;
}

/* What was written to a spool that has just been taken away under us (overdeck/capture/spool.py) is written again. */
void append(Text path, Line *line, int kind, uint64_t max_bytes)
{
    char name[4096];
    struct stat st;
    if (!path.len || path.len >= sizeof name || line->full)
        return;
    memcpy(name, path.at, path.len);
    name[path.len] = 0;
    for (int tries = 0, over = 0; tries < 3 && !over; tries++) {
        int fd = open(name, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (fd < 0 && errno == EWOULDBLOCK)
            continue;               /* it is being taken away: the next look finds another */
        over = 1;
        if (fd < 0)
            return;
        if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
            ;
        } else if (kind == LOG || (uint64_t)st.st_size <= max_bytes) {
            write_line(fd, st.st_size, line);
            over = kind != SPOOL || fstat(fd, &st) || st.st_nlink;
        } else if (kind == JOURNAL) {
            roll(name, fd, st.st_ino);
            over = tries > 0;
            if (over && (uint64_t)st.st_size <= 2 * max_bytes)
                write_line(fd, st.st_size, line);   /* who rolls it has not come to it yet */
        }
        close(fd);
    }
}
