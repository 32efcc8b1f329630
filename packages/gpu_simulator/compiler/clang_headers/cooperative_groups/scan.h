// cg::inclusive_scan and cg::exclusive_scan. Facts: CUDA C++ Programming Guide, “inclusive_scan and exclusive_scan”.
#pragma once

#include "reduce.h"

namespace cooperative_groups {

template <class Group, class Type, class Operation>
LAB_DEVICE Type inclusive_scan(const Group& group, Type value, Operation&& operation) {
  const unsigned rank = group.thread_rank();
  for (unsigned by = 1; by < group.size(); by *= 2) {
    const Type before = group.shfl_up(value, by);
    if (rank >= by) value = operation(before, value);
  }
  return value;
}
template <class Group, class Type>
LAB_DEVICE Type inclusive_scan(const Group& group, Type value) { return inclusive_scan(group, value, plus<Type>()); }
template <class Group, class Type, class Operation>
LAB_DEVICE Type exclusive_scan(const Group& group, Type value, Operation&& operation) {
  const Type before = group.shfl_up(inclusive_scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? Type() : before;
}
template <class Group, class Type>
LAB_DEVICE Type exclusive_scan(const Group& group, Type value) { return exclusive_scan(group, value, plus<Type>()); }

}  // namespace cooperative_groups
