// What the lanes of a warp do together. Facts: CUDA C++ Programming Guide, “Warp Shuffle Functions”, “Warp Vote
// Functions”, “Warp Match Functions”, “Warp Reduce Functions”; PTX ISA.
#pragma once

LAB_DEVICE unsigned __activemask() {
  unsigned lanes;
  asm volatile("activemask.b32 %0;" : "=r"(lanes));
  return lanes;
}
#define LAB_LANES(NAME, REGISTER)                                              \
  LAB_DEVICE unsigned NAME() {                                                 \
    unsigned lanes;                                                            \
    asm("mov.u32 %0, %%" REGISTER ";" : "=r"(lanes));                          \
    return lanes;                                                              \
  }
LAB_LANES(lab_lane, "laneid")
LAB_LANES(lab_lanes_below, "lanemask_lt")

// ---- Shuffles ----

// The fourth operand of shfl has the clamp in its low bits and the mask of the segment from bit 8 on: PTX ISA, shfl.sync.
#define LAB_SHUFFLE(NAME, MODE, CLAMP, WHICH)                                  \
  LAB_DEVICE unsigned NAME(unsigned lanes, unsigned value, WHICH which, int width = 32) { \
    unsigned result, clamp = (32 - width) << 8 | CLAMP;                        \
    asm volatile("shfl.sync." MODE ".b32 %0, %1, %2, %3, %4;"                  \
                 : "=r"(result) : "r"(value), "r"(which), "r"(clamp), "r"(lanes)); \
    return result;                                                             \
  }                                                                            \
  LAB_DEVICE int NAME(unsigned lanes, int value, WHICH which, int width = 32) { \
    return static_cast<int>(NAME(lanes, static_cast<unsigned>(value), which, width)); \
  }                                                                            \
  LAB_DEVICE float NAME(unsigned lanes, float value, WHICH which, int width = 32) { \
    return __uint_as_float(NAME(lanes, __float_as_uint(value), which, width)); \
  }                                                                            \
  LAB_DEVICE unsigned long long NAME(unsigned lanes, unsigned long long value, WHICH which, int width = 32) { \
    unsigned low = NAME(lanes, static_cast<unsigned>(value), which, width);    \
    unsigned high = NAME(lanes, static_cast<unsigned>(value >> 32), which, width); \
    return static_cast<unsigned long long>(high) << 32 | low;                  \
  }                                                                            \
  LAB_DEVICE long long NAME(unsigned lanes, long long value, WHICH which, int width = 32) { \
    return static_cast<long long>(NAME(lanes, static_cast<unsigned long long>(value), which, width)); \
  }                                                                            \
  LAB_DEVICE unsigned long NAME(unsigned lanes, unsigned long value, WHICH which, int width = 32) { \
    return static_cast<unsigned long>(NAME(lanes, static_cast<unsigned long long>(value), which, width)); \
  }                                                                            \
  LAB_DEVICE long NAME(unsigned lanes, long value, WHICH which, int width = 32) { \
    return static_cast<long>(NAME(lanes, static_cast<unsigned long long>(value), which, width)); \
  }                                                                            \
  LAB_DEVICE double NAME(unsigned lanes, double value, WHICH which, int width = 32) { \
    return __longlong_as_double(NAME(lanes, __double_as_longlong(value), which, width)); \
  }
LAB_SHUFFLE(__shfl_sync, "idx", 31, int)
LAB_SHUFFLE(__shfl_xor_sync, "bfly", 31, int)
LAB_SHUFFLE(__shfl_down_sync, "down", 31, unsigned)
LAB_SHUFFLE(__shfl_up_sync, "up", 0, unsigned)

// ---- Votes ----

LAB_DEVICE unsigned __ballot_sync(unsigned lanes, int predicate) {
  unsigned votes;
  asm volatile("{\n .reg .pred p;\n setp.ne.s32 p, %1, 0;\n vote.sync.ballot.b32 %0, p, %2;\n}"
               : "=r"(votes) : "r"(predicate), "r"(lanes));
  return votes;
}
#define LAB_VOTE(NAME, PTX)                                                    \
  LAB_DEVICE int NAME(unsigned lanes, int predicate) {                         \
    int vote;                                                                  \
    asm volatile("{\n .reg .pred p, q;\n setp.ne.s32 p, %1, 0;\n vote.sync." PTX ".pred q, p, %2;\n selp.s32 %0, 1, 0, q;\n}" \
                 : "=r"(vote) : "r"(predicate), "r"(lanes));                   \
    return vote;                                                               \
  }
LAB_VOTE(__any_sync, "any")
LAB_VOTE(__all_sync, "all")
LAB_VOTE(__uni_sync, "uni")

// ---- Lanes with the same value ----

#define LAB_MATCH(TYPE, BITS, LETTER)                                          \
  LAB_DEVICE unsigned __match_any_sync(unsigned lanes, TYPE value) {           \
    unsigned same;                                                             \
    asm volatile("match.any.sync.b" BITS " %0, %1, %2;" : "=r"(same) : LETTER(value), "r"(lanes)); \
    return same;                                                               \
  }                                                                            \
  LAB_DEVICE unsigned __match_all_sync(unsigned lanes, TYPE value, int* all) { \
    unsigned same, is;                                                         \
    asm volatile("{\n .reg .pred p;\n match.all.sync.b" BITS " %0|p, %2, %3;\n selp.u32 %1, 1, 0, p;\n}" \
                 : "=r"(same), "=r"(is) : LETTER(value), "r"(lanes));          \
    *all = static_cast<int>(is);                                               \
    return same;                                                               \
  }
LAB_MATCH(int, "32", "r")
LAB_MATCH(unsigned, "32", "r")
LAB_MATCH(float, "32", "f")
LAB_MATCH(long, "64", "l")
LAB_MATCH(unsigned long, "64", "l")
LAB_MATCH(long long, "64", "l")
LAB_MATCH(unsigned long long, "64", "l")
LAB_MATCH(double, "64", "d")

// ---- One result for all lanes ----

#define LAB_REDUCE(NAME, TYPE, PTX)                                            \
  LAB_DEVICE TYPE NAME(unsigned lanes, TYPE value) {                           \
    TYPE result;                                                               \
    asm volatile("redux.sync." PTX " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(lanes)); \
    return result;                                                             \
  }
LAB_REDUCE(__reduce_add_sync, int, "add.s32")
LAB_REDUCE(__reduce_add_sync, unsigned, "add.u32")
LAB_REDUCE(__reduce_min_sync, int, "min.s32")
LAB_REDUCE(__reduce_min_sync, unsigned, "min.u32")
LAB_REDUCE(__reduce_max_sync, int, "max.s32")
LAB_REDUCE(__reduce_max_sync, unsigned, "max.u32")
LAB_REDUCE(__reduce_and_sync, unsigned, "and.b32")
LAB_REDUCE(__reduce_or_sync, unsigned, "or.b32")
LAB_REDUCE(__reduce_xor_sync, unsigned, "xor.b32")
