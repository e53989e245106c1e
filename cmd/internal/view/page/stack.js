// The calls that something ran in: who called it, from the inside outwards.
import {el} from './dom.js';
import {get} from './api.js';
import {answers} from './kept.js';

// showStack fills a box with the callers of what params name, each leading to its call.
export async function showStack(app, box, params, signal) {
  if (answers) return; // an exported page has no stacks
  box.replaceChildren(el('span', {class: 'dim busy'}, 'called by …'));
  try {
    const a = await get('stack', params, signal);
    box.replaceChildren(...chain(app, a));
  } catch (err) {
    if (err.name !== 'AbortError') box.replaceChildren(el('span', {class: 'error'}, err.message));
  }
}

function chain(app, a) {
  const callers = a.frames.slice(1);
  const list = callers.flatMap((f, i) => {
    const inner = a.frames[i]; // it says from where it was entered
    const title = [inner.from && `from ${inner.from}`, inner.how === 'interrupt' && 'interrupted'].filter(Boolean).join(', ');
    return [' ← ', f.begin === undefined ? el('span', {class: 'code', title}, f.sym) : el('button', {class: 'copy', title, onclick: () => app.toCall({addr: f.addr, begin: f.begin, stream: a.stream, nth: f.nth})}, f.sym), inner.how === 'interrupt' ? ' (interrupted)' : ''];
  });
  const last = a.frames.at(-1) || {};
  const from = last.how === 'jump' && last.from && `jumped to from ${last.from}`;
  const ways = {user: 'entered from user space', resumed: 'tracing came on there'};
  const end = !a.found ? 'the calls around it are not seen' : a.whole && [from, ways[a.entered]].filter(Boolean).join(', ') || 'what was called before is not seen';
  return [el('b', {}, 'called by'), ...list, el('span', {class: 'dim'}, `${callers.length ? '; ' : ': '}${end}`)];
}
