#include "connectors/kafka/client_properties.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connectors/kafka/jaas.h"
#include "connectors/kafka/key_stores.h"

namespace sluice::connectors::kafka {
namespace {

using ::testing::HasSubstr;

ClientConfig Translate(OptionMap properties, ClientRole role = ClientRole::kConsumer) {
  properties.emplace("bootstrap.servers", "127.0.0.1:1");
  Result<ClientConfig> config = TranslateClientProperties(properties, role);
  EXPECT_TRUE(config.ok()) << config.status().ToString();
  return config.ok() ? std::move(config).value() : ClientConfig();
}

std::string Error(const OptionMap& properties, ClientRole role = ClientRole::kConsumer) {
  return TranslateClientProperties(properties, role).status().ToString();
}

TEST(ClientProperties, RestoreJavaDefaults) {
  const std::map<std::string, std::string> consumer = Translate({}).settings;
  EXPECT_EQ(consumer.at("isolation.level"), "read_uncommitted");
  EXPECT_EQ(consumer.at("enable.auto.commit"), "false");
  EXPECT_EQ(consumer.at("enable.auto.offset.store"), "false");
  EXPECT_EQ(consumer.at("check.crcs"), "true");
  EXPECT_EQ(consumer.at("connections.max.idle.ms"), "540000");
  EXPECT_FALSE(consumer.contains("group.id"));
  const std::map<std::string, std::string> producer = Translate({}, ClientRole::kProducer).settings;
  EXPECT_EQ(producer.at("partitioner"), "murmur2_random");
  EXPECT_EQ(producer.at("enable.idempotence"), "true");
  EXPECT_EQ(producer.at("max.in.flight.requests.per.connection"), "5");
  EXPECT_EQ(producer.at("delivery.timeout.ms"), "120000");
  EXPECT_EQ(producer.at("message.max.bytes"), "1048576");
}

TEST(ClientProperties, TranslateJavaNames) {
  struct Case {
    ClientRole role;
    const char* java;
    const char* value;
    const char* name;
    const char* translated;
  };
  const Case kCases[] = {
      {ClientRole::kConsumer, "fetch.max.wait.ms", "100", "fetch.wait.max.ms", "100"},
      {ClientRole::kConsumer, "receive.buffer.bytes", "1024", "socket.receive.buffer.bytes",
       "1024"},
      {ClientRole::kConsumer, "request.timeout.ms", "5000", "socket.timeout.ms", "5000"},
      {ClientRole::kProducer, "request.timeout.ms", "5000", "request.timeout.ms", "5000"},
      {ClientRole::kConsumer, "metadata.max.age.ms", "60000", "topic.metadata.refresh.interval.ms",
       "60000"},
      {ClientRole::kConsumer, "isolation.level", "read_committed", "isolation.level",
       "read_committed"},
      {ClientRole::kConsumer, "max.partition.fetch.bytes", "4096", "max.partition.fetch.bytes",
       "4096"},
      {ClientRole::kProducer, "buffer.memory", "33554432", "queue.buffering.max.kbytes", "32768"},
      {ClientRole::kProducer, "max.request.size", "5000000", "message.max.bytes", "5000000"},
      {ClientRole::kProducer, "compression.type", "lz4", "compression.type", "lz4"},
      {ClientRole::kProducer, "acks", "1", "enable.idempotence", "false"},
      {ClientRole::kConsumer, "security.protocol", "SASL_PLAINTEXT", "security.protocol",
       "sasl_plaintext"},
      {ClientRole::kConsumer, "sasl.kerberos.service.name", "kafka", "sasl.kerberos.service.name",
       "kafka"},
      {ClientRole::kConsumer, "ssl.endpoint.identification.algorithm", "",
       "ssl.endpoint.identification.algorithm", "none"},
      {ClientRole::kConsumer, "ssl.cipher.suites",
       "TLS_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ssl.cipher.suites",
       "ECDHE-RSA-AES128-GCM-SHA256"},
      {ClientRole::kConsumer, "rdkafka.queued.min.messages", "77", "queued.min.messages", "77"},
      {ClientRole::kConsumer, "queued.min.messages", "78", "queued.min.messages", "78"},
  };
  for (const Case& c : kCases) {
    const ClientConfig config = Translate({{c.java, c.value}}, c.role);
    const auto found = config.settings.find(c.name);
    ASSERT_NE(found, config.settings.end()) << c.java;
    EXPECT_EQ(found->second, c.translated) << c.java;
  }
}

TEST(ClientProperties, ReadOwnSettings) {
  const ClientConfig config = Translate({{"group.id", "g"},
                                         {"auto.offset.reset", "Earliest"},
                                         {"commit.offsets.on.checkpoint", "false"},
                                         {"default.api.timeout.ms", "1500"},
                                         {"acks", "all"}});
  EXPECT_EQ(config.group_id, "g");
  EXPECT_EQ(config.offset_reset, "earliest");
  EXPECT_FALSE(config.commit_on_checkpoint);
  EXPECT_EQ(config.api_timeout_ms, 1500);
  EXPECT_EQ(config.settings.at("auto.offset.reset"), "error");
  EXPECT_FALSE(config.settings.contains("acks"));  // The producer's.
  EXPECT_TRUE(config.warnings.empty());
}

TEST(ClientProperties, WarnAboutWhatHasNoEffect) {
  const ClientConfig config =
      Translate({{"key.deserializer", "org.apache.kafka.X"}, {"max.poll.records", "1"}});
  ASSERT_EQ(config.warnings.size(), 1u);
  EXPECT_THAT(config.warnings[0], HasSubstr("properties.key.deserializer"));
}

TEST(ClientProperties, RefuseWhatCannotBeHonoured) {
  EXPECT_THAT(Error({{"kerberos.domain.name", "hadoop.x"}}),
              HasSubstr("properties.kerberos.domain.name"));
  EXPECT_THAT(Error({{"isolation.levle", "x"}}),
              HasSubstr("Did you mean 'properties.isolation.level'?"));
  EXPECT_THAT(Error({{"isolation.level", "x"}}), HasSubstr("isolation.level"));
  EXPECT_THAT(Error({{"rdkafka.no.such", "x"}}), HasSubstr("no.such"));
  EXPECT_THAT(Error({{"auto.offset.reset", "x"}}), HasSubstr("[[earliest, latest, none]]"));
  EXPECT_THAT(Error({{"sasl.client.callback.handler.class", "x.Y"}}),
              HasSubstr("Java classes cannot be loaded"));
  EXPECT_THAT(Error({{"transactional.id", "x"}}, ClientRole::kProducer),
              HasSubstr("sink.transactional-id-prefix"));
  EXPECT_THAT(Error({{"ssl.truststore.location", "/nonexistent/t.jks"}}),
              HasSubstr("/nonexistent/t.jks"));
}

TEST(ClientProperties, JaasModules) {
  const std::string plain =
      "org.apache.flink.kafka.shaded.org.apache.kafka.common.security.plain.PlainLoginModule "
      "required "
      "username=\"alice\" password='se\\'cr\"et';";
  std::map<std::string, std::string> settings =
      Translate({{"security.protocol", "SASL_PLAINTEXT"}, {"sasl.jaas.config", plain}}).settings;
  EXPECT_EQ(settings.at("sasl.mechanisms"), "PLAIN");
  EXPECT_EQ(settings.at("sasl.username"), "alice");
  EXPECT_EQ(settings.at("sasl.password"), "se'cr\"et");

  const std::string scram = "x.ScramLoginModule required username=a password=b ;";
  settings = Translate({{"sasl.mechanism", "SCRAM-SHA-512"}, {"sasl.jaas.config", scram}}).settings;
  EXPECT_EQ(settings.at("sasl.mechanisms"), "SCRAM-SHA-512");
  EXPECT_THAT(Error({{"sasl.jaas.config", scram}}), HasSubstr("properties.sasl.mechanism"));

  const std::string kerberos =
      "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
      "keyTab=\"/etc/k.keytab\" principal=\"u@R\" serviceName=kafka2;";
  settings = Translate({{"sasl.jaas.config", kerberos}}).settings;
  EXPECT_EQ(settings.at("sasl.kerberos.keytab"), "/etc/k.keytab");
  EXPECT_EQ(settings.at("sasl.kerberos.principal"), "u@R");
  EXPECT_EQ(settings.at("sasl.kerberos.service.name"), "kafka2");

  const std::string oauth =
      "x.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub='alice';";
  settings = Translate({{"sasl.jaas.config", oauth}}).settings;
  EXPECT_EQ(settings.at("sasl.mechanisms"), "OAUTHBEARER");
  EXPECT_EQ(settings.at("sasl.oauthbearer.config"), "principal=alice");

  EXPECT_THAT(Error({{"sasl.jaas.config", "software.amazon.IAMLoginModule required;"}}),
              HasSubstr("software.amazon.IAMLoginModule"));
}

TEST(ClientProperties, MalformedJaasNamesThePlaceAndNoSecret) {
  for (const char* text :
       {"", "x.PlainLoginModule", "x.PlainLoginModule required username='secret-u",
        "x.PlainLoginModule required password 'secret';",
        "x.PlainLoginModule required a='secret'"}) {
    const std::string error = Error({{"sasl.jaas.config", text}});
    EXPECT_THAT(error, HasSubstr("properties.sasl.jaas.config")) << text;
    EXPECT_EQ(error.find("secret"), std::string::npos) << error;
  }
}

TEST(KeyStores, ConvertsTrustedCertificates) {
  // Magic, version 2, one entry: tag 2, alias "a", date, type "X.509", three bytes of a
  // certificate; then a digest.
  std::string jks(
      "\xFE\xED\xFE\xED\0\0\0\2\0\0\0\1\0\0\0\2\0\1a\0\0\0\0\0\0\0\0\0\5X.509\0\0\0\3\1\2\3", 41);
  jks += std::string(20, 'x');
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / "sluice_key_stores_test.jks";
  std::ofstream(path, std::ios::binary) << jks;
  const auto pem = CertificatesAsPem(path.string(), "JKS");
  ASSERT_TRUE(pem.ok()) << pem.status().ToString();
  EXPECT_EQ(**pem, "-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n");
  for (size_t size = 4; size < 41; ++size) {
    std::ofstream(path, std::ios::binary) << jks.substr(0, size);
    EXPECT_FALSE(CertificatesAsPem(path.string(), "").ok()) << size;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace sluice::connectors::kafka
