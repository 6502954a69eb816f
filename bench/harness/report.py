"""The table of bench/RESULTS.md and the ratios of bench/smoke.json."""
import datetime
import json

from harness import machine

ORDER = ("flink", "duckdb", "chdb", "polars", "pyarrow", "kcat", "curl")


def seconds(value):
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def ratio(value):
    return f"{value:.1f}×" if value < 100 else f"{value:.0f}×"


def rate(case):
    if not case.rows or not case.ours.samples:
        return "–"
    million = case.rows / case.ours.median("wall_s") / 1e6
    return f"{million:.2f} M/s" if million < 100 else f"{million:.0f} M/s"


def peer_cell(case):
    cells = [f"{name} {seconds(case.peers[name].median('wall_s'))} s: **{ratio(case.wall_ratio(name))}**, {ratio(case.cpu_ratio(name))}"
             + (f" ({len(case.peers[name].samples)})" if len(case.peers[name].samples) != len(case.ours.samples) else "")
             for name in sorted(case.peers, key=lambda name: ORDER.index(name) if name in ORDER else 99)]
    cells += [f"{name}: fails ({reason})" for name, reason in case.failures.items()]
    return "; ".join(cells) or "–"


def line(case):
    share = case.share() if case.ours.samples or case.own_wall_s else None
    bound = f"{100 * share:.0f} % of {case.limit_name}" if share else "–"
    note = "; ".join(filter(None, [case.note, ", ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
                                                       for key, value in case.extra.items())]))
    ours = "– | – | – | –"
    if case.ours.samples:
        ours = (f"{seconds(case.ours.median('wall_s'))} ± {100 * case.ours.spread():.0f} % ({len(case.ours.samples)}) | {rate(case)} | "
                f"{seconds(case.ours.median('cpu_s'))} | {case.ours.median('peak_mib'):.0f}")
    return (f"| {case.workload} | {case.name} | {f'{case.rows:,}' if case.rows else '–'} | {ours} | {peer_cell(case)} | {bound} | {note or '–'} |")


HEAD = """| | workload | rows | Sluice s | rows | CPU s | peak MiB | peer s: wall ratio, rows per CPU-second ratio | share of the limit | notes |
|---|---|---|---|---|---|---|---|---|---|"""


def table(cases):
    return "\n".join([HEAD] + [line(case) for case in cases])


def as_json(case):
    """What is kept of a case: enough for the table of a later run that measures only others."""
    return {"workload": case.workload, "name": case.name, "line": line(case), "load": case.load,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")}


def ratios(case):
    """The figures that are compared from run to run: they depend less on the machine than times."""
    if not case.ours.samples:
        return {}
    found = {f"{peer} wall": round(case.wall_ratio(peer), 3) for peer in case.peers}
    if case.share():
        found["limit"] = round(case.share(), 4)
    return found


def moved(cases, recorded, band):
    """Lines that tell which ratios lie outside the band around the recorded ones, and whether one of them became worse."""
    lines, worse = [], False
    for case in cases:
        before = recorded.get(f"{case.workload} {case.name}", {})
        for key, value in ratios(case).items():
            old = before.get(key)
            if old is None:
                lines.append(f"new     {case.workload} {case.name}: {key} {value}")
            elif value < old / band or value > old * band:
                lines.append(f"{'worse ' if value < old else 'better'}  {case.workload} {case.name}: {key} {old} -> {value}")
                worse |= value < old / band
    return lines, worse


def record(cases):
    return {f"{case.workload} {case.name}": ratios(case) for case in cases}


def document(entries, options, how):
    """RESULTS.md from the kept cases of one or several runs."""
    lines = ["# Results", "", how, "", f"Machine: {machine.describe(options.work)}.", "", HEAD, *[entry["line"] for entry in entries], ""]
    dates = sorted({entry["date"][:10] for entry in entries})
    lines += [f"Measured on {', '.join(dates)}; load of the machine before each case "
              f"{min(e['load'] for e in entries):.1f} to {max(e['load'] for e in entries):.1f}.", ""]
    return "\n".join(lines)


def load_json(path):
    return json.loads(path.read_text()) if path.exists() else {}
