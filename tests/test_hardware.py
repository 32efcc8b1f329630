"""The GPU table agrees with itself and has sources; errors, configuration, detection work without a GPU."""

import ctypes
import re
from pathlib import Path

import platformdirs
import pytest
from platformdirs.macos import MacOS

from gemm_lab import compiling, config
from gemm_lab.catalog import UnknownKernel
from gemm_results import data_folders
from gemm_results.errors import LabError
from gpu_runner import settings
from gpu_simulator.errors import ConfigError, LaunchError, MissingDependency, SimulatorError, SizeError
from gpu_simulator.hardware.data_sheets import GPUS, arch_of, detect, gpu


def test_the_six_gpus():
    assert list(GPUS) == ["t4", "a100", "rtx5090", "h100", "h200", "b200"]
    assert all(card.key == key for key, card in GPUS.items())


@pytest.mark.parametrize("card", GPUS.values(), ids=GPUS)
def test_every_figure_has_a_source(card):
    for name in card.__dataclass_fields__:
        if name not in ("key", "sources") and getattr(card, name) is not None:
            assert card.sources.get(name), f"{card.key}.{name} has no source"


@pytest.mark.parametrize(
    "key, flop_per_clock_and_sm, mhz, types",
    [
        ("t4", 1024, 1590, ("f16", "f16")),
        ("a100", 2048, 1410, ("bf16", "f32")),
        ("rtx5090", 1024, 2407, ("f16", "f16")),
        ("rtx5090", 512, 2407, ("bf16", "f32")),
        ("h100", 4096, 1830, ("bf16", "f32")),
    ],
)
def test_peaks_follow_from_sms_and_clock(key, flop_per_clock_and_sm, mhz, types):
    card = gpu(key)
    assert card.peak(*types) == pytest.approx(card.sms * flop_per_clock_and_sm * mhz / 1e6, rel=0.003)


@pytest.mark.parametrize("key, lanes", [("t4", 64), ("a100", 64), ("rtx5090", 128), ("h100", 128), ("h200", 128)])
def test_fp32_peaks_follow_from_lanes_and_clock(key, lanes):
    card = gpu(key)
    assert card.fp32_tflops == pytest.approx(card.sms * lanes * 2 * card.boost_mhz / 1e6, rel=0.006)


def test_accumulating_in_fp32_halves_a_geforce_only():
    assert gpu("rtx5090").peak("f16", "f16") == 2 * gpu("rtx5090").peak("f16", "f32") == 419.0
    for key in ("t4", "a100", "h100", "h200"):
        assert gpu(key).peak("f16", "f16") == gpu(key).peak("f16", "f32")


def test_tf32_has_half_the_peak_of_16_bits():
    for card in GPUS.values():
        if ("tf32", "f32") in card.tensor_tflops:
            assert card.peak("tf32", "f32") == pytest.approx(card.peak("bf16", "f32") / 2, rel=0.001)


def test_shared_memory_limits():
    kib = {k: (c.smem_per_block / 1024, c.smem_per_sm / 1024) for k, c in GPUS.items()}
    assert kib == {
        "t4": (64, 64),
        "a100": (163, 164),
        "rtx5090": (99, 100),
        "h100": (227, 228),
        "h200": (227, 228),
        "b200": (227, 228),
    }
    assert all(c.smem_per_sm - c.smem_reserved_per_block == c.smem_per_block for c in GPUS.values())


def test_an_h200_says_the_same_of_itself():
    """Attributes that the driver of an NVIDIA H200 (driver 580, CUDA 13.0) reported."""
    h200 = gpu("h200")
    assert (h200.sms, h200.boost_mhz, h200.power_w) == (132, 1980, 700)
    assert (h200.smem_per_block, h200.smem_per_sm, h200.smem_reserved_per_block) == (232_448, 233_472, 1024)
    assert h200.l2_mb * 2**20 == 62_914_560
    assert (h200.registers_per_sm, h200.max_threads_per_sm, h200.max_blocks_per_sm) == (65_536, 2048, 32)
    assert h200.dram_gbps == pytest.approx(2 * 3201e6 * 6016 / 8 / 1e9, rel=0.004)  # memory clock, bus width


def test_the_t4_has_32_banks_but_moves_64_bytes_a_clock():
    t4 = gpu("t4")
    assert (t4.smem_banks, t4.bank_bytes, t4.smem_bytes_per_clock) == (32, 4, 64)
    ideal = t4.sms * t4.smem_bytes_per_clock * t4.boost_mhz / 1000
    assert 0.85 < t4.smem_measured_gbps / ideal < 1


def test_measured_stays_below_the_data_sheet():
    for card in GPUS.values():
        assert card.dram_measured_gbps is None or card.dram_measured_gbps < card.dram_gbps


