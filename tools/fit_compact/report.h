// SPDX-License-Identifier: Apache-2.0
// How far the compact model is from the tables it was fitted to, by family, as Markdown.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "fit.h"
#include "tables.h"

namespace setpoint::tools {

class Report {
 public:
  explicit Report(const FitRules& rules);

  // Scores `set` on every sample of its table and returns the mean relative error.
  double score(const perfdb::compact::Set& set, const Table& table);

  std::string families() const;
  // Errors of answering a table with another table's set: what CompactModel::bind() may do.
  std::string borrowing() const;

 private:
  struct Mean {
    double sum = 0;
    std::size_t count = 0;
    void add(double value, std::size_t times = 1) {
      sum += value * static_cast<double>(times);
      count += times;
    }
    double value() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
  };
  struct Family {
    std::vector<float> errors;
    Mean fitted, unfitted;  // of tables with more rows than are fitted
    double constant_sum = 0;
    std::size_t sets = 0, bytes = 0;
  };
  // A set and some of its table's samples, kept to try other sets on.
  struct Probe {
    perfdb::compact::Set set;
    std::vector<Sample> samples;
    int sm = 0;
  };
  FitRules rules_;
  std::vector<Family> families_;
  std::vector<Probe> probes_;
};

}  // namespace setpoint::tools
