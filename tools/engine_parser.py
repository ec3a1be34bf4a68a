# SPDX-License-Identifier: Apache-2.0
"""The argument parser of a released serving engine, without the engine's heavy dependencies.

`fetch` downloads the published package and keeps its Python part; `load` imports the module that
builds the server's parser. Whatever that import needs and this environment lacks (torch, triton,
compiled extensions) is answered by a Blank: a class that accepts every attribute, call, index and
operator and yields Blanks. Nothing beyond parsing runs: no device, memory or model check.
"""
import argparse
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import types
import typing
import zipfile

HOME = pathlib.Path(os.environ.get("SETPOINT_ENGINES", "~/.cache/setpoint/engines")).expanduser()
# What the parsers really use; everything else may be blank.
NEEDS = ["pydantic", "regex", "psutil", "packaging", "pyyaml", "typing_extensions", "requests",
         "fastapi", "numpy", "msgspec", "cloudpickle", "cachetools", "jsonschema",
         "prometheus_client"]
# Libraries look for these and do without; a blank one would mislead them.
OPTIONAL = {"email_validator", "chardet", "brotli", "brotlicffi", "simplejson"}
# Parts of the packages that are not Python.
COMPILED = ("sglang_router.sglang_router_rs", "dynamo.llm", "dynamo.runtime", "dynamo.nixl_connect",
            "dynamo.prometheus_names")
PLATFORMS = ["manylinux_2_35_x86_64", "manylinux_2_34_x86_64", "manylinux_2_31_x86_64",
             "manylinux_2_28_x86_64", "manylinux2014_x86_64", "manylinux1_x86_64"]


def python():
    """The interpreter of the shared virtual environment, made on first use."""
    interpreter = HOME / "venv" / "bin" / "python"
    done = HOME / "venv" / "complete"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", HOME / "venv"], check=True)
        subprocess.run([interpreter, "-m", "pip", "install", "-q", *NEEDS], check=True)
        done.touch()
    return str(interpreter)


def fetch(package, version):
    """Folder with the Python files of this release; `version` may be a prefix: "1.3.*"."""
    folder = HOME / "src" / f"{package}-{version}".replace("*", "x")
    if folder.is_dir():
        return folder
    loading = folder.with_suffix(".loading")
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    abis = [word for name in ("cp311", "abi3", "cp38", "none") for word in ("--abi", name)]
    subprocess.run([python(), "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:",
                    "--python-version", "3.11", "--implementation", "cp", *abis, *platforms,
                    "-d", loading, f"{package}=={version}"], check=True)
    for wheel in loading.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith((".py", ".json", ".jinja", "METADATA")):
                    archive.extract(name, folder)
        wheel.unlink()
    loading.rmdir()
    return folder


