#!/usr/bin/env python3
"""Stands in for a serving engine: called by the name of one, it records what it was given, keeps
children as engines do, answers /health on the port of its arguments, and fails on demand.

STAND_IN is a folder: events go to its file `events` as JSON lines; a file `fail-PORT` in it ends
the process on that port, a file `sick-PORT` lets /health answer 503 for as long as it is there.
"""
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

folder = os.environ["STAND_IN"]
program = os.path.basename(sys.argv[0])
arguments = sys.argv[1:]


def value(name, default=None):
    return arguments[arguments.index(name) + 1] if name in arguments else default


def record(**event):
    line = json.dumps({"program": program, "port": port, **event}) + "\n"
    with open(os.path.join(folder, "events"), "a", encoding="utf-8") as events:
        events.write(line)


port = int(value("--port", 0))
if program == "nginx":  # its port is in its configuration
    with open(value("-c"), encoding="utf-8") as conf:
        port = int(re.search(r"listen (\d+);", conf.read()).group(1))
if program == "trtllm-serve" and arguments[0] == "disaggregated":
    with open(value("-c"), encoding="utf-8") as conf:
        port = int(re.search(r"^port: (\d+)", conf.read(), re.MULTILINE).group(1))
if program == "mpirun":
    os.execvp(arguments[arguments.index("--") + 1], arguments[arguments.index("--") + 1 :])
if program == "trtllm-llmapi-launch":  # the first rank serves, the others are its workers
    if os.environ.get("SLURM_PROCID", "0") == "0":
        os.execvp(arguments[0], arguments)
    port = 0

record(
    event="start",
    arguments=arguments,
    devices=os.environ.get("CUDA_VISIBLE_DEVICES"),
    node=os.environ.get("STAND_IN_ADDRESS", ""),
    rank=os.environ.get("SLURM_PROCID", ""),
)
sleep = [os.environ["REAL_PYTHON"], "-c", "import time; time.sleep(600)"]
subprocess.Popen(sleep)  # a plain child
subprocess.Popen(sleep, start_new_session=True)  # one that leaves the session, as daemons do
if os.environ.get("TEST_STUBBORN"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(sleep)  # inherits that it ignores SIGTERM


class Health(http.server.BaseHTTPRequestHandler):
    seen = False

    def do_GET(self):
        sick = os.path.exists(os.path.join(folder, f"sick-{port}"))
        ok = self.path == "/health" and not sick
        if ok and not Health.seen:
            Health.seen = True
            record(event="healthy")
        self.send_response(200 if ok else 503)
        self.end_headers()

    def log_message(self, *_):
        pass


if port == 0 or "--headless" in arguments:
    while True:
        time.sleep(0.1)
address = os.environ.get("STAND_IN_ADDRESS", "127.0.0.1")
server = http.server.ThreadingHTTPServer((address, port), Health)
threading.Thread(target=server.serve_forever, daemon=True).start()
while True:
    if os.path.exists(os.path.join(folder, f"fail-{port}")):
        print(f"{program} on port {port}: CUDA out of memory", file=sys.stderr, flush=True)
        os._exit(3)
    time.sleep(0.05)
