// What the ranks of applications did over time, with the critical path over it, on a canvas.

/** Kinds of time, in the order of the data. */
const SPENT = ["compute", "host overhead", "waiting for a partner", "injection", "queueing", "flight"];

/** Times below which nothing is zoomed, in picoseconds, and how many rows are always shown. */
const SHORTEST = 1000;
const FEWEST_ROWS = 4;

/** Reads packed numbers: 7 bits a byte, the lowest first. */
class Packed {
  constructor(base64) {
    this.text = atob(base64);
    this.at = 0;
  }

  number() {
    let value = 0;
    for (let weight = 1; ; weight *= 128) {
      const byte = this.text.charCodeAt(this.at);
      this.at += 1;
      value += (byte & 127) * weight;
      if (byte < 128) return value;
    }
  }

  signed() {
    const value = this.number();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
}

/** The applications of a point: rows of ranks, bars and the path. Times are in picoseconds. */
class Applications {
  constructor(given) {
    Object.assign(this, given);
    let first = 0;
    for (const job of this.jobs) {
      job.first = first;
      first += job.ranks;
    }
    this.rows = first;
    this.start = Math.min(...this.jobs.map((job) => job.start));
    this.end = Math.max(...this.jobs.map((job) => job.end));
    this.readBars();
    this.readPath();
  }

  readBars() {
    const { count, data: packed } = this.bars;
    const from = new Packed(packed);
    Object.assign(this.bars, {
      start: new Float64Array(count), end: new Float64Array(count), kind: new Uint8Array(count),
      operation: new Uint32Array(count), peer: new Int32Array(count).fill(-1), several: new Map(),
    });
    // By row: its first bar, and the one behind its last.
    const { bars } = this;
    bars.ofRow = Array.from({ length: this.rows }, () => [0, 0]);
    let [row, end] = [0, 0];
    for (let at = 0; at < count; at += 1) {
      const flags = from.number();
      if (flags & 8) {
        row += from.signed();
        end = from.number();
        if (!bars.ofRow[row][1]) bars.ofRow[row][0] = at;
      }
      bars.ofRow[row][1] = at + 1;
      bars.start[at] = end * this.unit;
      end += from.number();
      bars.end[at] = end * this.unit;
      bars.kind[at] = flags & 7;
      bars.operation[at] = from.number();
      if (flags & 32) bars.peer[at] = row - this.jobOf(row).first + from.signed();
      if (flags & 16) {
        const [pieces, mask, shares] = [from.number(), from.number(), Array(SPENT.length).fill(0)];
        shares.forEach((_, kind) => {
          if (mask & (1 << kind)) shares[kind] = from.number() / 100;
        });
        bars.several.set(at, { pieces, shares });
      }
    }
  }

  /** The path as steps: each with what it was spent on, and from which row to which it leads. */
  readPath() {
    const from = new Packed(this.path.data);
    const steps = [];
    let [rank, time, job, place] = [0, 0, null, 0];
    for (let at = 0; at < this.path.count; at += 1) {
      const flags = from.number();
      if (flags & 8) {
        job = this.jobs[from.number()];
        time = from.number();
      }
      const start = time;
      time += from.number();
      rank += from.signed();
      const step = { job, start, end: time, kind: flags & 7, rank, operation: from.number(), peer: from.number() - 1, pieces: 1 };
      const begins = Boolean(flags & 8);
      // Where the path is already, which is the receiver if that answers.
      step.from = begins ? rank : place;
      step.to = flags & 16 ? rank + from.signed() : rank;
      step.message = Boolean(flags & 16);
      if (flags & 32) step.heldUp = { channel: this.channels[from.number()], time: from.number() };
      if (flags & 64) step.pieces = from.number();
      if (!step.message) step.from = rank;
      steps.push(step);
      const last = steps.at(-2);
      // A message's way is one line, though its time has several parts.
      const goesOn = last && !begins && last.message && step.message && last.to === step.to && last.operation === step.operation
        && last.peer === step.peer && last.rank === step.rank && step.kind >= last.kind;
      step.line = goesOn ? last.line : { start, from: step.from, to: step.to };
      step.line.end = time;
      step.from = step.line.from;
      place = step.to;
    }
    this.path.steps = steps;
  }

