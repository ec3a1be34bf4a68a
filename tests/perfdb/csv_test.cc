// SPDX-License-Identifier: Apache-2.0
#include "perfdb/csv.h"

#include <gtest/gtest.h>

#include <cmath>

namespace setpoint::perfdb {
namespace {

const std::string kGemm = "op,system,framework,version,gemm_dtype,n,k,m,latency_ms\n";

std::string gemm(const std::string& rest) { return "gemm,h200_sxm,vllm,0.24.0," + rest + "\n"; }

TEST(Csv, LinesOfOneSliceBecomeADenseGrid) {
  const auto csv = parse_csv(kGemm + gemm("fp8,64,32,4,0.5") + gemm("fp8,64,32,1,0.25") +
                             gemm("fp8,128,32,1,0.75"));
  ASSERT_TRUE(csv.ok()) << csv.error().text;
  ASSERT_EQ(csv->sources.size(), 1u);
  const CsvSource& source = csv->sources[0];
  EXPECT_EQ(source.provenance.system, "h200_sxm");
  ASSERT_EQ(source.slices.size(), 1u);
  const Slice& slice = source.slices[0];
  EXPECT_EQ(slice.keys[0].second, "fp8");
  EXPECT_EQ(slice.axes[0].coordinates, (std::vector<std::int64_t>{64, 32, 128, 32}));
  EXPECT_EQ(slice.axes[1].coordinates, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(slice.latency_ms[0], 0.25f);
  EXPECT_EQ(slice.latency_ms[1], 0.5f);
  EXPECT_EQ(slice.latency_ms[2], 0.75f);
  EXPECT_TRUE(std::isnan(slice.latency_ms[3]));
}

TEST(Csv, BadLinesAreNamedByNumberAndNeverLoaded) {
  const auto csv =
      parse_csv(kGemm + gemm("fp8,64,32,1,nan") + gemm("fp8,64,32,2,0.5") + "# a remark\n\n" +
                gemm("fp8,64,32,4,-1") + gemm("fp8,64,32,8,0") + gemm("fp8,64,32,x,1") +
                gemm("fp8,64,32,16,inf") + gemm("fp8,64,32,1e3,1") + gemm("fp8,64,32,16") +
                gemm("fp8,99999999999,32,16,1") + gemm(",64,32,16,1") + gemm("fp8,64,32,16,fast"));
  ASSERT_TRUE(csv.ok()) << csv.error().text;
  EXPECT_EQ(csv->rows_read, 11);
  EXPECT_EQ(csv->rows_kept, 1);
  std::vector<std::int64_t> lines;
  for (const RejectedLine& bad : csv->rejected) lines.push_back(bad.line);
  EXPECT_EQ(lines, (std::vector<std::int64_t>{2, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(csv->rejected[0].reason, "latency_ms \"nan\" is not a finite number");
  EXPECT_EQ(csv->rejected[1].reason, "latency_ms \"-1\" is negative");
  EXPECT_EQ(csv->rejected[2].reason, "latency_ms \"0\" is zero");
  EXPECT_EQ(csv->rejected[6].reason, "8 cells, the header has 9");
  ASSERT_EQ(csv->sources[0].slices.size(), 1u);
  EXPECT_EQ(csv->sources[0].slices[0].latency_ms, std::vector<float>{0.5f});
}

TEST(Csv, WrongNamesAreAnsweredWithTheNearest) {
  const auto csv = parse_csv(
      kGemm + "gem,h200_sxm,vllm,0.24.0,fp8,1,1,1,1\n" + "gemm,h20_sxm,vllm,0.24.0,fp8,1,1,1,1\n" +
      "gemm,h200_sxm,vlm,0.24.0,fp8,1,1,1,1\n" + "gemm,h200_sxm,vllm,latest,fp8,1,1,1,1\n");
  ASSERT_TRUE(csv.ok());
  ASSERT_EQ(csv->rejected.size(), 4u);
  EXPECT_NE(csv->rejected[0].reason.find("nearest known: gemm"), std::string::npos);
  EXPECT_NE(csv->rejected[1].reason.find("h200_sxm"), std::string::npos);
  EXPECT_NE(csv->rejected[2].reason.find("nearest known: vllm"), std::string::npos);
  EXPECT_NE(csv->rejected[3].reason.find("is not like 0.24.0"), std::string::npos);
}

TEST(Csv, AHeaderThatCannotBeReadIsOneError) {
  for (const char* text : {"", "\n\n", "# only a remark\n"}) {
    EXPECT_EQ(parse_csv(text).error().text, "no header line");
  }
  EXPECT_NE(parse_csv("op,system,framework,version,latency\n").error().text.find("latency_ms"),
            std::string::npos);
  EXPECT_EQ(parse_csv("op,system,framework,latency_ms\n").error().text,
            "no column \"version\" in the header");
  EXPECT_EQ(parse_csv("op,op\n").error().text, "column \"op\" stands twice");
}

TEST(Csv, ZeroIsAMeasurementOnlyWhereTheOperatorSaysSo) {
  const auto csv = parse_csv(
      "op,system,framework,version,quant_dtype,m,k,latency_ms\n"
      "computescale,h200_sxm,vllm,0.24.0,fp8,1,32,0\n"
      "scale_matrix,h200_sxm,vllm,0.24.0,fp8,1,32,0\n");
  ASSERT_TRUE(csv.ok());
  EXPECT_EQ(csv->rows_kept, 1);
  EXPECT_EQ(csv->rejected.at(0).line, 3);
}

TEST(Csv, OfTwoLinesForOnePointTheOperatorsRuleTakesOneAndTheOtherIsCounted) {
  const auto first = parse_csv(kGemm + gemm("fp8,64,32,1,0.5") + gemm("fp8,64,32,1,0.75"));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->duplicates, 1);
  EXPECT_EQ(first->sources[0].slices[0].latency_ms, std::vector<float>{0.5f});
  const std::string dsa =
      "dsa_generation_module,h200_sxm,vllm,0.24.0,full,A,bfloat16,fp8,fp8,8,1,2,";
  const auto last = parse_csv(
      "op,system,framework,version,indexer,architecture,mla_dtype,kv_cache_dtype,gemm_type,heads,"
      "batch,seq,latency_ms\n" +
      dsa + "0.5\n" + dsa + "0.75\n");
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last->duplicates, 1);
  EXPECT_EQ(last->sources[0].slices[0].latency_ms, std::vector<float>{0.75f});
}

TEST(Csv, RowsOfSeveralKernelsShareAPointUnlessTheKernelIsAKey) {
  const std::string header = "op,system,framework,version,kernel,";
  const auto variant = parse_csv(header + "gemm_dtype,n,k,m,latency_ms\n" +
                                 "gemm,h200_sxm,vllm,0.24.0,cutlass,fp8,64,32,1,0.5\n" +
                                 "gemm,h200_sxm,vllm,0.24.0,deepgemm,fp8,64,32,1,0.75\n" +
                                 "gemm,h200_sxm,vllm,0.24.0,deepgemm,fp8,64,32,2,0.75\n");
  ASSERT_TRUE(variant.ok());
  EXPECT_EQ(variant->duplicates, 1);
  EXPECT_EQ(variant->sources[0].slices.size(), 2u);
  const std::string attention = "generation_attention,h200_sxm,vllm,0.24.0,";
  const auto lanes = parse_csv(
      header + "kv_cache_dtype,kv_heads,head_dim,window,heads,batch,seq,latency_ms\n" + attention +
      "fa3,fp8,8,128,0,64,1,1024,0.5\n" + attention + "triton,fp8,8,128,0,64,1,1024,0.75\n");
  ASSERT_TRUE(lanes.ok());
  EXPECT_EQ(lanes->duplicates, 0);
  EXPECT_EQ(lanes->sources[0].slices.size(), 2u);
}

TEST(Csv, AttentionWithAsManyKvHeadsAsHeadsIsKeyedZero) {
  const auto csv = parse_csv(
      "op,system,framework,version,kv_cache_dtype,kv_heads,head_dim,window,heads,batch,seq,"
      "latency_ms\n"
      "generation_attention,h200_sxm,vllm,0.24.0,fp8,32,128,0,32,1,1024,0.5\n"
      "generation_attention,h200_sxm,vllm,0.24.0,fp8,16,128,0,16,1,1024,0.4\n");
  ASSERT_TRUE(csv.ok());
  ASSERT_EQ(csv->sources[0].slices.size(), 1u);
  EXPECT_EQ(csv->sources[0].slices[0].keys[1].second, "0");
  EXPECT_EQ(csv->sources[0].slices[0].kernel, "default");
}

TEST(Csv, QuotesCarriageReturnsAndAByteOrderMarkAreUnderstood) {
  const auto csv = parse_csv(
      "\xef\xbb\xbfop, system ,framework,version,gemm_dtype,n,k,m,latency_ms\r\n"
      "gemm,\"h200_sxm\",vllm,0.24.0, fp8 ,64,32,1,0.5\r\n");
  ASSERT_TRUE(csv.ok()) << csv.error().text;
  EXPECT_EQ(csv->rows_kept, 1);
}

TEST(Csv, PointsThatShareNoGridAreRefusedBeforeTheyFillTheMemory) {
  std::string text = kGemm;
  for (int i = 1; i <= 5000; ++i) {
    const std::string n = std::to_string(i);
    text += gemm("fp8," + n + ",32," + n + ",1");
  }
  const auto csv = parse_csv(text);
  ASSERT_FALSE(csv.ok());
  EXPECT_NE(csv.error().text.find("gemm: 5000 points"), std::string::npos);
}

}  // namespace
}  // namespace setpoint::perfdb
