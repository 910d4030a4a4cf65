/* Python answers; where it does not, the gates are answered for. */
#ifndef OVERDECK_ANSWER_H
#define OVERDECK_ANSWER_H

/* Start Python on the payload, pass on what it answers, and record the call. `observed`: the native observers have written
 * their lines; `cut`: the payload is not whole because of our bounds; `alone`: the one module that may act may run in
 * Python's own process. */
void ask_python(int observed, int cut, int alone);

#endif
