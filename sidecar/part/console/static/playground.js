// The form is sent at each pause in typing. The response is the same page: its parts replace the present ones,
// and text that was typed meanwhile stays.

const form = document.querySelector('[data-play]');
const area = document.getElementById('draft');
const gutter = document.querySelector('[data-gutter]');
const state = document.querySelector('[data-state]');
const what = document.getElementById('what');
const tools = document.getElementById('tools');
const pause = 350;
let wait = 0;
let running = false;
let next = null; // the action after the running one
let inForce = area.value;

// number draws the line numbers, and marks those with problems.
function number() {
  const bad = new Map();
  for (const a of document.querySelectorAll('#problems [data-line]')) {
    const line = Number(a.dataset.line);
    if (bad.get(line) !== 'bad') bad.set(line, a.dataset.warning === 'true' ? 'warning' : 'bad');
  }
  const lines = area.value.split('\n').length;
  const key = lines + ' ' + [...bad].join(' ');
  if (gutter.dataset.key === key) return;
  gutter.dataset.key = key;
  gutter.replaceChildren(...Array.from({ length: lines }, (_, i) => {
    const span = document.createElement('span');
    span.textContent = i + 1;
    if (bad.has(i + 1)) span.className = bad.get(i + 1);
    return span;
  }));
  follow();
}
function follow() { gutter.scrollTop = area.scrollTop; }

// go shows a line of the draft, and selects the mistake. Without columns it selects nothing, since the next
// letter would replace the selection. Columns count characters.
function go(line, col, end, focus) {
  const lines = area.value.split('\n');
  const at = Math.min(Math.max(line, 1), lines.length) - 1;
  const before = lines.slice(0, at).reduce((n, l) => n + l.length + 1, 0);
  const chars = [...lines[at]];
  const from = before + chars.slice(0, Math.max(col - 1, 0)).join('').length;
  const to = end > col ? before + chars.slice(0, end - 1).join('').length : from;
  if (focus) area.focus();
  area.setSelectionRange(from, to);
  area.scrollTop = (at - 5) * parseFloat(getComputedStyle(area).lineHeight);
  follow();
}

// fits hides the fields that the kind of question does not need.
function fits() {
  form.dataset.what = what.value;
  form.dataset.tools = tools.value;
}

// take replaces the parts of the page with those of a response.
function take(page, sent) {
  if (!page?.getElementById('next')) { // an error page
    state.textContent = page?.querySelector('main [role=alert]')?.textContent ?? 'The server does not answer.';
    return;
  }
  const focus = document.activeElement;
  const hadFocus = focus?.id;
  for (const part of document.querySelectorAll('[data-fresh]')) {
    const fresh = page.getElementById(part.id);
    if (!fresh || part.dataset.fresh === 'stay' && !fresh.children.length) continue;
    if (part.dataset.fresh === 'text') {
      part.className = fresh.className;
      const [to, from] = [part, fresh].map((p) => p.querySelector('[data-text]'));
      if (to.textContent !== from.textContent) to.textContent = from.textContent;
      continue;
    }
    const opened = [...part.querySelectorAll('details')].map((d) => d.open);
    const now = document.importNode(fresh, true);
    now.querySelectorAll('details').forEach((d, i) => { d.open ||= opened[i] ?? false; });
    part.replaceWith(now);
  }
  const fresh = page.getElementById('draft');
  document.getElementById('file').value = page.getElementById('file').value;
  if (fresh.value !== sent && area.value === sent) {
    area.value = fresh.value;
    if (!fresh.dataset.line) area.scrollTop = 0;
  }
  if (page.getElementById('drop').children.length === 0) inForce = fresh.value;
  number();
  if (fresh.dataset.line) go(Number(fresh.dataset.line), 0, 0, false);
  if (focus && !focus.isConnected) (document.getElementById(hadFocus) ?? document.querySelector('[data-next]')).focus({ preventScroll: true });
  if (focus && !focus.isConnected) document.activeElement.scrollIntoView({ block: 'nearest' }); // keep the changed element visible
}

// act sends the form, one request at a time; the last action waits.
function act(wish) {
  clearTimeout(wait);
  if (running) {
    if (wish !== 'try' || next === null) next = wish;
    return;
  }
  running = true;
  const pressed = wish === 'tests' && document.getElementById('run-tests');
  if (pressed) pressed.ariaBusy = 'true';
  const slow = setTimeout(() => { state.textContent = 'reading …'; }, 250);
  const body = new URLSearchParams(new FormData(form));
  body.set('do', wish);
  const sent = area.value;
  const request = new XMLHttpRequest(); // it parses the document without running scripts
  request.open('POST', form.action);
  request.responseType = 'document';
  request.onloadend = () => {
    running = false;
    clearTimeout(slow);
    state.textContent = '';
    if (request.status === 429 || request.status === 503) {
      state.textContent = 'waits …';
      wait = setTimeout(() => act(wish), 700);
      return;
    }
    take(request.response, sent);
    if (pressed) {
      pressed.ariaBusy = null;
      document.getElementById('publish').scrollIntoView({ block: 'nearest' }); // and the results of the tests
    }
    if (next !== null) {
      const wish = next;
      next = null;
      act(wish);
    }
  };
  request.send(body);
}

let asked = '';
form.addEventListener('input', (e) => {
  if (e.target === area) number();
  if (e.target.id === 'file') return act('open');
  fits();
  clearTimeout(wait);
  wait = setTimeout(() => act('try'), pause);
});
form.addEventListener('click', (e) => {
  const button = e.target.closest('button[name=do]');
  asked = button?.hasAttribute('formaction') ? '' : button?.value ?? '';
});
form.addEventListener('submit', (e) => {
  if (e.submitter?.ariaBusy) return e.preventDefault(); // it was pressed already
  const wish = e.submitter?.hasAttribute('formaction') ? '' : e.submitter?.value ?? asked;
  if (!wish) {
    inForce = area.value; // the whole page is loaded again with the draft
    if (e.submitter) e.submitter.ariaBusy = 'true';
    return;
  }
  e.preventDefault();
  act(wish);
});
document.addEventListener('click', (e) => {
  const a = e.target.closest('#problems a[data-line]');
  if (!a) return;
  e.preventDefault();
  go(Number(a.dataset.line), Number(a.dataset.col), Number(a.dataset.end), true);
});
form.addEventListener('keydown', (e) => {
  if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
    e.preventDefault();
    act('try');
  }
});
addEventListener('beforeunload', (e) => { if (area.value !== inForce) e.preventDefault(); });
area.addEventListener('scroll', follow);

if (document.getElementById('drop').children.length) inForce = null;
gutter.hidden = false;
form.classList.add('scripted');
fits();
number();
if (area.dataset.line) go(Number(area.dataset.line), 0, 0, true);
else if (form.elements.turn.value) (document.querySelector('.unnamed') ?? document.getElementById('step2')).focus();
