// Editing: what the field is, where the caret goes, native values, options.
const complete = new Set(['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range']);
const textTypes = new Set(['text', 'search', 'url', 'tel', 'email', 'password', 'number']);

// fieldOf finds the field that a reference means: itself, the control of a label, the only field in it.
function fieldOf(e) {
  const tag = tagOf(e);
  if (['input', 'textarea', 'select'].includes(tag)) return e;
  if (e instanceof HTML && e.isContentEditable) return e;
  if (tag === 'label' && e.control) return e.control;
  const inner = [];
  const visit = n => {
    eachFlat(n, c => {
      if (kindOf(c) !== ELEMENT || inner.length > 1) return;
      const t = tagOf(c);
      if ((t === 'input' && !['hidden', 'checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file'].includes(inputType(c))) || t === 'textarea' || editableHost(c)) inner.push(c);
      else visit(c);
    });
  };
  visit(e);
  return inner.length === 1 ? inner[0] : e;
}

// kindOfField: text, editor, native (a complete value), or why not.
function field(n, value) {
  const given = nodeOf(n);
  if (!given) return { stale: true };
  const e = fieldOf(given);
  const tag = tagOf(e);
  const out = { node: numberOf(e), label: describe(e) };
  const off = disabledBy(e);
  if (off) return { ...out, why: off };
  if (tag === 'input') {
    const type = inputType(e);
    if (e.readOnly) return { ...out, why: 'readonly' };
    if (complete.has(type)) return { ...out, kind: 'native', type, valid: validNative(e, type, value) };
    if (!textTypes.has(type)) return { ...out, why: type === 'file' ? 'file' : type };
    if (type === 'number' && value !== '' && !validNative(e, type, value)) return { ...out, kind: 'native', type, valid: false };
    return { ...out, kind: 'text', type, length: Array.from(inputValue(e)).length, secret: secret(e), max: e.maxLength };
  }
  if (tag === 'textarea') return e.readOnly ? { ...out, why: 'readonly' } : { ...out, kind: 'text', type: 'textarea', length: Array.from(e.value).length, max: e.maxLength };
  if (e instanceof HTML && e.isContentEditable) return { ...out, kind: 'editor', type: 'contenteditable', length: Array.from(e.innerText).length };
  return { ...out, why: tag === 'select' ? 'select' : 'not_editable' };
}

// validNative asks a field of the same type that is in no document.
function validNative(e, type, value) {
  const probe = document.createElement('input');
  probe.type = type;
  for (const a of ['min', 'max', 'step']) if (hasAttr(e, a)) probe.setAttribute(a, attr(e, a));
  probe.value = value;
  if (value === '') return type !== 'color' && type !== 'range';
  if (type === 'color') return /^#[0-9a-fA-F]{6}$/.test(value);
  if (type === 'range') return Number(probe.value) === Number(value) && value.trim() !== '';
  if (type === 'number') return probe.value === value;
  return probe.value !== '' && probe.validity.valid !== false || probe.value === value;
}

const nativeSetter = setter(HTMLInputElement.prototype, 'value');

function setNative(n, value) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  e.focus({ preventScroll: false });
  nativeSetter(e, value);
  e.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  e.dispatchEvent(new Event('change', { bubbles: true }));
  return { same: inputValue(e) === value || Number(inputValue(e)) === Number(value) || inputValue(e).toLowerCase() === value.toLowerCase() };
}

// caret focuses a field and selects all of it ('all') or goes to its end ('end').
function caret(n, where) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  const stand = shown(e);
  if (stand && !viewportOf(boxOf(stand))) stand.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  e.focus({ preventScroll: true });
  const tag = tagOf(e);
  if (where === 'keep') return focusState(e);
  if (tag === 'input' || tag === 'textarea') {
    if (where === 'all') e.select();
    else {
      const end = (tag === 'input' ? inputValue(e) : e.value).length;
      try { e.setSelectionRange(end, end); } catch { return { ...focusState(e), unplaced: tag === 'input' && ['email', 'number'].includes(inputType(e)) }; }
    }
  } else {
    const selection = rootOf(e).getSelection ? rootOf(e).getSelection() || getSelection() : getSelection();
    const range = document.createRange();
    range.selectNodeContents(e);
    if (where === 'end') range.collapse(false);
    selection.removeAllRanges();
    selection.addRange(range);
  }
  return focusState(e);
}

