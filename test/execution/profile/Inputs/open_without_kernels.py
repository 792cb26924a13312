"""Opens the page of a run whose code has no kernels.

usage: open_without_kernels.py PAGE.html"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..",
                                "explorer", "Inputs"))

from browser import Browser

with Browser() as browser:
    browser.open(sys.argv[1])
    words = browser.run("main.textContent")
    assert "No kernel counts its operations" in words, words
    assert "between kernels" in words, words
    assert not browser.errors, browser.errors
