// The formulas behind the picture of the rule: numbers in, numbers out. Tests hold them against the engine's.
// Noise with standard deviations `std` along two axes turned by `angle` is private at mu when every change d that one
// record can cause has d' C^-1 d <= mu². The plane shown may be one of many: `theta` are the shares of its two axes.

const NODES = 64, CUT = 40, TAU = 2 * Math.PI;

// Points and weights of Gauss–Legendre on [0, 1].
const [POINTS, WEIGHTS] = (() => {
  const points = [], weights = [];
  for (let i = 0; i < NODES; i++) {
    let x = Math.cos(Math.PI * (i + 0.75) / (NODES + 0.5)), slope = 1;
    for (let turn = 0; turn < 100; turn++) {
      let [before, now] = [1, x];
      for (let k = 2; k <= NODES; k++) [before, now] = [now, ((2 * k - 1) * x * now - (k - 1) * before) / k];
      slope = NODES * (x * now - before) / (x * x - 1);
      const step = now / slope;
      x -= step;
      if (Math.abs(step) < 1e-16) break;
    }
    points.push((1 + x) / 2);
    weights.push(1 / ((1 - x * x) * slope * slope));
  }
  return [points, weights];
})();

// The integral of exp(-u²/2 - a u) f(u) over u > 0.
function tail(a, f) {
  const cut = 2 * CUT / (a + Math.hypot(a, Math.sqrt(2 * CUT)));
  return cut * POINTS.reduce((sum, point, k) => {
    const u = cut * point;
    return sum + WEIGHTS[k] * Math.exp(-u * (u / 2 + a)) * f(u);
  }, 0);
}

// log delta of Gaussian noise at this epsilon and mu, and its slope in log mu (Balle & Wang 2018, Theorem 8).
function logDelta(epsilon, mu) {
  const a = epsilon / mu - mu / 2;
  const mantissa = mu <= 2 ? tail(a, (u) => -Math.expm1(-mu * u)) : tail(a, () => 1) - tail(a + mu, () => 1);
  return { value: -a * a / 2 + Math.log(mantissa / Math.sqrt(TAU)), slope: mu / mantissa };
}

export function gaussianDelta(epsilon, mu) {
  return Math.exp(logDelta(epsilon, mu).value);
}

// The largest mu that is (epsilon, delta)-private. Newton's method in (log mu, log delta), where the curve is concave,
// from the left: where a = epsilon/mu - mu/2 makes exp(-a²/2)/2 equal to delta, the true delta is no larger.
export function gaussianMu(epsilon, delta) {
  const a = Math.sqrt(Math.max(-2 * Math.log(2 * delta), 0));
  let mu = 2 * epsilon / (Math.sqrt(a * a + 2 * epsilon) + a);
  for (let turn = 0; turn < 200; turn++) {
    const { value, slope } = logDelta(epsilon, mu);
    const step = (Math.log(delta) - value) / slope;
    mu *= Math.exp(Math.min(step, 1));
    if (Math.abs(step) < 1e-12) break;
  }
  return mu;
}

// A vector along the two axes that are turned by `angle`.
export function turned([x, y], angle) {
  const c = Math.cos(angle), s = Math.sin(angle);
  return [c * x + s * y, -s * x + c * y];
}

// Shares of the two axes where those alike divide what the whole plane has: `part` of it to the first kind. `groups`:
// how many directions have each of the two shares.
export function thetaOf(model, part) {
  const whole = wholeOf(model);
  return [part * whole / model.groups[0], (1 - part) * whole / model.groups[1]];
}

export function wholeOf({ theta, groups }) {
  return theta[0] * groups[0] + theta[1] * groups[1];
}

// Beside an ellipse of records: how far an evenly spread record goes along each axis.
export function spreads(model, angle) {
  const c = Math.cos(angle), s = Math.sin(angle), [a, b, d] = model.spread;
  return [Math.sqrt(c * c * a + 2 * c * s * b + s * s * d), Math.sqrt(s * s * a - 2 * c * s * b + c * c * d)];
}

// What a record is multiplied by to lie inside; [u, v, rest, part]: where it is, its squared length along all other
// directions, and the answer for a shape that cannot be moved.
export function partOf(model, radius, record, theta, angle) {
  const [u, v, rest, part] = record;
  if (model.kind !== "bounded") return part;
  const spread = spreads(model, angle), own = turned([u, v], angle);
  const square = rest + own.reduce((sum, value, k) => sum + theta[k] * (value / spread[k]) ** 2, 0);
  return Math.min(1, radius / Math.sqrt(Math.max(square, 1e-300)));
}

// The largest whitened move of one record, for directions turned by `angle` with shares `theta` (without the common
// factor): what the budget buys. h: how far a record reaches along each axis.
export function worst(model, theta, angle) {
  const c = Math.cos(angle), s = Math.sin(angle), [r1, r2] = model.reach;
  const h = [Math.abs(c) * r1 + Math.abs(s) * r2, Math.abs(s) * r1 + Math.abs(c) * r2];
  const q = [theta[0] / h[0] ** 2, theta[1] / h[1] ** 2];
  const corner = (sign) => q[0] * (c * r1 + sign * s * r2) ** 2 + q[1] * (-s * r1 + sign * c * r2) ** 2;
  return { h, total: model.sum - theta[0] - theta[1] + Math.max(corner(1), corner(-1)) };
}

