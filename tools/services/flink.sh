#!/usr/bin/env bash
# Apache Flink on loopback, to compare results and speed with: one JobManager, one TaskManager, the SQL client.
#
#   flink.sh start                   start both if they do not run, print the REST address
#   flink.sh stop                    stop all
#   flink.sh wipe                    stop all and delete logs, checkpoints and settings
#   flink.sh status                  does it run; where
#   flink.sh sql FILE [ARGUMENTS]    run a SQL script with the SQL client
#   flink.sh jobs                    the jobs as JSON
#   flink.sh wait JOB [SECONDS]      wait until a job has ended, print its state
#   flink.sh cancel JOB              cancel a job
#   flink.sh memory                  peak and present resident memory of each process, in KiB
#
# SLUICE_FLINK_SLOTS (4), SLUICE_FLINK_TASK_MEMORY (4096m), SLUICE_FLINK_PORT wishes a REST port, SLUICE_FLINK_SETTINGS names
# a file with more lines for config.yaml. SLUICE_FLINK_NAME (flink) lets several live side by side.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=2.3.0
kafka_connector=5.0.0-2.2
hadoop=3.4.2
name=${SLUICE_FLINK_NAME:-flink}
run=$services/run/$name
slots=${SLUICE_FLINK_SLOTS:-4}

# Flink reaches into packages that Java 17 closes; its own start scripts open the same ones.
java_options=()
for package in lang net io nio lang.reflect text time util util.concurrent util.concurrent.atomic util.concurrent.locks; do
  java_options+=("--add-opens=java.base/java.$package=ALL-UNNAMED")
done
java_options+=(--add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-exports=java.base/sun.net.util=ALL-UNNAMED
  --add-exports=java.rmi/sun.rmi.registry=ALL-UNNAMED --add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED)

# Flink itself comes from its Python package, which holds the whole distribution; connectors and formats from Maven.
prepare() {
  local extra python
  python=$(fetch_python flink "setuptools<81" "apache-flink-libraries==$version")
  home=$(echo "$python"/lib/python3*/site-packages/pyflink)
  [[ -d $home/lib ]] || fail "the Python package of Flink has no lib folder: $home"
  extra=$(fetch_jars flink \
    "org.apache.flink:flink-sql-connector-kafka:$kafka_connector@" \
    "org.apache.flink:flink-sql-parquet:$version@" "org.apache.flink:flink-sql-avro:$version@" "org.apache.flink:flink-sql-orc:$version@" \
    "org.apache.flink:flink-sql-gateway:$version@" "org.apache.flink:flink-sql-gateway-api:$version@" \
    "org.apache.hadoop:hadoop-client-api:$hadoop@" "org.apache.hadoop:hadoop-client-runtime:$hadoop@" \
    commons-logging:commons-logging:1.3.0@)
  class_path="$home/lib/*:$extra/*:$home/opt/*"
  export FLINK_HOME=$home FLINK_CONF_DIR=$run/conf FLINK_LIB_DIR=$home/lib FLINK_OPT_DIR=$home/opt FLINK_PLUGINS_DIR=$home/plugins
}

write_settings() {
  mkdir -p "$run/conf" "$run/tmp" "$run/checkpoints"
  cat >"$run/conf/config.yaml" <<EOF
jobmanager.rpc.address: 127.0.0.1
jobmanager.rpc.port: $(reserve_port "$name" rpc)
jobmanager.bind-host: 127.0.0.1
jobmanager.memory.process.size: 1600m
taskmanager.host: 127.0.0.1
taskmanager.bind-host: 127.0.0.1
taskmanager.memory.process.size: ${SLUICE_FLINK_TASK_MEMORY:-4096m}
taskmanager.numberOfTaskSlots: $slots
parallelism.default: 1
rest.address: 127.0.0.1
rest.bind-address: 127.0.0.1
rest.port: $(reserve_port "$name" rest "${SLUICE_FLINK_PORT:-}")
io.tmp.dirs: $run/tmp
execution.checkpointing.dir: file://$run/checkpoints
classloader.check-leaked-classloader: false
EOF
  [[ -z ${SLUICE_FLINK_SETTINGS:-} ]] || cat "$SLUICE_FLINK_SETTINGS" >>"$run/conf/config.yaml"
  local appender
  for appender in CONSOLE File; do
    cat >"$run/conf/log4j-${appender,,}.properties" <<EOF
rootLogger.level = ${SLUICE_FLINK_LOG_LEVEL:-INFO}
rootLogger.appenderRef.out.ref = Out
appender.out.name = Out
appender.out.type = $appender
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{HH:mm:ss,SSS} %-5p %c - %m%n
EOF
  done
  echo "appender.out.fileName = $run/client.log" >>"$run/conf/log4j-file.properties"
}

