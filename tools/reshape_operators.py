# SPDX-License-Identifier: Apache-2.0
"""Reshapes golden operator queries of AIConfigurator 0.12.0 (one JSON object a line: gpu, framework,
version, mode, op, run, expect) into this project's operators and points, and selects a fixture.

    reshape_operators.py GOLDEN.jsonl SYSTEMS_FOLDER ALL.jsonl [FIXTURE.jsonl]

What the rival adds to the kernel's time and this project does not is taken off here: the constant
1.1 x (RoPE + cache write of one token) of prefill attention. Its mean over five KV lengths is kept
as the list of lengths. Records whose operator the project does not have, and expected errors, are
counted and left out. SYSTEMS_FOLDER holds <gpu>.json (perfdb/systems)."""
import collections
import json
import math
import random
import sys

WIDTH = {"bfloat16": 2, "fp8": 1, "fp8_block": 1, "int8": 1}
MODES = {"SILICON": "measured", "HYBRID": "hybrid", "SOL": "roofline"}
KINDS = {"all_gather": 0, "reduce_scatter": 1, "all_reduce": 2, "alltoall": 3}
PER_GROUP = 3  # records of one (gpu, framework, tag, operator) in the fixture


def copy_ms(gpu, size, roofline):
    if roofline:
        return size / gpu["memory_bytes_per_s"] * 1e3
    return size / (gpu["memory_bytes_per_s"] * gpu["memory_efficiency"]) * 1e3 + gpu["launch_ms"]


def rope_and_cache_write(gpu, o, roofline):
    q, k, width = o["n"] * o["head_size"], o["n_kv"] * o["head_size"], WIDTH[o["fmha_quant_mode"]]
    m = lambda size: copy_ms(gpu, size, roofline)
    extra = 2 * m(2 * q + 2 * k) + 2 * m(k * width)
    if o["use_qk_norm"]:
        extra += 2 * (2 * m(2 * q) + 2 * m(2 * k))
    return 1.1 * extra


def five_lengths(s):
    low = max(int(0.9 * s), 1)
    high = max(int(1.1 * s), low)
    return [low + (high - low) * i // 4 for i in range(5)]


def alpha(name):
    return 0 if name == "balanced" else float(name.removeprefix("power_law_"))


def reshape(record, gpu):
    """(operator family, shape, point, ms) or None."""
    (kind, o), = record["op"].items()
    run, ms = record["run"], record["expect"]["latency_ms"]
    roofline = record["mode"] == "SOL"
    ms /= o.get("scale_factor", 1)
    x = run["x"] // o.get("scale_num_tokens", 1)
    tokens = {"tokens": math.ceil(x / o.get("seq_split", 1))}
    batch, s, prefix = run["batch_size"], run["s"], run["prefix"]
    if o.get("cp_size", 1) > 1 or run["imbalance"] != 1:
        return None
    if kind == "Gemm":
        if o["low_precision_input"]:
            return None
        return "gemm", {"quant": o["quant_mode"], "n": o["n"], "k": o["k"]}, tokens, ms
    if kind == "ContextAttention":
        shape = {"heads": o["n"], "kv_heads": o["n_kv"], "head_dim": o["head_size"], "window": o["window_size"],
                 "kv": o["kv_cache_dtype"], "fmha": o["fmha_quant_mode"]}
        ms -= rope_and_cache_write(gpu, o, roofline)
        return "context_attention", shape, {"batch": batch, "seq": s, "prefix": prefix}, ms
    if kind == "GenerationAttention":
        shape = {"heads": o["n"], "kv_heads": o["n_kv"], "head_dim": o["head_size"], "window": o["window_size"],
                 "kv": o["kv_cache_dtype"]}
        return "generation_attention", shape, {"batch": batch, "seq": s if roofline else five_lengths(s)}, ms
    if kind == "EncoderAttention":
        if o["partial_rotary_factor"]:
            return None
        return "encoder_attention", {"heads": o["n"], "head_dim": o["head_size"], "fmha": o["fmha_quant_mode"]}, \
            {"batch": batch, "seq": s}, ms
    if kind == "ContextMla":
        return "context_mla", {"heads": o["num_heads"], "kv": o["kv_cache_dtype"], "fmha": o["fmha_quant_mode"]}, \
            {"batch": batch, "seq": s, "prefix": prefix}, ms
    if kind == "GenerationMla":
        return "generation_mla", {"heads": o["num_heads"], "kv": o["kv_cache_dtype"]}, {"batch": batch, "seq": s}, ms
    if kind in ("MlaModuleContext", "MlaModuleGeneration"):
        family = "mla_context_module" if kind == "MlaModuleContext" else "mla_generation_module"
        shape = {"heads": o["num_heads"], "native_heads": o["native_num_heads"], "gemm": o["gemm_quant_mode"],
                 "kv": o["kv_cache_dtype"], "fmha": o["fmha_quant_mode"]}
        return family, shape, {"batch": batch, "seq": s, "prefix": prefix}, ms
    if kind == "MlaBmm":
        return "mla_bmm", {"heads": o["num_heads"], "pre": o["is_pre"], "quant": o["quant_mode"]}, {"batch": batch}, ms
    if kind == "Moe":
        if o["moe_backend"] or o["enable_eplb"]:
            return None
        shape = {"hidden": o["hidden_size"], "inter": o["inter_size"], "topk": o["topk"], "experts": o["num_experts"],
                 "tp": o["moe_tp_size"], "ep": o["moe_ep_size"], "quant": o["quant_mode"], "gated": o["is_gated"]}
        try:
            shape["alpha"] = alpha(o["workload_distribution"])
        except ValueError:
            return None
        return "moe", shape, {"tokens": run["x"] * max(o["attention_dp_size"], 1)}, ms
    if kind == "CustomAllReduce":
        return "custom_allreduce", {"hidden": o["hidden_size"], "ranks": o["tp_size"]}, tokens, ms
    if kind == "Nccl":
        shape = {"kind": KINDS[o["operation"]], "elements": o["hidden_size"], "ranks": o["num_gpus"], "quant": o["dtype"]}
        return "nccl", shape, tokens, ms
    return None


def main(golden, systems, out, fixture=None):
    gpus, rows, left_out = {}, [], collections.Counter()
    for line in open(golden):
        record = json.loads(line)
        kind = next(iter(record["op"]))
        if "error" in record["expect"] or record["mode"] not in MODES:
            left_out[kind, "error or another mode"] += 1
            continue
        gpu = record["gpu"]
        if gpu not in gpus:
            gpus[gpu] = json.load(open(f"{systems}/{gpu}.json"))["gpu"]
        found = reshape(record, gpus[gpu])
        if found is None:
            left_out[kind, "no such operator"] += 1
            continue
        family, shape, at, ms = found
        rows.append({"id": record["id"], "tag": record["tag"], "gpu": gpu, "framework": record["framework"],
                     "version": record["version"], "mode": MODES[record["mode"]], "op": family, "shape": shape,
                     "at": at, "ms": ms})
    with open(out, "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    print(len(rows), "records;", "left out:", dict(left_out))
    if fixture:
        write_fixture(rows, fixture)


def write_fixture(rows, fixture):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["gpu"], row["framework"], row["tag"], row["op"]].append(row)
    chosen, pick = [], random.Random(1)
    for _, group in sorted(groups.items()):
        chosen += sorted(pick.sample(group, min(PER_GROUP, len(group))), key=lambda r: r["id"])
    with open(fixture, "w") as file:
        file.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in chosen)
    print(len(chosen), "in the fixture")


main(*sys.argv[1:])
