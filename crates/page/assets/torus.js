// The links of a point: planes of the torus or a matrix, groups of channels, the busiest.

const QUANTITIES = [
  "utilisation", "stalled: no credit", "stalled: bubble", "stalled: output busy", "stalled: input busy",
  "packets waiting", "stalled for any reason",
];
/** The one that is a number of packets; the others are shares of the measured time. */
const QUEUE = 5;
const STALLS = ["no credit", "bubble", "output busy", "input busy"];
const DIMENSIONS = "xyzklm";

/** Where links of dimensions that are not in the plane leave a node: to the corners. */
const CORNERS = [[1, -1], [-1, -1]];

/** A torus' nodes and directions by number, as in the results. */
class Lattice {
  constructor({ sizes, closed }) {
    this.sizes = sizes;
    this.closed = closed;
    this.nodes = sizes.reduce((product, size) => product * size, 1);
    this.directions = 2 * sizes.length;
  }

  coordinates(node) {
    return this.sizes.map((size) => {
      const at = node % size;
      node = (node - at) / size;
      return at;
    });
  }

  node(coordinates) {
    return coordinates.reduceRight((number, at, dimension) => number * this.sizes[dimension] + at, 0);
  }

  name(node) {
    return `(${this.coordinates(node).join(",")})`;
  }

  direction(direction) {
    const count = this.sizes.length;
    return `${direction < count ? "+" : "\u2212"}${DIMENSIONS[direction % count]}`;
  }

  neighbour(node, direction) {
    const dimension = direction % this.sizes.length;
    const coordinates = this.coordinates(node);
    const size = this.sizes[dimension];
    const at = coordinates[dimension] + (direction < this.sizes.length ? 1 : -1);
    if ((at < 0 || at >= size) && !this.closed[dimension]) return null;
    coordinates[dimension] = (at + size) % size;
    return this.node(coordinates);
  }

  /** Dimensions with more than one node. */
  get wide() {
    return this.sizes.map((_, dimension) => dimension).filter((dimension) => this.sizes[dimension] > 1);
  }
}

/** The colour of a share from -1, of a difference, or 0 to 1. */
function heat(share) {
  const at = Math.min(1, Math.abs(share)) * 2;
  const stop = Math.min(1, Math.floor(at));
  const colour = (end) => (end === 0 || share >= 0 ? `var(--heat-${end})` : `var(--less-${end})`);
  return `color-mix(in oklab, ${colour(stop + 1)} ${((at - stop) * 100).toFixed(1)}%, ${colour(stop)})`;
}

class Links {
  constructor() {
    this.all = data.results.flatMap((result, number) =>
      result.links.points.map((links) => ({ ...links, point: points[number][links.row] })));
    this.quantity = 0;
    /** Of the links of a cell of a matrix: their mean, or the fullest. */
    this.part = "mean";
    /** The point that is taken from the one shown; null if none is. */
    this.less = null;
    this.reach = this.all.length === 1 ? "one" : "all";
    this.byKey = new Map(this.all.map((links) => [links.point.key, links]));
    this.now = this.first();
    this.axes = null;
    this.controls = element("div", { class: "controls" });
    this.note = element("p", { class: "soft" });
    this.key = element("div", { class: "key" });
    this.planes = element("div", {
      class: "planes",
      tabindex: 0,
      role: "group",
      "aria-label": "Links. Arrow keys go from node to node or from cell to cell, Page Up and Page Down from plane to plane.",
      pointermove: (event) => this.move(event),
      pointerleave: hideTip,
      keydown: (event) => this.step(event),
      blur: () => this.setCursor(null),
    });
    const groups = this.filled(groupColumns, (links) => links.groups);
    const busiest = this.filled(busyColumns, (links) => links.busiest);
    this.groups = new Table({ caption: "Groups of channels", columns: groups, rows: [], tall: false });
    this.busiest = new Table({ caption: "The busiest network channels", columns: busiest, rows: [], tall: false });
    this.quantities = QUANTITIES.map((name, at) => [String(at), name]).filter(([at]) => this.isMeasured(Number(at)));
    this.place = element("div", {}, this.note, this.controls, this.key, this.planes,
      element("div", { class: "side" }, this.busiest.place, this.groups.place));
    watch((what) => {
      if (what === "chosen" && this.byKey.has(view.chosen)) this.show(this.byKey.get(view.chosen));
    });
    this.show(this.now);
  }

