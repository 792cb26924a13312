"""Interrupts a command at moments from its start to its end.

usage: interrupts.py MOMENTS COMMAND...

The command runs in an empty folder, which is that of temporary files, too, and
where `out` is the one file that it may leave, whole. Each time it ends by the
signal, as a shell expects (130), or is done; it says nothing.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time


def run(command, seconds):
    """Returns the exit code, the files left and what was said."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, "TMPDIR": folder}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Whoever starts the tests in the background ignores it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        if seconds is not None:
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
        said = process.communicate()[0]
        sizes = {name: os.path.getsize(os.path.join(folder, name))
                 for name in os.listdir(folder)}
        return process.returncode, sizes, said


def main(moments, *command):
    begin = time.monotonic()
    whole = run(command, None)
    length = time.monotonic() - begin
    assert whole[0] == 0 and whole[2] == b"" and list(whole[1]) == ["out"], whole
    interrupted = 0
    for moment in range(int(moments)):
        found = run(command, length * moment / int(moments))
        if found[0] == 0:
            assert found == whole, (moment, found)
            continue
        interrupted += 1
        assert found[0] == -signal.SIGINT, (moment, found)
        # It may be done already, all but the end of the process.
        assert found[1] in ({}, whole[1]), (moment, found)
        assert found[2] == b"", (moment, found)
    assert interrupted > int(moments) / 3, interrupted


main(*sys.argv[1:])
