"""The states of a run, as SDK v1 names them. Which state follows which is decided in `runyard.scheduler.states`."""

from __future__ import annotations

NOT_STARTED = "NotStarted"
QUEUED = "Queued"
PREPARING = "Preparing"
PROVISIONING = "Provisioning"
STARTING = "Starting"
RUNNING = "Running"
UNAPPROVED = "Unapproved"
NOT_RESPONDING = "NotResponding"
PAUSING = "Pausing"
PAUSED = "Paused"
CANCEL_REQUESTED = "CancelRequested"
FINALIZING = "Finalizing"
COMPLETED = "Completed"
FAILED = "Failed"
CANCELED = "Canceled"

ACTIVE = frozenset(
    {
        NOT_STARTED,
        QUEUED,
        PREPARING,
        PROVISIONING,
        STARTING,
        RUNNING,
        UNAPPROVED,
        NOT_RESPONDING,
        PAUSING,
        PAUSED,
    }
)
POST_PROCESSING = frozenset({CANCEL_REQUESTED, FINALIZING})
TERMINAL = frozenset({COMPLETED, FAILED, CANCELED})
ALL = ACTIVE | POST_PROCESSING | TERMINAL
