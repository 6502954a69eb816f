"""Where things are and how large a run is."""
import dataclasses
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SLUICE_BUILD_DIR", ROOT / "build"))
SLUICE = os.environ.get("SLUICE_BINARY", str(BUILD / "sluice"))
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "sluice" / "bench"
SERVICES = ROOT / "tools" / "services"
PARALLELISM = 2
SIZES = {"tiny": 20_000, "S": 500_000, "M": 20_000_000, "L": 200_000_000}


@dataclasses.dataclass
class Settings:
    """One run of the driver."""
    rows: int  # Of a file workload; others scale with it.
    repeats: int
    peers: tuple  # Names of those that may be asked.
    flink_repeats: int
    flink_rows: int  # Flink takes ten times as long: it may have fewer.
    work: pathlib.Path  # Results and scripts, wiped.
    data: pathlib.Path  # Data sets, kept.
    python: str  # The interpreter that has the peers.

    def wants(self, peer):
        return peer in self.peers
