"""Slack and what understands its incoming webhooks (Mattermost, Rocket.Chat, Zulip).

All text stands in code: there nothing is a mention, a link or markup, whoever wrote it.
"""

import json
from dataclasses import dataclass

from pfscope.watch.alerts.notifiers.post import post
from pfscope.watch.alerts.notifiers.secret import Secret, revealed
from pfscope.watch.alerts.templates import Message

_LONGEST = 3500


@dataclass(frozen=True)
class Slack:
    """`[notify.NAME] type = "slack"`."""

    url: Secret | str
    """Whoever knows it may post: better in a file than in the configuration."""
    channel: str = ""
    ca_file: str = ""
    proxy: str = ""
    timeout_us: int = 10_000_000

    def send(self, message: Message) -> str:
        """Post the text."""
        plain = {"text": slack_text(message)}
        if self.channel:
            plain["channel"] = self.channel
        url = revealed(self.url)
        headers = {"Idempotency-Key": message.notification.key}
        body = json.dumps(plain).encode("ascii")
        return post(url, body, headers, self.timeout_us, self.ca_file, self.proxy)


def slack_text(message: Message) -> str:
    """Return the message in Slack's own words."""
    text = message.text.strip("\n")
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"`{_code(message.subject)}`\n```\n{_code(text)}\n```"


def _code(text: str) -> str:
    r"""Return text that stays in its code and is shown as it is.

    >>> _code("<!channel> `@all`")
    "&lt;!channel&gt; '@all'"
    """
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("`", "'")
