// Every page listens for events, refreshes its parts, and handles keys.

const lost = document.querySelector('[data-lost]');
let address = document.body.dataset.events; // its since is the last event
let source = null;

// say shows an error above the page; an empty text hides it.
function say(text) {
  lost.hidden = !text;
  if (lost.textContent !== text) lost.textContent = text;
}

// signedOut goes to the sign-in, which leads back. The browser asks before it drops unsaved text.
function signedOut() {
  say('You are signed out. Load the page again to sign in.');
  location.assign('/console/sign-in?next=' + encodeURIComponent(location.pathname + location.search));
}

// connect listens for events while the page is visible: a browser has only six connections to a server.
function connect() {
  source?.close();
  source = null;
  if (!address || document.hidden && !('keep' in document.body.dataset)) return;
  const now = source = new EventSource(address);
  now.onopen = () => say('');
  now.onerror = () => lose(now);
  for (const name of ['turns', 'approvals', 'runs']) {
    now.addEventListener(name, (e) => {
      const detail = JSON.parse(e.data);
      if (detail.since !== undefined) address = after(address, detail.since);
      document.dispatchEvent(new CustomEvent('console:' + name, { detail }));
    });
  }
}

// lose shows why the event stream ended, and reconnects later. The browser itself would not show why, would
// give up after a refusal, and would receive events twice.
async function lose(of) {
  of.close();
  const ask = new AbortController();
  const status = await fetch(address, { signal: ask.signal }).then((r) => r.status, () => 0);
  ask.abort();
  if (source !== of) return;
  if (status === 401) return signedOut();
  if (status === 503) say('Too many pages of the console are open, so this one is not told what is new. It goes on when another one is closed.');
  else if (status !== 200) say('The server does not answer. What you see may be old.');
  setTimeout(() => { if (source === of) connect(); }, 2000);
}

// after returns the address of events since a point.
function after(address, since) {
  const to = new URL(address, location);
  to.searchParams.set('since', since);
  return to.pathname + to.search;
}

// listen changes the address of events; goOn, only its point.
export function listen(to) {
  address = to;
  connect();
}
export function goOn(since) { listen(after(address, since)); }
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) document.dispatchEvent(new CustomEvent('console:back'));
  connect();
});
addEventListener('pagehide', () => source?.close());
connect();

const bare = document.title.replace(/^\(\d+\) /, '');
document.addEventListener('console:approvals', ({ detail: { waiting } }) => {
  document.title = waiting ? `(${waiting}) ${bare}` : bare;
  for (const badge of document.querySelectorAll('[data-waiting]')) {
    badge.hidden = !waiting;
    badge.querySelector('[data-waiting-count]').textContent = waiting;
  }
});

// carry copies what the user has opened, written or scrolled to.
function carry(part, now) {
  const opened = [...part.querySelectorAll('details')].map((d) => d.open);
  now.querySelectorAll('details').forEach((d, i) => { d.open ||= opened[i] ?? false; });
  const twin = (e) => now.querySelector('#' + CSS.escape(e.id));
  for (const was of part.querySelectorAll('input[id], textarea[id]')) {
    if (twin(was) && was.value !== was.defaultValue) twin(was).value = was.value;
  }
  for (const was of part.querySelectorAll('pre[id]')) {
    if (twin(was)) twin(was).dataset.at = was.scrollTop;
  }
}

// hold keeps each card in its place, even a removed one: otherwise the next card would move under a moving
// pointer.
function hold(part, now) {
  let before = null;
  for (const was of part.querySelectorAll('[data-card]')) {
    let card = now.querySelector('#' + CSS.escape(was.id) + '[data-card]');
    if (!card) {
      card = was;
      card.inert = true;
      card.querySelector('pre').removeAttribute('id'); // the list of answered calls has the id
      card.querySelector('[data-left]').textContent = 'it waits no more';
      if (before) before.after(card);
      else now.querySelector('[data-cards]').prepend(card);
    }
    before = card;
  }
}

// sight scrolls each text to its mark, or to where the user has scrolled: many empty lines would hide the mark.
function sight(part) {
  for (const pre of part.querySelectorAll('pre[id]')) {
    const mark = pre.querySelector('mark');
    if (pre.dataset.at !== undefined) pre.scrollTop = pre.dataset.at;
    else if (mark) pre.scrollTop += mark.getBoundingClientRect().top - pre.getBoundingClientRect().top - pre.clientHeight / 3;
  }
}

