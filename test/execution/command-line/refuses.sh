# Sourced by the tests of this folder.
# shellcheck shell=bash

# refuses EXPECTED COMMAND...: the command must end with exit code 1, without a
# signal, and with one sentence on standard error, of the tool's usual form,
# that contains EXPECTED. Standard input is the caller's.
refuses() {
  local expected=$1 status=0 text
  shift
  "$@" >refused.out 2>refused.err || status=$?
  text=$(<refused.err)
  if [ $status != 1 ] || [ "$(wc -l <refused.err)" != 1 ] ||
    [[ $text != heddle-*": error: "* || $text != *"$expected"* ]] ||
    [[ $text == *. ]]; then
    echo "command:  $*"
    echo "expected: exit code 1 and '$expected'"
    echo "found:    exit code $status and '$text'"
    return 1
  fi
}

# Nothing but the named files is in the folder, hidden files included.
holds_only() {
  local found expected
  found=$(find . -mindepth 1 -printf '%P\n' | sort)
  expected=$(printf '%s\n' refused.out refused.err "$@" | sort)
  if [ "$found" != "$expected" ]; then
    echo "expected the files: $expected"
    echo "found: $found"
    return 1
  fi
}
