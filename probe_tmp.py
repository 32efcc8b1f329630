import numpy as np, cupy as cp, sys, os
from dataclasses import replace
from gemm_lab import compiling
src=open('gpu_simulator/timing/microbenchmarks.cu').read()
big=cp.zeros(3<<30,cp.uint8); to=cp.zeros(64<<20,cp.uint8)
props=cp.cuda.runtime.getDeviceProperties(0); print(props['name'],props['multiProcessorCount'],flush=True)
SM=props['multiProcessorCount']
def one(kind,loads,stages,share,dram,blocks=None,threads=256,turns=48):
    blocks=blocks or SM
    cfg=dict(KIND=kind,LOADS=loads,THREADS=threads,STAGES=stages,SHARE=share)
    c=compiling.compile(src,config=cfg,arch='sm_90a',name='probe')
    mod=cp.RawModule.__new__(cp.RawModule) if False else cp.cuda.function.Module(); mod.load(c.cubin); f=mod.get_function('gemm')
    bytes_=loads*threads*16; smem=bytes_*stages if kind in(1,2) else 0
    if smem>48*1024:
        from cuda.bindings import driver as d
        cp.cuda.driver
        try: cp.cuda.driver.funcSetAttribute
        except AttributeError: pass
        d.cuFuncSetAttribute(d.CUfunction(f.ptr),d.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,smem)
    groups=-(-blocks//share)
    span=groups*bytes_
    region=(2<<30)//span*span if dram else max((24<<20)//span,2)*span
    out=cp.zeros(blocks*turns,cp.uint32)
    args=(np.uint64(big.data.ptr),np.uint64(to.data.ptr),np.uint64(out.data.ptr),np.int64(region),np.int64(span),np.int32(turns))
    if kind==3: args=(np.uint64(big.data.ptr),np.uint64(to.data.ptr),np.uint64(out.data.ptr),np.int64(min(region,48<<20)),np.int64(span),np.int32(turns))
    for _ in range(3 if not dram else 1): f((blocks,1,1),(threads,1,1),args,shared_mem=smem)
    cp.cuda.Device().synchronize()
    t=out.get().reshape(blocks,turns).astype(float)
    rest=t[:,8:]
    return bytes_,np.median(rest),np.percentile(rest,90),rest.mean(),bytes_/rest.mean(), smem
def show(label,*a,**k):
    try: b,med,p90,mean,rate,_=one(*a,**k); print(f"{label:40s} bytes {b:6d} median {med:7.0f} p90 {p90:7.0f} mean {mean:7.0f}  {rate:6.1f} B/cycle",flush=True)
    except Exception as e: print(label,repr(e)[:200],flush=True)
for dram in (0,1):
  for share in (1,12,132):
    for loads in (1,2,4,8,12): show(f"LDG dram{dram} share{share}",0,loads,1,share,dram)
for loads in (1,4,8): show("LDG one block",0,loads,1,1,0,blocks=1)
for loads in (1,4,8): show("LDG 128 threads",0,loads,1,12,0,threads=128)
for dram in (0,1):
  for share in (1,12):
    for loads,st in ((1,1),(2,1),(4,1),(8,1),(12,1),(4,3),(8,3),(8,4)): show(f"cp.async dram{dram} share{share} stages{st}",1,loads,st,share,dram)
for loads in (1,4,8): show("cp.async one block",1,loads,1,1,0,blocks=1)
for dram in (0,1):
  for share in (1,4,12,132):
    for loads,st in ((1,1),(4,1),(8,1),(12,1),(8,2),(8,4),(12,4)): show(f"TMA dram{dram} share{share} stages{st}",2,loads,st,share,dram)
for loads in (1,4,8): show("TMA one block",2,loads,1,1,0,blocks=1)
for loads in (1,4,8,16): show(f"STG",3,loads,1,1,0)
