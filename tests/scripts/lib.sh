# Helpers of the script tests; sourced. $assay is the program, $work a scratch folder that goes away.
set -uo pipefail
assay=$1
root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# make_npy FILE DESCR SHAPE BYTES: a NumPy file; BYTES in printf's escapes.
make_npy() {
  { printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"; printf "$4"; } >"$1"
}

# zeros N: N zero bytes in printf's escapes.
zeros() { printf '\\000%.0s' $(seq "$1"); }

# expect CODE TEXT ARGS...: assay ARGS ends with CODE, and what it says (one line on standard error when CODE is not 0)
# holds TEXT.
expect() {
  local code=$1 text=$2 got lines
  shift 2
  "$assay" "$@" >"$work/stdout" 2>"$work/stderr" </dev/null
  got=$?
  lines=$(grep -c . "$work/stderr")
  [ "$got" = "$code" ] || fail "exit $got, expected $code: assay $* ($(head -c 300 "$work/stderr"))"
  if [ "$code" != 0 ] && [ "$lines" != 1 ]; then fail "$lines lines on standard error: assay $*"; fi
  if [ "$code" != 0 ]; then
    grep -qF -- "$text" "$work/stderr" || fail "no '$text' in '$(cat "$work/stderr")': assay $*"
  elif [ -n "$text" ]; then
    grep -qF -- "$text" "$work/stdout" || fail "no '$text' on standard output: assay $*"
  fi
}

finish() {
  if [ "$failures" = 0 ]; then echo "passed"; fi
  exit $((failures > 0))
}
