// SPDX-License-Identifier: Apache-2.0
#include "setpoint/noise.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace setpoint::judge {
namespace {

constexpr std::array kCalm{1000.0, 1004.0, 996.0, 1008.0, 992.0};
constexpr std::array kLoud{1000.0, 1030.0, 970.0, 1020.0, 980.0};

// By hand: squares 0 + 16 + 16 + 64 + 64 = 160, s = sqrt(160 / 4) = 6.32.
TEST(Noise, ACalmBaselineHasTheLeastBandAndTheComparisonIsStrict) {
  const NoiseBand noise = noise_band(kCalm).value();
  EXPECT_EQ(noise.n, 5);
  EXPECT_DOUBLE_EQ(noise.mean, 1000);
  EXPECT_NEAR(noise.sd, 6.32, 0.005);
  EXPECT_NEAR(noise.sigma, 0.00632, 0.000005);
  EXPECT_NEAR(3 * noise.sigma, 0.0190, 0.00005);
  EXPECT_DOUBLE_EQ(noise.band, 0.03);
  EXPECT_FALSE(noise.beats(1030.0, noise.mean));
  EXPECT_TRUE(noise.beats(1030.1, noise.mean));
}

// By hand: squares 0 + 900 + 900 + 400 + 400 = 2600, s = sqrt(2600 / 4) = 25.50.
TEST(Noise, ALoudBaselineWidensTheBand) {
  const NoiseBand noise = noise_band(kLoud).value();
  EXPECT_NEAR(noise.sd, 25.50, 0.005);
  EXPECT_NEAR(noise.sigma, 0.0255, 0.00005);
  EXPECT_NEAR(noise.band, 0.0765, 0.00005);
  EXPECT_NEAR(noise.threshold(noise.mean), 1076.5, 0.05);
  EXPECT_FALSE(noise.beats(1076.4, 1000));
  EXPECT_TRUE(noise.beats(1076.6, 1000));
}

TEST(Noise, StepsInsideTheBandNeverAddUp) {
  const NoiseBand noise = noise_band(kCalm).value();
  EXPECT_NEAR(noise.threshold(1040), 1071.2, 1e-9);
  EXPECT_FALSE(noise.beats(1071.1, 1040));
  EXPECT_TRUE(noise.beats(1071.3, 1040));
  double fastest = 1000;
  for (int step = 0; step < 10; ++step) {  // each time 2.9 % on top of the fastest
    const double score = fastest * 1.029;
    EXPECT_TRUE(noise.parks(score, fastest));
    if (noise.beats(score, fastest)) fastest = score;
  }
  EXPECT_DOUBLE_EQ(fastest, 1000);
}

TEST(Noise, ParksWhatNeitherBeatsNorIsBeaten) {
  const NoiseBand noise = noise_band(kCalm).value();
  EXPECT_TRUE(noise.parks(1029, 1000));
  EXPECT_TRUE(noise.parks(1000, 1000));
  EXPECT_TRUE(noise.parks(975, 1000));
  EXPECT_FALSE(noise.parks(960, 1000));
  EXPECT_FALSE(noise.parks(1031, 1000));
}

TEST(Noise, ABaselineOutsideThreeSigmaHasDrifted) {
  const NoiseBand noise = noise_band(kCalm).value();  // 3 s = 18.97
  EXPECT_FALSE(noise.drifted(1018.9));
  EXPECT_TRUE(noise.drifted(1019.1));
  EXPECT_TRUE(noise.drifted(980.9));
}

TEST(Noise, FewerThanFiveValidRunsAreNoCampaign) {
  const auto few = noise_band(std::span(kCalm).first(4));
  ASSERT_FALSE(few.ok());
  EXPECT_EQ(few.error().code, ErrorCode::no);
  EXPECT_FALSE(noise_band({}).ok());
  EXPECT_FALSE(noise_band(std::vector<double>{1, 1, 1, 1, 0}).ok());
  EXPECT_FALSE(noise_band(std::vector<double>{1, 1, 1, 1, NAN}).ok());
}

TEST(Noise, ThreeFailuresOfEightEndTheBaseline) {
  EXPECT_FALSE(baseline_hopeless(5, 2));
  EXPECT_FALSE(baseline_hopeless(4, 2));
  EXPECT_TRUE(baseline_hopeless(0, 3));
  EXPECT_TRUE(baseline_hopeless(5, 3));
  EXPECT_FALSE(baseline_hopeless(6, 2));
}

TEST(Promotion, NeedsTheMeanOfBothScoresAboveTheThreshold) {
  const NoiseBand noise = noise_band(kCalm).value();
  const Promotion yes = promote(1060, 1050, 1000, noise);
  EXPECT_DOUBLE_EQ(yes.mean, 1055);
  EXPECT_DOUBLE_EQ(yes.threshold, 1030);
  EXPECT_TRUE(yes.replaced);
  EXPECT_FALSE(promote(1055, 1004, 1000, noise).replaced);  // a lucky first score: mean 1029.5
  EXPECT_FALSE(promote(1040, 1020, 1000, noise).replaced);  // exactly on it
}

// By hand: means 1080 and 1000, ratio 1.08; sd 10 over 3 and sqrt(40) over 5; relative variances of
// the means 2.8578e-5 and 8e-6; Welch: 3.6578e-5^2 / (2.8578e-5^2/2 + 8e-6^2/4) = 3.154 -> 3
// degrees, t = 3.182; half width 3.182 * 1.08 * 6.0480e-3 = 0.020784.
TEST(Gain, IsTheRatioOfTheMeansWithItsInterval) {
  const std::array winner{1070.0, 1080.0, 1090.0};
  const Gain gain = gain_of(winner, kCalm).value();
  EXPECT_NEAR(gain.gain, 0.08, 1e-12);
  EXPECT_NEAR(gain.low, 0.08 - 0.020784, 5e-6);
  EXPECT_NEAR(gain.high, 0.08 + 0.020784, 5e-6);
}

TEST(Gain, NeedsRunsOfEitherSide) {
  EXPECT_FALSE(gain_of(std::span(kCalm).first(1), kCalm).ok());
  EXPECT_FALSE(gain_of(kCalm, {}).ok());
  const std::array same{1000.0, 1000.0};
  EXPECT_DOUBLE_EQ(gain_of(same, same)->high, 0);
}

TEST(Final, TheParkedOneWinsByTheMeanOfThree) {
  const std::array fastest{1040.0, 1030.0, 1035.0}, parked{1050.0, 1030.0, 1040.0};
  EXPECT_TRUE(parked_wins(fastest, parked).value());
  EXPECT_FALSE(parked_wins(parked, fastest).value());
  EXPECT_FALSE(parked_wins(std::span(fastest).first(2), parked).ok());
}

}  // namespace
}  // namespace setpoint::judge
