-- SPDX-License-Identifier: Apache-2.0
-- The PerfDatabase file, read by src/perfdb/store.cc and written by convert.py and import.cc.
-- Described in docs/formats/perfdb.md. The first statement marks the file as ours ("SPdb"); the
-- second is the version of this schema: a reader refuses any other.
PRAGMA application_id = 1397777506;
PRAGMA user_version = 1;

CREATE TABLE op (           -- how a family is cut; lists are joined by "|", columns of an axis by ","
  name TEXT PRIMARY KEY, kernel_is_key INTEGER NOT NULL, keys TEXT NOT NULL, axes TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE source (       -- one file, as rows of one family
  system TEXT NOT NULL, op TEXT NOT NULL, framework TEXT NOT NULL, version TEXT NOT NULL,
  id INTEGER NOT NULL, snapshot TEXT NOT NULL, file TEXT NOT NULL,
  rows_read INTEGER NOT NULL, rows_kept INTEGER NOT NULL, rows_filtered INTEGER NOT NULL,
  rows_rejected INTEGER NOT NULL, duplicates INTEGER NOT NULL,
  PRIMARY KEY (system, op, framework, version, id)
) WITHOUT ROWID;

CREATE TABLE head (         -- which slices a source has; `ordinal` is their first-seen order
  source INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  kernel TEXT NOT NULL, keys TEXT NOT NULL, grid INTEGER NOT NULL,
  PRIMARY KEY (source, ordinal)
) WITHOUT ROWID;

CREATE TABLE grid (         -- apart from `head`, so that listing slices reads no numbers
  id INTEGER PRIMARY KEY, axes BLOB NOT NULL, packed INTEGER NOT NULL, latency BLOB NOT NULL
);

CREATE TABLE rejected (     -- bad rows by number (from 1), at most 100 a source
  source INTEGER NOT NULL, row INTEGER NOT NULL, reason TEXT NOT NULL
);

-- Facts of the package that say which tables answer for a version.
CREATE TABLE slot (
  system TEXT NOT NULL, framework TEXT NOT NULL,
  current TEXT NOT NULL, previous TEXT NOT NULL, next TEXT NOT NULL,
  PRIMARY KEY (system, framework)
) WITHOUT ROWID;
CREATE TABLE reuse (
  system TEXT NOT NULL, framework TEXT NOT NULL, version TEXT NOT NULL, op TEXT NOT NULL,
  ordinal INTEGER NOT NULL, from_version TEXT NOT NULL, reason TEXT NOT NULL,
  PRIMARY KEY (system, framework, version, op, ordinal)
) WITHOUT ROWID;
CREATE TABLE fill (
  op TEXT NOT NULL, kernel TEXT NOT NULL, frameworks TEXT NOT NULL,
  PRIMARY KEY (op, kernel)
) WITHOUT ROWID;
CREATE TABLE lane (
  framework TEXT NOT NULL, floor_version TEXT NOT NULL, sm INTEGER NOT NULL, kernel TEXT NOT NULL,
  PRIMARY KEY (framework, floor_version, sm)
) WITHOUT ROWID;
