// The page: where it looks (place), what follows from that, and the keys.
import {byId, el, copy} from './dom.js';
import {setClock, seconds, moment} from './format.js';
import {get} from './api.js';
import {Timeline} from './timeline.js';
import {showStory} from './story.js';
import {Steps} from './steps.js';
import {showSearch} from './search.js';
import {showHelp} from './help.js';
import {showCall} from './call.js';
import {showFlame} from './flame.js';

// place is all that the URL says: the window, and what the panel shows.
const nothing = {poke: null, stream: null, at: null, time: null, q: null, fn: null, fnTime: null, flame: null}; // in the panel
const place = {from: 0, until: 0, ...nothing};
let recording = null;
let timeline = null;
let steps = null;
let panel = null; // ends what the panel waits for

const app = {
  place, go, zoom, pan, panelStart, panelError,
  get recording() { return recording; },
  get timeline() { return timeline; },
  nothing,
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
  if (place.stream !== null) {
    q.set('stream', place.stream);
    q.set('time', seconds(place.time));
    if (place.at) q.set('at', place.at);
  }
  if (place.fn) {
    q.set('fn', place.fn);
    q.set('fntime', seconds(place.fnTime));
  }
  if (place.flame) q.set('flame', '1');
  if (place.q) q.set('q', place.q);
  return q.toString().replaceAll('%2C', ',').replaceAll('%2B', '+');
}

// restore takes the place from the URL.
function restore() {
  const q = new URLSearchParams(location.hash.slice(1).replaceAll('+', '%2B'));
  const change = {from: recording.from, until: recording.until, ...nothing};
  try {
    if (q.get('t')) [change.from, change.until] = q.get('t').split(',').map(moment);
    if (q.get('poke')) change.poke = Number(q.get('poke'));
    if (q.get('stream')) {
      change.stream = Number(q.get('stream'));
      change.time = moment(q.get('time'));
      change.at = q.get('at');
    }
    if (q.get('fn')) {
      change.fn = q.get('fn');
      change.fnTime = moment(q.get('fntime') || '0');
    }
    if (q.get('flame')) change.flame = true;
    change.q = q.get('q');
  } catch {
    panelError(new Error('the URL names no place of this recording'));
  }
  go(change, true);
}

let shown = '';