  /** The point that is shown at first: the highest steady load of the first series, else its lowest. */
  first() {
    const own = this.all.filter(({ point: at }) => at.series === this.all[0].point.series && at.result === this.all[0].point.result);
    const load = ({ point: at }) => at.value(offered) ?? 0;
    const steady = own.filter(({ point: at }) => STEADY.has(at.status));
    const sign = steady.length ? 1 : -1;
    return (steady.length ? steady : own).reduce((best, one) => (sign * load(one) > sign * load(best) ? one : best));
  }

  show(links) {
    const sameTorus = this.lattice && links.torus && String(links.torus.sizes) === String(this.lattice.sizes);
    if (this.less && !this.isLike(this.less, links)) this.less = null;
    this.now = links;
    this.lattice = links.torus ? new Lattice(links.torus) : null;
    this.matrix = links.matrix ? new Matrix(this, links.matrix) : null;
    if (!sameTorus) this.axes = this.lattice ? this.lattice.wide.slice(0, 2) : null;
    this.cursor = null;
    this.draw();
  }

  /** The series of a point, its load, its seed if there are several, and its state if it isn't steady. */
  nameOf({ point: at }) {
    const load = at.value(offered);
    const alike = this.all.filter(({ point: other }) =>
      other.result === at.result && other.series === at.series && other.value(offered) === load);
    return [named(several ? data.results[at.result].label : "", at.series),
      load === null ? `point ${at.value("point")}` : `load ${significant(load)}`,
      alike.length > 1 ? `seed ${at.value("seed")}` : "", STEADY.has(at.status) ? "" : at.status];
  }

  /** Whether two points have the same picture, so that one can be taken from the other. */
  isLike(one, other) {
    const picture = ({ torus, matrix, loads }) => JSON.stringify([torus, matrix, loads !== null]);
    return one.loads !== null && picture(one) === picture(other);
  }

  /** The value of a channel of a point in thousandths; null if it isn't there. */
  valueOf(links, channel, quantity) {
    const loads = links.most && this.part === "most" ? links.most : links.loads;
    if (quantity < loads.length) return loads[quantity][channel] < 0 ? null : loads[quantity][channel];
    const stalls = [1, 2, 3, 4].map((stall) => loads[stall][channel]);
    return stalls.some((share) => share < 0) ? null : stalls.reduce((sum, share) => sum + share, 0);
  }

  /** What is shown of a channel, in thousandths: its value, or by how much it is above that of another
   * point; null if it isn't there. */
  value(channel, quantity = this.quantity) {
    const own = this.valueOf(this.now, channel, quantity);
    if (this.less === null || own === null) return own;
    const other = this.valueOf(this.less, channel, quantity);
    return other === null ? null : own - other;
  }

  /** What is shown of a channel, in words. */
  worded(channel, quantity = this.quantity) {
    const value = this.value(channel, quantity);
    return value !== null && this.less !== null ? `${value < 0 ? "\u2212" : "+"}${written(Math.abs(value), quantity)}` : written(value, quantity);
  }

  /** Whether a quantity was measured of any channel of the points here. */
  isMeasured(quantity) {
    return this.all.some((links) => links.loads !== null
      && links.loads[0].some((_, channel) => this.valueOf(links, channel, quantity) !== null));
  }

