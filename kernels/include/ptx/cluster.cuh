// Clusters: blocks that run at the same time on neighbouring multiprocessors, reach each other's shared memory and wait
// for each other. PTX ISA, "Cluster of Cooperative Thread Arrays", "mapa", "barrier.cluster". sm_90 and later.
#pragma once
#include "config.cuh"

// This block's number within its cluster.
__device__ __forceinline__ uint32_t cluster_ctarank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// Where block `rank` has what this block has at `shared`: an address for instructions with .shared::cluster.
__device__ __forceinline__ uint32_t mapa(uint32_t shared, uint32_t rank) {
  uint32_t address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared), "r"(rank));
  return address;
}

// Every thread of every block waits for all that have not ended; what they wrote to shared memory before is seen after.
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The two halves of cluster_sync: what stands between them runs while the others are still on their way.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

// Orders nothing but what a fence before it does, such as fence_mbarrier_init after the inits.
__device__ __forceinline__ void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// An arrival at an mbarrier of any block of the cluster, given mapa's address.
__device__ __forceinline__ void mbarrier_arrive_cluster(uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(barrier) : "memory");
}

// The same with the scope that PTX takes when none is written, the block. By its letter this orders nothing between blocks;
// on H100 and H200 it does, and CUTLASS relies on it. With .cluster, ptxas puts MEMBAR.ALL.GPU before each arrival.
__device__ __forceinline__ void mbarrier_arrive_remote(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" :: "r"(barrier) : "memory");
}
