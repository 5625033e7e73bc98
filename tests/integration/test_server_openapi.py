"""The description of the interface, driven by schemathesis: it is true, and nothing ends in 5xx."""

import pytest
import schemathesis
from hypothesis import HealthCheck, assume, given, settings

from pfscope.server import openapi
from pfscope.server.limits import Limits
from tests.support.server_world import server

CASES = [
    (path, method, mode)
    for path, item in openapi.document()["paths"].items()
    for method, operation in item.items()
    for mode in schemathesis.GenerationMode
    # Where nothing can be chosen, nothing can be wrong.
    if mode.is_positive or "requestBody" in operation
]


@schemathesis.serializer("application/vnd.pfscope.frames")
def frames(_context, value):
    return getattr(value, "data", None) or str(value).encode()


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    with server(tmp_path_factory.mktemp("data"), Limits(body_s=5)) as world:
        yield schemathesis.openapi.from_url(f"{world.url}/api/v1/openapi.json")


@pytest.mark.parametrize(("path", "method", "mode"), CASES)
def test_every_answer_is_as_described(described, path, method, mode):
    strategy = described[path][method].as_strategy(generation_mode=mode)

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=strategy)
    def drive(case):
        if mode.is_positive and "requestBody" in case.operation.definition.raw:
            # What a description cannot say: the body is as its encoding says; and what
            # schemathesis overlooks where bytes are asked for: there is at least one.
            case.headers.pop("Content-Encoding", None)
            assume(getattr(case.body, "data", case.body))
        case.call_and_validate()

    drive()
