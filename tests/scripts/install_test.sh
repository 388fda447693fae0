#!/usr/bin/env bash
# Installs a finished build into a scratch folder, moves that folder, then builds and runs a program
# outside the project against it, and the installed program itself.
#   install_test.sh BUILD SOURCE COMPILER
set -euo pipefail
build=$1 source=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/moved"
assay=$work/moved/bin/assay
config=$(find "$work/moved" -name assay-config.cmake)
[ -n "$config" ] || { echo "FAILED: no assay-config.cmake was installed"; exit 1; }

# Nothing of the installed tree may point back into the build or the sources.
for file in "$assay" "$(find "$work/moved" -name 'libassay.so.*.*.*')"; do
  if readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -F "$source"; then
    echo "FAILED: $file finds its libraries in the source folder"
    exit 1
  fi
done
if grep -rlF "$source" "$work/moved" --include='*.cmake'; then
  echo "FAILED: the package names the source folder"
  exit 1
fi

"$assay" --version
"$assay" inspect "$source/datasets/digits/digits.onnx" --quiet
cmake -S "$source/tests/scripts/consumer" -B "$work/consumer" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_BUILD_TYPE=Release -Dassay_DIR="$(dirname "$config")" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/consumer" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/consumer/consumer" "$source/datasets/digits/digits.onnx"
