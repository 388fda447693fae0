#!/usr/bin/env bash
# assay run and assay inspect on the digits network: files, names, formats, determinism.
source "$(dirname "$0")/lib.sh"
digits=$root/datasets/digits/digits.onnx

expect 0 "Conv" inspect "$digits"
expect 0 '"weight_bytes"' inspect "$digits" --json
expect 0 "synthetic fill" run "$digits" --shape input=2x1x28x28
make_npy "$work/image.npy" '<f4' '1, 1, 28, 28' "$(zeros 3136)"

expect 0 "float32 [1, 10]" run "$digits" --input "input=$work/image.npy" -o "$work/a"
name=$(sed -n 's/^ *"\(.*\)": "\(.*\)".*$/\2/p' "$work/a/index.json")
[ -f "$work/a/$name" ] || fail "index.json names no file: $name"

# Same bits for any number of threads and instruction set, and the folder is replaced whole.
expect 0 "" run "$digits" --input "input=$work/image.npy" --threads 1 --isa sse2 -o "$work/b"
diff -r "$work/a" "$work/b" >/dev/null || fail "threads or instruction set changed the result"
touch "$work/b/left over"
expect 0 "" run "$digits" --input "input=$work/image.npy" --quiet -o "$work/b"
[ -s "$work/stdout" ] && fail "--quiet prints"
diff -r "$work/a" "$work/b" >/dev/null || fail "the output folder was not replaced whole"

# A tensor name with other characters becomes a file name without them; its own name stays in the index.
expect 0 "input float32" run "$digits" --input "input=$work/image.npy" --tap input -o "$work/c"
[ -f "$work/c/input.npy" ] || fail "the tap was not saved"
cmp -s <(tail -c 3136 "$work/c/input.npy") <(tail -c 3136 "$work/image.npy") || fail "the tapped input differs"
for precision in f32 f64 dd; do
  expect 0 '"precision": "'$precision'"' run "$digits" --input "input=$work/image.npy" --precision $precision --json
done
finish
