// Groups of threads: block, tiles of a warp and of several, coalesced threads, cluster, grid.
// Facts: CUDA C++ Programming Guide, “Cooperative Groups”.
#pragma once

namespace cooperative_groups {

// ---- What the groups are made of ----

LAB_DEVICE unsigned lab_rank_in_block() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
LAB_DEVICE unsigned lab_threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }
// The lane of a mask's thread with a rank.
LAB_DEVICE unsigned lab_lane_of(unsigned mask, unsigned rank) {
  if (mask == 0xffffffffu) return rank;
  for (unsigned i = 0; i < rank; i++) mask &= mask - 1;
  return __ffs(static_cast<int>(mask)) - 1;
}
// A value of any size, shuffled a word at a time. MODE: a function of the lanes, a word and what `which` is.
#define LAB_SHUFFLE_WORDS(NAME, SHUFFLE)                                       \
  template <class Type>                                                        \
  LAB_DEVICE Type NAME(unsigned lanes, Type value, unsigned which, int width = 32) { \
    unsigned words[(sizeof(Type) + 3) / 4];                                    \
    __builtin_memcpy(words, &value, sizeof(Type));                             \
    _Pragma("unroll") for (unsigned& word : words) word = SHUFFLE(lanes, word, which, width); \
    __builtin_memcpy(&value, words, sizeof(Type));                             \
    return value;                                                              \
  }
LAB_SHUFFLE_WORDS(lab_shuffle, __shfl_sync)
LAB_SHUFFLE_WORDS(lab_shuffle_xor, __shfl_xor_sync)
LAB_SHUFFLE_WORDS(lab_shuffle_down, __shfl_down_sync)
LAB_SHUFFLE_WORDS(lab_shuffle_up, __shfl_up_sync)

// Any of the groups below whose kind is not known when it is compiled.
class thread_group {
 protected:
  enum lab_kind : unsigned { of_block, of_lanes, of_grid } kind;
  unsigned lanes;

 public:
  LAB_DEVICE thread_group(lab_kind kind, unsigned lanes) : kind(kind), lanes(lanes) {}
  LAB_DEVICE static thread_group lab_of_lanes(unsigned lanes) { return thread_group(of_lanes, lanes); }
  LAB_DEVICE unsigned long long size() const {
    if (kind == of_lanes) return __popc(lanes);
    return lab_threads_of_block() * (kind == of_grid ? 1ull * gridDim.x * gridDim.y * gridDim.z : 1);
  }
  LAB_DEVICE unsigned long long num_threads() const { return size(); }
  LAB_DEVICE unsigned long long thread_rank() const {
    if (kind == of_lanes) return __popc(lanes & lab_lanes_below());
    const unsigned long long block = (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    return (kind == of_grid ? block * lab_threads_of_block() : 0) + lab_rank_in_block();
  }
  LAB_DEVICE void sync() const {
    if (kind == of_lanes) __syncwarp(lanes);
    else lab_barrier();
  }
  LAB_DEVICE bool is_valid() const { return true; }
  LAB_DEVICE bool lab_is_block() const { return kind == of_block; }
};

// ---- Block ----

class thread_block : public thread_group {
 public:
  LAB_DEVICE thread_block() : thread_group(of_block, 0) {}
  LAB_DEVICE static void sync() { lab_barrier(); }
  LAB_DEVICE static unsigned thread_rank() { return lab_rank_in_block(); }
  LAB_DEVICE static unsigned size() { return lab_threads_of_block(); }
  LAB_DEVICE static unsigned num_threads() { return lab_threads_of_block(); }
  LAB_DEVICE static dim3 group_index() { return blockIdx; }
  LAB_DEVICE static dim3 thread_index() { return threadIdx; }
  LAB_DEVICE static dim3 group_dim() { return blockDim; }
  LAB_DEVICE static dim3 dim_threads() { return blockDim; }
  struct arrival_token {};
  LAB_DEVICE static arrival_token barrier_arrive() {
    asm volatile("barrier.arrive 0, %0;" ::"r"(lab_threads_of_block()) : "memory");
    return {};
  }
  LAB_DEVICE static void barrier_wait(arrival_token) { lab_barrier(); }
};
LAB_DEVICE thread_block this_thread_block() { return {}; }
template <unsigned Threads = 1024>
struct block_tile_memory {  // tiles of several warps need none of the caller's memory here
  char unused;
};
template <unsigned Threads>
LAB_DEVICE thread_block this_thread_block(block_tile_memory<Threads>&) { return {}; }

// ---- Lanes of a warp ----

// What tiles and coalesced threads have in common. Group: has lanes(), lane(rank), and thread_rank().
template <class Group>
struct lab_of_a_warp {
  LAB_DEVICE const Group& self() const { return *static_cast<const Group*>(this); }
  LAB_DEVICE void sync() const { __syncwarp(self().lab_lanes()); }
  LAB_DEVICE int any(int predicate) const { return __any_sync(self().lab_lanes(), predicate); }
  LAB_DEVICE int all(int predicate) const { return __all_sync(self().lab_lanes(), predicate); }
  LAB_DEVICE unsigned ballot(int predicate) const { return self().lab_ranks(__ballot_sync(self().lab_lanes(), predicate)); }
  template <class Type>
  LAB_DEVICE unsigned match_any(Type value) const { return self().lab_ranks(__match_any_sync(self().lab_lanes(), value)); }
  template <class Type>
  LAB_DEVICE unsigned match_all(Type value, int& all) const {
    return self().lab_ranks(__match_all_sync(self().lab_lanes(), value, &all));
  }
  template <class Type>
  LAB_DEVICE Type shfl(Type value, int rank) const {
    return lab_shuffle(self().lab_lanes(), value, self().lab_lane(rank));
  }
};

class coalesced_group : public lab_of_a_warp<coalesced_group> {
  unsigned lanes, number = 0, count = 1;  // of this group among those that a group was divided into

