// A chart of curves over offered load: points to point at, a region to zoom into.

const FRAME = { left: 62, right: 14, top: 12, bottom: 46 };

/** Pixels: how near the pointer has to be to a point, and from where on a drag is one. */
const NEAR = 36;
const DRAG = 6;

class Chart {
  /** `quantities` are names of columns; the first is drawn at first. */
  constructor(title, quantities) {
    this.title = title;
    this.quantity = quantities[0];
    this.logarithmic = false;
    this.zoom = null;
    this.svg = shape("svg", {
      tabindex: 0,
      role: "group",
      keydown: (event) => this.key(event),
      pointermove: (event) => this.move(event),
      pointerdown: (event) => this.press(event),
      pointerup: (event) => this.release(event),
      pointercancel: () => this.endDrag(),
      pointerleave: () => this.leave(),
      blur: () => this.leave(),
      dblclick: () => this.zoomTo(null),
    });
    this.svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    const controls = element("div", { class: "controls" });
    if (quantities.length > 1) {
      const options = quantities.map((name) => [name, this.column(name).title]);
      controls.append(chooser(title, options, this.quantity, (name) => {
        this.quantity = name;
        this.zoomTo(null);
      }));
    }
    if (this.column().role === "latency") {
      controls.append(check("log scale", false, (on) => {
        this.logarithmic = on;
        this.zoomTo(null);
      }));
    }
    const button = (text, label, click) => element("button", { type: "button", "aria-label": label, title: label, click }, text);
    controls.append(element("span", {}, button("\u2212", "zoom out", () => this.zoomBy(1.5)), " ",
      button("+", "zoom in", () => this.zoomBy(1 / 1.5)), " ",
      button("whole", "show the whole range", () => this.zoomTo(null))));
    this.place = element("div", { class: "chart" }, controls, this.svg);
    watch((what) => {
      if (what === "curves") this.draw();
      else this.mark();
    });
    new ResizeObserver(() => {
      if (this.place.clientWidth !== this.width) this.draw();
    }).observe(this.place);
  }

  column(name = this.quantity) {
    return columnOf.get(name);
  }

  over() {
    return columnOf.get(view.over);
  }

  /** The points that have both values. */
  drawn(curve) {
    return curve.points.filter((at) => at.value(view.over) !== null && at.value(this.quantity) !== null);
  }

  /** The whole range: up to the highest steady value, for past saturation values know no end. */
  range() {
    const all = visibleCurves().flatMap((curve) => this.drawn(curve));
    const steady = all.filter((at) => at.steady);
    const judged = steady.length ? steady : all;
    const values = judged.map((at) => at.value(this.quantity) + (at.half(this.quantity) ?? 0));
    const loads = visibleCurves().flatMap((curve) => curve.points.map((at) => at.value(view.over))).filter((it) => it !== null);
    const highest = Math.max(...values, 0) || 1;
    const x = [0, (Math.max(...loads, 0) || 1) * 1.04];
    if (!this.logarithmic) return { x, y: [0, highest * 1.1] };
    const positive = judged.map((at) => at.value(this.quantity)).filter((value) => value > 0);
    return { x, y: [(Math.min(...positive, highest) || 1) / 1.25, highest * 1.4] };
  }

  draw() {
    this.width = this.place.clientWidth;
    const width = Math.max(280, Math.round(this.width || 560));
    const height = Math.round(Math.min(420, Math.max(300, width * 0.62)));
    this.size = { width, height };
    const { x, y } = this.zoom ?? this.range();
    this.x = new Scale(x, [FRAME.left, width - FRAME.right]);
    this.y = new Scale(y, [height - FRAME.bottom, FRAME.top], this.logarithmic);
    const { svg } = this;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const shownCurves = visibleCurves();
    svg.setAttribute("aria-label", `${this.column().title} over ${this.over().title}: ${counted(shownCurves.length, "curve")}. `
      + "Arrow keys go from point to point, Enter chooses one, plus and minus zoom, 0 shows the whole range.");
    const clip = `clip-${this.title.replaceAll(" ", "-")}`;
    const inside = shape("g", { "clip-path": `url(#${clip})` });
    if (this.quantity === view.over.replace("offered", "accepted")) {
      const end = Math.min(this.x.high, this.y.high);
      inside.append(shape("path", { class: "ideal", d: this.path([[0, 0], [end, end]]) }));
    }
    const loose = shape("g");
    const tops = [];
    shownCurves.forEach((curve) => this.drawCurve(curve, inside, loose, tops));
    this.marks = shape("g");
    svg.replaceChildren(
      shape("title", {}, `${this.column().title} over ${this.over().title}`),
      shape("clipPath", { id: clip }, shape("rect", {
        x: FRAME.left, y: FRAME.top, width: width - FRAME.left - FRAME.right, height: height - FRAME.top - FRAME.bottom,
      })),
      this.axes(), inside, loose, this.marks);
    this.mark();
  }

