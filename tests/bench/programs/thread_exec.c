/* thread_exec PROGRAM: of three threads, the last one, no leader, becomes PROGRAM while the others run. */
#include <pthread.h>
#include <unistd.h>

static void *wait_for_the_end(void *unused) {
    for (;;) pause();
    return unused;
}

static void *become(void *program) {
    execl(program, program, (char *)NULL);
    _exit(9);
}

int main(int count, char **words) {
    (void)count;
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_the_end, NULL);
    pthread_create(&thread, NULL, wait_for_the_end, NULL);
    pthread_create(&thread, NULL, become, words[1]);
    for (;;) pause();
}
