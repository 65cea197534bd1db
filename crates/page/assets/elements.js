// Elements, numbers and texts: what every part of the page uses.

/** An element with attributes (functions are listeners) and children. Texts become text, never HTML. */
function element(name, attributes = {}, ...children) {
  return furnish(document.createElement(name), attributes, children);
}

/** The same for SVG. */
function shape(name, attributes = {}, ...children) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function furnish(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const byId = (id) => document.getElementById(id);

/** A labelled list to choose from; `options` are pairs of value and text. */
function chooser(label, options, chosen, changed) {
  const list = element("select", { change: () => changed(list.value) });
  for (const [value, text] of options) list.append(element("option", { value }, text));
  list.value = chosen;
  return element("label", {}, label, list);
}

/** A labelled check box. */
function check(label, checked, changed) {
  const box = element("input", { type: "checkbox", change: () => changed(box.checked) });
  box.checked = checked;
  return element("label", {}, box, label);
}

/** About so many significant digits, without an exponent where that is short. */
function significant(value, digits = 4) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-4) return value.toExponential(digits - 1);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return String(Number(value.toFixed(Math.min(decimals, 12))));
}

/** Units of time and how many picoseconds they have. */
const TIMES = { ps: 1, ns: 1e3, "\u00b5s": 1e6, ms: 1e9, s: 1e12 };

/** The unit in which a time, in picoseconds, has one to three digits before the point. */
function timeUnit(time) {
  const size = Number(Math.abs(time).toPrecision(4));
  return Object.keys(TIMES).findLast((name) => TIMES[name] <= size) ?? "ps";
}

/** A time, in picoseconds, to four digits and more: `585.8 ms`. Of another time's digits with `like`. */
function timeText(time, like = time, more = 0) {
  if (like === 0) return "0";
  const unit = timeUnit(like);
  const before = Math.floor(Math.log10(Math.max(1, Number((Math.abs(like) / TIMES[unit]).toPrecision(4)))));
  return `${(time / TIMES[unit]).toFixed(unit === "ps" ? 0 : 3 - before + more)} ${unit}`;
}

/** Bytes in decimal units. */
function bytesText(bytes) {
  const unit = ["GB", "MB", "kB"].find((_, at) => bytes >= 1000 ** (3 - at));
  return unit ? `${significant(bytes / { kB: 1e3, MB: 1e6, GB: 1e9 }[unit], 3)} ${unit}` : `${bytes} B`;
}

const isTime = (column) => column.unit in TIMES;

/** A column's value as people read it, a time with its unit; loads to four decimals. */
function shown(value, column) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (isTime(column)) return timeText(value * TIMES[column.unit]);
  if (column.name.endsWith("_load")) return value.toFixed(4);
  if (Number.isInteger(value)) return grouped(value);
  return significant(value);
}

/** A whole number in groups of three digits. */
const grouped = (value) =>
  Math.abs(value) < 10000 ? String(value) : String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");

/** The same with its unit, and half of its interval, if it has one. */
function worded(value, column, half = null) {
  const more = (text) => (half === null ? "" : ` \u00b1 ${text}`);
  if (isTime(column)) {
    const [time, width] = [value, half].map((it) => it * TIMES[column.unit]);
    return timeText(time) + more(timeText(width, time));
  }
  return `${shown(value, column)}${more(shown(half, column))}${column.unit ? ` ${column.unit}` : ""}`;
}

/** The unit in the title of a table's column: times have theirs in each cell. */
const unitOf = (column) => (isTime(column) ? "" : column.unit);

const percent = (share) => `${(100 * share).toFixed(1)}%`;

/** `1 point`, `3 points`. */
const counted = (count, one, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

/** Says something to those who do not see it. */
function announce(text) {
  byId("announcements").textContent = text;
}

/** Shows a heading and lines ([name, value, is the main one]) beside a place in the window. */
function showTip(heading, lines, { x, y }, note) {
  const tip = byId("tip");
  const rows = lines.map(([name, value, main]) =>
    element("tr", main ? { class: "main" } : {}, element("th", {}, name), element("td", {}, value)));
  tip.replaceChildren(element("h4", {}, heading), element("table", {}, ...rows),
    note ? element("p", { class: "soft" }, note) : null ?? "");
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const right = x + 16 + width > innerWidth ? Math.max(4, x - 16 - width) : x + 16;
  const top = y + 16 + height > innerHeight ? Math.max(4, y - 16 - height) : y + 16;
  tip.style.left = `${right}px`;
  tip.style.top = `${top}px`;
}

function hideTip() {
  byId("tip").hidden = true;
}

/** Puts text on the clipboard; a page opened as a file may need the older way. */
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { class: "unseen" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  button.textContent = "copied";
  announce("copied");
  setTimeout(() => (button.textContent = before), 1200);
}

/** Offers text as a file. */
function save(text, name, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Rows of texts and numbers as CSV. */
function csv(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",") + "\n").join("");
}

// What is drawn by a script takes its colours from the page; on paper they are those of paper. This
// comes before other listeners.
addEventListener("beforeprint", () => document.documentElement.classList.add("paper"));
addEventListener("afterprint", () => document.documentElement.classList.remove("paper"));
