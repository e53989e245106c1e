// An exported page has the answers in itself: this finds them.
import {moment} from './format.js';

const block = document.getElementById('answers');
export const answers = block ? JSON.parse(block.textContent) : null;

export function keptAnswer(path, params) {
  if (path === 'stack') throw new Error('the exported page has no stacks');
  const special = {poke: keptPoke, steps: keptSteps, search: keptSearch, function: keptFunction, jump: keptJump, execution: keptExecution, thread: keptThread, list: keptList, counts: keptCounts}[path];
  if (special) return special(params);
  if (!answers[path]) throw new Error('the exported page does not have this');
  return answers[path];
}

function keptPoke(params) {
  const a = answers.poke[params.n];
  if (!a) throw new Error('this change is not in the exported window');
  return a;
}

function keptFunction(params) {
  const a = answers.function[params.addr];
  if (!a) throw new Error('this function was not called in the exported window');
  return a;
}

function stepsOf(stream) {
  const a = answers.steps[stream];
  if (!a || !a.steps.length) throw new Error('the exported page has no instructions of this lane');
  return a;
}

function keptSteps(params) {
  const a = stepsOf(params.stream);
  const is = {trap: (s) => s.kind === 'trap', gap: (s) => s.kind === 'gap', unsure: isUnsure}[params.kind] || (() => true);
  let at = params.at ? a.steps.findIndex((s) => s.at === params.at) : a.steps.findIndex((s) => s.time >= params.time && is(s));
  const found = at >= 0;
  if (!found) at = a.steps.length - 1;
  const from = Math.max(0, at - params.before);
  return {...a, anchor: at - from, found, steps: a.steps.slice(from, at + params.after)};
}

function keptJump(params) {
  const {steps} = stepsOf(params.stream);
  const way = params.way === 'previous' ? -1 : 1;
  const is = (i) => (params.what === 'unsure' ? isUnsure(steps[i]) && !(i > 0 && isUnsure(steps[i - 1])) : params.what === 'poke' ? ['trap', 'cut'].includes(steps[i].kind) : i > 0 && steps[i].kind === 'insn' && isCall(steps[i - 1].insn));
  for (let i = steps.findIndex((s) => s.at === params.at) + way; i >= 0 && i < steps.length; i += way) {
    if (is(i)) return {stream: params.stream, step: steps[i]};
  }
  return {stream: params.stream, step: null};
}

const isUnsure = (s) => s.kind === 'insn' && /ambiguous|unconfirmed/.test(s.verdict || '');

export function isCall(insn) {
  return /^(call|bl|blr|blraa?z?|blrab)\b/.test(insn || '');
}

function keptExecution(params) {
  const back = params.way === 'previous';
  let best = {stream: -1, step: null};
  for (const [stream, {steps}] of Object.entries(answers.steps)) {
    if (params.stream !== undefined && String(params.stream) !== stream) continue;
    // Of one moment, the executions of the first stream come first.
    let from = back ? -1 : Infinity;
    if (params.of !== undefined) from = Number(stream) === params.of ? params.nth : Number(stream) > params.of ? -1 : Infinity;
    const list = [];
    for (const s of steps) {
      if (params.trap !== undefined ? s.kind !== 'trap' || s.poke !== params.trap : s.ip !== params.addr || s.kind !== 'insn') continue;
      const last = list[list.length - 1];
      list.push({s, nth: last && last.s.time === s.time ? last.nth + 1 : 0});
    }
    const {time} = params;
    const hit = back ? list.findLast(({s, nth}) => s.time < time || s.time === time && nth < from) : list.find(({s, nth}) => s.time > time || s.time === time && nth > from);
    if (hit && (!best.step || (back ? hit.s.time >= best.step.time : hit.s.time < best.step.time))) best = {stream: Number(stream), step: hit.s, nth: hit.nth};
  }
  return best;
}

