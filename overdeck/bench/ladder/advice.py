"""Which rung a hook should use, and why: the questions of the design ladder, answered with measured figures.

The order is that of the questions: the first that a hook can answer with yes is where it belongs.
"""

from typing import NamedTuple

from overdeck.bench.ladder.measure import Climbed, Ladder
from overdeck.bench.ladder.rungs import Kind

_COMPARED: tuple[Kind, ...] = ("read", "python", "shim")
"""What the sentence sets beside the native front."""


class Advice(NamedTuple):
    """One question about a hook, the rung it leads to, and what was measured that says so."""

    question: str
    use: str
    why: str


def size_text(size: int) -> str:
    """A size as a person writes it.

    >>> size_text(200), size_text(32_000), size_text(1_500_000)
    ('200 B', '32 kB', '1.5 MB')
    """
    for unit, name in ((10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} B"


def short(ratio: float) -> str:
    """A ratio in the digits that matter: ``0.94``, ``12``, ``548``.

    >>> [short(x) for x in (0.9431, 12.04, 548.2)]
    ['0.94', '12', '548']
    """
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def advise(ladder: Ladder) -> list[Advice]:
    """The ladder from its top, each question with this machine's figures."""
    native, observer, module = (_of(ladder, kind) for kind in ("native", "observer", "module"))
    said = [
        Advice(
            "need it be a hook?",
            "permissions.deny in the settings, a git hook, CI",
            "no process at a call: nothing measured here is cheaper",
        ),
        Advice("does it only record calls?", "a native observer", _range(ladder, observer)),
        Advice(
            "does it decide, and every trigger holds a word?",
            "a module of the dispatcher, with that literal",
            f"{_range(ladder, native)} where the word is not in the call",
        ),
        Advice(
            "does it decide, at every call?",
            "a module of the dispatcher",
            f"{_range(ladder, module)}, once for all modules that run",
        ),
    ]
    if loop := _cheapest(ladder, ("read",), at=0):
        limit = crossover(ladder)
        said.append(
            Advice(
                "must it be a command, on payloads that are always small?",
                f"shell builtins ({loop.rung.name})",
                _range(ladder, loop)
                + (
                    f"; from {size_text(limit)} on an interpreter is cheaper: read takes a byte at a time"
                    if limit
                    else ""
                ),
            )
        )
    if any_size := _cheapest(ladder, ("shell", "python", "runtime"), at=-1):
        said.append(Advice("must it be a command, on any payload?", any_size.rung.name, _range(ladder, any_size)))
    for shim in (one for one in ladder.climbed if one.rung.kind == "shim"):
        said.append(
            Advice(
                "is its interpreter found by a version manager?", "its absolute path instead", _shim(ladder, shim)
            )
        )
    return said


def crossover(ladder: Ladder) -> int | None:
    """The smallest measured size at which reading by shell builtins costs more CPU than `python3 -I -S`; else None."""
    loop = _cheapest(ladder, ("read",), at=0)
    python = _of(ladder, "python")
    if loop is None or python is None:
        return None
    return next((a.size for a, b in zip(loop.steps, python.steps, strict=True) if a.cpu.low > b.cpu.high), None)


def sentence(ladder: Ladder) -> str:
    """The ladder in one sentence a person can act on."""
    native = _of(ladder, "native")
    others = [found for kind in _COMPARED if (found := _cheapest(ladder, (kind,), at=0))]
    if native is None:
        said = "there is no native front here to make it a module of"
    else:
        said = f"make it a module of the dispatcher: a call costs {_range(ladder, native)}"
    return "; ".join([said, *(f"{one.rung.name} {_range(ladder, one)}" for one in others)])


def _range(ladder: Ladder, climbed: Climbed | None) -> str:
    """``1.4x true at 200 B, 1.9x at 1 MB``; "not here" where the rung was not measured."""
    if climbed is None:
        return "not here"
    floor = ladder.climbed[0].rung.name
    first, last = climbed.steps[0], climbed.steps[-1]
    said = f"{short(first.cpu.value)}x {floor} at {size_text(first.size)}"
    return said if first is last else f"{said}, {short(last.cpu.value)}x at {size_text(last.size)}"


def _shim(ladder: Ladder, shim: Climbed) -> str:
    direct = next(
        (one for one in ladder.climbed if one.rung.name == shim.rung.name.removesuffix(" by a shim")), None
    )
    said = f"{shim.rung.name}: {shim.starts.high} process starts"
    if direct is None:
        return f"{said}, {_range(ladder, shim)}"
    first, other = shim.steps[0], direct.steps[0]
    return f"{said}, {first.wall_ms:.0f} ms where {direct.rung.name} takes {other.wall_ms:.0f} ms"


def _of(ladder: Ladder, kind: Kind) -> Climbed | None:
    return next((one for one in ladder.climbed if one.rung.kind == kind), None)


def _cheapest(ladder: Ladder, kinds: tuple[Kind, ...], *, at: int) -> Climbed | None:
    """The rung of these kinds that costs least CPU on the size at that index."""
    found = [one for one in ladder.climbed if one.rung.kind in kinds]
    return min(found, key=lambda one: one.steps[at].cpu.value, default=None)
