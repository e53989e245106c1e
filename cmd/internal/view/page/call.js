// A function: how often it was called, how long that took, and the next and the previous call.
import {el, svg, callLine} from './dom.js';
import {seconds, span, count} from './format.js';
import {get} from './api.js';

export async function showCall(app) {
  const {box, signal} = app.panelStart();
  try {
    const f = await get('function', {addr: app.place.fn}, signal);
    box.replaceChildren(...page(app, f));
  } catch (err) {
    app.panelError(err);
  }
}

function page(app, f) {
  const {fnTime, stream} = app.place;
  const button = (label, act, title) => el('button', {onclick: act, title}, label);
  const go = (way) => app.toExecution({addr: f.addr, sym: f.sym}, way, fnTime);
  return [
    el('h2', {}, f.sym),
    el('div', {class: 'bar'}, button('← call of it', () => go('previous')), button('call of it →', () => go('next')),
      button('instructions of this call', () => app.toExecution({addr: f.addr, sym: f.sym}, 'next', fnTime - 1, stream))),
    el('p', {class: 'facts'}, `${count(f.calls, 'call')}${f.open ? `, ${f.open} of them not seen to begin and end` : ''}. Address ${f.addr}${f.file ? `, ${f.file}` : ''}. The call at ${seconds(fnTime)} is marked.`),
    f.took ? el('table', {}, el('tr', {}, ['', 'least', 'median', '99 %', 'longest', 'sum'].map((h) => el('th', {scope: 'col'}, h))), line('with callees', f.took), line('without', f.self)) : null,
    f.bars.length ? el('h3', {}, 'How long the calls took') : null,
    f.bars.length ? histogram(f.bars) : null,
    f.callers.length ? el('h3', {}, 'Called by') : null,
    f.callers.length ? el('table', {}, f.callers.map((c) => el('tr', {}, el('td', {class: 'code'}, c.sym), el('td', {}, count(c.calls, 'time'))))) : null,
    callLine(f.command),
  ].filter(Boolean);
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
