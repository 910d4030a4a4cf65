/* threads PROGRAM: five threads, each of which starts a thread and a process that becomes PROGRAM. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program;

static void *nothing(void *unused) { return unused; }

static void *work(void *unused) {
    pthread_t inner;
    pthread_create(&inner, NULL, nothing, NULL);
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, (char *)NULL);
        _exit(9);
    }
    waitpid(child, NULL, 0);
    pthread_join(inner, NULL);
    return unused;
}

int main(int count, char **words) {
    (void)count;
    pthread_t five[5];
    program = words[1];
    for (int i = 0; i < 5; i++) pthread_create(&five[i], NULL, work, NULL);
    for (int i = 0; i < 5; i++) pthread_join(five[i], NULL);
    return 0;
}