# --- blanks ---------------------------------------------------------------------------------------
class BlankType(type):
    """Class of all Blanks; what a class can be asked is answered here."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return blank(f"{cls.__name__}.{name}")

    def __call__(cls, *args, **named):
        # A bare decorator gives its function back; everything else becomes an instance.
        if len(args) == 1 and not named and isinstance(args[0], (types.FunctionType, type)):
            return args[0]
        return super().__call__(*args, **named)

    def __getitem__(cls, key):
        return cls

    def __iter__(cls):
        return iter(())

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) and type(instance) is not Blank

    __or__ = __ror__ = lambda cls, other: typing.Any
    __hash__ = type.__hash__


class Blank(metaclass=BlankType):
    def __init__(self, *args, **named):
        pass

    def __init_subclass__(cls, **named):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return blank(name)

    def __call__(self, *args, **named):
        return BlankType.__call__(Blank, *args, **named)

    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler):
        from pydantic_core import core_schema
        return core_schema.any_schema()


def answer(name, value):
    """Both the class and its instances answer the special method `name` with `value`."""
    def method(self, *args):
        return self if value is Blank else value() if callable(value) else value
    for owner in (BlankType, Blank):
        if name not in vars(owner):
            setattr(owner, name, method)


for names, value in {
        "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod pow neg and enter":
            Blank,
        "lt gt bool contains": False, "le ge": True, "len int index": 0, "float": 0.0,
        "setitem delitem exit": None, "iter": lambda: iter(())}.items():
    for word in names.split():
        answer(f"__{word}__", value)
Blank.__getitem__ = lambda self, key: self


def blank(name):
    return BlankType(name.rsplit(".", 1)[-1], (Blank,), {"__module__": "blank"})


class BlankModule(types.ModuleType):
    __path__ = []
    FACTS = {"torch.version": types.SimpleNamespace(cuda="12.9", hip=None, xpu=None),
             "torch.__version__": "2.9.1", "triton.__version__": "3.5.0",
             "transformers.__version__": "5.1.0"}
    ABSENT = {"torch.npu", "torch.hpu", "torch.musa", "torch.mlu"}

    def __getattr__(self, name):
        full = f"{self.__name__}.{name}"
        if full in self.FACTS:
            return self.FACTS[full]
        if full in self.ABSENT or (name.startswith("__") and name != "__version__"):
            raise AttributeError(name)
        return "99.0.0" if name == "__version__" else blank(full)


class BlankFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers for modules: those that match `forced` before, all others after the real search."""

    def __init__(self, wanted):
        self.wanted = wanted

    def find_spec(self, name, path=None, target=None):
        if self.wanted(name):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return BlankModule(spec.name)

    def exec_module(self, module):
        pass


def fill_gaps(packages, forced):
    """Missing third-party modules and the compiled parts of the loaded packages become blank."""
    roots = set()

    def missing(name):
        root, _, rest = name.partition(".")
        if root in packages:
            return rest.startswith("_") or name.startswith(COMPILED)
        if not rest and root not in sys.stdlib_module_names and root not in OPTIONAL:
            roots.add(root)
        return root in roots  # never a part of a package that is here
    sys.meta_path.insert(0, BlankFinder(lambda name: name.startswith(forced)))
    sys.meta_path.append(BlankFinder(missing))
    real = importlib.metadata.version

    def version(name):
        try:
            return real(name)
        except importlib.metadata.PackageNotFoundError:
            return BlankModule.FACTS.get(f"{name}.__version__", "99.0.0")
    importlib.metadata.version = version


# --- the parsers ----------------------------------------------------------------------------------
def load_vllm(folder):
    """Its parser of `vllm serve` and its check of the parsed values."""
    sys.path.insert(0, str(folder))
    os.environ.update(VLLM_LOGGING_LEVEL="ERROR", VLLM_PLUGINS="")
    import vllm.platforms
    from vllm.platforms.interface import Platform, PlatformEnum

    class Device(Platform):
        _enum, device_name, device_type, dispatch_key = PlatformEnum.CUDA, "cuda", "cuda", "CUDA"

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return blank(name)
    vllm.platforms._current_platform = vllm.platforms.__dict__["current_platform"] = Device()
    from vllm.utils.argparse_utils import FlexibleArgumentParser
    place = "common" if (folder / "vllm/entrypoints/common/cli_args.py").exists() else "openai"
    cli_args = importlib.import_module(f"vllm.entrypoints.{place}.cli_args")
    parser = cli_args.make_arg_parser(FlexibleArgumentParser(prog="vllm serve"))
    return parser, cli_args.validate_parsed_serve_args


def load_vllm_engine(folder):
    """The flags that Dynamo passes on to vLLM: those of the engine without its server."""
    load_vllm(folder)
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.utils.argparse_utils import FlexibleArgumentParser
    parser = FlexibleArgumentParser(prog="dynamo.vllm", add_help=False)
    AsyncEngineArgs.add_cli_args(parser, async_args_only=False)
    return parser


