"""Drives a window without a terminal: keys go in, the screen is read as text."""

import asyncio
import time

from pfscope.top.app import Top
from pfscope.top.view import View
from pfscope.top.window import Wanted
from tests.support.top_site import END_US, StoreSource

NOW_US = END_US + 2 * 10**6


def window(source=None, *, view=None, remembers=None, **wanted):
    """Return a window whose clock stands two seconds after the last observation."""
    found = Wanted(view or View(), **wanted)
    return Top(source or StoreSource(), found, clock_us=lambda: NOW_US, remembers=remembers)


def screen(app):
    """Return the lines of the screen."""
    strips = app.screen._compositor.render_strips()
    return [strip.text.rstrip() for strip in strips]


def styled(app, text):
    """Return how a text is drawn where it stands first."""
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            if text in segment.text and segment.style:
                return segment.style
    raise AssertionError(f"{text!r} is not on the screen")


class Hand:
    """Presses keys, and waits until the screen is as it should be."""

    def __init__(self, app, pilot):
        self.app, self.pilot = app, pilot

    async def press(self, *keys):
        await self.pilot.press(*keys)

    async def asked(self, **words):
        """Wait until the last question has some words."""
        deadline = time.monotonic() + 20
        while not words.items() <= self.app._source.asked[-1].items():
            assert time.monotonic() < deadline, self.app._source.asked[-1]
            await self.pilot.pause(0.02)

    async def until(self, *texts, gone=()):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            shown = "\n".join(screen(self.app))
            if all(text in shown for text in texts) and not any(text in shown for text in gone):
                return shown
            await self.pilot.pause(0.02)
        raise AssertionError("\n".join([f"never: {texts} without {gone}", *screen(self.app)]))


def drive(app, script, size=(80, 24)):
    """Run a script with a hand on the window."""

    async def run():
        async with app.run_test(size=size) as pilot:
            hand = Hand(app, pilot)
            return await script(hand)

    return asyncio.run(run())
