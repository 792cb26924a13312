"""Reads and writes checkpoints of PyTorch's trainers without PyTorch.

`load` gives the dictionary of an archive of torch.save, `save` writes one. A tensor is a
`Tensor`; objects of classes that are not here are made of stand-ins with their names.
"""

import argparse
import collections
import pickle
import struct
import sys
import types
import zipfile


def stand_in(module, name, made):
    """Lets pickle find `made` as module.name."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        whole = ".".join(parts[:count])
        sys.modules.setdefault(whole, types.ModuleType(whole))
    made.__module__, made.__name__, made.__qualname__ = module, name, name
    setattr(sys.modules[module], name, made)
    return made


def class_of(module, name):
    found = getattr(sys.modules.get(module), name, None)
    return found or stand_in(module, name, type(name, (), {}))


class Storage:
    def __init__(self, kind, data, key=None):
        self.kind, self.data, self.key = kind, data, key

    def size(self):
        return {"Float": 4, "Half": 2, "Long": 8, "Double": 8}[self.kind.removesuffix("Storage")]


class Tensor:
    def __init__(self, storage, first, shape, strides):
        self.storage, self.first, self.shape, self.strides = storage, first, shape, strides

    def __reduce__(self):
        return rebuild, (self.storage, self.first, self.shape, self.strides, False,
                         collections.OrderedDict())


def tensor(*shape, value=0.5):
    """A tensor of one number."""
    count, strides = 1, []
    for extent in reversed(shape):
        strides.insert(0, count)
        count *= extent
    return Tensor(Storage("FloatStorage", struct.pack("<f", value) * count), 0, shape, tuple(strides))


def _rebuild(storage, first, shape, strides, *rest):
    return Tensor(storage, first, shape, strides)


rebuild = stand_in("torch._utils", "_rebuild_tensor_v2", _rebuild)


def load(path):
    archive = zipfile.ZipFile(path)
    data = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
    folder = data.removesuffix("data.pkl")
    storages = {}

    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            known = {("argparse", "Namespace"): argparse.Namespace,
                     ("collections", "OrderedDict"): collections.OrderedDict}
            return known.get((module, name)) or class_of(module, name)

        def persistent_load(self, parts):
            key = parts[2]
            if key not in storages:
                storages[key] = Storage(parts[1].__name__, archive.read(folder + "data/" + key))
            return storages[key]

    with archive.open(data) as file:
        return Unpickler(file).load()


def save(path, content):
    storages = {}

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            if not isinstance(value, Storage):
                return None
            key = storages.setdefault(id(value), (str(len(storages)), value))[0]
            return ("storage", class_of("torch", value.kind), key, "cpu",
                    len(value.data) // value.size())

    with zipfile.ZipFile(path, "w") as archive:
        with archive.open("archive/data.pkl", "w") as file:
            Pickler(file, protocol=2).dump(content)
        for key, storage in storages.values():
            archive.writestr("archive/data/" + key, storage.data)