function focusState(e) {
  const active = deepActive();
  return { focused: active === e || (!!active && contains(e, active)) };
}

function held(e) {
  const tag = tagOf(e);
  if (tag === 'input') return inputValue(e);
  if (tag === 'textarea') return e.value;
  return e instanceof HTML && e.isContentEditable ? e.innerText.replace(/\n$/, '') : '';
}

const loose = text => text.replace(/[\s\u00a0\u200b]+/g, ' ').trim();

// took compares what the field holds with what it should: same, other, or unchanged from before.
function took(n, want, before, mode) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  const now = held(e);
  const same = mode === 'append' ? now.endsWith(want) : now === want;
  return { same: same || loose(now) === loose(mode === 'append' ? before + want : want), changed: now !== before, length: Array.from(now).length };
}

function heldOf(n) { const e = nodeOf(n); return e ? { text: held(e) } : { stale: true }; }

// choose selects the options with the given values, labels or indexes.
function choose(n, by, wanted) {
  const given = nodeOf(n);
  if (!given) return { stale: true };
  const e = tagOf(given) === 'label' && given.control ? given.control : tagOf(given) === 'option' ? closest(given, 'select') : given;
  if (!e || tagOf(e) !== 'select') return { why: 'not_select', by: describe(given) };
  const off = disabledBy(e);
  if (off) return { why: off };
  const options = Array.from(e.options);
  const picked = [];
  for (const w of wanted) {
    const fits = options.filter((o, i) => by === 'index' ? i === w : by === 'value' ? o.value === w : loose(o.label) === loose(w));
    if (fits.length === 0) return { why: 'no_option', options: options.length };
    if (fits.length > 1 && by !== 'value') return { why: 'several_options', options: fits.length };
    if (disabledBy(fits[0])) return { why: 'option_disabled' };
    picked.push(fits[0]);
  }
  if (picked.length > 1 && !e.multiple) return { why: 'single' };
  return { node: numberOf(e), picked: picked.map(o => options.indexOf(o)), options: options.length };
}

function pick(n, indexes) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  e.focus({ preventScroll: true });
  const before = Array.from(e.options, o => o.selected).join();
  if (e.multiple) Array.from(e.options).forEach((o, i) => { o.selected = indexes.includes(i); });
  else e.selectedIndex = indexes[0];
  const changed = before !== Array.from(e.options, o => o.selected).join();
  if (changed) {
    e.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    e.dispatchEvent(new Event('change', { bubbles: true }));
  }
  const now = Array.from(e.options).flatMap((o, i) => o.selected ? [i] : []);
  return { changed, same: now.length === indexes.length && indexes.every(i => now.includes(i)) };
}

// uploadInput finds the one native file input that an affordance stands for.
function uploadInput(n, count) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  const isFile = x => tagOf(x) === 'input' && inputType(x) === 'file';
  const answer = (x, how) => {
    if (matches(x, ':disabled')) return { why: 'disabled' };
    if (count > 1 && !x.multiple && !hasAttr(x, 'webkitdirectory')) return { why: 'single' };
    return { node: numberOf(x), how };
  };
  if (isFile(e)) return answer(e, 'self');
  const label = tagOf(e) === 'label' ? e : closest(e, 'label');
  if (label && label.control && isFile(label.control)) return answer(label.control, 'label');
  for (const name of ['aria-controls', 'data-input', 'for']) {
    const other = attr(e, name) && rootOf(e).getElementById && rootOf(e).getElementById(attr(e, name));
    if (other && isFile(other)) return answer(other, 'named');
  }
  const within = Array.from(e.querySelectorAll('input[type=file]'));
  if (within.length === 1) return answer(within[0], 'inside');
  if (within.length > 1) return { why: 'several', count: within.length };
  let scope = parentNode(e);
  for (let i = 0; scope && i < 4; i++, scope = parentNode(scope)) {
    if (!scope.querySelectorAll) break;
    const near = scope.querySelectorAll('input[type=file]');
    if (near.length === 1) return answer(near[0], 'near');
    if (near.length > 1) return { why: 'several', count: near.length };
  }
  return { why: 'none' };
}
