// SPDX-License-Identifier: Apache-2.0
#include "generate/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/fields.h"

namespace setpoint::generate {
namespace {

// The flag that a row is written with here; nothing when a lenient plan leaves it out.
Result<std::optional<FlagInfo>> resolve(const Row& row, const Subject& subject,
                                        std::vector<std::string>& notes) {
  std::string_view left = row.flags;
  std::string name;
  do {
    const std::size_t end = std::min(left.find('|'), left.size());
    name = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
  } while (!left.empty() && !subject.flags.has(name));
  const auto found = subject.flags.find(name);
  if (found) return std::optional(*found);
  if (!subject.settings.lenient) return found.error();
  notes.push_back("left out: " + found.error().text);
  return std::optional<FlagInfo>();
}

Result<void> accept(const FlagInfo& flag, const std::vector<Word>& value, const Subject& subject) {
  if (value.empty() && flag.type != FlagType::flag) {
    return Error::bad_input(flag.name + ": expected a value");
  }
  for (const Word& part : value) {
    if (!part.expands) SP_CHECK(subject.flags.accepts(flag, part.text));
  }
  return {};
}

base::Json scalar(FlagType type, const std::string& text) {
  switch (type) {
    case FlagType::flag:
      return text != "false";
    case FlagType::integer:
    case FlagType::number:
      return base::Json::parse(text);  // accepted as a number before
    default:
      return text;
  }
}

base::Json typed(const FlagInfo& flag, const std::vector<Word>& value) {
  if (flag.type != FlagType::list) return scalar(flag.type, value.empty() ? "" : value[0].text);
  base::Json list = base::Json::array();
  for (const Word& part : value) list.push_back(scalar(flag.element, part.text));
  return list;
}

void put(base::Json& document, std::string_view path, base::Json value) {
  base::Json* at = &document;
  for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
    at = &(*at)[std::string(path.substr(0, dot))];
    path.remove_prefix(dot + 1);
  }
  (*at)[std::string(path)] = std::move(value);
}

// Calls `say` with the flag and the accepted value of each row that the engine is told.
template <class Say>
Result<void> each_said(std::span<const Row> rows, const Subject& subject,
                       std::vector<std::string>& notes, const Say& say) {
  for (const Row& row : rows) {
    const Value value = row.value(subject);
    if (!value) continue;
    SP_TRY(const auto flag, resolve(row, subject, notes));
    if (!flag) continue;
    SP_CHECK(accept(*flag, *value, subject));
    say(*flag, *value);
  }
  return {};
}

}  // namespace

Value bare(bool said) { return said ? Value(std::in_place) : kUnsaid; }
Value word(std::string text) { return std::vector{Word{std::move(text)}}; }
Value word(std::int64_t number) { return word(std::to_string(number)); }
Value word_if(bool said, std::int64_t number) { return said ? word(number) : kUnsaid; }
Value text_if(bool said, std::string text) { return said ? word(std::move(text)) : kUnsaid; }
Value named(const std::string& name) { return text_if(!name.empty(), name); }
Value as_given(bool said, const Word& given) { return said ? Value(std::vector{given}) : kUnsaid; }

Value words(const std::vector<std::int64_t>& numbers) {
  if (numbers.empty()) return kUnsaid;
  std::vector<Word> out;
  for (const std::int64_t number : numbers) out.push_back({std::to_string(number)});
  return out;
}

std::string share(double fraction) {
  std::string text = fmt::format("{:.4f}", fraction);
  text.erase(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text + "0" : text;
}

Result<std::vector<Word>> arguments(std::span<const Row> rows, const Subject& subject,
                                    std::vector<std::string>& notes) {
  std::vector<Word> out;
  SP_CHECK(each_said(rows, subject, notes, [&](const FlagInfo& flag, const auto& value) {
    out.push_back({flag.name});
    out.insert(out.end(), value.begin(), value.end());
  }));
  return out;
}

Result<base::Json> options_file(std::span<const Row> rows, const Subject& subject,
                                std::vector<std::string>& notes) {
  base::Json out = base::Json::object();
  SP_CHECK(each_said(rows, subject, notes, [&](const FlagInfo& flag, const auto& value) {
    put(out, flag.name, typed(flag, value));
  }));
  return out;
}

}  // namespace setpoint::generate
