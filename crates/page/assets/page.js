// The page: its parts in order, each from the results.

/** What a click on a point does. */
const hint = (at) => (links?.byKey.has(at.key) ? "a click shows its links below" : null);

let links = null;

function drawHead() {
  byId("title").textContent = data.title;
  document.title = data.title;
  const [only] = data.results;
  byId("summary").append(several ? factTable() : factList(only.facts));
}

/** The facts of several results side by side. */
function factTable() {
  const names = [];
  for (const { facts } of data.results) {
    facts.forEach(({ name }, at) => {
      if (!names.includes(name)) names.splice(at ? names.indexOf(facts[at - 1].name) + 1 : 0, 0, name);
    });
  }
  const value = (result, name) => result.facts.find((fact) => fact.name === name)?.value ?? "";
  const tableColumns = [plain("", (name) => name, { number: false }),
    ...data.results.map((result) => plain(result.label, (name) => value(result, name), { number: false }))];
  return new Table({ columns: tableColumns, rows: names, tall: false, sorts: false }).place;
}

const factList = (facts) =>
  element("dl", { class: "facts" }, ...facts.flatMap(({ name, value }) => [element("dt", {}, name), element("dd", {}, value)]));

const KINDS = { deadlock: "Deadlock", livelock: "Livelock", stuck: "Stuck", unfinished: "Not finished", "not-steady": "Not steady", imprecise: "Imprecise", good: "Good" };

function drawVerdict() {
  const section = byId("verdict");
  data.results.forEach((result) => {
    if (several) section.append(element("h3", {}, result.label));
    for (const { kind, text } of result.verdicts) {
      section.append(element("p", { class: `verdict ${kind}` }, element("b", {}, `${KINDS[kind]}:`), `${text}.`));
    }
    if (result.deadlocks.length) {
      section.append(element("details", {}, element("summary", {}, "who waits for whom"),
        ...result.deadlocks.flatMap(({ point: number, time_ns: time, cycle }) =>
          [element("p", {}, `Point ${number}, at ${timeText(time * TIMES.ns)}:`), element("pre", {}, cycle.join("\n"))])));
    }
    if (result.warnings.length) {
      section.append(element("details", { id: "warnings" }, element("summary", {}, counted(result.warnings.length, "warning")),
        element("ul", {}, ...result.warnings.map((warning) => element("li", {}, warning)))));
    }
  });
  drawSeries(section);
}

/** A line a series: how far it is steady. */
function drawSeries(section) {
  const rows = data.results.flatMap((result) => result.series.map((line) => ({ ...line, label: result.label })));
  if (!rows.length) return;
  const has = (key) => rows.some((row) => row[key] !== null);
  const load = (title, key, options) => (has(key) ? [plain(title, (row) => row[key], { text: (value) => value.toFixed(4), ...options })] : []);
  const columns = [
    ...(several ? [plain("result", (row) => row.label, { number: false })] : []),
    plain("series", (row) => row.series || "all points", { number: false }),
    plain("loads", (row) => row.points),
    ...load("steady up to load", "steady_to"),
    ...load("not steady from load", "not_steady_from", { mood: () => "warn" }),
    ...load("deadlock from load", "deadlock_from", { mood: () => "bad" }),
    ...load("sustains load", "sustained"),
    ...load("does not sustain", "not_sustained"),
    ...load("accepts at most", "accepted_most"),
    ...(has("lowest_latency") ? [plain("mean packet latency at the lowest load", (row) => row.lowest_latency, { text: (value) => timeText(value * TIMES.ns) })] : []),
  ];
  section.append(new Table({ caption: "Each series", columns, rows }).place);
}

