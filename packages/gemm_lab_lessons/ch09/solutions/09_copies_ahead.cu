    if (k_tile + NUM_STAGES * STEP_K < K) fetch(stage);       // this thread has rounded what lay there
    cp_async_commit();
    stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
    cp_async_wait<NUM_STAGES - 1>();                          // the next tile's chunks have come
    if (k_tile + STEP_K < K) convert(stage, tile ^ 1);
