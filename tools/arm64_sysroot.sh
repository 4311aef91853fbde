#!/usr/bin/env bash
# arm64_sysroot.sh FOLDER: makes FOLDER, with Debian 12's arm64 libraries that poet is compiled against, for the CMake
# preset aarch64 (docs/install.md). Nothing is installed on this machine and nothing of it is run: packages are
# fetched from where apt gets its own, and unpacked. Needs mmdebstrap.
set -euo pipefail
folder=${1:?usage: arm64_sysroot.sh FOLDER}
root=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd -P)
# shellcheck source=tools/setup.sh
source "$root/tools/setup.sh"  # gives `packages`
[[ ! -e $folder ]] || { echo "arm64_sysroot.sh: $folder is there already" >&2; exit 2; }
command -v mmdebstrap >/dev/null || { echo "arm64_sysroot.sh: needs mmdebstrap" >&2; exit 2; }

sources=$(apt-get indextargets 'Origin: Debian' 'Created-By: Packages' 'Codename: bookworm' \
  --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' | sort -u)
[[ -n $sources ]] || { echo "arm64_sysroot.sh: apt knows no source of Debian 12 (apt-get update?)" >&2; exit 2; }
libraries=libstdc++-12-dev
for package in "${packages[@]}"; do
  [[ $package != *-dev ]] || libraries+=,$package
done
mkdir -p "$(dirname "$folder")"
mmdebstrap --arch=arm64 --variant=extract --include="$libraries" bookworm "$folder" - <<<"$sources"

# Links such as /lib/aarch64-linux-gnu/libm.so.6 are to stay within the folder.
find "$folder/usr" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
  ln -sfn "$(realpath -m --relative-to="${link%/*}" "$folder$target")" "$link"
done
# What the packages' scripts would have linked.
cd "$folder/usr/lib/aarch64-linux-gnu"
for library in blas lapack; do
  for file in $library/lib$library.so*; do ln -sf "$file" .; done
done
