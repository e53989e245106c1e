// The page: where it looks (place), what follows from that, and the keys.
import {byId, el, copy} from './dom.js';
import {setClock, seconds, moment} from './format.js';
import {get} from './api.js';
import {Timeline} from './timeline.js';
import {showStory} from './story.js';
import {Steps} from './steps.js';
import {showSearch} from './search.js';
import {showList} from './list.js';
import {showHelp} from './help.js';
import {showCall, callOfIt} from './call.js';
import {showFlame} from './flame.js';
import {showMoment} from './moment.js';
import {showWelcome, tellGaps} from './welcome.js';

// place is all that the URL says: the window, and what the panel shows.
const nothing = {poke: null, stream: null, at: null, kind: null, time: null, q: null, list: null, skip: null, fn: null, fnTime: null, nth: null, flame: null, step: null, scope: null, split: null}; // in the panel
const place = {from: 0, until: 0, ...nothing};
let recording = null;
let timeline = null;
let steps = null;
let panel = null; // ends what the panel waits for
let errand = null; // ends what is looked for

const app = {
  place, go, zoom, pan, note, panelStart, panelError, tellGaps,
  get recording() { return recording; },
  get timeline() { return timeline; },
  nothing,
  play: null, // of the story in the panel
  // moment is the time of what the panel shows, null where it shows none.
  get moment() { return place.time === null && story() ? app.play.time : place.time; },
  whole: () => go({from: recording.from, until: recording.until}),
};

// go changes the place, and shows it.
function go(change, replace) {
  Object.assign(place, change);
  place.from = Math.max(0, Math.round(place.from));
  place.until = Math.max(place.from + 1, Math.round(place.until));
  const url = '#' + hash();
  if (url !== location.hash) history[replace ? 'replaceState' : 'pushState'](null, '', url);
  show();
}

function hash() {
  const q = new URLSearchParams();
  if (place.from !== recording.from || place.until !== recording.until) q.set('t', `${seconds(place.from)},${seconds(place.until)}`);
  if (place.poke !== null) q.set('poke', place.poke);
  if (place.step !== null) q.set('step', place.step);
  if (place.scope) q.set('scope', place.scope);
  if (place.stream !== null) {
    q.set('stream', place.stream);
    if (place.at) q.set('at', place.at);
    else if (place.kind) q.set('kind', place.kind);
  }
  if (place.time !== null) q.set('time', seconds(place.time));
  if (place.fn) {
    q.set('fn', place.fn);
    q.set('fntime', seconds(place.fnTime));
    if (place.nth) q.set('nth', place.nth);
  }
  if (place.split !== null) q.set('split', place.split);
  if (place.flame) {
    q.set('flame', '1');
    for (const name of place.flame) q.append('in', name);
  }
  if (place.list) {
    q.set('list', place.list);
    if (place.skip) q.set('skip', place.skip);
  }
  if (place.q) q.set('q', place.q);
  return q.toString().replaceAll('+', '%20').replaceAll('%2C', ',').replaceAll('%2B', '+');
}

// restore takes the place from the URL.
function restore() {
  const q = new URLSearchParams(location.hash.slice(1).replaceAll('+', '%2B'));
  const change = {from: recording.from, until: recording.until, ...nothing};
  let unknown = false;
  try {
    if (q.get('t')) [change.from, change.until] = q.get('t').split(',').map(moment);
    if (q.get('poke')) change.poke = Number(q.get('poke'));
    if (q.get('step')) change.step = Number(q.get('step'));
    change.scope = q.get('scope');
    if (q.get('stream')) {
      change.stream = Number(q.get('stream'));
      change.at = q.get('at');
      change.kind = q.get('kind');
    }
    if (q.get('time')) change.time = moment(q.get('time'));
    if (q.get('split')) change.split = Number(q.get('split'));
    if (q.get('fn')) {
      change.fn = q.get('fn');
      change.fnTime = moment(q.get('fntime') || '0');
      change.nth = Number(q.get('nth'));
    }
    if (q.get('flame')) change.flame = q.getAll('in');
    change.q = q.get('q');
    change.list = q.get('list');
    if (q.get('skip')) change.skip = Number(q.get('skip'));
  } catch {
    unknown = true;
  }
  go(change, true);
  if (unknown) note('the URL names no place of this recording');
}

