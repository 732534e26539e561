// Roles and names as the accessibility tree gives them, computed from the document.
const inputRoles = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
  range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file', color: 'color', date: 'date',
  time: 'time', 'datetime-local': 'datetime', month: 'month', week: 'week',
};
const tagRoles = {
  article: 'article', aside: 'complementary', button: 'button', canvas: 'canvas', caption: 'caption', code: 'code', datalist: 'listbox', dd: 'definition',
  dialog: 'dialog', dt: 'term', embed: 'embed', fieldset: 'group', figcaption: 'caption', figure: 'figure',
  form: 'form', h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading', hr: 'separator', iframe: 'iframe', frame: 'iframe',
  img: 'img', legend: 'legend', li: 'listitem', main: 'main', math: 'math', menu: 'list', meter: 'meter', nav: 'navigation', object: 'embed', ol: 'list',
  optgroup: 'group', option: 'option', output: 'status', p: 'paragraph', progress: 'progressbar', search: 'search', summary: 'button', svg: 'img',
  table: 'table', tbody: 'rowgroup', tfoot: 'rowgroup', thead: 'rowgroup', td: 'cell', textarea: 'textbox', tr: 'row', ul: 'list', video: 'video', audio: 'audio',
  details: 'group', address: 'group', hgroup: 'group', blockquote: 'blockquote',
};
const ariaRoles = new Set(['alert', 'alertdialog', 'application', 'article', 'banner', 'blockquote', 'button', 'caption', 'cell', 'checkbox', 'code', 'columnheader',
  'combobox', 'complementary', 'contentinfo', 'definition', 'dialog', 'document', 'feed', 'figure', 'form', 'generic', 'grid', 'gridcell', 'group',
  'heading', 'img', 'image', 'link', 'list', 'listbox', 'listitem', 'log', 'main', 'marquee', 'math', 'menu', 'menubar', 'menuitem', 'menuitemcheckbox',
  'menuitemradio', 'meter', 'navigation', 'none', 'note', 'option', 'paragraph', 'presentation', 'progressbar', 'radio', 'radiogroup', 'region', 'row',
  'rowgroup', 'rowheader', 'scrollbar', 'search', 'searchbox', 'separator', 'slider', 'spinbutton', 'status', 'switch', 'tab', 'table', 'tablist',
  'tabpanel', 'term', 'textbox', 'timer', 'toolbar', 'tooltip', 'tree', 'treegrid', 'treeitem']);

const contentNamed = new Set(['button', 'link', 'heading', 'option', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'checkbox', 'radio', 'switch',
  'columnheader', 'rowheader', 'treeitem', 'tooltip', 'legend', 'caption']);
// Named from their content only when they are targets: else their text stands below them.
const targetNamed = new Set(['cell', 'gridcell', 'row', 'generic', 'listitem', 'img', 'paragraph', 'group', 'article', 'figure']);
const widgetRoles = new Set(['button', 'link', 'checkbox', 'radio', 'switch', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'tab', 'treeitem',
  'textbox', 'searchbox', 'combobox', 'slider', 'spinbutton', 'listbox', 'file', 'color', 'date', 'time', 'datetime', 'month', 'week', 'scrollbar']);

// editableHost: the element makes its content editable; what lies in it belongs to it.
function editableHost(e) {
  const given = may.edit ? attr(e, 'contenteditable') : null;
  if (given === null || given.toLowerCase() === 'false' || !(e instanceof HTML) || !e.isContentEditable) return false;
  const parent = flatParent(e);
  return !(parent instanceof HTML && parent.isContentEditable);
}

