// A moment: what each CPU executed then.
import {el, callLine} from './dom.js';
import {seconds, span} from './format.js';
import {get} from './api.js';
import {answers} from './kept.js';
import {standing} from './steps.js';
import {showStack} from './stack.js';

export async function showMoment(app) {
  const {time} = app.place;
  const {box, signal} = app.panelStart(true);
  const body = el('tbody', {});
  box.replaceChildren(
    el('h2', {}, `What ran at ${seconds(time)}`),
    el('p', {class: 'facts'}, 'The last instruction of each that began by then. The keys l and Enter show the instructions around it.'),
    el('table', {}, el('thead', {}, el('tr', {}, ['', 'since', 'place', 'instruction', 'how sure', 'thread', ''].map((h) => el('th', {scope: 'col'}, h)))), body));
  for (const s of app.recording.streams) {
    const row = el('tr', {}, el('th', {scope: 'row'}, s.label), el('td', {class: 'busy', colspan: 6}, 'decoding …'));
    body.append(row);
    let a;
    try {
      a = await get('steps', {stream: s.index, time, before: 1, after: 1}, signal);
    } catch (err) {
      if (signal.aborted) return;
      row.lastChild.replaceWith(el('td', {class: 'error', colspan: 6}, err.message));
      continue;
    }
    if (signal.aborted) return;
    const last = a.steps[standing(a, time)];
    const cells = !last ? [el('td', {colspan: 6}, 'nothing was executed')] : [
      el('td', {class: 'code'}, last.time > time ? `begins ${span(last.time - time)} later` : last.time < time ? `${span(time - last.time)} before` : 'that moment'),
      el('td', {class: 'code'}, last.sym || last.ip || ''), el('td', {class: 'code'}, last.kind === 'insn' ? last.insn || '?' : last.what), el('td', {}, last.verdict || ''),
      el('td', {}, last.comm ? `${last.comm} ${last.tid}` : ''),
      el('td', {}, el('button', {class: 'copy', onclick: () => app.toStep(s.index, last.time, last.at), 'aria-label': `instructions of ${s.label} at that moment`}, 'instructions')),
    ];
    row.replaceChildren(row.firstChild, ...cells);
    if (last && !answers) {
      const callers = el('td', {class: 'callers', colspan: 7});
      row.after(el('tr', {}, callers));
      await showStack(app, callers, {stream: s.index, time: last.time, at: last.at}, signal);
      if (signal.aborted) return;
    }
    if (s.index < 4) box.append(callLine(a.command));
  }
}
