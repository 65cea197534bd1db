"""Writes a trace of ten million operations, to measure how long it takes to read, and how much memory.

    python3 benches/large_traces.py FOLDER simgrid|simgrid-shared|liballprof|chakra

benches/runs/ has what was measured.
"""

import sys
from pathlib import Path


def simgrid(folder, shared):
    """1000 ranks; each exchanges 4 KiB with its neighbours and computes, 3333 times."""
    ranks, rounds = 1000, 3333
    out = open(folder / "all.txt", "w") if shared else None
    for rank in range(ranks):
        up, down = (rank + 1) % ranks, (rank - 1) % ranks
        turn = f"{rank} irecv {down} 0 4096\n{rank} isend {up} 0 4096\n{rank} waitall\n{rank} compute 1000\n"
        file = out or open(folder / f"t{rank}.txt", "w")
        file.write(f"{rank} init\n{turn * rounds}{rank} finalize\n")


def liballprof(folder):
    """The same, with times in microseconds."""
    ranks, rounds = 1000, 3333
    for rank in range(ranks):
        up, down = (rank + 1) % ranks, (rank - 1) % ranks
        with open(folder / f"trace-{rank}.txt", "w") as file:
            file.write("MPI_Init:-:1:2:0\n")
            for at in range(0, 10 * rounds, 10):
                file.write(
                    f"MPI_Irecv:{at}:5:4096:1,1,1:{down}:0:0,{rank},{ranks}:160:{at}\n"
                    f"MPI_Isend:{at}:5:4096:1,1,1:{up}:0:0,{rank},{ranks}:168:{at}\n"
                    f"MPI_Waitall:{at}:2:160:0:{at + 9}\n"
                )
            file.write(f"MPI_Finalize:{10 * rounds}:-\n")


def varint(number):
    bytes_ = bytearray()
    while number > 127:
        bytes_.append(number & 127 | 128)
        number >>= 7
    return bytes(bytes_ + bytes([number]))


def chakra(folder):
    """Four ranks with 2.5 million computations each, of which each needs the one before."""
    with open(folder / "x.0.et", "wb") as file:
        file.write(b"\x07\x0a\x051.0.0")
        for number in range(2_500_000):
            before = varint(number - 1) if number else b""
            node = b"\x08" + varint(number) + b"\x18\x04\x2a" + varint(len(before)) + before + b"\x38\x01"
            file.write(varint(len(node)) + node)
    first = (folder / "x.0.et").read_bytes()
    for rank in range(1, 4):
        (folder / f"x.{rank}.et").write_bytes(first)


folder, which = Path(sys.argv[1]), sys.argv[2]
folder.mkdir(parents=True, exist_ok=True)
{
    "simgrid": lambda: simgrid(folder, False),
    "simgrid-shared": lambda: simgrid(folder, True),
    "liballprof": lambda: liballprof(folder),
    "chakra": lambda: chakra(folder),
}[which]()
