# SPDX-License-Identifier: Apache-2.0
"""A model small enough for any machine: next-byte prediction by one matrix, trained with plain
gradient descent in the standard library. It reads its parameters from values/rank0.json and prints
Megatron-LM's step lines. `row_cache` changes only how fast it computes."""
import json
import math
import random
import time

values = json.load(open("values/rank0.json"))["parameters"]
SIZE, STEPS = values["vocab_size"], values["train_iters"]
BATCH, MICRO = values["global_batch_size"], values["micro_batch_size"]
LENGTH, RATE = values["seq_length"], values["lr"]
CACHE = values.get("row_cache", False)


def sample(index):
    chance = random.Random(values["seed"] * 1000003 + index)
    text = [chance.randrange(SIZE)]
    while len(text) <= LENGTH:
        text.append((text[-1] * 3 + chance.randrange(3)) % SIZE)
    return text


weights = [[0.0] * SIZE for _ in range(SIZE)]


def softmax(row):
    top = max(row)
    raised = [math.exp(x - top) for x in row]
    total = sum(raised)
    return [x / total for x in raised]


def micro_batch(first, gradient):
    loss, known = 0.0, {}
    for index in range(first, first + MICRO):
        text = sample(index)
        for here, there in zip(text, text[1:]):
            chances = known.get(here) if CACHE else None
            if chances is None:
                chances = known[here] = softmax(weights[here])
            loss -= math.log(chances[there])
            row = gradient[here]
            for i, chance in enumerate(chances):
                row[i] += chance
            row[there] -= 1.0
    return loss


for step in range(1, STEPS + 1):
    begun = time.time()
    gradient = [[0.0] * SIZE for _ in range(SIZE)]
    first = (step - 1) * BATCH
    loss = sum(micro_batch(first + at, gradient) for at in range(0, BATCH, MICRO))
    scale = 1.0 / (BATCH * LENGTH)
    norm = math.sqrt(sum((x * scale) ** 2 for row in gradient for x in row))
    for row, change in zip(weights, gradient):
        for i, x in enumerate(change):
            row[i] -= RATE * x * scale
    print(
        f" [{time.strftime('%Y-%m-%d %H:%M:%S')}] iteration {step:8}/{STEPS:8} | consumed samples: "
        f"{step * BATCH:12} | elapsed time per iteration (ms): {(time.time() - begun) * 1000:.1f} | "
        f"learning rate: {RATE:.6E} | global batch size: {BATCH:5} | lm loss: {loss * scale:.6E} | "
        f"loss scale: 1.0 | grad norm: {norm:.3f} | number of skipped iterations:   0 | "
        f"number of nan iterations:   0 |",
        flush=True,
    )
