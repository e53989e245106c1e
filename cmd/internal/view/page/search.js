import {byId, el} from './dom.js';
import {get} from './api.js';

export async function showSearch(app) {
  const q = app.place.q;
  byId('query').value = q;
  const {box, signal} = app.panelStart();
  try {
    const a = await get('search', {q}, signal);
    const [one] = a.found;
    if (a.found.length === 1 && ['time', 'window'].includes(one.kind)) { // the way back leads before the search
      byId('panel').focus();
      return one.kind === 'time' ? app.toMoment(one.time, true) : app.go({...app.nothing, from: one.time, until: one.until}, true);
    }
    box.replaceChildren(
      el('h2', {}, `Found for “${a.query}”: ${a.found.some((f) => f.kind !== 'outside') ? a.found.length : 'nothing'}`),
      a.near ? el('p', {}, `${a.near}${a.near.startsWith('is it') ? '?' : ''}`) : '',
      a.more ? el('p', {class: 'dim'}, 'There are more: the first 50 of a kind are shown. A list of pokes has all of them; a longer word finds fewer symbols.') : '',
      el('ul', {class: 'found'}, a.found.map((f) => el('li', {}, el('b', {}, f.kind), ' ', goTo(app, f)))),
    );
    const first = box.querySelector('button');
    if (first) first.focus();
    else byId('query').select();
  } catch (err) {
    app.panelError(err);
  }
  return undefined;
}

function goTo(app, f) {
  const act = {
    poke: () => app.toPoke({index: f.poke, time: f.time}),
    list: () => app.go({...app.nothing, list: f.of}),
    time: () => app.toMoment(f.time),
    window: () => app.go({...app.nothing, from: f.time, until: f.until}),
    thread: () => app.timeline.showThread(f.tid),
    symbol: () => app.toExecution(f), // data is never executed
    address: () => app.toExecution(f),
  }[f.kind];
  const where = ['symbol', 'data'].includes(f.kind) ? ` ${f.addr}` : '';
  if (!act) return el('span', {}, f.label + where);
  const calls = f.kind === 'symbol' && el('button', {class: 'copy', onclick: () => app.toExecution(f, null, null, {call: true})}, 'its calls: how many, how long');
  return calls ? el('span', {}, el('button', {onclick: act}, f.label + where), ' ', calls) : el('button', {onclick: act}, f.label + where);
}
