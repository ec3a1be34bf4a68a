// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace setpoint::base {
namespace {

constexpr std::size_t kDigestBytes = 32;
constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, kDigestBytes> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1 ||
      size != kDigestBytes) {
    throw std::runtime_error("libcrypto refuses SHA-256");
  }
  std::string out;
  for (const unsigned char byte : digest) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0xFU];
  }
  return out;
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 2 * kDigestBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return kDigits.find(c) != std::string_view::npos;
         });
}

}  // namespace setpoint::base
