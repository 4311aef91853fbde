# shellcheck shell=bash
# Sourced by tools/run.sh (./poet) and ./test: everything between a fresh clone on Debian 12 and a finished build.
# Takes `root` (the repository); gives `build_dir`, `program`, `python`, program_is_current, set_up and set_up_for. Speaks on stderr
# only; details go to setup.log in the build folder.
: "${root:?the repository}"

packages=(
  cmake ninja-build g++ pkg-config
  libfmt-dev libcli11-dev nlohmann-json3-dev
  liblemon-dev
  coinor-libcbc-dev coinor-libclp-dev coinor-libcgl-dev coinor-libosi-dev coinor-libcoinutils-dev
  libonnx-dev libprotobuf-dev protobuf-compiler
  libsqlite3-dev libssl-dev libxxhash-dev
  libcpp-httplib-dev
  libdnnl-dev
  zlib1g-dev # reads compressed instances; coinutils.pc links it, too, and no package above brings it
)
test_packages=(libgtest-dev libgmock-dev librapidcheck-dev python3)
# Wanted but not needed, so failing to install them is not the end: who would use them says so or, in tests, skips.
# Where a command of the first name (or that folder) is there already, its package is not asked for: it may come from
# elsewhere.
figure_extras=(gnuplot:gnuplot-nox) # draws them
page_extras=(npm:npm)               # has the build fetch their libraries
test_extras=(
  "${figure_extras[@]}" "${page_extras[@]}"
  mpirun:openmpi-bin mpicxx:libopenmpi-dev # spread poet sweep over machines
  cbc:coinor-cbc glpsol:glpk-utils    # solvers to hold poet's own against
  chromium:chromium                   # opens the pages
  arm-none-eabi-gcc:gcc-arm-none-eabi /usr/include/newlib:libnewlib-arm-none-eabi # compiles what is for devices
  qemu-system-arm:qemu-system-arm     # runs it on boards that are not there
  aarch64-linux-gnu-g++:g++-aarch64-linux-gnu qemu-aarch64:qemu-user # compile and try the program for boards
  /usr/share/libonnx-testdata:libonnx-testdata # the standard's own tests of its operators
  ccache:ccache                       # an edit that is taken back is not compiled again
  # The Debian package, a Debian to install it in, completion of other shells.
  dh:debhelper dh_python3:dh-python lintian:lintian mmdebstrap:mmdebstrap zsh:zsh fish:fish
  # The Python package and its tests. By folder: they are for Debian's python3, whatever other one there is.
  /usr/lib/cmake/pybind11:pybind11-dev /usr/include/python3.11:python3-dev
  /usr/lib/python3/dist-packages/numpy:python3-numpy /usr/lib/python3/dist-packages/networkx:python3-networkx
  /usr/lib/python3/dist-packages/mypy:mypy
  /usr/lib/python3/dist-packages/pip:python3-pip /usr/lib/python3/dist-packages/torch:python3-torch
  /usr/lib/python3.11/ensurepip:python3-venv # for an environment with a newer PyTorch
  /usr/lib/python3/dist-packages/sphinx:python3-sphinx # the reference of the package
  /usr/lib/python3/dist-packages/yaml:python3-yaml # reads the forms and the workflow, to check them
)

# What the program is made of; a change below one of these makes the next ./poet build again.
program_sources=(CMakeLists.txt cmake src apps firmware web tools/setup.sh)

