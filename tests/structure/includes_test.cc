// SPDX-License-Identifier: Apache-2.0
// Dependencies point one way: a module includes only itself, the public headers and the modules on
// its link list in CMakeLists.txt.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;

std::map<std::string, std::set<std::string>> declared_links() {
  std::ifstream in(SETPOINT_BINARY_DIR "/modules.txt");
  std::map<std::string, std::set<std::string>> links;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string module;
    words >> module;
    if (module.empty()) continue;
    module.pop_back();  // the colon
    links[module].insert(module);
    for (std::string link; words >> link;) links[module].insert(link);
  }
  return links;
}

TEST(Structure, ModulesIncludeOnlyWhatTheyLink) {
  const auto links = declared_links();
  ASSERT_GE(links.size(), 8u);
  const std::regex include("^\\s*#\\s*include\\s+\"([^/\"]+)/");
  int includes_read = 0;
  for (const auto& [module, allowed] : links) {
    const fs::path folder = SETPOINT_SOURCE_DIR "/src/" + module;
    if (!fs::exists(folder)) continue;  // declared, not begun
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        std::smatch match;
        if (!std::regex_search(line, match, include)) continue;
        ++includes_read;
        const std::string target = match[1];
        EXPECT_TRUE(target == "setpoint" || allowed.contains(target))
            << entry.path() << " includes " << target << ", which " << module << " does not link";
      }
    }
  }
  EXPECT_GT(includes_read, 20);
}

TEST(Structure, EveryFolderOfSourcesIsADeclaredModule) {
  const auto links = declared_links();
  for (const auto& entry : fs::directory_iterator(SETPOINT_SOURCE_DIR "/src")) {
    EXPECT_TRUE(links.contains(entry.path().filename().string())) << entry.path();
  }
}

TEST(Structure, LinkListsFormNoCycle) {
  const auto links = declared_links();
  for (const auto& [module, allowed] : links) {
    for (const std::string& link : allowed) {
      if (link == module) continue;
      ASSERT_TRUE(links.contains(link)) << module << " links unknown module " << link;
      EXPECT_FALSE(links.at(link).contains(module))
          << module << " and " << link << " link each other";
    }
  }
}

}  // namespace
