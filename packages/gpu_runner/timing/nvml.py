"""Reads the clock, the power and the temperature of the GPU from NVML, between launches."""

from __future__ import annotations

from typing import Any


class Gauge:
    """NVML's readings of one GPU, found by its PCI bus id so that CUDA_VISIBLE_DEVICES is respected.

    Without `nvidia-ml-py`, or if NVML cannot be used, the readings are empty.
    """

    def __init__(self, bus_id: str):
        try:
            import pynvml

            pynvml.nvmlInit()
            self._nvml, self._gpu = pynvml, pynvml.nvmlDeviceGetHandleByPciBusId(bus_id.encode())
        except Exception:  # the package is missing, or NVML cannot be used on this machine
            self._nvml = None

    def read(self) -> dict[str, float]:
        """{"sm_clock_mhz", "power_w", "temperature_c"}, without those that NVML does not give.

        The power is the driver's running average.
        """
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
        """{"gpu": name, "driver": version, "power_limit_w"}, without those that NVML does not give."""
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
