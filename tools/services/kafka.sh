#!/usr/bin/env bash
# A Kafka broker of one node on loopback, for tests and benchmarks.
#
#   kafka.sh start                   start it if it does not run, print host:port
#   kafka.sh stop | kill             end it politely, or at once as a crash would
#   kafka.sh wipe                    stop it and delete its data
#   kafka.sh status | endpoint       does it run; where
#   kafka.sh topic NAME [PARTITIONS] create a topic, or leave it as it is
#   kafka.sh drop NAME               delete a topic
#   kafka.sh topics                  list the topics
#   kafka.sh produce TOPIC [FILE] [-- KCAT ARGUMENTS]
#                                    send a line per record (from standard input without a FILE), about 0.7 million a second
#   kafka.sh consume TOPIC [COUNT] [-- KCAT ARGUMENTS]
#                                    print the records from the first on, then end
#   kafka.sh offsets TOPIC           print partition, first and next offset
#   kafka.sh count TOPIC             print how many offsets all partitions hold
#   kafka.sh groups [GROUP]          list consumer groups, or the offsets that a group has committed
#   kafka.sh tool CLASS ARGUMENTS    run one of Kafka's own tools
#   kafka.sh secure                  print ssl=…, sasl_plaintext=…, sasl_ssl=… (host:port) and tls=FOLDER, see below
#
# SLUICE_KAFKA_SECURE=1 at the first start adds listeners with TLS (a certificate of the client is required), SASL, and both: user
# alice, password alice-secret, mechanisms PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512. The folder holds ca.pem, client.pem (key and
# certificate) and other-ca.pem, which signed nothing here.
#
# SLUICE_KAFKA_NAME (kafka) names the broker: brokers of other names run beside it. SLUICE_KAFKA_PORT wishes a port; without
# it 19092 for the broker `kafka`, if free, else a free one is chosen at the first start and kept. SLUICE_KAFKA_HEAP (512m). SLUICE_KAFKA_PROPERTIES names a file with
# more server properties.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=4.4.0
name=${SLUICE_KAFKA_NAME:-kafka}
home=$services/run/$name

jars() {
  fetch_jars kafka "org.apache.kafka:kafka_2.13:$version" "org.apache.kafka:kafka-tools:$version" org.slf4j:slf4j-simple:1.7.36
}

broker() {
  [[ -s $home/port.client ]] || fail "broker $name was never started: kafka.sh start"
  echo "127.0.0.1:$(cat "$home/port.client")"
}

# A tool's JVM lives for a second: the fastest start counts, and its log must not mix with records.
java_tool() {
  "$(find_java)" -Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto \
    -Dorg.slf4j.simpleLogger.defaultLogLevel=error -cp "$(jars)/*" "$@"
}

topic_tool() { java_tool org.apache.kafka.tools.TopicCommand --bootstrap-server "$(broker)" "$@"; }

# A throw-away authority with a certificate for the broker and one for a client, as PEM.
make_certificates() {
  local folder=$home/tls part
  [[ -s $folder/client.pem ]] && return
  need_commands openssl:openssl
  mkdir -p "$folder"
  (
    cd "$folder"
    for part in ca other-ca; do
      openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=sluice test $part" -keyout "$part.key" -out "$part.pem"
    done
    for part in server client; do
      openssl req -newkey rsa:2048 -nodes -subj "/CN=$part" -keyout "$part.key" -out "$part.csr"
      openssl x509 -req -in "$part.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -out "$part.crt" \
        -extfile <(echo "subjectAltName=DNS:localhost,IP:127.0.0.1")
      cat "$part.key" "$part.crt" >"$part.pem"
    done
  ) >"$home/tls.log" 2>&1 || fail "cannot make certificates, see $home/tls.log"
}

# More listeners; Kafka takes the last of two lines of one name.
write_secure_properties() {
  local client=$1 controller=$2 ssl sasl both listener mechanism
  make_certificates
  ssl=$(reserve_port "$name" ssl)
  sasl=$(reserve_port "$name" sasl_plaintext)
  both=$(reserve_port "$name" sasl_ssl)
  cat <<EOF
listeners=PLAINTEXT://127.0.0.1:$client,SSL://127.0.0.1:$ssl,SASL_PLAINTEXT://127.0.0.1:$sasl,SASL_SSL://127.0.0.1:$both,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$client,SSL://127.0.0.1:$ssl,SASL_PLAINTEXT://127.0.0.1:$sasl,SASL_SSL://localhost:$both
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
ssl.keystore.type=PEM
ssl.keystore.location=$home/tls/server.pem
ssl.truststore.type=PEM
ssl.truststore.location=$home/tls/ca.pem
listener.name.ssl.ssl.client.auth=required
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
EOF
  for listener in sasl_plaintext sasl_ssl; do
    echo "listener.name.$listener.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_alice=\"alice-secret\";"
    for mechanism in scram-sha-256 scram-sha-512; do
      echo "listener.name.$listener.$mechanism.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;"
    done
  done
}

write_properties() {
  local client=$1 controller=$2
  cat <<EOF
node.id=1
process.roles=broker,controller
listeners=PLAINTEXT://127.0.0.1:$client,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$client
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:$controller
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$home/data
# Tests ask for their topics by name and partitions; a misspelt name must be an error.
auto.create.topics.enable=false
log.retention.ms=-1
# One node: internal topics cannot be replicated, and few partitions start faster.
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
# Flink's exactly-once sink asks for an hour and is refused with the default.
transaction.max.timeout.ms=3600000
EOF
}

