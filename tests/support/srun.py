#!/usr/bin/env python3
"""Stands in for srun: runs the tasks of a step on this machine, "nodes" being loopback addresses.
Records its options; the first task that fails ends the step, as --kill-on-bad-exit does."""
import json
import os
import signal
import subprocess
import sys
import time

end = sys.argv.index("bash")
options = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:end] if "=" in word)
with open(os.path.join(os.environ["STAND_IN"], "events"), "a", encoding="utf-8") as events:
    events.write(json.dumps({"event": "srun", "options": options, "words": sys.argv[1:end]}) + "\n")
nodes = options["nodelist"].split(",")
assert len(nodes) == int(options["nodes"]), "srun: --nodelist and --nodes differ"
each = int(options["ntasks-per-node"])
assert len(nodes) * each == int(options["ntasks"]), "srun: --ntasks and --ntasks-per-node differ"
tasks = []
for rank in range(int(options["ntasks"])):
    node = nodes[rank // each]
    more = {"SLURM_PROCID": str(rank), "STAND_IN_ADDRESS": node}
    tasks.append(subprocess.Popen(sys.argv[end:], env={**os.environ, **more}))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
try:
    while all(task.poll() is None for task in tasks):
        time.sleep(0.05)
    code = next(task.returncode for task in tasks if task.poll() is not None)
    sys.exit(code if code >= 0 else 128 - code)
finally:
    for task in tasks:
        task.terminate()
