"""The page's files: whole, kept by browsers for good, and unable to run what a user wrote."""

import re
from posixpath import dirname, join, normpath

import pytest

from pfscope.web.pages import VIEWS, digest, files, routes
from tests.support.server_world import server

SCRIPTS = sorted(name for name in files() if name.endswith(".js"))


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with server(tmp_path_factory.mktemp("data"), pages=routes()) as world:
        yield world.client


@pytest.mark.parametrize("path", VIEWS)
def test_every_view_is_the_shell_with_no_inline_script_or_style(client, path):
    answer = client.get(path, params={"name": "<script>alert(1)</script>"})
    assert answer.status_code == 200
    assert "alert" not in answer.text
    assert re.findall(r"<script(?![^>]* src=)", answer.text) == []
    assert "<style" not in answer.text
    assert " style=" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_what_the_shell_names_is_there_and_kept_for_good(client):
    named = re.findall(r'(?:src|href)="(/page/[^"]+)"', client.get("/").text)
    assert {path.split("/", 3)[3] for path in named} == set(files())
    for path in named:
        answer = client.get(path)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("name", ["../pages.py", "%2e%2e/pages.py", "nothing.js", "views", ""])
def test_nothing_but_the_files_of_the_page_is_served(client, name):
    assert client.get(f"/page/{digest()}/{name}").status_code == 404


def test_a_file_of_another_release_is_not_served(client):
    assert client.get("/page/0123456789abcdef/main.js").status_code == 404


@pytest.mark.parametrize("name", SCRIPTS)
def test_modules_import_what_is_there(name):
    text = files()[name].decode()
    for found in re.findall(r'^import .*?from "(\..*?)";$', text, re.MULTILINE):
        assert normpath(join(dirname(name), found)) in files(), found


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_text_can_become_markup_or_script(name):
    text = files()[name].decode()
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc"
    assert re.findall(ways, text) == []
    assert "https://" not in text
    if name != "base/dom.js":
        made = re.findall(r'createElement(?:NS)?\("?(\w+)', text)
        assert set(made) <= {"canvas", "a"}, "elements are made by base/dom.js"


@pytest.mark.parametrize("name", files())
def test_files_are_small(name):
    assert files()[name].count(b"\n") < 300


@pytest.mark.parametrize("name", SCRIPTS)
def test_modules_use_what_they_import(name):
    text = files()[name].decode()
    imported = re.findall(r"^import \{([^}]*)\} from", text, re.MULTILINE)
    names = [one.split(" as ")[-1].strip() for list_ in imported for one in list_.split(",")]
    assert [one for one in names if len(re.findall(rf"\b{re.escape(one)}\b", text)) < 2] == []
