"""The routes of the page: the shell at every address of a view, and its files for good.

Files lie under a digest of them all, so that browsers may keep them and never show old ones.
"""

import hashlib
import mimetypes
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pfscope.web.shell import POLICY, shell

VIEWS: Final = (
    "/", "/history", "/incidents", "/incident", "/mine", "/quality", "/sign-in",
    "/user", "/job", "/project", "/group", "/node", "/executable", "/partition",
    "/target", "/server", "/filesystem",
)  # fmt: skip
"""Addresses that people share; names stand in the query, where they can hold anything."""
_FOR_GOOD: Final = "public, max-age=31536000, immutable"
_SAFE: Final = {"Content-Security-Policy": POLICY}


def routes() -> list[Route]:
    """Return the routes of all views and of the files that they need."""
    views = [Route(path, _view, methods=["GET"]) for path in VIEWS]
    return [*views, Route("/page/{digest}/{name:path}", _file, methods=["GET"])]


@cache
def files() -> Mapping[str, bytes]:
    """Return the files that the page is made of, by their names."""
    return dict(_found(resources.files(__package__).joinpath("static")))


def _found(folder: Traversable, within: str = "") -> list[tuple[str, bytes]]:
    found = []
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        name = within + item.name
        found += _found(item, f"{name}/") if item.is_dir() else [(name, item.read_bytes())]
    return found


@cache
def digest() -> str:
    """Return what changes when any of the files does."""
    together = hashlib.sha256()
    for name, content in files().items():
        together.update(f"{name}\0{len(content)}\0".encode() + content)
    return together.hexdigest()[:16]


@cache
def _shell() -> str:
    modules = [name for name in files() if name.endswith(".js") and name != "theme.js"]
    return shell(f"/page/{digest()}/", modules)


async def _view(_request: Request) -> Response:
    return Response(_shell(), media_type="text/html; charset=utf-8", headers=_SAFE)


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if request.path_params["digest"] != digest() or name not in files():
        raise HTTPException(404)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    kind = "text/javascript" if name.endswith(".js") else kind
    text = kind.startswith("text/")
    media_type = f"{kind}; charset=utf-8" if text else kind
    return Response(files()[name], media_type=media_type, headers={"Cache-Control": _FOR_GOOD})
