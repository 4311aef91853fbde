#!/usr/bin/env bash
# no_install_test.sh REPOSITORY: ./poet with POET_NO_INSTALL=1 on a system without any package installs none, says what is missing and
# how to get it, and ends with exit code 2; without packages that are only wanted it goes on.
set -uo pipefail
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
