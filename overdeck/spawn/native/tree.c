#include "tree.h"

#include <dirent.h>
#include <stdio.h>

void for_children(pid_t pid, bool deepest_first, void (*each)(pid_t, int), int number) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(name);
    if (!threads) return;
    for (struct dirent *thread; (thread = readdir(threads));) {
        if (thread->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "/proc/%d/task/%.20s/children", (int)pid, thread->d_name);
        FILE *listing = fopen(name, "re");
        if (!listing) continue;
        for (int child; fscanf(listing, "%d", &child) == 1;) {
            if (deepest_first) for_children(child, true, each, number);
            each(child, number);
        }
        fclose(listing);
    }
    closedir(threads);
}