let shown = '';

// bare reports whether nothing is chosen.
function bare() { return Object.keys(nothing).every((k) => place[k] === null); }

// story reports whether the panel shows one.
function story() { return app.play && place.poke !== null && place.stream === null; }

// show draws the place.
function show() {
  byId('where').textContent = `${seconds(place.from)} to ${seconds(place.until)}`;
  timeline.show();
  byId('flame').setAttribute('aria-pressed', String(Boolean(place.flame)));
  const what = JSON.stringify([place.poke, place.stream, place.at, place.kind, place.time, place.q, place.list, place.skip, place.fn, place.fnTime, place.nth, place.scope, place.split, place.flame, (place.flame || place.scope === 'window' || bare()) && [place.from, place.until]]);
  if (what === shown) {
    if (story()) app.play.mark(place.step);
    timeline.draw();
    return;
  }
  app.play = null;
  shown = what;
  endLook();
  if (!place.q && document.activeElement !== byId('query')) byId('query').value = '';
  if (place.q) showSearch(app);
  else if (place.list) showList(app);
  else if (place.flame) showFlame(app);
  else if (place.fn) showCall(app);
  else if (place.stream !== null) steps.show();
  else if (place.poke !== null) showStory(app);
  else if (place.time !== null) showMoment(app);
  else welcome();
}

// panelStart ends what the panel waited for, and returns the panel and a signal that ends
// what it waits for now.
function panelStart(keep) {
  if (panel) panel.abort();
  panel = new AbortController();
  const box = byId('panel');
  if (!keep) box.replaceChildren(el('p', {class: 'busy', role: 'status'}, 'decoding …'));
  return {box, signal: panel.signal};
}

// note says something beside what the panel shows; busy: while something is looked for.
function note(text, busy) {
  byId('note').textContent = text;
  byId('note').setAttribute('aria-busy', String(Boolean(busy)));
}

// endLook gives up what is looked for, and forgets what was said of it.
function endLook() {
  if (errand) errand.abort();
  errand = null;
  note('');
}

// look asks for a place, and goes there by found. What the panel shows stays until then, and
// also where there is none. It ends when the panel comes to show something else.
app.look = async (path, params, found, none) => {
  endLook();
  const mine = new AbortController();
  errand = mine;
  note('looking … (Esc stops)', true);
  try {
    const a = await get(path, params, mine.signal);
    if (errand !== mine) return;
    endLook();
    if (a.step) found(a);
    else if (typeof none === 'function') none();
    else note(none);
  } catch (err) {
    if (err.name === 'AbortError') return;
    endLook();
    note(err.message);
  }
};

function panelError(err) {
  if (err.name === 'AbortError') return;
  byId('panel').replaceChildren(el('p', {class: 'error', role: 'alert'}, err.message));
}

function welcome() { showWelcome(app, {firstPoke: () => nextPoke(1), keys: showHelp}); }

function zoom(factor, at) {
  const width = (place.until - place.from) * factor;
  const mid = at === undefined ? focusTime() : at;
  const part = (mid - place.from) / (place.until - place.from);
  go({from: mid - width * part, until: mid + width * (1 - part)}, true);
}

// focusTime is what keys zoom to: the step or the poke that is shown, if it is on screen.
function focusTime() {
  let t = app.moment;
  if (t === null && place.poke !== null && timeline.pokeAt(place.poke)) t = timeline.pokeAt(place.poke).time;
  return t !== null && t >= place.from && t <= place.until ? t : (place.from + place.until) / 2;
}

function pan(part) {
  const d = (place.until - place.from) * part;
  go({from: place.from + d, until: place.until + d}, true);
}

