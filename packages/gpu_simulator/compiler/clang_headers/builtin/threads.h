// Which thread this is, barriers, fences, time, address spaces. Facts: CUDA C++ Programming Guide; PTX ISA.
#pragma once

// Reading threadIdx.x calls a function that reads the special register; the variable itself is never stored anywhere.
#define LAB_SPECIAL(NAME, REGISTER)                                            \
  struct NAME {                                                                \
    __declspec(property(get = lab_x)) unsigned x;                              \
    __declspec(property(get = lab_y)) unsigned y;                              \
    __declspec(property(get = lab_z)) unsigned z;                              \
    LAB_DEVICE static unsigned lab_x() { return __nvvm_read_ptx_sreg_##REGISTER##_x(); } \
    LAB_DEVICE static unsigned lab_y() { return __nvvm_read_ptx_sreg_##REGISTER##_y(); } \
    LAB_DEVICE static unsigned lab_z() { return __nvvm_read_ptx_sreg_##REGISTER##_z(); } \
    LAB_DEVICE operator dim3() const { return dim3(lab_x(), lab_y(), lab_z()); } \
    LAB_DEVICE operator uint3() const { return {lab_x(), lab_y(), lab_z()}; }  \
  };
LAB_SPECIAL(lab_thread, tid)
LAB_SPECIAL(lab_block, ctaid)
LAB_SPECIAL(lab_block_size, ntid)
LAB_SPECIAL(lab_grid_size, nctaid)
extern const __attribute__((device, weak)) lab_thread threadIdx;
extern const __attribute__((device, weak)) lab_block blockIdx;
extern const __attribute__((device, weak)) lab_block_size blockDim;
extern const __attribute__((device, weak)) lab_grid_size gridDim;

// ---- Barriers of a block ----

LAB_DEVICE void lab_barrier() { asm volatile("bar.sync 0;" ::: "memory"); }
#define __syncthreads() lab_barrier()
LAB_DEVICE void __barrier_sync(unsigned barrier) { asm volatile("barrier.sync %0;" ::"r"(barrier) : "memory"); }
LAB_DEVICE void __barrier_sync_count(unsigned barrier, unsigned threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
LAB_DEVICE void __syncwarp(unsigned lanes = 0xffffffffu) { asm volatile("bar.warp.sync %0;" ::"r"(lanes) : "memory"); }

LAB_DEVICE int lab_barrier_count(int predicate) {
  int count;
  asm volatile("{\n .reg .pred p;\n setp.ne.s32 p, %1, 0;\n bar.red.popc.u32 %0, 0, p;\n}"
               : "=r"(count) : "r"(predicate) : "memory");
  return count;
}
#define LAB_BARRIER_VOTE(NAME, PTX)                                            \
  LAB_DEVICE int NAME(int predicate) {                                         \
    int vote;                                                                  \
    asm volatile("{\n .reg .pred p, q;\n setp.ne.s32 p, %1, 0;\n bar.red." PTX ".pred q, 0, p;\n selp.s32 %0, 1, 0, q;\n}" \
                 : "=r"(vote) : "r"(predicate) : "memory");                    \
    return vote;                                                               \
  }
LAB_BARRIER_VOTE(lab_barrier_and, "and")
LAB_BARRIER_VOTE(lab_barrier_or, "or")
#define __syncthreads_count(predicate) lab_barrier_count(predicate)
#define __syncthreads_and(predicate) lab_barrier_and(predicate)
#define __syncthreads_or(predicate) lab_barrier_or(predicate)

LAB_DEVICE void __cluster_barrier_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
LAB_DEVICE void __cluster_barrier_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
LAB_DEVICE void __cluster_barrier_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }

// ---- Fences, time, the end ----

LAB_DEVICE void __threadfence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
LAB_DEVICE void __threadfence_block() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
LAB_DEVICE void __threadfence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
LAB_DEVICE void __nanosleep(unsigned time) { asm volatile("nanosleep.u32 %0;" ::"r"(time)); }
LAB_DEVICE void __trap() { asm volatile("trap;"); }
LAB_DEVICE void __brkpt() { asm volatile("brkpt;"); }
LAB_DEVICE long long clock64() {
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}
LAB_DEVICE int clock() {
  int cycles;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles)::"memory");
  return cycles;
}
LAB_DEVICE unsigned long long __globaltimer() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
  return time;
}
LAB_DEVICE void cudaGridDependencySynchronize() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
LAB_DEVICE void cudaTriggerProgrammaticLaunchCompletion() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

// ---- Address spaces ----

#define LAB_SPACE(NAME, NUMBER, PTX)                                           \
  LAB_DEVICE size_t __cvta_generic_to_##NAME(const void* pointer) {            \
    return reinterpret_cast<size_t>((__attribute__((address_space(NUMBER))) const char*)pointer); \
  }                                                                            \
  LAB_DEVICE void* __cvta_##NAME##_to_generic(size_t address) {                \
    return (void*)reinterpret_cast<__attribute__((address_space(NUMBER))) char*>(address); \
  }                                                                            \
  LAB_DEVICE unsigned lab_is_##NAME(const void* pointer) {                     \
    unsigned is;                                                               \
    asm("{\n .reg .pred p;\n isspacep." PTX " p, %1;\n selp.u32 %0, 1, 0, p;\n}" : "=r"(is) : "l"(pointer)); \
    return is;                                                                 \
  }
LAB_SPACE(global, 1, "global")
LAB_SPACE(shared, 3, "shared")
LAB_SPACE(constant, 4, "const")
LAB_SPACE(local, 5, "local")
#if __CUDA_ARCH__ >= 900
LAB_DEVICE unsigned __isClusterShared(const void* pointer) {
  unsigned is;
  asm("{\n .reg .pred p;\n isspacep.shared::cluster p, %1;\n selp.u32 %0, 1, 0, p;\n}" : "=r"(is) : "l"(pointer));
  return is;
}
#endif
#define __isGlobal lab_is_global
#define __isShared lab_is_shared
#define __isConstant lab_is_constant
#define __isLocal lab_is_local
