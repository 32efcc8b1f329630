# The lab in a container: for macOS, and for machines without Python.
#   docker build -t gemm-lab .                          # no GPU
#   docker build -t gemm-lab --build-arg EXTRA=cuda13 .  # NVIDIA GPU, driver for CUDA 13
#   docker run --rm -p 8888:8888 gemm-lab               # add --gpus all for the GPU; open the address it prints
FROM python:3.11-slim

RUN apt-get update \
 && apt-get install -y --no-install-recommends git make \
 && rm -rf /var/lib/apt/lists/*

# uid 1000: the usual first user of a Linux host, so that a mounted folder stays writable.
RUN useradd --create-home --uid 1000 learner

WORKDIR /gemm_lab
COPY . .

# cuda12, cuda13 or nothing; a list such as cuda13,torch works too.
ARG EXTRA=""
RUN pip install --no-cache-dir -e ".${EXTRA:+[$EXTRA]}" \
 && chown -R learner:learner /gemm_lab

# With --gpus all: compute for CUDA, utility for the clocks and the power that NVML reads.
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility

USER learner
RUN find notebooks -name '*.ipynb' -exec jupyter trust {} +

EXPOSE 8888
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--port=8888", "--no-browser", \
     "--ServerApp.root_dir=/gemm_lab", "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb"]
