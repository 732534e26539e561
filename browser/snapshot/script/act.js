// What actions need to know and prepare. A number that leads to no connected node gives {stale: true}.

function describe(e) {
  if (!e || kindOf(e) !== ELEMENT) return 'nothing';
  const tag = tagOf(e);
  const role = roleOf(e, tag);
  let name = '';
  try { name = nameOf(e, tag, role, contentNamed.has(role) || targetNamed.has(role)); } catch { /* an unnamed obstacle */ }
  const id = role === 'generic' && attr(e, 'id') ? '#' + attr(e, 'id') : '';
  return (role === 'generic' ? tag + id : role) + (name ? ' "' + name.slice(0, 60) + '"' : '');
}

function rendered(e) {
  for (const b of boxesOf(e)) if (b.width > 0 && b.height > 0) return true;
  return false;
}

const visibleStyle = e => styleOf(e).visibility === 'visible';

// shown is the element that stands for e on the screen: itself, or the label or row of a field that is not rendered.
function shown(e) {
  if (rendered(e) && visibleStyle(e)) return e;
  if (e.labels) for (const l of e.labels) if (rendered(l) && visibleStyle(l)) return l;
  if (styleOf(e).display === 'contents') { let inner = null; eachFlat(e, c => { if (!inner && kindOf(c) === ELEMENT && rendered(c)) inner = c; }); return inner; }
  return null;
}

function disabledBy(e) {
  if (matches(e, ':disabled')) return 'disabled';
  for (let n = e; n && kindOf(n) === ELEMENT; n = flatParent(n)) {
    if (hasAttr(n, 'inert')) return 'inert';
    if (attr(n, 'aria-disabled') === 'true') return 'disabled';
  }
  return '';
}

// belongs: a pointer event at hit reaches e as its user means it.
function belongs(e, stand, hit) {
  if (contains(e, hit) || contains(stand, hit)) return true;
  for (let n = hit; n && kindOf(n) === ELEMENT; n = flatParent(n)) {
    if (tagOf(n) === 'label' && n.control === e) return true;
    if (n === e) return true;
  }
  // A styled field: the field lies transparent in or beside what is shown for it.
  return tagOf(e) === 'label' && e.control === hit;
}

function viewportOf(b) {
  const left = Math.max(b.left, 0), top = Math.max(b.top, 0), right = Math.min(b.right, innerWidth), bottom = Math.min(b.bottom, innerHeight);
  return right - left > 0.5 && bottom - top > 0.5 ? { left, top, right, bottom } : null;
}

function* pointsOf(e) {
  const boxes = [];
  for (const b of boxesOf(e)) if (b.width > 0 && b.height > 0) { const v = viewportOf(b); if (v) boxes.push(v); }
  boxes.sort((a, b) => (b.right - b.left) * (b.bottom - b.top) - (a.right - a.left) * (a.bottom - a.top));
  for (const [fx, fy] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.15, 0.15], [0.85, 0.85], [0.85, 0.15], [0.15, 0.85], [0.02, 0.5], [0.98, 0.5]]) {
    for (const b of boxes.slice(0, 8)) yield { x: whole(b.left + fx * (b.right - b.left), b.left), y: whole(b.top + fy * (b.bottom - b.top), b.top) };
  }
}

// whole: a mouse lies on whole pixels, and the browser selects no text from a press between them.
function whole(v, least) { const w = Math.floor(v); return w >= least ? w : v; }

function animated(e) {
  const running = document.getAnimations ? document.getAnimations() : [];
  for (const a of running) {
    const target = a.effect && a.effect.target;
    if (a.playState === 'running' && target && contains(target, e)) return true;
  }
  return false;
}

const boxKey = e => { const b = boxOf(e); return [b.left, b.top, b.width, b.height].map(Math.round).join(','); };

