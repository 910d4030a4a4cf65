#include "platform.h"

#include <unistd.h>

#include "call.h"
#include "plan.h"
#include "sealed.h"

Plan plan;
Module modules[MAX_MODULES];
Literal literals[MAX_LITERALS];
Native natives[MAX_MODULES];

static int module_named(Text id)
{
    /* A module's lines follow its own, so the last one is almost always meant. */
    for (int i = plan.module_count - 1; i >= 0; i--)
        if (same(modules[i].id, id))
            return i;
    return -1;
}

/* stat of a source. Those of one folder of modules stand together, so a path's first part is walked once for all of
 * them: 200 modules cost a tenth less. */
static int stat_source(const char *path, size_t len, struct stat *st)
{
    static char folder[4096];
    static size_t folder_len;
    static int fd = -1;
    size_t shared = len;
    for (int parts = 0; shared && (parts += path[shared - 1] == '/') < 2;)
        shared--;
    if (!shared || shared != folder_len || memcmp(path, folder, shared)) {
        if (fd >= 0)
            close(fd);
        fd = -1;
        memcpy(folder, path, folder_len = shared);
        folder[shared] = 0;
    } else if (fd >= 0 || (fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC)) >= 0) {
        return fstatat(fd, path + shared, st, 0);
    }
    return stat(path, st);
}

static int source_is_fresh(Text line)
{
    uint64_t mtime, size, inode;
    char path[4096];
    if (!take_number(&line, &mtime) || !take_number(&line, &size) || !take_number(&line, &inode) ||
        line.len >= sizeof path)
        return 0;
    memcpy(path, line.at, line.len);
    path[line.len] = 0;
    struct stat st;
    if (stat_source(path, line.len, &st))
        return !mtime && !size && !inode;
    uint64_t seen = (uint64_t)MTIME(st).tv_sec * 1000000000u + (uint64_t)MTIME(st).tv_nsec;
    return seen == mtime && (uint64_t)st.st_size == size && (uint64_t)st.st_ino == inode;
}

int plan_line(Text line)
{
    Text key = word(&line);
    if (same(key, T("source"))) {
        if (!plan.stale && !source_is_fresh(line))
            plan.stale = 1;
    } else if (same(key, T("module"))) {
        if (plan.module_count == MAX_MODULES)
            return 0;
        Module *m = &modules[plan.module_count++];
        m->id = word(&line);
        Text cls = word(&line), flags = word(&line);
        m->gate = same(cls, T("gate"));
        m->main_only = has(flags, T("main-only"));
        m->payload_literals = has(flags, T("payload-literals"));
        plan.any_payload_literals |= m->payload_literals;
        if (line.len < 6 || memcmp(line.at, "tools=", 6))
            return 0;
        m->tools = (Text){line.at + 6, line.len - 6};
    } else if (same(key, T("literals"))) {
        int of = module_named(word(&line));
        while (line.len) {
            Text one = word(&line);
            if (of < 0 || plan.literal_count == MAX_LITERALS || !one.len)
                return 0;
            modules[of].unsearchable |= one.len > MAX_LITERAL;
            literals[plan.literal_count++] = (Literal){one, of};
            modules[of].literals++;
        }
    } else if (same(key, T("native"))) {
        Native *n = &natives[plan.native_count];
        if (plan.native_count == MAX_MODULES || (n->module = module_named(word(&line))) < 0)
            return 0;
        n->fields = word(&line);
        if (!take_number(&line, &n->max_bytes))
            return 0;
        n->path = line;
        plan.native_count++;
    } else if (same(key, T("total-deadline-ms"))) {
        return take_number(&line, &plan.total_deadline_ms) && !line.len && plan.total_deadline_ms <= 600000;
    } else if (same(key, T("event"))) {
        return same(line, call.event);
    } else {
        Text *into = same(key, T("python"))   ? &plan.python
                     : same(key, T("entry"))  ? &plan.entry
                     : same(key, T("bundle")) ? &plan.bundle
                     : same(key, T("fires"))  ? &plan.fires
                     : same(key, T("calls"))  ? &plan.calls
                     : same(key, T("state"))  ? &plan.state
                     : same(key, T("client")) ? &plan.client
                                              : NULL;
        if (into)
            *into = line;
        else if (same(key, T("named")))
            plan.named = line;                /* the client's own name of the event */
        else
            return same(key, T("details"));   /* of what only Python needs, behind the seal */
    }
    return 1;
}

void forget_plan(void)
{
    memset(modules, 0, (size_t)plan.module_count * sizeof *modules);
    plan = (Plan){0};
}

int load_plan(void)
{
    size_t size;
    struct stat folder;
    if (stat(call.plan_folder, &folder) || !trusted(&folder))
        return 0;
    const char *bytes = read_own(call.plan_path, &size);
    if (bytes && checked_lines(bytes, size, T("overdeck-plan 1"), &plan.crc, plan_line) && plan.python.len && plan.entry.len &&
        plan.calls.len)
        return 1;
    forget_plan();
    return 0;
}

static int recipe_line(Text line)
{
    Text key = word(&line);
    if (same(key, T("python")))
        plan.python = line;
    else if (same(key, T("entry")))
        plan.entry = line;
    else if (same(key, T("client")))
        plan.client = line;
    else if (same(key, T("calls")))
        plan.calls = line;
    else if (same(key, T("state")))
        plan.state = line;
    return 1;
}

int load_recipe(void)
{
    struct stat trust;
    if (stat(call.plan_folder, &trust) || !trusted(&trust))
        return 0;
    char path[4096 + 8];
    size_t folder = strlen(call.plan_folder), size;
    Text seal;
    memcpy(path, call.plan_folder, folder);
    memcpy(path + folder, "/recipe", 8);
    const char *bytes = read_own(path, &size);
    return bytes && checked_lines(bytes, size, T("overdeck-recipe 1"), &seal, recipe_line) && plan.python.len &&
           plan.entry.len;
}
