"""Clock, power and temperature of the GPU at work, asked of NVML between launches."""

from __future__ import annotations

from typing import Any


class Gauge:
    """Readings of one GPU, found by its PCI bus so that CUDA_VISIBLE_DEVICES is honoured.

    Without `nvidia-ml-py`, or where NVML refuses, readings are empty.
    """

    def __init__(self, bus_id: str):
        try:
            import pynvml

            pynvml.nvmlInit()
            self._nvml, self._gpu = pynvml, pynvml.nvmlDeviceGetHandleByPciBusId(bus_id.encode())
        except Exception:  # the package is missing, or this machine lets no one ask
            self._nvml = None

    def read(self) -> dict[str, float]:
        """sm_clock_mhz, power_w (the driver's running average), temperature_c; what is refused is left out."""
        if self._nvml is None:
            return {}
        nvml, found = self._nvml, {}
        for name, ask in (
            ("sm_clock_mhz", lambda: float(nvml.nvmlDeviceGetClockInfo(self._gpu, nvml.NVML_CLOCK_SM))),
            ("power_w", lambda: nvml.nvmlDeviceGetPowerUsage(self._gpu) / 1000.0),
            (
                "temperature_c",
                lambda: float(nvml.nvmlDeviceGetTemperature(self._gpu, nvml.NVML_TEMPERATURE_GPU)),
            ),
        ):
            try:
                found[name] = ask()
            except nvml.NVMLError:
                continue
        return found

    def describe(self) -> dict[str, Any]:
        """The GPU's name, the driver's version and the power limit in watts, where NVML tells."""
        if self._nvml is None:
            return {}
        nvml, found = self._nvml, {}
        for name, ask in (
            ("gpu", lambda: _text(nvml.nvmlDeviceGetName(self._gpu))),
            ("driver", lambda: _text(nvml.nvmlSystemGetDriverVersion())),
            ("power_limit_w", lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(self._gpu) / 1000.0),
        ):
            try:
                found[name] = ask()
            except nvml.NVMLError:
                continue
        return found


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
