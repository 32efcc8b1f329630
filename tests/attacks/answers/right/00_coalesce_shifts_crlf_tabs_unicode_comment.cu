	// Zeile → größer
	const int	row=blockIdx.y*BLOCK_M+(threadIdx.x>>5) ;
	int col ; { col=int(threadIdx.x&31u)+blockIdx.x*BLOCK_N; }
