// The walk lists what a document shows, in the order of its flat tree.
const STATES = ['focused', 'disabled', 'checked', 'mixed', 'expanded', 'collapsed', 'selected', 'pressed', 'required', 'readonly', 'invalid', 'opaque',
  'modal', 'multiline', 'secret', 'current', 'busy', 'muted'];
const bit = Object.fromEntries(STATES.map((s, i) => [s, 1 << i]));

const structural = new Set(['heading', 'img', 'list', 'listitem', 'table', 'grid', 'treegrid', 'row', 'cell', 'gridcell', 'columnheader', 'rowheader', 'navigation',
  'main', 'region', 'form', 'dialog', 'alertdialog', 'alert', 'status', 'log', 'article', 'figure', 'banner', 'contentinfo', 'complementary', 'search',
  'tablist', 'tabpanel', 'tree', 'menu', 'menubar', 'toolbar', 'radiogroup', 'listbox', 'progressbar', 'meter', 'iframe', 'canvas', 'video', 'audio', 'embed',
  'tooltip', 'separator', 'option', 'timer', 'marquee', 'note', 'math', 'feed', 'scrollbar', 'application', 'blockquote', 'definition', 'term']);
const opaque = new Set(['canvas', 'video', 'embed', 'audio']);
const liveRoles = new Set(['alert', 'alertdialog', 'dialog', 'status', 'log']);

const MAX_LEVEL = 1000;
const plainly = { visibilityProperty: true, checkVisibilityCSS: true };
const FLAG_TARGET = 1, FLAG_EDITABLE = 2, FLAG_LINK = 4, FLAG_SCREEN = 8;

const canDisable = new Set(['button', 'input', 'select', 'textarea', 'fieldset', 'optgroup', 'option']);

function disabledOf(e, tag) {
  if (canDisable.has(tag) && matches(e, ':disabled')) return true;
  const by = may.disable ? closest(e, '[aria-disabled]') : null;
  return !!by && attr(by, 'aria-disabled') === 'true';
}

function statesOf(e, tag, role, active) {
  let s = 0;
  if (e === active) s |= bit.focused;
  if (disabledOf(e, tag)) s |= bit.disabled;
  if (tag === 'input') {
    const type = inputType(e);
    if (type === 'checkbox' || type === 'radio') {
      if (e.indeterminate && type === 'checkbox') s |= bit.mixed;
      else if (e.checked) s |= bit.checked;
    }
  } else if (tag === 'option' && e.selected) s |= bit.selected;
  if (tag === 'input' || tag === 'textarea' || tag === 'select') {
    if (e.required || attr(e, 'aria-required') === 'true') s |= bit.required;
    if (tag !== 'select' && e.readOnly) s |= bit.readonly;
    if (secret(e)) s |= bit.secret;
  }
  if (tag === 'summary') s |= parentNode(e).open ? bit.expanded : bit.collapsed;
  if (tag === 'dialog' && matches(e, ':modal')) s |= bit.modal;
  if (tag === 'textarea' || attr(e, 'aria-multiline') === 'true') s |= bit.multiline;
  return opaque.has(role) ? s | bit.opaque : ariaStates(e, s);
}

function ariaStates(e, s) {
  if (!attrNames(e).some(name => name.startsWith('aria-'))) return s;
  const on = (name, value) => attr(e, name) === value;
  if (!hasAttr(e, 'type') || tagOf(e) !== 'input') {
    if (on('aria-checked', 'true')) s |= bit.checked;
    if (on('aria-checked', 'mixed')) s |= bit.mixed;
  }
  if (on('aria-expanded', 'true')) s |= bit.expanded;
  if (on('aria-expanded', 'false')) s |= bit.collapsed;
  if (on('aria-selected', 'true')) s |= bit.selected;
  if (on('aria-pressed', 'true')) s |= bit.pressed;
  if (on('aria-pressed', 'mixed')) s |= bit.mixed;
  if (on('aria-required', 'true')) s |= bit.required;
  if (on('aria-readonly', 'true')) s |= bit.readonly;
  if (on('aria-invalid', 'true')) s |= bit.invalid;
  if (on('aria-modal', 'true')) s |= bit.modal;
  if (on('aria-busy', 'true')) s |= bit.busy;
  const current = attr(e, 'aria-current');
  if (current && current !== 'false') s |= bit.current;
  return s;
}