// aim finds where a pointer reaches the node, bringing it into view first. want: '' or 'editable'. The answer is
// {x, y, box} or {why, by}: hidden, disabled, readonly, covered, moving, off_screen.
async function aim(n, options) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  const stand = shown(e);
  if (!stand) return { why: 'hidden' };
  if (!options.force) {
    const off = disabledBy(e);
    if (off) return { why: off };
  }
  let found = reach(e, stand);
  if (found.why === 'off_screen' || found.why === 'covered') {
    for (const block of ['center', 'start', 'end', 'nearest']) {
      stand.scrollIntoView({ block, inline: block === 'start' || block === 'end' ? 'nearest' : block, behavior: 'instant' });
      await new Promise(done => frameTick(done));
      if (!nodeOf(n)) return { stale: true };
      found = reach(e, stand);
      if (!found.why) break;
    }
  }
  if (!found.why && animated(stand)) found = await settle(n, e, stand);
  return found;
}

// SETTLE_FRAMES is how many frames a moving element gets to come to rest: about three seconds.
const SETTLE_FRAMES = 180;

async function settle(n, e, stand) {
  let last = boxKey(stand), still = 0;
  for (let i = 0; i < SETTLE_FRAMES; i++) {
    await new Promise(done => frameTick(done));
    if (!nodeOf(n)) return { stale: true };
    const now = boxKey(stand);
    still = now === last ? still + 1 : 0;
    last = now;
    if (still >= 2) return reach(e, stand);
  }
  return { why: 'moving' };
}

function reach(e, stand) {
  let by = null, any = false;
  for (const p of pointsOf(stand)) {
    any = true;
    const hit = deepFromPoint(p.x, p.y);
    if (hit && belongs(e, stand, hit)) {
      const b = boxOf(stand);
      return { x: p.x, y: p.y, box: [b.left, b.top, b.width, b.height], frame: tagOf(hit) === 'iframe' };
    }
    by = by || hit;
  }
  if (!any) return { why: 'off_screen' };
  return { why: 'covered', by: describe(by) };
}

// hits says what lies at a point: for frames it must be their own element.
function hits(n, x, y) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  const hit = deepFromPoint(x, y);
  return hit && contains(e, hit) ? { ok: true } : { why: 'covered', by: describe(hit) };
}

function at(x, y) {
  const hit = deepFromPoint(x, y);
  return hit ? { node: numberOf(hit), what: describe(hit), frame: ['iframe', 'frame'].includes(tagOf(hit)) } : { node: 0, what: 'nothing' };
}

// frameBox is the position of a frame element's content box.
function frameBox(n, scroll) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  if (scroll && !viewportOf(boxOf(e))) e.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  const b = boxOf(e), s = styleOf(e);
  const scale = e.offsetWidth ? b.width / e.offsetWidth : 1;
  return {
    x: b.left + (e.clientLeft + parseFloat(s.paddingLeft)) * scale, y: b.top + (e.clientTop + parseFloat(s.paddingTop)) * scale, scale,
    width: b.width, height: b.height,
  };
}

// The guard watches the pointer events of one click. A press that would reach something else is held back from
// the page, with everything that follows it.
let guard = null;
const guarded = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu', 'touchstart', 'touchend'];

function arm(n) {
  disarm();
  const e = nodeOf(n);
  if (!e) return { stale: true };
  const stand = shown(e) || e;
  const g = { e, stand, hit: false, blocked: false, by: '', seen: 0, clicks: 0 };
  g.check = event => {
    if (!event.isTrusted) return;
    g.seen++;
    const path = event.composedPath();
    const inner = path[0];
    const good = connected(e) && (path.includes(e) || path.includes(stand) || belongs(e, stand, inner) || hidesIn(e, inner));
    if (good && ['click', 'auxclick', 'contextmenu'].includes(event.type) && !matches(e, ':disabled')) g.clicks++;
    if (!g.hit && !g.blocked) {
      if (good) g.hit = true;
      else { g.blocked = true; g.by = connected(e) ? describe(inner) : 'replaced'; }
    }
    if (g.blocked) { event.stopImmediatePropagation(); event.preventDefault(); }
  };
  for (const type of guarded) listen(window, type, g.check, { capture: true, passive: false });
  guard = g;
  return { ok: true };
}

// hidesIn: events from a closed shadow tree name its host.
function hidesIn(e, host) {
  for (let n = e; n; n = flatParent(n)) if (n === host) return closedRoots.has(host);
  return false;
}

