    #pragma unroll
    for (int r = 0; r < 4; r++) {                             // A: two neighbours of a row in each
      int row = lane / 4, k = lane % 4 * 2;
      row += r % 2 * 8;                                       // rows 8 to 15
      k += r / 2 * 8;                                         // the half of k that the second mma takes
      frag_a[r] = *reinterpret_cast<const uint32_t*>(&smem_a[row][k]);
    }
    #pragma unroll
    for (int r = 0; r < 2; r++) {                             // B: two of a column, one row apart
      half2 pair = {};
      const int k = lane % 4 * 2 + r * 8, col = lane / 4;
      pair = __halves2half2(smem_b[k][col], smem_b[k + 1][col]);
      frag_b[r] = *reinterpret_cast<const uint32_t*>(&pair);
    }
