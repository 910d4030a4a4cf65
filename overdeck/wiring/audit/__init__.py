"""What the hooks of a client cost, which are dear, broken or idle, and what is wrong with them: one report."""

from overdeck.wiring.audit.judge import audit
from overdeck.wiring.audit.moments import jobs, runnable_jobs
from overdeck.wiring.audit.report import AuditReport, ClientAudit

__all__ = ["AuditReport", "ClientAudit", "audit", "jobs", "runnable_jobs"]
