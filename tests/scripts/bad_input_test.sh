#!/usr/bin/env bash
# Bad input ends in one clear line and the right exit code, and leaves nothing half written.
source "$(dirname "$0")/lib.sh"
digits=$root/datasets/digits/digits.onnx

: >"$work/empty.onnx"
head -c 5000 "$digits" >"$work/cut.onnx"
echo "no model" >"$work/text.onnx"
make_npy "$work/good.npy" '<f4' '1, 1, 28, 28' "$(zeros 3136)"
make_npy "$work/double.npy" '<f8' '1, 1, 28, 28' "$(zeros 6272)"
make_npy "$work/shape.npy" '<f4' '1, 1, 28, 27' "$(zeros 3024)"
make_npy "$work/short.npy" '<f4' '1, 1, 28, 28' "$(zeros 100)"

for command in run inspect; do
  expect 2 "$work/none.onnx" $command "$work/none.onnx"
  expect 2 "$work/empty.onnx" $command "$work/empty.onnx"
  expect 2 "$work/cut.onnx" $command "$work/cut.onnx"
  expect 2 "$work/text.onnx" $command "$work/text.onnx"
  expect 2 "folder" $command "$work"
  expect 2 "--nonsense" $command "$digits" --nonsense
done
expect 2 "see assay --help" nonsense
expect 2 "'wrong'" run "$digits" --input "wrong=$work/good.npy"
expect 2 "NAME=VALUE" run "$digits" --input "$work/good.npy"
expect 2 "float64" run "$digits" --input "input=$work/double.npy"
expect 2 "[1, 1, 28, 27]" run "$digits" --input "input=$work/shape.npy"
expect 2 "$work/short.npy" run "$digits" --input "input=$work/short.npy"
expect 2 "$work/none.npy" run "$digits" --input "input=$work/none.npy"
expect 2 ".npy" run "$digits" --input "input=$digits"
expect 2 "--shape input=" run "$digits"
expect 2 "1xtwo" run "$digits" --shape input=1xtwo
expect 2 "'other'" run "$digits" --shape other=1
expect 2 "--tap 'none'" run "$digits" --input "input=$work/good.npy" --tap none
expect 2 "--isa mmx" run "$digits" --input "input=$work/good.npy" --isa mmx
expect 2 "--max-tensor-bytes" run "$digits" --input "input=$work/good.npy" --max-tensor-bytes 1000

# A folder that cannot be written is found out before the work, and what was there stays.
echo kept >"$work/file"
expect 2 "$work/file" run "$digits" --input "input=$work/good.npy" -o "$work/file"
[ "$(cat "$work/file")" = kept ] || fail "a file was overwritten"
mkdir "$work/out" && echo kept >"$work/out/old"
expect 2 "'wrong'" run "$digits" --input "wrong=$work/good.npy" -o "$work/out"
[ "$(ls "$work/out")" = old ] || fail "a failed run changed its output folder"
finish
