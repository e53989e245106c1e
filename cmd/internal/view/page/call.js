// A function: how often it was called, how long that took, and the next and the previous call.
import {byId, el, svg, callLine} from './dom.js';
import {seconds, span, count, takes} from './format.js';
import {get} from './api.js';
import {answers} from './kept.js';
import {showStack} from './stack.js';

let known = {}; // what was told last of a function

export async function showCall(app) {
  const {fn, scope, split, from, until} = app.place;
  const of = {addr: fn, split, ...(scope === 'window' ? {from, until} : {})};
  const key = JSON.stringify(of);
  const {box, signal} = app.panelStart(known.key === key);
  try {
    if (known.key !== key) known = {key, f: await get('function', of, signal)};
    box.replaceChildren(...page(app, known.f));
    const {fnTime, nth, stream} = app.place;
    await showStack(app, byId('stack'), {stream, time: fnTime, addr: fn, nth: nth || 0}, signal);
  } catch (err) {
    app.panelError(err);
  }
}

let ahead = 0; // calls to go, forwards or backwards
let going = false;

// callOfIt goes to the next call of the function in the panel, or the one before. What is
// pressed while it looks for one counts too.
export async function callOfIt(app, way) {
  ahead += way;
  if (going) return;
  going = true;
  while (ahead) {
    const {fn, fnTime, nth, stream} = app.place;
    const to = Math.sign(ahead);
    await app.toExecution({addr: fn, sym: known.f && known.f.addr === fn && known.f.sym}, to > 0 ? 'next' : 'previous', fnTime, {call: true, behind: {of: stream, nth: nth || 0}});
    ahead = app.place.fn === fn && (app.place.fnTime !== fnTime || app.place.nth !== nth || app.place.stream !== stream) ? ahead - to : 0;
  }
  going = false;
}

function page(app, f) {
  const {fnTime, nth, stream, scope, split} = app.place;
  const button = (label, act, title) => el('button', {onclick: act, title}, label);
  const here = {addr: f.addr, sym: f.sym};
  const whole = scope !== 'window';
  return [
    el('h2', {}, f.sym),
    el('div', {class: 'bar'}, button('← call of it', () => callOfIt(app, -1), '['), button('call of it →', () => callOfIt(app, 1), ']'),
      button('instructions of this call', () => (nth ? app.toExecution(here, 'next', fnTime, {stream, behind: {of: stream, nth: nth - 1}}) : app.toExecution(here, 'next', Math.max(0, fnTime - 1), {stream})), 'i'),
      answers ? null : el('button', {'aria-pressed': String(whole), onclick: () => app.go({scope: whole ? 'window' : null})}, whole ? 'count in the window only' : 'count in the whole recording'),
      ...splits(app, f).map((n) => el('button', {'aria-pressed': String(split === n), onclick: () => app.go({split: split === n ? null : n})}, `before and after poke ${n}`))),
    el('p', {class: 'facts'}, `${answers ? 'In the exported time' : whole ? 'In the whole recording' : 'In the window'}: ${count(f.calls, 'call')}${f.open > f.unseen ? `, ${f.open - f.unseen} of which the trace does not show the end` : ''}${f.unseen ? `. ${f.unseen} more began before the trace shows them` : ''}. `,
      `Address ${f.addr}${f.file ? `, ${f.file}` : ''}${f.src ? `, ${f.src}` : ''}.`),
    el('p', {class: 'facts', id: 'now'}, thisCall(app, f.addr)),
    el('p', {class: 'facts', id: 'stack'}),
    ...times(app, f),
    f.callers.length ? el('h3', {}, 'Called by') : null,
    f.callers.length ? el('table', {}, f.callers.map((c) => el('tr', {}, el('td', {class: 'code'}, c.sym), el('td', {}, count(c.calls, 'time'))))) : null,
    callLine(f.command),
  ].filter(Boolean);
}

const mostSplits = 12;

// splits is the pokes at which the calls may be told apart: the one that was looked at last,
// and those of the function's own code.
function splits(app, f) {
  if (answers) return [];
  const own = app.timeline.allPokes.filter((p) => p.sym && p.sym.split('+')[0] === f.sym).map((p) => p.index);
  return [...new Set([app.place.split, app.lastPoke, ...own.slice(0, mostSplits)])].filter((n) => n !== null && n !== undefined).sort((a, b) => a - b);
}

// thisCall says what is known of the call that is marked; more where it is on screen.
function thisCall(app, addr) {
  const {fnTime, nth, stream} = app.place;
  let c;
  for (const l of (app.timeline.slices || {lanes: []}).lanes) c = c || l.calls.find((x) => x.addr === addr && x.begin === fnTime && (x.nth || 0) === (nth || 0));
  const seen = c && [c.took === undefined ? 'how long it took is not seen' : `took ${takes(c)}`, count(c.instructions, 'instruction'), begun(c), left(c), c.unsure && 'not all of it is certain', c.gap && 'a gap lies in it'].filter(Boolean).join(', ');
  return `The call at ${seconds(fnTime)}${nth ? `, number ${nth + 1} of those that begin at this moment,` : ''} on ${app.recording.streams[stream].label}${seen ? `: ${seen}` : ''}.`;
}