// Standard deviations along the two axes at the privacy mu.
export function deviations(model, theta, angle, mu = model.mu) {
  if (model.kind === "fixed") return model.std.map((std) => std * model.mu / mu);
  if (model.kind === "theorem") return theorem(model, theta);
  if (model.kind === "bounded") {
    const spread = spreads(model, angle);
    return theta.map((t, k) => model.scale * spread[k] / Math.sqrt(t) * model.mu / mu);
  }
  if (model.kind === "pure") return theta.map((t, k) => model.std[k] * model.theta[k] / t * model.mu / mu);
  const { h, total } = worst(model, theta, angle);
  const factor = model.factor * model.total / total;
  return theta.map((t, k) => Math.sqrt(model.across * h[k] ** 2 / (factor * t)) * model.mu / mu);
}

// Where the outline of box and Laplace noise crosses the axes: there, the share of epsilon of an axis (of both, in one
// block) times the change that it hides is the whole.
export function pureEnds({ reach, joined }, theta) {
  return reach.map((most, k) => most / (theta[k] * joined[k]));
}

// The corners of that outline: of a box where both axes are in one block, of a diamond where they are apart.
export function pureCorners(model, theta) {
  const [a, b] = pureEnds(model, theta);
  return model.apart ? [[a, 0], [0, b], [-a, 0], [0, -b]] : [[a, b], [-a, b], [-a, -b], [a, -b]];
}

function theorem({ across, rootBudget }, theta) {
  return theta.map((t) => Math.sqrt(across / (Math.sqrt(t) * rootBudget)));
}

// What a theorem allows grows with phi, the root of constant phi² + beta phi = 2 epsilon; its noise is as 1/phi.
export function phi({ constant, beta }, epsilon) {
  return 4 * epsilon / (beta + Math.hypot(beta, Math.sqrt(8 * constant * epsilon)));
}

// The noise that a theorem asks for in place of `std`, and the angle of its first axis.
export function asTheorem(model, asked, theta, angle, epsilon = asked.epsilon) {
  const smaller = phi(asked, asked.epsilon) / phi(asked, epsilon);
  if (model.kind === "fixed") return { std: asked.std.map((std) => std * smaller), angle: asked.angle };
  const std = model.kind === "bounded" ? deviations(model, theta, angle).map((one) => one * asked.factor)
    : theorem(asked, theta);
  return { std: std.map((one) => one * smaller), angle };
}

// How many standard deviations the furthest of some changes is away, and which of them are that far.
export function touching(corners, std, angle) {
  const lengths = corners.map((corner) => Math.hypot(...turned(corner, angle).map((value, k) => value / std[k])));
  const radius = Math.max(...lengths);
  return { radius, at: corners.filter((_, k) => lengths[k] > radius * (1 - 1e-6)) };
}

// The noise along a line at this angle.
export function noiseAlong(std, angle, line) {
  return Math.hypot(...turned([Math.cos(line), Math.sin(line)], angle).map((value, k) => value * std[k]));
}

// The furthest that one record can move the answer along a line: h(u). No private noise is below h(u)/mu there.
export function reachAlong(corners, line) {
  return Math.max(...corners.map(([x, y]) => x * Math.cos(line) + y * Math.sin(line)));
}

// Records inside an ellipse and their ranges: points on the edge of what one of them can change, towards points all
// around the ellipse and the corners of the ranges, whatever the units.
export function boundedCorners(axes, angle, box, count = 720) {
  const around = Array.from({ length: count }, (_, k) => turned(
    [axes[0] * Math.cos(TAU * k / count), axes[1] * Math.sin(TAU * k / count)], -angle));
  const ends = [[1, 1], [-1, 1], [-1, -1], [1, -1]].map((signs) => signs.map((sign, axis) => sign * box[axis]));
  return [...around, ...ends].map((towards) => {
    const inside = Math.hypot(...turned(towards, angle).map((value, axis) => value / axes[axis]));
    const most = Math.max(inside, ...towards.map((value, axis) => Math.abs(value) / box[axis]));
    return towards.map((value) => value / most);
  });
}

// The shares that make something `wanted` that falls as axis k gets more. Neither gets less than the scenario allows.
export function shareFor(model, k, wanted, lengthOf) {
  let low = model.least, high = 1 - model.least;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (lengthOf(thetaOf(model, k === 0 ? middle : 1 - middle)) > wanted) low = middle; else high = middle;
  }
  const part = (low + high) / 2;
  return thetaOf(model, k === 0 ? part : 1 - part);
}

// What Python will take of it: shares are whole steps, within the same limit.
export function taken(model, k, theta) {
  const { groups, step } = model, whole = wholeOf({ theta, groups });
  const least = Math.max(model.least * whole, step);
  if (whole < 2 * least) return theta;
  const steps = Math.round(theta[k] * groups[k] / step) * step;
  const share = Math.min(Math.max(steps, least), whole - least);
  return [0, 1].map((one) => (one === k ? share : whole - share) / groups[one]);
}
