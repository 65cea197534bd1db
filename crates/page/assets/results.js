// The results: points, curves, and what of them is shown at the moment.

const data = JSON.parse(byId("data").textContent);
const several = data.results.length > 1;
const columns = data.columns;
const columnOf = new Map(columns.map((column, at) => [column.name, { ...column, at }]));

const STEADY = new Set(["steady", "completed"]);

/** A row of points.csv. */
class Point {
  constructor(result, place) {
    this.result = result;
    this.place = place;
    this.cells = data.results[result].rows[place];
    this.key = `${result}/${place}`;
  }

  value(name) {
    const column = columnOf.get(name);
    return column ? this.cells[column.at] : null;
  }

  get series() {
    return this.value("series") ?? "";
  }

  get status() {
    return this.value("status");
  }
}

/** The runs of a series at one load: a point of its curve, the mean of them. */
class CurvePoint {
  constructor(curve, given, points) {
    this.curve = curve;
    this.status = given.status;
    this.halves = given.halves ?? {};
    this.points = given.rows.map((place) => points[place]);
    this.key = this.points[0].key;
  }

  value(name) {
    const values = this.points.map((point) => point.value(name)).filter((value) => typeof value === "number");
    return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  }

  half(name) {
    return this.halves[name] ?? null;
  }

  get steady() {
    return STEADY.has(this.status);
  }
}

const named = (...parts) => parts.filter((part) => part).join(", ");

const points = data.results.map((result, number) => result.rows.map((_, place) => new Point(number, place)));
const allPoints = points.flat();

const curves = data.results.flatMap((result, number) =>
  result.curves.map((given) => {
    const label = several ? result.label : "";
    const curve = {
      key: `${number}/${given.series}`,
      figure: given.figure,
      label,
      series: given.series,
      name: named(label, given.name) || "all points",
      fullName: named(label, given.series) || "all points",
    };
    curve.points = given.points.map((point) => new CurvePoint(curve, point, points[number]));
    return curve;
  }));

/** The curve's point that a row is part of, by the row's key. */
const curvePointOf = new Map(
  curves.flatMap((curve) => curve.points.flatMap((at) => at.points.map((point) => [point.key, at]))));

const hasLoads = allPoints.some((point) => point.value("offered_load") !== null);
const offered = hasLoads ? "offered_load" : "offered_payload_GB_per_s_per_node";

/** Curves over load; if none has two points, there is no curve to draw. */
const withLoad = curves.filter((curve) => curve.points.some((at) => at.value(offered) !== null));
const loadCurves = withLoad.some((curve) => curve.points.length > 1) ? withLoad : [];

/** What is not on a curve: finite exchanges, or lone loads. */
const singles = curves.filter((curve) => !loadCurves.includes(curve));

const figures = [...new Set(loadCurves.map((curve) => curve.figure))];

/** What is shown: the figure, the unit of offered load, curves that are hidden, and the point in question. */
const view = {
  figure: figures.length > 1 ? figures[0] : null,
  over: offered,
  hidden: new Set(),
  /** The key of a row that was chosen, and of the one under the pointer. */
  chosen: null,
  pointed: null,
};

/** Curves of the figure, hidden ones included. */
const figureCurves = () =>
  loadCurves.filter((curve) => view.figure === null || curve.figure === view.figure);

const visibleCurves = () => figureCurves().filter((curve) => !view.hidden.has(curve.key));

const watchers = [];

/** Calls a function with the name of what has changed: "curves", "chosen" or "pointed". */
const watch = (watcher) => watchers.push(watcher);

const tell = (what) => watchers.forEach((watcher) => watcher(what));

function choose(key) {
  view.chosen = view.chosen === key ? null : key;
  tell("chosen");
}

function point(key) {
  if (view.pointed === key) return;
  view.pointed = key;
  tell("pointed");
}

/** Outlines around the origin, of about equal area; they tell series apart in grey. */
const MARKERS = [
  "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z",
  "M-3.5-3.5H3.5V3.5H-3.5Z",
  "M0-5.2L4.8 3.2H-4.8Z",
  "M0-5.2L4.6 0L0 5.2L-4.6 0Z",
  "M0 5.2L4.8-3.2H-4.8Z",
  "M-4.4 0L-2.2-3.8H2.2L4.4 0L2.2 3.8H-2.2Z",
  "M-5.2 0L3.2 4.8V-4.8Z",
  "M5.2 0L-3.2 4.8V-4.8Z",
];
const CROSS = "M-5.4-3.6L-3.6-5.4L0-1.8L3.6-5.4L5.4-3.6L1.8 0L5.4 3.6L3.6 5.4L0 1.8L-3.6 5.4L-5.4 3.6L-1.8 0Z";

/** Colour and marker of a curve: of one name the same in all figures, but where all figures are in one. */
function look(curve) {
  const names = [...new Set(loadCurves.map(({ name }) => name))];
  const at = Math.max(0, view.figure === null ? loadCurves.indexOf(curve) : names.indexOf(curve.name));
  return { colour: `var(--series-${at % 7})`, marker: MARKERS[at % MARKERS.length] };
}

/** A curve's line and marker, small. */
function swatch(curve) {
  const { colour, marker } = look(curve);
  return shape("svg", { class: "swatch curve", width: 26, height: 14, viewBox: "-13 -7 26 14", "aria-hidden": "true",
    style: `--colour: ${colour}` },
    shape("path", { class: "line", d: "M-12 0H12" }), shape("path", { class: "marker", d: marker }));
}

/** What a tip says of a curve's point; the quantity in question first. */
function factsOf(at, quantity) {
  const names = [quantity, offered, "accepted_load", "completion_time_us", "bandwidth_GB_per_s_per_node",
    "packet_latency_mean_ns", "packet_latency_p50_ns", "packet_latency_p99_ns", "packet_latency_max_ns",
    "jain_fairness"];
  const lines = [];
  for (const name of new Set(names)) {
    const column = columnOf.get(name);
    const value = column ? at.value(name) : null;
    if (value === null) continue;
    const half = at.half(name);
    lines.push([column.title, worded(value, column, half), name === quantity]);
  }
  if (at.points.length > 1) lines.push(["mean of", `${at.points.length} seeds`]);
  lines.push(["state", at.status]);
  return lines;
}