# Prints the JVM options (first line) and settings (second) that Flink computes from the memory sizes.
computed_options() {
  "$(find_java)" -cp "$home/bin/bash-java-utils.jar:$home/lib/*" org.apache.flink.runtime.util.bash.BashJavaUtils \
    "$1" --configDir "$run/conf" 2>/dev/null | sed -n 's/^BASH_JAVA_UTILS_EXEC_RESULT://p'
}

rest() { curl --silent --fail --max-time 10 "http://127.0.0.1:$(cat "$run/port.rest")$1"; }
has_slots() { rest /overview | grep -q "\"slots-total\":$slots\b"; }

# start_part PART MAIN-CLASS WHICH-OPTIONS ARGUMENTS...
start_part() {
  local part=$1 main=$2 options words
  mapfile -t options < <(computed_options "$3")
  shift 3
  read -ra words <<<"${options[0]:-}"
  local dynamic
  read -ra dynamic <<<"${options[1]:-}"
  start_process "$name" "$part" "$(find_java)" "${words[@]}" "${java_options[@]}" \
    -Dlog4j.configurationFile="$run/conf/log4j-console.properties" -cp "$class_path" "$main" --configDir "$run/conf" "$@" "${dynamic[@]}"
}

start() {
  prepare
  if ! running_pid "$name" manager >/dev/null || ! running_pid "$name" worker >/dev/null; then
    stop
    write_settings
    start_part manager org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint GET_JM_RESOURCE_PARAMS --executionMode cluster
    start_part worker org.apache.flink.runtime.taskexecutor.TaskManagerRunner GET_TM_RESOURCE_PARAMS
  fi
  wait_until "$name" manager 90 rest /overview
  wait_until "$name" worker 90 has_slots
  echo "http://127.0.0.1:$(cat "$run/port.rest")"
}

stop() {
  stop_process "$name" worker
  stop_process "$name" manager
}

wait_job() {
  local job=${1:?wait needs a job} deadline=$((SECONDS + ${2:-600})) state
  while ((SECONDS < deadline)); do
    state=$(rest "/jobs/$job" | sed -n 's/.*"state":"\([A-Z]*\)".*/\1/p' | head -n 1)
    case $state in
      FINISHED | FAILED | CANCELED)
        echo "$state"
        [[ $state == FINISHED ]]
        return
        ;;
    esac
    sleep 0.2
  done
  fail "job $job is still $state after ${2:-600} s"
}

memory() {
  local part pid
  for part in manager worker; do
    pid=$(running_pid "$name" "$part") || continue
    echo "$part $(awk '/^VmHWM|^VmRSS/ {printf "%s %s ", $1, $2}' "/proc/$pid/status")"
  done
}

command=${1:-}
(($#)) && shift
case $command in
  start) start ;;
  stop) stop ;;
  wipe)
    stop
    rm -rf "$run"
    ;;
  status)
    running_pid "$name" manager >/dev/null || { echo "$name does not run"; exit 1; }
    echo "$name runs at http://127.0.0.1:$(cat "$run/port.rest")"
    ;;
  sql)
    prepare
    file=${1:?sql needs a script}
    shift
    exec "$(find_java)" -Xmx512m "${java_options[@]}" -Dlog4j.configurationFile="$run/conf/log4j-file.properties" -cp "$class_path" \
      org.apache.flink.table.client.SqlClient embedded -f "$file" "$@"
    ;;
  jobs) rest /jobs/overview ;;
  wait) wait_job "$@" ;;
  cancel) curl --silent --fail -X PATCH "http://127.0.0.1:$(cat "$run/port.rest")/jobs/${1:?cancel needs a job}?mode=cancel" ;;
  memory) memory ;;
  *)
    print_help
    exit 2
    ;;
esac
