// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) by OpenSSL's libcrypto: the name of everything that is frozen, pinned or
// chained.
#pragma once

#include <string>
#include <string_view>

namespace setpoint::base {

// 64 lower-case hexadecimal digits. Throws std::runtime_error where libcrypto has no SHA-256.
std::string sha256_hex(std::string_view bytes);
// Has the text the form of one?
bool is_sha256_hex(std::string_view text);

}  // namespace setpoint::base
