# shellcheck shell=bash
# Sourced by package_test.sh, whose `work`, `repository`, `version`, skip and fail it uses: the package in a new Debian 12.

# in_chroot COMMAND...: as root there. user_in_chroot: as an ordinary user, in the user's home.
in_chroot() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
user_in_chroot() {
  chroot --userspec=someone:someone "$root" env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 HOME=/home/someone \
    sh -c 'cd "$HOME" && exec "$@"' sh "$@"
}

# apt_in_chroot ARGS...: installs, unless a file cannot be had any more from where the first ones came.
apt_in_chroot() {
  in_chroot apt-get -o Acquire::Retries=5 install -y "$@" >"$work/apt.log" 2>&1 && return
  cat "$work/apt.log" >>"$work/chroot.log"
  ! grep -q '^E: \(Failed to fetch\|Unable to fetch\)' "$work/apt.log" || skip "the source of Debian's packages does not answer any more"
  tail -n 20 "$work/apt.log" >&2
  return 1
}

((EUID == 0)) || skip "only root makes chroots"
command -v mmdebstrap >/dev/null || skip "needs mmdebstrap"
[[ -n $(compgen -G "$work/*.deb") ]] || skip "no packages"
# In namespaces of its own: whatever is mounted or runs there ends with this script.
if [[ -z ${POET_IN_NAMESPACE:-} ]]; then
  unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces can be made here"
  POET_IN_NAMESPACE=1 exec unshare --mount --pid --fork --kill-child "${BASH_SOURCE[1]}" \
    "$part" "$repository" "$build" "$work" "$version"
fi

sources=$(apt-get indextargets 'Origin: Debian' 'Created-By: Packages' 'Codename: bookworm' \
  --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' | sort -u)
[[ -n $sources ]] || skip "apt knows no source of Debian 12 here"
root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
timeout 1200 mmdebstrap --variant=apt bookworm "$root" - <<<"$sources" >"$work/chroot.log" 2>&1 ||
  skip "no chroot could be made: $(grep -v '^I:' "$work/chroot.log" | tail -n 1)"
mount -t proc proc "$root/proc" 2>/dev/null || skip "/proc cannot be mounted in a chroot here"
trap 'umount "$root/proc"; rm -rf --one-file-system "$root"' EXIT
in_chroot apt-get update >>"$work/chroot.log" 2>&1 || skip "the source of Debian's packages does not answer"
in_chroot useradd --create-home --user-group someone
cp "$work"/*.deb "$root/tmp"
cp "$repository"/tests/e2e/readme_commands_test.py "$repository"/README.md "$root/home/someone"

begin=$(date +%s.%N)
apt_in_chroot "/tmp/poet_${version}_$(dpkg --print-architecture).deb" || fail "apt-get install"
installed=$(date +%s.%N)
user_in_chroot poet solve --model resnet18_cifar --platform a72 --ram-budget 56MB --runtime-budget 1.3 --plan-out my.plan \
  --quiet >"$work/answer" || fail "poet solve"
grep -q '^Status  *\(optimal\|feasible\)' "$work/answer" || fail "no plan: $(cat "$work/answer")"
awk -v a="$begin" -v b="$installed" -v c="$(date +%s.%N)" \
  'BEGIN { printf "apt install: %.1f s; first plan: %.1f s; together %.1f s\n", b - a, c - b, c - a }'

# The rest: Python beside it, all that the README says, its program in C++.
apt_in_chroot --no-install-recommends "/tmp/python3-poet_${version}_$(dpkg --print-architecture).deb" || fail "python3-poet"
user_in_chroot python3 -c 'import poet; assert poet.solve("linear", device="m0", ram_budget="24KiB", time_limit=2)' ||
  fail "Python"
user_in_chroot python3 readme_commands_test.py README.md /usr/bin/poet || fail "the README's commands"
apt_in_chroot --no-install-recommends "/tmp/libpoet-dev_${version}_$(dpkg --print-architecture).deb" cmake g++ make ||
  fail "libpoet-dev"
cp -r "$repository"/tests/e2e/consumer "$root/home/someone"
sed -n '/^```cpp$/,/^```$/p' "$repository/README.md" | sed '1d;$d' >"$root/home/someone/example.cc"
chmod -R a+rX "$root/home/someone"
user_in_chroot cmake -S consumer -B built -DCMAKE_BUILD_TYPE=Release -DEXPECTED_VERSION="$version" \
  -DREADME_EXAMPLE=/home/someone/example.cc >"$work/consumer.log" &&
  user_in_chroot cmake --build built --target example >>"$work/consumer.log" || fail "find_package(poet): $(tail "$work/consumer.log")"
user_in_chroot poet run --model resnet14_cifar --platform a72 --ram-budget 1GB --steps 1 --quiet --onnx-out model.onnx >/dev/null
[[ $(user_in_chroot built/example | grep -c '^step .*: loss ') == 10 ]] || fail "the README's example"
in_chroot apt-get purge -y poet libpoet-dev python3-poet >>"$work/chroot.log" 2>&1 || fail "apt-get purge"
[[ -z $(find "$root/usr" -name '*poet*' ! -path '*/poetry*' -print -quit) ]] || fail "files are left: $(find "$root/usr" -name '*poet*')"