  /** The columns of a table in which some point has a value: what was not measured has none. */
  filled(columns, rowsOf) {
    const has = (value) => value !== null && value !== undefined;
    return columns.filter((column) => this.all.some((links) => rowsOf(links).some((row) => has(column.value(row)))));
  }

  /** Up to where the colours reach. A number of packets has no 100%. */
  get colours() {
    const impossible = (this.reach === "full" && this.quantity === QUEUE) || (this.reach === "all" && this.less !== null);
    return impossible ? "one" : this.reach;
  }

  highest(links) {
    let most = 0;
    for (let channel = 0; channel < (links.loads?.[0].length ?? 0); channel += 1) {
      const value = this.less === null ? this.valueOf(links, channel, this.quantity) : this.value(channel);
      most = Math.max(most, Math.abs(value ?? 0));
    }
    return most;
  }

  draw() {
    const { now } = this;
    const left = data.results.reduce((sum, { links }) => sum + links.of, 0) - this.all.length;
    this.note.textContent = left > 0
      ? `This file has the links of ${this.all.length} of ${this.all.length + left} points, of each series the highest steady loads first; channels.csv has all.`
      : "";
    this.drawControls();
    for (const [table, rows] of [[this.groups, now.groups], [this.busiest, now.busiest]]) {
      table.setRows(rows);
      table.place.hidden = rows.length === 0;
    }
    const drawn = now.loads !== null;
    this.key.hidden = !drawn;
    this.planes.hidden = !drawn;
    if (!drawn) {
      this.note.textContent = `${this.note.textContent} No picture: ${now.no_picture}.`.trim();
      return;
    }
    const reaches = { one: [now], all: this.all, full: [] };
    this.most = this.colours === "full" ? 1000 : Math.max(1, ...reaches[this.colours].map((links) => this.highest(links)));
    this.drawKey();
    if (this.matrix) this.matrix.draw();
    else this.drawPlanes();
  }

  drawControls() {
    const { lattice } = this;
    const list = element("select", { id: "links-point", change: () => this.show(this.all[Number(list.value)]) });
    const groups = new Map();
    this.all.forEach((links, number) => {
      const [name, ...rest] = this.nameOf(links);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(element("option", { value: number }, named(name, ...rest)));
    });
    for (const [name, options] of groups) {
      list.append(...(name ? [element("optgroup", { label: name }, ...options)] : options));
    }
    list.value = String(this.all.indexOf(this.now));
    const alone = this.all.length === 1;
    this.controls.replaceChildren(...(alone ? [] : [element("label", {}, "point", list)]));
    if (this.now.loads === null) return;
    if (this.now.most) {
      const parts = [["mean", "the mean of its links"], ["most", "the fullest of its links"]];
      this.controls.append(chooser("a square is", parts, this.part, (part) => {
        this.part = part;
        this.draw();
      }));
    }
    const others = this.all.filter((links) => links !== this.now && this.isLike(links, this.now));
    if (others.length) {
      const names = others.map((links) => [String(this.all.indexOf(links)), named(...this.nameOf(links))]);
      const chosen = this.less === null ? "" : String(this.all.indexOf(this.less));
      this.controls.append(chooser("less", [["", "nothing"], ...names], chosen, (at) => {
        this.less = at === "" ? null : this.all[Number(at)];
        this.draw();
      }));
    }
    this.controls.append(
      chooser("colour", this.quantities, String(this.quantity), (at) => {
        this.quantity = Number(at);
        this.draw();
      }),
      chooser("colours up to", [
        ...(alone || this.less !== null ? [] : [["all", "the highest of all points here"]]), ["one", "the highest of this picture"],
        ...(this.quantity === QUEUE ? [] : [["full", "100%"]]),
      ], this.colours, (reach) => {
        this.reach = reach;
        this.draw();
      }));
    if (lattice && lattice.wide.length > 2) {
      const pairs = lattice.wide.flatMap((across) => lattice.wide.filter((up) => up > across).map((up) => [across, up]));
      this.controls.append(chooser("planes of", pairs.map((pair) => [String(pair), pair.map((at) => DIMENSIONS[at]).join(" and ")]), String(this.axes), (pair) => {
        this.axes = pair.split(",").map(Number);
        this.draw();
      }));
    }
  }

