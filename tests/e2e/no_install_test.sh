#!/usr/bin/env bash
# no_install_test.sh REPOSITORY: ./poet with POET_NO_INSTALL=1 on a system without any package installs none, says what is missing and
# how to get it, and ends with exit code 2; without packages that are only wanted it goes on.
set -uo pipefail
umask 022  # another user is to read what is made here
unset POET_NO_INSTALL
repository=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"

# A Debian that has what `installed` says.
cat >"$folder/bin/dpkg-query" <<'END'
#!/usr/bin/env bash
for package in "${@:3}"; do [[ $INSTALLED == all ]] && printf '%s=installed ' "$package"; done
exit 0
END
cat >"$folder/bin/apt-get" <<END
#!/usr/bin/env bash
touch "$folder/called"
END
# What would build: all that is wanted has been said by then.
cat >"$folder/bin/cmake" <<'END'
#!/usr/bin/env bash
echo "no build here" >&2
exit 1
END
chmod +x "$folder"/bin/*
if ! "$folder/bin/dpkg-query" 2>/dev/null; then
  echo "skipped: no program can be run in $folder"
  exit 77
fi

wrong() {
  echo "$*"
  cat "$folder/err"
  exit 1
}

run() { # INSTALLED
  INSTALLED=$1 POET_NO_INSTALL=1 POET_BUILD_DIR=$folder/build PATH="$folder/bin:/usr/bin:/bin" \
    "$repository/poet" --version >"$folder/out" 2>"$folder/err"
}

run none
result=$?
((result == 2)) || wrong "exit code $result and not 2"
grep -q '^poet: packages are missing, and POET_NO_INSTALL is set; to install them, as root: apt-get install .*ninja-build ' "$folder/err" ||
  wrong "it does not say how to install what is missing"
[[ ! -s $folder/out ]] || wrong "there is an answer"

run all
result=$?
((result == 3)) || wrong "exit code $result: it did not go on to build"
grep -q 'apt-get install' "$folder/err" && wrong "it asks for packages that are there"
[[ ! -e $folder/called ]] || wrong "apt-get was called"

# Whoever may install by sudo is told what for before sudo asks for a password.
cat >"$folder/bin/sudo" <<'ENDSUDO'
#!/usr/bin/env bash
[[ $1 == -v ]] && echo "password?" >&2
exit 1
ENDSUDO
chmod +x "$folder/bin/sudo"
chmod 777 "$folder"
as_user=()
((EUID != 0)) || as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
# `script` is their terminal. Not every machine gives one to every user, nor lets every user write to /dev/null, as ./poet does.
may_run='test -x "$0" && test "$(command -v sudo)" = "$2" && script -qec true "$1" </dev/null >/dev/null 2>&1'
if PATH="$folder/bin:/usr/bin:/bin" "${as_user[@]}" sh -c "$may_run" "$repository/poet" "$folder/terminal" "$folder/bin/sudo"; then
  INSTALLED=none HOME=$folder POET_BUILD_DIR=$folder/users PATH="$folder/bin:/usr/bin:/bin" \
    "${as_user[@]}" script -qec "$(printf %q "$repository/poet") --version" "$folder/terminal" </dev/null >"$folder/err" 2>&1
  grep -q 'sudo may ask for your password, to install packages: .*ninja-build' "$folder/err" ||
    wrong "it does not say what sudo is to install"
  [[ $(grep -n -m1 'sudo may ask' "$folder/err" | cut -d: -f1) -lt $(grep -n -m1 'password?' "$folder/err" | cut -d: -f1) ]] ||
    wrong "it says so after sudo has asked"
else
  echo "not tested: what is said before sudo asks, as another user has no terminal or no /dev/null here"
fi
