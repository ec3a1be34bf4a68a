# SPDX-License-Identifier: Apache-2.0
"""Holds command lines and options files against a flag table, where no parser can be had."""
import json
import pathlib


def of_version(path, version):
    """{flag: what it takes} of one version of recipes/serve/<engine>.json."""
    table = json.loads(pathlib.Path(path).read_text())
    order = table["versions"]
    at = order.index(version)
    return {name: span for name, spans in table["flags"].items() for span in spans
            if order.index(span.get("since", order[0])) <= at <=
            order.index(span.get("until", order[-1]))}


def fits(kind, value):
    """Whether a value as YAML reads it has the type."""
    if kind == "flag":
        return isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "json":
        return isinstance(value, dict)
    return isinstance(value, str)


def wrong(name, span, value):
    if span["type"] == "list":
        bad = not isinstance(value, list) or not all(fits(span["of"], one) for one in value)
    else:
        bad = not fits(span["type"], value)
    if bad:
        return f"{name}: not of type {span['type']}: {value!r}"
    if "choices" in span and str(value) not in span["choices"]:
        return f"{name}: {value!r} is not one of {', '.join(span['choices'])}"
    return ""


def options_complaints(table, document, path=""):
    """One text for each key that the version does not have or that has a wrong value."""
    found = []
    for key, value in document.items():
        name = path + str(key)
        if name not in table:
            found.append(f"{name}: no such key")
        elif isinstance(value, dict):
            found += options_complaints(table, value, name + ".")
        else:
            text = wrong(name, table[name], value)
            found += [text] if text else []
    return found


def typed(kind, text):
    try:
        return {"integer": int, "number": float}.get(kind, str)(text)
    except ValueError:
        return text


def complaint(table, argv):
    """The first fault of `MODEL --flag value ..`, "" without one."""
    words = list(argv[1:])
    if not argv or argv[0].startswith("-"):
        return "no model"
    while words:
        name = words.pop(0)
        if name not in table:
            return f"{name}: no such flag"
        if table[name]["type"] == "flag":
            continue
        if not words:
            return f"{name}: no value"
        text = wrong(name, table[name], typed(table[name]["type"], words.pop(0)))
        if text:
            return text
    return ""