const fieldTags = new Set(['input', 'select', 'textarea', 'button']);
const textInputs = new Set(['textbox', 'searchbox', 'spinbutton', 'date', 'time', 'datetime', 'month', 'week', 'color', 'file', 'slider']);

function editableOf(e, tag, role) {
  if (tag === 'input' || tag === 'textarea' || tag === 'select') return textInputs.has(role) || role === 'combobox' || role === 'listbox';
  return inEditable(e);
}

// actionableOf says why an element can be acted on: 2 by its own nature, 1 by a sign such as a pointer cursor or
// a listener. Roots of documents never are.
function actionableOf(e, tag, role, parentPointer) {
  if (tag === 'html' || tag === 'body') return editableHost(e) ? 2 : 0;
  if (role === 'document' || role === 'application') return 0;
  if (tag === 'option') return 0;
  if (tag === 'input') return inputType(e) === 'hidden' ? 0 : 2;
  if (tag === 'button' || tag === 'select' || tag === 'textarea') return 2;
  if ((tag === 'a' || tag === 'area') && hasAttr(e, 'href')) return 2;
  if (tag === 'summary' && role === 'button') return 2;
  if ((tag === 'video' || tag === 'audio') && hasAttr(e, 'controls')) return 2;
  if (widgetRoles.has(role) || editableHost(e)) return 2;
  if (hasAttrs(e)) {
    if (hasAttr(e, 'onclick') || hasAttr(e, 'onmousedown') || hasAttr(e, 'onpointerdown')) return 1;
    if (attr(e, 'draggable') === 'true') return 1;
    if (hasAttr(e, 'tabindex') && e.tabIndex >= 0) return 1;
  }
  if (tag === 'label') return 0;
  // A listener on what holds controls of its own serves those.
  if (handled.has(e) && !e.querySelector('a[href],button,input,select,textarea,[role],[tabindex]')) return 1;
  return !parentPointer && styleOf(e).cursor === 'pointer' ? 1 : 0;
}

// hiddenControl is the field of a label that is not rendered itself: a styled radio or file input.
function hiddenControl(label) {
  const c = label.control;
  if (!c || tagOf(c) !== 'input' || !['radio', 'checkbox', 'file'].includes(inputType(c))) return null;
  return boxesOf(c).length === 0 && connected(c) ? c : null;
}