 public:
  LAB_DEVICE explicit coalesced_group(unsigned lanes, unsigned number = 0, unsigned count = 1)
      : lanes(lanes), number(number), count(count) {}
  LAB_DEVICE unsigned lab_lanes() const { return lanes; }
  LAB_DEVICE unsigned lab_lane(unsigned rank) const { return lab_lane_of(lanes, rank % size()); }
  LAB_DEVICE unsigned lab_ranks(unsigned mask) const {
    if (lanes == 0xffffffffu) return mask;
    unsigned ranks = 0, rank = 0;
    for (unsigned rest = lanes; rest; rest &= rest - 1, rank++) ranks |= (mask & rest & -rest ? 1u : 0u) << rank;
    return ranks;
  }
  LAB_DEVICE unsigned thread_rank() const { return __popc(lanes & lab_lanes_below()); }
  LAB_DEVICE unsigned size() const { return __popc(lanes); }
  LAB_DEVICE unsigned num_threads() const { return size(); }
  LAB_DEVICE unsigned meta_group_rank() const { return number; }
  LAB_DEVICE unsigned meta_group_size() const { return count; }
  template <class Type>
  LAB_DEVICE Type shfl_up(Type value, int by) const {
    const int rank = thread_rank(), from = rank - by;
    return lab_shuffle(lanes, value, from < 0 ? lab_lane() : lab_lane(from));
  }
  template <class Type>
  LAB_DEVICE Type shfl_down(Type value, int by) const {
    const unsigned from = thread_rank() + by;
    return lab_shuffle(lanes, value, from < size() ? lab_lane(from) : lab_lane());
  }
  LAB_DEVICE operator thread_group() const { return thread_group::lab_of_lanes(lanes); }

 private:
  LAB_DEVICE static unsigned lab_lane() { return ::lab_lane(); }
};
LAB_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned Size, class Parent = void>
class thread_block_tile;

template <unsigned Size>
class lab_tile_of_a_warp : public lab_of_a_warp<lab_tile_of_a_warp<Size>> {
  static_assert(Size && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads, or a multiple of a warp");

 protected:
  LAB_DEVICE static unsigned lab_first() { return ::lab_lane() & ~(Size - 1); }

 public:
  LAB_DEVICE static unsigned lab_lanes() { return Size == 32 ? 0xffffffffu : ((1u << (Size % 32)) - 1) << lab_first(); }
  LAB_DEVICE static unsigned lab_lane(unsigned rank) { return lab_first() + (rank & (Size - 1)); }
  LAB_DEVICE static unsigned lab_ranks(unsigned mask) { return (mask & lab_lanes()) >> lab_first(); }
  LAB_DEVICE static unsigned thread_rank() { return Size == 32 ? ::lab_lane() : ::lab_lane() & (Size - 1); }
  LAB_DEVICE static constexpr unsigned size() { return Size; }
  LAB_DEVICE static constexpr unsigned num_threads() { return Size; }
  template <class Type>
  LAB_DEVICE Type shfl(Type value, int rank) const { return lab_shuffle(lab_lanes(), value, rank, Size); }
  template <class Type>
  LAB_DEVICE Type shfl_up(Type value, int by) const { return lab_shuffle_up(lab_lanes(), value, by, Size); }
  template <class Type>
  LAB_DEVICE Type shfl_down(Type value, int by) const { return lab_shuffle_down(lab_lanes(), value, by, Size); }
  template <class Type>
  LAB_DEVICE Type shfl_xor(Type value, int with) const { return lab_shuffle_xor(lab_lanes(), value, with, Size); }
  LAB_DEVICE operator thread_group() const { return thread_group::lab_of_lanes(lab_lanes()); }
};

// A tile of several warps. Its barrier is one of the block's 16, from 1 on.
template <unsigned Size>
class lab_tile_of_warps {
  LAB_DEVICE static unsigned lab_number() { return lab_rank_in_block() / Size; }

