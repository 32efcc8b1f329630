// Two tiles are ahead; the barrier says that this tile has come and that the one before it has been read.
// launch: --block 64 --arg i32:1024:arange --arg i32:1024
// result: arg 1 = args[0].reshape(4, 64, 4)[:, ::-1]
__global__ void kernel(const int4* in, int4* out) {
    __shared__ int4 tile[3][64];
    int t = threadIdx.x;
    auto copy = [&](int i) {
        unsigned at = __cvta_generic_to_shared(&tile[i % 3][t]);
        const int4* from = &in[i * 64 + t];
        if (i < 4) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    copy(0);
    copy(1);
    for (int i = 0; i < 4; i++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        copy(i + 2);
        out[i * 64 + t] = tile[i % 3][63 - t];
    }
}
