#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Published operator tables (Parquet) -> the PerfDatabase (SQLite slices, docs/formats/perfdb.md).

usage: convert.py --ops ops.json --schema schema.sql --out perfdb.db PATH...

PATH is a wheel of the package, its unpacked folder, or a folder of systems. Which rows become which
slice is data: ops.json. The new file is written beside the old one and renamed at the end, so an
interrupt leaves the old one whole. Sources of other imports in the old file (one's own
measurements) are kept. Bad rows are counted and named, never loaded.
"""
import argparse
import json
import os
import re
import signal
import sqlite3
import sys
import time
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml

MOST_NAMED = 100  # bad rows kept by number for one source; all are counted
MOST_COORDINATE = 2**31 - 1
DENSE_FROM = 0.95  # share of measured cells from which a grid is stored without its bitmap


class Tree:
    """The files of a folder or a wheel, by relative path."""

    def __init__(self, path):
        self.path = path
        self.zip = zipfile.ZipFile(path) if os.path.isfile(path) else None
        if self.zip:
            self.names = sorted(self.zip.namelist())
        else:
            self.names = sorted(os.path.relpath(os.path.join(folder, name), path).replace(os.sep, "/")
                                for folder, _, names in os.walk(path) for name in names)

    def read(self, name):
        if self.zip:
            return self.zip.read(name)
        with open(os.path.join(self.path, name), "rb") as file:
            return file.read()

    def yaml(self, ending):
        """The first file called so, parsed; empty when there is none."""
        name = next((n for n in self.names if ("/" + n).endswith("/" + ending)), None)
        return (yaml.safe_load(self.read(name)) or {}) if name else {}

    def snapshot(self):
        """Name and version of the package, from its metadata."""
        for name in self.names:
            found = re.search(r"([\w.]+)-([\w.]+)\.dist-info/METADATA$", name)
            if found:
                return f"{found[1].replace('_', '-')} {found[2]}"
        return "folder " + os.path.basename(os.path.abspath(self.path))


class Bad:
    """Which rows are bad, and the first reason for each."""

    def __init__(self, count):
        self.reason = np.zeros(count, np.int16)
        self.texts = [""]

    def mark(self, mask, text):
        fresh = mask & (self.reason == 0)
        if fresh.any():
            self.texts.append(text)
            self.reason[fresh] = len(self.texts) - 1

    def named(self):
        return [(int(row) + 1, self.texts[self.reason[row]])
                for row in np.flatnonzero(self.reason)[:MOST_NAMED]]


def to_float(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


class Rows:
    """Columns of one Parquet file as arrays: numbers as int64 or float64, text as codes."""

    def __init__(self, data):
        self.table = pq.read_table(pa.BufferReader(data))
        self.count = self.table.num_rows
        self.bad = Bad(self.count)
        self.texts = {}  # column -> (codes, values)

    def has(self, name):
        return name in self.table.column_names

    def floats(self, name):
        column = self.table[name]
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            return pc.cast(column, pa.float64(), safe=False).to_numpy().astype(np.float64)
        return np.array([to_float(v) for v in column.to_pylist()], np.float64)

    def integers(self, name):
        if not self.has(name):
            raise KeyError(name)
        column = self.table[name]
        if pa.types.is_integer(column.type) and column.null_count == 0:
            values = column.to_numpy().astype(np.int64)
        else:
            as_float = self.floats(name)
            whole = np.isfinite(as_float) & (as_float == np.floor(as_float))
            self.bad.mark(~whole, f"{name} is not a whole number")
            values = np.where(whole, as_float, 0).astype(np.int64)
        self.bad.mark((values < 0) | (values > MOST_COORDINATE), f"{name} is out of range")
        return values

    def text(self, name):
        if not self.has(name):
            raise KeyError(name)
        if name not in self.texts:
            column = pc.cast(self.table[name], pa.string())
            self.bad.mark(pc.is_null(column).to_numpy().astype(bool), f"{name} is empty")
            codes = pc.dictionary_encode(pc.fill_null(column, "")).combine_chunks()
            if isinstance(codes, pa.ChunkedArray):
                codes = codes.chunk(0) if codes.num_chunks else pa.array([], pa.string()).dictionary_encode()
            self.texts[name] = (codes.indices.to_numpy().astype(np.int64), codes.dictionary.to_pylist())
        return self.texts[name]

    def where(self, name, accept):
        """Mask of the rows whose text in `name` is accepted."""
        codes, values = self.text(name)
        return np.array([bool(accept(v)) for v in values] + [False])[codes]


def number_of(rows, spec, name):
    """A column of coordinates by its spec in ops.json."""
    spec = {"column": spec} if isinstance(spec, str) else spec
    if "const" in spec:
        return np.full(rows.count, spec["const"], np.int64)
    if "sum" in spec or "product" in spec:
        parts = [rows.integers(c) for c in spec.get("sum") or spec["product"]]
        return np.sum(parts, axis=0) if "sum" in spec else np.prod(parts, axis=0)
    column = spec.get("column", name)
    if "default" in spec and not rows.has(column):
        return np.full(rows.count, spec["default"], np.int64)
    values = rows.integers(column) * spec.get("times", 1) // spec.get("divide", 1)
    if "zero_if_equal" in spec:
        values = np.where(values == rows.integers(spec["zero_if_equal"]), 0, values)
    return np.maximum(values, spec["least"]) if "least" in spec else values


def label_of(rows, spec, name):
    """An exact key by its spec: (codes, texts)."""
    spec = {"column": spec} if isinstance(spec, str) else spec
    if "const" in spec:
        return np.zeros(rows.count, np.int64), [str(spec["const"])]
    column = spec.get("column", name)
    if rows.has(column) and not pa.types.is_integer(rows.table[column].type):
        codes, values = rows.text(column)
        if "map" in spec:
            rows.bad.mark(rows.where(column, lambda v: v not in spec["map"]), f"{column} has an unknown name")
            values = [spec["map"].get(v, "") for v in values]
        if any("|" in str(v) for v in values):
            rows.bad.mark(rows.where(column, lambda v: "|" in str(v)), f"{column} holds a |")
        distinct = sorted({str(v) for v in values})  # a map may join several names
        return np.array([distinct.index(str(v)) for v in values] + [0])[codes], distinct
    values, codes = np.unique(number_of(rows, spec, name), return_inverse=True)
    return codes.astype(np.int64), [str(v) for v in values]


def apply_rules(rows, table, system):
    """The `set` and `drop` rules; returns the mask of rows to leave out."""
    for rule in table.get("set", []):
        mask = np.all([rows.where(c, lambda v, want=want: v == want) for c, want in rule["when"].items()], axis=0)
        codes, values = rows.text(rule["column"])
        rows.texts[rule["column"]] = (np.where(mask, len(values), codes), values + [rule["to"]])
    out = np.zeros(rows.count, bool)
    for rule in table.get("drop", []):
        if not rows.has(rule["column"]) or system in rule.get("except_systems", []):
            continue
        if "suffix" in rule:
            out |= rows.where(rule["column"], lambda v: v.endswith(rule["suffix"]))
        elif "in" in rule:
            out |= rows.where(rule["column"], lambda v: v in rule["in"])
        else:
            out |= rows.where(rule["column"], lambda v: v not in rule["not_in"])
    return out


def latency_of(rows, table, zero_allowed):
    total = np.zeros(rows.count)
    for name in table.get("value", ["latency"]):
        values = rows.floats(name)
        rows.bad.mark(~np.isfinite(values), f"{name} is not a finite number")
        rows.bad.mark(values < 0, f"{name} is negative")
        total += np.where(np.isfinite(values), values, 0)
    if not zero_allowed:
        rows.bad.mark(total == 0, "latency is zero")
    total *= {"ms": 1.0, "us": 1e-3}[table.get("unit", "ms")]
    return total.astype(np.float32)


def mix(columns, count):
    """One code per distinct tuple of `columns` (each an array of codes or numbers)."""
    code = np.zeros(count, np.int64)
    for column in columns:
        _, dense = np.unique(column, return_inverse=True)
        code = code * (int(dense.max(initial=0)) + 1) + dense
        _, code = np.unique(code, return_inverse=True)
    return code.astype(np.int64)


def axis_of(columns, code, rows):
    """Coordinates of an axis over `rows` and each row's place on it. Site axes keep first-seen order."""
    if len(columns) == 1:
        coordinates, place = np.unique(columns[0][rows], return_inverse=True)
        return coordinates.reshape(-1, 1), place
    _, first, place = np.unique(code[rows], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.stack([c[rows][first[order]] for c in columns], axis=1), rank[place]


def encode(axes, places, latency):
    """The two BLOBs of a grid: see docs/formats/perfdb.md."""
    shape = [len(a) for a in axes]
    cells = np.full(shape, np.nan, np.float32)
    cells[tuple(places)] = latency
    text = b"".join(np.int32(len(a)).tobytes() + a.astype("<i4").tobytes() for a in axes)
    flat = cells.ravel()
    measured = ~np.isnan(flat)
    if measured.mean() >= DENSE_FROM:
        return text, 0, flat.astype("<f4").tobytes()
    return text, 1, np.packbits(measured, bitorder="little").tobytes() + flat[measured].astype("<f4").tobytes()


def cut(rows, op, table, system):
    """Slices of one file for one family: ([(kernel, keys, axes, packed, latency)], counts)."""
    out = apply_rules(rows, table, system)
    spec = table.get("columns", {})
    latency = latency_of(rows, table, op.get("zero", False))
    keys = [label_of(rows, spec.get(k, k), k) for k in op["keys"]]
    axes = [[number_of(rows, spec.get(c, c), c) for c in axis] for axis in op["axes"]]
    kernel = (np.zeros(rows.count, np.int64), [""])
    if op["kernel"] != "none":
        kernel = rows.text("kernel_source")
    rows.bad.reason[out] = 0
    use = np.flatnonzero(~out & (rows.bad.reason == 0))
    sites = [mix([c[use] for c in axis], len(use)) for axis in axes]
    group = mix([kernel[0][use]] + [codes[use] for codes, _ in keys], len(use))
    point = mix([codes[use] for codes, _ in keys] + sites + ([kernel[0][use]] if op["kernel"] == "key" else []), len(use))
    if op.get("duplicates") == "last":
        kept = np.sort(len(use) - 1 - np.unique(point[::-1], return_index=True)[1])
    else:
        kept = np.sort(np.unique(point, return_index=True)[1])
    slices = []
    groups, first, member = np.unique(group[kept], return_index=True, return_inverse=True)
    by_group = np.split(kept[np.argsort(member, kind="stable")], np.cumsum(np.bincount(member, minlength=1))[:-1])
    for g in np.argsort(first):
        local = by_group[g]
        row = use[local[0]]
        cut_axes, places = zip(*[axis_of([c[use] for c in axis], site, local) for axis, site in zip(axes, sites)])
        text = "|".join(values[codes[row]] for codes, values in keys)
        slices.append((kernel[1][kernel[0][row]], text) + encode(cut_axes, places, latency[use[local]]))
    bad = int(np.count_nonzero(rows.bad.reason))
    return slices, (rows.count, len(kept), int(out.sum()), bad, len(use) - len(kept))


class Writer:
    """The database under construction."""

    def __init__(self, path, schema, ops):
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA page_size = 8192")
        self.db.execute("PRAGMA journal_mode = OFF")
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.executescript(schema)
        self.db.executemany("INSERT INTO op VALUES (?, ?, ?, ?)", [
            (op["op"], op["kernel"] == "key", "|".join(op["keys"]), "|".join(",".join(a) for a in op["axes"]))
            for op in ops])
        self.sources = self.grids = 0

    def source(self, system, op, framework, version, snapshot, file, counts, slices, named):
        self.sources += 1
        self.db.execute("INSERT INTO source VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                        (system, op, framework, version, self.sources, snapshot, file, *counts))
        for ordinal, (kernel, keys, *grid) in enumerate(slices):
            self.grids += 1
            self.db.execute("INSERT INTO grid VALUES (?,?,?,?)", (self.grids, *grid))
            self.db.execute("INSERT INTO head VALUES (?,?,?,?,?)", (self.sources, ordinal, kernel, keys, self.grids))
        self.db.executemany("INSERT INTO rejected VALUES (?,?,?)", [(self.sources, *n) for n in named])

    def keep_others(self, old, snapshots):
        """Copies the sources of other imports from the file that is about to be replaced."""
        try:
            self.db.execute("ATTACH ? AS old", (f"file:{old}?mode=ro",))
            held = self.db.execute("SELECT * FROM old.source WHERE snapshot NOT IN (%s) ORDER BY id"
                                   % ",".join("?" * len(snapshots)), snapshots).fetchall()
        except sqlite3.Error:
            return 0  # not a readable database of this schema: nothing to keep
        for row in held:
            grids = self.db.execute("SELECT kernel, keys, axes, packed, latency FROM old.head JOIN old.grid ON "
                                    "grid.id = head.grid WHERE source = ? ORDER BY ordinal", (row[4],)).fetchall()
            named = self.db.execute("SELECT row, reason FROM old.rejected WHERE source = ?", (row[4],)).fetchall()
            self.source(*row[:4], row[5], row[6], row[7:], grids, named)
        return len(held)


def version_key(text):
    """Order of framework versions: dev < rc < release < post."""
    numbers = [int(n) for n in re.findall(r"\d+", re.split(r"rc|\.?dev|\.?post", text)[0])][:3]
    stage = re.search(r"(rc|dev|post)(\d+)", text)
    rank = {"dev": 0, "rc": 1, None: 2, "post": 3}[stage and stage[1]]
    return tuple(numbers + [0] * (3 - len(numbers)) + [rank, int(stage[2]) if stage else 0])


def write_slots(db, tree, files):
    rules = tree.yaml("query_versions.yaml")
    overrides = rules.get("overrides", {})
    systems = {f[0] for f in files} | {n.split("/")[-1][:-5] for n in tree.names if re.search(r"systems/\w+\.yaml$", n)}
    for framework, base in rules.get("defaults", {}).items():
        ahead = [f[2] for f in files if f[1] == framework and f[0] not in overrides
                 and version_key(f[2]) > version_key(base["current"])]
        for system in sorted(systems):
            slot = overrides.get(system, {}).get(framework)
            newest = max(ahead, key=version_key, default="") if system not in overrides else ""
            slot = slot or (base if system not in overrides else None)
            if slot:
                db.execute("INSERT OR REPLACE INTO slot VALUES (?,?,?,?,?)",
                           (system, framework, slot["current"], slot.get("previous") or "", newest))


def write_reuse(db, tree, ops_by_file):
    for name in tree.names:
        found = re.search(r"([^/]+)/[^/]+/([^/]+)/([^/]+)/reuse\.yaml$", name)
        for ordinal, entry in enumerate(yaml.safe_load(tree.read(name))["reuse"] if found else []):
            for op in sorted({o["op"] for o, _ in ops_by_file.get(entry["table"] + ".parquet", [])}):
                db.execute("INSERT INTO reuse VALUES (?,?,?,?,?,?,?)",
                           (found[1], found[2], found[3], op, ordinal, str(entry["from_version"]), entry["reason"].strip()))


def write_fill(db, tree, ops_by_file):
    lent = {}
    for group in tree.yaml("perf_data_reuse_manifest.yaml").get("groups", []):
        if group["tier"] not in ("shared", "shared_fallback"):
            continue
        for op, table in ops_by_file.get(group["op_file"], []):
            kernel = group["kernel_source"]
            for rule in table.get("set", []):
                if rule["column"] == "kernel_source" and rule["when"] == {"kernel_source": kernel}:
                    kernel = rule["to"]
            lent.setdefault((op["op"], kernel), set()).update(group["frameworks"])
    db.executemany("INSERT INTO fill VALUES (?,?,?)", [(*k, "|".join(sorted(v))) for k, v in sorted(lent.items())])


def write_lanes(db, tree):
    for framework, floors in tree.yaml("attention_lane_defaults.yaml").items():
        for floor, by_sm in (floors.items() if isinstance(floors, dict) else []):
            db.executemany("INSERT INTO lane VALUES (?,?,?,?)", [(framework, str(floor), sm, k) for sm, k in by_sm.items()])


class Progress:
    """A bar on a terminal, otherwise a line at every tenth."""

    def __init__(self, total):
        self.total, self.tenth, self.terminal = total, -1, sys.stderr.isatty()

    def show(self, done, rows):
        if self.terminal:
            bar = "#" * (40 * done // self.total)
            print(f"\r[{bar:<40}] {done}/{self.total} tables, {rows:,} rows", end="", file=sys.stderr, flush=True)
        elif 10 * done // self.total > self.tenth:
            self.tenth = 10 * done // self.total
            print(f"{done}/{self.total} tables, {rows:,} rows", file=sys.stderr, flush=True)

    def end(self):
        if self.terminal:
            print(file=sys.stderr)


def tables_of(tree):
    """(system, framework, version, name) of every table, in the order of the database."""
    found = []
    for name in tree.names:
        match = re.search(r"([^/]+)/[^/]+/([^/]+)/([^/]+)/[^/]+\.parquet$", "/" + name)
        if not match:
            continue
        folder = name.rsplit("/", 1)[0]
        if folder + "/INCOMPLETE.txt" in tree.names and folder + "/collection_meta.yaml" not in tree.names:
            print(f"{folder}: marked incomplete, left out", file=sys.stderr)
            continue
        found.append((match[1], match[2], match[3], name))
    return sorted(found)


def import_file(writer, tree, snapshot, entry, ops_by_file):
    """All families that read this file; returns its row count."""
    system, framework, version, name = entry
    data, read = tree.read(name), 0
    for op, table in ops_by_file.get(name.rsplit("/", 1)[1], []):
        try:
            rows = Rows(data)
            slices, counts = cut(rows, op, table, system)
        except (KeyError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            print(f"{name}: left out: {'no column ' if isinstance(error, KeyError) else ''}{error}", file=sys.stderr)
            continue
        read = counts[0]
        if not slices and counts[2] == counts[0]:
            continue  # all rows belong to another family that reads this file
        for row, reason in rows.bad.named():
            print(f"{name}: row {row}: {reason}", file=sys.stderr)
        writer.source(system, op["op"], framework, version, snapshot, name, counts, slices, rows.bad.named())
    return read


def import_tree(writer, tree, ops_by_file):
    files, snapshot = tables_of(tree), tree.snapshot()
    if not files:
        print(f"{tree.path}: no tables here (expected SYSTEM/FAMILY/FRAMEWORK/VERSION/*.parquet)", file=sys.stderr)
        sys.exit(2)
    unknown = sorted({f[3].rsplit("/", 1)[1] for f in files} - set(ops_by_file))
    if unknown:
        print(f"no row in ops.json for: {', '.join(unknown)}", file=sys.stderr)
    order = {name: i for i, name in enumerate(ops_by_file)}
    files.sort(key=lambda f: (f[0], order.get(f[3].rsplit("/", 1)[1], len(order)), f[1], f[2]))
    progress, rows = Progress(len(files)), 0
    for done, entry in enumerate(files):
        rows += import_file(writer, tree, snapshot, entry, ops_by_file)
        progress.show(done + 1, rows)
    progress.end()
    for facts in ("slot", "reuse", "fill", "lane"):
        writer.db.execute(f"DELETE FROM {facts}")
    write_slots(writer.db, tree, files)
    write_reuse(writer.db, tree, ops_by_file)
    write_fill(writer.db, tree, ops_by_file)
    write_lanes(writer.db, tree)
    return len(files), rows


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("--ops", "--schema", "--out"):
        parse.add_argument(option, required=True)
    parse.add_argument("paths", nargs="+")
    args = parse.parse_args()
    with open(args.ops) as ops_file, open(args.schema) as schema_file:
        ops, schema = json.load(ops_file)["ops"], schema_file.read()
    ops_by_file = {}
    for op in ops:
        for table in op["tables"]:
            ops_by_file.setdefault(table["file"], []).append((op, table))
    try:
        trees = [Tree(p) for p in args.paths]
    except (OSError, zipfile.BadZipFile) as error:
        print(f"not a wheel or folder: {error}", file=sys.stderr)
        sys.exit(2)
    temporary = f"{args.out}.tmp{os.getpid()}"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    start = time.monotonic()
    try:
        writer = Writer(temporary, schema, ops)
        totals = [import_tree(writer, tree, ops_by_file) for tree in trees]
        kept = writer.keep_others(args.out, [t.snapshot() for t in trees]) if os.path.exists(args.out) else 0
        count = writer.db.execute("SELECT sum(rows_kept), sum(rows_filtered), sum(rows_rejected), sum(duplicates) "
                                  "FROM source").fetchone()
        writer.db.commit()
        writer.db.close()
        os.replace(temporary, args.out)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
    print(f"{args.out}: {sum(t[0] for t in totals)} tables, {sum(t[1] for t in totals):,} rows -> {writer.grids:,} slices, "
          f"{os.path.getsize(args.out) / 1e6:.1f} MB in {time.monotonic() - start:.0f} s "
          f"(kept {count[0]:,}, left out by rule {count[1]:,}, duplicates {count[3]:,}, bad {count[2]:,}; "
          f"{kept} other sources kept)")


if __name__ == "__main__":
    main()
