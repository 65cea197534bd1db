"""Tests of the Python package, with unittest alone.

`cargo test --test commands the_python_package` runs them in a virtual environment of their own.
They run with any installed package, too: `FLITLAB=target/debug/flitlab python -m unittest
discover tests/python`, where FLITLAB is the command that results are compared with.
"""

import ast
import contextlib
import csv
import ctypes
import importlib.util
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import flitlab
import numpy

# Who runs tests in the background, as nohup does, lets them ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("FLITLAB", "flitlab")

SCENARIO = """
topology.torus.dimensions = [4, 4]
[traffic]
pattern = "uniform"
load = 0.1
[measure]
maximum_windows = 20
[sweep.grid]
traffic.load = [0.1, 0.3, 0.9]
"""

#: A simulation of minutes.
LONG = """
topology.torus.dimensions = [8, 8, 8]
[traffic]
pattern = "uniform"
load = 0.5
[measure]
minimum_windows = 90000
maximum_windows = 100000
"""

#: Seconds within which Ctrl-C ends anything, beside other work; without it takes 0.05.
PROMPT = 1.5

#: Packets that wait for each other: shortest ways without regard to that.
DEADLOCK = ROOT / "scenarios/nue/torus4222-minhop.toml"


def command(*words, code=0):
    """What the command does."""
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done


def without_times(found):
    """A report, or what is printed, without what differs each time, and where results are."""
    if isinstance(found, dict):
        return {key: value for key, value in found.items() if "seconds" not in key}
    return re.sub(r'"(results|\w*second\w*|\w*_ns_per\w*)": .*|time .*', "", found)


def records(path):
    """The rows of a CSV file as texts."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def same(text, value):
    """Whether a cell of a file has a value of Python."""
    if value is None:
        return text == ""
    return float(text) == value if isinstance(value, (int, float)) else text == value


class InFolder(unittest.TestCase):
    """A test in a folder of its own, which has a scenario."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        pathlib.Path("s.toml").write_text(SCENARIO)
        pathlib.Path("long.toml").write_text(LONG)

    def assert_is_file(self, table, path):
        """A table has the cells of a file."""
        rows = records(path)
        self.assertEqual(list(rows[0]), list(table), path)
        self.assertEqual(len(rows), len(table))
        for row, record in zip(rows, table.records()):
            for name, text in row.items():
                self.assertTrue(same(text, record[name]), (path, name, text, record[name]))