  axes() {
    const { width, height } = this.size;
    const group = shape("g", { class: "axes" });
    const bottom = height - FRAME.bottom;
    const xs = this.x.ticks(width / 65);
    const ys = this.y.ticks(height / 50);
    // Times are in the unit of the highest.
    const quantity = this.column();
    const timed = isTime(quantity) ? timeUnit(this.y.high * TIMES[quantity.unit]) : null;
    const times = timed ? TIMES[quantity.unit] / TIMES[timed] : 1;
    for (const tick of xs) {
      const at = this.x.place(tick);
      group.append(shape("path", { class: "grid", d: `M${at} ${FRAME.top}V${bottom}` }),
        shape("text", { class: "tick-x", x: at, y: bottom + 17, "text-anchor": "middle" }, tickLabel(tick, xs)));
    }
    for (const tick of ys) {
      const at = this.y.place(tick);
      group.append(shape("path", { class: "grid", d: `M${FRAME.left} ${at}H${width - FRAME.right}` }),
        shape("text", { class: "tick-y", x: FRAME.left - 6, y: at + 4, "text-anchor": "end" }, tickLabel(tick * times, ys.map((it) => it * times))));
    }
    const title = (column) => {
      const unit = (column === quantity && timed) || column.unit || (column.name.endsWith("_load") ? "fraction of capacity" : "");
      return column.title + (unit ? ` (${unit})` : "");
    };
    group.append(
      shape("path", { class: "frame", d: `M${FRAME.left} ${FRAME.top}V${bottom}H${width - FRAME.right}` }),
      shape("text", { class: "axis-title", x: (FRAME.left + width - FRAME.right) / 2, y: height - 8, "text-anchor": "middle" }, title(this.over())),
      shape("text", { class: "axis-title", transform: `translate(15 ${(FRAME.top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, title(this.column())));
    return group;
  }

  path(values) {
    return values.map(([x, y], at) => `${at ? "L" : "M"}${this.x.place(x).toFixed(1)} ${this.height(y).toFixed(1)}`).join("");
  }

  /** The place of a value; on a logarithmic scale what isn't positive lies at the lower edge. */
  height(value) {
    return this.logarithmic && value <= 0 ? this.y.from : Math.max(-1e5, this.y.place(value));
  }

  holds(x, y) {
    const { width, height } = this.size;
    return x >= FRAME.left - 1 && x <= width - FRAME.right + 1 && y >= FRAME.top - 1 && y <= height - FRAME.bottom + 1;
  }

  /** Steady points are joined by a line, those that are not by a dashed one. What has no value, or lies above
      all steady values, is marked at the upper edge. */
  drawCurve(curve, inside, loose, tops) {
    const { colour, marker } = look(curve);
    const attributes = { class: "curve", "data-curve": curve.key, style: `--colour: ${colour}` };
    const lines = shape("g", attributes);
    const marks = shape("g", attributes);
    inside.append(lines);
    loose.append(marks);
    const name = this.quantity;
    const drawn = this.drawn(curve);
    const place = (at) => [at.value(view.over), at.value(name)];
    const known = drawn.filter((at) => at.half(name) !== null && at.steady);
    if (known.length > 1) {
      const edge = (sign) => known.map((at) => [at.value(view.over), at.value(name) + sign * at.half(name)]);
      lines.append(shape("path", { class: "band", d: `${this.path([...edge(1), ...edge(-1).reverse()])}Z` }));
    }
    drawn.slice(1).forEach((at, before) => {
      const from = drawn[before];
      const steady = at.steady && from.steady;
      if (at.status === "deadlock" || from.status === "deadlock") return;
      lines.append(shape("path", { class: steady ? "line" : "line unsteady", d: this.path([place(from), place(at)]) }));
    });
    for (const at of curve.points.filter((one) => one.value(view.over) !== null)) {
      const load = at.value(view.over);
      const value = at.value(name);
      let x = this.x.place(load);
      let y = value === null ? -1 : this.height(value);
      // The first point that ends the curve shows even if its value is beyond the edge: all such points in one row,
      // those of one load side by side, since their height says nothing.
      const ending = !at.steady && at === curve.points.find((one) => !one.steady);
      if (ending && y < FRAME.top && !this.zoom) {
        const before = tops.filter((top) => Math.abs(top - x) < 9).length;
        tops.push(x);
        y = FRAME.top + 7;
        x += 11 * before * (this.holds(x + 11 * before, y) ? 1 : -1);
      }
      if (!this.holds(x, y)) continue;
      const half = at.half(name);
      if (half !== null && value !== null && at.steady) {
        const [low, high] = [this.height(value - half), this.height(value + half)];
        if (low - high > 3) {
          marks.append(shape("path", { class: "whisker", d: `M${x} ${low}V${high}M${x - 3} ${low}h6M${x - 3} ${high}h6` }));
        }
      }
      marks.append(shape("path", {
        class: at.steady || at.status === "deadlock" ? "marker" : "marker hollow",
        d: at.status === "deadlock" ? CROSS : marker,
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
        "data-point": at.key,
      }));
      at.places = { ...at.places, [this.title]: [x, y] };
    }
  }

  /** Points that can be seen, with their places. */
  targets() {
    const seen = new Set([...this.svg.querySelectorAll("[data-point]")].map((marker) => marker.dataset.point));
    return visibleCurves().flatMap((curve) => curve.points).filter((at) => seen.has(at.key))
      .map((at) => ({ at, place: at.places[this.title] }));
  }

  /** Rings around the point that is chosen and the one pointed at; other curves step back. */
  mark() {
    if (!this.marks) return;
    const of = (key) => (key ? curvePointOf.get(key) : null);
    const [pointed, chosen] = [of(view.pointed), of(view.chosen)];
    const targets = this.targets();
    this.marks.replaceChildren(...[[pointed, 8], [chosen, 10]].flatMap(([wanted, r]) => {
      const target = targets.find(({ at }) => at === wanted);
      return target ? [shape("circle", { class: "ring", cx: target.place[0], cy: target.place[1], r })] : [];
    }));
    for (const group of this.svg.querySelectorAll(".curve")) {
      const faded = (view.emphasis ?? pointed?.curve.key ?? group.dataset.curve) !== group.dataset.curve;
      group.classList.toggle("faded", faded);
    }
  }

  /** A pointer's place on the drawing. */
  at(event) {
    const { left, top, width } = this.svg.getBoundingClientRect();
    const scale = this.size.width / width;
    return [(event.clientX - left) * scale, (event.clientY - top) * scale];
  }

  nearest([x, y]) {
    const distance = ({ place }) => Math.hypot(place[0] - x, place[1] - y);
    const sorted = this.targets().sort((a, b) => distance(a) - distance(b));
    return sorted.length && distance(sorted[0]) <= NEAR ? sorted[0] : null;
  }

  move(event) {
    const place = this.at(event);
    if (this.drag) {
      this.drag.to = place;
      this.drawDrag();
      if (this.drag.wide) return;
    }
    this.show(this.nearest(place));
  }

  /** The tip of a point, beside it. */
  show(target) {
    if (!target) {
      this.leave();
      return;
    }
    const { at, place } = target;
    const { left, top, width } = this.svg.getBoundingClientRect();
    const scale = width / this.size.width;
    const lines = factsOf(at, this.quantity);
    point(at.key);
    showTip(at.curve.fullName, lines, { x: left + place[0] * scale, y: top + place[1] * scale }, hint(at));
    return lines;
  }

  leave() {
    if (this.drag) return;
    hideTip();
    point(null);
  }

  press(event) {
    if (event.button !== 0) return;
    const from = this.at(event);
    if (event.pointerType === "touch") {
      this.show(this.nearest(from));
      return;
    }
    this.drag = { from, to: from, wide: false };
    this.svg.setPointerCapture(event.pointerId);
  }

  drawDrag() {
    const { drag } = this;
    const [width, height] = [0, 1].map((axis) => Math.abs(drag.to[axis] - drag.from[axis]));
    drag.wide ||= width > DRAG || height > DRAG;
    drag.box?.remove();
    if (!drag.wide) return;
    hideTip();
    const { x, y } = this.selected();
    drag.box = shape("rect", { class: "selection", x: x[0], y: y[0], width: x[1] - x[0], height: y[1] - y[0] });
    this.svg.append(drag.box);
  }

  /** What a drag encloses: along one axis only, all of the other. */
  selected() {
    const { width, height } = this.size;
    const whole = [[FRAME.left, width - FRAME.right], [FRAME.top, height - FRAME.bottom]];
    const [x, y] = whole.map(([low, high], axis) => {
      const ends = [this.drag.from[axis], this.drag.to[axis]].sort((a, b) => a - b);
      const inside = ends.map((end) => Math.min(high, Math.max(low, end)));
      return inside[1] - inside[0] > 2 * DRAG ? inside : [low, high];
    });
    return { x, y };
  }

  release(event) {
    if (!this.drag) {
      const target = event.pointerType === "touch" ? this.nearest(this.at(event)) : null;
      if (target) choose(target.at.key);
      return;
    }
    if (this.drag.wide) {
      const { x, y } = this.selected();
      this.endDrag();
      this.zoomTo({ x: x.map((at) => this.x.value(at)), y: [...y].reverse().map((at) => this.y.value(at)) });
    } else {
      const target = this.nearest(this.at(event));
      this.endDrag();
      if (target) choose(target.at.key);
    }
  }

  endDrag() {
    this.drag?.box?.remove();
    this.drag = null;
  }

  zoomTo(zoom) {
    this.zoom = zoom;
    this.draw();
  }

  zoomBy(factor, [x, y] = [(this.x.from + this.x.to) / 2, (this.y.from + this.y.to) / 2]) {
    this.zoomTo({ x: this.x.zoomed(factor, this.x.value(x)), y: this.y.zoomed(factor, this.y.value(y)) });
  }

  /** With Ctrl, so that the page still scrolls under the pointer. */
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoomBy(1.0015 ** Math.max(-300, Math.min(300, event.deltaY)), this.at(event));
  }

  key(event) {
    const targets = this.targets();
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (event.key in steps && targets.length) {
      const [across, along] = steps[event.key];
      const now = targets.find(({ at }) => at === curvePointOf.get(view.pointed));
      const lines = this.show(now ? this.next(targets, now, across, along) : targets[0]);
      const at = curvePointOf.get(view.pointed);
      announce(`${at.curve.fullName}: ${lines.map(([name, value]) => `${name} ${value}`).join(", ")}`);
    } else if (event.key === "Enter" && view.pointed) choose(view.pointed);
    else if (event.key === "Escape") this.leave();
    else if (event.key === "+") this.zoomBy(1 / 1.5);
    else if (event.key === "-") this.zoomBy(1.5);
    else if (event.key === "0") this.zoomTo(null);
    else return;
    event.preventDefault();
  }

  /** The next point of the curve, or the one at about the same load of the next curve. */
  next(targets, now, across, along) {
    const shownCurves = visibleCurves().filter((curve) => targets.some(({ at }) => at.curve === curve));
    const curve = shownCurves[(shownCurves.indexOf(now.at.curve) + across + shownCurves.length) % shownCurves.length];
    const own = targets.filter(({ at }) => at.curve === curve);
    if (along) return own[Math.min(own.length - 1, Math.max(0, own.indexOf(now) + along))];
    const distance = ({ place }) => Math.abs(place[0] - now.place[0]);
    return own.reduce((best, one) => (distance(one) < distance(best) ? one : best));
  }
}
