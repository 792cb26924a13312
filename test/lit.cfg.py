# The suite of lit: .mlir files (RUN lines and FileCheck) and .test files (shell
# scripts that start with their own RUN line). Unit tests are the nested suite
# of googletest/. Paths come from lit.site.cfg.py, which CMake writes.

import os
import shutil
import subprocess

import lit.formats
from lit.llvm import llvm_config

config.name = "Heddle"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "goldens"]
config.test_source_root = os.path.join(config.heddle_source_dir, "test")
config.test_exec_root = os.path.join(config.heddle_binary_dir, "test")

llvm_config.use_default_substitutions()
llvm_config.add_tool_substitutions(
    ["heddle-opt", "heddle-compile", "heddle-run", "heddle-lsp-server"],
    [os.path.join(config.heddle_binary_dir, "bin")],
)

# More models than the repository holds may stand beside the checkout.
shared_models = os.path.join(config.heddle_source_dir, "..", "shared", "models")
if os.path.isdir(shared_models):
    config.available_features.add("shared-models")
# Some of them are too large for it, and come from PyPI.
for large in ["mpnet", "smollm2"]:
    variable = f"HEDDLE_{large.upper()}"
    folder = os.environ.get(variable, "")
    config.substitutions.append((f"%{{{large}}}", os.path.realpath(folder)))
    if folder and os.path.isfile(os.path.join(folder, "model.safetensors")):
        config.available_features.add(large)
    else:
        lit_config.note(
            f"no {variable}: that model is not tested, see test/README.md"
        )
config.substitutions += [
    # `--param cells=all`, which tools/check --all gives, runs every cell of a
    # matrix in place of a sample.
    ("%{cells}", lit_config.params.get("cells", "sample")),
    ("%{shared}", os.path.dirname(os.path.realpath(shared_models))),
    ("%{source}", config.heddle_source_dir),
    ("%{build}", config.heddle_binary_dir),
    (
        "%{parity}",
        os.path.join(config.test_exec_root, "masks", "parity.so"),
    ),
    (
        "%{chunks}",
        os.path.join(config.test_exec_root, "masks", "chunks.so"),
    ),
]

if os.path.exists(
    os.path.join(config.heddle_binary_dir, "bin", "libheddle-onednn.so")
):
    config.available_features.add("onednn")

# Pages are clicked through if there is a browser.
if shutil.which("chromium"):
    config.available_features.add("chromium")
else:
    lit_config.note("no chromium: pages are not clicked through")

if config.heddle_sanitize:
    config.available_features.add("sanitized")
    lit_config.load_config(
        config,
        os.path.join(config.heddle_source_dir, "test", "sanitizers.cfg.py"),
    )

# What the tests of test/project read is absent from a source archive.
if os.path.exists(os.path.join(config.heddle_source_dir, ".git")):
    config.available_features.add("git-checkout")


# Tests of unusual machines hide a file system in a namespace of their own.
def runs(*command):
    """Whether a command is there and succeeds."""
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


if runs("unshare", "-rm", "true"):
    config.available_features.add("mount-namespace")
if runs("chroot", "/", "true") or runs("unshare", "-r", "chroot", "/", "true"):
    config.available_features.add("chroot")
lit_config.load_config(
    config, os.path.join(config.test_source_root, "shared.cfg.py")
)
if runs(os.path.join(config.test_source_root, "tools", "check-ptx"), "--find"):
    config.available_features.add("ptxas")
else:
    lit_config.note("no ptxas: PTX is not assembled, see test/README.md")
if os.path.exists("/proc/self/smaps"):
    config.available_features.add("smaps")


def read_cpu_flags():
    """Returns the ISA flags of the first CPU; none if /proc is missing."""
    try:
        with open("/proc/cpuinfo") as cpuinfo:
            flags = [line for line in cpuinfo if line.startswith("flags")]
    except OSError:
        return set()
    return set(flags[0].split(":")[1].split()) if flags else set()


# An artifact's ISA levels, each with the flags that it may assume.
v3_flags = {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
vnni_flags = v3_flags | {"avx_vnni"}
v4_flags = v3_flags.union(
    {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
)
vnni512_flags = v4_flags | {"avx512_vnni"}
bf16_flags = vnni512_flags | {"avx512_bf16"}
amx_flags = bf16_flags | {"amx_tile", "amx_bf16", "amx_int8"}
cpu_flags = read_cpu_flags()
for level, flags in [
    ("x86-64-v3", v3_flags),
    ("avx-vnni", vnni_flags),
    ("x86-64-v4", v4_flags),
    ("avx512-vnni", vnni512_flags),
    ("avx512-bf16", bf16_flags),
    ("amx", amx_flags),
]:
    if flags <= cpu_flags:
        config.available_features.add(level)
