// Elements are made here and nowhere else: names of the recording become text, never markup.

export function el(tag, attrs, ...children) {
  return fill(document.createElement(tag), attrs, children);
}

export function svg(tag, attrs, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attrs, children);
}

function fill(e, attrs, children) {
  for (const [key, value] of Object.entries(attrs || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? '' : String(value));
  }
  for (const c of children.flat()) {
    if (c !== null && c !== undefined && c !== false) e.append(c);
  }
  return e;
}

export function byId(id) {
  return document.getElementById(id);
}

// callLine shows the command that prints the same, with a button that copies it.
export function callLine(command) {
  const code = el('code', {}, command);
  const button = el('button', {class: 'copy', 'aria-label': 'copy the command', onclick: () => copy(code, button)}, 'copy');
  return el('p', {class: 'call'}, code, button);
}

export async function copy(from, button) {
  try {
    await navigator.clipboard.writeText(from.textContent);
    button.textContent = 'copied';
  } catch {
    getSelection().selectAllChildren(from);
    button.textContent = 'selected';
  }
  setTimeout(() => { button.textContent = 'copy'; }, 1500);
}
