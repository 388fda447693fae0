#!/usr/bin/env bash
# page_test.py finds an output that changed, a figure that no command prints, a command that fails, and a
# page without commands; it passes a page that is right, and --update makes one right.
#   page_test_test.sh ASSAY ROOT
source "$(dirname "$0")/lib.sh"

# page TEXT: a page whose only command prints 1234.
page() { printf '%s\n```sh\necho %s\n```\n```\n%s\n```\n' "$1" "$2" "$3" >"$work/page.md"; }
# check CODE WORDS [--update]
check() {
  local code=$1 words=$2
  shift 2
  /usr/bin/python3 "$root/tests/scripts/page_test.py" "$assay" "$root" "$work/page.md" "$@" >"$work/out" 2>&1
  local got=$?
  [ $((got != 0)) = "$code" ] || fail "exit $got for: $words"
  grep -qF -- "$words" "$work/out" || fail "no '$words' in $(cat "$work/out")"
}

page "It is 1234." 1234 1234
check 0 passed
page "It is 1234." 1234 1235
check 1 "differs from what this prints now"
check 0 passed --update
check 0 passed
page "It is 1235, or -0.75." 1234 1234
check 1 "the text says 1235"
check 1 "the text says 0.75"
page "It is 1234." '1234; exit 3' 1234
check 1 "exit 3"
echo "No command." >"$work/page.md"
check 1 "holds no command"
finish