// nextPoke goes to the next poke in time, or the one before. Where no moment is chosen, that is
// the first one on screen, or the last.
function nextPoke(way) {
  const list = timeline.allPokes;
  if (!list.length) return;
  if (timeline.thinned && story()) {
    press(way > 0 ? 'next →' : '← previous');
    return;
  }
  let i = list.findIndex((p) => p.index === place.poke);
  if (i >= 0) i += way;
  else if (way > 0) i = list.findIndex((p) => p.time >= (app.moment ?? place.from));
  else i = list.findLastIndex((p) => p.time <= (app.moment ?? place.until));
  if (!list[i]) {
    note(`there is no poke ${way > 0 ? 'behind' : 'before'} this`);
    return;
  }
  toPoke(app, list[i]);
}

// toPoke shows a poke, and moves the window to it where it is not on screen.
export function toPoke(app, p) {
  const change = {...nothing, poke: p.index};
  go({...change, ...around(p.time)});
}
app.toPoke = (p) => toPoke(app, p);

// toStep shows the instructions of a stream at a time; kind: at the first trap, gap or instruction
// that is not sure, from then on.
app.toStep = (stream, time, at, kind) => {
  const change = {...nothing, poke: place.poke, stream, time, at: at || null, kind: kind || null};
  go({...change, ...around(time)});
};

// toMoment shows what each CPU executed at a moment.
app.toMoment = (time, replace) => go({...nothing, time, ...around(time)}, replace);

// toExecution shows where code is executed next after a moment, or before: its instructions,
// or, where call is set, the call that it begins. Without a way it is the first one from the window's
// begin on, else the last one before that.
// behind is an execution at that moment, as the place names a call: where several have it.
app.toExecution = (f, way, at, {call, stream, trap, behind = {}} = {}) => {
  const time = Math.max(0, way ? at : place.from - 1);
  const found = (a) => {
    if (call) app.toCall({addr: f.addr, begin: a.step.time, stream: a.stream, nth: a.nth}, place.scope);
    else app.toStep(a.stream, a.step.time, a.step.at);
  };
  const never = `${f.sym || f.addr} is not executed ${!way ? 'where the trace shows it' : way === 'previous' ? `before ${seconds(time)}` : `after ${seconds(time)}`}`;
  const look = (to, none) => app.look('execution', {addr: f.addr, time, way: to, stream, trap, ...behind}, found, none);
  return look(way || 'next', way ? never : () => look('previous', never));
};

// toCall shows a call, and the function that was called. Where a call on screen began earlier
// than what is decoded of it, that is looked for.
app.toCall = (c, scope) => {
  const show = (time, nth) => go({...nothing, fn: c.addr, fnTime: time, nth: nth || 0, stream: c.stream, time, scope: scope || null, split: place.fn === c.addr ? place.split : null, ...around(time)});
  if (c.begin !== undefined) return show(c.begin, c.nth);
  const from = Math.max(place.from, c.from);
  const found = (a) => show(c.tid === undefined || a.step.tid < 0 || a.step.tid === c.tid ? a.step.time : from, a.nth);
  return app.look('execution', {addr: c.addr, time: from + 1, way: 'previous', stream: c.stream}, found, `it is not seen when this call of ${c.sym} began`);
};

// around is the change of place that has a moment on screen.
function around(time) {
  const width = place.until - place.from;
  return time < place.from || time > place.until ? {from: time - width / 2, until: time + width / 2} : {};
}

const keys = {
  f: () => go({...nothing, flame: []}),
  w: () => zoom(1 / 3), s: () => zoom(3), a: () => pan(-0.25), d: () => pan(0.25),
  '+': () => zoom(1 / 3), '-': () => zoom(3),
  ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25),
  0: () => app.whole(),
  n: () => nextPoke(1), p: () => nextPoke(-1),
  j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1), Home: () => steps.edge(-1), End: () => steps.edge(1),
  ' ': () => { if (story()) app.play.toggle(); },
  ']': () => nextCall(1), '[': () => nextCall(-1),
  x: () => steps.toggleCallers(),
  i: () => { if (place.fn) press('instructions of this call'); }, z: () => press('z'),
  '}': () => jump(1, 'poke'), '{': () => jump(-1, 'poke'), u: () => unsure(1), U: () => unsure(-1),
  '/': () => { byId('query').focus(); byId('query').select(); },
  '?': () => showHelp(),
  t: () => theme(),
  l: () => timeline.focus('.lane[tabindex="0"]', 1), L: () => timeline.focus('.lane[tabindex="0"]', -1),
  m: () => timeline.focus('.mark', 1), M: () => timeline.focus('.mark', -1),
  c: () => timeline.focus('.slice', 1), C: () => timeline.focus('.slice', -1),
  g: () => timeline.focus('.mark.gaps', 1), G: () => timeline.focus('.mark.gaps', -1),
  Backspace: () => history.back(),
  Escape: () => { if (errand) endLook(); else { go(nothing); byId('panel').focus(); } },
};