function roleOf(e, tag) {
  const given = hasAttrs(e) ? attr(e, 'role') : null;
  if (given) {
    for (const token of given.toLowerCase().split(/\s+/)) {
      if (!ariaRoles.has(token)) continue;
      if (token === 'none' || token === 'presentation') {
        if (hasAttr(e, 'tabindex') || tag === 'button' || (tag === 'a' && hasAttr(e, 'href'))) break;
        return 'generic';
      }
      return token === 'image' ? 'img' : token;
    }
  }
  switch (tag) {
    case 'a': case 'area': return hasAttr(e, 'href') ? 'link' : 'generic';
    case 'input': {
      const type = inputType(e);
      if (hasAttr(e, 'list') && !inputRoles[type]) return 'combobox';
      return inputRoles[type] || 'textbox';
    }
    case 'select': return e.multiple || e.size > 1 ? 'listbox' : 'combobox';
    case 'section': return named(e) ? 'region' : 'generic';
    case 'form': return named(e) ? 'form' : 'generic';
    case 'th': return attr(e, 'scope') === 'row' || attr(e, 'scope') === 'rowgroup' ? 'rowheader' : 'columnheader';
    case 'header': return closest(e, 'article,aside,main,nav,section') ? 'generic' : 'banner';
    case 'footer': return closest(e, 'article,aside,main,nav,section') ? 'generic' : 'contentinfo';
    case 'img': return attr(e, 'alt') === '' && !named(e) ? 'generic' : 'img';
    case 'summary': { const p = parentNode(e); return p && kindOf(p) === ELEMENT && tagOf(p) === 'details' ? 'button' : 'generic'; }
  }
  if (tagRoles[tag]) return tagRoles[tag];
  return editableHost(e) ? 'textbox' : 'generic';
}

const named = e => !!(attr(e, 'aria-label') || '').trim() || hasAttr(e, 'aria-labelledby') || !!(attr(e, 'title') || '').trim();
const collapse = text => text.replace(/\s+/g, ' ').trim();
const NAME_LIMIT = 2000;

// nameOf computes the accessible name. fromContent says whether the role takes its content as name.
let namedByContent = false;
function nameOf(e, tag, role, fromContent) {
  namedByContent = false;
  const bare = !hasAttrs(e);
  const by = bare ? null : attr(e, 'aria-labelledby');
  if (by) {
    const root = rootOf(e);
    const parts = [];
    for (const id of by.split(/\s+/)) {
      const other = id && root.getElementById && root.getElementById(id);
      if (other) parts.push(textOf(other, true));
    }
    const text = collapse(parts.join(' '));
    if (text) return text;
  }
  const label = bare ? '' : collapse(attr(e, 'aria-label') || '');
  if (label) return label;
  const native = nativeName(e, tag, role);
  if (native) { namedByContent = tag === 'option'; return native; }
  if (fromContent) {
    const text = collapse(textOf(e, false));
    if (text) { namedByContent = true; return text.slice(0, NAME_LIMIT); }
  }
  if (bare) return '';
  return collapse(attr(e, 'title') || '') || (tag === 'input' || tag === 'textarea' ? collapse(attr(e, 'placeholder') || attr(e, 'aria-placeholder') || '') : '');
}

function labelText(e) {
  if (!may.label) return '';
  const labels = e.labels;
  if (!labels || labels.length === 0) return '';
  const parts = [];
  for (const l of labels) parts.push(textOf(l, false, e));
  return collapse(parts.join(' '));
}

function nativeName(e, tag) {
  switch (tag) {
    case 'input': {
      const type = inputType(e);
      if (type === 'submit' || type === 'reset' || type === 'button') {
        return labelText(e) || collapse(inputValue(e)) || { submit: 'Submit', reset: 'Reset' }[type] || '';
      }
      if (type === 'image') return labelText(e) || collapse(attr(e, 'alt') || attr(e, 'title') || '') || 'Submit';
      return labelText(e);
    }
    case 'textarea': case 'select': case 'meter': case 'progress': case 'output': case 'button': return labelText(e);
    case 'img': case 'area': return collapse(attr(e, 'alt') || '');
    case 'fieldset': return childText(e, 'legend');
    case 'table': return childText(e, 'caption');
    case 'figure': return childText(e, 'figcaption');
    case 'optgroup': return collapse(attr(e, 'label') || '');
    case 'option': return collapse(e.label || '');
    case 'svg': return childText(e, 'title') || collapse(attr(e, 'aria-label') || '');
  }
  return '';
}

function childText(e, name) {
  for (let c = firstChild(e); c; c = nextSibling(c)) {
    if (kindOf(c) === ELEMENT && tagOf(c) === name) return collapse(name === 'title' ? contentOf(c) : textOf(c, false));
  }
  return '';
}

