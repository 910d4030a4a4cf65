"""The tables and views of the telemetry database. Names are stable: users query them.

``fires, calls, runs, asked, modules, module_health, quarantine, sources`` answer questions; ``plans``,
``combinations`` and ``routes`` say whom a call asked, so that ``asked`` needs no row for each call and module.
``calls_by_hour``, ``runs_by_hour`` and ``fires_by_hour`` count them by the hour, for ever; the rows are kept for a time
(``about.rows_from``). ``counted_calls``, ``counted_runs`` and ``counted_fires`` are the rows
without our own probes (doctor, audit --measure: their sessions begin with ``overdeck-``); whatever counts uses these.
``modules.returned`` is when one that had been switched off came
back. All timestamps are naive UTC. ``source`` and ``pos`` name the line a row came from: sources.id, byte offset.
"""

VERSION = 3
"""Another number in a database means: set it aside and read the logs again."""

COUNTS_SINCE = 3
"""From this version on counts outlive rows and logs: a next version must take them over."""

TABLES = """
create table about (version integer, rows_from timestamp);

create table sources (
    id integer, kind varchar, path varchar, device ubigint, inode ubigint, generation integer,
    head_bytes integer, head_hash varchar, "offset" bigint, size bigint, mtime_ns bigint, replaced boolean,
    lines bigint, quarantined bigint, first_read timestamp, last_read timestamp
);

create table fires (
    ts timestamp, event varchar, module varchar, action varchar, extra varchar, source integer, pos bigint
);

create table calls (
    ts timestamp, client varchar, plan varchar, event varchar, tool varchar, session varchar, sub boolean,
    in_bytes bigint, out_bytes bigint, us bigint, err varchar, extra varchar, source integer, pos bigint
);

create table runs (
    ts timestamp, client varchar, plan varchar, event varchar, tool varchar, sub boolean,
    module varchar, us bigint, bytes bigint, "end" varchar, source integer, pos bigint
);

create table quarantine (
    source integer, file varchar, "offset" bigint, bytes bigint, reason varchar, seen timestamp
);

create table calls_by_hour (
    hour timestamp, client varchar, plan varchar, event varchar, tool varchar, sub boolean,
    n bigint, first timestamp, last timestamp
);

create table runs_by_hour (
    hour timestamp, client varchar, plan varchar, event varchar, tool varchar, sub boolean, module varchar,
    n bigint, errors bigint, timeouts bigint, us bigint, bytes bigint, first timestamp, last timestamp
);

create table fires_by_hour (
    hour timestamp, event varchar, module varchar, action varchar, n bigint, first timestamp, last timestamp
);

create table uncounted (kind varchar, source integer, pos bigint);

create table plans (client varchar, plan varchar, module varchar, class varchar);

create table combinations (
    client varchar, plan varchar, event varchar, tool varchar, sub boolean, known boolean
);

create table routes (client varchar, plan varchar, tool varchar, sub boolean, module varchar);

create table modules (
    id varchar, class varchar, pack varchar, events varchar, lifetime_days integer, main_only boolean,
    enabled boolean, first_seen timestamp, returned timestamp
);
"""

VIEWS = """
create view probes as select source, pos, ts, us from calls where starts_with(session, 'overdeck-');

create view counted_calls as from calls where not coalesce(starts_with(session, 'overdeck-'), false);

create view counted_runs as from runs anti join probes using (source, pos);

-- A fire names no session: it is a probe's where one's own call ran the module, and it fired, around that time.
create view probe_fires as
select distinct f.source, f.pos
from probes p join runs n using (source, pos) join fires f on n.module = f.module and n.event = f.event
where n."end" = 'fire' and f.ts between p.ts - to_microseconds(coalesce(p.us, 0) + 5000)
    and p.ts + to_microseconds(coalesce(p.us, 0) + 5000);

create view counted_fires as from fires anti join probe_fires using (source, pos);

create view asked as
select c.ts, c.client, c.event, c.tool, c.session, c.sub, r.module
from counted_calls c join routes r on (c.client, c.plan, c.tool, c.sub) = (r.client, r.plan, r.tool, r.sub)
union all
select n.ts, n.client, n.event, n.tool, c.session, n.sub, n.module
from counted_runs n join calls c on c.source = n.source and c.pos = n.pos
where not exists (
    from routes r
    where (n.client, n.plan, n.tool, n.sub, n.module) = (r.client, r.plan, r.tool, r.sub, r.module)
);

create view module_health as
with combined as (
    select client, plan, tool, sub, sum(n) as n, max(last) as last from calls_by_hour group by all
), asked_of as (
    select r.module, c.n, c.last
    from combined c join routes r on (c.client, c.plan, c.tool, c.sub) = (r.client, r.plan, r.tool, r.sub)
    union all
    select n.module, n.n, n.last from runs_by_hour n
    where not exists (
        from routes r
        where (n.client, n.plan, n.tool, n.sub, n.module) = (r.client, r.plan, r.tool, r.sub, r.module)
    )
), asked_in_all as (
    select module, sum(n)::bigint as asked, max(last) as last_asked from asked_of group by all
), fired as (
    select module, sum(n)::bigint as fired, coalesce(sum(n) filter (action = 'deny'), 0)::bigint as deny,
        coalesce(sum(n) filter (action = 'advise'), 0)::bigint as advise,
        coalesce(sum(n) filter (action = 'act'), 0)::bigint as act, max(last) as last_fire
    from fires_by_hour group by all
), ran as (
    select module, sum(n)::bigint as ran, sum(errors)::bigint as errors, sum(timeouts)::bigint as timeouts,
        sum(us)::bigint as us, sum(bytes)::bigint as bytes
    from runs_by_hour group by all
), times as (
    select module, quantile_cont(us, 0.5) / 1000 as p50_ms, quantile_cont(us, 0.95) / 1000 as p95_ms,
        quantile_cont(us, 0.99) / 1000 as p99_ms
    from counted_runs group by all
), named as (
    select id as module from modules
    union select module from asked_in_all union select module from fired union select module from ran
)
select named.module, m.class, m.enabled, m.first_seen,
    case when exists (from calls_by_hour) or exists (from calls) then coalesce(asked, 0) end as asked,
    coalesce(fired, 0) as fired, coalesce(deny, 0) as deny, coalesce(advise, 0) as advise,
    coalesce(act, 0) as act, coalesce(ran, 0) as ran, coalesce(errors, 0) as errors,
    coalesce(timeouts, 0) as timeouts, p50_ms, p95_ms, p99_ms, us, bytes, last_asked, last_fire
from named
left join modules m on m.id = named.module
left join asked_in_all using (module)
left join fired using (module)
left join ran using (module)
left join times using (module);
"""