def load_sglang(folder):
    sys.path.insert(0, str(folder))
    os.environ.setdefault("SGLANG_USE_CPU_ENGINE", "1")
    from sglang.srt.server_args import ServerArgs
    parser = argparse.ArgumentParser(prog="python3 -m sglang.launch_server")
    ServerArgs.add_cli_args(parser)
    return parser, None


def load_router(folder):
    sys.path.insert(0, str(folder))
    from sglang_router.router_args import RouterArgs
    parser = argparse.ArgumentParser(prog="python3 -m sglang_router.launch_router")
    RouterArgs.add_cli_args(parser, use_router_prefix=False, exclude_host_port=False)
    return parser, None


def load_dynamo(engine, folder):
    """Dynamo's own flags of its worker program; what it does not know goes to the engine."""
    sys.path.insert(0, str(folder))
    if not (folder / "dynamo/common/configuration").is_dir():
        # 0.8: both in one parser that only a running worker makes. Without Dynamo's flags the
        # verdict is the stricter one.
        return argparse.ArgumentParser(prog=f"python3 -m dynamo.{engine}", add_help=False)
    common = importlib.import_module("dynamo.common.configuration.groups.runtime_args")
    own = importlib.import_module(f"dynamo.{engine}.backend_args")
    group = next(value for name, value in vars(own).items() if re.fullmatch(
        f"dynamo{engine}arggroup", name, re.IGNORECASE))
    parser = argparse.ArgumentParser(prog=f"python3 -m dynamo.{engine}", allow_abbrev=False)
    common.DynamoRuntimeArgGroup().add_arguments(parser)
    group().add_arguments(parser)
    return parser


# Package and what of it stays blank even where it could be imported.
ENGINES = {"vllm": (load_vllm, ("vllm.ir", "vllm.kernels")),
           "sglang": (load_sglang, ("sglang.srt.layers", "sglang.srt.configs", "sglang.kernels",
                                    "sglang.srt.utils.hf_transformers")),
           "sglang_router": (load_router, ())}


def load(engine, version):
    """(the engine's ArgumentParser, its further check of the parsed values or None)"""
    loader, forced = ENGINES[engine]
    fill_gaps((engine,), forced)
    return loader(fetch(engine.replace("_", "-"), version))


def load_worker(engine, version, dynamo):
    """Parsers of a command of dynamo.<engine>, one behind the other."""
    fill_gaps((engine, "dynamo"), ENGINES.get(engine, (None, ()))[1])
    first = load_dynamo(engine, fetch("ai-dynamo", dynamo))
    if engine == "vllm":
        return first, load_vllm_engine(fetch(engine, version))
    if engine == "sglang":
        return first, load_sglang(fetch(engine, version))[0]
    return first, argparse.ArgumentParser(prog="dynamo.trtllm")


def read_yaml(text):
    """Documents of a YAML text; PyYAML need not be installed where the tools run."""
    try:
        import yaml
    except ImportError:
        done = subprocess.run(
            [python(), "-c", "import json, sys, yaml; "
             "print(json.dumps(list(yaml.safe_load_all(sys.stdin)), default=str))"],
            input=text, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)
    return list(yaml.safe_load_all(text))


def verdict(parse, argv):
    """"" when `parse` takes the words, else the parser's own last words."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            parse(list(argv))
            return ""
        except SystemExit as end:
            if not end.code:
                return ""
        except Exception as error:  # a further check may raise anything to refuse
            said.write(f"{type(error).__name__}: {error}")
    lines = [line for line in said.getvalue().splitlines()
             if line.strip() and not line.startswith(("usage:", " "))]
    return " | ".join(lines)[-500:] or "refused without a word"


def judge(engine, version, dynamo, commands):
    """Verdicts on argument lists, in their order."""
    if dynamo:
        first, rest = load_worker(engine, version, dynamo)

        def parse(argv):
            rest.parse_args(first.parse_known_args(argv)[1])
    else:
        parser, check = load(engine, version)

        def parse(argv):
            values = parser.parse_args(argv)
            if check:
                check(values)
    return [verdict(parse, argv) for argv in commands]
