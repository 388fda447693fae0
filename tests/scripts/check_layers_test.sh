#!/usr/bin/env bash
# The layer check itself: one planted fault per rule must be found, and the clean tree must pass.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{runtime/onnx,fusion,quant,kernels/onednn,datasets,validation/cli}
touch "$work"/runtime/onnx/{reader,writer,external_data}.h

"$here/check_layers.sh" "$work" >/dev/null || { echo "an empty tree does not pass"; exit 1; }

# planted FILE LINE
planted() {
  echo "$2" >"$work/$1"
  if "$here/check_layers.sh" "$work" >/dev/null; then
    echo "not found: '$2' in $1"
    exit 1
  fi
  rm "$work/$1"
}
planted runtime/a.h '#include "fusion/pattern.h"'
planted fusion/a.cpp '#include "quant/quantize.h"'
planted kernels/a.cpp '  #  include "fusion/pattern.h"'
planted datasets/a.cpp '#include "kernels/program.h"'
planted quant/a.cpp '#include "validation/compare.h"'
planted validation/a.cpp '#include "tests/support/matchers.h"'
planted runtime/a.cpp '#include <google/protobuf/message.h>'
planted quant/a.cpp '#include "onnx/onnx_pb.h"'
planted runtime/onnx/other.cpp '#include <dnnl.hpp>'
planted kernels/a.cpp '#include <oneapi/dnnl/dnnl.hpp>'
planted runtime/a.cpp 'void f() { std::cout << 1; }'
planted kernels/onednn/a.cpp 'void f() { exit(1); }'
planted validation/a.cpp 'void f() { std::printf("x"); }'
planted fusion/a.cpp '#include <iostream>'

# These are allowed.
echo '#include "fusion/pattern.h"' >"$work/quant/a.cpp"
echo '#include "onnx/onnx_pb.h"' >"$work/runtime/onnx/a.cpp"
echo '#include <dnnl.hpp>' >"$work/kernels/onednn/a.cpp"
echo 'int exit_code(int x) { return snprintf_exit(x); }  // exit(1) in words' >"$work/runtime/b.cpp"
echo '#include <iostream>' >"$work/validation/cli/a.cpp"
"$here/check_layers.sh" "$work" >/dev/null || { echo "allowed lines are reported"; exit 1; }
echo "layer check finds what it should"
