// SPDX-License-Identifier: Apache-2.0
#include "judge/register_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "base/text.h"

namespace setpoint::judge {

using base::JsonView;

Result<void> check_keys(const JsonView& object, std::span<const std::string_view> needed,
                        std::span<const std::string_view> optional) {
  if (!object.is_object()) return object.error("expected an object");
  std::vector<std::string> known(needed.begin(), needed.end());
  known.insert(known.end(), optional.begin(), optional.end());
  SP_CHECK(object.only(known));
  for (const std::string_view key : needed) {
    if (!object.json().contains(std::string(key))) {
      return object.error(fmt::format("{} is missing", base::shown(key)));
    }
  }
  return {};
}

Result<std::string> text_at(const JsonView& object, std::string_view key) {
  const auto member = object.find(key);
  return member ? member->string() : Result<std::string>(std::string());
}

Result<std::vector<std::string>> texts_at(const JsonView& object, std::string_view key) {
  std::vector<std::string> texts;
  const auto member = object.find(key);
  if (!member) return texts;
  SP_TRY(const std::vector<JsonView> items, member->items());
  for (const JsonView& item : items) {
    SP_TRY(texts.emplace_back(), item.string());
  }
  return texts;
}

Result<Rule> rule_at(const JsonView& object, std::string_view key) {
  SP_TRY(const std::string text, text_at(object, key));
  auto rule = Rule::parse(text);
  if (!rule)
    return object.error(fmt::format("{} {}: {}", key, base::shown(text), rule.error().text));
  return rule;
}

Result<std::size_t> word_at(const JsonView& object, std::string_view key,
                            std::span<const std::string_view> words) {
  SP_TRY(const std::string text, text_at(object, key));
  const auto found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  const std::vector<std::string> known(words.begin(), words.end());
  return object.error(
      fmt::format("{} {} is none of: {}", key, base::shown(text), base::join(known)));
}

JsonView named_entry(const JsonView& entry, std::string_view key) {
  const auto name = entry.find(key);
  if (!name || !name->json().is_string()) return entry;
  return {entry.json(),
          fmt::format("{} ({})", entry.path(), base::shown(name->json().get<std::string>()))};
}

Result<std::string> place_at(const JsonView& object) {
  SP_TRY(std::string where, text_at(object, "where"));
  const auto line = object.find("line");
  if (!line) return where;
  SP_TRY(const std::int64_t number, line->integer(0, 10'000'000));
  return fmt::format("{}:{}", where, number);
}

}  // namespace setpoint::judge
