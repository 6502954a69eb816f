"""The driver of the benchmarks: measuring, peers, data, checks and reports. Workloads are in bench/workloads."""
