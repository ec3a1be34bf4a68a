// SPDX-License-Identifier: Apache-2.0
// A folder of its own for one test, removed at its end.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace setpoint::perfdb {

class Scratch : public testing::Test {
 protected:
  Scratch()
      : folder_(std::filesystem::temp_directory_path() /
                ("setpoint-" + std::to_string(::getpid()) + "-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path at(const std::string& name) const { return folder_ / name; }
  std::filesystem::path write(const std::string& name, std::string_view content) const {
    std::ofstream(at(name), std::ios::binary) << content;
    return at(name);
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      count += entry.path().empty() ? 0u : 1u;
    }
    return count;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace setpoint::perfdb
