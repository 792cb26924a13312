"""Talks to heddle-lsp-server as an editor does: what it is told about a module
with a mistake, about an op under the cursor, and where a value comes from.

usage: lsp_session.py SERVER MODULE.mlir"""

import json
import subprocess
import sys


class Editor:
    """A session over standard input and output."""

    def __init__(self, server):
        self.process = subprocess.Popen(
            [server], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.count = 0

    def send(self, method, params, **others):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        body = json.dumps(message | others).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body))
        self.process.stdin.write(body)
        self.process.stdin.flush()

    def receive(self, wanted):
        """The next message that `wanted` accepts."""
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                key, value = line.split(b":")
                if key.lower() == b"content-length":
                    length = int(value)
            if length == 0:
                sys.exit("the server has stopped")
            message = json.loads(self.process.stdout.read(length))
            if wanted(message):
                return message

    def ask(self, method, params):
        self.count += 1
        number = self.count
        self.send(method, params, id=number)
        answer = self.receive(lambda message: message.get("id") == number)
        if "error" in answer:
            sys.exit(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, uri, text):
        """What is wrong with a text: [(line, sentence), ...]."""
        document = {"uri": uri, "languageId": "mlir", "version": 1,
                    "text": text}
        self.send("textDocument/didOpen", {"textDocument": document})
        told = self.receive(
            lambda message: message.get("method")
            == "textDocument/publishDiagnostics"
            and message["params"]["uri"] == uri
        )
        return [
            (each["range"]["start"]["line"], each["message"])
            for each in told["params"]["diagnostics"]
        ]


def find(text, words, within=None):
    """Where the cursor is on the first character of `words`, which stand in the
    first line that holds `within`."""
    for number, line in enumerate(text.split("\n")):
        if (within or words) in line:
            return {"line": number, "character": line.index(words)}
    sys.exit(f"no line has '{within or words}'")


def main():
    server, path = sys.argv[1:]
    with open(path) as file:
        text = file.read()
    uri = "file:///module.mlir"
    editor = Editor(server)
    able = editor.ask("initialize", {"processId": None, "rootUri": None,
                                     "capabilities": {}})["capabilities"]
    assert able["hoverProvider"] and able["definitionProvider"], able
    editor.send("initialized", {})

    assert editor.open(uri, text) == []
    # An attribute that a verifier refuses, and an op that does not exist.
    wrong = text.replace("heads = 2", "heads = 3", 1)
    place = find(wrong, "heads = 3")["line"]
    told = editor.open("file:///heads.mlir", wrong)
    print("diagnostic:", told[0][1])
    assert len(told) == 1 and abs(told[0][0] - place) <= 4, (told, place)
    wrong = text.replace("transformer.attention", "transformer.atention", 1)
    print("diagnostic:", editor.open("file:///name.mlir", wrong)[0][1])

    def at(position):
        return {"textDocument": {"uri": uri}, "position": position}

    line = next(line for line in text.split("\n")
                if "= transformer.linear %" in line)
    hover = editor.ask("textDocument/hover",
                       at(find(text, "transformer.linear", line)))
    shown = hover["contents"]["value"]
    print("hover:", " ".join(shown.split())[:200])

    # From a use of a value to the line that defines it, from a symbol to its op.
    used = line.split("= transformer.linear ")[1].split(",")[1].split()[0]
    target = editor.ask("textDocument/definition",
                        at(find(text, used, line)))
    got = target[0]["range"]["start"]["line"]
    defined = text.split("\n")[got]
    print("definition:", defined.strip())
    assert defined.strip().startswith(used + " ="), (used, defined)
    symbol = "@" + defined.split("@")[1].split(" ")[0].strip()
    position = find(text, symbol, defined)
    position["character"] += 1
    target = editor.ask("textDocument/definition", at(position))
    print("symbol:", text.split("\n")[target[0]["range"]["start"]["line"]].strip())

    editor.ask("shutdown", None)
    editor.send("exit", None)
    assert editor.process.wait(timeout=20) == 0


main()
