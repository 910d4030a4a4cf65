#include "platform.h"

#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "call.h"
#include "handed.h"
#include "line.h"
#include "plan.h"
#include "readable.h"
#include "records.h"
#include "scan.h"
#include "start.h"
#include "wait.h"

enum {
    MAX_ANSWER = 8 << 20,       /* more than a verdict of 4 MiB (runner.py) and the texts beside it */
    MAX_CAPTURE = 32 << 10,     /* bytes of what a module prints that are kept (runner.py) */
    CODE_NAMES = 16 << 10,
};

/* Whether bytes are one JSON object and nothing else. */
static int is_one_object(const Buffer *text)
{
    Scan scan = SCAN_BEGIN;
    scan_until(&scan, (const uint8_t *)text->at, text->len);
    return scan.state == DONE;
}

/* Answer in the names of the gates that may have had to act: deny before a tool, block after one, else tell. */
static size_t answer_for_gates(Text cause)
{
    char names_room[CODE_NAMES], room[CODE_NAMES + 4096];
    Line names = {names_room, 0, sizeof names_room, 0}, line = {room, 0, sizeof room, 0};
    for (int i = 0; i < plan.module_count; i++)
        if (modules[i].may_act && modules[i].gate) {
            if (names.len)
                put(&names, T(", "));
            put_escaped(&names, modules[i].id);
        }
    int before = same(call.event, T("PreToolUse")), permission = same(call.event, T("PermissionRequest"));
    int after = same(call.event, T("PostToolUse"));
    if (!names.len || !(before || permission || after)) {
        put(&line, T("{\"systemMessage\":\"overdeck: "));
    } else if (same(plan.client, T("gemini"))) {
        before = permission = 0;        /* Gemini CLI knows a flat decision only */
        put(&line, T("{\"decision\":\"deny\",\"reason\":\""));
    } else if (before) {
        put(&line, T("{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\","
                     "\"permissionDecisionReason\":\""));
    } else if (permission) {
        put(&line, T("{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"deny\","
                     "\"message\":\""));
    } else {
        put(&line, T("{\"decision\":\"block\",\"reason\":\""));
    }
    if (names.len)
        put(&line, T("[")), put(&line, (Text){names.at, names.len}), put(&line, T("] could not decide: "));
    put_escaped(&line, cause), put(&line, T("; see: overdeck doctor\""));
    if (names.len && (before || permission))
        put(&line, permission ? T("}}") : T("}"));
    put(&line, T("}\n"));
    return say(line.at, line.len);
}

/* Whether a module failed in Python's own process; then `way` says so to the Python that answers for it. */
static int failed_alone(Way *way, const Started *one, int stage, const Buffer *word_of, const Buffer *printed)
{
    static char how[40];
    if (one->pid <= 0 || !alone_for(word_of))
        return 0;
    Text last_line = line_with(word_of, T("failed "));
    if (last_line.len)
        last_line.at += 7, last_line.len -= 7;
    int late = stage != WAITING || same(last_line, T("late"));
    Line text = {how, 0, sizeof how - 1, 0};
    put(&text, late ? T("timeout:") : T("error:")), put_number(&text, one->ran_ms, 1);
    how[text.len] = 0;
    way->failed = how;
    way->remains = remains_of(late ? T("") : last_line, (Text){printed->at, printed->len});
    return 1;
}

void ask_python(int observed, int cut, int alone)
{
    static char answer_room[MAX_ANSWER + 1], control_room[256 << 10], printed_room[MAX_CAPTURE];
    Buffer said = {answer_room, 0, sizeof answer_room}, word_of = {control_room, 0, sizeof control_room};
    Buffer printed = {printed_room, 0, sizeof printed_room};
    Text hello, done;
    Started one;
    pid_t pid;
    int stage;
    Way way = {.bundled = bundle_is_ours(), .observed = observed, .cut = cut, .remains = -1};
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    way.alone = alone && way.bundled;
#else
    (void)alone;
#endif
    struct timespec begun;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (;;) {
        said.len = word_of.len = printed.len = 0;
        stage = WAITING;
        one = start_python(&way);
        pid = one.pid;
        if (pid > 0)
            stage = wait_for(&one, begun, &said, &word_of, &printed);
        else
            close(one.answer), close(one.control), close(one.printed);
        hello = line_with(&word_of, T("hello")), done = line_with(&word_of, T("done"));
        if (!all_arrived(&way, &word_of, &said))
            done.len = 0;
        if (way.alone && waitpid(-1, NULL, WNOHANG) >= 0)
            kill_orphans();             /* what the module has started, and what of it is left */
        if (way.alone && !done.len && !told_to_stop && (pid == NOT_POSSIBLE || failed_alone(&way, &one, stage, &word_of, &printed))) {
            way.alone = 0;
            continue;
        }
        if (hello.len || !way.bundled || pid <= 0 || stage != WAITING || told_to_stop)
            break;
        way.bundled = way.alone = 0;    /* a bundle that does not start only costs time: begin again without it */
    }
    close(way.remains);
    if (done.len && (!said.len || is_one_object(&said))) {
        size_t out = say(said.at, said.len);
        if (done.len > 5)
            record_call(out, (Text){done.at + 5, done.len - 5});
        return;
    }
    kill_orphans();
    int stopped = told_to_stop || (stage != WAITING && hello.len);
    int absent = !way.failed && (pid == NOT_THERE || (pid > 0 && !hello.len && !stopped));
    Text cause = absent                ? T("Python did not start, so no gate ran")
                 : way.failed          ? T("it failed, and the Python that was to say how did not")
                 : pid <= 0            ? T("no process and no descriptor could be had for Python")
                 : said.len == said.room ? T("Python answered more than 8 MiB")
                 : done.len            ? T("Python answered something that is not one JSON object")
                 : stopped             ? T("Python was told to stop before it had answered")
                                       : T("Python died under the modules");
    if (absent)
        for (int i = 0; i < plan.module_count; i++)
            modules[i].may_act = 0;     /* nothing ran: the call passes, and the user is told */
    size_t out = answer_for_gates(cause);
    record_error(cause);
    char room[256];
    Line rest = {room, 0, sizeof room, 0};
    put(&rest, T("\"ran\":{},\"err\":\"")), put_escaped(&rest, cause), put(&rest, T("\""));
    record_call(out, (Text){rest.at, rest.len});
}
