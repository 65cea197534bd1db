"""Draws a curve of latency and throughput, beside that of another routing.

    python examples/python/curve.py

It needs the package only (`pip install .`), and writes the figure into the present folder.
"""

import flitlab

SCENARIO = """
name = "curve"
title = "An 8x8 torus, uniform traffic"

[topology.torus]
dimensions = [8, 8]

[traffic]
pattern = "uniform"
load = 0.1

[measure]
maximum_windows = 40

[sweep]
past_saturation = 1

[sweep.grid]
traffic.load = { from = 0.1, to = 0.9, step = 0.1 }
routing = ["angara", "adaptive"]
"""

result = flitlab.sweep(SCENARIO)
points = result.points
unit = points.units["packet_latency_mean_ns"]
for series, load, latency in zip(
    points["series"], points["accepted_load"], points["packet_latency_mean_ns"]
):
    print(f"{series:16} accepted load {load:.3f}  mean packet latency {latency:6.0f} {unit}")
path = result.figures["latency"].save("curve.svg")
print(f"the curve is in {path.resolve()}, all results are in {result.folder}")