// jump goes to the next step of a kind, or the one before.
function jump(way, what) {
  if (place.stream === null) note('this key goes through the instructions of a lane: click one, or press l and Enter');
  else steps.jump(way, what);
}

// unsure goes to what is ambiguous or unconfirmed next: of the lane in the panel, else on screen.
function unsure(way) {
  if (place.stream === null) timeline.open('.mark.unsure', way);
  else steps.jump(way, 'unsure');
}

// nextCall goes to the next call: of the function in the panel, else of anything.
function nextCall(way) {
  if (place.list) press(way > 0 ? 'page →' : '← page');
  else if (place.fn) callOfIt(app, way);
  else jump(way, 'call');
}

// press presses a button of the panel, by its label or its key, if it is there.
function press(label) {
  const b = [...byId('panel').querySelectorAll('button')].find((x) => x.textContent === label || x.title === label);
  if (b) b.click();
}

function step(way) { (story() ? app.play : steps).step(way); }

function onKey(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches('input') || byId('help').open) {
    if (e.key === 'Escape' && e.target.matches('input')) e.target.blur();
    return;
  }
  if ((e.key === 'Enter' || e.key === ' ') && e.target.matches('button, a')) return;
  if (e.target.closest('#panel svg, #lanes') && (e.key === 'Enter' || e.key === ' ')) {
    if (e.target.dispatchEvent(new CustomEvent('press', {bubbles: true, cancelable: true})) === false) e.preventDefault();
    return;
  }
  const act = keys[e.key];
  if (!act || e.key === ' ' && !story() || (e.key === 'Home' || e.key === 'End') && place.stream === null) return;
  e.preventDefault();
  act();
}

function theme(name) {
  const root = document.documentElement;
  const now = name || (root.dataset.theme === 'dark' ? 'light' : 'dark');
  root.dataset.theme = now;
  byId('theme').textContent = now === 'dark' ? 'light' : 'dark';
  try { localStorage.setItem('theme', now); } catch { /* a page from a file may have no storage */ }
}

async function start() {
  let kept = null;
  try { kept = localStorage.getItem('theme'); } catch { /* none */ }
  theme(kept || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
  try {
    recording = await get('recording');
  } catch (err) {
    panelError(err);
    return;
  }
  setClock(recording);
  document.title = `${recording.name} – ptdecode`;
  byId('name').replaceChildren(el('bdi', {}, recording.name));
  byId('name').title = [recording.name, recording.host, recording.kernel].filter(Boolean).join(', ');
  byId('warnings').replaceChildren(...recording.warnings.map((w) => el('p', {}, w.what + (w.hint ? ` – ${w.hint}` : ''))));
  timeline = new Timeline(app, byId('lanes'));
  steps = new Steps(app);
  app.steps = steps;
  await timeline.load();
  restore();
  document.body.dataset.ready = 'true';
  for (const [id, act] of Object.entries({in: keys.w, out: keys.s, all: keys[0], flame: keys.f, back: keys.Backspace, theme: () => theme(), keys: keys['?']})) {
    byId(id).addEventListener('click', act);
  }
  for (const b of document.querySelectorAll('.copy[data-of]')) b.addEventListener('click', () => copy(byId(b.dataset.of), b));
  byId('search').addEventListener('submit', (e) => { e.preventDefault(); go({...nothing, q: byId('query').value.trim() || null}); });
  document.addEventListener('keydown', onKey);
  addEventListener('popstate', restore);
  addEventListener('hashchange', restore);
  addEventListener('resize', () => timeline.draw());
}

start();
