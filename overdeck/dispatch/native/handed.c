#include "platform.h"

#include <errno.h>
#include <unistd.h>

#include "handed.h"
#include "line.h"
#include "payload.h"
#include "plan.h"

int high(int fd)
{
    if (fd < 0)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 4);
    close(fd);
    return moved;
}

static int write_all(int fd, const uint8_t *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        bytes += n, len -= (size_t)n;
    }
    return 1;
}

/* A file of ours without a name, for where there is no memfd (or none is allowed). */
static int nameless_file(void)
{
    char path[4096];
    Line name = {path, 0, sizeof path - 1, 0};
    put(&name, plan.state.len ? plan.state : T("/tmp")), put(&name, T("/.payload-")), put_number(&name, (uint64_t)getpid(), 1);
    if (name.full)
        return -1;
    path[name.len] = 0;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        unlink(path);
    return high(fd);
}

int payload_file(void)
{
    int fd = -1;
#ifdef __linux__
    fd = high(memfd_create("payload", MFD_CLOEXEC | MFD_ALLOW_SEALING));
#endif
    if (fd < 0)
        fd = nameless_file();
    if (fd >= 0 && (!write_all(fd, payload.bytes, payload.len) || lseek(fd, 0, SEEK_SET))) {
        close(fd);
        return -1;
    }
#ifdef __linux__
    if (fd >= 0)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
#endif
    return fd;
}

int high_pipe(int ends[2])
{
    if (pipe(ends))
        return 0;
    ends[0] = high(ends[0]), ends[1] = high(ends[1]);
    return ends[0] >= 0 && ends[1] >= 0;
}

int remains_of(Text last_line, Text printed)
{
    int fd = -1;
#ifdef __linux__
    fd = high(memfd_create("remains", MFD_CLOEXEC));
#endif
    if (fd >= 0 && !(write_all(fd, (const uint8_t *)last_line.at, last_line.len) && write_all(fd, (const uint8_t *)"\n", 1) &&
                     write_all(fd, (const uint8_t *)printed.at, printed.len) && !lseek(fd, 0, SEEK_SET)))
        close(fd), fd = -1;
    return fd;
}
