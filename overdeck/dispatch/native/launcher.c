/* The native front: one hook call, from stdin to one JSON document or nothing.
 *
 *     overdeck-hook EVENT --plan DIR [--by-overdeck]
 *
 * Reads the payload, routes it by the plan of its event, and in the usual case (no module can act) writes one
 * calls line and exits without starting anything. Otherwise it starts Python on the same payload (dispatch/
 * front.py, which routes again and is the reference), waits for it, and answers in the gates' names should Python
 * die or be late. Whatever these files cannot decide for certain it leaves to Python: an accelerator and a guardian,
 * never a second opinion. Always exits 0: every other code means something else to each client.
 *
 * C11 and POSIX; Linux extras (memfd) have portable stand-ins. No allocation but mmap, no locale, nothing of stdio but rename.
 */
#include "platform.h"

#include <signal.h>
#include <sys/resource.h>

#include "answer.h"
#include "call.h"
#include "line.h"
#include "payload.h"
#include "plan.h"
#include "readable.h"
#include "records.h"
#include "route.h"

#ifndef OVERDECK_SOURCE_HASH
#define OVERDECK_SOURCE_HASH "unknown"
#endif

/* No plan, and no recipe to make one from: the call passes, the user is told, the call is counted. */
static void unplanned(void)
{
    static char calls[4096 + 32];
    static const char text[] = "{\"systemMessage\":\"overdeck: no gate ran, there is no plan and no recipe to make "
                               "one; type: overdeck install\"}\n";
    Line path = {calls, 0, sizeof calls, 0};
    Text state = state_folder(), folder = {call.plan_folder, strlen(call.plan_folder)};
    plan = (Plan){.state = state, .crc = {"", 0}};
    if (state.len) {
        put(&path, state), put(&path, T("/hook-calls.jsonl"));
        plan.calls = (Text){path.at, path.len};
        plan.client = (Text){state.at + state.len + 7, folder.len - state.len - 7};
    }
    size_t out = say(text, sizeof text - 1);
    record_call(out, T("\"ran\":{},\"err\":\"there is no plan and no recipe to make one\""));
}

int main(int argc, char **argv)
{
    clock_gettime(CLOCK_MONOTONIC, &call.started);
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        static const char version[] = "overdeck-hook native " OVERDECK_SOURCE_HASH "\n";
        say(version, sizeof version - 1);
        return 0;
    }
    if (!arguments(argc, argv)) {
        static const char text[] = "{\"systemMessage\":\"overdeck: the hook entry names no event or no --plan DIR: "
                                   "overdeck install\"}\n";
        say(text, sizeof text - 1);
        return 0;
    }
    hold_sigterm();
    signal(SIGPIPE, SIG_IGN), signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);   /* where a client ignores it, whatever a gate runs seems to have ended well */
    struct rlimit files;
    if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < 4096 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;     /* each module takes three of Python's */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (inert())
        return 0;
    int planned = load_plan(), startable = planned || load_recipe();
    int complete = read_payload(), whole = complete && !payload.scan.escaped_key;
    if (!startable) {
        unplanned();
        return 0;
    }
    int survivors = planned ? route(whole) : 0;
    Text named;
    int as_told = plain_string(EVENT_NAME, &named) ? same(named, call.event) || (plan.named.len && same(named, plan.named))
                                                   : !payload.scan.value[EVENT_NAME].end;
    int certain = whole && planned && !plan.stale && as_told, observed = certain && plan.native_count && !maybe_native();
    if (observed)
        observe();
    if (certain && !survivors)
        record_call(0, T("\"ran\":{}"));
    else
        ask_python(observed, payload.cut, certain && survivors == 1 && may_be_alone());
    return 0;
}
