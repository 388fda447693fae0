#!/usr/bin/env bash
# assay validate --bisect and assay reduce on a fused digits network with one weight changed: who is to blame, a small
# case that shows the failure again, and the exit codes. PYTHON, where given, has onnx and onnxruntime, which judge the files.
#   reduce_test.sh ASSAY ROOT [PYTHON]
source "$(dirname "$0")/lib.sh"
assay=$(realpath "$assay")
digits=$root/datasets/digits/digits.onnx
python=${3-}

# change_weight IN OUT: element 5 of the second 4-dimensional constant times 1.1; prints the constant's name.
change_weight() {
  /usr/bin/python3 - "$1" "$2" <<'PYTHON'
import struct, sys

def fields(data, at, end):
    """(number, value or (begin, end)) of a protobuf message."""
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
    while at < end:
        key = varint()
        if key & 7 == 2:
            size = varint()
            at += size
            yield key >> 3, (at - size, at)
        else:
            yield key >> 3, varint() if key & 7 == 0 else None
            at += {0: 0, 1: 8, 5: 4}[key & 7]

data = bytearray(open(sys.argv[1], "rb").read())
graph = next(span for number, span in fields(data, 0, len(data)) if number == 7)
weights = []
for number, span in list(fields(data, *graph)):
    if number != 5:
        continue
    tensor = list(fields(data, *span))
    rank = sum(1 if isinstance(v, int) else v[1] - v[0] for n, v in tensor if n == 1)
    raw = [v for n, v in tensor if n == 9]
    if rank == 4 and raw:
        weights.append((raw[0][0], next(data[v[0]:v[1]].decode() for n, v in tensor if n == 8)))
at, name = weights[1]
struct.pack_into("<f", data, at + 20, struct.unpack_from("<f", data, at + 20)[0] * 1.1)
open(sys.argv[2], "wb").write(data)
print(name)
PYTHON
}

# ask FILE EXPRESSION: what Python makes of the JSON file, as `r`.
ask() { /usr/bin/python3 -c "import json; r = json.load(open('$1')); print($2)"; }

expect 0 "" fuse "$digits" --mode bn -o "$work/right.onnx"
change_weight "$work/right.onnx" "$work/wrong.onnx" >/dev/null || fail "no weight was changed"
cmp -s "$work/right.onnx" "$work/wrong.onnx" && fail "the files are equal"
data=(--data "$root/datasets/digits")

# Who is to blame: one instance is E5, and nearly all of the difference is its own.
"$assay" validate "$digits" --fused "$work/wrong.onnx" "${data[@]}" --limit 2 --bisect --calibration-samples 2 --layer-samples 1 --quiet -o "$work/validated" \
  2>"$work/stderr"
[ $? = 1 ] || fail "validate does not fail: $(cat "$work/stderr")"
first='r["bisection"]["runs"][0]["instances"][0]'
blame=$(ask "$work/validated/report.json" "$first['verdict'], $first['share'] > 0.99")
[ "$blame" = "E5 True" ] || fail "bisection blames '$blame', expected the changed weight"
output=$(ask "$work/validated/report.json" "$first['output']")

# The small case: two valid models that are much smaller, and an input.
"$assay" reduce "$digits" --fused "$work/wrong.onnx" "${data[@]}" -o "$work/case" >"$work/reduced" 2>"$work/stderr"
[ $? = 1 ] || fail "reduce does not find a failure: $(cat "$work/stderr")"
grep -qF "E5 at '$output'" "$work/reduced" || fail "reduce speaks of another instance: $(head -1 "$work/reduced")"
for file in original.onnx fused.onnx README.md; do [ -s "$work/case/$file" ] || fail "no $file"; done
for file in original fused; do
  expect 0 "Conv" inspect "$work/case/$file.onnx"
  [ "$(stat -c %s "$work/case/$file.onnx")" -lt 4000 ] || fail "$file.onnx is not small"
done
[ "$(stat -c %s "$work/wrong.onnx")" -gt 100000 ] || fail "the network was small to begin with"

# The command that reduce printed shows the failure again, from the files alone.
command=$(sed -n "s/^cd .* && assay //p" "$work/reduced")
mv "$work/case" "$work/moved"
(cd "$work/moved" && eval "'$assay' $command --quiet") 2>"$work/stderr"
[ $? = 1 ] || fail "'$command' does not fail: $(cat "$work/stderr")"
verdict=$(ask "$work/moved/out/report.json" "r['fusions'][0]['verdict'], r['fusions'][0]['reason'].split(' (')[0]")
[ "$verdict" = "E5 constant outside its budget" ] || fail "the case ends '$verdict'"
# Both files run on that input, and differ.
eval "inputs=($(grep -oE -- "--input '[^']*'" <<<"$command" | tr '\n' ' '))"
for file in original fused; do
  (cd "$work/moved" && "$assay" run "$file.onnx" "${inputs[@]}" --quiet -o "$file") || fail "$file.onnx does not run"
done
diff -r "$work/moved/original" "$work/moved/fused" >/dev/null && fail "both files give the same result"
if [ -n "$python" ]; then
  "$python" - "$work/moved" <<'PYTHON' || fail "onnx or ONNX Runtime refuses the files, or sees no difference"
import glob, os, sys, numpy, onnx, onnxruntime
results = []
for name in ("original", "fused"):
    path = f"{sys.argv[1]}/{name}.onnx"
    onnx.checker.check_model(path, full_check=True)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options)
    files = glob.glob(f"{sys.argv[1]}/*.npy")
    assert len(files) == len(session.get_inputs()) == 1, files
    results.append(session.run(None, {session.get_inputs()[0].name: numpy.load(files[0])})[0])
sys.exit(bool(numpy.array_equal(*results)))
PYTHON
fi

# Nothing fails: exit 0 and no folder. Bad input: exit 2 and no folder.
expect 0 "nothing fails" reduce "$digits" --fused "$work/right.onnx" "${data[@]}" -o "$work/none"
expect 0 "nothing fails" reduce "$digits" "${data[@]}" --mode bn -o "$work/none"
expect 0 "nothing fails" reduce "$digits" --fused "$work/wrong.onnx" "${data[@]}" --kernels -o "$work/none"
expect 2 "expected '$output'" reduce "$digits" --fused "$work/wrong.onnx" "${data[@]}" --output nothing --quiet -o "$work/none"
expect 2 "missing.onnx" reduce "$digits" --fused "$work/missing.onnx" "${data[@]}" --quiet -o "$work/none"
[ -e "$work/none" ] && fail "a folder was written where nothing fails"
finish
