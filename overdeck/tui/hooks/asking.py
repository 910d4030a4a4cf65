"""What is asked before something is written, and what is started once the user has answered."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from overdeck.incidents.text import shown
from overdeck.telemetry.advice import why_keep
from overdeck.telemetry.keep import keep_file
from overdeck.tui.choose import Choice, Choose
from overdeck.tui.confirm import Confirm
from overdeck.tui.forms import Field, Form
from overdeck.tui.hooks import jobs

if TYPE_CHECKING:
    from overdeck.incidents.ofmodule import Proposal
    from overdeck.telemetry.report import ModuleRow, Report
    from overdeck.tui.hooks.page import HooksPage


def keep(page: "HooksPage", row: "ModuleRow") -> None:
    """Ask for the reason why the module stays, and keep it."""
    question = Field("because", why_keep(row), needed="a reason is needed")
    file = page.around.at_home(str(keep_file(page.around.places)))
    about = f"its verdict is then exempt, with your reason and today's date; written to {file}"

    def answered(answer: dict[str, str] | None) -> None:
        if answer:
            page.start(lambda: jobs.keep_module(page.around, row.id, answer["because"]))

    page.app.push_screen(Form(f"Keep {row.id}", [question], about), answered)


def open_incidents(page: "HooksPage", row: "ModuleRow", found: "Report", proposals: "Sequence[Proposal]") -> None:
    """Ask whether to open what the row tells, of several causes which, and open it."""
    log = page.around.at_home(f"{page.detail.registry}/log")
    about = f"written to {log}; one that is open already is counted once more"
    texts = [f"{one.slug}: {shown(one.title)}" for one in proposals]

    def start(chosen: Sequence[str]) -> None:
        page.start(lambda: jobs.open_incidents(page.around, row, found, chosen))

    if len(proposals) == 1:
        (only,) = proposals
        question = Confirm(f"Open an incident of {row.id}", f"{texts[0]}\n\n{about}")
        page.app.push_screen(question, lambda agreed: start([only.fingerprint]) if agreed else None)
        return
    choices = [Choice(one.fingerprint, text) for one, text in zip(proposals, texts, strict=True)]
    title = f"Open incidents of {row.id}: {len(choices)} causes, an incident each"
    page.app.push_screen(Choose(title, choices, about), lambda chosen: start(chosen) if chosen else None)
