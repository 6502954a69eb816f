#include "connectors/kafka/fetch/fetch_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connectors/kafka/fetch/scram.h"

namespace sluice::connectors::kafka::fetch {
namespace {

using ::testing::HasSubstr;

Result<std::optional<FetchSettings>> Read(std::map<std::string, std::string> settings,
                                          std::string* reason) {
  settings.emplace("bootstrap.servers", "a:1, b");
  return ReadFetchSettings(settings, reason);
}

TEST(FetchSettings, AddressesOfEveryForm) {
  std::string reason;
  const auto read =
      ReadFetchSettings({{"bootstrap.servers", "h:1,PLAINTEXT://h2:2, [::1]:3,plain"}}, &reason);
  ASSERT_TRUE(read.ok() && read->has_value());
  const auto& addresses = (*read)->bootstrap;
  ASSERT_EQ(addresses.size(), 4u);
  EXPECT_EQ(addresses[0].ToText(), "h:1");
  EXPECT_EQ(addresses[1].ToText(), "h2:2");
  EXPECT_EQ(addresses[2].ToText(), "[::1]:3");
  EXPECT_EQ(addresses[3].ToText(), "plain:9092");
  for (const char* bad : {"h:x", "h:0", ":5", "[::1", "h:70000"})
    EXPECT_FALSE(ReadFetchSettings({{"bootstrap.servers", bad}}, &reason).ok()) << bad;
}

TEST(FetchSettings, Security) {
  std::string reason;
  const auto plain = Read({{"sasl.username", "u"}, {"ssl.ca.location", "/ca"}}, &reason);
  ASSERT_TRUE(plain.ok() && plain->has_value());
  EXPECT_FALSE((*plain)->tls || (*plain)->sasl);  // The protocol decides.
  const auto scram = Read({{"security.protocol", "sasl_ssl"},
                           {"sasl.mechanisms", "SCRAM-SHA-512"},
                           {"sasl.username", "u"},
                           {"sasl.password", "p"},
                           {"ssl.ca.pem", "pem"},
                           {"ssl.endpoint.identification.algorithm", "none"}},
                          &reason);
  ASSERT_TRUE(scram.ok() && scram->has_value());
  EXPECT_EQ((*scram)->sasl->mechanism, SaslMechanism::kScramSha512);
  EXPECT_EQ((*scram)->sasl->password, "p");
  EXPECT_EQ((*scram)->tls->ca_pem, "pem");
  EXPECT_FALSE((*scram)->tls->verify_host_name);
  EXPECT_TRUE((*scram)->tls->verify_certificate);
}

TEST(FetchSettings, WhatOnlyTheLibraryHasIsNamed) {
  const std::pair<std::map<std::string, std::string>, const char*> cases[] = {
      {{{"client.rack", "r"}}, "'client.rack'"},
      {{{"debug", "all"}}, "'debug'"},
      {{{"ssl.keystore.location", "k.p12"}}, "'ssl.keystore.location'"},
      {{{"client.dns.lookup", "resolve_canonical_bootstrap_servers_only"}}, "'client.dns.lookup'"},
      {{{"security.protocol", "sasl_plaintext"}}, "'sasl.mechanism' = 'GSSAPI'"},
      {{{"security.protocol", "sasl_ssl"}, {"sasl.mechanisms", "OAUTHBEARER"}},
       "'sasl.mechanism' = 'OAUTHBEARER'"},
  };
  for (const auto& [settings, expected] : cases) {
    std::string reason;
    const auto read = Read(settings, &reason);
    ASSERT_TRUE(read.ok());
    EXPECT_FALSE(read->has_value()) << expected;
    EXPECT_EQ(reason, expected);
  }
}

// RFC 7677, section 3.
TEST(Scram, ExampleOfTheSpecification) {
  const SaslSettings settings{
      .mechanism = SaslMechanism::kScramSha256, .username = "user", .password = "pencil"};
  ScramClient client(settings, "rOprNGfwEbeRWgbNEkqO");
  EXPECT_EQ(client.FirstMessage(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
  const auto last = client.FinalMessage(
      "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
  ASSERT_TRUE(last.ok()) << last.status().ToString();
  EXPECT_EQ(*last,
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
            "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
  EXPECT_TRUE(client.CheckServer("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=").ok());
  EXPECT_FALSE(client.CheckServer("v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=").ok());
  EXPECT_FALSE(client.CheckServer("e=other-error").ok());
}

TEST(Scram, ServersThatCannotBeMeant) {
  const SaslSettings settings{
      .mechanism = SaslMechanism::kScramSha512, .username = "a=b,c", .password = "p"};
  ScramClient client(settings, "mine");
  EXPECT_EQ(client.FirstMessage(), "n,,n=a=3Db=2Cc,r=mine");
  for (const char* message :
       {"", "nonsense", "r=other,s=QQ==,i=4096", "r=mine,s=QQ==,i=4096", "r=mine1,s=?,i=4096",
        "r=mine1,s=QQ==,i=0", "r=mine1,s=QQ==,i=99999999999"}) {
    EXPECT_FALSE(client.FinalMessage(message).ok()) << message;
  }
  EXPECT_FALSE(client.CheckServer("v=").ok());
}

}  // namespace
}  // namespace sluice::connectors::kafka::fetch