class Runs(InFolder):
    def test_numbers_are_those_of_the_command_to_the_last_bit(self):
        printed = json.loads(command("run", "s.toml", "--out", "c", "--json").stdout)
        result = flitlab.run("s.toml", out="p")
        self.assertEqual(result.points.column("digest"), [printed["points"][0]["digest"]])
        self.assertEqual(result.summary["points"], printed["points"])
        self.assertEqual(list(result.summary), list(printed))
        theirs = sorted(path.name for path in pathlib.Path("c").iterdir())
        self.assertEqual(sorted(path.name for path in pathlib.Path("p").iterdir()), theirs)
        for name in theirs:
            with self.subTest(name):
                one, other = (pathlib.Path(folder, name).read_bytes() for folder in "cp")
                self.assertEqual(one, other)
        for name, table in result.tables.items():
            self.assert_is_file(table, f"c/{name}.csv")
        self.assertEqual(result.status, "steady")
        self.assertEqual((result.exit_code, result.failure), (0, None))
        self.assertEqual(result.folder, pathlib.Path("p"))
        # Without a folder nothing is written, and the result can be kept later.
        again = flitlab.run("s.toml", threads=2)
        self.assertIsNone(again.folder)
        self.assertEqual(sorted(os.listdir()), ["c", "long.toml", "p", "s.toml"])
        again.save("later")
        self.assertEqual(sorted(os.listdir("later")), theirs)
        for name in theirs:
            one, other = (pathlib.Path(folder, name).read_bytes() for folder in ("c", "later"))
            self.assertEqual(one, other, name)
        with self.assertRaisesRegex(flitlab.RunError, "never replace others"):
            again.save("later")

    def test_a_path_a_text_and_a_dictionary_are_one_scenario(self):
        tables = {
            "topology": {"torus": {"dimensions": (4, 4)}},
            "traffic": {"pattern": "uniform", "load": numpy.float64(0.1)},
            "measure": {"maximum_windows": numpy.int32(20)},
            "sweep.grid": {"traffic.load": numpy.array([0.1, 0.3, 0.9])},
        }
        ways = ["s.toml", pathlib.Path("s.toml"), SCENARIO, tables]
        results = [flitlab.run(way) for way in ways]
        digests = [result.points.column("digest") for result in results]
        self.assertEqual(digests, digests[:1] * 4)
        results = [flitlab.sweep(way, out=f"out{place}") for place, way in enumerate(ways)]
        found = [result.points.records() for result in results]
        self.assertEqual(found, found[:1] * 4)

    def test_settings_are_keys_in_all_ways_of_writing_them(self):
        expected = command(
            "run", "s.toml", "--set", "traffic.load=0.3", "--set", "seed=2", "--json"
        )
        digest = json.loads(expected.stdout)["points"][0]["digest"]
        for result in [
            flitlab.run("s.toml", traffic__load=0.3, seed=2),
            flitlab.run("s.toml", {"traffic.load": 0.3}, seed=2),
            flitlab.run("s.toml", seed=numpy.int64(2), **{"traffic.load": numpy.float64(0.3)}),
            flitlab.run("s.toml", traffic={"pattern": "uniform", "load": 0.3}, seed=2),
        ]:
            self.assertEqual(result.points.column("digest"), [digest])

    def test_texts_of_any_kind_reach_the_scenario_as_they_are(self):
        title = 'a "quoted" \\ title, ünïcode 😀 [x] = { }'
        for result in [
            flitlab.run("s.toml", title=title),
            flitlab.run(
                {
                    "title": title,
                    **{"topology.torus.dimensions": [4, 4]},
                    "traffic": {"pattern": "uniform", "load": 0.1},
                    "measure": {"maximum_windows": 20},
                }
            ),
        ]:
            self.assertEqual(result.summary["title"], title)
        with self.assertRaisesRegex(TypeError, "None is no value"):
            flitlab.run("s.toml", title=None)

    def test_a_deadlock_is_a_status_and_no_error(self):
        done = command("run", str(DEADLOCK), "--out", "c", code=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = flitlab.run(DEADLOCK)
        self.assertEqual((result.status, result.exit_code), ("deadlock", 3))
        self.assertIn(result.failure, done.stderr)
        self.assertIn("deadlock", repr(result))
        self.assertEqual(len(result.summary["deadlocks"]), 1)

    def test_saturation_is_a_status_and_a_warning(self):
        with self.assertWarns(flitlab.Warning) as seen:
            result = flitlab.run("s.toml", traffic__load=0.9)
        self.assertEqual(result.status, "not steady")
        self.assertEqual(seen.filename, __file__)
        # What to set is said as keywords of Python's.
        self.assertIn(result.warnings[0].split(" Try ")[0], str(seen.warning))

    def test_what_a_result_shows(self):
        result = flitlab.run("s.toml")
        printed = command("run", "s.toml", "--out", "c").stdout.splitlines()
        # The last two lines are about time and the folder.
        self.assertEqual(str(result).splitlines()[:-1], printed[:-2])
        self.assertEqual(repr(result), "<flitlab result: steady>")
        self.assertIn("image/svg+xml", result._repr_html_())
        self.assertIn("<table>", result.points._repr_html_())
        self.assertIn("channels", result.figures)
        figure = result.figures["channels"]
        self.assertEqual(figure._repr_svg_(), pathlib.Path("c/channels.svg").read_text())
        for kind in ["svg", "pdf", "png"]:
            path = figure.save(f"figure.{kind}")
            self.assertEqual(path.read_bytes(), pathlib.Path(f"c/channels.{kind}").read_bytes())
        with self.assertRaisesRegex(flitlab.ScenarioError, "svg"):
            figure.save("figure.gif")

    def test_a_checkpoint_is_gone_on_from(self):
        keys = {"measure.window": "500 us"}
        expected = flitlab.run("s.toml", keys, threads=1)
        seen = []

        def stop_once(progress):
            if progress.done > 0 and not seen:
                seen.append(progress)
                signal.raise_signal(signal.SIGINT)

        with self.assertRaisesRegex(KeyboardInterrupt, "goes on from keep, at"):
            flitlab.run("s.toml", keys, threads=1, checkpoint="keep", progress=stop_once)
        result = flitlab.run("s.toml", keys, threads=1, checkpoint="keep")
        self.assertTrue(any("goes on from the checkpoint" in note for note in result.notes))
        self.assertEqual(result.points.records(), expected.points.records())
        self.assertFalse(os.path.exists("keep"))


class Sweeps(InFolder):
    def test_a_sweep_is_that_of_the_command(self):
        command("sweep", "s.toml", "--out", "c")
        result = flitlab.sweep("s.toml", out="p")
        for name, table in result.tables.items():
            self.assert_is_file(table, f"c/{name}.csv")
        for name in ["points.csv", "summary.json", "latency.svg", "scenario.toml"]:
            one, other = (pathlib.Path(folder, name).read_bytes() for folder in "cp")
            self.assertEqual(one, other, name)
        self.assertEqual(result.points["traffic.load"].tolist(), [0.1, 0.3, 0.9])
        self.assertEqual(result.statuses, ["steady", "steady", "not steady"])
        self.assertEqual(result.status, "mixed")
        self.assertEqual(repr(result), "<flitlab result: 3 points, mixed, in p>")
        self.assertIn("latency", result.figures)
        self.assertEqual(flitlab.sweep("s.toml").folder, pathlib.Path("results/s"))
        self.assertEqual(flitlab.sweep("s.toml").folder, pathlib.Path("results/s-2"))

    def test_an_interrupted_sweep_keeps_what_is_finished_and_goes_on(self):
        keys = {
            "topology.torus.dimensions": [8, 8],
            "sweep.grid.traffic.load": [0.1, 0.2, 0.3, 0.4],
        }
        expected = flitlab.sweep("s.toml", keys, out="whole")
        seen = []

        def stop_after_one(progress):
            seen.append(progress)
            if progress.done >= 1:
                signal.raise_signal(signal.SIGINT)

        slow = {**keys, "measure.maximum_windows": 400, "measure.window": "50 us"}
        with self.assertRaisesRegex(KeyboardInterrupt, "of 4 points are finished") as raised:
            flitlab.sweep("s.toml", slow, out="part", threads=1, progress=stop_after_one)
        self.assertIn('flitlab.sweep(..., out="part", resume=True)', str(raised.exception))
        self.assertEqual(seen[-1].total, 4)
        kept = set(pathlib.Path("part/points").glob("*.point"))
        self.assertIn(len(kept), range(1, 4))
        ages = {path: path.stat().st_mtime_ns for path in kept}
        result = flitlab.sweep("s.toml", slow, out="part", resume=True)
        self.assertEqual(len(result.points), 4)
        self.assertEqual(list(result.points), list(expected.points))
        self.assertEqual({path: path.stat().st_mtime_ns for path in kept}, ages)

    def test_a_search_for_saturation(self):
        search = SCENARIO.replace(
            "[sweep.grid]\ntraffic.load = [0.1, 0.3, 0.9]\n",
            "[sweep.saturation]\ntolerance = 0.2\n",
        )
        result = flitlab.sweep(search, out="p")
        self.assertGreater(result["saturation"]["sustained_load"][0], 0.2)
        self.assert_is_file(result["saturation"], "p/saturation.csv")


class Tables(InFolder):
    def test_columns_are_arrays_with_units(self):
        points = flitlab.run("s.toml").points
        self.assertEqual(points["packet_latency_mean_ns"].dtype, numpy.float64)
        self.assertEqual(points["events"].dtype, numpy.int64)
        self.assertEqual(points["status"].tolist(), ["steady"])
        self.assertEqual(points.units["packet_latency_mean_ns"], "ns")
        self.assertIn("mean", points.meanings["packet_latency_mean_ns"])
        self.assertTrue(numpy.isnan(points["completion_time_us"][0]))
        self.assertIsNone(points.column("completion_time_us")[0])
        self.assertIs(points["events"], points["events"])
        with self.assertRaisesRegex(ValueError, "read-only"):
            points["events"][0] = 1
        with self.assertRaisesRegex(KeyError, "did you mean 'events'"):
            points["evnts"]

    def test_a_column_without_numpy_is_a_list(self):
        script = (
            "import sys; sys.modules['numpy'] = None\n"
            "import flitlab\n"
            "points = flitlab.run('s.toml').points\n"
            "assert points.column('events')[0] > 0\n"
            "points.records(), points._repr_html_()\n"
            "points['events']\n"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertIn("pip install numpy", done.stderr.splitlines()[-1])

    def test_the_stream_of_arrow_is_well_formed(self):
        """Reads it as C does, whether there is a library for it or not."""
        for table in flitlab.run("s.toml").tables.values():
            capsule = table.__arrow_c_stream__()
            self.assertEqual(read_stream(capsule), (len(table), table.records()))
            # What nobody reads is released all the same.
            del capsule

    def test_libraries_read_tables(self):
        table = flitlab.sweep("s.toml", out="p")["channels"]
        expected = table.records()
        with self.subTest("pyarrow"):
            arrow = library("pyarrow")
            read = arrow.table(table)
            read.validate(full=True)
            self.assertEqual(read.to_pylist(), expected)
            points = arrow.table(flitlab.run("s.toml").points)
            self.assertEqual(points.schema.field("packet_latency_mean_ns").metadata[b"unit"], b"ns")
        with self.subTest("polars"):
            library("polars")
            self.assertEqual(table.to_polars().to_dicts(), expected)
        with self.subTest("pandas"):
            library("pandas")
            frame = table.to_pandas()
            self.assertEqual(frame["utilisation"].tolist(), table["utilisation"].tolist())
            self.assertEqual(frame.attrs["units"], table.units)


class Routes(InFolder):
    def test_a_table_is_that_of_the_command(self):
        for words, keys in [
            ([], {}),
            (["--algorithm", "nue", "--lanes", "2"], {"algorithm": "nue", "lanes": 2}),
            (
                ["--set", "topology.torus.dimensions=[3, 2]"],
                {"topology__torus__dimensions": [3, 2]},
            ),
        ]:
            printed = json.loads(command("route", "s.toml", "--json", *words).stdout)
            table = flitlab.route("s.toml", **keys)
            self.assertEqual(without_times(table.report), without_times(printed))
            self.assertTrue(table.deadlock_free)
        command("route", "s.toml", "--out", "figures")
        table = flitlab.route("s.toml", save="t.routes")
        self.assert_is_file(table["loads"], "figures/loads.csv")
        self.assertEqual(
            table.figures["heat-map"].svg(), pathlib.Path("figures/heat-map.svg").read_text()
        )
        self.assertEqual(len(table["routes"]), 16 * 15)
        self.assertEqual(
            flitlab.route(check="t.routes")["routes"].records(), table["routes"].records()
        )
        self.assertIn("no deadlock", repr(table))

    def test_ports_lead_to_every_destination(self):
        table = flitlab.route("s.toml", algorithm="sssp", **{"routing.agnostic.algorithm": "sssp"})
        hops, ports = table["next_hops"], table.ports
        self.assertEqual(ports.shape, (16, 16))
        self.assertTrue((numpy.diag(ports) == -1).all())
        next_router = dict(zip(zip(hops["router"], hops["terminal"]), hops["next_router"]))
        for router in range(16):
            for terminal in range(16):
                at, steps = router, 0
                while at != terminal:
                    at, steps = next_router[at, terminal], steps + 1
                    self.assertLess(steps, 16)

    def test_a_table_that_deadlocks_is_a_result_and_a_flawed_one_is_an_error(self):
        words = ["route", "s.toml", "--algorithm", "min-hop"]
        done = command(*words, code=4)
        table = flitlab.route("s.toml", algorithm="min-hop")
        self.assertFalse(table.deadlock_free)
        self.assertEqual(table.failure, done.stderr.rstrip("\n"))
        self.assertGreater(len(table.report["cycle"]), 1)
        self.assertIn("can deadlock", repr(table))
        netlist = str(ROOT / "tests/fabrics/ring5.net")
        cyclic = str(ROOT / "tests/fabrics/ring5-cyclic.lfts")
        self.assertFalse(flitlab.route(check=cyclic, netlist=netlist).deadlock_free)
        safe = ROOT / "tests/fabrics/ring5-safe.lfts"
        lines = safe.read_text().splitlines(keepends=True)
        broken = "".join(line for place, line in enumerate(lines) if place != len(lines) // 2)
        pathlib.Path("broken.lfts").write_text(broken)
        words = ["route", "--check", "broken.lfts", "--netlist", netlist]
        done = subprocess.run([COMMAND, *words], capture_output=True, text=True)
        self.assertIn(done.returncode, (2, 4))
        kind = flitlab.CheckError if done.returncode == 4 else flitlab.ScenarioError
        with self.assertRaises(kind) as raised:
            flitlab.route(check="broken.lfts", netlist=netlist)
        self.assertEqual(str(raised.exception), done.stderr.rstrip("\n"))

    def test_what_check_knows(self):
        printed = json.loads(command("check", "s.toml", "--json").stdout)
        known = flitlab.check("s.toml")
        # What a run takes is measured anew each time.
        self.assertEqual(known.pop("one_run").keys(), printed.pop("one_run").keys())
        self.assertEqual(known, printed)


class Errors(InFolder):
    def test_texts_are_those_of_the_command(self):
        several = "[traffic]\nlaod = 0.3\npattern = 'unifrom'\n"
        pathlib.Path("several.toml").write_text(several)
        pathlib.Path("taken").mkdir()
        pathlib.Path("taken/file").write_text("")
        for words, call in [
            (
                ["run", "s.toml", "--set=traffic.laod=0.3"],
                lambda: flitlab.run("s.toml", traffic__laod=0.3),
            ),
            (["run", "missing.toml"], lambda: flitlab.run("missing.toml")),
            (["run", "several.toml"], lambda: flitlab.run("several.toml")),
            (["run", "s.toml", "--out=taken"], lambda: flitlab.run("s.toml", out="taken")),
            (["run", "s.toml", "--threads=0"], lambda: flitlab.run("s.toml", threads=0)),
            (
                ["sweep", "s.toml", "--set=traffic.load=0.3"],
                lambda: flitlab.sweep("s.toml", traffic__load=0.3),
            ),
            (["sweep", "long.toml", "--set=seed=x"], lambda: flitlab.sweep("long.toml", seed="x")),
            (
                ["route", "s.toml", "--algorithm=nu"],
                lambda: flitlab.route("s.toml", algorithm="nu"),
            ),
            (["check", "several.toml"], lambda: flitlab.check("several.toml")),
        ]:
            with self.subTest(" ".join(words)):
                said = subprocess.run([COMMAND, *words], capture_output=True, text=True)
                self.assertEqual(said.returncode, 2, said.stderr)
                with self.assertRaises(flitlab.ScenarioError) as raised:
                    call()
                text, theirs = str(raised.exception), said.stderr.rstrip("\n")
                if any(word.startswith("--set") for word in words):
                    # Nobody has typed a command.
                    self.assertEqual(text.splitlines()[0], theirs.splitlines()[0])
                    self.assertIn("--> settings:1:", text)
                    self.assertNotIn("--set", text)
                else:
                    self.assertEqual(text, theirs)
                self.assertEqual(raised.exception.code, 2)
                self.assertIsInstance(raised.exception, ValueError)
        # Of a text they name its line.
        with self.assertRaisesRegex(flitlab.ScenarioError, r"scenario\.toml:2:1") as raised:
            flitlab.run(several)
        self.assertIn("did you mean `load`?", str(raised.exception))

    def test_what_is_no_scenario_is_said_by_its_type(self):
        for call in [flitlab.run, flitlab.sweep, flitlab.check]:
            with self.assertRaisesRegex(TypeError, "^None is no scenario: give a path"):
                call(None)
            with self.assertRaisesRegex(TypeError, "^bytes is no scenario: give a path"):
                call(b"s.toml")
        for number in [10**30, 10**400]:
            with self.assertRaisesRegex(flitlab.ScenarioError, "`load` is out of range"):
                flitlab.run("s.toml", traffic__load=-number)

    def test_advice_can_be_typed_here(self):
        advice = "try --set traffic.load=0.3, or --set 'sweep.grid.traffic.load=[0.1]'"
        typed = "try traffic__load=0.3, or sweep__grid__traffic__load=[0.1]"
        self.assertEqual(sys.modules["flitlab._call"].as_keywords(advice), typed)

    def test_the_native_module_of_another_crate_takes_the_place_of_this_one(self):
        own, called = flitlab._flitlab, []

        class Native:
            main = own.main

            @staticmethod
            def call(words, text, tell):
                called.append(words[0])
                return own.call(words, text, tell)

        flitlab.use(Native)
        try:
            flitlab.check(SCENARIO)
        finally:
            flitlab.use(own)
        flitlab.check(SCENARIO)
        self.assertEqual(called, ["check"])
        with self.assertRaisesRegex(TypeError, "has no `call`"):
            flitlab.use(os)

    def test_the_module_shows_what_is_its_own(self):
        self.assertEqual(command("--version").stdout, f"flitlab {flitlab.__version__}\n")
        shown = [name for name in dir(flitlab) if not name.startswith("__")]
        self.assertEqual(shown, sorted(flitlab.__all__))

    def test_what_cannot_be_written_is_an_error_of_the_run(self):
        pathlib.Path("file").write_text("")
        with self.assertRaises(flitlab.RunError) as raised:
            flitlab.run("s.toml", out="file/folder")
        done = command("run", "s.toml", "--out", "file/folder", code=1)
        self.assertEqual(str(raised.exception), done.stderr.rstrip("\n"))


def interrupt_in(seconds):
    """Presses Ctrl-C, so to say; returns when that will have been."""
    threading.Timer(seconds, os.kill, [os.getpid(), signal.SIGINT]).start()
    return time.monotonic() + seconds


class Interruptions(InFolder):
    def test_ctrl_c_ends_runs_and_sweeps_at_once_and_leaves_nothing(self):
        handler = signal.getsignal(signal.SIGINT)
        sweep = LONG + "[sweep.grid]\ntraffic.load = [0.1, 0.2, 0.3, 0.4]\n"
        for name, call in [
            ("one thread", lambda: flitlab.run("long.toml", threads=1, out="run")),
            ("two threads", lambda: flitlab.run("long.toml", threads=2)),
            ("a sweep", lambda: flitlab.sweep(sweep, out="sweep", threads=2)),
        ]:
            with self.subTest(name):
                pressed = interrupt_in(2)
                with self.assertRaises(KeyboardInterrupt):
                    call()
                self.assertLess(time.monotonic() - pressed, PROMPT)
                self.assertIs(signal.getsignal(signal.SIGINT), handler)
        # Where it was not yet simulating, it goes on until it looks.
        until = time.monotonic() + 20
        while os.listdir("run") and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(os.listdir("run"), [])
        # No thread goes on with it.
        time.sleep(0.5)
        before = time.process_time()
        time.sleep(0.5)
        self.assertLess(time.process_time() - before, 0.25)
        # Folders and locks are free.
        flitlab.run("s.toml", out="run")
        flitlab.sweep("s.toml", out="sweep2")

    def test_other_threads_go_on_and_several_runs_go_at_once(self):
        counted, over = [0], threading.Event()

        def count():
            while not over.is_set():
                counted[0] += 1
                time.sleep(0.001)

        counter = threading.Thread(target=count)
        counter.start()
        digests = []
        run = lambda: digests.append(flitlab.run("s.toml", measure__window="300 us", threads=1))
        begun = time.monotonic()
        runs = [threading.Thread(target=run) for _ in range(3)]
        for thread in runs:
            thread.start()
        for thread in runs:
            thread.join()
        seconds = time.monotonic() - begun
        over.set()
        counter.join()
        self.assertGreater(counted[0], 50 * seconds)
        self.assertEqual(len({result.points.column("digest")[0] for result in digests}), 1)

    def test_an_error_of_the_one_who_is_told_ends_the_run(self):
        def broken(progress):
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            flitlab.run("long.toml", progress=broken)

    def test_progress_is_a_line_that_is_taken_away(self):
        def shown(option):
            error = io.StringIO()
            with contextlib.redirect_stderr(error):
                flitlab.run("s.toml", measure__window="500 us", threads=1, progress=option)
            return error.getvalue()

        self.assertEqual((shown(False), shown(None)), ("", ""))
        line = shown(True)
        self.assertRegex(line, r"^\r\[=* *\] +\d+% ")
        self.assertRegex(line, r"\r *\r$")
        self.assertNotIn("\n", line)


class Commands(InFolder):
    def test_the_wheel_brings_the_command(self):
        script = pathlib.Path(sys.executable).with_name("flitlab")
        for ours in [[str(script)], [sys.executable, "-m", "flitlab"]]:
            for words, code in [
                (["--version"], 0),
                (["run", "s.toml", "--json", "--no-figures"], 0),
                (["run", "s.toml", "--set", "traffic.laod=1"], 2),
                (["route", "s.toml", "--algorithm", "min-hop"], 4),
                (["nothing"], 2),
            ]:
                theirs = command(*words, code=code)
                done = subprocess.run([*ours, *words], capture_output=True, text=True)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(without_times(done.stdout), without_times(theirs.stdout))
                self.assertEqual(done.stderr, theirs.stderr)

    def test_the_command_can_be_piped_and_interrupted(self):
        ours = [sys.executable, "-m", "flitlab"]
        head = subprocess.Popen(
            [*ours, "check", "--reference"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        head.stdout.readline()
        head.stdout.close()
        self.assertEqual((head.wait(), head.stderr.read()), (0, b""))
        head.stderr.close()
        for words, said in [
            (["run"], "nothing of the run is kept"),
            (["sweep", "--out=o"], "go on with"),
        ]:
            pathlib.Path("long.toml").write_text(LONG + "[sweep.grid]\nseed = [1, 2]\n")
            process = subprocess.Popen(
                [*ours, words[0], "long.toml", *words[1:]],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            time.sleep(2)
            pressed = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, error = process.communicate()
            self.assertLess(time.monotonic() - pressed, PROMPT)
            self.assertEqual(process.returncode, 130)
            self.assertIn(said, error)


class Pages(InFolder):
    def test_the_example_draws_a_curve_in_the_present_folder(self):
        script = ROOT / "examples/python/curve.py"
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("<svg", pathlib.Path("curve.svg").read_text())
        self.assertIn(str(pathlib.Path("curve.svg").resolve()), done.stdout)

    def test_the_notebook_runs_from_its_first_cell_to_its_last(self):
        notebook = json.loads((ROOT / "docs/flitlab.ipynb").read_text())
        self.assertEqual(notebook["nbformat"], 4)
        cells = ["".join(it["source"]) for it in notebook["cells"] if it["cell_type"] == "code"]
        self.assertGreater(len(cells), 5)
        names = {}
        for place, cell in enumerate(cells):
            with self.subTest(cell):
                run_cell(cell, f"cell {place}", names)
        self.assertEqual(names["result"].status, "steady")

    def test_the_scripts_of_the_page_run(self):
        page = (ROOT / "docs/python.md").read_text()
        scripts = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        ours = [script for script in scripts if "subprocess" not in script]
        self.assertGreater(len(ours), 5)
        pathlib.Path("scenario.toml").write_text(SCENARIO)
        names = {}
        for script in ours:
            wanted = re.findall(r"^import (\w+)", script, re.MULTILINE)
            if all(importlib.util.find_spec(name) for name in wanted):
                with self.subTest(script):
                    run_cell(script, "docs/python.md", names)

    def test_everything_public_says_what_it_is(self):
        for name in flitlab.__all__:
            self.assertTrue(getattr(flitlab, name).__doc__, name)
        self.assertTrue(pathlib.Path(flitlab.__file__).with_name("py.typed").exists())


def run_cell(text, name, names):
    """Runs a cell as a notebook does, and shows the value of its last line."""
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore", flitlab.Warning)
        exec(compile(tree, name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
            show = getattr(value, "_repr_html_", None) or getattr(value, "_repr_svg_", None)
            assert (show or value.__repr__)()


def library(name):
    """A module that may not be there."""
    if importlib.util.find_spec(name) is None:
        raise unittest.SkipTest(f"{name} is not installed")
    return importlib.import_module(name)


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
    ("private_data", ctypes.c_void_p),
]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))),
    ("private_data", ctypes.c_void_p),
]


def read_stream(capsule):
    """The rows of a stream, and all of them as dictionaries; releases all that it gives."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = Stream.from_address(pointer(capsule, b"arrow_array_stream"))
    schema, array, end = Schema(), Array(), Array()
    assert stream.get_schema(stream, schema) == 0
    assert stream.get_next(stream, array) == 0 and array.release
    assert stream.get_next(stream, end) == 0 and not end.release
    assert (schema.format, schema.n_children) == (b"+s", array.n_children)
    columns = {}
    for place in range(schema.n_children):
        field, values = schema.children[place].contents, array.children[place].contents
        columns[field.name.decode()] = read_column(field.format, values)
    rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
    length = array.length
    array.release(array)
    schema.release(schema)
    assert not array.release and not schema.release
    return length, rows


def read_column(format, array):
    at = [array.buffers[place] for place in range(array.n_buffers)]
    length = array.length
    bits = (ctypes.c_uint8 * ((length + 7) // 8)).from_address(at[0]) if length else []
    there = [bool(bits[place // 8] >> place % 8 & 1) for place in range(length)]
    assert there.count(False) == array.null_count
    if format == b"U":
        ends = (ctypes.c_int64 * (length + 1)).from_address(at[1])
        letters = ctypes.string_at(at[2], ends[length]) if ends[length] else b""
        values = [letters[ends[it] : ends[it + 1]].decode() for it in range(length)]
    else:
        kind = {b"l": ctypes.c_int64, b"g": ctypes.c_double}[format]
        values = list((kind * length).from_address(at[1])) if length else []
    return [value if here else None for value, here in zip(values, there)]


if __name__ == "__main__":
    unittest.main()