  /** Dimensions that are not in the planes; the links of the first two are drawn to the corners. */
  others() {
    return this.lattice.wide.filter((dimension) => !this.axes.includes(dimension));
  }

  /** Where a direction points on the drawing; null if it isn't drawn. */
  arrow(direction) {
    const count = this.lattice.sizes.length;
    const dimension = direction % count;
    const sign = direction < count ? 1 : -1;
    const axis = this.axes.indexOf(dimension);
    if (axis === 0) return { way: [sign, 0], corner: false };
    if (axis === 1) return { way: [0, -sign], corner: false };
    const corner = CORNERS[this.others().indexOf(dimension)];
    return corner ? { way: corner.map((part) => (part * sign) / Math.SQRT2), corner: true } : null;
  }

  drawKey() {
    if (this.matrix) {
      this.key.replaceChildren(...this.scale(this.part === "most" ? ", of the fullest link of a cell" : ", mean of the links of a cell"));
      return;
    }
    const { lattice } = this;
    const size = 92;
    const drawing = shape("svg", { width: size, height: size, viewBox: `${-size / 2} ${-size / 2} ${size} ${size}`, role: "img", "aria-label": "Directions of the links" });
    for (let direction = 0; direction < lattice.directions; direction += 1) {
      const arrow = this.arrow(direction);
      if (!arrow || !lattice.wide.includes(direction % lattice.sizes.length)) continue;
      const [dx, dy] = arrow.way;
      drawing.append(shape("path", { class: "link", style: `--heat: ${heat(0.5)}`, d: dart([dx * 7, dy * 7], [dx * 24, dy * 24], 5) }),
        shape("text", { x: dx * 34, y: dy * 34 + 4, "text-anchor": "middle", "font-size": 12, fill: "currentColor" }, lattice.direction(direction)));
    }
    drawing.append(shape("circle", { class: "node", r: 4.5 }));
    const hiddenOnes = this.others().slice(CORNERS.length).map((dimension) => DIMENSIONS[dimension]);
    this.key.replaceChildren(drawing,
      ...this.scale(hiddenOnes.length ? `; links along ${hiddenOnes.join(" and ")} are seen in other planes` : ""));
  }

  /** The colours, and what they mean. */
  scale(more) {
    const less = this.less === null ? "" : ` less ${named(...this.nameOf(this.less))}`;
    const name = this.all.length > 1 ? `${named(...this.nameOf(this.now))}${less}: ` : "";
    const [from, to] = [0, this.most].map((value) => written(value, this.quantity));
    const ends = this.less === null ? [from, element("i"), to] : [`\u2212${to}`, element("i", { class: "both" }), `+${to}`];
    return [element("span", { class: "scale" }, ...ends),
      element("span", { class: "soft" }, `${name}${QUANTITIES[this.quantity]}, ${this.quantity === QUEUE ? "mean over" : "share of"} the measured time${more}`)];
  }

