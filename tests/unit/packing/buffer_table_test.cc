// Tables of buffers: columns in any order and by all their names, and what is refused where.

#include "poet/packing/buffer_table.h"

#include <gtest/gtest.h>

#include <string>

#include "poet/base/error.h"

namespace poet {
namespace {

std::string refusal(const std::string& text) {
  try {
    check({read_buffer_table(text, "b.csv").buffers, {}});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(BufferTable, TakesColumnsInAnyOrder) {
  const BufferTable table = read_buffer_table(
      "size,upper,alignment,id,lower,offset,bank,gaps,hint\r\n"
      "16, 9, 4, x, -2, 8, sram, 1-3 5-6, 7\r\n"
      "\n"
      "3,2,,y,1,,,,\n",
      "b.csv");
  ASSERT_EQ(table.buffers.size(), 2U);
  const RequestedBuffer& x = table.buffers[0];
  EXPECT_EQ(x.id, "x");
  EXPECT_EQ(x.lower, -2);
  EXPECT_EQ(x.upper, 9);
  EXPECT_EQ(x.bytes, 16);
  EXPECT_EQ(x.alignment, 4);
  EXPECT_EQ(x.offset, 8);
  EXPECT_EQ(x.bank, "sram");
  EXPECT_EQ(x.place, "b.csv:2");
  ASSERT_EQ(x.gaps.size(), 2U);
  EXPECT_EQ(x.gaps[1].lower, 5);
  EXPECT_EQ(x.gaps[1].upper, 6);
  const RequestedBuffer& y = table.buffers[1];
  EXPECT_EQ(y.alignment, 1);
  EXPECT_EQ(y.offset, std::nullopt);
  EXPECT_TRUE(y.gaps.empty());
  EXPECT_EQ(y.place, "b.csv:4");
}

TEST(BufferTable, SkipsTheMarkOfExcel) {
  const BufferTable table = read_buffer_table("\xEF\xBB\xBFid,lower,upper,size\na,0,2,8\n", "b.csv");
  EXPECT_EQ(table.buffers.at(0).bytes, 8);
  EXPECT_EQ(table.heading.at(0), "id");
}

TEST(BufferTable, EndsAreWithinTheLifetime) {
  // MiniMalloc's older format: the last time at which it is alive. [2, 6) with [3, 5) left out.
  const BufferTable table = read_buffer_table("buffer_id,start,end,size,gaps\n0,2,5,1,3-4\n", "b.csv");
  EXPECT_EQ(table.buffers[0].upper, 6);
  EXPECT_EQ(table.buffers[0].gaps[0].upper, 5);
}

TEST(BufferTable, WritesWhatItReadWithOffsets) {
  PackSolution solution;
  solution.buffers = {{64, 1}, {0, 0}};
  EXPECT_EQ(
      buffer_table_text(read_buffer_table("buffer,begin,upper,size\na,0,2,8\nb,1,3,8\n", "b"), {}, solution),
      "buffer,begin,upper,size,offset\na,0,2,8,64\nb,1,3,8,0\n");
  const BufferTable table =
      read_buffer_table("id,offset,lower,upper,size,bank\na,,0,2,8,\nb,0,1,3,8,p\n", "b");
  EXPECT_EQ(buffer_table_text(table, {{"p", 9}, {"q", 99}}, solution),
            "id,offset,lower,upper,size,bank\na,64,0,2,8,q\nb,0,1,3,8,p\n");
}

TEST(BufferTable, RefusesWithThePlace) {
  const std::string heading = "id,lower,upper,size,alignment,gaps,offset\n";
  EXPECT_EQ(refusal(""), "b.csv: must begin with a heading such as id,lower,upper,size");
  EXPECT_EQ(refusal("id,lower,size\n"), "b.csv:1: the column \"upper\" is missing");
  EXPECT_EQ(refusal("id,lower,uper,size\n"), "b.csv:1: the column \"uper\" is unknown; did you mean upper?");
  EXPECT_EQ(refusal("id,lower,upper,begin,size\n"), "b.csv:1: there are two columns for \"lower\"");
  EXPECT_EQ(refusal("id,lower,upper,size\na,0,1,2\na,0,1\n"), "b.csv:3: there are 3 values for 4 columns");
  EXPECT_EQ(refusal("id,lower,upper,size\na,0,1,2,\n"), "b.csv:2: there are 5 values for 4 columns");
  EXPECT_EQ(refusal("id,lower,upper,size\na,0,1,1.5\n"),
            "b.csv:2: size: \"1.5\" is not a whole number within 2^60");
  EXPECT_EQ(refusal("id,lower,upper,size\na,0,,1\n"),
            "b.csv:2: upper: \"\" is not a whole number within 2^60");
  EXPECT_EQ(refusal("id,lower,upper,size\na,3,3,1\n"), "b.csv:2: the lifetime from 3 to 3 must not be empty");
  EXPECT_EQ(refusal("id,start,end,size\na,3,1,1\n"), "b.csv:2: the end 1 must not be before the start 3");
  EXPECT_EQ(refusal("id,lower,upper,size\n\"a\",3,4,1\n"), "b.csv:2: quotes around values are not supported");
  EXPECT_EQ(refusal("id,lower,upper,size\na,3,4,-1\n"), "b.csv:2: the size -1 must be from 0 to 2^60");
  EXPECT_EQ(refusal(heading + "a,0,9,4,0,,\n"), "b.csv:2: the alignment 0 must be from 1 to 2^32");
  EXPECT_EQ(refusal(heading + "a,0,9,4,4,,6\n"),
            "b.csv:2: the offset 6 must be a multiple of the alignment 4");
  EXPECT_EQ(refusal(heading + "a,0,9,4,,,-4\n"), "b.csv:2: the offset -4 must be from 0 to 2^60");
  EXPECT_EQ(refusal(heading + "a,0,9,4,,3,\n"), "b.csv:2: gaps: \"3\" is not a period such as 3-5");
  EXPECT_EQ(refusal(heading + "a,0,9,4,,3-5@0:2,\n"),
            "b.csv:2: gaps: \"3-5@0:2\" keeps a part of the buffer (@), which is not supported");
  EXPECT_EQ(refusal(heading + "a,0,9,4,,5-3,\n"), "b.csv:2: the gap that begins at 5 must not be empty");
  EXPECT_EQ(refusal(heading + "a,0,9,4,,3-5 4-6,\n"),
            "b.csv:2: the gap that begins at 4 must be within the lifetime and after the gap before it");
  EXPECT_EQ(refusal(heading + "a,0,9,4,,0-9,\n"), "b.csv:2: gaps must leave some of the lifetime");
  EXPECT_EQ(refusal(heading + "a,0,9,4,,,8\nb,0,2,9,,,20\nc,8,9,4,,,6\n"),
            "b.csv:4: its fixed offset 6 overlaps that of \"a\" (b.csv:2)");
  const std::string huge = "id,lower,upper,size\na,0,9,1152921504606846975\n";
  EXPECT_EQ(refusal(huge), "");
  EXPECT_EQ(refusal(huge + "b,0,9,1\n"), "b.csv:3: sizes and alignments must add up to at most 2^60 so far");
}

}  // namespace
}  // namespace poet