function drawCurves() {
  const section = byId("curves");
  if (!loadCurves.length) return;
  section.hidden = false;
  const controls = element("div", { class: "controls" });
  if (figures.length > 1) {
    const options = [...figures.map((name) => [name, name || "others"]), ["*", "all of them"]];
    controls.append(chooser("figure", options, view.figure, (name) => {
      view.figure = name === "*" ? null : name;
      drawLegend();
      tell("curves");
    }));
  }
  const units = columns.filter(({ role }) => role === "load");
  if (units.length > 1) {
    controls.append(chooser("over", units.map(({ name, title, unit }) => [name, unit ? `${title} (${unit})` : title]), view.over, (name) => {
      view.over = name;
      tell("curves");
    }));
  }
  const all = (hidden) => () => {
    view.hidden = new Set(hidden ? loadCurves.map((curve) => curve.key) : []);
    drawLegend();
    tell("curves");
  };
  controls.append(element("button", { type: "button", click: all(false) }, "show all curves"), element("button", { type: "button", click: all(true) }, "hide all"));
  const filled = (role) => columns
    .filter((column) => column.role === role && loadCurves.some((curve) => curve.points.some((at) => at.value(column.name) !== null)))
    .map(({ name }) => name);
  const charts = [["latency", "latency"], ["throughput", "throughput"]]
    .map(([title, role]) => [title, filled(role)])
    .filter(([, quantities]) => quantities.length)
    .map(([title, quantities]) => new Chart(title, quantities).place);
  section.append(controls, element("div", { id: "legend", role: "group", "aria-label": "Curves" }),
    element("div", { class: "charts" }, ...charts),
    element("p", { class: "soft screen" }, "A click in the legend hides a curve, with Shift all others. Dragging, or Ctrl and the wheel, zooms; a double click "
      + "shows the whole range. Hollow points and dashed lines: not steady, the value depends on how long was simulated; at the upper edge: "
      + "the first load of a curve that is not steady, its value lies beyond. "
      + "Bands and whiskers: 95% confidence intervals."));
  drawLegend();
  tell("curves");
}

function drawLegend() {
  byId("legend").replaceChildren(...figureCurves().map((curve) => {
    const emphasize = (on) => () => {
      view.emphasis = on && !view.hidden.has(curve.key) ? curve.key : undefined;
      tell("pointed");
    };
    return element("button", {
      type: "button",
      "data-curve": curve.key,
      "aria-pressed": String(!view.hidden.has(curve.key)),
      click: (event) => toggle(curve, event.shiftKey),
      pointerenter: emphasize(true),
      pointerleave: emphasize(false),
    }, swatch(curve), curve.name);
  }));
}

/** Hides a curve or shows it again; with `only` all others. */
function toggle(curve, only) {
  const others = figureCurves().filter((one) => one !== curve);
  view.emphasis = undefined;
  if (only) {
    const alone = !view.hidden.has(curve.key) && others.every((one) => view.hidden.has(one.key));
    view.hidden = new Set(alone ? [] : others.map((one) => one.key));
  } else if (!view.hidden.delete(curve.key)) view.hidden.add(curve.key);
  const held = document.activeElement?.dataset?.curve;
  drawLegend();
  if (held) byId("legend").querySelector(`[data-curve="${CSS.escape(held)}"]`)?.focus();
  tell("curves");
}

function drawValues() {
  if (!singles.length) return;
  const section = byId("values");
  section.hidden = false;
  if (allPoints.length === 1) {
    const [only] = allPoints;
    const filled = columns.filter(({ role, name }) => role !== "label" && only.value(name) !== null && name !== "digest");
    // How long it took comes first, where it has an end.
    filled.sort((a, b) => (b.role === "completion") - (a.role === "completion"));
    section.append(factList(filled.map((column) =>
      ({ name: column.title, value: worded(only.value(column.name), column) }))));
    return;
  }
  const quantities = columns.filter(({ role, name }) => ["completion", "latency", "throughput"].includes(role)
    && singles.some((curve) => curve.points.some((at) => at.value(name) !== null)));
  quantities.sort((a, b) => (b.role === "completion") - (a.role === "completion"));
  section.append(new Bars(quantities.map(({ name }) => name)).place);
}