  jobOf(row) {
    return this.jobs.findLast((job) => job.first <= row);
  }

  /** The number of the bar of a row at a time; -1 if there is none. */
  barAt(row, time) {
    const { start, end, ofRow } = this.bars;
    const [first, last] = ofRow[row] ?? [0, 0];
    const at = firstWhere(first, last, (it) => end[it] > time);
    return at < last && start[at] <= time ? at : -1;
  }

  /** What an operation is, in words. */
  operationText(number, peer) {
    const [, action, bytes] = this.operations[number];
    if (action === "compute" || !action) return action;
    const other = peer < 0 ? "any rank" : `rank ${peer}`;
    const from = action === "receive" || action === "get";
    return `${action} ${bytesText(bytes)} ${from ? "from" : "to"} ${other}`;
  }

  phaseOf(operation) {
    return this.operations[operation][0];
  }

  /** How long the critical path of a job is. */
  pathLength(job) {
    return this.path.steps.reduce((sum, step) => sum + (step.job === job ? step.end - step.start : 0), 0);
  }
}

/** The first number of a range for which something holds, from which on it does. */
function firstWhere(first, last, holds) {
  let [low, high] = [first, last];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

class Timeline {
  constructor(applications) {
    this.canvas = element("canvas", {
      tabindex: 0,
      role: "application",
      keydown: (event) => this.key(event),
      pointerdown: (event) => this.press(event),
      pointermove: (event) => this.move(event),
      pointerup: (event) => this.release(event),
      pointercancel: (event) => this.forget(event),
      pointerleave: () => hideTip(),
      blur: () => hideTip(),
      dblclick: () => this.show(),
    });
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    const button = (text, label, click) => element("button", { type: "button", "aria-label": label, title: label, click }, text);
    this.phases = element("span");
    this.span = element("output", { class: "soft" });
    this.note = element("p", { class: "soft" });
    this.withPath = true;
    this.phase = null;
    this.fingers = new Map();
    this.place = element("div", { class: "timeline" },
      element("div", { class: "controls" },
        element("span", {}, button("\u2212", "zoom out", () => this.zoom(1.6)), " ", button("+", "zoom in", () => this.zoom(1 / 1.6)), " ",
          button("\u2190", "earlier", () => this.pan(-0.3)), " ", button("\u2192", "later", () => this.pan(0.3)), " ",
          button("whole", "show the whole time and all ranks", () => this.show())),
        this.phases,
        check("critical path", true, (on) => {
          this.withPath = on;
          this.draw();
        }), this.span),
      this.canvas,
      element("div", { class: "kinds" }, ...SPENT.map((name, kind) =>
        element("span", {}, element("i", { style: `background: var(--spent-${kind})` }), name)),
      element("span", {}, element("i", { class: "path" }), "critical path")),
      this.note);
    this.setApplications(applications);
    new ResizeObserver(() => {
      if (this.place.clientWidth !== this.width) this.draw();
    }).observe(this.place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    // Before paper there is no next frame.
    addEventListener("beforeprint", () => this.drawNow());
    addEventListener("afterprint", () => this.drawNow());
  }

  setApplications(applications) {
    this.applications = applications;
    const { bars, path, phases, jobs, rows } = applications;
    const used = [...new Set([...bars.operation, ...path.steps.map((step) => step.operation)])]
      .map((operation) => applications.phaseOf(operation));
    const options = phases.map((name, at) => [String(at), name === "-" ? "no phase" : name]).filter(([at]) => used.includes(Number(at)));
    this.phase = null;
    this.phases.replaceChildren(...(options.length > 1 ? [chooser("highlight", [["", "all phases"], ...options], "", (value) => {
      this.phase = value === "" ? null : Number(value);
      this.draw();
    })] : []));
    const left = [];
    if (!bars.count) left.push(`What ${counted(rows, "rank")} did is not drawn: it would not fit on the page`);
    else if (bars.pieces > bars.count) {
      left.push(`${grouped(bars.count)} bars stand for ${grouped(bars.pieces)} things that ranks did or waited for: those too short for a bar of their own share one, `
        + "in the colour of what took most of it");
    }
    if (path.pieces > path.count) left.push(`the critical path has ${grouped(path.count)} of ${grouped(path.pieces)} stretches, the shortest put together`);
    this.note.textContent = left.length ? `${left.join("; ")}. flitlab run --timeline writes all of it.` : "";
    this.canvas.dataset.rows = rows;
    this.canvas.dataset.path = jobs.map((job) => applications.pathLength(job)).join(" ");
    this.show();
  }

  /** Shows a stretch of time and some rows; all of them if none is named. */
  show(times, rows) {
    const all = this.applications;
    const length = Math.max(all.end - all.start, 1);
    const fit = ([low, high], least, [from, to]) => {
      const size = Math.min(Math.max(high - low, Math.min(least, to - from)), to - from);
      const start = Math.min(Math.max(from, (low + high - size) / 2), to - size);
      return [start, start + size];
    };
    this.times = fit(times ?? [all.start, all.end], SHORTEST, [all.start, all.start + length]);
    this.shownRows = fit(rows ?? [0, all.rows], FEWEST_ROWS, [0, all.rows]);
    hideTip();
    this.draw();
  }

  zoom(factor, { time, row } = {}, ofRows = 1) {
    const around = ([low, high], middle, by) => {
      const at = middle ?? (low + high) / 2;
      return [at - (at - low) * by, at + (high - at) * by];
    };
    this.show(around(this.times, time, factor), around(this.shownRows, row, ofRows));
  }

  pan(share, ofRows = 0) {
    const moved = ([low, high], by) => [low + (high - low) * by, high + (high - low) * by];
    this.show(moved(this.times, share), moved(this.shownRows, ofRows));
  }

  /** Draws in the next frame, once for all that was asked for before it. */
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.waiting = false;
    const { canvas, applications: all } = this;
    this.width = this.place.clientWidth;
    const width = Math.max(280, this.width || 600);
    const height = Math.round(Math.min(560, Math.max(90, all.rows * 18))) + 30;
    const scale = devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.font = "12px system-ui, sans-serif";
    const left = 44;
    this.x = new Scale(this.times, [left, width - 8]);
    this.y = new Scale(this.shownRows, [4, height - 26]);
    pen.fillStyle = colour("raised");
    pen.fillRect(left, 4, width - 8 - left, height - 30);
    pen.save();
    pen.beginPath();
    pen.rect(left, 4, width - 8 - left, height - 30);
    pen.clip();
    this.drawBars(pen, SPENT.map((_, kind) => colour(`spent-${kind}`)));
    if (this.withPath) this.drawPath(pen, colour);
    this.drawJobs(pen, colour);
    if (this.drag?.span) {
      const [from, to] = this.drag.span;
      pen.fillStyle = colour("accent");
      pen.globalAlpha = 0.2;
      pen.fillRect(Math.min(from.x, to.x), this.drag.rows ? Math.min(from.y, to.y) : 4, Math.abs(to.x - from.x),
        this.drag.rows ? Math.abs(to.y - from.y) : height - 30);
    }
    pen.restore();
    this.drawAxes(pen, colour, { left, width, height });
    const [from, to] = this.times;
    Object.assign(canvas.dataset, { from, to, firstRow: this.shownRows[0], lastRow: this.shownRows[1] });
    const range = to - from < all.end - all.start ? `${timeText(to - from)} from ${timeText(from, to)} on` : `all ${timeText(to - from)}`;
    this.span.textContent = range;
    canvas.setAttribute("aria-label", `${counted(all.rows, "rank")} over time, ${range}. Plus and minus zoom, arrows move, `
      + "0 shows all, full stop and comma go along the critical path.");
  }

  drawBars(pen, colours) {
    const { applications: { bars, operations }, x, y, times: [from, to], phase } = this;
    const step = (y.to - y.from) / (y.high - y.low);
    const gap = step >= 7 ? 1 : 0;
    // Bars of one look beside each other are drawn at once, which most are.
    let run = null;
    const end = () => {
      if (!run) return;
      pen.globalAlpha = run.alpha;
      pen.fillStyle = colours[run.kind];
      pen.fillRect(run.begin, run.top, run.end - run.begin, step - gap);
      run = null;
    };
    for (let row = Math.floor(y.low); row < Math.ceil(y.high); row += 1) {
      const [first, last] = bars.ofRow[row];
      const top = y.place(row);
      for (let at = firstWhere(first, last, (it) => bars.end[it] > from); at < last && bars.start[at] < to; at += 1) {
        const begin = x.place(Math.max(bars.start[at], from));
        const until = x.place(Math.min(bars.end[at], to));
        const alpha = phase === null || operations[bars.operation[at]][0] === phase ? 1 : 0.13;
        const kind = bars.kind[at];
        const several = step >= 5 ? bars.several.get(at) : undefined;
        if (!several && run && run.kind === kind && run.alpha === alpha && begin - run.end < 0.1) {
          run.end = until;
          continue;
        }
        end();
        if (!several) {
          run = { kind, alpha, begin, end: until, top };
          continue;
        }
        // Its kinds one upon the other, as they share its time.
        pen.globalAlpha = alpha;
        let above = top;
        several.shares.forEach((share, of) => {
          if (share === 0) return;
          pen.fillStyle = colours[of];
          pen.fillRect(begin, above, until - begin, share * (step - gap));
          above += share * (step - gap);
        });
      }
      end();
    }
    pen.globalAlpha = 1;
  }

  drawJobs(pen, colour) {
    const { jobs } = this.applications;
    for (const { name, first, ranks } of jobs) {
      const at = this.y.place(first);
      if (first > 0) {
        pen.strokeStyle = colour("ink");
        pen.beginPath();
        pen.moveTo(this.x.from, at);
        pen.lineTo(this.x.to, at);
        pen.stroke();
      }
      if (!name || first + ranks <= this.y.low || at > this.y.to) continue;
      const top = Math.max(at, this.y.from);
      pen.fillStyle = colour("paper");
      pen.globalAlpha = 0.85;
      pen.fillRect(this.x.from + 3, top + 2, pen.measureText(name).width + 8, 16);
      pen.globalAlpha = 1;
      pen.fillStyle = colour("ink");
      pen.fillText(name, this.x.from + 7, top + 14);
    }
  }

  /** Where a step begins and ends: on its line, in the middle of rows. */
  ends({ job, start, end, line }) {
    const rowAt = (time) => {
      const share = line.end > line.start ? (time - line.start) / (line.end - line.start) : 1;
      return job.first + 0.5 + line.from + share * (line.to - line.from);
    };
    return [start, end].map((time) => ({ x: this.x.place(time), y: this.y.place(rowAt(time)) }));
  }

  /** The range of the path's steps that a stretch of time has in it, by job. */
  steps([from, to], each) {
    const { jobs, path: { steps } } = this.applications;
    for (const job of jobs) {
      const first = steps.findIndex((step) => step.job === job);
      if (first < 0) continue;
      const behind = firstWhere(first, steps.length, (at) => steps[at].job !== job);
      for (let at = firstWhere(first, behind, (it) => steps[it].end > from); at < behind && steps[at].start < to; at += 1) each(at);
    }
  }

  drawPath(pen, colour) {
    const { applications: { path: { steps }, operations }, phase } = this;
    const line = (style, width, chosen) => {
      pen.strokeStyle = style;
      pen.lineWidth = width;
      pen.lineJoin = "round";
      pen.beginPath();
      let last = -2;
      this.steps(this.times, (at) => {
        const [begin, end] = this.ends(steps[at]);
        if (!chosen(steps[at])) return;
        if (last !== at - 1 || steps[at].job !== steps[last].job) pen.moveTo(begin.x, begin.y);
        else pen.lineTo(begin.x, begin.y);
        pen.lineTo(end.x, end.y);
        last = at;
      });
      pen.stroke();
    };
    const many = this.y.high - this.y.low > 100;
    line(colour("paper"), many ? 2.5 : 4.5, () => true);
    line(colour("ink"), many ? 1.2 : 2, (step) => phase === null || operations[step.operation][0] === phase);
    pen.lineWidth = 1;
  }

  drawAxes(pen, colour, { left, width, height }) {
    pen.fillStyle = colour("soft");
    pen.strokeStyle = colour("soft");
    const ticks = this.x.ticks(width / 110);
    pen.textAlign = "center";
    for (const tick of ticks) {
      const at = this.x.place(tick);
      pen.fillRect(at, height - 26, 1, 4);
      const unit = timeUnit(this.times[1]);
      const inUnit = ticks.map((it) => it / TIMES[unit]);
      const text = `${tickLabel(tick / TIMES[unit], inUnit)} ${unit}`;
      const half = pen.measureText(text).width / 2;
      pen.fillText(text, Math.min(at, width - 2 - half), height - 9);
    }
    pen.textAlign = "right";
    const each = Math.max(1, Math.ceil(15 / ((this.y.to - this.y.from) / (this.y.high - this.y.low))));
    const round = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].find((it) => it >= each) ?? each;
    for (const { first, ranks } of this.applications.jobs) {
      for (let rank = 0; rank < ranks; rank += round) {
        const at = this.y.place(first + rank + 0.5);
        if (at >= this.y.from + 4 && at <= this.y.to - 4) pen.fillText(String(rank), left - 5, at + 4);
      }
    }
    pen.textAlign = "left";
  }

  /** Where an event is: in the canvas, and which time and row that is. */
  at({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [clientX - box.left, clientY - box.top];
    return { x, y, time: this.x.value(x), row: this.y.value(y) };
  }

  wheel(event) {
    // A page scrolls with the wheel; the timeline that was chosen zooms.
    if (!event.ctrlKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    const factor = Math.exp(Math.max(-60, Math.min(60, event.deltaY || event.deltaX)) / 120);
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && !event.shiftKey) this.pan(event.deltaX / 600);
    else if (event.shiftKey) this.zoom(1, this.at(event), factor);
    else this.zoom(factor, this.at(event));
  }

  press(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.at(event);
    this.fingers.set(event.pointerId, at);
    this.drag = { from: at, pans: event.shiftKey, times: this.times, rows: false };
  }

  move(event) {
    const at = this.at(event);
    const held = this.fingers.has(event.pointerId);
    if (!held) {
      this.tip(at, event);
      return;
    }
    const before = this.fingers.get(event.pointerId);
    this.fingers.set(event.pointerId, at);
    const [one, other] = [...this.fingers.entries()];
    if (other) {
      // Two fingers: what was under them stays there.
      this.drag = null;
      const still = one[0] === event.pointerId ? other[1] : one[1];
      const apart = (a, b) => Math.max(20, Math.abs(a - b));
      const factor = apart(before.x, still.x) / apart(at.x, still.x);
      const ofRows = apart(before.y, still.y) / apart(at.y, still.y);
      this.zoom(factor, { time: this.x.value(still.x), row: this.y.value(still.y) }, ofRows);
      return;
    }
    if (!this.drag) return;
    if (this.drag.pans) {
      const moved = (this.drag.from.x - at.x) / (this.x.to - this.x.from);
      const length = this.drag.times[1] - this.drag.times[0];
      const rows = ((before.y - at.y) / (this.y.to - this.y.from)) * (this.y.high - this.y.low);
      this.show(this.drag.times.map((time) => time + moved * length), this.shownRows.map((row) => row + rows));
      return;
    }
    if (Math.hypot(at.x - this.drag.from.x, at.y - this.drag.from.y) >= DRAG) {
      hideTip();
      // Rows as well, if the pointer goes far down or up.
      Object.assign(this.drag, { span: [this.drag.from, at], rows: Math.abs(at.y - this.drag.from.y) > 40 });
      this.draw();
    }
  }

  release(event) {
    const { drag } = this;
    const alone = this.fingers.size === 1;
    this.forget(event);
    if (!drag || !alone) return;
    if (drag.span && Math.abs(drag.span[1].x - drag.span[0].x) >= DRAG) {
      const sorted = (one, other) => [Math.min(one, other), Math.max(one, other)];
      const [from, to] = drag.span;
      this.show(sorted(from.time, to.time), drag.rows ? sorted(Math.floor(from.row), Math.ceil(to.row)) : this.shownRows);
    } else {
      this.draw();
      this.tip(this.at(event), event);
    }
  }

  forget(event) {
    this.fingers.delete(event.pointerId);
    this.drag = null;
  }

  /** Says what is under the pointer: the path, if it is near, else the bar. */
  tip(at, event) {
    const inside = at.x >= this.x.from && at.x <= this.x.to && at.y >= this.y.from && at.y <= this.y.to;
    if (!inside) {
      hideTip();
      return;
    }
    const place = { x: event.clientX, y: event.clientY };
    const step = this.withPath ? this.stepNear(at) : null;
    if (step !== null) this.tipOfStep(step, place);
    else {
      const row = Math.min(this.applications.rows - 1, Math.floor(at.row));
      this.tipOfBar(row, this.applications.barAt(row, at.time), place);
    }
  }

  stepNear({ x, y }) {
    const { path: { steps } } = this.applications;
    let [nearest, best] = [null, 7];
    const reach = [x - 7, x + 7].map((it) => this.x.value(it));
    this.steps(reach, (at) => {
      const [begin, end] = this.ends(steps[at]);
      const [dx, dy] = [end.x - begin.x, end.y - begin.y];
      const along = dx || dy ? Math.max(0, Math.min(1, ((x - begin.x) * dx + (y - begin.y) * dy) / (dx * dx + dy * dy))) : 0;
      const distance = Math.hypot(x - begin.x - along * dx, y - begin.y - along * dy);
      // Of those that are equally near, a message that was held up says most.
      if (distance < best - 0.01 || (distance < best + 0.01 && nearest !== null && steps[at].end - steps[at].start > steps[nearest].end - steps[nearest].start)) {
        [nearest, best] = [at, Math.min(best, distance)];
      }
    });
    return nearest;
  }

  linesOf(operation, peer, start, end) {
    const { applications: all } = this;
    const [phase] = all.operations[operation];
    return [["operation", all.operationText(operation, peer)],
      ...(all.phases[phase] === "-" ? [] : [["phase", all.phases[phase]]]),
      // Stretches that follow each other in a long run differ in late digits.
      ["from", timeText(start, all.end, 3)], ["to", timeText(end, all.end, 3)]];
  }

  tipOfStep(at, place) {
    const step = this.applications.path.steps[at];
    const { job, kind, start, end, rank, to, message, heldUp, pieces } = step;
    const lines = [[SPENT[kind], timeText(end - start), true],
      message && to !== step.from ? ["message", `rank ${step.from} to rank ${to}`] : ["rank", String(rank)],
      ...this.linesOf(step.operation, step.peer, start, end)];
    if (heldUp) lines.push(["held up by", `${heldUp.channel}, ${timeText(heldUp.time)}`, true]);
    if (pieces > 1) lines.push(["stretches", grouped(pieces)]);
    const note = kind === 4 && !heldUp ? "flitlab run --trace-path names the channel that held it up"
      : kind === 3 ? "it waited for others to be sent before it" : "";
    showTip(named(job.name, "critical path"), lines, place, note);
    return lines;
  }

  tipOfBar(row, at, place) {
    const job = this.applications.jobOf(row);
    const heading = named(job.name, `rank ${row - job.first}`);
    if (at < 0) {
      hideTip();
      return;
    }
    const { start, end, kind, operation, peer, several } = this.applications.bars;
    const mixed = several.get(at);
    const length = end[at] - start[at];
    const spent = mixed
      ? mixed.shares.map((share, of) => [SPENT[of], `${Math.round(100 * share)}%`, of === kind[at]]).filter((_, of) => mixed.shares[of] > 0)
      : [[SPENT[kind[at]], timeText(length), true]];
    const lines = [...spent, ...this.linesOf(operation[at], peer[at], start[at], end[at])];
    showTip(heading, lines, place, mixed ? `${grouped(mixed.pieces)} things in ${timeText(length)}; the operation is that of the longest` : "");
  }

  key(event) {
    const steps = this.applications.path.steps;
    const actions = {
      "+": () => this.zoom(1 / 1.6), "=": () => this.zoom(1 / 1.6), "-": () => this.zoom(1.6), 0: () => this.show(),
      ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), ArrowUp: () => this.pan(0, -0.2), ArrowDown: () => this.pan(0, 0.2),
      Escape: hideTip,
      ".": () => this.follow(1), ",": () => this.follow(-1),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey || !steps) return;
    event.preventDefault();
    action();
  }

  /** Goes along the critical path, and says what it is there. */
  follow(by) {
    const { steps } = this.applications.path;
    if (!steps.length) return;
    this.followed = Math.max(0, Math.min(steps.length - 1, (this.followed ?? (by > 0 ? -1 : steps.length)) + by));
    const step = steps[this.followed];
    const half = Math.max((step.end - step.start) * 3, SHORTEST);
    const middle = (step.start + step.end) / 2;
    this.show([middle - half, middle + half], this.shownRows);
    this.drawNow();
    const [begin, end] = this.ends(step);
    const box = this.canvas.getBoundingClientRect();
    const lines = this.tipOfStep(this.followed, { x: box.left + (begin.x + end.x) / 2, y: box.top + (begin.y + end.y) / 2 });
    announce(lines.map(([name, value]) => `${name} ${value}`).join(", "));
  }
}

/** A timeline a point; of several one at a time. */
function drawTimeline() {
  const shownPoints = data.results.flatMap((result) => result.applications.map((given) =>
    ({ title: named(several ? result.label : "", given.name), given })));
  if (!shownPoints.length) return;
  const section = byId("timeline");
  section.hidden = false;
  const read = (at) => (shownPoints[at].read ??= new Applications(shownPoints[at].given));
  const timeline = new Timeline(read(0));
  if (shownPoints.length > 1) {
    const options = shownPoints.map(({ title }, at) => [String(at), title || "all"]);
    section.append(element("div", { class: "controls" }, chooser("point", options, "0", (at) => timeline.setApplications(read(Number(at))))));
  }
  section.append(element("p", { class: "soft screen" }, "A row a rank. Dragging zooms into a span, and far up or down into its ranks, too; so do Ctrl and the wheel "
    + "(the wheel alone once the timeline is chosen, with Shift for ranks) and two fingers. Shift and dragging moves. Pointing says what a rank did, or what held the path up. "
    + "A double click shows all."), timeline.place);
  const more = data.results.reduce((sum, result) => sum + result.more_applications, 0);
  if (more) section.append(element("p", { class: "soft" }, `${counted(more, "more point")} not shown: a page has the first six of a result.`));
}
