// cg::reduce, with the operations that it is given. Facts: CUDA C++ Programming Guide, “Reduce Operators”.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define LAB_OPERATION(NAME, BODY)                                              \
  template <class Type>                                                        \
  struct NAME {                                                                \
    LAB_BOTH Type operator()(Type a, Type b) const { return BODY; }            \
  };
LAB_OPERATION(plus, a + b)
LAB_OPERATION(less, b < a ? b : a)
LAB_OPERATION(greater, a < b ? b : a)
LAB_OPERATION(bit_and, a & b)
LAB_OPERATION(bit_or, a | b)
LAB_OPERATION(bit_xor, a ^ b)

template <unsigned Size, class Type, class Operation>
LAB_DEVICE Type lab_reduced(const lab_tile_of_a_warp<Size>& tile, Type value, Operation operation) {
  _Pragma("unroll") for (int with = Size / 2; with; with /= 2) value = operation(value, tile.shfl_xor(value, with));
  return value;
}
template <unsigned Size, class Type, class Operation>
LAB_DEVICE Type lab_reduced(const lab_tile_of_warps<Size>& tile, Type value, Operation operation) {
  __shared__ Type lab_parts[32];
  value = lab_reduced(lab_tile_of_a_warp<32>(), value, operation);
  const unsigned warp = lab_rank_in_block() / 32, first = warp - warp % (Size / 32);
  if (lab_lane() == 0) lab_parts[warp] = value;
  tile.sync();
  value = lab_parts[first];
  _Pragma("unroll") for (unsigned i = 1; i < Size / 32; i++) value = operation(value, lab_parts[first + i]);
  tile.sync();
  return value;
}
template <class Type, class Operation>
LAB_DEVICE Type lab_reduced(const coalesced_group& group, Type value, Operation operation) {
  if (group.size() == 32) return lab_reduced(lab_tile_of_a_warp<32>(), value, operation);
  const unsigned rank = group.thread_rank();
  for (unsigned by = 1; by < group.size(); by *= 2) {
    const Type before = group.shfl_up(value, by);
    if (rank >= by) value = operation(value, before);
  }
  return group.shfl(value, group.size() - 1);
}
template <class Group, class Type, class Operation>
LAB_DEVICE Type reduce(const Group& group, Type value, Operation&& operation) {
  return lab_reduced(group, value, operation);
}

#define LAB_REDUCED_INTO(NAME)                                                 \
  template <class Group, class Place, class Type, class Operation>             \
  LAB_DEVICE void NAME(const Group& group, Place& place, Type value, Operation&& operation) { \
    value = lab_reduced(group, value, operation);                              \
    if (group.thread_rank() == 0) lab_put_##NAME(place, value, operation);     \
  }
template <class Place, class Type, class Operation>
LAB_DEVICE void lab_put_reduce_update_async(Place& place, Type value, const Operation&) { place.fetch_add(value); }
template <class Place, class Type>
LAB_DEVICE void lab_put_reduce_update_async(Place& place, Type value, const less<Type>&) { place.fetch_min(value); }
template <class Place, class Type>
LAB_DEVICE void lab_put_reduce_update_async(Place& place, Type value, const greater<Type>&) { place.fetch_max(value); }
template <class Place, class Type, class Operation>
LAB_DEVICE void lab_put_reduce_store_async(Place& place, Type value, const Operation&) { place = value; }
LAB_REDUCED_INTO(reduce_update_async)
LAB_REDUCED_INTO(reduce_store_async)

}  // namespace cooperative_groups