function drawLinks() {
  if (!data.results.some((result) => result.links.points.length)) return;
  byId("links").hidden = false;
  links = new Links();
  byId("links").append(links.place);
}

/** Figures of results that have a single point. */
function drawFigures() {
  const section = byId("figures");
  for (const result of data.results) {
    for (const { title, svg } of result.pictures) {
      section.hidden = false;
      const name = named(several ? result.label : "", title);
      section.append(element("h3", {}, name));
      const source = `data:image/svg+xml,${encodeURIComponent(svg)}`;
      section.append(element("img", { src: source, alt: name, class: "ranks" }));
    }
  }
}

/** What the ranks of applications did, a picture a point. */
function drawRanks() {
  const section = byId("ranks");
  for (const result of data.results) {
    for (const { name, svg } of result.ranks) {
      section.hidden = false;
      const title = [several ? result.label : "", name].filter(Boolean).join(", ");
      if (title) section.append(element("h3", {}, title));
      const source = `data:image/svg+xml,${encodeURIComponent(svg)}`;
      section.append(element("img", { src: source, alt: "What each rank did most over time", class: "ranks" }));
    }
  }
}

const MOODS = { "not steady": "warn", deadlock: "bad", livelock: "bad", stuck: "bad" };

/** The colour of a row's state. */
const moodOf = (name, state) => (name === "status" ? MOODS[state] : null);

/** A row highlights its point and its links, and is highlighted with them. */
function tie(line, key) {
  line.dataset.point = key;
  line.tabIndex = 0;
  line.addEventListener("click", () => choose(key));
  line.addEventListener("keydown", (event) => {
    if (event.key === "Enter") choose(key);
  });
  line.addEventListener("pointerenter", () => point(key));
  line.addEventListener("pointerleave", () => point(null));
  dressLine(line);
}

/** Keeps a table's rows highlighted as the points are. */
const follow = (table) => watch((what) => {
  if (what !== "curves") [...table.body.children].forEach(dressLine);
});

/** A row a workload, of points that have several. */
function drawWorkloads() {
  const rows = data.results.flatMap((result, number) =>
    result.workloads.map(({ point: place, cells }) => ({ point: points[number][place], cells })));
  if (!rows.length) return;
  const section = byId("workloads");
  section.hidden = false;
  let wide = false;
  const label = (row) => data.results[row.point.result].label;
  const differs = (name) => new Set(rows.map((row) => row.point.value(name))).size > 1;
  const places = ["series", "point", "repetition"].filter(differs);
  const placed = places.map((name) => plain(name, (row) => row.point.value(name), { number: false }));
  const ofWorkload = data.workload_columns.map((column, at) => ({
    ...column,
    unit: unitOf(column),
    number: column.role !== "label" || column.name === "nodes",
    value: (row) => row.cells[at],
    cell: (row) => shown(row.cells[at], column),
    mood: (row) => moodOf(column.name, row.cells[at]),
  }));
  const tableColumns = () => [
    ...(several ? [plain("result", label, { number: false })] : []),
    ...placed,
    ...ofWorkload.filter(({ usual }) => wide || usual),
  ];
  const table = new Table({ columns: tableColumns(), rows, dress: (line, row) => tie(line, row.point.key) });
  follow(table);
  const text = () => csv([
    [...(several ? ["result"] : []), ...places, ...ofWorkload.map(({ name }) => name)],
    ...rows.map((row) => [...(several ? [label(row)] : []), ...places.map((name) => row.point.value(name)), ...row.cells]),
  ]);
  const copying = element("button", { type: "button", click: () => copy(text(), copying) }, "copy as CSV");
  section.append(element("div", { class: "controls" }, check("all columns", false, (on) => {
    wide = on;
    table.setColumns(tableColumns());
  }), copying, element("button", { type: "button", click: () => save(text(), "workloads.csv", "text/csv") }, "save as CSV")), table.place);
}

