// MD5, SHA and HASH_CODE.
#include "expr/digest.h"
#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/signature.h"

namespace sluice::expr {

namespace {

void AppendHex(std::string_view digest, TextBuilder& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  char* at = out.Reserve(static_cast<int64_t>(digest.size()) * 2);
  for (const char c : digest) {
    *at++ = kDigits[static_cast<unsigned char>(c) >> 4];
    *at++ = kDigits[static_cast<unsigned char>(c) & 15];
  }
  out.Advance(at);
}

template <int which>
Result<ArrayPtr> DigestKernel(const KernelCall& call) {
  return MapText(
      call, call.row_count * 64,
      [](TextBuilder& out, std::string_view bytes) {
        AppendHex(which == 5 ? Md5(bytes) : which == 1 ? Sha1(bytes) : Sha2(bytes, which), out);
      },
      TextOperand(call.arguments[0]));
}

bool IsDigestLength(int64_t bits) {
  return bits == 224 || bits == 256 || bits == 384 || bits == 512;
}

Result<Signature> ResolveSha2(std::span<const Argument> arguments) {
  const SqlType text = AcceptedType(Accept::kBytes, arguments[0].type);
  const SqlType length = AcceptedType(Accept::kInteger, arguments[1].type);
  if (text.kind() == TypeKind::kNull || length.kind() == TypeKind::kNull) return TypesDoNotFit();
  int32_t digits = 128;
  if (const std::optional<int64_t> bits = LiteralInteger(arguments[1])) {
    if (!IsDigestLength(*bits)) {
      return Status::Validation("SHA2 takes a length of 224, 256, 384 or 512, not " +
                                std::to_string(*bits) + ".");
    }
    digits = static_cast<int32_t>(*bits / 4);
  }
  return Signature{{text, length}, SqlType::Varchar(digits)};
}

Result<ArrayPtr> Sha2Kernel(const KernelCall& call) {
  return MapText(
      call, call.row_count * 64,
      [](TextBuilder& out, std::string_view bytes, int64_t bits) -> Status {
        if (!IsDigestLength(bits)) {
          return Status::DataError("SHA2 takes a length of 224, 256, 384 or 512, not " +
                                   std::to_string(bits) + ".");
        }
        AppendHex(Sha2(bytes, static_cast<int>(bits)), out);
        return {};
      },
      TextOperand(call.arguments[0]), NumberOperand<int64_t>(call.arguments[1]));
}

/// Java's String.hashCode, over UTF-16 units.
int32_t JavaHash(std::string_view text) {
  uint32_t hash = 0;
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    uint32_t code = first;
    const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    if (more > 0) code = first & (0x3Fu >> more);
    ++at;
    for (int i = 0; i < more && at < text.size(); ++i) {
      code = code << 6 | (static_cast<unsigned char>(text[at++]) & 0x3F);
    }
    if (code >= 0x10000) {
      hash = hash * 31 + (0xD800 + ((code - 0x10000) >> 10));
      code = 0xDC00 + ((code - 0x10000) & 0x3FF);
    }
    hash = hash * 31 + code;
  }
  return static_cast<int32_t>(hash);
}

Result<ArrayPtr> HashCodeKernel(const KernelCall& call) {
  return MapValues<int32_t>(call, &JavaHash, TextOperand(call.arguments[0]));
}

ScalarFunction Digest(std::string_view name, int32_t digits, Kernel kernel, FunctionDoc doc) {
  return {.name = name,
          .group = "hash",
          .signatures = {{{Accept::kBytes}, SqlType::Char(digits)}},
          .kernel = kernel,
          .doc = doc};
}

}  // namespace

std::span<const ScalarFunction> HashFunctions() {
  static const ScalarFunction kFunctions[] = {
      Digest("MD5", 32, &DigestKernel<5>,
             {"MD5(s)", "MD5 digest in hexadecimal.",
              "MD5('a') => '0cc175b9c0f1b6a831c399e269772661'"}),
      Digest("SHA1", 40, &DigestKernel<1>,
             {"SHA1(s)", "SHA-1 digest in hexadecimal.",
              "SHA1('a') => '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8'"}),
      Digest("SHA224", 56, &DigestKernel<224>,
             {"SHA224(s)", "SHA-224 digest in hexadecimal.",
              "SHA224('abc') => '23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7'"}),
      Digest("SHA256", 64, &DigestKernel<256>,
             {"SHA256(s)", "SHA-256 digest in hexadecimal.",
              "SHA256('a') => 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb'"}),
      Digest("SHA384", 96, &DigestKernel<384>,
             {"SHA384(s)", "SHA-384 digest in hexadecimal.",
              "SHA384('abc') => "
              "'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072b"
              "a1e7cc2358baeca134c825a7'"}),
      Digest("SHA512", 128, &DigestKernel<512>,
             {"SHA512(s)", "SHA-512 digest in hexadecimal.",
              "SHA512('a') => "
              "'1f40fc92da241694750979ee6cf582f2d5d7d28e18335de05abc54d0560e0f5302860c652bf08"
              "d560252aa5e74210546f369fbbbce8c12cfc7957b2652fe9a75'"}),
      {.name = "SHA2",
       .group = "hash",
       .resolve = &ResolveSha2,
       .min_arguments = 2,
       .max_arguments = 2,
       .kernel = &Sha2Kernel,
       .supported_forms = "'SHA2(<CHARACTER>, <INTEGER>)'",
       .doc = {"SHA2(s, bits)", "SHA-2 digest of 224, 256, 384 or 512 bits in hexadecimal.",
               "SHA2('a', 256) => "
               "'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb'"}},
      {.name = "HASH_CODE",
       .group = "hash",
       .signatures = {{{Accept::kText}, SqlType::Int()}},
       .kernel = &HashCodeKernel,
       .doc = {"HASH_CODE(s)", "Java's hash code of a text.", "HASH_CODE('ab') => 3105"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
