#include "platform.h"

#include <stdlib.h>
#include <unistd.h>

#include "call.h"
#include "sealed.h"

Call call;

Text state_folder(void)
{
    char *found = NULL;
    for (char *at = call.plan_folder; (at = strstr(at, "/plans/")); at++)
        found = at;
    return found ? (Text){call.plan_folder, (size_t)(found - call.plan_folder)} : (Text){"", 0};
}

int inert(void)
{
    const char *token = getenv("OVERDECK_INERT");
    char path[4096 + 16];
    Text state = state_folder();
    if (!token || !*token || !state.len)
        return 0;
    memcpy(path, state.at, state.len);
    memcpy(path + state.len, "/inert-token", 13);
    struct stat st;
    if (stat(path, &st) || st.st_uid != geteuid() || (st.st_mode & 077))
        return 0;
    size_t size;
    const char *bytes = read_own(path, &size);
    while (bytes && size && (bytes[size - 1] == '\n' || bytes[size - 1] == ' '))
        size--;
    return bytes && size && size == strlen(token) && !memcmp(bytes, token, size);
}

static int is_event_name(const char *s)
{
    size_t n = 0;
    for (; s[n]; n++)
        if (!((s[n] | 32) >= 'a' && (s[n] | 32) <= 'z'))
            return 0;
    return n && n < 64;
}

int arguments(int argc, char **argv)
{
    const char *folder = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--plan") && i + 1 < argc)
            folder = argv[++i];
        else if (!call.event.len && is_event_name(argv[i]))
            call.event = (Text){argv[i], strlen(argv[i])};
    }
    if (!call.event.len || !folder || folder[0] != '/')
        return 0;
    size_t len = strlen(folder);
    while (len > 1 && folder[len - 1] == '/')
        len--;
    if (len + 80 > sizeof call.plan_path)
        return 0;
    memcpy(call.plan_folder, folder, len);
    memcpy(call.plan_path, folder, len);
    call.plan_path[len] = '/';
    memcpy(call.plan_path + len + 1, call.event.at, call.event.len);
    memcpy(call.plan_path + len + 1 + call.event.len, ".plan", 6);
    return 1;
}
