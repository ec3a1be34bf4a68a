// SPDX-License-Identifier: Apache-2.0
#include "generate/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include "base/text.h"

namespace setpoint::generate {
namespace {

using base::Json;

// Words that a YAML 1.1 or 1.2 reader takes for a truth value, nothing or a number.
constexpr std::array<std::string_view, 11> kReserved{"y",    "n",     "yes",  "no",  "on", "off",
                                                     "true", "false", "null", "nan", "inf"};

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// Such a string reads as itself without quotes: it starts with a letter, a path or a flag's dashes,
// has nothing that YAML gives a meaning to, and is no reserved word.
bool plain(std::string_view text) {
  const bool starts = !text.empty() && (letter(text[0]) || text[0] == '/');
  const bool flag = text.size() > 2 && text.starts_with("--") && letter(text[2]);
  if (!starts && !flag) return false;
  const auto safe = [](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./@+=:-").find(c) != std::string_view::npos;
  };
  if (!std::all_of(text.begin(), text.end(), safe) || text.back() == ':') return false;
  return std::find(kReserved.begin(), kReserved.end(), base::lower(text)) == kReserved.end();
}

// Characters that YAML readers fold, drop or refuse inside double quotes although JSON lets them
// stand: DEL, the C1 controls, the line and paragraph separators and the byte order mark.
std::string escape_unprintable(const std::string& json) {
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto byte = [&](std::size_t k) {
      return i + k < json.size() ? static_cast<unsigned char>(json[i + k]) : 0u;
    };
    if (byte(0) == 0x7f) {
      out += "\\x7f";
    } else if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) {
      out += fmt::format("\\x{:02x}", byte(1));
      i += 1;
    } else if (byte(0) == 0xe2 && byte(1) == 0x80 && (byte(2) == 0xa8 || byte(2) == 0xa9)) {
      out += fmt::format("\\u20{:02x}", byte(2) - 0x80);
      i += 2;
    } else if (byte(0) == 0xef && byte(1) == 0xbb && byte(2) == 0xbf) {
      out += "\\ufeff";
      i += 2;
    } else {
      out += json[i];
    }
  }
  return out;
}

// A double-quoted YAML string is a JSON string but for the characters above.
std::string quoted(const std::string& text) {
  if (plain(text)) return text;
  return escape_unprintable(
      Json(text).dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace));
}

// Several printable lines, the last one ended: they may stand as a literal block.
bool literal_block(const std::string& text) {
  if (text.size() < 2 || text.back() != '\n' || text[text.size() - 2] == '\n') return false;
  if (text[0] == ' ' || text[0] == '\n') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\n' ||
           (static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f);
  });
}

// YAML 1.1 takes 1e-05 for a string: a number always has its point.
std::string number(const Json& value) {
  if (!value.is_number_float()) return value.dump();
  const double x = value.get<double>();
  if (!std::isfinite(x)) return quoted(fmt::format("{}", x));
  std::string text = value.dump();
  const std::size_t e = text.find('e');
  if (e != std::string::npos && text.find('.') == std::string::npos) text.insert(e, ".0");
  return text;
}

std::string scalar(const Json& value) {
  if (value.is_string()) return quoted(value.get_ref<const std::string&>());
  if (value.is_number()) return number(value);
  return value.dump();  // true, false
}

bool empty_value(const Json& value) { return value.is_structured() && value.empty(); }

class Writer {
 public:
  // `value` after "key:" or "-", which stand on the current line already.
  void value_after(const Json& value, int indent) {
    if (empty_value(value)) {
      out_ += value.is_object() ? " {}\n" : " []\n";
    } else if (value.is_object() || value.is_array()) {
      out_ += '\n';
      node(value, indent);
    } else if (value.is_string() && literal_block(value.get_ref<const std::string&>())) {
      block(value.get_ref<const std::string&>(), indent);
    } else {
      out_ += ' ' + scalar(value) + '\n';
    }
  }
  void node(const Json& value, int indent) {
    if (value.is_object()) {
      for (const auto& [key, member] : value.items()) {
        if (member.is_null()) continue;
        pad(indent);
        out_ += quoted(key) + ':';
        value_after(member, member.is_array() ? indent : indent + 2);
      }
    } else if (value.is_array()) {
      for (const Json& item : value) {
        if (!item.is_null()) element(item, indent);
      }
    } else {
      pad(indent);
      out_ += scalar(value) + '\n';
    }
  }
  std::string take() { return std::move(out_); }

 private:
  // The first key of an object stands on the dash's own line.
  void element(const Json& item, int indent) {
    pad(indent);
    out_ += '-';
    if (!item.is_object() || item.empty()) return value_after(item, indent + 2);
    const std::size_t start = out_.size();
    node(item, indent + 2);
    const std::size_t first = out_.find_first_not_of(' ', start);
    out_.replace(start, first == std::string::npos ? 0 : first - start, " ");
  }
  void block(const std::string& text, int indent) {
    out_ += " |\n";
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = text.find('\n', at);
      if (end > at) pad(indent);
      out_ += text.substr(at, end - at) + '\n';
      at = end + 1;
    }
  }
  void pad(int indent) { out_.append(static_cast<std::size_t>(indent), ' '); }

  std::string out_;
};

}  // namespace

std::string yaml(const Json& document) {
  if (empty_value(document)) return document.is_object() ? "{}\n" : "[]\n";
  Writer writer;
  writer.node(document, 0);
  return writer.take();
}

std::string yaml_documents(const std::vector<Json>& documents) {
  std::string out;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (i > 0) out += "---\n";
    out += yaml(documents[i]);
  }
  return out;
}

}  // namespace setpoint::generate
