# Functions of the launchers; sourced by them, never run.
#
# Everything a launcher downloads or writes is below SLUICE_SERVICES_DIR (~/.cache/sluice/services): jars/ and venv-*/ are
# fetched once, run/NAME holds a service's settings, data, log, ports and process id.
# A process counts as ours if its id and its start time are those noted at the start: ids are reused.
set -euo pipefail

services=${SLUICE_SERVICES_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sluice/services}
mkdir -p "$services"
services=$(cd "$services" && pwd)

note() { echo "$*" >&2; }
fail() {
  note "error: $*"
  exit 1
}

# The comment block at the head of the launcher is its help.
print_help() { awk 'NR > 1 && !/^#/ {exit} NR > 1 {sub(/^# ?/, ""); print}' "$0"; }

# Installs Debian packages of which a command is missing: need_commands mvn:maven kcat:kcat
need_commands() {
  local pair packages=() as_root=()
  for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null || packages+=("${pair##*:}")
  done
  ((${#packages[@]})) || return 0
  command -v apt-get >/dev/null || fail "these commands are missing: ${*%%:*}"
  ((EUID == 0)) || as_root=(sudo)
  note "installing ${packages[*]}"
  "${as_root[@]}" apt-get -qq update >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "${packages[@]}" >&2
}

# Prints the java to use. Version 17 is preferred: it is what the services are tested with.
find_java() {
  local candidate
  for candidate in "${SLUICE_JAVA_HOME:-/nowhere}" /usr/lib/jvm/*-17-* "${JAVA_HOME:-/nowhere}"; do
    [[ -x $candidate/bin/java ]] && {
      echo "$candidate/bin/java"
      return
    }
  done
  need_commands java:openjdk-17-jre-headless
  command -v java
}

# Runs a command while no other launcher fetches: two that start at once would fetch into the same folder.
fetch_alone() {
  (
    flock 8
    "$@"
  ) 8>"$services/fetch.lock"
}

# Fetches Maven artifacts into jars/NAME once and prints that folder: fetch_jars NAME GROUP:ARTIFACT:VERSION...
# An artifact that ends in @ comes alone, the others with all they depend on.
fetch_jars() { fetch_alone fetch_jars_alone "$@"; }
fetch_jars_alone() {
  local name=$1 folder=$services/jars/$1
  shift
  if [[ "$(cat "$folder/complete" 2>/dev/null)" == "$*" ]]; then
    echo "$folder"
    return
  fi
  need_commands mvn:maven
  find_java >/dev/null
  note "fetching the jars of $name"
  rm -rf "$folder"
  mkdir -p "$folder"
  local artifact group id version
  {
    echo '<project><modelVersion>4.0.0</modelVersion><groupId>sluice.services</groupId>'
    echo "<artifactId>$name</artifactId><version>1</version><packaging>pom</packaging><dependencies>"
    for artifact in "$@"; do
      IFS=: read -r group id version <<<"${artifact%@}"
      echo "<dependency><groupId>$group</groupId><artifactId>$id</artifactId><version>$version</version>"
      [[ $artifact != *@ ]] ||
        echo '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>'
      echo '</dependency>'
    done
    echo '</dependencies></project>'
  } >"$folder/pom.xml"
  mvn --batch-mode --quiet -f "$folder/pom.xml" \
    org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$folder" >"$folder/fetch.log" 2>&1 ||
    { tail -n 20 "$folder/fetch.log" >&2 && fail "Maven could not fetch $name, see $folder/fetch.log"; }
  echo "$*" >"$folder/complete"
  echo "$folder"
}

# Makes a Python environment with the packages once and prints its folder: fetch_python NAME PACKAGE...
fetch_python() { fetch_alone fetch_python_alone "$@"; }
fetch_python_alone() {
  local name=$1 folder=$services/venv-$1
  shift
  if [[ "$(cat "$folder/complete" 2>/dev/null)" != "$*" ]]; then
    note "fetching the Python packages of $name"
    rm -rf "$folder"
    local python=python3
    [[ -x /usr/bin/python3 ]] && python=/usr/bin/python3
    # Callers take the folder by $(...), where bash goes on after an error. The pip that Debian 12 brings fails on the
    # metadata of some packages, so it is replaced first.
    "$python" -m venv "$folder" >&2 && "$folder/bin/pip" install --quiet --disable-pip-version-check pip==25.3 >&2 &&
      "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" >&2 || fail "the Python packages of $name could not be fetched: $*"
    echo "$*" >"$folder/complete"
  fi
  echo "$folder"
}

port_answers() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Prints the port that a service uses for a purpose, choosing a free one at first: reserve_port NAME PURPOSE [WISH]
reserve_port() {
  local file=$services/run/$1/port.$2 wish=${3:-}
  mkdir -p "${file%/*}"
  if [[ -n $wish ]]; then
    echo "$wish" >"$file"
  elif [[ ! -s $file ]]; then
    # Below the range from which the kernel takes ports for outgoing connections, so a restart finds it free again.
    local port
    for _ in {1..50}; do
      port=$((20000 + RANDOM % 12000))
      port_answers "$port" || break
    done
    echo "$port" >"$file"
  fi
  cat "$file"
}

started_at() { awk '{sub(/.*\) /, ""); print $20}' "/proc/$1/stat" 2>/dev/null; }

# Prints the process id of a part of a service if it still runs: running_pid NAME [PART]
running_pid() {
  local pid began
  read -r pid began 2>/dev/null <"$services/run/$1/${2:-main}.pid" || return 1
  [[ -n $began && "$(started_at "$pid")" == "$began" ]] || return 1
  echo "$pid"
}

# Starts a process that outlives the launcher: start_process NAME PART COMMAND...
start_process() {
  local folder=$services/run/$1 part=$2 pid
  shift 2
  setsid "$@" </dev/null >"$folder/$part.log" 2>&1 &
  pid=$!
  disown
  echo "$pid $(started_at "$pid")" >"$folder/$part.pid"
}

# Waits for a condition while the process lives: wait_until NAME PART SECONDS COMMAND...
wait_until() {
  local name=$1 part=$2 deadline=$((SECONDS + $3))
  shift 3
  until "$@" >/dev/null 2>&1; do
    if ! running_pid "$name" "$part" >/dev/null || ((SECONDS > deadline)); then
      tail -n 25 "$services/run/$name/$part.log" >&2
      fail "$name ($part) does not answer, see $services/run/$name/$part.log"
    fi
    sleep 0.2
  done
}

# Waits until a process of ours is gone: wait_gone NAME PART SECONDS
wait_gone() {
  local tries=$(($3 * 20))
  while running_pid "$1" "$2" >/dev/null; do
    ((tries-- > 0)) || return 1
    sleep 0.05
  done
}

# Ends a process of ours at once, as a crash would: kill_process NAME PART
kill_process() {
  local pid
  if pid=$(running_pid "$1" "$2"); then
    kill -9 "$pid"
    wait_gone "$1" "$2" 30
  fi
  rm -f "$services/run/$1/$2.pid"
}

# Ends a process of ours, at first politely: stop_process NAME PART
stop_process() {
  local pid
  if pid=$(running_pid "$1" "$2"); then
    kill "$pid"
    wait_gone "$1" "$2" 20 || kill_process "$1" "$2"
  fi
  rm -f "$services/run/$1/$2.pid"
}
