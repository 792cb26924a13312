"""Checks that the parts of a profile add up.

usage: check_profile.py PROFILE.json"""

import json
import math
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    profile = json.load(file)


def is_same(found, expected, what):
    assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9), (
        what, found, expected)


functions, kernels = profile["functions"], profile["kernels"]
for key in ("calls", "seconds"):
    is_same(sum(each[key] for each in functions), profile["entries"][key], key)
    assert profile["entries"][key] > 0, key
places = [place for each in functions for place in each["places"]]
assert places
for kernel in kernels:
    for key in ("calls", "seconds", "flops", "bytes"):
        is_same(sum(place[key] for place in places
                    if place["kernel"] == kernel["name"]), kernel[key],
                (kernel["name"], key))
assert {place["kernel"] for place in places} == {
    kernel["name"] for kernel in kernels}

for each in functions:
    inside = sum(place["seconds"] for place in each["places"])
    assert inside <= each["seconds"] + 1e-9, each["name"]
    median = each["median"]
    assert median["kernels_left_out"] == 0, each["name"]
    assert all(size >= 1 for size in median["dims"].values()), median["dims"]
    # One behind the other, within the call.
    end = 0
    for call in median["kernels"]:
        assert call["start"] >= end - 1e-9, (each["name"], call)
        end = call["start"] + call["seconds"]
        place = each["places"][call["place"]]
        assert call["flops"] <= place["flops"], (each["name"], call)
    assert end <= median["seconds"] + 1e-9, each["name"]
    # In a call every place is passed, but for those of loops over no rows.
    if each["places"]:
        assert {call["place"] for call in median["kernels"]} == set(
            range(len(each["places"]))), each["name"]