def test_a_missing_peak_names_what_exists():
    with pytest.raises(SimulatorError, match="No tensor-core peak.*bf16.*Tesla T4.*f16 with f16"):
        gpu("t4").peak("bf16", "f32")


@pytest.mark.parametrize(
    "name, key",
    [
        ("T4", "t4"),
        ("Tesla T4", "t4"),
        ("NVIDIA H200", "h200"),
        ("h200", "h200"),
        ("NVIDIA B200", "b200"),
        ("NVIDIA GeForce RTX 5090", "rtx5090"),
        ("RTX5090", "rtx5090"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA A100-SXM4-40GB", "a100"),
    ],
)
def test_names_of_the_driver(name, key):
    assert gpu(name).key == key


@pytest.mark.parametrize(
    "name",
    [
        "",
        "V100",
        "NVIDIA GB200",
        "NVIDIA T400",
        "NVIDIA H100 PCIe",
        "NVIDIA H200 NVL",
        "NVIDIA H200 MIG 1g.18gb",
        "NVIDIA GeForce RTX 5090 D",
        "NVIDIA GeForce RTX 5090 Laptop GPU",
        "NVIDIA GeForce RTX 5080",
    ],
)
def test_other_gpus_are_not_mistaken_for_ours(name):
    with pytest.raises(SimulatorError, match="known are t4, a100, rtx5090, h100, h200, b200"):
        gpu(name)


@pytest.mark.parametrize(
    "major, minor, arch",
    [
        (7, 5, "sm_75"),
        (8, 0, "sm_80"),
        (8, 9, "sm_89"),
        (9, 0, "sm_90a"),
        (10, 0, "sm_100a"),
        (10, 3, "sm_103a"),
        (12, 0, "sm_120a"),
    ],
)
def test_architecture_of_a_compute_capability(major, minor, arch):
    assert arch_of(major, minor) == arch
    assert all(re.fullmatch(r"sm_\d+a?", card.arch) for card in GPUS.values())


class FakeDriver:
    """The entry points of libcuda that `detect` uses, for one device."""

    def __init__(self, name=b"NVIDIA H200", sms=132, capability=(9, 0), devices=1, status=0):
        self.attributes = {16: sms, 75: capability[0], 76: capability[1]}
        self.name, self.devices, self.status = name, devices, status

    def cuInit(self, flags):
        return self.status

    def cuDeviceGetCount(self, out):
        out._obj.value = self.devices
        return 0

    def cuDeviceGet(self, out, ordinal):
        return 0

    def cuDeviceGetName(self, buffer, length, device):
        buffer.value = self.name
        return 0

    def cuDeviceTotalMem_v2(self, out, device):
        out._obj.value = 150_754_820_096
        return 0

    def cuDriverGetVersion(self, out):
        out._obj.value = 13000
        return 0

    def cuDeviceGetAttribute(self, out, number, device):
        out._obj.value = self.attributes[number]
        return 0


@pytest.fixture
def driver(monkeypatch):
    def install(library):
        monkeypatch.setattr(ctypes, "CDLL", library if callable(library) else lambda name: library)
        detect.cache_clear()
        return detect()

    yield install
    detect.cache_clear()


def test_detect_reads_the_driver(driver):
    found = driver(FakeDriver())
    assert (found.name, found.arch, found.sms, found.driver) == ("NVIDIA H200", "sm_90a", 132, (13, 0))
    assert found.memory_gb == 150.8 and found.gpu is gpu("h200")


def test_detect_knows_no_figures_for_a_slice_or_a_stranger(driver):
    assert driver(FakeDriver(sms=16)).gpu is None
    assert driver(FakeDriver(name=b"NVIDIA L4", sms=58, capability=(8, 9))).arch == "sm_89"


def test_detect_is_none_without_driver_or_device(driver):
    def missing(name):
        raise OSError(f"{name}: cannot open shared object file")

    assert driver(missing) is None
    assert driver(FakeDriver(devices=0)) is None
    assert driver(FakeDriver(status=999)) is None
    assert driver(object()) is None  # a library without the entry points


def test_detect_asks_once(driver):
    first = driver(FakeDriver())
    assert detect() is first


@pytest.mark.parametrize("kind", [UnknownKernel, SizeError, ConfigError, LaunchError, MissingDependency])
def test_errors_are_sentences(kind):
    error = kind("K = 100 < 128; use K = 128.")
    assert isinstance(error, SimulatorError)
    assert str(error) == "K = 100 < 128; use K = 128."
    assert "100 &lt; 128" in error._repr_html_()


def test_data_dir_of_this_checkout():
    assert (config.data_dir("results") / "published.csv").is_file()


def test_data_dir_of_an_installed_wheel(tmp_path, monkeypatch):
    packages = tmp_path / "lib" / "site-packages"
    (packages / "gemm_lab/data/images").mkdir(parents=True)
    (packages.parent / "results").mkdir()  # somebody else's folder
    monkeypatch.setattr(data_folders, "PACKAGE", packages / "gemm_results")
    assert config.data_dir("images") == packages / "gemm_lab/data/images"
    with pytest.raises(LabError, match="'results' is missing"):
        config.data_dir("results")


def test_data_dir_of_an_unknown_folder():
    with pytest.raises(ConfigError, match="kernels, images, results, notebooks"):
        config.data_dir("../etc")


def test_cache_and_state_are_made(tmp_path, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert config.cache_dir() == tmp_path / "cache" and config.cache_dir().is_dir()
    assert config.state_dir() == tmp_path / "state" / "gemm_lab" and config.state_dir().is_dir()


def test_a_cache_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GEMM_LAB_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ConfigError, match="set GEMM_LAB_CACHE"):
        config.cache_dir()


@pytest.mark.parametrize(("variable", "kind"), [("XDG_CACHE_HOME", "cache"), ("XDG_STATE_HOME", "state")])
def test_a_folder_is_where_the_system_keeps_such_folders_unless_an_earlier_release_made_one(
    variable, kind, tmp_path, monkeypatch
):
    monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(platformdirs, "PlatformDirs", MacOS)
    before = tmp_path / config.BEFORE[kind] / "gemm_lab"
    monkeypatch.setattr(config.sys, "platform", "linux")
    assert config.home_folder(variable, kind) == before
    monkeypatch.setattr(config.sys, "platform", "darwin")
    found = config.home_folder(variable, kind)
    assert "Library" in found.parts and found == Path(getattr(MacOS("gemm_lab", False), f"user_{kind}_dir"))
    before.mkdir(parents=True)
    assert config.home_folder(variable, kind) == before
    monkeypatch.setenv(variable, str(tmp_path / "own"))
    assert config.home_folder(variable, kind) == tmp_path / "own" / "gemm_lab"


@pytest.mark.parametrize("home", ["a file", "read-only", "unknown"])
def test_without_a_cache_in_the_home_kernels_are_kept_until_the_session_ends(home, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("GEMM_LAB_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    if home == "a file":
        (tmp_path / "home").write_text("")
    elif home == "read-only":
        monkeypatch.setattr(config.os, "access", lambda path, mode: False)  # whoever runs as root may write anywhere
    else:
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError()))
    config._temporary_cache.cache_clear()
    try:
        assert compiling.compile('extern "C" __global__ void gemm() {}', arch="sm_75").entry == "gemm"
        folder = config.cache_dir()
        assert list(folder.glob("compiled/*.kernel")) and tmp_path not in folder.parents
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and f"kept in {folder} until this session ends" in said
    finally:
        config._temporary_cache.cache_clear()
    assert not folder.exists()


def test_folders_of_nobodys_home_are_a_sentence(monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    for variable in ("GEMM_LAB_CACHE", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    with pytest.raises(ConfigError, match="home folder is not known; set XDG_STATE_HOME"):
        config.state_dir()
    monkeypatch.setenv("GEMM_LAB_CACHE", "~nobody-of-this-name/cache")
    with pytest.raises(ConfigError, match="set GEMM_LAB_CACHE to a folder"):
        config.cache_dir()


def test_backend_and_timeout(monkeypatch):
    monkeypatch.delenv("GEMM_LAB_BACKEND", raising=False)
    monkeypatch.delenv("GEMM_LAB_TIMEOUT_S", raising=False)
    assert config.backend() == "auto" and settings.timeout_s(7.0) == 7.0
    monkeypatch.setenv("GEMM_LAB_BACKEND", "Simulator")
    monkeypatch.setenv("GEMM_LAB_TIMEOUT_S", "2.5")
    assert config.backend() == "simulator" and settings.timeout_s(7.0) == 2.5


@pytest.mark.parametrize("seconds", ["0", "-3", "soon", "nan", "inf"])
def test_wrong_timeouts(monkeypatch, seconds):
    monkeypatch.setenv("GEMM_LAB_TIMEOUT_S", seconds)
    with pytest.raises(ConfigError, match="number of seconds"):
        settings.timeout_s(7.0)


@pytest.mark.parametrize("sms", ["-1", "0", "many", "²", "1.5", "99999999999"])
def test_wrong_multiprocessors(monkeypatch, sms):
    monkeypatch.setenv("GEMM_LAB_SMS", sms)
    with pytest.raises(ConfigError, match="number of multiprocessors such as 4"):
        config.sms()


def test_wrong_backend(monkeypatch):
    monkeypatch.setenv("GEMM_LAB_BACKEND", "tpu")
    with pytest.raises(ConfigError, match="auto, gpu or simulator"):
        config.backend()
