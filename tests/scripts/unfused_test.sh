#!/usr/bin/env bash
# What each network keeps unfused, with the reason: unfused_test.sh ASSAY ROOT [--update] MODEL.onnx ...
#
# tests/data/unfused/MODEL.MODE.txt holds the number of batch normalizations before and after, then every near-match that
# was refused with the failed condition and the edit. --update writes the lists anew; read the difference before committing it.
source "$(dirname "$0")/lib.sh"
shift 2
update=no
if [ "${1:-}" = --update ]; then update=yes && shift; fi
lists=$root/tests/data/unfused

normalizations() { "$assay" inspect "$1" | awk '$1 == "BatchNormalization" { n = $2 } END { print n + 0 }'; }

list() {
  local model=$1 mode=$2
  "$assay" fuse "$model" --mode "$mode" -o "$work/fused.onnx" --explain >"$work/explain" || return 1
  echo "batch normalizations: $(normalizations "$model") before, $(normalizations "$work/fused.onnx") after"
  grep -A1 '^declined' "$work/explain" | grep -v '^--' | grep -v '^fired'
  return 0
}

for model in "$@"; do
  for mode in bn all; do
    want=$lists/$(basename "$model" .onnx).$mode.txt
    list "$model" "$mode" >"$work/list" || fail "assay fuse $model --mode $mode"
    if [ $update = yes ]; then cp "$work/list" "$want"; fi
    diff -u "$want" "$work/list" || fail "$model under $mode keeps something else"
  done
done
finish
