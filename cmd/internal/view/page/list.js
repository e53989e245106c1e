// A list of pokes: of a kind, of a thread, or in some functions; all of them, page by page.
import {el, callLine} from './dom.js';
import {count, seconds} from './format.js';
import {get} from './api.js';

const pageSize = 50;

// titles say what is listed. The place has it as kind:KIND, tid:TID or sym:GLOB.
const titles = {kind: (v) => `of the kind ${v}`, tid: (v) => `that thread ${v} made`, sym: (v) => `in functions like ${v}`, all: () => ''};

export async function showList(app) {
  const {list, skip, scope, from, until} = app.place;
  const at = list.indexOf(':');
  const what = at > 0 ? list.slice(0, at) : 'all';
  const window = scope === 'window';
  const {box, signal} = app.panelStart(true);
  try {
    const of = what === 'all' ? {} : {[what]: list.slice(at + 1)};
    const a = await get('list', {...of, skip: skip || 0, n: pageSize, ...(window ? {from, until} : {})}, signal);
    const turn = (label, to, on, title) => el('button', {disabled: !on, title, onclick: () => app.go({skip: to || null})}, label);
    const button = document.activeElement && document.activeElement.closest('#panel .bar') ? document.activeElement.textContent : '';
    box.replaceChildren(
      el('h2', {}, `${count(a.total, 'poke')} ${(titles[what] || titles.all)(list.slice(at + 1))}${window ? ' on screen' : ''}`),
      el('div', {class: 'bar'}, turn('← page', Math.max(0, a.skip - pageSize), a.skip > 0, '['), turn('page →', a.skip + pageSize, a.skip + pageSize < a.total, ']'),
        el('button', {'aria-pressed': String(window), onclick: () => app.go({scope: window ? null : 'window', skip: null})}, 'on screen only'),
        el('span', {class: 'dim', role: 'status'}, a.pokes.length ? `${a.skip + 1} to ${a.skip + a.pokes.length} of ${a.total}` : '')),
      el('table', {class: 'list'}, el('thead', {}, el('tr', {}, ['poke', 'time', 'kind', 'place', 'made by', 'old → new'].map((h) => el('th', {scope: 'col'}, h)))),
        el('tbody', {}, a.pokes.map((p) => row(app, p)))),
      callLine(a.command));
    const again = button && [...box.querySelectorAll('.bar button')].find((b) => b.textContent === button && !b.disabled);
    if (again) again.focus(); // who pressed it presses it again
  } catch (err) {
    app.panelError(err);
  }
}

function row(app, p) {
  const who = [p.tid && `${p.comm || 'thread'} ${p.tid}`, p.cpu >= 0 && `CPU ${p.cpu}`].filter(Boolean).join(', ');
  return el('tr', {}, el('td', {}, el('button', {class: 'copy', 'aria-label': `poke ${p.index}`, onclick: () => app.toPoke(p)}, String(p.index))),
    el('td', {class: 'code'}, seconds(p.time)), el('td', {}, p.kind), el('td', {class: 'code'}, p.sym || p.addr), el('td', {}, who || 'not known'),
    el('td', {class: 'code wide'}, `${p.old || 'nothing'} → ${p.new || 'nothing'}`));
}
