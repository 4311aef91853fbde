#!/usr/bin/env bash
# The Debian package of the build that is there.
#   package_test.sh build|extracted|chroot REPOSITORY BUILD WORK_FOLDER VERSION
# build: makes the packages; lintian, where it is installed, finds no error and no warning.
# extracted: unpacks them into a folder and uses what is there: the program, its pages, completion, Python, CMake's files.
# chroot: installs them with apt into a new Debian 12 and runs the README's commands there as an ordinary user. Exit 77
# where no chroot can be made: not root, no mmdebstrap, or no source of Debian's packages that answers.
set -euo pipefail
umask 022  # other users are to read what is made here
part=$1 repository=$2 build=$3 work=$4 version=$5

skip() {
  echo "skipped: $*"
  exit 77
}

fail() {
  echo "wrong: $*" >&2
  exit 1
}

make_packages() {
  command -v dh >/dev/null && command -v dh_python3 >/dev/null || skip "needs debhelper and dh-python"
  [[ $(dpkg-parsechangelog -l "$repository/debian/changelog" -S Version) == "$version" ]] ||
    fail "debian/changelog does not begin with version $version"
  rm -rf "$work"
  mkdir -p "$work/poet"
  cp -r "$repository"/{debian,docs,examples,README.md,SECURITY.md} "$work/poet"
  cd "$work/poet"
  POET_BUILD=$build dpkg-buildpackage --build=binary --no-sign --no-check-builddeps >"$work/log" 2>&1 || {
    tail -n 40 "$work/log" >&2
    fail "dpkg-buildpackage"
  }
  cd "$work"
  ls -l ./*.deb
  dpkg-deb --field poet_"$version"_*.deb Depends
  [[ $(dpkg-deb --field poet_"$version"_*.deb Depends) == *libstdc++6*coinor-libcbc3* || \
     $(dpkg-deb --field poet_"$version"_*.deb Depends) == *coinor-libcbc3*libstdc++6* ]] || fail "Depends"
  if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning poet_"$version"_*.changes
    echo "lintian: no errors, no warnings"
  else
    echo "without lintian, which is not installed"
  fi
}

# as_user COMMAND...: without root's rights where this is root.
as_user() {
  if ((EUID == 0)); then
    setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"
  else
    "$@"
  fi
}

try_extracted() {
  [[ -n $(compgen -G "$work/*.deb") ]] || skip "no packages"
  local root scratch deb
  root=$(mktemp -d)
  scratch=$(mktemp -d)
  # shellcheck disable=SC2064  # these folders
  trap "rm -rf '$root' '$scratch'" EXIT
  chmod 755 "$root"
  chmod 777 "$scratch"
  for deb in "$work"/poet_*.deb "$work"/libpoet-dev_*.deb "$work"/python3-poet_*.deb; do dpkg-deb -x "$deb" "$root"; done
  cd "$scratch"
  export HOME=$scratch PATH=$root/usr/bin:/usr/bin:/bin PYTHONPATH=$root/usr/lib/python3/dist-packages

  [[ $(as_user poet --version) == "poet $version" ]] || fail "poet --version"
  as_user poet solve --model transformer --platform jetsontx2 --ram-budget 72MB --runtime-budget 1.3 --split off \
    --plan-out my.plan --quiet >answer
  grep -q '^Status  *optimal' answer || fail "poet solve: $(cat answer)"
  [[ ! -f $root/usr/share/poet/report/echarts.min.js ]] || as_user poet show my.plan -o plan.html
  as_user poet solve --model linear --platform m4 --ram-budget 64KiB --time-limit 2 --plan-out small.plan --quiet >/dev/null
  as_user poet codegen small.plan -o firmware >/dev/null
  [[ -f firmware/Makefile && -f firmware/engine/poet_batch.c ]] || fail "poet codegen"
  # Nothing is read from the build or its sources.
  if as_user strace -f -e trace=open,openat,access,stat,newfstatat -o files poet devices >/dev/null 2>&1; then
    grep -q "\"$root/usr/share/poet/devices" files || fail "strace saw nothing"
    ! grep "\"$repository\|\"$build" files || fail "poet looks for files of its build"
  fi

  local page count=0 command
  while read -r command; do
    page=$root/usr/share/man/man1/poet-$command.1.gz
    [[ -f $page ]] || fail "no page for poet $command"
    zcat "$page" | cmp - <(poet manual "$command") || fail "the page of poet $command is not of this program"
    if command -v man >/dev/null; then
      [[ -z $(man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null) ]] || fail "man has warnings of $page"
    fi
    count=$((count + 1))
  done < <(poet --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
  ((count > 10)) || fail "$count pages"
  bash -c "source $root/usr/share/bash-completion/completions/poet; COMP_WORDS=(poet sol); COMP_CWORD=1; _poet
           [[ \${COMPREPLY[*]} == solve ]]" || fail "bash's completion"

  as_user /usr/bin/python3 -c '
import poet
result = poet.solve("linear", device="m0", ram_budget="24KiB", persistent="excluded", split="off")
assert result.status in ("optimal", "feasible"), result.status
assert "dist-packages/poet" in poet.__file__, poet.__file__' || fail "Python"

  for file in lib/cmake/poet/poetConfig.cmake lib/libpoet_compile.a include/poet/poet.h; do
    [[ -f $root/usr/$file ]] || fail "no usr/$file"
  done
  ! grep -r "$build" "$root/usr/lib/cmake" || fail "CMake's files name the build"
  echo "passed: $count manual pages"
}

case $part in
  build) make_packages ;;
  extracted) try_extracted ;;
  chroot) source "${BASH_SOURCE[0]%/*}/package_chroot.sh" ;;
esac
