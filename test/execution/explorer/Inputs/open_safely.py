"""Opens a page whose names are markup: they are shown, and nothing runs.

usage: open_safely.py PAGE.html NAME"""

import json
import sys

from browser import Browser

page, name = sys.argv[1:]
with Browser() as browser:
    browser.open(page)
    browser.run(f"location.hash = link({{op: {json.dumps(name)}}})")
    browser.wait("document.documentElement.dataset.shown === location.hash")
    assert browser.run("document.querySelector('h2').textContent") == name
    cards = browser.run("document.querySelectorAll('.card').length")
    assert cards > 5, cards
    for address in ("#pass=0", "#layers", "#masks"):
        browser.run(f"location.hash = '{address}'")
        browser.wait(f"document.documentElement.dataset.shown === '{address}'")
    browser.press("/")
    browser.type("script")
    browser.wait("document.querySelectorAll('#found a').length")
    assert "explorer" in browser.run("document.title")
    assert browser.run("document.scripts.length") == 2
    assert not browser.errors, browser.errors
