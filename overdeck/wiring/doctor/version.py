"""Is one version of Overdeck everywhere: this command, the plans, the code they start? The update check mends it."""

from overdeck import __version__
from overdeck.dispatch.kit import updatecheck
from overdeck.dispatch.kit.updatecheck import Versions
from overdeck.wiring.doctor.check import INSTALL, Check, Finding, Result, Situation


def _version(situation: Situation) -> Result:
    state = str(situation.places.state)
    known = updatecheck.versions(state)
    clients = {one.client for one in known}
    unread = [
        path for path in sorted(situation.places.state.glob("plans/*/recipe")) if path.parent.name not in clients
    ]
    if unread:
        return Result(
            "warn", f"who wrote these plans is not known, their recipe cannot be read: {unread[0]}", INSTALL
        )
    if not known:
        return Result("skip", f"this is Overdeck {__version__}; nothing is wired")
    found = tuple(Finding(f"plans of {one.client}", said) for one in known if (said := _said(one)))
    worker = updatecheck.holder(state)
    now = f"; process {worker} looks at it now" if worker else ""
    if found:
        client = found[0].about.removeprefix("plans of ")
        again = INSTALL if client == "claude" else f"{INSTALL} --client {client}"
        return Result("warn", "; ".join(finding.said for finding in found) + now, again, found)
    said = f"{__version__}: this command, the plans of {', '.join(sorted(clients))}, and the code they start{now}"
    return Result("ok", said)


def _said(one: Versions) -> str:
    """What does not fit about one client's plans, this command included."""
    if one.skew or one.on_disk == __version__:
        return one.skew
    return (
        f"this is Overdeck {__version__}, and the hooks of {one.client} start {one.on_disk or 'code that is gone'}: "
        "two installations"
    )


VERSION = (
    Check("version", _version, "launcher", "who wrote the plans, and the code that they start", "install-drift"),
)