// keptThread finds the instruction of a thread that is nearest to a moment, as /api/thread does.
function keptThread({tid, time, way}) {
  let best = {stream: -1, step: null};
  for (const [stream, {steps}] of Object.entries(answers.steps)) {
    const own = steps.filter((s) => s.kind === 'insn' && s.tid === tid);
    const last = way !== 'next' && own.findLast((s) => s.time <= time);
    const next = way !== 'previous' && own.find((s) => s.time > time);
    for (const step of [last, next].filter(Boolean)) {
      const far = step.time > time ? step.time - time : Math.min(0, (step.until ?? step.time) - time);
      if (!best.step || Math.abs(far) < Math.abs(best.far)) best = {stream: Number(stream), step, far};
    }
  }
  return best;
}

// madeIn returns the pokes that were made in a window, else in that of the page.
function madeIn({from, until}) {
  const {recording} = answers;
  const [a, b] = until ? [from, until] : [recording.from, recording.until];
  return answers.pokes.pokes.filter((p) => p.time >= a && p.time <= b);
}

function keptCounts(params) {
  if (!params.until) return answers.counts;
  const list = madeIn(params);
  const some = (all, of) => all.map((x) => ({...x, n: list.filter((p) => of(p, x)).length})).filter((x) => x.n).sort((a, b) => b.n - a.n);
  const {kinds, threads, command} = answers.counts;
  return {total: list.length, kinds: some(kinds, (p, k) => p.kind === k.name), threads: some(threads, (p, t) => (p.tid || 0) === t.tid), command};
}

// fits reports whether a pattern is a name, or a glob that fits it: * is any text, ? any character,
// [a-z] one of those in brackets.
function fits(pattern, name) {
  if (pattern === name) return true;
  const char = (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const special = {'*': '.*', '?': '.'};
  const source = pattern.replace(/\[(\^?)((?:\\.|[^\\\]])+)\]|[*?]|\\?([^])/g, (all, not, some, one) => (some ? `[${not}${some.replace(/\\(.)|([^-])/g, (_, a, b) => char(a || b))}]` : one ? char(one) : special[all]));
  try {
    return new RegExp(`^${source}$`, 's').test(name);
  } catch {
    return false; // a range that ends before it begins
  }
}

function keptList({kind, tid, sym, skip, n, from, until}) {
  const all = madeIn({from, until}).filter((p) => (!kind || p.kind === kind) && (!tid || String(p.tid) === String(tid)) && (!sym || fits(sym, (p.sym || '').split(' ')[0].split('+0x')[0])));
  const sides = ({index}) => (answers.poke[index] ? {old: text(answers.poke[index].poke, 'old'), new: text(answers.poke[index].poke, 'new')} : {});
  return {total: all.length, skip, pokes: all.slice(skip, skip + n).map((p) => ({...p, ...sides(p)})), command: answers.pokes.command};
}

const text = (poke, side) => (poke[side] ? `${poke[side]} (${poke[`${side}_disasm`]})` : '');

function keptSearch({q}) {
  const found = [];
  if (/^\d+\.\d+$/.test(q)) found.push({kind: 'time', label: q, time: moment(q)});
  const number = q.replace(/^(poke[: ]|#)/, '');
  const tid = q.replace(/^(thread|tid) /, '');
  for (const [addr, f] of Object.entries(answers.function)) {
    if (f.sym.includes(q) || addr === q) found.push({kind: 'symbol', label: f.sym, sym: f.sym, addr});
  }
  for (const p of answers.pokes.pokes) {
    if (String(p.index) === number || (p.sym || '').includes(q) || p.kind === q || p.addr === q) {
      found.push({kind: 'poke', label: `poke ${p.index}: ${p.sym || p.addr} (${p.kind})`, poke: p.index, time: p.time});
    }
  }
  for (const l of answers.density.lanes) {
    if (l.tid !== undefined && (String(l.tid) === tid || (l.comm || '').includes(q) || `${l.comm} ${l.tid}` === q)) found.push({kind: 'thread', label: `${l.comm || ''}, thread ${l.tid}`, tid: l.tid});
  }
  const kinds = answers.counts.kinds.filter((k) => k.name === q).map((k) => ({kind: 'list', label: `${k.n === 1 ? 'the poke' : `all ${k.n} pokes`} of the kind ${q}`, of: `kind:${q}`}));
  return {query: q, found: [...kinds, ...found]};
}