// refresh replaces a part of the page with its current state on the server. Text, selection and what the user
// has opened stay.
function refresh(part) {
  const busy = part.contains(document.activeElement) && document.activeElement.matches('input, textarea, select');
  const selects = !getSelection().isCollapsed && part.contains(getSelection().anchorNode);
  if (document.hidden || busy || selects) return;
  const request = new XMLHttpRequest(); // it parses the document without running scripts
  request.open('GET', location.href);
  request.responseType = 'document';
  request.onload = () => {
    if (request.status === 401) return signedOut();
    const fresh = request.response?.querySelector(`[data-part="${part.dataset.part}"]`);
    if (request.status !== 200 || !fresh) return;
    const stops = 'a, button, summary, [tabindex]';
    const focus = document.activeElement?.id;
    const at = [...part.querySelectorAll(stops)].indexOf(document.activeElement);
    const now = document.importNode(fresh, true);
    const { scrollX: left, scrollY: top } = window; // at the end of a page the position would change
    carry(part, now);
    hold(part, now);
    part.replaceWith(now);
    const again = focus ? document.getElementById(focus) : now.querySelectorAll(stops)[at];
    if (focus || at >= 0) again?.focus({ preventScroll: true });
    watch(now);
    scrollTo({ left, top, behavior: 'instant' });
  };
  request.send();
}

// watch refreshes a part regularly or after an event.
function watch(part) {
  sight(part);
  const every = Number(part.dataset.every);
  if (every) setTimeout(function again() {
    if (!part.isConnected) return;
    refresh(part);
    setTimeout(again, every);
  }, every);
}
document.querySelectorAll('[data-part]').forEach(watch);
document.addEventListener('console:approvals', ({ detail }) => {
  const part = document.querySelector('[data-part="approvals"]');
  if (part && part.dataset.state !== JSON.stringify(detail)) refresh(part); // otherwise the page is up to date
});
document.addEventListener('console:runs', () => document.querySelectorAll('[data-part][data-on="runs"]').forEach(refresh));
document.addEventListener('console:back', () => {
  document.querySelectorAll('[data-card][inert]').forEach((card) => card.remove()); // no card is under the pointer
  document.querySelectorAll('[data-part]').forEach(refresh);
});

const here = document.querySelector('.top nav [aria-current]');
if (here) here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.offsetLeft - 40; // on a phone it may be out of view

const help = document.getElementById('help');
document.querySelector('[data-help]')?.addEventListener('click', () => help.showModal());

// step moves the focus along a list, from the focused element or the last field.
let left = null;
function step(by) {
  const items = [...document.querySelectorAll('[data-item]:enabled, a[data-item]')].filter((e) => e.checkVisibility());
  if (!items.length) return;
  const at = items.indexOf(document.activeElement);
  const from = document.activeElement !== document.body ? document.activeElement : left?.isConnected ? left : null;
  const next = from ? items.findIndex((e) => from.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING) : 0;
  items[at < 0 ? Math.max(next, 0) : Math.min(Math.max(at + by, 0), items.length - 1)].focus();
}

let going = 0;
let taken = ''; // the handled key until it is released: it must not type into the field that it focuses
document.addEventListener('keypress', (e) => { if (taken && e.key === taken) e.preventDefault(); });
document.addEventListener('keyup', () => { taken = ''; });
document.addEventListener('keydown', (e) => {
  const writes = e.target.matches('input:not([type=hidden]), select, textarea');
  if (e.key === 'Escape' && writes) {
    left = e.target;
    return left.blur();
  }
  if (writes || e.ctrlKey || e.metaKey || e.altKey || !help || help.open) return;
  if (Date.now() - going < 1500) {
    going = 0;
    const page = document.querySelector(`nav [data-key="${CSS.escape(e.key)}"]`);
    if (page) return page.click();
  }
  const button = document.querySelector(`[data-press="${CSS.escape(e.key)}"]:not(:disabled)`);
  const act = button?.checkVisibility() ? () => button.click() : {
    g: () => { going = Date.now(); },
    j: () => step(1),
    k: () => step(-1),
    u: () => document.querySelector('[data-up]')?.click(),
    t: () => document.querySelector('[data-try]')?.click(),
    h: () => document.querySelector('[data-hold]')?.click(),
    '/': () => document.querySelector('[data-slash]')?.focus(),
    '?': () => help.showModal(),
  }[e.key];
  if (act) {
    e.preventDefault();
    taken = e.key;
    act();
  }
});
document.documentElement.dataset.ready = ''; // keys are handled from now on