build_dir=${POET_BUILD_DIR:-build}
[[ $build_dir == /* ]] || build_dir=$root/$build_dir
log=$build_dir/setup.log
refused=$build_dir/.could-not-install  # packages that tests would like, for a day
has_packages=                          # of what set_up was asked for before
program=$build_dir/apps/cli/poet
stamp=$build_dir/.program-built
# Runs the repository's scripts: Debian's, whatever python3 comes first on the PATH.
python=/usr/bin/python3
[[ -x $python ]] || python=python3
# ccache, used when present, wants a home.
if [[ -z ${CCACHE_DIR:-} && ! -w ${HOME:-} ]]; then export CCACHE_DIR=$build_dir/ccache; fi

say() { printf 'poet: %s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 3
}

# program_is_current: whether the program was built from this very folder and nothing in it changed since.
program_is_current() {
  local built_root
  [[ -x $program && -f $stamp ]] && read -r built_root <"$stamp" && [[ $built_root == "$root" ]] || return 1
  [[ -z $(cd "$root" && find "${program_sources[@]}" -newer "$stamp" -print -quit 2>&1) ]] && ! lacks_mpi
}

# lacks_mpi: whether mpirun starts a program that was built before MPI was installed.
lacks_mpi() {
  ((${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-1}} > 1)) && command -v mpicxx >/dev/null &&
    ! grep -qs '^MPI_CXX_LIB_NAMES:STRING=.' "$build_dir/CMakeCache.txt"
}

# logged WHAT COMMAND...: runs COMMAND into the log; when it fails, shows the end of the log and stops.
logged() {
  local what=$1
  shift
  printf '\n== %s: %s\n' "$what" "$*" >>"$log"
  if ! "$@" >>"$log" 2>&1 </dev/null 9>&-; then
    tail -n 40 "$log" >&2
    fail "$what failed; the whole log is $log"
  fi
}

# missing_packages PACKAGE...: those that are not installed.
missing_packages() {
  local installed package
  (($#)) || return 0
  installed=" $(dpkg-query -W -f='${Package}=${db:Status-Status} ' "$@" 2>/dev/null)" || true
  for package in "$@"; do
    [[ $installed == *" $package=installed "* ]] || printf '%s ' "$package"
  done
}

# missing_extras COMMAND:PACKAGE...: the packages of those that are not there.
missing_extras() {
  local extra name
  for extra in "$@"; do
    name=${extra%%:*}
    [[ $name == /* && -d $name ]] || command -v "$name" >/dev/null || printf '%s ' "${extra#*:}"
  done
}

# install_packages program|tests|everything, install_packages extras COMMAND:PACKAGE...
install_packages() {
  local needed=("${packages[@]}") wanted=("${@:2}") extra missing optional as_root=()
  case $1 in
    tests | everything) needed+=("${test_packages[@]}") wanted=("${test_extras[@]}") ;;
    extras) needed=() ;;
  esac
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "not a Debian system, so nothing is installed for you; needed are the equivalents of: ${needed[*]}"
    return
  fi
  missing=$(missing_packages "${needed[@]}")
  optional=$(missing_extras "${wanted[@]}")
  if [[ $1 != extras && -n $(find "$refused" -mtime -1 2>/dev/null) ]]; then
    optional=$(tr ' ' '\n' <<<"$optional" | grep -vxFf "$refused" | grep . | tr '\n' ' ') || true
  fi
  [[ -n $missing$optional ]] || return 0
  if [[ -n ${POET_NO_INSTALL:-} ]]; then
    [[ -z $optional ]] || say "POET_NO_INSTALL is set: what uses these packages does without: $optional"
    [[ -n $missing ]] || return 0
    say "packages are missing, and POET_NO_INSTALL is set; to install them, as root: apt-get install $missing"
    exit 2
  fi
  if ((EUID != 0)); then
    # sudo may ask for a password only where somebody can answer, who is told what for.
    local asks="sudo may ask for your password, to install packages: $missing$optional"
    if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || { [[ -t 0 && -t 2 ]] && say "$asks" && sudo -v; }; }; then
      [[ -n $missing ]] || return 0
      fail "packages are missing and this user may not install them; as root, run: apt-get install $missing"
    fi
    as_root=(sudo)
  fi
  say "installing packages: $missing$optional"
  if [[ $optional == *python3-* && $(command -v python3) != /usr/bin/python3 ]]; then
    say "python3-... are for /usr/bin/python3, which builds and tests the Python package; $(command -v python3) is left as it is"
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=600)
  # Old package lists may still serve, so a failed update is not the end; a failed installation is.
  printf '\n== update\n' >>"$log"
  "${apt[@]}" update >>"$log" 2>&1 </dev/null 9>&- || say "apt-get update failed; trying with the package lists at hand"
  # shellcheck disable=SC2086  # one word per package
  [[ -z $missing ]] || logged "installing packages" "${apt[@]}" install --no-install-recommends $missing
  for extra in $optional; do
    printf '\n== installing %s\n' "$extra" >>"$log"
    "${apt[@]}" install --no-install-recommends "$extra" >>"$log" 2>&1 </dev/null 9>&- ||
      { say "could not install $extra: what uses it will do without, until it is tried again in a day" && echo "$extra" >>"$refused"; }
  done
}

# As many compilers at once as there are cores, and 1 GiB of free memory for each.
build_jobs() {
  local jobs available_kib limit
  jobs=$(nproc)
  available_kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null) || limit=max
  if [[ $limit != max ]] && ((limit / 1024 < available_kib)); then
    available_kib=$((limit / 1024))
  fi
  ((available_kib / 1048576 < jobs)) && jobs=$((available_kib / 1048576))
  echo $((jobs > 0 ? jobs : 1))
}

lock_build() {
  exec 9>"$build_dir/.lock"
  if ! flock -n 9; then
    say "waiting for another build in $build_dir"
    flock 9
  fi
}

# set_up program            builds the program
# set_up everything         builds all there is, with the packages of tests
# set_up tests TARGET...    builds these targets, with the packages of tests
# set_up tests              configures, so that all tests are known
# Each does what is not up to date. One process at a time per build folder; the others wait and then find the work done.
set_up() {
  local what=$1 targets=("${@:2}")
  case $what in
    program) targets=(poet) ;;
    everything) targets=(all) ;;
  esac
  if ! mkdir -p "$build_dir" 2>/dev/null || [[ ! -w $build_dir ]]; then
    fail "cannot write to $build_dir; set POET_BUILD_DIR to a folder that can be written"
  fi
  lock_build
  if [[ $what != program ]] || ! program_is_current; then
    if [[ $has_packages != "$what" ]]; then
      : >"$log"
      install_packages "$what"
      has_packages=$what
    fi
    # Dated before the build: a source changed meanwhile is newer.
    printf '%s\n' "$root" >"$stamp.new"
    build "$what" "${targets[@]}"
    if [[ $what == everything || " ${targets[*]} " == *" poet "* ]]; then mv "$stamp.new" "$stamp"; fi
  fi
  exec 9>&-
}

# set_up_for ARGS...: what few of the program's commands use is asked for when they come. Where it cannot be had the program says
# what it lacks.
set_up_for() {
  local argument extras=()
  for argument in "$@"; do
    case $argument in
      *.svg | *.png | *.pdf | reproduce) extras+=("${figure_extras[@]}") ;;&
      *.html | serve | reproduce) [[ -f $build_dir/web/package-lock.json ]] || extras+=("${page_extras[@]}") ;;
    esac
  done
  [[ -n $(missing_extras "${extras[@]}") && -z ${POET_NO_INSTALL:-} && -w $build_dir ]] || return 0
  lock_build
  : >"$log"
  install_packages extras "${extras[@]}"
  if command -v npm >/dev/null; then build program poet_web_libraries; fi
  exec 9>&-
}

# run_ctest ARGS...: ctest, without what its surroundings say to poet, to Python and to test programs, and without the signals
# that nohup or a shell's & have made ignored, which tests send.
run_ctest() {
  env --default-signal=HUP,INT,QUIT,TERM,PIPE -u COLUMNS -u NO_COLOR -u SOURCE_DATE_EPOCH -u POET_NO_INSTALL -u POET_CALLED_AS \
    -u POET_DATA_DIR -u PYTHONPATH -u PYTHONHOME -u GTEST_FILTER -u MAKEFLAGS ctest "$@"
}

# build program|tests|everything [TARGET...]: without a target it configures.
build() {
  local tests=()
  # A build folder for the program alone needs nothing of what tests need. Once it has tests it keeps them.
  if [[ $1 != program ]]; then
    tests=(-DPOET_BUILD_TESTS=ON)
  elif [[ ! -f $build_dir/CMakeCache.txt ]]; then
    tests=(-DPOET_BUILD_TESTS=OFF)
  fi
  # Packages that came or went may change what can be built.
  if [[ ! -f $build_dir/build.ninja || $root/tools/setup.sh -nt $build_dir/build.ninja ||
    /var/lib/dpkg/status -nt $build_dir/build.ninja ]] || lacks_mpi ||
    { [[ $1 != program ]] && ! grep -qsx 'POET_BUILD_TESTS:BOOL=ON' "$build_dir/CMakeCache.txt"; }; then
    say "configuring in $build_dir"
    logged "configuring" cmake -S "$root" -B "$build_dir" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPOET_BUILD_APPS=ON "${tests[@]}"
    touch "$build_dir/build.ninja"
  fi
  # Without a target, what is known of the sources, a new test among them.
  if (($# == 1)); then
    logged "configuring" cmake --build "$build_dir" --target build.ninja
    return
  fi
  if [[ -f $build_dir/.ninja_log ]]; then say "building"; else say "building (the first time takes minutes)"; fi
  logged "building" cmake --build "$build_dir" --target "${@:2}" -j "$(build_jobs)"
}