const neverText = new Set(['script', 'style', 'noscript', 'template', 'head', 'title', 'meta', 'link']);

// textOf is the text that names something: rendered text, alternative texts and the values of inner fields,
// with spaces between blocks. hidden: the root itself may be hidden, as for aria-labelledby.
function textOf(root, hidden, skip) {
  const only = firstChild(root);
  if (!only) return '';
  if (kindOf(only) === TEXT && !nextSibling(only) && !shadowOf(root) && tagOf(root) !== 'slot') return dataOf(only);
  let out = '';
  const visit = (node, top) => {
    if (out.length > 2 * NAME_LIMIT) return;
    if (kindOf(node) === TEXT) { out += dataOf(node); return; }
    if (kindOf(node) !== ELEMENT || node === skip) return;
    const tag = tagOf(node);
    if (neverText.has(tag)) return;
    if (tag === 'br') { out += ' '; return; }
    let inline = true;
    if (!top) {
      const style = styleOf(node);
      const display = style.display;
      if (display === 'none' || (style.visibility !== 'visible' && !hidden)) return;
      if (attr(node, 'aria-hidden') === 'true') return;
      inline = display === 'inline' || display === 'contents';
    }
    if (!inline) out += ' ';
    if (!top) {
      const label = attr(node, 'aria-label');
      if (label && label.trim()) { out += ' ' + label + ' '; return; }
      if (tag === 'img') { out += ' ' + (attr(node, 'alt') || '') + ' '; return; }
      if (tag === 'svg') { out += ' ' + childText(node, 'title') + ' '; return; }
      if (tag === 'input') {
        const type = inputType(node);
        if (type === 'password' || secret(node)) return;
        if (!['checkbox', 'radio', 'hidden', 'file', 'image'].includes(type)) out += ' ' + inputValue(node) + ' ';
        return;
      }
      if (tag === 'select') { out += ' ' + Array.from(node.selectedOptions || [], o => o.label).join(' ') + ' '; return; }
      if (tag === 'textarea') return;
    }
    eachFlat(node, below);
    if (!inline) out += ' ';
  };
  const below = c => visit(c, false);
  visit(root, true);
  return out;
}

// Fields whose value nobody may read: passwords (also once they are shown), one-time codes, payment cards.
const onceSecret = new WeakSet();
const secretWords = /(^|[^a-z])(otp|one[-_ ]?time|totp|2fa|mfa|cvv|cvc|csc|card[-_ ]?(number|no|num|code)|cc[-_]?(num|number|csc|cvc|exp)|security[-_ ]?code|pin|passwd|password|passcode)([^a-z]|$)/i;
function secret(e) {
  if (onceSecret.has(e)) return true;
  const auto = (attr(e, 'autocomplete') || '').toLowerCase();
  const is = (tagOf(e) === 'input' && inputType(e) === 'password') || /(^|\s)(current-password|new-password|one-time-code|cc-(?!name|type)[a-z-]+)(\s|$)/.test(auto) ||
    secretWords.test((attr(e, 'name') || '') + ' ' + (attr(e, 'id') || ''));
  if (is) onceSecret.add(e);
  return is;
}

function fieldValue(e, tag, role) {
  let text = '';
  if (tag === 'input') {
    const type = inputType(e);
    if (['checkbox', 'radio', 'submit', 'button', 'reset', 'image', 'hidden'].includes(type)) return '';
    if (type === 'file') return Array.from(e.files || [], f => f.name).join(', ');
    text = inputValue(e);
  } else if (tag === 'textarea') text = e.value;
  else if (tag === 'select') return Array.from(e.selectedOptions || [], o => o.label).join(', ');
  else if (tag === 'progress' || tag === 'meter') return hasAttr(e, 'value') ? String(e.value) : '';
  else if (role === 'slider' || role === 'spinbutton' || role === 'progressbar' || role === 'scrollbar') return attr(e, 'aria-valuetext') || attr(e, 'aria-valuenow') || '';
  else if (inEditable(e)) text = e.innerText.replace(/\n$/, '');
  else return '';
  if (secret(e)) return text === '' ? '' : '[' + Array.from(text).length + ' chars]';
  return text.length > 4096 ? text.slice(0, 4096) : text;
}
