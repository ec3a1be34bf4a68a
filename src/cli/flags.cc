// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/text.h"

namespace setpoint::cli {
namespace {

constexpr std::size_t kLongestShown = 60;
constexpr std::size_t kNameColumn = 34;  // of the help

std::string quoted(const std::string& text) {
  std::string shown = text.substr(0, kLongestShown);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';  // one line, no escapes
  }
  return fmt::format("\"{}\"{}", shown, text.size() > kLongestShown ? "..." : "");
}

template <class T>
T unwrap(Result<T> result) {
  if (!result.ok()) throw CLI::ValidationError(result.error().text);
  return std::move(result).value();
}

}  // namespace

Result<double> parse_number(const std::string& text, Numbers range) {
  const std::string digits = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc() && end == digits.data() + digits.size() && value >= range.least &&
      value <= range.most) {
    return value;
  }
  return Error::bad_input(fmt::format("expected a number from {} to {}, found {}", range.least,
                                      range.most, quoted(text)));
}

// Also the forms 1e6 and 4096.0, as long as the value is whole.
Result<std::int64_t> parse_integer(const std::string& text, Integers range) {
  const auto number =
      parse_number(text, {static_cast<double>(range.least), static_cast<double>(range.most)});
  if (number && *number == std::floor(*number)) return static_cast<std::int64_t>(*number);
  return Error::bad_input(fmt::format("expected a whole number from {} to {}, found {}",
                                      range.least, range.most, quoted(text)));
}

struct Flags::Impl {
  CLI::App app;
  std::string heading = "Options";
  std::vector<std::string> required;
  std::string alternative;
  std::map<std::string, std::vector<std::string>> values;

  CLI::Option* add(const std::string& name, const std::string& unit, const std::string& help,
                   std::function<void(const std::string&)> set) {
    auto* option = app.add_option_function<std::string>(
        name,
        [name, set = std::move(set)](const std::string& text) {
          try {
            set(text);
          } catch (const CLI::ValidationError& e) {
            throw CLI::ValidationError(fmt::format("{}: {}", name, e.what()));
          }
        },
        help);
    return option->type_name(unit)->group(heading);
  }

  // Names that an unknown flag may have meant.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    }
    return out;
  }

  Result<void> check() const {
    for (const std::string& extra : app.remaining()) {
      if (!extra.starts_with('-')) {
        return Error::bad_input(fmt::format("unexpected argument {}", quoted(extra)));
      }
      return Error::bad_input(
          base::unknown_name("flag", extra.substr(0, extra.find('=')), names()));
    }
    if (!alternative.empty() && app.get_option(alternative)->count() > 0) return {};
    for (const std::string& name : required) {
      if (app.get_option(name)->count() == 0) {
        return Error::bad_input(fmt::format("{} is required (see --help)", name));
      }
    }
    return {};
  }
};

Flags::Flags(const std::string& command, const std::string& summary, const std::string& example)
    : impl_(std::make_unique<Impl>()) {
  impl_->app.name(command);
  impl_->app.description(summary);
  impl_->app.footer("Example:\n  " + example);
  impl_->app.allow_extras();
  impl_->app.get_formatter()->column_width(kNameColumn);
  impl_->app.set_help_flag();  // declared by help_flag(), so that it stands last
}
Flags::~Flags() = default;

void Flags::group(const std::string& heading) { impl_->heading = heading; }

std::string Flags::shown_number(double value) { return fmt::format("{}", value); }

void Flags::add_integer(const std::string& name, std::function<void(std::int64_t)> set,
                        Integers range, const std::string& unit, const std::string& fallback,
                        const std::string& help) {
  impl_
      ->add(name, unit, help,
            [set = std::move(set), range](const std::string& text) {
              set(unwrap(parse_integer(text, range)));
            })
      ->default_str(fallback);
}

void Flags::add_number(const std::string& name, std::function<void(double)> set, Numbers range,
                       const std::string& unit, const std::string& fallback,
                       const std::string& help) {
  impl_
      ->add(name, unit, help,
            [set = std::move(set), range](const std::string& text) {
              set(unwrap(parse_number(text, range)));
            })
      ->default_str(fallback);
}

void Flags::text(const std::string& name, std::string& to, const std::string& unit,
                 const std::string& help) {
  impl_->add(name, unit, help, [&to](const std::string& text) { to = text; })->default_str(to);
}

void Flags::texts(const std::string& name, std::vector<std::string>& to, const std::string& unit,
                  const std::string& help) {
  impl_->app.add_option(name, to, help)
      ->type_name(unit)
      ->group(impl_->heading)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void Flags::choice(const std::string& name, std::string& to, std::vector<std::string> values,
                   const std::string& help) {
  impl_->values[name] = values;
  const std::string unit = base::join(values, "|");
  impl_
      ->add(name, unit, help,
            [&to, values](const std::string& text) {
              if (std::find(values.begin(), values.end(), text) == values.end()) {
                throw CLI::ValidationError(
                    fmt::format("expected {}, found {}", base::join(values, ", "), quoted(text)));
              }
              to = text;
            })
      ->default_str(to);
}

void Flags::toggle(const std::string& name, bool& to, const std::string& help) {
  impl_->app.add_flag(name, to, help)->group(impl_->heading);
}

void Flags::counter(const std::string& name, int& to, const std::string& help) {
  impl_->app.add_flag(name, to, help)->group(impl_->heading);
}

void Flags::argument(const std::string& name, std::string& to, const std::string& help) {
  impl_->add(name, "", help, [&to](const std::string& text) { to = text; });
  impl_->required.push_back(name);
}

void Flags::arguments(const std::string& name, std::vector<std::string>& to,
                      const std::string& help) {
  impl_->app.add_option(name, to, help)->type_name("")->group(impl_->heading);
  impl_->required.push_back(name);
}

void Flags::require(const std::string& name) { impl_->required.push_back(name); }

void Flags::instead_of_required(const std::string& name) { impl_->alternative = name; }

Result<Flags::Parsed> Flags::parse(std::vector<std::string> args) {
  std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
  try {
    impl_->app.parse(std::move(args));
  } catch (const CLI::CallForHelp&) {
    return Parsed::help;
  } catch (const CLI::ArgumentMismatch& e) {
    SP_CHECK(impl_->check());  // a wrong flag explains it better than the missing value does
    const std::string text = e.what();  // "--isl: 1 required TOKENS missing"
    return Error::bad_input(text.substr(0, text.find(':')) + ": a value must follow");
  } catch (const CLI::Error& e) {
    std::string text = e.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return Error::bad_input(text);
  }
  SP_CHECK(impl_->check());
  return Parsed::run;
}

bool Flags::given(const std::string& name) const {
  return impl_->app.get_option(name)->count() > 0;
}

void Flags::help_flag() {
  impl_->app.set_help_flag("-h,--help", "Print this help and exit")->group(impl_->heading);
}

std::string Flags::help() const {
  std::string text = impl_->app.help();
  for (std::size_t at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n")) {
    text.erase(at, 1);  // one empty line between groups is enough
  }
  return text;
}

std::vector<Flags::Described> Flags::describe() const {
  std::vector<Described> out;
  for (const CLI::Option* option : impl_->app.get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string name = "--" + option->get_lnames().front();
    const auto values = impl_->values.find(name);
    out.push_back({name, option->get_description(), option->get_items_expected_max() > 0,
                   values == impl_->values.end() ? std::vector<std::string>{} : values->second});
  }
  return out;
}

}  // namespace setpoint::cli
