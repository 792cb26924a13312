"""Opens the page of a run as if its code had no kernels.

usage: open_without_kernels.py PAGE.html"""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..",
                                "explorer", "Inputs"))

from browser import Browser
from read_page import read_data

data = read_data(sys.argv[1])
data["kernels"] = []
for function in data["functions"]:
    function["places"] = function["median"]["kernels"] = []
with open(sys.argv[1], encoding="utf-8") as file:
    page = re.sub(r'(?s)(id="data">).*?(</script>)',
                  lambda found: found[1] + json.dumps(data) + found[2],
                  file.read())
with open("none.html", "w", encoding="utf-8") as file:
    file.write(page)

with Browser() as browser:
    browser.open("none.html")
    words = browser.run("main.textContent")
    assert "No kernel counts its operations" in words, words
    assert "between kernels" in words, words
    assert not browser.errors, browser.errors
