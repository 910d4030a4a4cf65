#include "platform.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "line.h"

void put(Line *line, Text text)
{
    if (text.len > line->room - line->len)
        line->full = 1;
    if (line->full || !text.len)
        return;
    memcpy(line->at + line->len, text.at, text.len);
    line->len += text.len;
}

void put_number(Line *line, uint64_t number, int width)
{
    char digits[20];
    int n = 0;
    do
        digits[sizeof digits - 1 - (size_t)n++] = (char)('0' + number % 10);
    while ((number /= 10) || n < width);
    put(line, (Text){digits + sizeof digits - n, (size_t)n});
}

void put_escaped(Line *line, Text text)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f) {
            char code[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
            put(line, (Text){code, 6});
        } else {
            put(line, (Text){text.at + i, 1});
        }
    }
}

/* From the civil-from-days algorithm (Hinnant): gmtime_r would pull in locale and zones. */
void put_time(Line *line)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t days = now.tv_sec / 86400, rest = now.tv_sec % 86400;
    if (rest < 0)
        rest += 86400, days--;
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t doe = days - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    int64_t month = mp < 10 ? mp + 3 : mp - 9, year = yoe + era * 400 + (month <= 2);
    put_number(line, (uint64_t)year, 4);
    put(line, T("-")), put_number(line, (uint64_t)month, 2);
    put(line, T("-")), put_number(line, (uint64_t)(doy - (153 * mp + 2) / 5 + 1), 2);
    put(line, T("T")), put_number(line, (uint64_t)(rest / 3600), 2);
    put(line, T(":")), put_number(line, (uint64_t)(rest / 60 % 60), 2);
    put(line, T(":")), put_number(line, (uint64_t)(rest % 60), 2);
    put(line, T(".")), put_number(line, (uint64_t)(now.tv_nsec / 1000000), 3);
    put(line, T("Z"));
}
size_t say(const char *text, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = write(1, text + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;                  /* the client is gone: not an error */
        done += (size_t)n;
    }
    return done;
}
