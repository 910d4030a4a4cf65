"""Raw records of measurements that nobody made, by the writer of the real ones: the same bytes on every machine."""

from pathlib import Path

from runs import made_run

from overdeck.bench.blocks import Observed
from overdeck.bench.noise import Noise
from overdeck.bench.outcome import Metric
from overdeck.bench.raw import RawRecord
from overdeck.bench.recording import Machine, Plan, PlannedArm
from overdeck.errors import InvalidMeasurement

QUIET = Noise(None, None, None)


def kept(
    cache: Path,
    minute: int,
    *ratios: float,
    arms: tuple[str, ...] = ("old.py", "new.py"),
    pairs: int = 20,
    planned: int = 20,
    spread: float = 0.03,
    metric: Metric = "cpu",
    end: bool = True,
    invalid: str = "",
) -> Path:
    """A record in ``cache`` of noon and ``minute``: arm n takes ``ratios[n - 1]`` times the first, ± ``spread``."""
    file = cache / "bench" / f"ab-20261130T12{minute:02d}00Z-1.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    names = "ABCDEFG"[: len(arms)]
    with RawRecord(file) as record:
        record.plan(
            Plan(
                arms=tuple(
                    PlannedArm(n, shown, ((shown,),), 0, (), 0) for n, shown in zip(names, arms, strict=True)
                ),
                seed=1,
                metric=metric,
                pairs=planned,
                warm_up=0,
                until_decided=False,
                self_check=False,
                allow_diff=False,
                timeout_s=60.0,
                stress=0,
                prepare=(),
                cleanup=(),
                environ=(),
                payload_bytes=2,
                payload_sha256="44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
                started=f"2026-11-30T12:{minute:02d}:00+00:00",
                version="0.1.0",
                machine=Machine("Linux 6.1", "x86_64", 8, "A processor", "3.12.1"),
                before=QUIET,
            )
        )
        for block in range(pairs):
            noise = 1 + spread * ((block * 7 % 11) - 5) / 5
            for slot, name in enumerate(names):
                ms = 10.0 * (1.0 if slot == 0 else ratios[slot - 1] * noise)
                run = made_run(cpu_ms=ms, wall_ms=ms * 1.5)
                record.run(
                    Observed(block, slot if block % 2 else -slot % len(names), name, 0, 0, QUIET, QUIET, run)
                )
        if invalid:
            record.invalid(InvalidMeasurement(invalid, code="exit-127", hint="try it by hand: nope"))
        elif end:
            record.end()
    return file
