# SPDX-License-Identifier: Apache-2.0
"""Makes a small package folder in the layout of the published tables: package.py FOLDER."""
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = sys.argv[1]


def table(path, columns):
    path = os.path.join(ROOT, "systems/data", path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pq.write_table(pa.table(columns), path)


def text(path, content):
    path = os.path.join(ROOT, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(content)


NAN = float("nan")
# Rows 2 (NaN), 3 (negative), 4 (zero) and 5 (no whole number) are bad; 7 repeats 1; 8 is filtered.
table("h200_sxm/gemm/vllm/0.24.0/gemm_perf.parquet", {
    "kernel_source": ["a"] * 8, "gemm_dtype": ["fp8"] * 7 + ["awq"],
    "m": [1.0, 2.0, 4.0, 8.0, 1.5, 2.0, 1.0, 1.0], "n": [64] * 8, "k": [32] * 8,
    "latency": [0.5, NAN, -1.0, 0.0, 1.0, 0.75, 9.0, 1.0]})
table("h200_sxm/gemm/vllm/0.23.0/gemm_perf.parquet", {
    "kernel_source": ["a"], "gemm_dtype": ["fp8"], "m": [16], "n": [64], "k": [32], "latency": [0.25]})
table("h200_sxm/gemm/trtllm/1.0.0/gemm_perf.parquet", {
    "kernel_source": ["shared", "own"], "gemm_dtype": ["fp8"] * 2, "m": [32, 64], "n": [64] * 2, "k": [32] * 2,
    "latency": [0.125, 0.0625]})
table("h200_sxm/quantize/vllm/0.24.0/computescale_perf.parquet", {
    "kernel_source": ["a"] * 2, "quant_dtype": ["fp8"] * 2, "m": [1, 2], "k": [32] * 2, "latency": [0.0, 0.5]})
# MHA rows (heads = kv heads) share one slice; a missing window is 0.
table("h200_sxm/attention/vllm/0.24.0/generation_attention_perf.parquet", {
    "kernel_source": ["fa3"] * 3, "batch_size": [1, 1, 1], "isl": [1] * 3, "step": [1023] * 3,
    "num_heads": [16, 32, 32], "num_key_value_heads": [16, 32, 8], "head_dim": [128] * 3,
    "kv_cache_dtype": ["fp8"] * 3, "latency": [0.1, 0.2, 0.3]})
# Two files' worth of rules: a renamed data type, and rows of another family.
table("h200_sxm/moe/trtllm/1.0.0/moe_perf.parquet", {
    "kernel_source": ["moe_torch_flow", "moe_torch_flow_min_latency"], "moe_dtype": ["nvfp4"] * 2,
    "num_tokens": [1, 1], "hidden_size": [64] * 2, "inter_size": [32] * 2, "topk": [2] * 2, "num_experts": [8] * 2,
    "moe_tp_size": [1] * 2, "moe_ep_size": [1] * 2, "distribution": ["balanced"] * 2, "latency": [0.5, 0.25]})
# The last of two rows wins here; microseconds become milliseconds there.
table("h200_sxm/sparse_attention/vllm/0.24.0/dsa_generation_module_perf.parquet", {
    "kernel_source": ["k"] * 2, "op_name": ["dsa_generation_module"] * 2, "architecture": ["A"] * 2,
    "mla_dtype": ["bfloat16"] * 2, "kv_cache_dtype": ["fp8"] * 2, "gemm_type": ["fp8"] * 2, "num_heads": [8] * 2,
    "batch_size": [1] * 2, "isl": [1] * 2, "step": [1] * 2, "latency": [0.5, 0.75]})
table("h200_sxm/comm/sglang/0.5.12/wideep_deepep_ll_perf.parquet", {
    "node_num": [2], "hidden_size": [64], "num_token": [8], "num_topk": [2], "num_experts": [16],
    "dispatch_avg_t_us": [25.0], "combine_avg_t_us": [50.0]})
table("h200_sxm/comm/vllm/0.24.0/custom_allreduce_perf.parquet", {
    "kernel_source": ["vLLM_custom_eager", "vLLM_custom_graph"], "num_gpus": [2, 2], "message_size": [128, 128],
    "latency": [0.5, 0.25]})
# A column of the wrong type, a column that is missing.
table("h200_sxm/gemm/sglang/0.5.14/gemm_perf.parquet", {
    "kernel_source": ["a"] * 2, "gemm_dtype": ["fp8"] * 2, "m": [1, 2], "n": [64] * 2, "k": [32] * 2,
    "latency": ["0.5", "fast"]})
table("h200_sxm/gemm/sglang/0.5.13/gemm_perf.parquet", {"gemm_dtype": ["fp8"], "latency": [1.0]})

text("pkg-1.2.3.dist-info/METADATA", "Name: pkg\n")
text("systems/query_versions.yaml", """
defaults:
  vllm: {current: "0.23.0", previous: null}
  trtllm: {current: "1.0.0", previous: null}
overrides:
  b60:
    vllm: {current: "0.1.0", previous: "0.0.9"}
""")
text("systems/b60.yaml", "{}\n")
text("systems/data/h200_sxm/gemm/vllm/0.23.0/reuse.yaml",
     "reuse:\n- {table: gemm_perf, from_version: 0.24.0, reason: a test, approved_by: nobody}\n")
text("systems/perf_data_reuse_manifest.yaml", """
groups:
- {op_file: gemm_perf.parquet, kernel_source: shared, tier: shared, frameworks: [trtllm, vllm]}
- {op_file: gemm_perf.parquet, kernel_source: own, tier: absence_load_bearing, frameworks: [trtllm, vllm]}
""")
text("systems/attention_lane_defaults.yaml", 'vllm:\n  "0.20.0": {90: old}\n  "0.24.0": {90: fa3}\n')
