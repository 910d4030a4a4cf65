"""``overdeck commit-gate`` and ``overdeck git-hook``."""

from overdeck.cli.commitgate.hook import install, uninstall
from overdeck.cli.commitgate.passing import pass_checks, status
from overdeck.cli.doors import group

gate = group("The gate that holds commits: pass its checks, see where this work tree stands.")
gate.command("pass")(pass_checks)
gate.command("status")(status)

hook = group("Git's own hook for the commit gate: it holds every commit in this repository, whoever types it.")
hook.command("install")(install)
hook.command("uninstall")(uninstall)