  drawPlanes() {
    const { lattice, axes } = this;
    const [across, up] = axes;
    const width = lattice.sizes[across];
    const height = up === undefined ? 1 : lattice.sizes[up];
    const step = Math.max(15, Math.min(60, Math.floor(264 / Math.max(width, height))));
    const rest = lattice.wide.filter((dimension) => !axes.includes(dimension));
    const planes = rest.reduce((product, dimension) => product * lattice.sizes[dimension], 1);
    const figures_ = [];
    for (let plane = 0; plane < planes; plane += 1) {
      let left = plane;
      const fixed = lattice.sizes.map(() => 0);
      for (const dimension of rest) {
        fixed[dimension] = left % lattice.sizes[dimension];
        left = Math.floor(left / lattice.sizes[dimension]);
      }
      const links = shape("g");
      const nodes = shape("g");
      for (let row = 0; row < height; row += 1) {
        for (let column = 0; column < width; column += 1) {
          const coordinates = [...fixed];
          coordinates[across] = column;
          if (up !== undefined) coordinates[up] = row;
          const node = lattice.node(coordinates);
          const middle = [(column + 0.75) * step, (height - row - 0.25) * step];
          this.drawLinks(links, node, coordinates, middle, step);
          nodes.append(shape("circle", { class: this.linesOfNode(node).length ? "node" : "node none", "data-node": node, cx: middle[0], cy: middle[1], r: Math.max(1.6, step * 0.1) }));
        }
      }
      const size = [(width + 0.5) * step, (height + 0.5) * step];
      const caption = rest.map((dimension) => `${DIMENSIONS[dimension]} = ${fixed[dimension]}`).join(", ");
      figures_.push(element("figure", {},
        shape("svg", { width: size[0], height: size[1], viewBox: `0 0 ${size.join(" ")}`, role: "img", "aria-label": `Links of the plane ${caption}` }, links, nodes),
        element("figcaption", {}, caption)));
    }
    this.planes.replaceChildren(...figures_);
  }

  drawLinks(group, node, coordinates, [x, y], step) {
    const { lattice } = this;
    const thick = step * 0.15;
    for (let direction = 0; direction < lattice.directions; direction += 1) {
      const arrow = this.arrow(direction);
      if (!arrow || lattice.neighbour(node, direction) === null) continue;
      const dimension = direction % lattice.sizes.length;
      const last = direction < lattice.sizes.length ? coordinates[dimension] + 1 >= lattice.sizes[dimension] : coordinates[dimension] === 0;
      const [dx, dy] = arrow.way;
      // Two ways keep to the right, as cars do.
      const aside = arrow.corner ? 0 : thick * 0.62;
      const [from, to] = arrow.corner ? [0.16, 0.42] : [0.14, last ? 0.5 : 0.86];
      const place = (share) => [x + dx * share * step - dy * aside, y + dy * share * step + dx * aside];
      const channel = node * lattice.directions + direction;
      const value = this.value(channel);
      group.append(shape("path", {
        class: value === null ? "link none" : "link",
        style: value === null ? null : `--heat: ${heat(value / this.most)}`,
        d: dart(place(from), place(to), thick),
        "data-channel": channel,
      }));
    }
  }

  move(event) {
    const target = event.target.closest("[data-channel], [data-node], [data-cell]");
    const at = { x: event.clientX, y: event.clientY };
    if (!target) hideTip();
    else if (target.dataset.cell) this.matrix.tip(Number(target.dataset.cell), at);
    else if (target.dataset.node) this.tipOfNode(Number(target.dataset.node), at);
    else this.tipOfChannel(Number(target.dataset.channel), at);
  }

  tipOfChannel(channel, at) {
    const { lattice } = this;
    const direction = channel % lattice.directions;
    const node = (channel - direction) / lattice.directions;
    const to = lattice.name(lattice.neighbour(node, direction));
    const heading = `${lattice.name(node)} ${lattice.direction(direction)} to ${to}`;
    if (this.value(channel, 0) === null) {
      showTip(heading, [], at, "no such link, or not listed in channels.csv");
      return;
    }
    showTip(heading, this.quantities.map(([quantity, name]) =>
      [name, this.worded(channel, Number(quantity)), Number(quantity) === this.quantity]), at);
  }

  tipOfNode(node, at) {
    const lines = this.linesOfNode(node);
    showTip(`node ${this.lattice.name(node)}`, lines, at, QUANTITIES[this.quantity]);
    return lines;
  }

  linesOfNode(node) {
    const { lattice } = this;
    return [...Array(lattice.directions).keys()]
      .filter((direction) => this.value(node * lattice.directions + direction) !== null)
      .map((direction) => [lattice.direction(direction), this.worded(node * lattice.directions + direction)]);
  }

