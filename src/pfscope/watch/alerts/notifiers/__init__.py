"""The ways in which people are told; one module and one class each, found by its name here.

A notifier's fields are the keys of its table in the configuration. `send` returns what happened in
a few words, or raises `DeliveryError`; it may be called again with the same message. Secrets are
read when they are needed, and stand in no error and no log.
"""

from typing import Final

NOTIFIERS: Final = {
    "mail": "Mail",
    "webhook": "Webhook",
    "alertmanager": "Alertmanager",
    "slack": "Slack",
    "syslog": "Syslog",
    "journal": "Journal",
    "command": "Command",
}
"""The class of each `type` of notifier, in the module of its name."""
