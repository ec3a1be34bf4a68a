// SPDX-License-Identifier: Apache-2.0
// A small hub on loopback: what find_config does with a hub's answers, refusals and silence.
#include "model/hub.h"

#include <gtest/gtest.h>
#include <httplib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace setpoint::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTiny = R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 64,
  "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100})";

class Hub : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("setpoint_hub_test_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    server_.Get(R"(/(.+)/resolve/main/(.+))",
                [this](const httplib::Request& request, httplib::Response& response) {
                  ++requests_;
                  answer(request.matches[1], request.matches[2], request, response);
                });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
    set("HF_ENDPOINT", "http://127.0.0.1:" + std::to_string(port_) + "/");
    set("HF_HOME", (folder_ / "hf").string());
    set("HF_HUB_CACHE", "");
    set("XDG_CACHE_HOME", (folder_ / "cache").string());
    set("HF_TOKEN", "");
    set("HF_HUB_OFFLINE", "");
    set("SETPOINT_HTTP_TIMEOUT_MS", "500");
    set("no_proxy", "127.0.0.1");
  }
  void TearDown() override {
    server_.stop();
    thread_.join();
    fs::remove_all(folder_);
  }
  static void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }
  static void answer(const std::string& id, const std::string& file,
                     const httplib::Request& request, httplib::Response& response) {
    if (id == "org/tiny" && file == "config.json") {
      response.set_content(kTiny, "application/json");
    } else if (id == "org/gated" &&
               request.get_header_value("Authorization") != "Bearer hf_secret") {
      response.status = 401;
    } else if (id == "org/gated" && file == "config.json") {
      response.set_content(kTiny, "application/json");
    } else if (id == "org/gated") {
      response.set_content(R"({"quantization": {"quant_algo": "FP8"}})", "application/json");
    } else if (id == "org/slow") {
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    } else if (id == "org/broken") {
      response.status = 500;
    } else if (id == "org/huge") {
      response.set_content(std::string(std::size_t{17} << 20, 'x'), "application/json");
    } else if (id == "org/page") {
      response.set_content("<html>login</html>", "text/html");
    } else {
      response.status = 404;
    }
  }

  fs::path folder_;
  httplib::Server server_;
  std::thread thread_;
  std::atomic<int> requests_ = 0;
  int port_ = 0;
};

TEST_F(Hub, FetchesOnceAndThenReadsItsOwnCache) {
  const auto first = find_config("org/tiny");
  ASSERT_TRUE(first.ok()) << first.error().text;
  EXPECT_EQ(first->config, kTiny);
  EXPECT_FALSE(first->hf_quant.has_value());
  const int after_first = requests_;
  ASSERT_TRUE(find_config("org/tiny").ok());
  EXPECT_EQ(requests_, after_first);
  set("HF_HUB_OFFLINE", "1");
  EXPECT_TRUE(find_config("org/tiny").ok());
}

TEST_F(Hub, OfflineNeverAsks) {
  set("HF_HUB_OFFLINE", "1");
  const auto found = find_config("org/tiny");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::bad_input);
  EXPECT_NE(found.error().text.find("HF_HUB_OFFLINE"), std::string::npos);
  EXPECT_EQ(requests_, 0);
}

TEST_F(Hub, GatedModelNeedsTheTokenAndTheTokenIsNeverShown) {
  const auto refused = find_config("org/gated");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::environment);
  EXPECT_NE(refused.error().text.find("401"), std::string::npos);
  EXPECT_NE(refused.error().text.find("HF_TOKEN"), std::string::npos);
  set("HF_TOKEN", "hf_wrong");
  const auto wrong = find_config("org/gated");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().text.find("hf_wrong"), std::string::npos);
  set("HF_TOKEN", "hf_secret");
  const auto opened = find_config("org/gated");
  ASSERT_TRUE(opened.ok()) << opened.error().text;
  EXPECT_TRUE(opened->hf_quant.has_value());
}

TEST_F(Hub, UnknownModelIsTheUsersErrorAndNamesNeighbours) {
  const auto found = find_config("Qwen/Qwen3-32C");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::bad_input);
  EXPECT_NE(found.error().text.find("Qwen/Qwen3-32B"), std::string::npos) << found.error().text;
}

// Each is asked once: waiting for a silent hub ends at the time-out and is not begun again.
TEST_F(Hub, SilenceErrorsAndOversizedAnswersAreOneLine) {
  for (const char* id : {"org/slow", "org/broken", "org/huge"}) {
    const auto found = find_config(id);
    ASSERT_FALSE(found.ok()) << id;
    EXPECT_EQ(found.error().code, ErrorCode::environment) << id;
    EXPECT_EQ(found.error().text.find('\n'), std::string::npos);
  }
  EXPECT_EQ(requests_, 3);
  EXPECT_FALSE(find_config("org/page").ok());
  EXPECT_FALSE(fs::exists(folder_ / "cache/setpoint/models/org--page"));
}

TEST_F(Hub, NobodyListeningIsAnEnvironmentError) {
  set("HF_ENDPOINT", "http://127.0.0.1:1");
  const auto found = find_config("org/tiny");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::environment);
}

TEST_F(Hub, LocalHuggingFaceCacheComesBeforeTheHub) {
  const fs::path model = folder_ / "hf/hub/models--org--tiny";
  fs::create_directories(model / "snapshots/abc123");
  fs::create_directories(model / "refs");
  std::ofstream(model / "refs/main") << "abc123";
  std::ofstream(model / "snapshots/abc123/config.json") << kTiny;
  const auto found = find_config("org/tiny");
  ASSERT_TRUE(found.ok()) << found.error().text;
  EXPECT_EQ(requests_, 0);
  EXPECT_NE(found->origin.find("snapshots/abc123"), std::string::npos);
}

TEST_F(Hub, FilesAndFoldersComeFirst) {
  std::ofstream(folder_ / "config.json") << kTiny;
  std::ofstream(folder_ / "hf_quant_config.json") << "{}";
  EXPECT_TRUE(find_config(folder_.string())->hf_quant.has_value());
  EXPECT_EQ(find_config((folder_ / "config.json").string())->config, kTiny);
  EXPECT_EQ(requests_, 0);
}

TEST_F(Hub, ShippedIdsAliasesAndLetterCaseNeedNoNetwork) {
  EXPECT_EQ(find_config("meta-llama/Llama-3.1-70B")->id, "meta-llama/Meta-Llama-3.1-70B");
  EXPECT_EQ(find_config("qwen/qwen3-32b")->id, "Qwen/Qwen3-32B");
  EXPECT_EQ(requests_, 0);
}

TEST(ModelId, OnlyPlainNamesBecomePathsAndAddresses) {
  EXPECT_TRUE(is_model_id("org/Name-1.5_x"));
  for (const char* bad : {"", "name", "/name", "org/", "a/b/c", "../x", "org/..", "a b/c", "a/b?c",
                          "a/b\n", "http://x/y"}) {
    EXPECT_FALSE(is_model_id(bad)) << bad;
  }
}

}  // namespace
}  // namespace setpoint::model
