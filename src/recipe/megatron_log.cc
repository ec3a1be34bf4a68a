// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/fields.h"
#include "recipe/forms.h"
#include "recipe/python_value.h"

namespace setpoint::recipe {
namespace {

constexpr std::string_view kBegin = "------------------------ arguments ------------------------";
constexpr std::string_view kEnd = "-------------------- end of arguments ---------------------";

// "  name ........ value": two blanks, the name, dots up to column 48 (none for a longer name), the
// value, which may be empty.
std::optional<std::pair<std::string, base::Json>> argument(const std::string& line) {
  const std::size_t start = line.find_first_not_of(' ');
  if (start < 2 || start == std::string::npos) return std::nullopt;
  const std::size_t space = line.find(' ', start);
  if (space == std::string::npos) return std::nullopt;
  const std::size_t value = std::min(line.find_first_not_of('.', space + 1), line.size());
  if (value < line.size() && line[value] != ' ') return std::nullopt;
  return std::pair{line.substr(start, space - start),
                   python_value(std::string_view(line).substr(value))};
}

struct Block {
  FinalValues values;
  std::int64_t unread = 0;  // lines of another form, written in between by somebody else
};

Result<Block> read_block(const std::vector<LogLine>& lines, std::size_t first,
                         const std::string& what) {
  Block block;
  const std::vector<std::string> own = lines_of_rank(lines, first);
  for (std::size_t i = 1; i < own.size(); ++i) {
    if (own[i].find(kEnd) != std::string::npos) return block;
    auto found = argument(own[i]);
    if (!found) {
      ++block.unread;
    } else if (!block.values.parameters.emplace(*found).second) {
      return Error::bad_input(fmt::format("{}: argument {} is stated twice in one block", what,
                                          base::shown(found->first)));
    }
  }
  return Error::bad_input(
      fmt::format("{}: the argument block that starts in line {} has no end", what, first + 1));
}

// " > padded vocab (size: 50257) with 431 dummy tokens (new size: 50688)"
std::optional<base::Json> printed_vocab(const std::vector<LogLine>& lines) {
  constexpr std::string_view kNew = "(new size: ";
  const std::size_t at = find_line(lines, "> padded vocab (size:");
  if (at == std::string::npos) return std::nullopt;
  const std::string& line = lines[at].text;
  const std::size_t size = line.find(kNew);
  const std::size_t close = line.find(')', size);
  if (size == std::string::npos || close == std::string::npos) return std::nullopt;
  const base::Json value =
      python_value(line.substr(size + kNew.size(), close - size - kNew.size()));
  if (!value.is_number_integer()) return std::nullopt;
  return value;
}

std::optional<double> number(const FinalValues& values, const std::string& name) {
  const auto it = values.parameters.find(name);
  if (it == values.parameters.end() || !it->second.is_number()) return std::nullopt;
  return it->second.get<double>();
}

// The next multiple of make_vocab_size_divisible_by * TP (megatron/training/vocab_utils.py): with
// another TP the softmax can have other columns.
std::optional<base::Json> padded_vocab(const FinalValues& values) {
  const auto size = number(values, "vocab_size");
  const auto by = number(values, "make_vocab_size_divisible_by");
  const auto tp = number(values, "tensor_model_parallel_size");
  constexpr double kMost = 1e12;
  if (!size || !by || !tp || *size < 1 || *by < 1 || *tp < 1 || *size > kMost || *by * *tp > kMost)
    return std::nullopt;
  return base::Json(static_cast<std::int64_t>(std::ceil(*size / (*by * *tp)) * *by * *tp));
}

}  // namespace

Result<FinalValues> read_megatron_log(const std::vector<LogLine>& lines, const std::string& what) {
  std::optional<Block> block;
  for (std::size_t at = 0; (at = find_line(lines, kBegin, at)) != std::string::npos; ++at) {
    SP_TRY(Block next, read_block(lines, at, what));
    if (block && block->values != next.values) {
      return Error::bad_input(fmt::format(
          "{}: line {}: a second argument block that differs from the first", what, at + 1));
    }
    block = std::move(next);
  }
  if (!block) return Error::bad_input(what + ": no argument block");
  FinalValues values = std::move(block->values);
  values.framework = "megatron-core";
  base::Json& vocab = values.parameters["padded_vocab_size"];
  if (vocab.is_null()) vocab = printed_vocab(lines).value_or(base::Json());
  if (vocab.is_null()) vocab = padded_vocab(values).value_or(base::Json());
  if (block->unread > 0) values.facts["unread_lines"] = block->unread;
  // megatron/training/checkpointing.py, load_checkpoint: one of the two is printed where --load is
  // given.
  if (find_line(lines, "successfully loaded checkpoint from") != std::string::npos) {
    values.facts["weights_loaded"] = true;
  } else if (find_line(lines, "will start from random") != std::string::npos) {
    values.facts["weights_loaded"] = false;
  }
  return values;
}

}  // namespace setpoint::recipe
