/* What the native front decides, for tests that hold it against its twin: "whole" or "broken", then who may act. */
#include "platform.h"

#include "call.h"
#include "line.h"
#include "payload.h"
#include "plan.h"
#include "route.h"

int main(int argc, char **argv)
{
    char room[64 << 10];
    Line line = {room, 0, sizeof room, 0};
    clock_gettime(CLOCK_MONOTONIC, &call.started);
    if (!arguments(argc, argv) || !load_plan())
        return 1;
    int whole = read_payload() && !payload.scan.escaped_key;
    route(whole);
    put(&line, whole ? T("whole") : T("broken"));
    for (int i = 0; i < plan.module_count; i++)
        if (modules[i].may_act)
            put(&line, T(" ")), put(&line, modules[i].id);
    put(&line, T("\n"));
    say(line.at, line.len);
    return 0;
}
