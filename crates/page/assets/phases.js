// Where the time of applications went, by phase: a bar for the critical path and one for ranks, and tables.

/** The kinds of time that are not computing. */
const EXPOSED = SPENT.map((_, kind) => kind).filter((kind) => kind > 0);

const sumOf = (times, kinds = SPENT.keys()) => [...kinds].reduce((sum, kind) => sum + times[kind], 0);

/** What a row of a phase is called. */
const phaseName = (name) => (name === "-" ? "outside of phases" : name);

/** A bar divided into computing, the communication that each phase exposes, and what is left. */
function sharesBar(title, whole, parts) {
  const left = whole - parts.reduce((sum, { time }) => sum + time, 0);
  const all = left > whole * 1e-6 ? [...parts, { name: "done before the end", time: left, colour: "transparent" }] : parts;
  const text = ({ name, time }) => `${name}: ${timeText(time)}, ${percent(time / whole)}`;
  const bar = element("div", { class: "shares", role: "img", "aria-label": `${title}: ${all.map(text).join("; ")}` },
    ...all.filter(({ time }) => time > 0).map((part) => element("span", {
      style: `width: ${(100 * part.time) / whole}%; background: ${part.colour}`,
      class: part.colour === "transparent" ? "left" : null,
      pointermove: (event) => showTip(title, [[part.name, timeText(part.time), true], ["share", percent(part.time / whole)]], { x: event.clientX, y: event.clientY }),
      pointerleave: hideTip,
    }, part.time / whole > 0.045 ? percent(part.time / whole) : "")));
  return [element("div", { class: "name" }, title), bar];
}

/** What the phases of a job took: a picture in words that need no knowledge of the simulator. */
function jobPhases(applications, job) {
  const names = applications.phases;
  const { phases, name } = job;
  const whole = job.end - job.start;
  // Those that expose most first; colours are the same in both bars.
  const sorted = phases.toSorted((one, other) => sumOf(other[1], EXPOSED) + sumOf(other[2], EXPOSED) - sumOf(one[1], EXPOSED) - sumOf(one[2], EXPOSED));
  const colour = (at) => `var(--phase-${at % 7})`;
  const parts = (which) => [
    { name: "computing", time: phases.reduce((sum, row) => sum + row[which][0], 0), colour: "var(--spent-0)" },
    ...sorted.map((row, at) => ({ name: phaseName(names[row[0]]), time: sumOf(row[which], EXPOSED), colour: colour(at) })),
  ];
  const used = [{ name: "computing", colour: "var(--spent-0)" }, ...sorted
    .map((row, at) => ({ name: phaseName(names[row[0]]), colour: colour(at), time: sumOf(row[1], EXPOSED) + sumOf(row[2], EXPOSED) }))
    .filter(({ time }) => time > 0)];
  const bars = element("div", { class: "bars" },
    ...sharesBar("critical path", whole, parts(1)), ...sharesBar("a rank, in the mean", whole, parts(2)));
  const key = element("div", { class: "kinds" }, ...used.map((part) => element("span", {}, element("i", { style: `background: ${part.colour}` }), part.name)));
  const time = (title, value) => plain(title, value, { text: (it) => (it ? timeText(it) : "\u2013") });
  const share = (title, value) => plain(title, value, { text: percent });
  const table = new Table({
    caption: "What each phase took of the critical path, and of a rank in the mean",
    columns: [plain("phase", (row) => phaseName(names[row[0]]), { number: false }),
      time("path: exposed", (row) => sumOf(row[1], EXPOSED)), share("of the path", (row) => sumOf(row[1], EXPOSED) / whole),
      time("rank: exposed", (row) => sumOf(row[2], EXPOSED)), share("of the time", (row) => sumOf(row[2], EXPOSED) / whole),
      ...SPENT.map((kind, at) => time(kind, (row) => row[2][at]))],
    rows: sorted,
    tall: false,
  });
  return element("div", { class: "phases" }, ...(name ? [element("h3", {}, name)] : []),
    element("p", {}, `The ${name ? "job" : "application"} takes ${timeText(whole)}. What of it is not computing is communication that no computing hides.`),
    bars, key, table.place, rankTable(applications, job));
}

/** What each rank waited for, by phase. */
function rankTable(applications, job) {
  const groups = new Map();
  for (const [first, last, phase, times] of job.rank_phases) {
    const key = first;
    if (!groups.has(key)) groups.set(key, { first, last, of: new Map() });
    groups.get(key).of.set(phase, times);
  }
  if (!groups.size) return null;
  const rows = [...groups.values()];
  const phases = [...new Set(job.rank_phases.map(([, , phase]) => phase))];
  let kinds = EXPOSED;
  const mean = (row, times) => times / (row.last - row.first + 1);
  const value = (row, phase) => mean(row, row.of.has(phase) ? sumOf(row.of.get(phase), kinds) : 0);
  const columns = () => [
    plain("rank", (row) => (row.first === row.last ? row.first : `${row.first} to ${row.last}`), { number: false }),
    plain("all", (row) => phases.reduce((sum, phase) => sum + value(row, phase), 0), { text: timeText }),
    ...phases.map((phase) => plain(phaseName(applications.phases[phase]), (row) => value(row, phase), { text: (it) => (it ? timeText(it) : "\u2013") })),
  ].map((column) => (column.title === "rank" ? { ...column, value: (row) => row.first } : column));
  const table = new Table({ columns: columns(), rows, most: 64 });
  const options = [["*", "all that is not computing"], ...SPENT.map((name, kind) => [String(kind), name])];
  return element("details", {}, element("summary", {}, "What each rank waited for, by phase"),
    element("div", { class: "controls" }, chooser("time of", options, "*", (chosen) => {
      kinds = chosen === "*" ? EXPOSED : [Number(chosen)];
      table.setColumns(columns());
    })), table.place);
}

function drawPhases() {
  const section = byId("phases");
  for (const result of data.results) {
    for (const applications of result.applications) {
      const jobs = applications.jobs.filter((job) => job.phases.length);
      if (!jobs.length) continue;
      section.hidden = false;
      const title = named(several ? result.label : "", applications.name);
      if (title) section.append(element("h3", {}, title));
      section.append(...jobs.map((job) => jobPhases(applications, job)));
    }
  }
}
