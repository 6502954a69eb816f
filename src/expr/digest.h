// Message digests: MD5 (RFC 1321), SHA-1 and SHA-2 (FIPS 180-4). For fingerprints in SQL, not for
// secrets.
#pragma once

#include <string>
#include <string_view>

namespace sluice::expr {

// Each returns the raw digest.
std::string Md5(std::string_view bytes);
std::string Sha1(std::string_view bytes);
/// `bits` is 224, 256, 384 or 512.
std::string Sha2(std::string_view bytes, int bits);

}  // namespace sluice::expr
