#!/usr/bin/env bash
# run.sh SOURCE BUILD POET REPORT.xml CONCERN: drives the server's page in Chromium by SOURCE/CONCERN.mjs. POET_STUDIO_TEST: only
# cases with that in their name. Exit code 77: something for that is not here.
set -euo pipefail
source=$1 build=$2 poet=$3 report=$4 concern=$5

skip() {
  echo "SKIPPED: $*"
  exit 77
}

browser=$(command -v chromium || command -v chromium-browser || true)
[[ -n $browser ]] || skip "no Chromium in PATH"
command -v npm >/dev/null || skip "no npm in PATH"
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 18 ? 0 : 1)' || skip "Node is older than 18"

# One folder of packages for all concerns: who comes first installs, the others wait.
install() {
  exec 9>"$build/npm.lock"
  flock 9
  if ! cmp -s "$source/package-lock.json" "$build/installed.json" || [[ ! -d $build/node_modules ]]; then
    cp "$source/package.json" "$source/package-lock.json" "$build"
    (cd "$build" && timeout 1800 npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1) >"$build/npm.log" 2>&1 ||
      return 1
    cp "$source/package-lock.json" "$build/installed.json"
  fi
  exec 9>&-
}

mkdir -p "$build"
install || skip "npm could not get Playwright ($build/npm.log says why)"
tests=$build/$concern # below the packages, where Node looks for them
rm -rf "$tests" && mkdir "$tests"
cp "$source"/*.mjs "$tests"
[[ ! -d $source/screens ]] || cp -r "$source/screens" "$tests"
POET_TEST_DATA=$(realpath "$source/../../../data")
export POET_TEST_DATA
exec node "$tests/main.mjs" "$concern" "$browser" "$poet" "$report" "$build"