/** Who slows whom: a matrix a point, the slowed workload in the row. */
function drawSlowdowns() {
  const section = byId("workloads");
  data.results.forEach((result, number) => {
    for (const place of new Set(result.slowdowns.map(({ point }) => point))) {
      const found = result.slowdowns.filter(({ point }) => point === place);
      const slowed = [...new Set(found.map(({ workload }) => workload))];
      const beside = [...new Set(found.map((row) => row.beside))];
      const at = (one, other) => found.find((row) => row.workload === one && row.beside === other)?.slowdown;
      const text = (value) => (value === undefined ? "" : value.toFixed(3));
      const point = points[number][place];
      const named = allPoints.length > 1 ? `, ${point.series || `point ${place}`}` : "";
      section.append(new Table({
        caption: `Times as long as alone, beside one other workload${named}`,
        columns: [
          plain("slowed", (row) => row, { number: false }),
          ...beside.map((other) => plain(other, (row) => at(row, other), { text })),
        ],
        rows: slowed,
        tall: false,
      }).place);
    }
  });
}

/** A row a failure, of points in which something fails several times. */
function drawFailures() {
  const rows = data.results.flatMap((result, number) =>
    result.failures.flatMap(({ point: place, rows: of }) => of.map((row) => ({ ...row, point: points[number][place] }))));
  if (!rows.length) return;
  const section = byId("failures");
  section.hidden = false;
  const us = (value) => (value === null ? "" : value.toFixed(3));
  const count = (title, name) => plain(title, (row) => row[name]);
  const time = (title, name) => plain(title, (row) => row[name], { unit: "us", text: us });
  const table = new Table({
    columns: [
      ...(several ? [plain("result", (row) => data.results[row.point.result].label, { number: false })] : []),
      ...(allPoints.length > 1 ? [plain("point", (row) => row.point.series || `point ${row.point.value("point")}`, { number: false })] : []),
      time("time", "time_us"),
      count("packets under way", "packets_under_way"),
      count("packets lost", "packets_lost"),
      count("messages lost", "messages_lost"),
      time("interruption", "interruption_us"),
      time("recovery", "recovery_us"),
    ],
    rows,
    dress: (line, row) => tie(line, row.point.key),
  });
  follow(table);
  section.append(table.place);
}

function drawPoints() {
  const section = byId("points");
  let wide = false;
  let series = "*";
  let words = "";
  const labelled = { name: "result", title: "result", value: (row) => data.results[row.result].label, cell: (row) => data.results[row.result].label };
  const tableColumns = () => [
    ...(several ? [labelled] : []),
    ...columns.filter((column) => (wide || column.usual) && (column.name !== "series" || allPoints.some((row) => row.series))).map((column) => ({
      name: column.name,
      title: column.title,
      unit: unitOf(column),
      number: column.role !== "label" || column.name === "point" || column.name === "seed",
      value: (row) => (column.name === "seed" ? Number(row.value("seed")) : row.value(column.name)),
      cell: (row) => shown(row.value(column.name), column),
      mood: (row) => moodOf(column.name, row.status),
    })),
  ];
  const nameOf = (row) => named(several ? data.results[row.result].label : "", row.series);
  const rows = () => {
    const cells = tableColumns().map((column) => column.cell);
    return allPoints.filter((row) => (series === "*" || nameOf(row) === series)
      && (words === "" || cells.some((cell) => String(cell(row)).toLowerCase().includes(words))));
  };
  const table = new Table({ columns: tableColumns(), rows: allPoints, dress: (line, row) => tie(line, row.key) });
  follow(table);
  const names = [...new Set(allPoints.map(nameOf))];
  const search = element("input", {
    type: "search",
    "aria-label": "Rows with these words",
    placeholder: "rows with\u2026",
    input: () => {
      words = search.value.toLowerCase();
      table.setRows(rows());
    },
  });
  const text = () => csv([[...(several ? ["result"] : []), ...columns.map(({ name }) => name)],
    ...rows().map((row) => [...(several ? [data.results[row.result].label] : []), ...row.cells])]);
  const copying = element("button", { type: "button", click: () => copy(text(), copying) }, "copy as CSV");
  const controls = element("div", { class: "controls" });
  if (names.length > 1) {
    controls.append(chooser("series", [["*", "all"], ...names.map((name) => [name, name || "unnamed"])], "*", (name) => {
      series = name;
      table.setRows(rows());
    }));
  }
  controls.append(search, check("all columns", false, (on) => {
    wide = on;
    table.setColumns(tableColumns());
  }), copying, element("button", { type: "button", click: () => save(text(), "points.csv", "text/csv") }, "save as CSV"));
  section.append(controls, table.place);
}

