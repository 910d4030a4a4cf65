/* What is left of a call: its line among the calls, and those of native observers and errors. */
#ifndef OVERDECK_RECORDS_H
#define OVERDECK_RECORDS_H

#include "text.h"

/* The calls line; `rest` is what Python said of the modules it ran ("ran" and perhaps "err"). */
void record_call(size_t out, Text rest);

/* Native observers: event, tool, session, sizes and the kind of error; folder and agent where the config asks for them.
 * With an id the file is a spool, which somebody replays. An observer of the event log has what its event is called there
 * as the first of its fields: "type=tool.done". */
void observe(void);

/* That we answered for the gates, and why. */
void record_error(Text cause);

#endif
