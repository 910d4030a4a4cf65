"""``overdeck memory list``."""

from overdeck.cli.output import JsonOption, verb


def list_lessons(as_json: JsonOption = False) -> None:
    """The lessons of this project, the newest first; `overdeck memory forget ID` takes one out."""
    from pathlib import Path

    from overdeck.memory import keeping
    from overdeck.paths import Places

    with verb("memory.list", as_json) as out:
        kept = keeping.kept(Places.from_environment(), Path.cwd())
        newest = kept.lessons[::-1]
        out.data = {
            "project": kept.project,
            "lessons": [{"id": one.id, "at": one.at, "session": one.session, "text": one.text} for one in newest],
        }
        if not newest:
            out.line(f'no lesson is kept for {kept.project}; overdeck memory add "…" keeps one')
            return
        out.table(["id", "kept", "lesson"], [[one.id, one.at, one.text] for one in newest], below="lesson")
