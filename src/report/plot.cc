// SPDX-License-Identifier: Apache-2.0
#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace setpoint::report {
namespace {

constexpr int kAxisColumn = 9;  // where the vertical axis stands
constexpr int kTicksX = 5, kTicksY = 6;

// The smallest of 1, 2, 2.5, 5 times a power of ten that covers `span` in at most `ticks` steps.
double tick_step(double span, int ticks) {
  const double raw = span / ticks;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

struct Axis {
  double most = 1, step = 1;
  int cells = 1;
  int at(double value) const {
    return std::clamp(static_cast<int>(std::lround(value / most * (cells - 1))), 0, cells - 1);
  }
};

Axis axis(double most, int ticks, int cells) {
  const double step = tick_step(most, ticks);
  return {std::ceil(most / step) * step, step, cells};
}

// Glyphs of the frame: UTF-8, ASCII.
struct Glyphs {
  std::string_view vertical, horizontal, corner, tick_x, tick_y, line;
};
constexpr Glyphs kUtf8{"│", "─", "└", "┴", "┤", "┊"};
constexpr Glyphs kAscii{"|", "-", "+", "+", "+", ":"};

bool drawable(std::pair<double, double> p) {
  return std::isfinite(p.first) && std::isfinite(p.second) && p.first >= 0 && p.second >= 0;
}

std::string tick(double value) { return fmt::format("{:g}", std::round(value * 1e6) / 1e6); }

class Canvas {
 public:
  Canvas(const Screen& screen, const Plot& plot, Axis x, Axis y)
      : screen_(screen), glyphs_(screen.utf8 ? kUtf8 : kAscii), x_(x), y_(y) {
    cells_.assign(static_cast<std::size_t>(y.cells),
                  std::vector<std::string>(static_cast<std::size_t>(x.cells), " "));
    if (plot.x_line && *plot.x_line <= x.most) {
      for (int row = 0; row < y.cells; ++row) {
        cell(x.at(*plot.x_line), row) = paint(screen, Ink::dim, glyphs_.line);
      }
    }
    for (const Series& series : plot.series) mark(series);
  }

  std::string text(const Plot& plot) const {
    std::string out = fmt::format("  {}\n", plot.y_label);
    for (int row = y_.cells - 1; row >= 0; --row) out += row_text(row);
    return out + frame_text(plot);
  }

 private:
  std::string& cell(int column, int row) {
    return cells_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  }

  void mark(const Series& series) {
    const std::string glyph = screen_.utf8 ? series.utf8 : std::string(1, series.ascii);
    for (const auto& point : series.points) {
      if (!drawable(point)) continue;
      cell(x_.at(point.first), y_.at(point.second)) = paint(screen_, series.ink, glyph);
    }
  }

  std::string row_text(int row) const {
    std::string label;
    for (double value = 0; value <= y_.most * 1.0001; value += y_.step) {
      if (y_.at(value) == row) label = tick(value);
    }
    std::string out = fmt::format("{:>{}} {}", label, kAxisColumn - 1,
                                  label.empty() ? glyphs_.vertical : glyphs_.tick_y);
    const auto& line = cells_[static_cast<std::size_t>(row)];
    std::size_t end = line.size();
    while (end > 0 && line[end - 1] == " ") --end;
    for (std::size_t i = 0; i < end; ++i) out += line[i];
    return out + "\n";
  }

  std::string frame_text(const Plot& plot) const {
    std::string rule, labels(static_cast<std::size_t>(x_.cells + kAxisColumn + 1), ' ');
    std::vector<bool> ticked(static_cast<std::size_t>(x_.cells), false);
    for (double value = 0; value <= x_.most * 1.0001; value += x_.step) {
      const int at = x_.at(value);
      ticked[static_cast<std::size_t>(at)] = true;
      const std::string label = tick(value);
      const int begin = std::min(kAxisColumn + 1 + at - static_cast<int>(label.size()) / 2,
                                 static_cast<int>(labels.size() - label.size()));
      labels.replace(static_cast<std::size_t>(begin), label.size(), label);
    }
    for (const bool tick_here : ticked) rule += tick_here ? glyphs_.tick_x : glyphs_.horizontal;
    labels.erase(labels.find_last_not_of(' ') + 1);
    const int centre = kAxisColumn + 1 + (x_.cells + static_cast<int>(plot.x_label.size())) / 2;
    return fmt::format("{:>{}}{}{}\n{}\n{:>{}}\n", "", kAxisColumn, glyphs_.corner, rule, labels,
                       plot.x_label, centre);
  }

  const Screen& screen_;
  const Glyphs& glyphs_;
  Axis x_, y_;
  std::vector<std::vector<std::string>> cells_;  // [row from the bottom][column]
};

std::string legend(const Screen& screen, const Plot& plot) {
  std::string out;
  for (const Series& series : plot.series) {
    if (series.points.empty()) continue;
    const std::string glyph = screen.utf8 ? series.utf8 : std::string(1, series.ascii);
    out += fmt::format("   {} {}", paint(screen, series.ink, glyph), series.name);
  }
  if (plot.x_line) {
    out += fmt::format("   {} {}", screen.utf8 ? kUtf8.line : kAscii.line, plot.x_line_label);
  }
  return std::string(kAxisColumn - 2, ' ') + out + "\n";
}

}  // namespace

std::string draw(const Screen& screen, const Plot& plot) {
  double most_x = 0, most_y = 0;
  for (const Series& series : plot.series) {
    for (const auto& point : series.points) {
      if (!drawable(point)) continue;
      most_x = std::max(most_x, point.first);
      most_y = std::max(most_y, point.second);
    }
  }
  if (most_x <= 0 || most_y <= 0) return "";
  const int columns = screen.columns - kAxisColumn - 3;
  return Canvas(screen, plot, axis(most_x, kTicksX, columns), axis(most_y, kTicksY, plot.rows))
             .text(plot) +
         legend(screen, plot);
}

}  // namespace setpoint::report