 public:
  LAB_DEVICE static unsigned thread_rank() { return lab_rank_in_block() % Size; }
  LAB_DEVICE static constexpr unsigned size() { return Size; }
  LAB_DEVICE static constexpr unsigned num_threads() { return Size; }
  LAB_DEVICE static void sync() {
    if (lab_number() > 14) __trap();
    __barrier_sync_count(1 + lab_number(), Size);
  }
  template <class Type>
  LAB_DEVICE Type shfl(Type value, int rank) const {
    __shared__ Type lab_sent[1024 / Size];
    if (thread_rank() == rank % Size) lab_sent[lab_number()] = value;
    sync();
    value = lab_sent[lab_number()];
    sync();
    return value;
  }
  LAB_DEVICE int any(int predicate) const { return lab_vote(predicate, true); }
  LAB_DEVICE int all(int predicate) const { return !lab_vote(!predicate, true); }

 private:
  LAB_DEVICE static int lab_vote(int predicate, bool) {
    __shared__ int lab_votes[1024 / Size];
    if (thread_rank() == 0) lab_votes[lab_number()] = 0;
    sync();
    if (predicate) atomicOr(&lab_votes[lab_number()], 1);
    sync();
    const int vote = lab_votes[lab_number()];
    sync();
    return vote;
  }
};

template <bool OfAWarp, unsigned Size>
struct lab_tile {
  typedef lab_tile_of_a_warp<Size> type;
};
template <unsigned Size>
struct lab_tile<false, Size> {
  typedef lab_tile_of_warps<Size> type;
};
// How many threads a tile's parent has, and the rank of this one in it.
template <class Parent>
struct lab_parent {
  LAB_DEVICE static unsigned size() { return lab_threads_of_block(); }
  LAB_DEVICE static unsigned thread_rank() { return lab_rank_in_block(); }
};
template <unsigned Size, class Parent>
struct lab_parent<thread_block_tile<Size, Parent>> : lab_tile<(Size <= 32), Size>::type {};
template <unsigned Size, class Parent>
class thread_block_tile : public lab_tile<(Size <= 32), Size>::type {
 public:
  LAB_DEVICE static unsigned meta_group_rank() { return lab_parent<Parent>::thread_rank() / Size; }
  LAB_DEVICE static unsigned meta_group_size() { return (lab_parent<Parent>::size() + Size - 1) / Size; }
};
template <unsigned Size>
class thread_block_tile<Size, void> : public lab_tile<(Size <= 32), Size>::type {
  unsigned number, count;

 public:
  template <class Parent>
  LAB_DEVICE thread_block_tile(const thread_block_tile<Size, Parent>& tile)
      : number(tile.meta_group_rank()), count(tile.meta_group_size()) {}
  LAB_DEVICE unsigned meta_group_rank() const { return number; }
  LAB_DEVICE unsigned meta_group_size() const { return count; }
};

// ---- Partitions ----

template <unsigned Size, class Parent>
LAB_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent&) { return {}; }
LAB_DEVICE coalesced_group lab_partition(unsigned lanes, unsigned size) {
  const unsigned number = __popc(lanes & lab_lanes_below()) / size, of = __popc(lanes);
  unsigned part = 0, rank = 0;
  for (unsigned rest = lanes; rest; rest &= rest - 1, rank++)
    if (rank / size == number) part |= rest & -rest;
  return coalesced_group(part, number, (of + size - 1) / size);
}
LAB_DEVICE thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (parent.lab_is_block()) {
    const unsigned first = lab_lane() & ~(size - 1), left = lab_threads_of_block() - (lab_rank_in_block() & ~31u);
    const unsigned there = left < 32 ? (1u << left) - 1 : 0xffffffffu;  // the last warp of a block may be incomplete
    return thread_group::lab_of_lanes(there & (size >= 32 ? 0xffffffffu : ((1u << size) - 1) << first));
  }
  return lab_partition(__activemask(), size);
}
LAB_DEVICE coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  return lab_partition(parent.lab_lanes(), size);
}
template <class Group, class Label>
LAB_DEVICE coalesced_group labeled_partition(const Group& group, Label label) {
  const unsigned lanes = __match_any_sync(group.lab_lanes(), label);
  // The groups are numbered by their first lanes.
  const unsigned firsts = __ballot_sync(group.lab_lanes(), (lanes & lab_lanes_below()) == 0), first = lanes & -lanes;
  return coalesced_group(lanes, __popc(firsts & (first - 1)), __popc(firsts));
}
template <class Group>
LAB_DEVICE coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned yes = __ballot_sync(group.lab_lanes(), predicate);
  const bool both = yes != 0 && yes != group.lab_lanes();  // one of them may have no lane
  return coalesced_group(predicate ? yes : group.lab_lanes() & ~yes, predicate && both, both ? 2 : 1);
}