// begun says how a call was entered, left how it was left: a call may reach out of the window.
const begun = (c) => (c.how === 'unseen' ? 'what is on screen does not show how it began' : `entered by ${c.how}`);
const left = (c) => (c.ended === 'end of trace' ? 'it goes on behind what is on screen' : `left by ${c.ended}`);

// markCall says more of the call in the panel when the slices on screen are there.
export function markCall(app) {
  if (app.place.fn && byId('now') && known.f && known.f.addr === app.place.fn) byId('now').textContent = thisCall(app, app.place.fn);
}

// times is how long the calls took, and a histogram: of all, or before, across and after a poke.
function times(app, f) {
  const parts = f.parts ? f.parts.filter((p) => p.calls || p.took) : [{part: '', calls: f.calls, took: f.took, self: f.self, bars: f.bars}];
  const rows = parts.filter((p) => p.took).flatMap((p) => [line(`${p.part} with callees`, p.calls, p.took), line(`${p.part} without`, p.calls, p.self)]);
  if (!rows.length) return [];
  return [
    f.parts ? el('h3', {}, `Before and after poke ${f.split}`) : null,
    f.again !== undefined ? el('p', {class: 'facts'}, `Poke ${f.again} changes the same code again: what is after poke ${f.split} includes what ran after that. `, el('button', {class: 'copy', onclick: () => app.go({split: f.again})}, `before and after poke ${f.again} instead`)) : null,
    el('table', {}, el('tr', {}, ['', 'calls', 'least', 'median', 'mean', '99 %', 'longest', 'sum'].map((h) => el('th', {scope: 'col'}, h))), rows),
    el('p', {class: 'dim'}, `By the trace’s clock: 0 is less than its step.${f.off ? ` A time is known to ${give(f.off.median)} (median), ${give(f.off.max)} at worst.` : ''}`),
    ...longest(app, f),
    el('h3', {}, 'How long the calls took'),
    histogram(parts),
  ];
}

// longest is the calls that took longest, and when and where they ran.
function longest(app, f) {
  if (!f.longest.length) return [];
  const who = (c) => `${app.recording.streams[c.stream].label}${c.tid < 0 ? '' : `, ${c.comm || 'thread'} ${c.tid}`}`;
  return [
    el('h3', {}, 'The longest'),
    el('table', {}, f.longest.map((c) => el('tr', {}, el('td', {class: 'code'}, takes({...c, most: c.most >= 2 ** 63 ? undefined : c.most})),
      el('td', {}, el('button', {class: 'copy', onclick: () => app.toCall({addr: f.addr, begin: c.begin, stream: c.stream, nth: c.nth}, app.place.scope)}, `at ${seconds(c.begin)}`)), el('td', {}, who(c))))),
  ];
}

// give is how far off a time may be.
function give(ns) {
  return ns >= 2 ** 63 ? 'no bound' : `±${span(ns)}`;
}

function line(name, calls, t) {
  return el('tr', {}, el('th', {scope: 'row'}, name.trim()), el('td', {class: 'n'}, calls.toLocaleString('en-US')), [t.min, t.median, t.mean, t.p99, t.max, t.sum].map((n) => el('td', {class: 'n'}, span(n))));
}

// histogram is a row for each length of time, and a column for each part.
function histogram(parts) {
  const rows = new Map();
  for (const [i, p] of parts.entries()) {
    for (const [from, until, n] of p.bars) {
      const r = rows.get(from) || {from, until, n: parts.map(() => 0)};
      r.n[i] = n;
      rows.set(from, r);
    }
  }
  const width = parts.length > 1 ? 180 : 400;
  const most = parts.map((p) => Math.max(1, ...p.bars.map((b) => b[2])));
  const cell = (n, i) => [el('td', {class: 'code n'}, n ? n.toLocaleString('en-US') : ''),
    el('td', {}, svg('svg', {width, height: 12, 'aria-hidden': 'true'}, n ? svg('rect', {class: 'bar', width: Math.max(2, n / most[i] * width), height: 12}) : null))];
  return el('table', {},
    parts.length > 1 ? el('tr', {}, el('th', {}, ''), parts.map((p) => el('th', {scope: 'col', colspan: 2}, `${p.part}: ${count(p.calls, 'call')}`))) : null,
    [...rows.values()].sort((a, b) => a.from - b.from).map((r) => el('tr', {}, el('td', {class: 'code'}, r.from === 0 ? 'under the clock’s step' : `${span(r.from)} – ${span(r.until)}`), r.n.flatMap(cell))));
}
