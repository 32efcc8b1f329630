// cg::memcpy_async, wait and wait_prior. Facts: CUDA C++ Programming Guide, “memcpy_async”, “wait and wait_prior”.
#pragma once

#include "../builtin/async_copy.h"
#include "../cooperative_groups.h"

namespace cooperative_groups {

// The threads of the group copy `bytes` in turns, as many at a time as the alignment of both addresses and the size allow.
template <class Group>
LAB_DEVICE void lab_copy(const Group& group, void* to, const void* from, size_t bytes) {
  char* there = static_cast<char*>(to);
  const char* here = static_cast<const char*>(from);
  const size_t aligned = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes;
  const size_t rank = group.thread_rank(), threads = group.size();
  if (aligned % 16 == 0)
    for (size_t at = 16 * rank; at < bytes; at += 16 * threads) lab_async_copy<16>(there + at, here + at, 16);
  else if (aligned % 4 == 0)
    for (size_t at = 4 * rank; at < bytes; at += 4 * threads) lab_async_copy<4>(there + at, here + at, 4);
  else
    for (size_t at = rank; at < bytes; at += threads) there[at] = here[at];
  lab_async_commit();
}
template <class Group, class Type, class Bytes>
LAB_DEVICE void memcpy_async(const Group& group, Type* to, const Type* from, const Bytes& bytes) {
  lab_copy(group, to, from, static_cast<size_t>(bytes));
}
template <class Group, class Type, class Layout, class From>
LAB_DEVICE void memcpy_async(const Group& group, Type* to, const Layout& room, const Type* from, const From& count) {
  lab_copy(group, to, from, min(static_cast<size_t>(room), static_cast<size_t>(count)) * sizeof(Type));
}
template <class Group>
LAB_DEVICE void wait(const Group& group) {
  lab_async_wait_all();
  group.sync();
}
template <unsigned Stages, class Group>
LAB_DEVICE void wait_prior(const Group& group) {
  lab_async_wait<Stages>();
  group.sync();
}

}  // namespace cooperative_groups
