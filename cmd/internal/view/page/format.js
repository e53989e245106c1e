// Times come as numbers of ns behind the recording's base, which may be too large for one.

let base = 0n;
let timed = true;

export function setClock(recording) {
  base = BigInt(recording.base);
  timed = recording.timed;
}

// seconds renders a moment as the command prints it; an offset where the trace has no time.
export function seconds(t) {
  const n = BigInt(Math.round(t));
  if (!timed) return '+0x' + n.toString(16);
  const ns = base + n;
  return `${ns / 1000000000n}.${String(ns % 1000000000n).padStart(9, '0')}`;
}

// secondsOf renders a time of the recording's clock, ns.
export function secondsOf(ns) {
  const n = BigInt(ns);
  return `${n / 1000000000n}.${String(n % 1000000000n).padStart(9, '0')}`;
}

// moment is the inverse of seconds.
export function moment(s) {
  if (!timed) return Number(BigInt(s.replace('+', '')));
  const [sec, frac = ''] = s.split('.');
  const ns = BigInt(sec || '0') * 1000000000n + BigInt(frac.padEnd(9, '0').slice(0, 9));
  return Number(ns - base);
}

export function bounds(m) {
  if (!m) return '';
  if (m.hi === undefined || m.hi === m.lo) return seconds(m.lo);
  return `${seconds(m.lo)} … +${span(m.hi - m.lo)}`;
}

// span renders a length of time.
export function span(ns) {
  const a = Math.abs(ns);
  const units = timed ? [['s', 1e9], ['ms', 1e6], ['µs', 1e3]] : [['GB', 1e9], ['MB', 1e6], ['kB', 1e3]];
  for (const [unit, n] of units) {
    if (a >= n) return `${trim(ns / n)} ${unit}`;
  }
  return `${trim(ns)} ${timed ? 'ns' : 'bytes'}`;
}

// takes renders how long a call took, and how far off that may be.
export function takes(c) {
  return `${span(c.took)} ±${c.most === undefined ? '?' : span(Math.max(c.most - c.took, c.took - c.least, 0))}`;
}

function trim(x) {
  return Number(x.toPrecision(4)).toString();
}

// Made once: a number's toLocaleString makes one each time, which takes 80 µs.
export const digits = new Intl.NumberFormat('en-US');

export function count(n, one, many) {
  return `${digits.format(n)} ${n === 1 ? one : many || one + 's'}`;
}