  /** Goes from node to node by the keyboard. */
  step(event) {
    if (this.matrix) {
      this.matrix.step(event);
      return;
    }
    const { lattice, axes } = this;
    const [across, up] = axes;
    const [plane] = this.others();
    const steps = { ArrowRight: [across, 1], ArrowLeft: [across, -1], ArrowUp: [up, 1], ArrowDown: [up, -1], PageDown: [plane, 1], PageUp: [plane, -1] };
    if (event.key === "Escape") this.setCursor(null);
    if (!(event.key in steps)) return;
    event.preventDefault();
    const [dimension, way] = steps[event.key];
    const coordinates = lattice.coordinates(this.cursor ?? 0);
    if (dimension !== undefined && this.cursor !== null) {
      coordinates[dimension] = (coordinates[dimension] + way + lattice.sizes[dimension]) % lattice.sizes[dimension];
    }
    this.setCursor(lattice.node(coordinates));
  }

  setCursor(node) {
    if (this.matrix) {
      this.matrix.setCursor(node);
      return;
    }
    this.cursor = node;
    this.planes.querySelector(".cursor")?.classList.remove("cursor");
    if (node === null) {
      hideTip();
      return;
    }
    const circle = this.planes.querySelector(`[data-node="${node}"]`);
    circle.classList.add("cursor");
    circle.scrollIntoView({ block: "nearest", inline: "nearest" });
    const { right, top } = circle.getBoundingClientRect();
    const lines = this.tipOfNode(node, { x: right, y: top });
    announce(`node ${this.lattice.name(node)}, ${QUANTITIES[this.quantity]}: ${lines.map((line) => line.join(" ")).join(", ")}`);
  }
}

/** A bar with a pointed end. */
function dart([x, y], [toX, toY], thick) {
  const length = Math.hypot(toX - x, toY - y) || 1;
  const [dx, dy] = [(toX - x) / length, (toY - y) / length];
  const [sideX, sideY] = [(-dy * thick) / 2, (dx * thick) / 2];
  const neck = Math.max(0, length - thick * 0.9);
  const [neckX, neckY] = [x + dx * neck, y + dy * neck];
  const corners = [[x + sideX, y + sideY], [neckX + sideX, neckY + sideY], [toX, toY], [neckX - sideX, neckY - sideY], [x - sideX, y - sideY]];
  return `M${corners.map((corner) => corner.map((part) => part.toFixed(1)).join(" ")).join("L")}Z`;
}

/** A value in thousandths; null if it was not measured. */
function written(thousandths, quantity) {
  if (thousandths === null) return "not measured";
  return quantity === QUEUE ? significant(thousandths / 1000, 3) : percent(thousandths / 1000);
}

const ofMeans = (at) => (row) => row.mean[at];
const groupColumns = [
  plain("channels", (row) => row.name.replace("-", "\u2212"), { number: false }),
  plain("number", (row) => row.channels, { text: grouped }),
  plain("mean utilisation", ofMeans(0), { text: percent }),
  plain("highest", (row) => row.most[0], { text: percent }),
  ...STALLS.map((reason, at) => plain(`stalled: ${reason}`, ofMeans(at + 1), { text: percent })),
  plain("packets waiting", ofMeans(QUEUE), { text: (queue) => significant(queue, 3) }),
];
const busyColumns = [
  plain("channel", (row) => row.channel.replace(/-(?=[a-z])/, "\u2212"), { number: false }),
  plain("utilisation", (row) => row.values[0], { text: percent }),
  ...STALLS.map((reason, at) => plain(`stalled: ${reason}`, (row) => row.values[at + 1], { text: percent })),
  plain("packets waiting", (row) => row.values[QUEUE], { text: (queue) => significant(queue, 3) }),
  plain("flits", (row) => row.flits, { text: grouped }),
];
