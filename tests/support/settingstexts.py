"""Texts of settings files, of any content and layout: strategies for hypothesis."""

import json
from typing import Any

from hypothesis import strategies as st

blanks = st.sampled_from(["", "", " ", "\n", "\r\n", "\n  ", "\n\t", "\r\n    ", " \n \n  "])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=6), st.sampled_from(["é", "{", "[", ","])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
groups = st.lists(
    st.fixed_dictionaries(
        {
            "hooks": st.lists(
                st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=5)}), max_size=2
            )
        },
        optional={"matcher": st.sampled_from(["", "*", "Bash", "Write|Edit"]), "extra": values},
    ),
    max_size=3,
)
hook_tables = st.dictionaries(
    st.sampled_from(["PreToolUse", "PostToolUse", "Stop", "Notification"]), groups, max_size=4
)


@st.composite
def documents(draw: st.DrawFn, *, members: int = 0) -> str:
    """The text of a settings object with any whitespace between its tokens."""
    data: dict[str, Any] = {
        key: value
        for key, value in draw(st.dictionaries(st.text(max_size=5), values, min_size=members, max_size=4)).items()
        if key != "hooks"
    }
    if draw(st.booleans()):
        data["hooks"] = draw(hook_tables)
    if members and not data:
        data["model"] = "x"
    style = draw(st.sampled_from(["wild", "two", "four", "tabs", "crlf", "one line", "minified"]))
    written = {
        "two": lambda: json.dumps(data, indent=2),
        "four": lambda: json.dumps(data, indent=4, ensure_ascii=False),
        "tabs": lambda: json.dumps(data, indent="\t"),
        "crlf": lambda: json.dumps(data, indent=2).replace("\n", "\r\n"),
        "one line": lambda: json.dumps(data),
        "minified": lambda: json.dumps(data, separators=(",", ":")),
        "wild": lambda: _wild(draw, data),
    }[style]()
    return draw(blanks) + written + draw(blanks)


def _wild(draw: st.DrawFn, value: Any) -> str:
    def blank() -> str:
        return draw(blanks)

    if isinstance(value, dict) or (isinstance(value, list) and value):
        opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
        items = (
            [f"{json.dumps(key)}{blank()}:{blank()}{_wild(draw, item)}" for key, item in value.items()]
            if isinstance(value, dict)
            else [_wild(draw, item) for item in value]
        )
        inside = f"{blank()},{blank()}".join(items)
        return f"{opening}{blank()}{inside}{blank() if items else ''}{closing}"
    if isinstance(value, list):
        return f"[{blank()}]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))
