// What the server knows, by its API (docs/formats/view-api.md). An exported page has the
// answers in itself.
import {answers, keptAnswer} from './kept.js';

const token = new URLSearchParams(location.search).get('token') || '';

function address(path, params) {
  const q = new URLSearchParams();
  for (const [key, value] of Object.entries(params || {})) {
    if (value !== undefined && value !== null) q.set(key, typeof value === 'number' ? String(Math.round(value)) : value);
  }
  return `/api/${path}?${q}`;
}

async function ask(path, params, signal) {
  let r;
  try {
    r = await fetch(address(path, params), {signal, headers: {'X-Ptdecode-Token': token}});
  } catch (err) {
    if (err.name === 'AbortError') throw err;
    throw new Error('ptdecode view does not answer: it ended. Start it again, and open the URL that it prints.');
  }
  if (!r.ok) {
    let what = r.statusText;
    try { what = (await r.json()).error; } catch { /* no JSON: the status says it */ }
    throw new Error(what);
  }
  return r;
}

export async function get(path, params, signal) {
  if (answers) return keptAnswer(path, params || {});
  return (await ask(path, params, signal)).json();
}

// follow gives each line of an answer as it comes.
export async function follow(path, params, signal, take) {
  if (answers) { take(keptAnswer(path, params || {})); return; }
  const reader = (await ask(path, params, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const l of lines) if (l) take(JSON.parse(l));
  }
}
