"""Uses an explorer's page of bergamot-en-pt as a reader does, in a browser, and
leaves screenshots.

usage: click_through.py PAGE.html FOLDER"""

import json
import os
import sys

from browser import Browser
from read_page import read_data, read_text

page, folder = sys.argv[1:]
data = read_data(page)


def number_of(name):
    """Of a pass, the last of that name."""
    names = [each["name"] for each in data["passes"]]
    return len(names) - 1 - names[::-1].index(name)


def shot(browser, name):
    browser.screenshot(os.path.join(folder, name + ".png"))


def wait_for(browser, address):
    browser.wait("decodeURIComponent(document.documentElement.dataset.shown"
                 f" || '').startsWith({json.dumps(address)})")


def check_opening(browser):
    """Under a second, the best of three: other tests run at the same time."""
    times = []
    for _ in range(3):
        browser.open(page)
        times.append(int(browser.run("document.documentElement.dataset.opened")))
    print("opened in", times, "ms")
    assert min(times) < 1000, times
    assert browser.requests and all(
        url.startswith(("file:", "data:")) for url in browser.requests)
    shot(browser, "imported")


def check_texts(browser):
    """The script reads what Python reads."""
    for name in ("imported", "transformer-plan-memory", "transformer-tile-linear",
                 "assembly"):
        for number in data["passes"][number_of(name)]["functions"][1::2]:
            lines, names = read_text(data["texts"][number])
            shown = browser.run(
                f"textOf({number}).then(text => [text.lines, [...text.names]])")
            assert shown == [lines, [list(each) for each in names.items()]], number


def check_passes(browser):
    fusion = number_of("transformer-fuse-epilogues")
    browser.click(f'#passes [data-pass="{fusion}"]')
    wait_for(browser, f"#pass={fusion}")
    assert browser.run("document.querySelector('h2').textContent") == \
        "fuse-epilogues"
    for kind in ("added", "removed", "note", "fold"):
        assert browser.run(f"document.querySelectorAll('.row.{kind}').length"), kind
    note = browser.run("document.querySelector('.row.note').textContent")
    assert "adds its residual" in note, note
    shot(browser, "fuse-epilogues")
    # What was the same on both sides, unfolded; then in one column.
    first = "document.querySelector('.list .row .at')?.textContent"
    assert browser.run(first) != "1"
    browser.click(".row.fold")
    browser.wait(f"{first} === '1'")
    browser.click(".modes button:last-child")
    browser.wait("document.querySelectorAll('.code .list').length === 1")
    browser.click(".modes button:first-child")
    browser.wait("document.querySelectorAll('.code .list').length === 2")
    browser.press("j")
    wait_for(browser, f"#pass={fusion + 1}")
    browser.press("k")
    wait_for(browser, f"#pass={fusion}")


def check_attention(browser):
    """From an attention op to the assembly of its loop."""
    browser.click('#passes [data-pass="0"]')
    wait_for(browser, "#pass=0")
    browser.click('a.thread[title="Follow encoder_l1_self"]')
    wait_for(browser, "#op=encoder_l1_self")
    steps = browser.run(
        "[...document.querySelectorAll('.card')].map(card => card.textContent)")
    assert "transformer.attention" in steps[0], steps[0]
    assert any("online.probabilities" in step for step in steps)
    assert "assembly" in steps[-1] and "vfmadd" in steps[-1], steps[-1]
    assert "innermost loop of @attention_8x32" in steps[-1], steps[-1]
    shot(browser, "attention")
    browser.run("main.scrollTop = main.scrollHeight")
    shot(browser, "attention-assembly")
    browser.click(".card:last-child .when a")
    wait_for(browser, f"#pass={len(data['passes']) - 1}&fn=attention_8x32")
    browser.wait("[...document.querySelectorAll('.row code')]"
                 ".some(each => each.textContent.includes('vfmadd'))")
    shot(browser, "assembly")


def check_linear(browser):
    """By the search box; one linear of three, down to its tiles."""
    browser.press("/")
    browser.type("l3_self_Wk")
    browser.wait("document.querySelectorAll('#found a').length")
    shot(browser, "search")
    browser.press("Enter", text="\r")
    wait_for(browser, "#op=encoder_l3_self_Wk")
    steps = browser.run("document.getElementById('main').textContent")
    for words in ("read the same input", "linear.tile", "callq", "parameters"):
        assert words in steps, words


def check_tables(browser):
    browser.click('.views [data-view="masks"]')
    wait_for(browser, "#masks")
    browser.wait("document.querySelector('figure img').naturalWidth")
    shot(browser, "mask")
    browser.click("figcaption a")
    wait_for(browser, "#op=encoder_l1_self")
    browser.click('.views [data-view="layers"]')
    wait_for(browser, "#layers")
    rows = browser.run("document.querySelectorAll('tbody tr').length")
    assert rows > len(data["layers"]), rows
    browser.click(".modes button:last-child")
    wait_for(browser, "#layers&length=1024")
    shot(browser, "layers")
    browser.click("td.names a")
    wait_for(browser, "#fn=encode&op=Wemb")


def check_links(browser):
    """A line of a layer behind one pass, from an address alone."""
    phases = number_of("transformer-split-phases")
    address = f"#pass={phases}&fn=decode.step&op=decoder_l1_context"
    browser.send("Page.navigate", {"url": "about:blank"})
    browser.send("Page.navigate",
                 {"url": "file://" + os.path.abspath(page) + address})
    browser.wait("document.documentElement?.dataset.shown")
    assert browser.run("document.querySelectorAll('.row.chosen').length")
    # An address that was cut, or of another page.
    for address in ("#pass=999", "#op=%E0%A4%A", "#op=nobody", "#pass=x&fn=y"):
        browser.run(f"location.hash = {json.dumps(address)}")
        browser.wait("document.documentElement.dataset.shown === location.hash")


with Browser() as browser:
    for check in (check_opening, check_texts, check_passes, check_attention,
                  check_linear, check_tables, check_links):
        check(browser)
        assert not browser.errors, (check.__name__, browser.errors)
with Browser(dark=True) as browser:
    browser.open(page)
    browser.run("location.hash = '#op=encoder_l1_self'")
    wait_for(browser, "#op=encoder_l1_self")
    shot(browser, "dark")
    browser.resize(480, 800)
    browser.run("location.hash = '#pass=9'")
    wait_for(browser, "#pass=9")
    shot(browser, "narrow")
    assert not browser.errors, browser.errors