// ---- Grid and cluster ----

class grid_group : public thread_group {
 public:
  LAB_DEVICE grid_group() : thread_group(of_grid, 0) {}
  LAB_DEVICE static dim3 group_dim() { return gridDim; }
  LAB_DEVICE static dim3 dim_blocks() { return gridDim; }
  LAB_DEVICE static dim3 block_index() { return blockIdx; }
  LAB_DEVICE static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  LAB_DEVICE static unsigned long long block_rank() {
    return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  LAB_DEVICE bool is_valid() const { return lab_counter() != nullptr; }
  // Each block adds 1 and the first as much as makes the highest bit change once all have added.
  LAB_DEVICE void sync() const {
    lab_barrier();
    if (lab_rank_in_block() == 0) {
      unsigned* counter = lab_counter();
      const unsigned others = static_cast<unsigned>(num_blocks()) - 1;
      __threadfence();
      const unsigned before = atomicAdd(counter, block_rank() == 0 ? 0x80000000u - others : 1u);
      while (((before ^ *static_cast<volatile unsigned*>(counter)) & 0x80000000u) == 0) {
      }
      __threadfence();
    }
    lab_barrier();
  }

 private:
  // The counter in the workspace of a cooperative launch, whose address stands in two special registers.
  LAB_DEVICE static unsigned* lab_counter() {
    unsigned high, low;
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    return reinterpret_cast<unsigned*>(static_cast<unsigned long long>(high) << 32 | low) + 1;
  }
};
LAB_DEVICE grid_group this_grid() { return {}; }

#if __CUDA_ARCH__ >= 900
#define LAB_CLUSTER(NAME, REGISTER)                                            \
  LAB_DEVICE static unsigned NAME() {                                          \
    unsigned value;                                                            \
    asm("mov.u32 %0, %%" REGISTER ";" : "=r"(value));                          \
    return value;                                                              \
  }
class cluster_group {
  LAB_CLUSTER(lab_x, "cluster_ctaid.x")
  LAB_CLUSTER(lab_y, "cluster_ctaid.y")
  LAB_CLUSTER(lab_z, "cluster_ctaid.z")
  LAB_CLUSTER(lab_count_x, "cluster_nctaid.x")
  LAB_CLUSTER(lab_count_y, "cluster_nctaid.y")
  LAB_CLUSTER(lab_count_z, "cluster_nctaid.z")

 public:
  struct arrival_token {};
  LAB_CLUSTER(block_rank, "cluster_ctarank")
  LAB_CLUSTER(num_blocks, "cluster_nctarank")
  LAB_DEVICE static dim3 block_index() { return dim3(lab_x(), lab_y(), lab_z()); }
  LAB_DEVICE static dim3 dim_blocks() { return dim3(lab_count_x(), lab_count_y(), lab_count_z()); }
  LAB_DEVICE static unsigned thread_rank() { return block_rank() * lab_threads_of_block() + lab_rank_in_block(); }
  LAB_DEVICE static unsigned num_threads() { return num_blocks() * lab_threads_of_block(); }
  LAB_DEVICE static unsigned size() { return num_threads(); }
  LAB_DEVICE static arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return {};
  }
  LAB_DEVICE static void barrier_wait() { __cluster_barrier_wait(); }
  LAB_DEVICE static void barrier_wait(arrival_token) { __cluster_barrier_wait(); }
  LAB_DEVICE static void sync() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
  template <class Type>
  LAB_DEVICE static Type* map_shared_rank(Type* at, int rank) {
    Type* there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(at), "r"(rank));
    return there;
  }
  LAB_DEVICE static unsigned query_shared_rank(const void* at) {
    unsigned rank;
    asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(at));
    return rank;
  }
};
LAB_DEVICE cluster_group this_cluster() { return {}; }
#endif

// ---- Functions of any group ----

template <class Group>
LAB_DEVICE void sync(const Group& group) { group.sync(); }
template <class Group>
LAB_DEVICE auto thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group>
LAB_DEVICE auto group_size(const Group& group) { return group.size(); }
template <class Group, class Function, class... Arguments>
LAB_DEVICE void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(arguments...);
}
template <class Group, class Function, class... Arguments>
LAB_DEVICE auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments) {
  decltype(function(arguments...)) value;
  if (group.thread_rank() == 0) value = function(arguments...);
  return group.shfl(value, 0);
}

}  // namespace cooperative_groups
