#!/usr/bin/env bash
# Arrows between the layers point down, and each outside library is seen from one place (CONTRIBUTING.md, "Layers").
#   check_layers.sh [ROOT]
# Prints every line that breaks a rule and exits 1 when there is one.
set -euo pipefail
root=${1:-$(dirname "$0")/../..}
cd "$root"
broken=0

# sources DIR...: the source files there that exist.
sources() {
  local dir
  for dir in "$@"; do
    if [ -d "$dir" ]; then find "$dir" -name '*.h' -o -name '*.cpp'; fi
  done
}

# forbid WHY PATTERN FILES...: no line, comments taken off, may match.
forbid() {
  local why=$1 pattern=$2 found
  shift 2
  if [ $# = 0 ]; then return; fi
  found=$(awk -v pattern="$pattern" '{ line = $0; sub(/\/\/.*/, "", line); if (line ~ pattern) print FILENAME ":" FNR ": " $0 }' "$@")
  if [ -n "$found" ]; then
    echo "$why:"
    echo "$found"
    broken=1
  fi
}

include() { echo "^[ \t]*#[ \t]*include[ \t]*[<\"]($1)"; }
# layer DIR OTHERS: DIR may not include from OTHERS.
layer() {
  mapfile -t files < <(sources "$1")
  forbid "$1 may not include from $2" "$(include "($2)/")" "${files[@]}"
}

layer runtime 'fusion|quant|kernels|datasets|validation|tests|bench'
layer fusion 'quant|kernels|datasets|validation|tests|bench'
layer kernels 'fusion|quant|datasets|validation|tests|bench'
layer datasets 'fusion|quant|kernels|validation|tests|bench'
layer quant 'kernels|datasets|validation|tests|bench'
layer validation 'tests|bench'

all=(runtime fusion quant kernels datasets validation)
mapfile -t files < <(sources "${all[@]}" | grep -v '^runtime/onnx/')
forbid "only runtime/onnx sees protobuf" "$(include 'google/protobuf|onnx/')" "${files[@]}"
# The public headers of runtime/onnx stay free of it too.
forbid "a header that others include shows protobuf" "$(include 'google/protobuf|onnx/')" \
  runtime/onnx/reader.h runtime/onnx/writer.h runtime/onnx/external_data.h
mapfile -t files < <(sources "${all[@]}" | grep -v '^kernels/onednn/')
forbid "only kernels/onednn sees oneDNN" "$(include '(oneapi/)?dnnl')" "${files[@]}"
mapfile -t files < <(sources "${all[@]}" | grep -v '^validation/cli/')
forbid "only validation/cli prints or exits" \
  '(^|[^A-Za-z0-9_])(std::(cout|cerr|clog)|(std::)?(printf|fprintf|puts|fputs|putchar|exit|_exit|quick_exit|abort)[ \t]*\(|fmt::print[ \t]*\(|#[ \t]*include[ \t]*<iostream>)' \
  "${files[@]}"

if [ $broken = 0 ]; then echo "layers hold"; fi
exit $broken
