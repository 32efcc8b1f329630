
    if (const int ahead = k_tile + NUM_STAGES * STEP_K; ahead < K) { fetch(stage); }
    asm volatile("cp.async.commit_group;" ::: "memory");
    stage = (stage + 1) % NUM_STAGES;
    asm volatile("cp.async.wait_group %0;" :: "n"(NUM_STAGES - 1) : "memory");
    if (K - k_tile > STEP_K) convert(stage, 1 - tile);