function disarm() {
  const g = guard;
  if (!g) return { hit: false, blocked: false, seen: 0 };
  for (const type of guarded) unlisten(window, type, g.check, { capture: true });
  guard = null;
  return { hit: g.hit, blocked: g.blocked, by: g.by, seen: g.seen, clicks: g.clicks };
}

// The watch follows one HTML5 drag of this document: whether it began, and what became of it.
let dragged = null;

function watchDrag() {
  unwatchDrag();
  const w = { start: null, effect: '' };
  w.note = event => {
    if (!event.isTrusted) return;
    if (event.type === 'dragstart') w.start = event;
    else w.effect = event.dataTransfer ? event.dataTransfer.dropEffect : 'none';
  };
  for (const type of ['dragstart', 'dragend']) listen(window, type, w.note, { capture: true, passive: true });
  dragged = w;
  return true;
}

// dragBegan is asked after the moves: a page that prevented the start has a drag of its own.
function dragBegan() { return !!dragged && !!dragged.start && !dragged.start.defaultPrevented; }

// dragEnded waits at most 30 frames for the end and says with which effect, "" when none was seen.
function dragEnded() {
  const w = dragged;
  return new Promise(done => {
    const look = left => {
      if (!w || w.effect || left === 0) { unwatchDrag(); done(w ? w.effect : ''); } else frameTick(() => look(left - 1));
    };
    look(30);
  });
}

function unwatchDrag() {
  if (dragged) for (const type of ['dragstart', 'dragend']) unlisten(window, type, dragged.note, { capture: true });
  dragged = null;
  return true;
}

// state is the element's state for postconditions and waits.
function state(n) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  return stateOf(e);
}

function stateOf(e) {
  const tag = tagOf(e), role = roleOf(e, tag);
  const out = { connected: connected(e), role, tag, states: statesOf(e, tag, role, deepActive()), visible: !!shown(e) && shown(e) === e, disabled: !!disabledBy(e) };
  const type = tag === 'input' ? inputType(e) : '';
  if (type === 'checkbox' || type === 'radio' || hasAttr(e, 'aria-checked')) {
    out.checked = out.states & bit.mixed ? 'mixed' : out.states & bit.checked ? 'true' : 'false';
  }
  if (hasAttr(e, 'aria-pressed')) out.pressed = attr(e, 'aria-pressed');
  if (hasAttr(e, 'aria-expanded')) out.expanded = attr(e, 'aria-expanded') === 'true';
  else if (tag === 'details') out.expanded = !!e.open;
  else if (tag === 'summary' && parentNode(e)) out.expanded = !!parentNode(e).open;
  if (hasAttr(e, 'aria-selected')) out.selected = attr(e, 'aria-selected') === 'true';
  else if (tag === 'option') out.selected = !!e.selected;
  if (tag === 'input' && !['checkbox', 'radio', 'submit', 'button', 'reset', 'image', 'hidden', 'file'].includes(type)) out.length = Array.from(inputValue(e)).length;
  else if (tag === 'textarea') out.length = Array.from(e.value).length;
  else if (e instanceof HTML && e.isContentEditable) out.length = Array.from(e.innerText.replace(/\n$/, '')).length;
  out.editable = editableOf(e, tag, role) && !out.disabled && !(e.readOnly === true);
  out.link = tag === 'a' && hasAttr(e, 'href') ? linkKind(e) : '';
  return out;
}

// linkKind tells links that should leave the document.
function linkKind(e) {
  const href = attr(e, 'href') || '';
  if (href === '' || href.startsWith('#') || /^javascript:/i.test(href) || hasAttr(e, 'download')) return 'none';
  if ((attr(e, 'target') || '') !== '' && attr(e, 'target') !== '_self') return 'page';
  try {
    const to = new URL(e.href), from = new URL(location.href);
    if (to.origin === from.origin && to.pathname === from.pathname && to.search === from.search) return 'none';
    if (!/^(https?|file):$/.test(to.protocol)) return 'none';
  } catch { return 'none'; }
  return 'document';
}
