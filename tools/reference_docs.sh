#!/usr/bin/env bash
# Builds the reference of the Python package, HTML from its docstrings, with Sphinx (Debian's python3-sphinx). A warning is an error.
# The package is that of PYTHONPATH or, where it has none, of the build folder. Exit code 77 without Sphinx or the package.
#   tools/reference_docs.sh [FOLDER]    FOLDER: build/reference where none is given; its index.html is the first page
# shellcheck disable=SC2154  # variables that tools/setup.sh gives
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
# shellcheck source=tools/setup.sh
source "$root/tools/setup.sh"

folder=${1:-$build_dir/reference}
export PYTHONPATH=${PYTHONPATH:+$PYTHONPATH:}$build_dir/python PYTHONDONTWRITEBYTECODE=1
if ! "$python" -c "import sphinx" 2>/dev/null; then
  echo "skipped: $python has no Sphinx; as root, run: apt-get install python3-sphinx"
  exit 77
elif ! lacks=$("$python" -c "import poet" 2>&1); then
  echo "skipped: the Python package is missing, which ./test builds: ${lacks##*$'\n'}"
  exit 77
fi
trees=$(mktemp -d)
trap 'rm -rf "$trees"' EXIT
"$python" -m sphinx -W --keep-going -q -E -d "$trees" "$root/docs/reference" "$folder"
echo "$folder/index.html"
