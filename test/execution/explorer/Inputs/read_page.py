"""Reads the data of an explorer's page as its script does, and compares it with
the folder of --dump-passes: every line that a pass left is in the page.

usage: read_page.py PAGE.html DUMP"""

import base64
import glob
import html.parser
import json
import os
import re
import sys
import zlib


class Scripts(html.parser.HTMLParser):
    """The texts of script elements, by id."""

    def __init__(self):
        super().__init__()
        self.texts, self.inside = {}, None

    def handle_starttag(self, tag, attributes):
        if tag == "script":
            self.inside = dict(attributes).get("id")

    def handle_endtag(self, tag):
        if tag == "script":
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.texts[self.inside] = self.texts.get(self.inside, "") + data


def read_data(path):
    with open(path, encoding="utf-8") as file:
        scripts = Scripts()
        scripts.feed(file.read())
    return json.loads(scripts.texts["data"])


def number_again(text):
    last = {}

    def replace(match):
        name = match[1]
        last[name] = last.get(name, 0) + int(match[2])
        return f"%{name}{last[name]}"

    return re.sub(r"%([\w$.-]*)~(-?\d+)", replace, text, flags=re.ASCII)


def read_text(encoded):
    """The lines of a function, and the numbers of names that lines have."""
    header, text = zlib.decompress(base64.b64decode(encoded)).decode().split(
        "\n", 1)
    if header.startswith("~"):
        header, text = header[1:], number_again(text)
    names, line = {}, 0
    for part in header.split():
        distance, number = map(int, part.split(":"))
        line += distance
        names[line] = number
    return text.rstrip("\n").split("\n"), names


def main():
    page, dump = sys.argv[1:]
    data = read_data(page)
    texts = [read_text(text)[0] for text in data["texts"]]
    files = sorted(glob.glob(os.path.join(dump, "*.mlir")))
    passes = [each for each in data["passes"] if each["name"] != "assembly"]
    assert len(passes) == len(files) > 30, (len(passes), len(files))
    for each, path in zip(passes, files):
        assert os.path.basename(path)[3:-5] == each["name"], path
        shown = []
        for number in each["functions"][1::2]:
            shown += texts[number]
        with open(path, encoding="utf-8") as file:
            dumped = [line.removeprefix("  ")
                      for line in file.read().split("\n") if line.strip()]
        shown = [line for line in shown if line.strip()]
        assert sorted(shown) == sorted(dumped), path
    print(len(files), "passes,", sum(map(len, texts)), "lines")


if __name__ == "__main__":
    main()
