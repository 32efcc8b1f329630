# The lab in a container: for macOS, and for machines without Python.
#   docker build -t gemm-lab .                          # no GPU
#   docker build -t gemm-lab --build-arg EXTRA=cuda13 .  # NVIDIA GPU, driver for CUDA 13
#   docker run --rm -p 127.0.0.1:8888:8888 gemm-lab     # add --gpus all for the GPU; open the address it prints
#
# The image holds packages under NVIDIA's own licence, the CUDA Toolkit End User License Agreement
# (docs.nvidia.com/cuda/eula): nvidia-cuda-nvrtc, -runtime, -crt, -cccl, -nvdisasm and -cuobjdump, and with EXTRA=cuda12
# or cuda13 nvidia-cublas. Read it before you give an image to others. cuda-bindings is Apache-2.0, CuPy MIT.
#
# The base image is named by its digest, so that a tag that moves changes nothing. A newer one:
# docker buildx imagetools inspect python:3.12-slim-bookworm
FROM python:3.12.7-slim-bookworm@sha256:60d9996b6a8a3689d36db740b49f4327be3be09a21122bd02fb8895abb38b50d

# Debian's archive keeps one version of a package, so a version named here would soon be gone.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends git make \
 && rm -rf /var/lib/apt/lists/*

# uid 1000: the usual first user of a Linux host, so that a mounted folder stays writable.
RUN useradd --create-home --uid 1000 learner

WORKDIR /gemm_lab
COPY locks locks

# EXTRA: cuda12, cuda13 or nothing. TORCH=1 adds torch, a large download, for the baseline `inductor` beside cuda13.
ARG EXTRA=""
ARG TORCH=""
COPY tools/install.py tools/
RUN PIP_NO_CACHE_DIR=1 python tools/install.py "${EXTRA:-lab}" ${TORCH:+--torch} --packages-alone

COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation --editable ./packages/gpu_simulator --editable ./packages/gemm_lab_lessons --editable ./packages/gemm_lab_classroom --editable . \
 && chown -R learner:learner /gemm_lab

# With --gpus all: compute for CUDA, utility for the clocks and the power that NVML reads.
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility

USER learner
RUN python -m gemm_lab.trust notebooks

EXPOSE 8888
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--port=8888", "--no-browser", \
     "--ServerApp.root_dir=/gemm_lab", "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb"]
