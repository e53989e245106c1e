// A function: how often it was called, how long that took, and the next and the previous call.
import {el, svg, callLine} from './dom.js';
import {seconds, span, count, takes} from './format.js';
import {get} from './api.js';

let known = {}; // what was told last of a function

export async function showCall(app) {
  const {fn, scope, from, until} = app.place;
  const of = {addr: fn, ...(scope === 'window' ? {from, until} : {})};
  const key = JSON.stringify(of);
  const {box, signal} = app.panelStart(known.key === key);
  try {
    if (known.key !== key) known = {key, f: await get('function', of, signal)};
    box.replaceChildren(...page(app, known.f));
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
    const {fn, fnTime} = app.place;
    const to = Math.sign(ahead);
    await app.toExecution({addr: fn, sym: known.f && known.f.addr === fn && known.f.sym}, to > 0 ? 'next' : 'previous', fnTime, {call: true});
    ahead = app.place.fn === fn && app.place.fnTime !== fnTime ? ahead - to : 0;
  }
  going = false;
}

function page(app, f) {
  const {fnTime, stream, scope} = app.place;
  const button = (label, act, title) => el('button', {onclick: act, title}, label);
  const here = {addr: f.addr, sym: f.sym};
  const whole = scope !== 'window';
  const seen = thisCall(app, f.addr, fnTime);
  return [
    el('h2', {}, f.sym),
    el('div', {class: 'bar'}, button('← call of it', () => callOfIt(app, -1), '['), button('call of it →', () => callOfIt(app, 1), ']'),
      button('instructions of this call', () => app.toExecution(here, 'next', Math.max(0, fnTime - 1), {stream}), 'i'),
      el('button', {'aria-pressed': String(whole), onclick: () => app.go({scope: whole ? 'window' : null})}, whole ? 'count in the window only' : 'count in the whole recording')),
    el('p', {class: 'facts'}, `${whole ? 'In the whole recording' : 'In the window'}: ${count(f.calls, 'call')}${f.open ? `, ${f.open} of them not seen to begin and end` : ''}. `,
      `Address ${f.addr}${f.file ? `, ${f.file}` : ''}${f.src ? `, ${f.src}` : ''}.`),
    el('p', {class: 'facts', id: 'now'}, `The call at ${seconds(fnTime)} on ${app.recording.streams[stream].label}${seen ? `: ${seen}` : ''}.`),
    f.took ? el('table', {}, el('tr', {}, ['', 'least', 'median', '99 %', 'longest', 'sum'].map((h) => el('th', {scope: 'col'}, h))), line('with callees', f.took), line('without', f.self)) : null,
    f.bars.length ? el('h3', {}, 'How long the calls took') : null,
    f.bars.length ? histogram(f.bars) : null,
    f.callers.length ? el('h3', {}, 'Called by') : null,
    f.callers.length ? el('table', {}, f.callers.map((c) => el('tr', {}, el('td', {class: 'code'}, c.sym), el('td', {}, count(c.calls, 'time'))))) : null,
    callLine(f.command),
  ].filter(Boolean);
}

// thisCall says what is known of the call that is marked, if it is on screen.
function thisCall(app, addr, time) {
  for (const l of (app.timeline.slices || {lanes: []}).lanes) {
    const c = l.calls.find((x) => x.addr === addr && x.begin === time);
    if (c) return [c.took === undefined ? 'how long it took is not seen' : `took ${takes(c)}`, count(c.instructions, 'instruction'), `entered by ${c.how}, left by ${c.ended}`, c.unsure && 'not all of it is certain', c.gap && 'a gap lies in it'].filter(Boolean).join(', ');
  }
  return '';
}

function line(name, t) {
  return el('tr', {}, el('th', {scope: 'row'}, name), [t.min, t.median, t.p99, t.max, t.sum].map((n) => el('td', {}, span(n))));
}

function histogram(bars) {
  const most = Math.max(...bars.map((b) => b[2]));
  return el('table', {}, bars.map(([from, until, n]) => {
    const w = Math.max(2, n / most * 400);
    return el('tr', {}, el('td', {class: 'code'}, from === 0 ? 'under the clock’s step' : `${span(from)} – ${span(until)}`), el('td', {class: 'code'}, String(n)),
      el('td', {}, svg('svg', {width: 400, height: 12, 'aria-hidden': 'true'}, svg('rect', {class: 'bar', width: w, height: 12}))));
  }));
}
