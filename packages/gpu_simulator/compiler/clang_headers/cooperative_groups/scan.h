// cg::inclusive_scan and cg::exclusive_scan. Facts: CUDA C++ Programming Guide, “inclusive_scan and exclusive_scan”.
#pragma once

#include "reduce.h"

namespace cooperative_groups {

template <class Group, class Type, class Operation>
LAB_DEVICE Type lab_scanned(const lab_of_a_warp<Group>& group, Type value, Operation operation) {
  const unsigned rank = group.self().thread_rank();
  for (unsigned by = 1; by < group.self().size(); by *= 2) {
    const Type before = group.self().shfl_up(value, by);
    if (rank >= by) value = operation(value, before);
  }
  return value;
}
template <unsigned Size, class Type, class Operation>
LAB_DEVICE Type lab_scanned(const lab_tile_of_warps<Size>& tile, Type value, Operation operation) {
  __shared__ Type lab_parts[32];
  value = lab_scanned(lab_tile_of_a_warp<32>(), value, operation);
  const unsigned warp = lab_rank_in_block() / 32, first = warp - warp % (Size / 32);
  if (lab_lane() == 31) lab_parts[warp] = value;
  tile.sync();
  if (warp > first) {
    Type before = lab_parts[first];
    for (unsigned i = first + 1; i < warp; i++) before = operation(lab_parts[i], before);
    value = operation(value, before);
  }
  tile.sync();
  return value;
}
template <class Group, class Type>
LAB_DEVICE Type lab_from_rank_before(const lab_of_a_warp<Group>& group, Type value) {
  return group.self().shfl_up(value, 1);
}
template <unsigned Size, class Type>
LAB_DEVICE Type lab_from_rank_before(const lab_tile_of_warps<Size>& tile, Type value) {
  __shared__ Type lab_values[1024];
  const unsigned rank = lab_rank_in_block();
  lab_values[rank] = value;
  tile.sync();
  value = lab_values[tile.thread_rank() == 0 ? rank : rank - 1];
  tile.sync();
  return value;
}
template <class Group, class Type, class Operation>
LAB_DEVICE Type inclusive_scan(const Group& group, Type value, Operation&& operation) {
  return lab_scanned(group, value, operation);
}
template <class Group, class Type>
LAB_DEVICE Type inclusive_scan(const Group& group, Type value) { return inclusive_scan(group, value, plus<Type>()); }
template <class Group, class Type, class Operation>
LAB_DEVICE Type exclusive_scan(const Group& group, Type value, Operation&& operation) {
  const Type before = lab_from_rank_before(group, lab_scanned(group, value, operation));
  return group.thread_rank() == 0 ? Type() : before;
}
template <class Group, class Type>
LAB_DEVICE Type exclusive_scan(const Group& group, Type value) { return exclusive_scan(group, value, plus<Type>()); }

}  // namespace cooperative_groups
