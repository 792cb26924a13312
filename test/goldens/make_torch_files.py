"""Writes the files of torch/: what torch.save writes of state dictionaries.

usage: make_torch_files.py [--folder FOLDER]

README.md describes the files. Storages of the old format are numbered by
addresses in memory: its files differ from run to run in these numbers only.
"""

import argparse
import collections
import io
import os
import pathlib
import pickle
import zipfile

import torch
from safetensors.torch import load_file


def views():
    """Tensors of every kind of view that a state dictionary can hold."""
    table = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    state = collections.OrderedDict(
        table=table,
        tied=table,
        row=table[2],
        transposed=table.T,
        window=table[1:3, 2:5],
        parameter=torch.nn.Parameter(table[:2]),
        scalar=torch.tensor(1.5),
        half=torch.tensor([0.5, -2.0], dtype=torch.float16),
        brain=torch.tensor([0.5, -2.0, 3.0], dtype=torch.bfloat16),
        wide=torch.tensor([1.0], dtype=torch.float64),
        ids=torch.arange(3).expand(2, 3),
    )
    state._metadata = collections.OrderedDict({"": {"version": 1}})
    return state


class Exploit:
    """Unpickled by Python, it runs a command."""

    def __reduce__(self):
        return os.system, ("echo exploited",)


def compressed(plain):
    """The archive with its entries deflated, as no version of torch does it."""
    result = io.BytesIO()
    with zipfile.ZipFile(plain) as archive:
        with zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as copy:
            for name in archive.namelist():
                copy.writestr(
                    zipfile.ZipInfo(name),
                    archive.read(name),
                    zipfile.ZIP_DEFLATED,
                )
    return result.getvalue()


def main():
    arguments = argparse.ArgumentParser()
    goldens = pathlib.Path(__file__).parent
    arguments.add_argument("--folder", type=pathlib.Path, default=goldens)
    folder = arguments.parse_args().folder / "torch"
    folder.mkdir(exist_ok=True)

    def save(name, state, archive, **options):
        torch.save(
            state,
            folder / name,
            _use_new_zipfile_serialization=archive,
            **options,
        )

    save("archive.bin", views(), True)
    save("sequence.bin", views(), False)
    save("protocol-5.bin", views(), True, pickle_protocol=5)
    for protocol in 3, 4:
        save(f"sequence-{protocol}.bin", views(), False, pickle_protocol=protocol)
    save("repeated.bin", {"a": torch.ones(1).expand(3, 2)}, True)
    save("negated.bin", {"a": torch._neg_view(torch.ones(2))}, True)
    save("nested.bin", {"model": {"a": torch.ones(1)}}, True)
    save("exploit-archive.bin", {"a": Exploit()}, True)
    save("exploit-sequence.bin", {"a": Exploit()}, False)
    with open(folder / "exploit.bin", "wb") as file:
        pickle.dump({"a": Exploit()}, file, protocol=2)
    with open(folder / "compressed.bin", "wb") as file:
        file.write(compressed(folder / "nested.bin"))
    bart = load_file(goldens / "bart-one-layer" / "model.safetensors")
    save("bart-one-layer.bin", bart, True)


if __name__ == "__main__":
    main()
