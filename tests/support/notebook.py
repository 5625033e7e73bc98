"""Runs the code cells of a notebook in order, in one namespace, as Jupyter would; without Jupyter.

    python -m tests.support.notebook NOTEBOOK [--names NAME,…]
    python -m tests.support.notebook NOTEBOOK --store [--browser PROGRAM]

The first prints as JSON what the cells print and show, and what names hold at the end. The second
writes it into the notebook, figures as SVG that a browser draws.
"""

import ast
import contextlib
import io
import json
from argparse import ArgumentParser
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go


class Ran(NamedTuple):
    """What a cell printed, and the value of its last line."""

    printed: str
    value: object


def read(path):
    """Return a notebook."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def code_cells(notebook):
    """Return the cells that are run."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(cells):
    """Run cells; return what each of them gave, and the namespace that they leave."""
    namespace = {"__name__": "__main__"}
    return [_run(cell, namespace) for cell in cells], namespace


def _run(cell, namespace):
    tree = ast.parse("".join(cell["source"]), cell["id"])
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, cell["id"], "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), cell["id"], "eval"), namespace)
    return Ran(printed.getvalue(), value)


def shown(ran):
    """Return what a cell prints, and its value as text; a figure is known by its traces."""
    if isinstance(ran.value, go.Figure):
        return ran.printed, f"<figure of {len(json.loads(ran.value.to_json())['data'])} traces>"
    return ran.printed, None if ran.value is None else repr(ran.value)


def stored(cell):
    """Return the same of the outputs in a notebook."""
    printed, text = "", None
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            printed += "".join(output["text"])
        else:
            text = "".join(output["data"]["text/plain"])
    return printed, text


def store(path, browser):
    """Run a notebook, and write its outputs into it."""
    notebook = read(path)
    cells = code_cells(notebook)
    results, _ = run(cells)
    drawn = iter(_drawn([r.value for r in results if isinstance(r.value, go.Figure)], browser))
    for number, (cell, ran) in enumerate(zip(cells, results, strict=True), 1):
        cell["execution_count"] = number
        cell["outputs"] = list(_outputs(ran, number, drawn))
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    Path(path).write_text(text + "\n", encoding="utf-8")


def _drawn(figures, browser):
    from pfscope.report.browser import images

    return [image.decode() for image in images(figures, "svg", browser)]


def _outputs(ran, number, drawn):
    printed, text = shown(ran)
    if printed:
        yield {"name": "stdout", "output_type": "stream", "text": _lines(printed)}
    if text is None:
        return
    data = {"text/plain": _lines(text)}
    if isinstance(ran.value, go.Figure):
        data["image/svg+xml"] = _lines(next(drawn))
    elif isinstance(ran.value, pd.DataFrame):
        data["text/html"] = _lines(ran.value.to_html(border=0))
    yield {
        "data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result",
    }  # fmt: skip


def _lines(text):
    return text.splitlines(keepends=True)


def tell(path, names):
    """Print what the cells of a notebook print and show, and what some names hold at the end."""
    cells = code_cells(read(path))
    results, namespace = run(cells)
    given = {cell["id"]: shown(ran) for cell, ran in zip(cells, results, strict=True)}
    held = {name: namespace[name] for name in names}
    print(json.dumps({"cells": given, "names": held}, default=sorted))


def main():
    """Do as the command line says."""
    parser = ArgumentParser()
    parser.add_argument("notebook")
    parser.add_argument("--names", default="", help="what to tell of the end: sets, mappings, …")
    parser.add_argument("--store", action="store_true", help="write it into the notebook")
    parser.add_argument("--browser", help="draws figures (default: one that is installed)")
    given = parser.parse_args()
    pd.set_option("display.max_columns", 20, "display.width", 120)  # no matter where this runs
    if given.store:
        store(given.notebook, given.browser)
    else:
        tell(given.notebook, [name for name in given.names.split(",") if name])


if __name__ == "__main__":
    main()
