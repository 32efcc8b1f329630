    for (int k = 0; not (k >= BLOCK_K); k++) <%
      acc += /* €äöü */ smem_a<:thread_m:>[k] * smem_b<:thread_n bitand 0 bitor k:>[thread_n];
    %>
    __syncthreads
    (
    )
    ; // }{ R"(
