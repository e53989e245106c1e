// What the panel shows where nothing is chosen: what to do, and which pokes there are.
import {el, callLine} from './dom.js';
import {count} from './format.js';
import {get} from './api.js';

export async function showWelcome(app, {firstPoke, keys}) {
  const {box, signal} = app.panelStart(true);
  const {recording, timeline, place} = app;
  const tables = el('div', {class: 'sides'});
  box.replaceChildren(
    el('h2', {}, 'What ran while the code changed'),
    el('p', {class: 'facts'}, 'Click a lane to see its instructions at that moment, a poke (▲) to see how each CPU crossed it, a call to see how long it took. Drag to zoom.'),
    el('div', {class: 'bar'}, recording.pokes ? el('button', {onclick: firstPoke, title: 'n'}, 'first poke on screen') : null, el('button', {onclick: keys, title: '?'}, 'keys')),
    recording.pokes ? tables : el('p', {}, 'The recording has no poke: no change to the kernel\'s code.'));
  if (!recording.pokes) return;
  try {
    const whole = timeline.isWhole();
    const a = await get('counts', whole ? {} : {from: place.from, until: place.until}, signal);
    const list = (title, rows) => el('div', {}, el('h3', {}, title), el('table', {}, rows.map(([name, n, q]) => el('tr', {}, el('td', {}, q ? el('button', {class: 'copy', title: 'list them', onclick: () => app.go({...app.nothing, q})}, name) : name), el('td', {class: 'n'}, n.toLocaleString('en-US'))))));
    tables.replaceChildren(
      list(whole ? `${count(a.total, 'poke')}: changes to the kernel's code` : `${count(a.total, 'poke')} on screen`, a.kinds.map((k) => [k.name, k.n, k.name])),
      a.threads.length ? list('Made by', a.threads.map((t) => [t.name || t.tid ? `${t.name || 'thread'} ${t.tid}` : 'not known', t.n, t.name])) : '');
    tables.after(
      whole && timeline.outside() ? el('p', {class: 'dim'}, `${count(timeline.outside(), 'of them was', 'of them were')} made before the trace begins or after it ends.`) : '',
      callLine(a.command));
  } catch (err) {
    if (!signal.aborted) tables.replaceChildren(el('p', {class: 'error'}, err.message));
  }
}
