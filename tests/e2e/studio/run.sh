#!/usr/bin/env bash
# run.sh SOURCE BUILD POET REPORT.xml: drives the server's page in Chromium. Exit code 77: something for that is not here.
set -euo pipefail
source=$1 build=$2 poet=$3 report=$4

skip() {
  echo "SKIPPED: $*"
  exit 77
}

browser=$(command -v chromium || command -v chromium-browser || true)
[[ -n $browser ]] || skip "no Chromium in PATH"
command -v npm >/dev/null || skip "no npm in PATH"
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 18 ? 0 : 1)' || skip "Node is older than 18"

mkdir -p "$build"
if ! cmp -s "$source/package-lock.json" "$build/package-lock.json" || [[ ! -d $build/node_modules ]]; then
  cp "$source/package.json" "$source/package-lock.json" "$build"
  (cd "$build" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1) >"$build/npm.log" 2>&1 ||
    { rm -f "$build/package-lock.json"; skip "npm could not get Playwright ($build/npm.log says why)"; }
fi
rm -rf "$build/tests" && mkdir "$build/tests"
cp "$source"/*.mjs "$build/tests"
[[ ! -d $source/screens ]] || cp -r "$source/screens" "$build/tests"
export POET_TEST_DATA=$(realpath "$source/../../../data")
exec node "$build/tests/main.mjs" "$browser" "$poet" "$report" "$build"
