# Sourced by the tests of this folder.
# shellcheck shell=bash

# ends_with CODE EXPECTED COMMAND...: the command must end with this exit code,
# without a signal, and with one sentence on standard error, of the tool's usual
# form, that contains EXPECTED. Standard input is the caller's.
ends_with() {
  local code=$1 expected=$2 status=0 text
  shift 2
  "$@" >refused.out 2>refused.err || status=$?
  text=$(<refused.err)
  if [ $status != "$code" ] || [ "$(wc -l <refused.err)" != 1 ] ||
    [[ $text != heddle-*": error: "* || $text != *"$expected"* ]] ||
    [[ $text == *. ]]; then
    echo "command:  $*"
    echo "expected: exit code $code and '$expected'"
    echo "found:    exit code $status and '$text'"
    return 1
  fi
}

# What is wrong, and what is wrong in the command line itself.
refuses() { ends_with 1 "$@"; }
misuses() { ends_with 2 "$@"; }

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
