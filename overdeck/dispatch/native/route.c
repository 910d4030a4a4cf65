#include "platform.h"

#include "call.h"
#include "literals.h"
#include "payload.h"
#include "plan.h"
#include "route.h"

/* Whether a module's tools= asks for this subject: by name or "*"; "?" is a regex for Python to decide. */
static int asks_for(Text tools, Text subject)
{
    int answer = NO;
    while (tools.len) {
        Text one = item(&tools, '|');
        if (same(one, subject) || (one.len == 1 && *one.at == '*'))
            return YES;
        if (one.len == 1 && *one.at == '?')
            answer = MAYBE;
    }
    return answer;
}

static void all_found(const uint8_t *wanted)
{
    for (int i = 0; i < plan.literal_count; i++)
        if (wanted[i])
            found(i);
}

/* Let every asked module whose literal occurs in this text act; `whole` picks those that look at the payload. */
static void prefilter(const uint8_t *text, size_t len, int whole, size_t *work)
{
    static uint8_t wanted[MAX_LITERALS];
    int any = 0;
    for (int i = 0; i < plan.literal_count; i++) {
        const Module *m = &modules[literals[i].module];
        wanted[i] = m->asked && m->payload_literals == whole;
        any |= wanted[i];
    }
    if (any && !(len > SHORT_TEXT ? search_long(text, len, wanted, work) : search_short(text, len, wanted)))
        all_found(wanted);
}

int maybe_native(void)
{
    for (int i = 0; i < plan.native_count; i++)
        if (modules[natives[i].module].asked == MAYBE)
            return 1;
    return 0;
}

int subject_key(void)
{
    return same(call.event, T("SessionStart")) ? SOURCE : TOOL_NAME;
}

int route(int whole_document)
{
    int survivors = 0, subagent = payload.scan.value[AGENT_ID].end != 0;
    Text subject;
    int known = plain_string(subject_key(), &subject);
    for (int i = 0; i < plan.module_count; i++) {
        Module *m = &modules[i];
        if (!whole_document) {
            m->may_act = m->gate;
            continue;
        }
        m->asked = m->main_only && subagent ? NO : known ? asks_for(m->tools, subject) : YES;
        m->may_act = m->asked && (!m->literals || m->unsearchable);
    }
    if (whole_document) {
        size_t work = 0;
        Span input = payload.scan.value[TOOL_INPUT];
        prefilter(payload.bytes + input.start, input.end - input.start, 0, &work);
        if (plan.any_payload_literals)
            prefilter(payload.bytes, payload.len, 1, &work);
    }
    for (int i = 0; i < plan.native_count; i++)
        modules[natives[i].module].may_act = modules[natives[i].module].asked == MAYBE;   /* Python knows, and logs */
    for (int i = 0; i < plan.module_count; i++)
        survivors += modules[i].may_act;
    return survivors;
}

int may_be_alone(void)
{
    int i = 0;
    while (i < plan.module_count && !modules[i].may_act)
        i++;
    if (i == plan.module_count)
        return 0;
    const Module *m = &modules[i];
    Text line = {m->id.at + m->id.len + 1, (size_t)(m->tools.at - m->id.at) - m->id.len - 1};
    Text cls = word(&line), flags = word(&line);
    return (same(cls, T("gate")) || same(cls, T("adviser"))) && !has(flags, T("background"));
}
