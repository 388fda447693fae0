#!/usr/bin/env bash
# assay selftest --determinism: the built-in networks and the digits net give their published hashes here; a table of
# other numbers, or of another model, is found.
source "$(dirname "$0")/lib.sh"
digits=$root/datasets/digits/digits.onnx
table=$root/validation/selftest/tables/digits.json

expect 0 "equal" selftest --determinism
expect 0 "equal" selftest --determinism --model "$digits" --data "$root/datasets/digits" --values all --evaluation cr \
  --evaluation f32 --evaluation f64 --table "$table"

# One run of a model: one evaluation, hashes only.
expect 0 '"differences": []' selftest --determinism --model "$digits" --json -o "$work/hashes.json"
grep -q '"logits": "[0-9a-f]\{32\}"' "$work/hashes.json" || fail "no hash of the output was written"
expect 0 "equal" selftest --determinism --model "$digits" --table "$work/hashes.json"
"$assay" selftest --determinism --model "$digits" --seed 2 --table "$work/hashes.json" >"$work/stdout"
[ $? = 5 ] || fail "other inputs gave the same hashes"
"$assay" fuse "$digits" -o "$work/digits.onnx" --mode none --quiet
"$assay" selftest --determinism --model "$work/digits.onnx" --table "$work/hashes.json" >"$work/stdout"
[ $? = 5 ] || fail "another file passed as the published model"
grep -q "published for another digits.onnx" "$work/stdout" || fail "the other file is not named"
finish