// walk returns {nodes, frames, suspects, over, url, origin, title, pictorial}. options: semantic adds every
// element, rendered text, labels and test ids; screen adds what is on screen; nodes and text are the limits.
function walk(options) {
  const cols = { depth: [], role: [], name: [], value: [], states: [], flags: [], serial: [], url: [], live: [], rendered: [], label: [], test: [], fields: [] };
  const { depth: dDepth, role: dRole, name: dName, value: dValue, states: dStates, flags: dFlags, serial: dSerial, url: dURL, live: dLive, rendered: dRendered, label: dLabel, test: dTest } = cols;
  const frames = [], suspects = [];
  const active = deepActive();
  const width = innerWidth, height = innerHeight;
  const semantic = !!options.semantic;
  let text = 0, over = 0, opaqueArea = 0, level = 0, deep = 0;
  const listed = new Set();
  surveyed();

  const emit = (depth, role, name, value, states, flags, serial, url) => {
    if (dDepth.length >= options.nodes || text > options.text) { over++; return -1; }
    text += name.length + value.length;
    dDepth.push(depth); dRole.push(role); dName.push(name); dValue.push(value); dStates.push(states); dFlags.push(flags); dSerial.push(serial); dURL.push(url);
    if (semantic) { dRendered.push(''); dLabel.push(''); dTest.push(''); }
    return dDepth.length - 1;
  };
  const onScreen = e => {
    const b = boxOf(e);
    return b.width > 0 && b.height > 0 && b.bottom > 0 && b.right > 0 && b.top < height && b.left < width;
  };
  const textNode = (node, depth) => {
    const data = dataOf(node);
    const trimmed = collapse(data);
    if (!trimmed) { if (semantic && data) gap(); return; }
    const at = emit(depth, 'text', trimmed, '', 0, 0, 0, '');
    if (semantic && at >= 0) { dRendered[at] = data.replace(/\s+/g, ' '); text += dRendered[at].length; lastText = at; }
  };
  let lastText = -1;
  // gap separates what was rendered before from what follows.
  const gap = () => { if (lastText >= 0 && !dRendered[lastText].endsWith(' ')) dRendered[lastText] += ' '; };

  // suspect: the element may be the host of a closed shadow root.
  const suspect = (e, tag) => {
    if (suspects.length >= 256 || shadowOf(e)) return;
    const custom = tag.includes('-');
    const key = custom ? e.childNodes.length + ':' + e.clientHeight : 'once';
    if (closedChecked.get(e) === key) return;
    closedChecked.set(e, key);
    suspects.push(e);
  };

  // Documents deeper than the stack allows are cut where they become absurd, and the cut is counted.
  const element = (e, depth, pointer, silent) => {
    if (level >= MAX_LEVEL) { deep += 1 + e.getElementsByTagName('*').length; return; }
    level++;
    visit(e, depth, pointer, silent);
    level--;
  };

  const visit = (e, depth, pointer, silent) => {
    const tag = tagOf(e);
    if (neverText.has(tag)) return;
    if (shadowOf(e)) unsurveyed();
    // Most elements are plainly visible; only the others are asked for their style.
    let visible = seen(e, plainly), display = '';
    if (!visible || semantic) {
      const style = styleOf(e);
      display = style.display;
      if (display === '') { const p = parentNode(e); if (p && kindOf(p) === ELEMENT) suspect(p, tagOf(p)); return; }
      if (display === 'none') return;
      visible = style.visibility === 'visible';
    }
    if (hasAttrs(e) && ((attr(e, 'aria-hidden') === 'true' && e !== active) || hasAttr(e, 'inert'))) return;
    if (tag.includes('-') || (hostNames.has(tag) && !firstChild(e))) {
      if (tag.includes('-') || e.clientHeight > 0) suspect(e, tag);
    }
    let role = roleOf(e, tag);
    const act = visible || tag === 'area' ? actionableOf(e, tag, role, pointer) : 0;
    const isPointer = pointer || (act > 0 && (act === 2 || styleOf(e).cursor === 'pointer'));
    if (tag === 'label' && visible) {
      const c = hiddenControl(e);
      if (c && !listed.has(c)) { listed.add(c); control(c, depth); }
    }
    if (role === 'iframe' && visible) frames.push([numberOf(e), depth]);
    if (opaque.has(role) && visible) {
      const b = boxOf(e);
      opaqueArea += Math.max(0, Math.min(b.right, width) - Math.max(b.left, 0)) * Math.max(0, Math.min(b.bottom, height) - Math.max(b.top, 0));
    }
    const show = visible && (act > 0 || structural.has(role) || (role === 'group' && hasAttrs(e) && named(e)) || tag === 'fieldset');
    let inner = depth, quiet = silent, at = -1;
    if (show || semantic) {
      const fromContent = contentNamed.has(role) || (act > 0 && targetNamed.has(role));
      at = push(e, tag, role, depth, act, fromContent);
      inner = depth + 1;
      if (!semantic && rowByContent) quiet = true;
      if (act > 0) listed.add(e);
    }
    if (tag === 'textarea' || tag === 'svg' || tag === 'iframe' || tag === 'object' || tag === 'canvas' || tag === 'video' || tag === 'audio' || tag === 'math') return;
    if (editableHost(e) && !semantic) quiet = true;
    const block = semantic && display !== 'inline' && display !== 'contents';
    if (block) gap();
    eachFlat(e, c => {
      const kind = kindOf(c);
      if (kind === TEXT) { if (!quiet && visible) textNode(c, inner); }
      else if (kind === ELEMENT) element(c, inner, isPointer, quiet);
    });
    if (block) gap();
  };

  let rowByContent = false;
  const push = (e, tag, role, depth, act, fromContent) => {
    rowByContent = false;
    if (dDepth.length >= options.nodes || text > options.text) { over++; return -1; }
    const wantName = act > 0 || role !== 'generic' || (hasAttrs(e) && (hasAttr(e, 'aria-label') || hasAttr(e, 'aria-labelledby')));
    let name = wantName && !(semantic && role === 'paragraph') ? nameOf(e, tag, role, fromContent) : '';
    rowByContent = wantName && namedByContent;
    if (act === 1 && role === 'generic' && name.length > 200) name = name.slice(0, 200);
    const interactive = act > 0 || role === 'option' || structural.has(role);
    const value = interactive ? fieldValue(e, tag, role) : '';
    const states = interactive ? statesOf(e, tag, role, active) : 0;
    let flags = 0;
    if (act > 0) {
      flags |= FLAG_TARGET;
      if (editableOf(e, tag, role)) flags |= FLAG_EDITABLE;
      if (role === 'link') flags |= FLAG_LINK;
      if (options.screen && onScreen(e)) flags |= FLAG_SCREEN;
    }
    const n = act > 0 || (semantic && options.serials) ? numberOf(e) : 0;
    const href = options.urls && role === 'link' ? e.href : '';
    const url = typeof href === 'string' ? href.slice(0, 2048) : '';
    const at = emit(depth, role, name, value, states, flags, n, url);
    if (at < 0) return at;
    const live = liveText(e, role);
    if (live) dLive.push([at, live]);
    if (act > 0 && fieldTags.has(tag) && hasAttrs(e)) cols.fields.push([at, ...fieldOf(e, tag, name)]);
    if (semantic) {
      dLabel[at] = act > 0 ? labelOf(e, tag, name) : '';
      dTest[at] = attr(e, 'data-testid') || attr(e, 'data-test-id') || attr(e, 'data-test') || '';
    }
    return at;
  };

  const liveText = (e, role) => {
    const polite = hasAttrs(e) ? attr(e, 'aria-live') : null;
    if (!liveRoles.has(role) && !(polite === 'assertive' || polite === 'polite')) return '';
    return collapse(textOf(e, false)).slice(0, 400);
  };

  // fieldOf is what tells a form's control from another with the same name: type, group, placeholder, name attribute, label.
  const fieldOf = (e, tag, name) => {
    const short = text => (text || '').slice(0, 200);
    const type = tag === 'input' ? inputType(e) : tag === 'select' ? 'select' : tag === 'button' ? attr(e, 'type') : '';
    const group = closest(e, 'fieldset,[role=group],[role=radiogroup]');
    if (group && !groups.has(group)) groups.set(group, nameOf(group, tagOf(group), roleOf(group, tagOf(group)), false));
    return [type, group ? groups.get(group) : '', attr(e, 'placeholder'), attr(e, 'name'), labelOf(e, tag, name)].map(short);
  };
  const groups = new Map();

  // control lists a field that only its label shows.
  const control = (c, depth) => {
    push(c, 'input', roleOf(c, 'input'), depth, 2, false);
  };

  const top = rootElement(document);
  if (top) element(top, 0, false, false);
  forgetCollected();
  unsurveyed();
  return {
    result: {
      ...cols,
      frames, over, deep, title: document.title, address: location.href, origin: self.origin, pictorial: opaqueArea > 0.5 * width * height,
      suspects: suspects.length, ready: document.readyState,
    },
    suspects,
  };
}

// labelOf is the text of a field's labels, else its accessible label.
function labelOf(e, tag, name) {
  if (tag === 'input' || tag === 'textarea' || tag === 'select' || tag === 'button' || tag === 'meter' || tag === 'progress' || tag === 'output') {
    const text = labelText(e);
    if (text) return text;
  }
  return hasAttr(e, 'aria-label') || hasAttr(e, 'aria-labelledby') ? name : '';
}