start() {
  if running_pid "$name" >/dev/null; then
    wait_until "$name" main 60 port_answers "$(cat "$home/port.client")"
    broker
    return
  fi
  local libraries client controller
  libraries=$(jars)
  wish=${SLUICE_KAFKA_PORT:-}
  # The broker of the examples stands where examples/kafka_to_lake.sql looks for it, when that port is free.
  if [[ -z $wish && $name == kafka ]] && ! port_answers 19092; then wish=19092; fi
  client=$(reserve_port "$name" client "$wish")
  controller=$(reserve_port "$name" controller)
  port_answers "$client" && fail "port $client is taken by another process; set SLUICE_KAFKA_PORT or wipe"
  write_properties "$client" "$controller" >"$home/server.properties"
  users=()
  if [[ -n ${SLUICE_KAFKA_SECURE:-} || -s $home/port.sasl_ssl ]]; then
    write_secure_properties "$client" "$controller" >>"$home/server.properties"
    for mechanism in SCRAM-SHA-256 SCRAM-SHA-512; do users+=(--add-scram "$mechanism=[name=alice,password=alice-secret]"); done
  fi
  [[ -z ${SLUICE_KAFKA_PROPERTIES:-} ]] || cat "$SLUICE_KAFKA_PROPERTIES" >>"$home/server.properties"
  if [[ ! -f $home/data/meta.properties ]]; then
    java_tool kafka.tools.StorageTool format --cluster-id "$(java_tool kafka.tools.StorageTool random-uuid)" \
      --config "$home/server.properties" "${users[@]}" >"$home/format.log" 2>&1 || fail "cannot format $home/data, see $home/format.log"
  fi
  start_process "$name" main "$(find_java)" -Xms256m -Xmx"${SLUICE_KAFKA_HEAP:-512m}" \
    -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$libraries/*" kafka.Kafka "$home/server.properties"
  wait_until "$name" main 90 port_answers "$client"
  # The port answers a moment before the broker may register topics.
  need_commands kcat:kcat
  wait_until "$name" main 60 kcat -b "127.0.0.1:$client" -L -m 2
  broker
}

# Splits "A B -- C D": before goes to `own`, after to `extra`.
split_arguments() {
  own=() extra=()
  while (($#)) && [[ $1 != -- ]]; do
    own+=("$1")
    shift
  done
  (($#)) && shift
  extra=("$@")
}

produce() {
  need_commands kcat:kcat
  split_arguments "$@"
  local topic=${own[0]:?produce needs a topic} input=(-l /dev/stdin)
  [[ -n ${own[1]:-} ]] && input=(-l "${own[1]}")
  kcat -P -b "$(broker)" -t "$topic" -X linger.ms=20 -X batch.num.messages=20000 -X batch.size=2000000 -X acks=1 \
    -X queue.buffering.max.messages=500000 -X queue.buffering.max.kbytes=262144 "${extra[@]}" "${input[@]}"
}

consume() {
  need_commands kcat:kcat
  split_arguments "$@"
  local topic=${own[0]:?consume needs a topic} limit=()
  [[ -n ${own[1]:-} ]] && limit=(-c "${own[1]}")
  kcat -C -q -e -o beginning -b "$(broker)" -t "$topic" "${limit[@]}" "${extra[@]}"
}

offsets() {
  local topic=${1:?offsets needs a topic}
  join -t: \
    <(java_tool org.apache.kafka.tools.GetOffsetShell --bootstrap-server "$(broker)" --topic "$topic" --time earliest | cut -d: -f2- | sort -t: -k1,1) \
    <(java_tool org.apache.kafka.tools.GetOffsetShell --bootstrap-server "$(broker)" --topic "$topic" --time latest | cut -d: -f2- | sort -t: -k1,1) |
    tr ':' ' ' | sort -n
}

command=${1:-}
(($#)) && shift
case $command in
  start) start ;;
  stop) stop_process "$name" main ;;
  kill) kill_process "$name" main ;;
  wipe)
    stop_process "$name" main
    rm -rf "$home"
    ;;
  status)
    if running_pid "$name" >/dev/null; then
      echo "$name runs at $(broker)"
    else
      echo "$name does not run"
      exit 1
    fi
    ;;
  endpoint) broker ;;
  topic) topic_tool --create --if-not-exists --topic "${1:?topic needs a name}" --partitions "${2:-1}" --replication-factor 1 >&2 ;;
  drop) topic_tool --delete --topic "${1:?drop needs a name}" ;;
  topics) topic_tool --list ;;
  produce) produce "$@" ;;
  consume) consume "$@" ;;
  offsets) offsets "$@" ;;
  count) offsets "$@" | awk '{sum += $3 - $2} END {print sum + 0}' ;;
  groups)
    selection=(--list)
    (($#)) && selection=(--describe --group "$1")
    java_tool org.apache.kafka.tools.consumer.group.ConsumerGroupCommand --bootstrap-server "$(broker)" "${selection[@]}"
    ;;
  tool) java_tool "$@" ;;
  secure)
    [[ -s $home/port.sasl_ssl ]] || fail "broker $name has no secure listeners: start it with SLUICE_KAFKA_SECURE=1"
    for listener in ssl sasl_plaintext; do echo "$listener=127.0.0.1:$(cat "$home/port.$listener")"; done
    echo "sasl_ssl=localhost:$(cat "$home/port.sasl_ssl")"
    echo "tls=$home/tls"
    ;;
  *)
    print_help
    exit 2
    ;;
esac