// show draws the place.
function show() {
  byId('where').textContent = `${seconds(place.from)} to ${seconds(place.until)}`;
  timeline.show();
  const what = JSON.stringify([place.poke, place.stream, place.at, place.time, place.q, place.fn, place.fnTime, place.flame && [place.from, place.until]]);
  if (what === shown) return;
  shown = what;
  if (place.q) showSearch(app);
  else if (place.flame) showFlame(app);
  else if (place.fn) showCall(app);
  else if (place.stream !== null) steps.show();
  else if (place.poke !== null) showStory(app);
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

function panelError(err) {
  if (err.name === 'AbortError') return;
  byId('panel').replaceChildren(el('p', {class: 'error', role: 'alert'}, err.message));
}

function welcome() {
  const {box} = panelStart(true);
  box.replaceChildren(
    el('h2', {}, 'What ran while the code changed'),
    el('p', {}, 'Click a lane to see its instructions at that moment. Click a poke (▲) to see how each CPU crossed it. Drag to zoom.'),
    el('p', {}, `The recording has ${recording.pokes} changes to its code. `,
      el('button', {onclick: () => nextPoke(1)}, 'first poke'), ' ',
      el('button', {onclick: () => showHelp()}, 'keys')),
  );
}

function zoom(factor, at) {
  const width = (place.until - place.from) * factor;
  const mid = at === undefined ? focusTime() : at;
  const part = (mid - place.from) / (place.until - place.from);
  go({from: mid - width * part, until: mid + width * (1 - part)}, true);
}

// focusTime is what keys zoom to: the step or the poke that is shown, if it is on screen.
function focusTime() {
  let t = place.time;
  if (t === null && place.poke !== null && timeline.pokeAt(place.poke)) t = timeline.pokeAt(place.poke).time;
  return t !== null && t >= place.from && t <= place.until ? t : (place.from + place.until) / 2;
}

function pan(part) {
  const d = (place.until - place.from) * part;
  go({from: place.from + d, until: place.until + d}, true);
}

// nextPoke goes to the next poke in time, or the one before.
function nextPoke(way) {
  const list = timeline.allPokes;
  if (!list.length) return;
  let i = list.findIndex((p) => p.index === place.poke);
  if (i >= 0) i += way;
  else if (way > 0) i = Math.max(0, list.findIndex((p) => p.time >= focusTime()));
  else i = list.length - 1;
  if (!list[i]) return;
  toPoke(app, list[i]);
}

// toPoke shows a poke, and moves the window to it where it is not on screen.
export function toPoke(app, p) {
  const change = {...nothing, poke: p.index};
  const width = place.until - place.from;
  if (p.time < place.from || p.time > place.until) Object.assign(change, {from: p.time - width / 2, until: p.time + width / 2});
  go(change);
}
app.toPoke = (p) => toPoke(app, p);

// toStep shows the instructions of a stream at a time.
app.toStep = (stream, time, at) => {
  const change = {...nothing, poke: place.poke, stream, time, at: at || null};
  const width = place.until - place.from;
  if (time < place.from || time > place.until) Object.assign(change, {from: time - width / 2, until: time + width / 2});
  go(change);
};

// toExecution shows where code is executed next, seen from the middle of the window.
app.toExecution = async (f, way, at) => {
  const {signal} = panelStart();
  const time = Math.max(0, way ? at : place.from);
  try {
    const a = await get('execution', {addr: f.addr, time, way: way || 'next'}, signal);
    if (a.step) app.toStep(a.stream, a.step.time, a.step.at);
    else panelError(new Error(`${f.sym || f.addr} is not executed ${way === 'previous' ? 'before' : 'after'} ${seconds(time)}`));
  } catch (err) {
    panelError(err);
  }
};

// toCall shows a call, and the function that was called.
app.toCall = (c) => go({...nothing, fn: c.addr, fnTime: c.begin || Math.max(place.from, c.from), stream: c.stream, time: c.begin || c.from});

const keys = {
  f: () => go({...nothing, flame: true}),
  w: () => zoom(1 / 3), s: () => zoom(3), a: () => pan(-0.25), d: () => pan(0.25),
  '+': () => zoom(1 / 3), '-': () => zoom(3),
  ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25),
  0: () => app.whole(),
  n: () => nextPoke(1), p: () => nextPoke(-1),
  j: () => steps.step(1), k: () => steps.step(-1), ArrowDown: () => steps.step(1), ArrowUp: () => steps.step(-1),
  ']': () => steps.jump(1, 'call'), '[': () => steps.jump(-1, 'call'),
  '}': () => steps.jump(1, 'poke'), '{': () => steps.jump(-1, 'poke'),
  '/': () => byId('query').focus(),
  '?': () => showHelp(),
  t: () => theme(),
  l: () => timeline.focusLane(1), L: () => timeline.focusLane(-1),
  Backspace: () => history.back(),
  Escape: () => { go(nothing); byId('panel').focus(); },
};

function onKey(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches('input') || byId('help').open) {
    if (e.key === 'Escape' && e.target.matches('input')) e.target.blur();
    return;
  }
  if ((e.key === 'Enter' || e.key === ' ') && e.target.matches('button, a')) return;
  if (e.target.closest('#panel, #lanes') && (e.key === 'Enter' || e.key === ' ')) {
    if (e.target.dispatchEvent(new CustomEvent('press', {bubbles: true, cancelable: true})) === false) e.preventDefault();
    return;
  }
  const act = keys[e.key];
  if (!act) return;
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
