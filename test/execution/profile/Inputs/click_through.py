"""Uses the page of a run of bergamot-en-pt as a reader does, in a browser, and
leaves screenshots.

usage: click_through.py PAGE.html FOLDER"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..",
                                "explorer", "Inputs"))

from browser import Browser
from read_page import read_data

page, folder = sys.argv[1:]
data = read_data(page)
functions = {each["name"]: each for each in data["functions"]}


def shot(browser, name):
    browser.screenshot(os.path.join(folder, name + ".png"))


def count(browser, selector):
    return browser.run(
        f"document.querySelectorAll({json.dumps(selector)}).length")


def text(browser, selector):
    return browser.run(
        f"document.querySelector({json.dumps(selector)}).textContent")


def hover(browser, selector):
    """Moves the pointer there; returns the hint."""
    found = f"document.querySelector({json.dumps(selector)})"
    browser.run(f"{found}.scrollIntoView({{block: 'center'}})")
    x, y = browser.run(f"""(() => {{
      const box = {found}.getBoundingClientRect();
      return [box.x + Math.min(box.width / 2, 40), box.y + box.height / 2];
    }})()""")
    browser.send("Input.dispatchMouseEvent",
                 {"type": "mouseMoved", "x": x, "y": y})
    browser.wait("!document.getElementById('tip').hidden")
    return text(browser, "#tip")


def check_opening(browser):
    browser.open(page)
    assert browser.requests and all(
        url.startswith(("file:", "data:")) for url in browser.requests)
    assert text(browser, "h1") == "bergamot-en-pt"
    assert text(browser, "#isa") == data["isa"]
    assert count(browser, ".part") == len(functions)
    # Nothing is wider than the page, nor would be with names of any length and
    # all layers open.
    assert browser.run("main.scrollWidth <= main.clientWidth")
    assert browser.run("""(() => {
      for (const fold of document.querySelectorAll(".fold")) fold.click();
      const cells = [...document.querySelectorAll("td.names:not([colspan]), #layers td.type")];
      const before = cells.map(cell => cell.innerHTML);
      for (const cell of cells) (cell.querySelector("button") || cell).append("_256x1536".repeat(12));
      const fits = [...document.querySelectorAll(".table")].every(each =>
        each.scrollWidth <= each.clientWidth);
      cells.forEach((cell, index) => { cell.innerHTML = before[index]; });
      return fits;
    })()""")
    browser.open(page)
    shot(browser, "top")


def check_flame(browser):
    shown = browser.run("document.documentElement.dataset.flame")
    assert shown != "encode" and shown in functions, shown
    for name in ("encode", shown):
        button = list(browser.run(
            "[...document.querySelectorAll('#flame .modes button')]"
            ".map(each => each.textContent)")).index(name) + 1
        browser.click(f"#flame .modes button:nth-child({button})")
        browser.wait("document.documentElement.dataset.flame === "
                     + json.dumps(name))
        median = functions[name]["median"]
        assert count(browser, ".level2.block") == len(median["kernels"])
        # Blocks stand where their calls were.
        starts = browser.run("""(() => {
          const whole = document.getElementById("flame-levels").getBoundingClientRect();
          return [...document.querySelectorAll(".level2.block")].map(each =>
            (each.getBoundingClientRect().x - whole.x) / whole.width);
        })()""")
        for start, call in zip(starts, median["kernels"]):
            assert abs(start - call["start"] / median["seconds"]) < 0.003
        shot(browser, "flame-" + name)
    browser.click("#flame .modes button:first-child")
    hint = hover(browser, ".level2.block")
    assert "FLOPs" in hint or "GB/s" in hint, hint
    # A layer alone, and all again.
    widest = """(() => {
      const widthOf = each => each.getBoundingClientRect().width;
      const layers = [...document.querySelectorAll(".level1.block")];
      const widest = layers.reduce((a, b) => widthOf(a) < widthOf(b) ? b : a);
      widest.id = "widest";
      return widthOf(widest) / widthOf(document.getElementById("flame-levels"));
    })()"""
    whole = browser.run(widest)
    browser.click("#widest")
    browser.wait("!document.getElementById('flame-whole').hidden")
    alone = browser.run(widest)
    assert whole < alone and alone > 0.99, (whole, alone)
    shot(browser, "flame-layer")
    browser.press("Escape")
    browser.wait("document.getElementById('flame-whole').hidden")
    assert abs(browser.run(widest) - whole) < 0.003


def check_keys(browser):
    """From block to block, without the mouse."""
    browser.run("document.querySelector('.block.level0').focus()")
    for key, level in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
        browser.press(key)
        assert browser.run(
            f"document.activeElement.classList.contains('level{level}')"), key
        assert browser.run("!document.getElementById('tip').hidden"), key
    first = browser.run("document.activeElement.textContent")
    browser.press("ArrowRight")
    assert browser.run("document.activeElement.textContent") != first
    browser.press("ArrowLeft")
    assert browser.run("document.activeElement.textContent") == first
    # One stop of the Tab key for all blocks.
    assert count(browser, ".block[tabindex='0']") == 1


def check_roofline(browser):
    browser.click('.views a[href="#roofline"]')
    dots = [kernel for kernel in data["kernels"]
            if kernel["flops"] and kernel["bytes"]]
    assert count(browser, ".dot") == len(dots)
    # None stands outside of the picture.
    assert browser.run("""[...document.querySelectorAll(".dot")].every(dot =>
      dot.cx.baseVal.value > 64 && dot.cx.baseVal.value < 1050 &&
      dot.cy.baseVal.value > 18 && dot.cy.baseVal.value < 386)""")
    # The last one, which no other covers.
    hint = hover(browser, ".dot:last-of-type")
    assert dots[-1]["name"] in hint and "of the peak" in hint, hint
    shot(browser, "roofline")


def check_tables(browser):
    browser.click('.views a[href="#layers"]')
    rows = count(browser, "#layers tr:not([hidden])")
    browser.run("[...document.querySelectorAll('.fold')].find(each => "
                "each.textContent === 'encoder_l1').id = 'first'")
    browser.click("#first")
    browser.wait("document.getElementById('first').ariaExpanded === 'true'")
    opened = count(browser, "#layers tr:not([hidden])") - rows
    layer = [place for place in functions["encode"]["places"]
             if (place["layer"] or "").startswith("encoder_l1_")]
    assert opened == len(layer) > 1, (opened, len(layer))
    shot(browser, "layers")
    browser.click("#first")
    assert count(browser, "#layers tr:not([hidden])") == rows
    # Layers and what is between kernels are their function, row by row.
    for name, function in functions.items():
        shares = browser.run(f"""[...document.querySelectorAll("#layers tbody")]
          .find(each => each.querySelector("th").textContent === "{name}")
          .querySelectorAll("tr:not(.place)").length""")
        assert shares >= 2, name
        seconds = browser.run(f"""(() => {{
          const each = data.functions.find(one => one.name === "{name}");
          return layersOf(each).reduce((sum, layer) => sum + layer.seconds,
                                       each.between); }})()""")
        assert abs(seconds - function["seconds"]) < 1e-9, name
    browser.click('.views a[href="#kernels"]')
    assert count(browser, "#kernels tbody tr") == len(data["kernels"]) + 1
    shot(browser, "kernels")


def check_names(browser):
    """Names of other families of models."""
    for names, layer, part in (
            ("encoder_l1_self_Wq+encoder_l1_self_Wk", "encoder_l1",
             "self_Wq +1"),
            ("model.encoder.layers.0.self_attn.q_proj.weight", "encoder.layers.0",
             "self_attn.q_proj"),
            ("encoder.self_attention.query", "encoder.self_attention", "query"),
            ("model.shared", "shared", ""),
            ("Wemb", "Wemb", "")):
        found = browser.run(f"splitName({json.dumps(names)})")
        assert found == {"layer": layer, "part": part}, (names, found)


with Browser(width=1280, height=1600) as browser:
    for check in (check_opening, check_flame, check_keys, check_roofline,
                  check_tables, check_names):
        check(browser)
        assert not browser.errors, (check.__name__, browser.errors)
with Browser(width=1200, height=1600, dark=True) as browser:
    browser.open(page)
    assert browser.run("main.scrollWidth <= main.clientWidth")
    shot(browser, "dark")
    browser.resize(480, 800)
    shot(browser, "narrow")
    assert not browser.errors, browser.errors
