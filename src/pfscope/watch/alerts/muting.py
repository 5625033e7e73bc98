"""Which alerts are kept quiet: by a silence that somebody made, or because another explains them.

A muted alert goes on in its states; only nobody is told. What mutes another may itself be muted.
"""

from collections.abc import Iterable, Mapping, Sequence

from pfscope.watch.alerts.model import Alert, Phase
from pfscope.watch.alerts.rules import Rule
from pfscope.watch.alerts.silences import Silence

FIRED = (Phase.FIRING, Phase.MISSING)
"""What fired and is not over, whether or not there is data."""


def muted_by(
    alerts: Iterable[Alert], rules: Mapping[str, Rule], silences: Sequence[Silence], now_us: int
) -> dict[str, str]:
    """Return why alerts are muted, by their ids."""
    open_alerts = [alert for alert in alerts if alert.phase in FIRED]
    sources = [alert for alert in open_alerts if rules[alert.rule].inhibits]
    active = [silence for silence in silences if silence.is_active(now_us)]
    found = {alert.id: _why(alert, rules, sources, active) for alert in open_alerts}
    return {name: why for name, why in found.items() if why}


def _why(
    alert: Alert, rules: Mapping[str, Rule], sources: list[Alert], silences: list[Silence]
) -> str:
    for silence in silences:
        if silence.fits(alert.labels):
            return f"silence {silence.id}"
    for source in sources:
        if rules[source.rule].mutes(alert.rule) and _agree(source, alert, rules[source.rule]):
            return f"rule {source.rule}"
    return ""


def _agree(source: Alert, alert: Alert, rule: Rule) -> bool:
    """Tell whether two alerts have a value in common for each label that matters."""
    assert rule.inhibits is not None
    return all(
        set(source.labels.get(label, ())) & set(alert.labels.get(label, ()))
        for label in rule.inhibits.equal
    )
