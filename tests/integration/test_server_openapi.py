"""The description of the interface, driven by schemathesis: it is true, and nothing ends in 5xx."""

import pytest
import schemathesis
from hypothesis import HealthCheck, assume, given, settings
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from pfscope.config import Config
from pfscope.server import openapi
from pfscope.server.engine import Engine
from pfscope.server.export import PATH as EXPORT
from pfscope.server.incidents import PATH as INCIDENTS
from pfscope.server.limits import Limits
from pfscope.server.openapi_query import PATH
from tests.support.query_store import make_store
from tests.support.server_world import server

CASES = [
    (path, method, mode)
    for path, item in openapi.document()["paths"].items()
    for method, operation in item.items()
    for mode in schemathesis.GenerationMode
    # Where nothing can be chosen, nothing can be wrong.
    if mode.is_positive or "requestBody" in operation or "parameters" in operation
    # Its answer never ends.
    if path != "/api/v1/live"
]
# Which texts make sense together, and which operations there are, no description can say.
FREE = (negative_data_rejection, positive_data_acceptance)
SENSIBLE = {"from": "-1h", "to": "now", "step": "1m", "operation": "open", "format": "json",
            "at": "-1m", "sort": "iops", "over": "60s"}  # fmt: skip


@schemathesis.serializer("application/vnd.pfscope.frames")
def frames(_context, value):
    return getattr(value, "data", None) or str(value).encode()


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    directory, limits = make_store(tmp_path_factory.mktemp("data")), Limits(body_s=5)
    engine = Engine.open(directory, Config(), limits)
    with server(directory, limits, engine=engine) as world:
        yield schemathesis.openapi.from_url(f"{world.url}/api/v1/openapi.json")


@pytest.mark.parametrize(("path", "method", "mode"), CASES)
def test_every_answer_is_as_described(described, path, method, mode):
    strategy = described[path][method].as_strategy(generation_mode=mode)

    asks = path.startswith((f"{PATH}/", INCIDENTS, EXPORT, "/api/v1/now"))

    @settings(
        max_examples=10 if asks else 25, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=strategy)
    def drive(case):
        if mode.is_positive and "requestBody" in case.operation.definition.raw:
            # What a description cannot say: the body is as its encoding says; and what
            # schemathesis overlooks where bytes are asked for: there is at least one.
            case.headers.pop("Content-Encoding", None)
            assume(getattr(case.body, "data", case.body))
        if mode.is_positive and asks:
            case.query = {name: SENSIBLE.get(name, value) for name, value in case.query.items()}
        case.call_and_validate(excluded_checks=FREE if asks else ())

    drive()
