#include "platform.h"

#include <errno.h>
#include <poll.h>
#include <sys/select.h>
#include <time.h>

#include "readable.h"

volatile sig_atomic_t told_to_stop;

static void on_term(int signal_number)
{
    (void)signal_number;
    told_to_stop = 1;
}

void hold_sigterm(void)
{
    sigset_t term;
    sigemptyset(&term), sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    struct sigaction stop = {.sa_handler = on_term};
    sigaction(SIGTERM, &stop, NULL);
}

int wait_readable(const int *fds, int count, int ms, int *ready)
{
    sigset_t open_mask;
    struct timespec limit = {ms / 1000, ms % 1000 * 1000000L};
    sigemptyset(&open_mask);
#ifdef __linux__
    struct pollfd polled[3];            /* not select: a client may leave us more than a thousand open files */
    for (int i = 0; i < count; i++)
        polled[i] = (struct pollfd){fds[i], POLLIN, 0};
    int n = ppoll(polled, (nfds_t)count, &limit, &open_mask);
    for (int i = 0; i < count; i++)
        ready[i] = n > 0 && polled[i].revents;
#else
    fd_set set;
    int last = -1;
    FD_ZERO(&set);
    for (int i = 0; i < count; i++)
        if (fds[i] >= FD_SETSIZE) {
            return -1;
        } else if (fds[i] >= 0) {
            FD_SET(fds[i], &set);
            last = fds[i] > last ? fds[i] : last;
        }
    int n = pselect(last + 1, &set, NULL, NULL, &limit, &open_mask);
    for (int i = 0; i < count; i++)
        ready[i] = n > 0 && fds[i] >= 0 && FD_ISSET(fds[i], &set);
#endif
    return n > 0 ? n : n < 0 && errno != EINTR ? -1 : 0;
}
