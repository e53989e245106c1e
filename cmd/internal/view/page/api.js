// What the server knows, by its API (docs/formats/view-api.md). An exported page has the
// answers in itself.

const token = new URLSearchParams(location.search).get('token') || '';
const kept = document.getElementById('answers');
export const answers = kept ? JSON.parse(kept.textContent) : null;

function address(path, params) {
  const q = new URLSearchParams();
  for (const [key, value] of Object.entries(params || {})) {
    if (value !== undefined && value !== null) q.set(key, typeof value === 'number' ? String(Math.round(value)) : value);
  }
  return `/api/${path}?${q}`;
}

async function ask(path, params, signal) {
  const r = await fetch(address(path, params), {signal, headers: {'X-Ptdecode-Token': token}});
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
    const last = lines.filter((l) => l).pop();
    if (last) take(JSON.parse(last));
  }
}

function keptAnswer(path, params) {
  if (path === 'poke') {
    const a = answers.poke[params.n];
    if (!a) throw new Error('this change is not in the exported window');
    return a;
  }
  if (path === 'steps') return keptSteps(params);
  if (path === 'search') return {query: params.q, found: searchKept(params.q)};
  if (!answers[path]) throw new Error('the exported page does not have this');
  return answers[path];
}

function keptSteps(params) {
  const a = answers.steps[params.stream];
  if (!a || !a.steps.length) throw new Error('the exported page has no instructions of this lane');
  let at = params.at ? a.steps.findIndex((s) => s.at === params.at) : a.steps.findIndex((s) => s.time >= params.time);
  const found = at >= 0;
  if (!found) at = a.steps.length - 1;
  const from = Math.max(0, at - params.before);
  return {...a, anchor: at - from, found, steps: a.steps.slice(from, at + params.after)};
}

function searchKept(q) {
  const list = [];
  for (const p of answers.pokes.pokes) {
    if (String(p.index) === q || (p.sym || '').includes(q) || p.kind === q || p.addr === q) {
      list.push({kind: 'poke', label: `poke ${p.index}: ${p.sym || p.addr} (${p.kind})`, poke: p.index, time: p.time});
    }
  }
  return list;
}
