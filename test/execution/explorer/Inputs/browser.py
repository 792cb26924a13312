"""A headless Chromium, driven over a pipe by the DevTools protocol."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    """One page. As a context manager it ends the browser and its files."""

    def __init__(self, width=1440, height=900, dark=False):
        self.folder = tempfile.mkdtemp(prefix="browser-")
        self.numbers = itertools.count(1)
        self.waiting = b""
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def place_pipes():
            # The browser reads 3 and writes 4. Neither copy may overwrite the
            # other's source.
            reads, writes = os.dup(to_browser), os.dup(from_browser)
            reads, writes = os.dup(reads), os.dup(writes)
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-sync",
             "--disable-component-update", "--remote-debugging-pipe",
             f"--user-data-dir={self.folder}",
             f"--window-size={width},{height}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=place_pipes,
            close_fds=False,
        )
        os.close(to_browser)
        os.close(from_browser)
        # What the page asked of the network, and what went wrong in it.
        self.requests, self.errors = [], []
        target = self.send("Target.createTarget", {"url": "about:blank"})
        self.session = None
        attached = self.send("Target.attachToTarget", {
            "targetId": target["targetId"], "flatten": True})
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(domain + ".enable")
        self.resize(width, height)
        self.send("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}]})

    session = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self, deadline):
        while b"\0" not in self.waiting:
            ready, _, _ = select.select([self.read_end], [], [],
                                        max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            self.waiting += os.read(self.read_end, 1 << 20)
        message, self.waiting = self.waiting.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get(
                "description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])

    def send(self, method, params=None, timeout=60):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params or {}}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            answer = self.receive(deadline)
            if answer.get("id") != number:
                self.note(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]

    def run(self, script):
        """The value of an expression in the page."""
        result = self.send("Runtime.evaluate", {
            "expression": script, "awaitPromise": True,
            "returnByValue": True})
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get(
                "description", result["exceptionDetails"]["text"]))
        return result["result"].get("value")

    def wait(self, script, seconds=30):
        """Waits until an expression in the page is true; returns its value."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.03)
        raise TimeoutError(f"never true: {script}")

    def open(self, path):
        self.send("Page.navigate", {"url": "file://" + os.path.abspath(path)})
        self.wait("document.documentElement?.dataset.opened")

    def resize(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1,
            "mobile": False})

    def click(self, selector):
        """Clicks into the first element that `selector` finds; the end of a long
        line of code may be out of sight."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"{found} && ({found}.scrollIntoView("
                  """{block: "nearest"}), true)""")
        # Lists draw what has come into view.
        time.sleep(0.1)
        box = self.wait(f"""(() => {{
          const element = {found};
          if (!element) return null;
          const box = element.getBoundingClientRect();
          return [box.x + Math.min(box.width, 200) / 2,
                  box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", {
                "type": kind, "x": box[0], "y": box[1], "button": "left",
                "clickCount": 1})

    def press(self, key, text=None):
        names = {"key": key, "code": key}
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40}
        names["windowsVirtualKeyCode"] = codes.get(key, ord(key[0].upper()))
        if text is not None or len(key) == 1:
            names["text"] = text or key
        self.send("Input.dispatchKeyEvent", {"type": "keyDown", **names})
        self.send("Input.dispatchKeyEvent", {"type": "keyUp", **names})

    def type(self, text):
        self.send("Input.insertText", {"text": text})

    def screenshot(self, path):
        picture = self.send("Page.captureScreenshot", {"format": "png"})
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))