function dressLine(line) {
  const same = (key) => key !== null && curvePointOf.get(key)?.points.some((at) => at.key === line.dataset.point);
  line.classList.toggle("pointed", Boolean(same(view.pointed)));
  line.classList.toggle("chosen", Boolean(same(view.chosen)));
}

function drawScenario() {
  const section = byId("scenario");
  const given = data.results.filter((result) => result.scenario);
  if (!given.length) return;
  section.hidden = false;
  if (several) {
    if (data.contrasts.length) {
      const value = (at) => (row) => row.values[at] ?? "\u2013";
      const tableColumns = [plain("key", (row) => row.key, { number: false }),
        ...data.results.map((result, at) => plain(result.label, value(at), { number: false }))];
      section.append(new Table({ caption: "What differs", columns: tableColumns, rows: data.contrasts }).place);
    } else if (given.length === data.results.length) section.append(element("p", {}, "The scenarios do not differ."));
  }
  for (const result of given) {
    const copying = element("button", { type: "button", click: () => copy(result.scenario, copying) }, "copy");
    section.append(element("details", {}, element("summary", {}, named(several ? result.label : "", "scenario.toml, every value written out")),
      element("div", { class: "controls" }, copying, element("button", { type: "button", click: () => save(result.scenario, "scenario.toml", "text/plain") }, "save")),
      element("pre", {}, result.scenario)));
  }
}

function drawProvenance() {
  const section = byId("provenance");
  data.results.forEach((result, number) => {
    if (several) section.append(element("h3", {}, result.label));
    const seeds = [...new Set(points[number].map((row) => row.value("seed")))];
    const digests = points[number].map((row) => row.value("digest")).filter((digest) => digest);
    const facts = [
      ["simulated by", result.version ? `flitlab ${result.version}` : "a version of flitlab that is not known"],
      [seeds.length > 1 ? "seeds" : "seed", seeds.length > 12 ? `${seeds.length} different ones` : seeds.join(", ")],
      ["points", grouped(points[number].length)],
      ["digest", digests.length === 1 ? digests[0] : "one a point, in the table of points (all columns)"],
    ];
    section.append(factList(facts.map(([name, value]) => ({ name, value }))));
    if (result.commands.length) {
      section.append(element("p", {}, "The same again, to the last bit, from the scenario above saved as scenario.toml, with the files that it names beside it:"),
        element("pre", { class: "commands" }, result.commands.join("\n")));
    }
  });
  section.append(element("p", {}, `This page is made by flitlab ${data.flitlab}:`), element("pre", { class: "commands" }, data.command));
}

function drawContents() {
  for (const section of document.querySelectorAll("main > section:not([hidden])")) {
    byId("contents").append(element("a", { href: `#${section.id}` }, section.querySelector("h2").textContent));
  }
}

drawHead();
drawVerdict();
drawLinks();
drawCurves();
drawValues();
drawFigures();
drawTimeline();
drawPhases();
drawRanks();
drawPairs();
drawWorkloads();
drawSlowdowns();
drawFailures();
drawPoints();
drawScenario();
drawProvenance();
drawContents();

// On paper everything is open.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) {
    details.open = true;
    details.dataset.closed = "";
  }
});
addEventListener("afterprint", () => {
  for (const details of document.querySelectorAll("details[data-closed]")) {
    details.open = false;
    delete details.dataset.closed;
  }
});
