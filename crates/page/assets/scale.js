// Axes: from values to places, and where their ticks are.

/** A linear or logarithmic scale from a range of values to a range of places. */
class Scale {
  constructor([low, high], [from, to], logarithmic = false) {
    Object.assign(this, { low, high, from, to, logarithmic });
  }

  along(value) {
    const along = this.logarithmic ? Math.log : (it) => it;
    return (along(value) - along(this.low)) / (along(this.high) - along(this.low));
  }

  place(value) {
    return this.from + this.along(value) * (this.to - this.from);
  }

  value(place) {
    const share = (place - this.from) / (this.to - this.from);
    return this.logarithmic
      ? this.low * (this.high / this.low) ** share
      : this.low + share * (this.high - this.low);
  }

  /** Values for about so many ticks. */
  ticks(count) {
    return this.logarithmic && this.high / this.low > 5 ? this.powers(count) : this.steps(count);
  }

  steps(count) {
    const rough = (this.high - this.low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((it) => it >= rough * 0.999);
    const ticks = [];
    for (let at = Math.ceil(this.low / step - 1e-9); at * step <= this.high * (1 + 1e-12) + step * 1e-9; at += 1) {
      ticks.push(Number((at * step).toPrecision(12)));
    }
    return ticks;
  }

  powers(count) {
    const decades = Math.log10(this.high / this.low);
    const factors = decades > count ? [1] : decades > count / 2 ? [1, 3] : [1, 2, 5];
    const ticks = [];
    for (let power = Math.floor(Math.log10(this.low)); power <= Math.log10(this.high); power += 1) {
      for (const factor of factors) ticks.push(factor * 10 ** power);
    }
    return ticks.filter((tick) => tick >= this.low * 0.9999 && tick <= this.high * 1.0001);
  }

  /** The range made smaller or larger by a factor, around a value. */
  zoomed(factor, around) {
    const middle = this.along(around);
    const end = (share) => this.value(this.from + (middle + (share - middle) * factor) * (this.to - this.from));
    return [end(0), end(1)];
  }
}

/** A tick's label: as many digits as its neighbours need. */
function tickLabel(tick, ticks) {
  if (Math.abs(tick) >= 1e6) return tick.toExponential().replace("+", "");
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : Math.abs(tick);
  const decimals = Math.max(0, Math.min(8, Math.ceil(-Math.log10(Math.min(step, Math.abs(tick) || step)) - 1e-9)));
  return grouped(Number(tick.toFixed(decimals)));
}
