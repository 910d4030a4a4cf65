/* spawn_many N PROGRAM: N quick children, one after the other, by posix_spawn (vfork). */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(int count, char **words) {
    char *argv[] = {words[2], NULL};
    pid_t child;
    for (int left = count > 2 ? atoi(words[1]) : 0; left > 0; left--) {
        if (posix_spawn(&child, words[2], NULL, NULL, argv, environ) != 0) return 1;
        waitpid(child, NULL, 0);
    }
    return 0;
}
